"""Tables that are arrays: npz, npy, mat, svmlight."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from lpjt.files.table import (
    ID_NAMES,
    LABEL_NAMES,
    FileError,
    Table,
    Wanted,
    as_text,
    check_matrix,
    clean_labels,
    pick,
    plain,
    quoted,
)

MATRIX_NAMES = (
    "x", "fts", "feas", "fea", "feat", "feats", "feature", "features", "data", "embedding", "embeddings",
)  # fmt: skip
_ENDINGS = {"source": ("_src", "_source", "_s"), "target": ("_tar", "_tgt", "_target", "_t")}
# Files that hold both domains under names of one or two letters: matrices, then labels.
_SHORT = {
    "source": (("xs", "s"), ("ys", "s_label", "s_labels")),
    "target": (("xt", "t"), ("yt", "t_label", "t_labels")),
}


def read_npy(path: Path, wanted: Wanted) -> Table:
    """Read a lone matrix; its rows are samples."""
    X = np.load(path, mmap_mode="r", allow_pickle=False)
    if wanted.label is not None:
        raise FileError(f"{path}: npy holds one array, no '{wanted.label}'. Save X and y together as npz.")
    return Table(path=path, kind="npy", X=check_matrix(X, path=path))


def read_npz(path: Path, wanted: Wanted) -> Table:
    """Read the arrays of an npz file, or a matrix written by ``scipy.sparse.save_npz``."""
    with np.load(path, allow_pickle=False) as members:
        if {"format", "shape", "data"} <= set(members.files):
            X = sparse.load_npz(path).tocsr()
            return Table(path=path, kind="npz", X=check_matrix(X, path=path))
        arrays = {key: _member(members, key, path) for key in members.files}
    return _table({key: value for key, value in arrays.items() if value is not None}, path, "npz", wanted)


def _member(members: Mapping, key: str, path: Path) -> np.ndarray | None:
    """One array; of pickled members, those that matter are refused and the rest passed over."""
    try:
        return members[key]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        if plain(key) not in {*MATRIX_NAMES, *LABEL_NAMES, *ID_NAMES}:
            return None
        raise FileError(
            f"{path}: '{key}' is pickled (dtype object), and pickles are never loaded, as they can run code. "
            f"Save it as a plain array, for example {key}.astype(str)."
        ) from error


def read_mat(path: Path, wanted: Wanted) -> Table:
    """Read a MATLAB file: version 5 by scipy, version 7.3 by h5py."""
    try:
        arrays = io.loadmat(path)
    except NotImplementedError:
        arrays = _read_hdf5(path)
    kept = {key: _uncell(value) for key, value in arrays.items() if not key.startswith(("__", "#"))}
    return _table(kept, path, "mat", wanted)


def _uncell(value: Any) -> Any:
    """A cell array of strings as an array of strings."""
    if isinstance(value, np.ndarray) and value.dtype == object and value.size:
        cells = [np.asarray(cell) for cell in value.ravel()]
        if all(cell.size == 1 and cell.dtype.kind == "U" for cell in cells):
            return np.array([cell.item() for cell in cells])
    return value


def _read_hdf5(path: Path) -> dict[str, Any]:
    """The numeric arrays of a version 7.3 file. HDF5 is row-major, MATLAB column-major: hence ``.T``."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            f"`h5py` is needed to read {path} (MATLAB 7.3). Install it with `pip install 'lpjt[hdf5]'`, "
            "or save the file with -v7."
        ) from error
    arrays: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        for key, value in file.items():
            if isinstance(value, h5py.Dataset) and value.dtype.kind in "biuf":
                arrays[key] = value[()].T
            elif "MATLAB_sparse" in value.attrs and "data" in value:
                parts = value["data"][()], value["ir"][()], value["jc"][()]
                shape = int(value.attrs["MATLAB_sparse"]), len(parts[2]) - 1
                arrays[key] = sparse.csc_matrix(parts, shape=shape)
    return arrays


def read_svmlight(path: Path, wanted: Wanted) -> Table:
    """Read sparse rows; a feature's number in the file is its column, so column 0 may be empty."""
    from sklearn.datasets import load_svmlight_file

    if wanted.label is not None and plain(wanted.label) not in LABEL_NAMES:
        raise FileError(f"{path}: svmlight has no named columns, so no '{wanted.label}'. Leave out --label.")
    # zero_based="auto" would shift a file in which, by chance, no row has feature 0.
    X, y = load_svmlight_file(str(path), zero_based=True)
    if X.shape[0] == 0:
        raise FileError(f"{path}: no rows in it.")
    labels = clean_labels(y, name="label", path=path)
    return Table(path=path, kind="svmlight", X=check_matrix(X.tocsr(), path=path), y=labels, label_name="label")


