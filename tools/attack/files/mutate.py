"""Damage to bytes: flips, cuts, insertions, exchanged blocks, extreme numbers, and the same inside of containers."""

import gzip
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np

Rng = np.random.Generator

_EXTREMES = (0, 1, -1, 2, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, -(2**31), 2**32 - 1, 2**40, 2**62, 2**63 - 1)
_TEXTS = (
    b"0", b"-1", b"2000000000", b"99999999999999999999", b"1e309", b"nan", b"-inf", b"", b"1_0", b"0x10", b"1e-320",
    b"4294967296", b"9" * 400,
)  # fmt: skip


def mutate(content: bytes, rng: Rng, layers: tuple[str, ...] = ()) -> bytes:
    """The content with one to four damages, half of the time inside of its containers ("zip", "gzip", "mat")."""
    if layers and rng.random() < 0.6:
        return _LAYERS[layers[0]](content, rng)
    data = bytearray(content)
    for _ in range(1 + int(rng.integers(4)) * int(rng.random() < 0.5)):
        data = bytearray(_DAMAGES[int(rng.integers(len(_DAMAGES)))](data, rng))
    return bytes(data)


def _place(data: bytearray, rng: Rng) -> int:
    """A place, often near an end, where headers and directories are."""
    if not data:
        return 0
    near = min(len(data), 1 + int(rng.integers(1, 600)))
    draw = rng.random()
    if draw < 0.3:
        return int(rng.integers(near))
    return len(data) - 1 - int(rng.integers(near)) if draw < 0.5 else int(rng.integers(len(data)))


def _flip(data: bytearray, rng: Rng) -> bytes:
    for _ in range(int(rng.integers(1, 9))):
        if data:
            data[_place(data, rng)] ^= 1 << int(rng.integers(8))
    return bytes(data)


def _truncate(data: bytearray, rng: Rng) -> bytes:
    return bytes(data[: _place(data, rng)])


def _insert(data: bytearray, rng: Rng) -> bytes:
    at, size = _place(data, rng), int(rng.integers(1, 64))
    piece = rng.bytes(size) if rng.random() < 0.5 else bytes([int(rng.integers(256))]) * size
    return bytes(data[:at]) + piece + bytes(data[at:])


def _delete(data: bytearray, rng: Rng) -> bytes:
    at = _place(data, rng)
    return bytes(data[:at] + data[at + int(rng.integers(1, 64)) :])


def _swap(data: bytearray, rng: Rng) -> bytes:
    size = int(rng.integers(1, 64))
    a, b = sorted((_place(data, rng), _place(data, rng)))
    return bytes(data[:a] + data[b : b + size] + data[a + size : b] + data[a : a + size] + data[b + size :])


def _repeat(data: bytearray, rng: Rng) -> bytes:
    at = _place(data, rng)
    piece = bytes(data[at : at + int(rng.integers(1, 200))])
    return bytes(data[:at]) + piece * int(rng.integers(2, 20)) + bytes(data[at:])


def _extreme(data: bytearray, rng: Rng) -> bytes:
    """One to three integers of 1 to 8 bytes replaced by extreme ones, of either byte order."""
    for _ in range(int(rng.integers(1, 4))):
        size = int(rng.choice([1, 2, 4, 8]))
        at = _place(data, rng) // size * size
        value = int(_EXTREMES[int(rng.integers(len(_EXTREMES)))]) % 2 ** (8 * size)
        data[at : at + size] = value.to_bytes(size, "little" if rng.random() < 0.7 else "big")
    return bytes(data)


def _number(data: bytearray, rng: Rng) -> bytes:
    """A number in text replaced by an extreme one."""
    found = list(re.finditer(rb"[0-9]+(?:\.[0-9]+)?", bytes(data[:100_000])))
    if not found:
        return _extreme(data, rng)
    one = found[int(rng.integers(min(len(found), 20) if rng.random() < 0.5 else len(found)))]
    text = _TEXTS[int(rng.integers(len(_TEXTS)))]
    return bytes(data[: one.start()]) + text + bytes(data[one.end() :])


def _directory(data: bytearray, rng: Rng) -> bytes:
    """A field of the directory of a zip replaced."""
    marks = [one.start() for mark in (b"PK\1\2", b"PK\5\6", b"PK\3\4") for one in re.finditer(mark, bytes(data))]
    if not marks:
        return _extreme(data, rng)
    at = marks[int(rng.integers(len(marks)))] + 2 * int(rng.integers(2, 23))
    value = int(_EXTREMES[int(rng.integers(len(_EXTREMES)))]) % 2**32
    data[at : at + 4] = struct.pack("<I", value)
    return bytes(data)


_DAMAGES: tuple[Callable[[bytearray, Rng], bytes], ...] = (
    _flip, _flip, _truncate, _insert, _delete, _swap, _repeat, _extreme, _extreme, _number, _directory,
)  # fmt: skip


def _inside_zip(content: bytes, rng: Rng) -> bytes:
    """One member damaged, and all sizes and checksums right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = list(members)[int(rng.integers(len(members)))]
    members[name] = mutate(members[name], rng)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, data in members.items():
            archive.writestr(one, data)
    return file.getvalue()


def _inside_gzip(content: bytes, rng: Rng) -> bytes:
    return gzip.compress(mutate(gzip.decompress(content), rng), compresslevel=1)


def _inside_mat(content: bytes, rng: Rng) -> bytes:
    """A variable of a MATLAB 5 file damaged, and compressed again."""
    return compress_mat(content, lambda variable: mutate(variable, rng), rng)


def compress_mat(content: bytes, change: Callable[[bytes], bytes] | None = None, rng: Rng | None = None) -> bytes:
    """A MATLAB 5 file with compressed variables, one of them changed."""
    variables, at = [], 128
    while at + 8 <= len(content):
        kind, size = struct.unpack("<II", content[at : at + 8])
        piece = content[at + 8 : at + 8 + size]
        variables.append(zlib.decompress(piece) if kind == 15 else content[at : at + 8 + size])
        at += 8 + size
    if change is not None and rng is not None:
        chosen = int(rng.integers(len(variables)))
        variables[chosen] = change(variables[chosen])
    pieces = [zlib.compress(variable) for variable in variables]
    return content[:128] + b"".join(struct.pack("<II", 15, len(piece)) + piece for piece in pieces)


_LAYERS = {"zip": _inside_zip, "gzip": _inside_gzip, "mat": _inside_mat}
