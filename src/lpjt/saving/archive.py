"""The zip of a model file: written without compression, and read only after every size in it was checked."""

import hashlib
import io
import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lpjt.saving.errors import ModelFileError
from lpjt.saving.trees import read_dtype

#: Name of the member that is not an array.
JSON = "model.json"

#: Largest size of `model.json`, in bytes; arrays are beside it, so that it is small.
MAX_JSON = 2**26

#: Every member has this time, so that equal models make equal files.
_TIME = (1980, 1, 1, 0, 0, 0)


class _Counted(io.RawIOBase):
    """Passes on what is written, and counts and hashes it."""

    def __init__(self, file: Any) -> None:
        self.file, self.size, self.hash = file, 0, hashlib.sha256()

    def write(self, data: Any) -> int:
        self.file.write(data)
        self.size += len(data)
        self.hash.update(data)
        return len(data)


def write_archive(file: BinaryIO, head: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays and then the JSON, which has `head` and what the arrays are."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        listed = {name: _write_array(archive, name, array) for name, array in arrays.items()}
        text = json.dumps({**head, "arrays": listed}, allow_nan=False, indent=1).encode("ascii")
        if len(text) > MAX_JSON:
            raise ModelFileError(
                f"The model has {len(text):,} bytes of values that are not arrays; a file takes at most {MAX_JSON:,}. "
                "Give labels of one type: text, numbers or times."
            )
        archive.writestr(zipfile.ZipInfo(JSON, _TIME), text)
        archive.comment = hashlib.sha256(text).hexdigest().encode("ascii")


def _write_array(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> dict[str, Any]:
    with archive.open(zipfile.ZipInfo(f"{name}.npy", _TIME), "w", force_zip64=True) as member:
        counted = _Counted(member)
        np.lib.format.write_array(counted, array, allow_pickle=False)
    sizes = {"dtype": array.dtype.str, "shape": list(array.shape), "bytes": counted.size}
    return {**sizes, "sha256": counted.hash.hexdigest()}


class Archive:
    """A model file that is open for reading; `head` is its JSON without the arrays."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, IndexError) as error:
            raise ModelFileError(
                f"{path}: not a model file, or one that was cut short ({error}). Copy or save it again."
            ) from error
        self._members = self._checked_members(os.fstat(file.fileno()).st_size)
        self.head, self._listed = self._read_json()
        self._read: dict[str, np.ndarray] = {}

    def array(self, name: str) -> np.ndarray:
        """The array of a name; its checksum, dtype and shape must be those of the JSON."""
        if name not in self._listed:
            raise self._changed(f"the array {name!r} is missing")
        if name not in self._read:
            self._read[name] = self._read_array(f"{name}.npy", self._listed[name])
        return self._read[name]

    def check_all_used(self) -> None:
        """Refuse arrays that the model does not have."""
        if unused := sorted(set(self._listed) - set(self._read)):
            raise self._changed(f"the array {unused[0]!r} does not belong to the model")

    def _checked_members(self, size: int) -> dict[str, zipfile.ZipInfo]:
        """Members by name. Nothing is compressed, so that all of them together are smaller than the file."""
        infos = self._zip.infolist()
        members = {info.filename: info for info in infos}
        plain = all(i.compress_type == zipfile.ZIP_STORED and not i.flag_bits & 1 for i in infos)
        same = all(i.compress_size == i.file_size for i in infos)
        if not (plain and same and len(members) == len(infos) and sum(i.file_size for i in infos) <= size):
            raise self._changed("its members are compressed, repeated or overlap")
        if JSON not in members:
            raise self._changed(f"not a model file, because it has no {JSON}")
        return members

    def _bytes(self, name: str) -> bytes:
        try:
            return self._zip.read(self._members[name])
        except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError) as error:
            raise ModelFileError(f"{self.path}: {name} is damaged ({error}). Copy or save the file again.") from error

    def _read_json(self) -> tuple[dict[str, Any], dict[str, Any]]:
        if self._members[JSON].file_size > MAX_JSON:
            raise self._changed(f"{JSON} has more than {MAX_JSON:,} bytes")
        text = self._bytes(JSON)
        self._check_hash(JSON, text, self._zip.comment.decode("ascii", "replace"))
        try:
            head = json.loads(text)
            listed = head.pop("arrays")
            wrong = {f"{name}.npy" for name in listed} ^ (set(self._members) - {JSON})
        except (ValueError, RecursionError, KeyError, AttributeError, TypeError) as error:
            raise self._changed(f"{JSON} cannot be read ({type(error).__name__})") from error
        if wrong:
            raise self._changed(f"the member {min(wrong)!r} is missing, or does not belong to the model")
        return head, listed

    def _read_array(self, member: str, about: Mapping[str, Any]) -> np.ndarray:
        dtype, shape = read_dtype(about["dtype"]), tuple(map(int, about["shape"]))
        if self._members[member].file_size != about["bytes"]:
            raise self._changed(f"{member} has another size than {JSON} says")
        data = self._bytes(member)
        self._check_hash(member, data, about["sha256"])
        stream = io.BytesIO(data)
        found = _read_header(stream)
        if found != (shape, dtype) or len(data) - stream.tell() != math.prod(shape) * dtype.itemsize:
            raise self._changed(f"{member} has another shape or type than {JSON} says")
        stream.seek(0)
        array: np.ndarray = np.lib.format.read_array(stream, allow_pickle=False)
        return array

    def _check_hash(self, member: str, data: bytes, expected: str) -> None:
        if hashlib.sha256(data).hexdigest() != expected:
            raise self._changed(f"the checksum of {member} is wrong")

    def _changed(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self.path}: {what}, so the file was changed or damaged. Copy or save it again.")


def _read_header(stream: io.BytesIO) -> tuple[tuple[int, ...], np.dtype] | None:
    """Shape and dtype in the header of an npy member; None for a version that no array of ours has."""
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, _, dtype = read(stream)
    # The parser of numpy raises many types of errors on a header that is none.
    except Exception:
        return None
    return shape, dtype