def _table(arrays: Mapping[str, Any], path: Path, kind: str, wanted: Wanted) -> Table:
    """Tell matrix, labels and ids apart, by name and by shape."""
    key = _matrix_key(arrays, path, wanted)
    X = arrays[key]
    label = _label_key(arrays, key, path, wanted)
    remarks = [f"matrix '{key}'"]
    if label is not None:
        X, turned = _orient(X, np.size(arrays[label]), key, label, path)
        remarks += ["its columns are the samples, so it was turned"] if turned else []
    X = check_matrix(X.tocsr() if sparse.issparse(X) else X, path=path)
    id_name = _id_key(arrays, {key, label}, X.shape[0], path, wanted)
    return Table(
        path=path,
        kind=kind,
        X=X,
        y=None if label is None else clean_labels(arrays[label], name=label, path=path),
        ids=None if id_name is None else as_text(arrays[id_name]),
        label_name=label,
        id_name=id_name,
        remarks=tuple(remarks),
    )


def _matrix_key(arrays: Mapping[str, Any], path: Path, wanted: Wanted) -> str:
    matrices = [key for key, value in arrays.items() if key != wanted.label and _is_matrix(key, value)]
    if not matrices:
        shapes = ", ".join(f"'{key}' {np.shape(value)}" for key, value in arrays.items()) or "nothing"
        raise FileError(f"{path}: no numeric matrix in it (found: {shapes}). Save the features as X, rows x columns.")
    named = _first_named(matrices, MATRIX_NAMES, _SHORT[wanted.role][0], wanted)
    if named is not None:
        return named
    if len(matrices) > 1:
        raise FileError(
            f"{path}: several matrices ({quoted(matrices)}) none of a common name. Save the one wanted as X."
        )
    return matrices[0]


def _is_matrix(key: str, value: Any) -> bool:
    """Two dimensions, and not a vector written as a matrix unless its name says so."""
    shape = np.shape(value)
    if len(shape) != 2 or value.dtype.kind not in "biuf":
        return False
    return min(shape) > 1 or plain(key) in MATRIX_NAMES


def _first_named(keys: list[str], names: tuple, short: tuple, wanted: Wanted) -> str | None:
    """The first key of a common name: those that name the role come first."""
    by_name = {plain(key): key for key in reversed(keys)}
    endings = [name + ending for name in names for ending in _ENDINGS[wanted.role]]
    return next((by_name[name] for name in (*endings, *short, *names) if name in by_name), None)


def _label_key(arrays: Mapping[str, Any], matrix: str, path: Path, wanted: Wanted) -> str | None:
    others = [key for key in arrays if key != matrix]
    if wanted.label is not None:
        return pick(wanted.label, others, what="array", path=path)
    sizes = np.shape(arrays[matrix])
    fitting = [
        key
        for key in others
        if np.size(arrays[key]) in sizes and max(np.shape(arrays[key]), default=0) == np.size(arrays[key])
        and arrays[key].dtype.kind in "biufUS"
    ]  # fmt: skip
    beside = (f"{plain(matrix)}_label", f"{plain(matrix)}_labels")
    named = _first_named(fitting, LABEL_NAMES, (*_SHORT[wanted.role][1], *beside), wanted)
    if named is None and wanted.like is not None and wanted.like.label_name in fitting:
        return wanted.like.label_name
    return named


def _orient(X: Any, n_labels: int, key: str, label: str, path: Path) -> tuple[Any, bool]:
    """Rows as samples: MATLAB files often hold them in columns, and only the labels tell."""
    rows, columns = X.shape
    if n_labels == rows:
        return X, False
    if n_labels == columns:
        return X.T, True
    raise FileError(
        f"{path}: '{label}' holds {n_labels} labels, but '{key}' is {rows} x {columns}. One label a row is wanted."
    )


def _id_key(arrays: Mapping[str, Any], taken: set, n_rows: int, path: Path, wanted: Wanted) -> str | None:
    others = [key for key in arrays if key not in taken]
    fitting = [key for key in others if np.size(arrays[key]) == n_rows and arrays[key].dtype.kind in "iuUS"]
    if wanted.id_column is not None and wanted.role == "target":
        return pick(wanted.id_column, fitting, what=f"array of {n_rows} ids", path=path)
    return next((key for key in fitting if plain(key) in ID_NAMES), None)
