"""Readers of layouts that `lpjt.files` does not read: idx, HDF5, csv without names, the CDLS demonstration."""

import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from lpjt.datasets.records import DataError
from lpjt.files import FileError, read_domain
from lpjt.files.arrays import mat_kind
from lpjt.files.domain import check_matrix, list_arrays, shown
from lpjt.isolated import (
    Answer,
    RefusedError,
    UnreadableError,
    check_ordinary,
    check_stream,
    limits_for,
    read_isolated,
)
from lpjt.isolated.streams import blocks

_MATRICES = (
    "x",
    "fts",
    "feas",
    "fea",
    "features",
    "feature",
    "feat",
    "feats",
    "data",
    "fc7",
    "fc6",
    "resnet50_features",
)
_LABELS = ("labels", "label", "y", "gnd", "target", "targets", "lbl")
_IDX_SIZES = 8  # dimensions of an array at most; files of images have three
_IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: Path) -> np.ndarray:
    """Array of an idx file, compressed or not: two zero bytes, type, number of sizes, sizes (big endian), cells."""
    with _data_errors(path, "decompressed"):
        limits = limits_for(check_ordinary(path))
        with open(path, "rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
        content = b"".join(blocks(path, limits, compressed=compressed))
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _IDX_TYPES or not 1 <= content[3] <= _IDX_SIZES:
        raise DataError(
            f"{path}: not an idx file (it begins with {content[:4].hex(' ') or 'nothing'}). Fetch it again."
        )
    n_sizes, dtype = content[3], np.dtype(_IDX_TYPES[content[2]])
    start = 4 + 4 * n_sizes
    shape = struct.unpack(f">{n_sizes}I", content[4:start]) if len(content) >= start else (0,)
    expected, found = math.prod(shape) * dtype.itemsize, len(content) - start
    if expected != found:
        raise DataError(
            f"{path}: the header announces {expected} bytes of cells, but the file has {found}. Fetch it again."
        )
    return np.frombuffer(content, dtype, offset=start).reshape(shape)


def read_idx_pairs(paths: Iterable[Path]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of alternating files of images and labels, stacked."""
    names = list(paths)
    arrays = [read_idx(path) for path in names]
    for images, labels, name in zip(arrays[::2], arrays[1::2], names[1::2], strict=True):
        if len(images) != labels.size:
            raise DataError(f"{name}: {labels.size} labels, but {len(images)} images. Fetch both files again.")
    return _stacked(names[0], arrays[::2], arrays[1::2])


def read_hdf5(path: Path) -> dict[str, np.ndarray]:
    """Numeric arrays of an HDF5 file by path, such as train/data; arrays of MATLAB are transposed to its order."""
    if find_spec("h5py") is None:
        raise ImportError(f"`h5py` is needed to read {path}. Install it with `pip install 'lpjt[hdf5]'`.")
    with _data_errors(path, "read as HDF5"):
        return _numeric(read_isolated(path, "hdf5"))


@contextmanager
def _data_errors(path: Path, done: str) -> Iterator[None]:
    """Turn refusals, and what parsers say of a broken file, into errors that name the file and the remedy."""
    try:
        yield
    except RefusedError as error:
        raise DataError(f"{path}: {shown(error)}") from error
    except (UnreadableError, OSError) as error:
        reason = shown(" ".join(str(error).split()))[:160]
        raise DataError(f"{path}: cannot be {done} ({reason}). It may be truncated: fetch it again.") from error


def _numeric(answer: Answer) -> dict[str, np.ndarray]:
    return {k: v for k, v in answer.values.items() if isinstance(v, np.ndarray) and v.dtype.kind in "biuf"}


def read_usps(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of usps.h5: the groups train and test, each with data and target."""
    arrays = read_hdf5(path)
    names = ["train/data", "test/data", "train/target", "test/target"]
    missing = [name for name in names if name not in arrays]
    if missing:
        raise DataError(
            f"{path}: no array {missing[0]} (found: {list_arrays(arrays, '')}). Get the file again; it has "
            f"{', '.join(names)}."
        )
    for rows, labels in zip(names[:2], names[2:], strict=True):
        _check_pair(path, rows, labels, arrays)
    return _stacked(path, [arrays[name] for name in names[:2]], [arrays[name] for name in names[2:]])


def _check_pair(path: Path, rows: str, labels: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse rows and labels of different numbers."""
    n_rows, n_labels = (len(arrays[rows]) if arrays[rows].ndim else 0), arrays[labels].size
    if n_rows != n_labels:
        raise DataError(f"{path}: {n_labels} labels in {labels}, but {n_rows} rows in {rows}. Get the file again.")
    if not n_rows:
        raise DataError(f"{path}: no rows in {rows}. Get the file again.")


def _stacked(path: Path, rows: Sequence[np.ndarray], labels: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of several arrays, whose dimensions after the first become columns, and their labels."""
    flat = [part.reshape(len(part), math.prod(part.shape[1:])) for part in rows]
    widths = sorted({part.shape[1] for part in flat})
    if len(widths) > 1:
        raise DataError(f"{path}: rows of {widths[0]} and of {widths[-1]} columns. Get the file again.")
    return _checked(path, np.vstack(flat), np.concatenate([part.ravel() for part in labels]))


def _checked(path: Path, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that a method can use, and labels as integers; whatever else a file holds is refused, never rounded."""
    try:
        check_matrix(X, path=path)
    except FileError as error:
        raise DataError(str(error)) from error
    with np.errstate(invalid="ignore"):
        whole = y.astype(np.int64)
    other = y[whole != y]
    if len(other):
        raise DataError(f"{path}: the labels are not whole numbers, such as {other[0]}. Get the file again.")
    return X, whole


def read_cdls(path: Path, role: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of one domain of the CDLS demonstration: S, or T (the labelled rows) followed by Ttest."""
    arrays = read_mat(path)
    names = ["S"] if role == "source" else ["T", "Ttest"]
    missing = [name for part in names for name in (part, f"{part}_Label") if name not in arrays]
    if missing:
        raise DataError(
            f"{path}: no array {missing[0]} (found: {list_arrays(arrays, '')}). Get the file again; it has S, T, Ttest "
            "and their labels."
        )
    for name in names:
        _check_pair(path, name, f"{name}_Label", arrays)
    return _stacked(path, [arrays[name] for name in names], [arrays[f"{name}_Label"] for name in names])


def read_mat(path: Path) -> dict[str, np.ndarray]:
    """Numeric arrays of a MATLAB file of version 5 or 7.3."""
    with _data_errors(path, "read as mat"):
        check_ordinary(path)
        kind = mat_kind(path)
        return read_hdf5(path) if kind == "mat-7.3" else _numeric(read_isolated(path, kind))


def read_features(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of a file of deep features: mat, h5, npz, csv or parquet.

    mat and h5 hold an array of features, (n, width) with or without further dimensions of size 1 (pooled maps), and an
    array of n labels. csv has either only numbers, with the label in the last column, or a header that names the label.
    """
    suffix = path.suffix.lower()
    if suffix in (".mat", ".h5", ".hdf5"):
        return _features_of(read_mat(path) if suffix == ".mat" else read_hdf5(path), path)
    if suffix == ".csv" and (header := _bare_numbers(path)) is not None:
        return _read_bare_csv(path, header)
    try:
        domain = read_domain(path)
    except FileError as error:
        raise DataError(str(error)) from error
    if domain.y is None:
        raise DataError(f"{path}: no labels found ({domain.description}). Save them in the same file as labels.")
    return domain.X, domain.y


def _features_of(arrays: Mapping[str, np.ndarray], path: Path) -> tuple[np.ndarray, np.ndarray]:
    by_name = {name.rsplit("/", 1)[-1].lower(): np.squeeze(value) for name, value in arrays.items()}
    y = next((by_name[name].ravel() for name in _LABELS if name in by_name), None)
    X = next((by_name[name] for name in _MATRICES if name in by_name and by_name[name].ndim == 2), None)
    if X is None:
        matrices = [value for value in by_name.values() if value.ndim == 2]
        X = matrices[0] if len(matrices) == 1 else None
    if X is None or y is None:
        what = "features" if X is None else "labels"
        raise DataError(f"{path}: no array of {what} (found: {list_arrays(arrays, '')}). Save them as fts and labels.")
    if len(X) != len(y) and X.shape[1] == len(y):
        X = X.T
    if len(X) != len(y):
        raise DataError(
            f"{path}: {len(y)} labels, but features of {X.shape[0]} x {X.shape[1]}. Give one label per row."
        )
    return _checked(path, X, y)


def _bare_numbers(path: Path) -> int | None:
    """Number of header lines, 0 or 1, of a csv file whose columns have no names; None if they have names."""
    with _data_errors(path, "read as csv"):
        check_stream(path, limits_for(check_ordinary(path)))
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        cells = file.readline().split(",")
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return None
    return int(len(numbers) > 2 and numbers == list(range(len(numbers))))


def _read_bare_csv(path: Path, header: int) -> tuple[np.ndarray, np.ndarray]:
    """Features in float32, because VisDA has 152397 x 2048 of them, and labels from the last column."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"`pandas` is needed to read {path}. Install it with `pip install 'lpjt[cli]'`.") from error
    try:
        cells = pandas.read_csv(path, header=None, skiprows=header, dtype=np.float32).to_numpy()
    except ValueError as error:
        reason = " ".join(str(error).split())[:160]
        raise DataError(f"{path}: cannot be read as numbers ({reason}). It may be truncated: get it again.") from error
    labels = cells[:, -1]
    fractions = labels[labels != np.round(labels)]
    if len(fractions):
        raise DataError(f"{path}: the last column holds fractions, such as {fractions[0]}. It must hold the labels.")
    return _checked(path, cells[:, :-1], labels)
