"""Bombs, links out of the file, and what is no ordinary file: devices, directories, FIFOs, sockets, strange names."""

import gzip
import io
import os
import socket
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow
import pyarrow.parquet

import lpjt
from attack.files.seeds import FORMATS, Rng, _as_mat_7_3
from lpjt.files import read_domain
from lpjt.saving import ModelFileError

_BOMB = 9 * 2**25  # bytes that a bomb unpacks to, more than a child of the attack may take

Case = tuple[str, Callable[[Path], object], Path]


def make(number: int, place: Path, rng: Rng) -> Case:
    """One case, by turns; fewer bombs, which take seconds to make."""
    if number % 16 == 0:
        return _bomb(number // 16, place, rng)
    return (_link, _no_file, _no_file)[number % 3](number, place, rng)


def _must_refuse(path: Path) -> object:
    """Read what cannot be sound; without an error, nothing was read."""
    if path.suffix == ".lpjt":
        try:
            lpjt.load(path)
        except FileNotFoundError as error:
            raise ModelFileError(f"{path}: no such file. Check the path. ({error.strerror})") from error
        return None
    read_domain(path, as_table=True)
    return None


def _bomb(number: int, place: Path, rng: Rng) -> Case:
    makers = (_npz_bomb, _gzip_bomb, _svmlight_bomb, _mat_bomb, _hdf5_bomb, _parquet_bomb, _xlsx_bomb, _wide_bomb)
    maker = makers[number % len(makers)]
    path = place / f"bomb{maker.__doc__.split()[0]}"  # type: ignore[union-attr]
    maker(path, rng)
    return "bombs", _must_refuse, path


def _npz_bomb(path: Path, rng: Rng) -> None:
    """.npz whose zeros are honest, or lied about in the header or in the zip."""
    lie = int(rng.integers(3))
    header = io.BytesIO()
    shape = (_BOMB // 8 if lie != 1 else 2**50, 1)
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("X.npy", "w") as file,
    ):
        file.write(header.getvalue())
        for _ in range(_BOMB // 2**24 if lie != 1 else 1):
            file.write(bytes(2**24))
    if lie == 2:  # the directory claims a small member
        data = bytearray(path.read_bytes())
        at = data.rindex(b"PK\1\2")
        data[at + 24 : at + 28] = (4096).to_bytes(4, "little")
        path.write_bytes(data)


def _gzip_bomb(path: Path, rng: Rng) -> None:
    """.csv.gz of one endless line, or of endless lines."""
    block = (b"1," * 2**19) if rng.random() < 0.5 else b"1,2\n" * 2**18
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,b\n")
        for _ in range(_BOMB // len(block)):
            file.write(block)


def _svmlight_bomb(path: Path, rng: Rng) -> None:
    """.svmlight.gz of endless blanks."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(_BOMB // 2**20):
            file.write(b" " * 2**20)


def _mat_bomb(path: Path, rng: Rng) -> None:
    """.mat of zeros, compressed piece by piece."""
    packer = zlib.compressobj(1)
    # Flags (doubles), sizes, the name X, and then the cells.
    parts = (6, 8, 6, 0, 5, 8, _BOMB // 8, 1, 0x10001, ord("X"), 9, _BOMB)
    packed = packer.compress(struct.pack("<14I", 14, 4 * len(parts) + _BOMB, *parts))
    packed += b"".join(packer.compress(bytes(2**24)) for _ in range(_BOMB // 2**24)) + packer.flush()
    start = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    path.write_bytes(start + struct.pack("<II", 15, len(packed)) + packed)


def _hdf5_bomb(path: Path, rng: Rng) -> None:
    """.mat of version 7.3, of chunks that were never written or of zeros."""
    written = rng.random() < 0.3

    def write(content: Any) -> None:
        shape, chunk = (_BOMB // 800 if written else 2**40, 100), (2**14, 100)
        data = content.create_dataset("X", shape, "f8", chunks=chunk, compression="gzip", compression_opts=1)
        if written:
            zeros = zlib.compress(bytes(8 * chunk[0] * chunk[1]), 1)  # once, not for every chunk
            for start in range(0, shape[0], chunk[0]):
                data.id.write_direct_chunk((start, 0), zeros)

    path.write_bytes(_as_mat_7_3(write))


def _parquet_bomb(path: Path, rng: Rng) -> None:
    """.parquet of one value, repeated."""
    value, size = (np.zeros(2**20), 8) if rng.random() < 0.5 else (np.full(2**20, "x" * 100), 100)
    table = pyarrow.table({"a": value})
    with pyarrow.parquet.ParquetWriter(path, table.schema) as writer:
        for _ in range(_BOMB // (size * 2**20)):
            writer.write_table(table)


def _xlsx_bomb(path: Path, rng: Rng) -> None:
    """.xlsx whose sheet is endless, or has entities that grow."""
    book = io.BytesIO(next(form for form in FORMATS if form.group == "xlsx").seed(rng))
    laughs = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "lol" * 100}">' for i in range(9))
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        grows = rng.random() < 0.5
        for name in old.namelist():
            if not name.endswith("sheet1.xml"):
                new.writestr(name, old.read(name))
            elif grows:
                text = f'<?xml version="1.0"?><!DOCTYPE x [{laughs}]><worksheet><sheetData>&a8;</sheetData></worksheet>'
                new.writestr(name, text)
            else:
                with new.open(name, "w") as member:
                    member.write(b"<worksheet><sheetData>")
                    for _ in range(_BOMB // 2**20):
                        member.write(b" " * 2**20)


def _wide_bomb(path: Path, rng: Rng) -> None:
    """.svmlight with an index of billions."""
    path.write_text(f"1 1:2 {int(rng.integers(10**9, 2**62))}:1\n0 1:1\n")


def _link(number: int, place: Path, rng: Rng) -> Case:
    """Arrays that are in another file: external links, external storage, virtual arrays, and links that never end."""
    path, secret = place / "links.mat", place / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["X"] = np.ones((6, 4))
    (place / "secret.bin").write_bytes(bytes(8 * 24))

    def write(content: Any) -> None:
        kind = int(rng.integers(4))
        if kind == 0:
            content["X"] = h5py.ExternalLink(str(secret), "X")
        elif kind == 1:
            content.create_dataset("X", (6, 4), "f8", external=[(str(place / "secret.bin"), 0, 8 * 24)])
        elif kind == 2:
            layout = h5py.VirtualLayout((6, 4), "f8")
            layout[:] = h5py.VirtualSource(str(secret), "X", (6, 4))
            content.create_virtual_dataset("X", layout)
        else:
            content["X"], content["loop"] = h5py.SoftLink("/Y"), h5py.SoftLink("/loop")

    path.write_bytes(_as_mat_7_3(write))
    return "links", _must_refuse, path


def _no_file(number: int, place: Path, rng: Rng) -> Case:
    suffix = str(rng.choice([".csv", ".npz", ".mat", ".parquet", ".xlsx", ".svmlight", ".npy", ".lpjt", ".csv.gz"]))
    path = place / f"odd{suffix}"
    kind = int(rng.integers(10))
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(path))
    elif kind in (3, 4):
        path.symlink_to(("/dev/zero", "/dev/random", "/dev/null", "/dev/tty")[int(rng.integers(4))])
    elif kind == 5:
        path.symlink_to(path)
    elif kind == 6:
        path = place / ("n" * 300 + suffix)
    elif kind == 7:
        path = place / "missing" / f"x{suffix}"
    elif kind == 8:
        path = place / f"zero\0byte{suffix}"
    else:
        path = place / ("n" * (250 - len(suffix)) + suffix)
        path.write_bytes(b"")
    return "devices and names", _must_refuse, path
