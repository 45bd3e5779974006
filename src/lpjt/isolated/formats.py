"""Readers that run in the child: from a file to plain arrays. Each imports only what its format needs."""

import datetime
import inspect
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lpjt.isolated.hdf5 import read_hdf5, read_mat_7_3
from lpjt.isolated.limits import Limits
from lpjt.isolated.npy import check_npy
from lpjt.isolated.parts import Answer, Other, SparseParts, UnreadableError, Value
from lpjt.isolated.svmlight import read_svmlight


class Reader(NamedTuple):
    """How a format is read."""

    read: Callable[..., Answer]
    libraries: tuple[str, ...] = ()  # that it imports


def read_npz(path: Path, limits: Limits) -> Answer:
    """Arrays of an npz file by name; a matrix of ``scipy.sparse.save_npz`` under the name "" alone."""
    values: dict[str, Value] = {}
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        limits.refuse_bytes(sum(member.file_size for member in members), "its arrays announce")
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in values:
                raise UnreadableError(f"two arrays have the name {name!r}")
            values[name] = _read_member(archive, member)
    if {"format", "shape", "data"} <= set(values):
        return Answer({"": _sparse_of(values)}, {})
    return Answer(values, {})


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Value:
    if not member.filename.endswith(".npy"):
        return Other("no array")
    with archive.open(member) as stream:
        if check_npy(stream, member.file_size).hasobject:  # type: ignore[arg-type]
            return Other("pickled")
    with archive.open(member) as stream:
        array: np.ndarray = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def _sparse_of(values: dict[str, Value]) -> SparseParts:
    """The parts of a sparse matrix by the names that scipy gives them in a file."""
    wanted = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr"),
              "coo": ("row", "col"), "dia": ("offsets",)}  # fmt: skip
    kind, shape = values["format"], values["shape"]
    if not isinstance(kind, np.ndarray) or kind.size != 1 or not isinstance(shape, np.ndarray) or shape.ndim != 1:
        raise UnreadableError("its format or shape is not that of a sparse matrix")
    name = kind.item().decode("ascii", "replace") if kind.dtype.kind == "S" else str(kind.item())
    if name not in wanted or shape.dtype.kind not in "iu":
        raise UnreadableError(f"{name!r} is no sparse format that can be read")
    arrays = {part: values.get(part) for part in ("data", *wanted[name])}
    if not all(isinstance(part, np.ndarray) and part.dtype.kind in "biufc" for part in arrays.values()):
        raise UnreadableError("parts of the sparse matrix are missing, or are no numbers")
    return SparseParts(name, tuple(map(int, shape)), arrays)  # type: ignore[arg-type]


def read_mat(path: Path, limits: Limits) -> Answer:
    """Variables of a MATLAB file: version 4 and 5 by scipy, 7.3 by h5py."""
    from scipy import io

    # Newer versions warn without it; before 1.16 there is no such choice.
    compressed = {"spmatrix": True} if "spmatrix" in inspect.signature(io.loadmat).parameters else {}
    try:
        announced = sum(
            math.prod(shape) * 8 for _, shape, kind in io.whosmat(path) if kind not in ("sparse", "cell", "struct")
        )
        limits.refuse_bytes(announced, "its arrays announce")
        found = io.loadmat(path, **compressed)
    except NotImplementedError:
        return read_mat_7_3(path, limits)
    named = {key: value for key, value in found.items() if not key.startswith(("__", "#"))}
    return Answer({key: _mat_value(value) for key, value in named.items()}, {})


def _mat_value(value: Any) -> Value:
    if hasattr(value, "indptr"):
        parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
        return SparseParts(value.format, tuple(map(int, value.shape)), parts)
    if not isinstance(value, np.ndarray):
        return Other(type(value).__name__)
    if value.dtype == object and value.size:  # a cell array of strings as an array of strings
        cells = [np.asarray(cell) for cell in value.ravel()]
        if all(cell.size == 1 and cell.dtype.kind == "U" for cell in cells):
            return np.array([cell.item() for cell in cells])
    if value.dtype.hasobject or value.dtype.kind not in "biufcSU":
        return Other("a cell or struct", value.shape)
    return np.asarray(value)


def read_parquet(path: Path, limits: Limits, output: str) -> Answer:
    """Write the table of a parquet file, decompressed and checked, to `output` in Arrow's format for exchange."""
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        about = file.metadata
        width = sum(_PARQUET_BYTES.get(file.schema.column(i).physical_type, 4) for i in range(about.num_columns))
        packed = sum(max(0, about.row_group(i).total_byte_size) for i in range(about.num_row_groups))
        limits.refuse_bytes(max(packed, max(0, about.num_rows) * width), "its columns announce")
    table = parquet.read_table(path, use_threads=False)
    table.validate(full=True)  # offsets that point outside of their column, text that is none
    table = table.unify_dictionaries()  # row groups may have dictionaries of their own, which the format refuses
    with pyarrow.ipc.new_file(output, table.schema) as writer:
        writer.write_table(table)
    return Answer({}, {})


_PARQUET_BYTES = {"BOOLEAN": 1 / 8, "INT64": 8, "DOUBLE": 8, "INT96": 12}


def read_xlsx(path: Path, limits: Limits, sheet: str | None) -> Answer:
    """Names of the sheets, and the cells of one: the first, or that of a name or number; none if there is no such."""
    import pandas

    with zipfile.ZipFile(path) as archive:
        limits.refuse_bytes(sum(member.file_size for member in archive.infolist()), "its sheets announce")
    with pandas.ExcelFile(path, engine="openpyxl") as book:
        names = [str(name) for name in book.sheet_names]
        if not names:
            raise UnreadableError("it has no sheet")
        if sheet is None:
            sheet = names[0]
        elif sheet not in names:
            sheet = names[int(sheet) - 1] if sheet.isdecimal() and 1 <= int(sheet[:9]) <= len(names) else None
        about: dict[str, Any] = {"sheets": names, "sheet": sheet}
        if sheet is not None:
            # As objects, because pandas would turn the text 0012 into 12, and the class NA into a missing value.
            frame = pandas.read_excel(book, sheet_name=sheet, dtype=object, keep_default_na=False)
            about["columns"] = [str(name).strip() for name in frame.columns]
            about["cells"] = [[_cell(cell) for cell in frame.iloc[:, i]] for i in range(frame.shape[1])]
    return Answer({}, about)


def _cell(cell: Any) -> Any:
    """A cell as JSON has it; dates and times as their kind and text."""
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        kind = next(k for k in ("datetime", "date", "time") if isinstance(cell, getattr(datetime, k)))
        return {kind: cell.isoformat()}
    if isinstance(cell, datetime.timedelta):
        return {"timedelta": cell.total_seconds()}
    if isinstance(cell, np.generic):
        cell = cell.item()
    return cell if cell is None or isinstance(cell, bool | int | float | str) else str(cell)


def cell_of(value: Any) -> Any:
    """The cell that `_cell` wrote."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    return (
        datetime.timedelta(seconds=content) if kind == "timedelta" else getattr(datetime, kind).fromisoformat(content)
    )


READERS = {
    "npz": Reader(read_npz),
    "mat": Reader(read_mat, ("scipy.io",)),
    "mat-7.3": Reader(read_mat_7_3, ("h5py",)),
    "hdf5": Reader(read_hdf5, ("h5py",)),
    "svmlight": Reader(read_svmlight),
    "parquet": Reader(read_parquet, ("pyarrow.parquet",)),
    "xlsx": Reader(read_xlsx, ("pandas", "openpyxl")),
}
