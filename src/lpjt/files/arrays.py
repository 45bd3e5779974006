"""Readers of files that hold arrays: npz, npy, mat, svmlight."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from lpjt._matrices import check_structure
from lpjt.files.domain import (
    ID_NAMES,
    LABEL_NAMES,
    FileDomain,
    FileError,
    ReadOptions,
    check_matrix,
    clean_labels,
    decode_text,
    find_name,
    normalize_name,
    quote_names,
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


def read_npy(path: Path, options: ReadOptions) -> FileDomain:
    """Read the single matrix of an npy file; its rows are samples."""
    X = np.load(path, mmap_mode="r", allow_pickle=False)
    if options.label is not None:
        raise FileError(
            f"{path}: an npy file holds a single array, so there is no '{options.label}'. Save X and y together as npz."
        )
    return FileDomain(path=path, kind="npy", X=check_matrix(X, path=path))


def read_npz(path: Path, options: ReadOptions) -> FileDomain:
    """Read the arrays of an npz file, or a matrix written by ``scipy.sparse.save_npz``."""
    with np.load(path, allow_pickle=False) as members:
        if {"format", "shape", "data"} <= set(members.files):
            X = _checked(sparse.load_npz(path), path).tocsr()
            return FileDomain(path=path, kind="npz", X=check_matrix(X, path=path))
        arrays = {key: _member(members, key, path) for key in members.files}
    return _to_domain({key: value for key, value in arrays.items() if value is not None}, path, "npz", options)


def _member(members: Mapping[str, Any], key: str, path: Path) -> np.ndarray | None:
    """One array. A pickled member is refused if its name marks it as features, labels or ids, and ignored otherwise."""
    try:
        return members[key]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        if normalize_name(key) not in {*MATRIX_NAMES, *LABEL_NAMES, *ID_NAMES}:
            return None
        raise FileError(
            f"{path}: '{key}' is pickled (dtype object), and pickles are never loaded because they can run code. "
            f"Save it as a plain array, for example {key}.astype(str)."
        ) from error


def read_mat(path: Path, options: ReadOptions) -> FileDomain:
    """Read a MATLAB file: version 5 with scipy, version 7.3 with h5py."""
    try:
        arrays = io.loadmat(path)
    except NotImplementedError:
        arrays = _read_hdf5(path)
    named = {key: _checked(value, path) for key, value in arrays.items() if not key.startswith(("__", "#"))}
    kept = {key: _cells_to_strings(value) for key, value in named.items()}
    return _to_domain(kept, path, "mat", options)


def _checked(value: Any, path: Path) -> Any:
    """A value of a file, whose indices do not point outside of it if it is a sparse matrix."""
    try:
        check_structure(value, str(path))
    except ValueError as error:
        raise FileError(str(error)) from None
    return value


def _cells_to_strings(value: Any) -> Any:
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


def read_svmlight(path: Path, options: ReadOptions) -> FileDomain:
    """Read sparse rows. The index of a feature in the file is its column, so column 0 may be empty."""
    from sklearn.datasets import load_svmlight_file

    if options.label is not None and normalize_name(options.label) not in LABEL_NAMES:
        raise FileError(
            f"{path}: an svmlight file has no named columns, so there is no '{options.label}'. Omit --label."
        )
    # zero_based="auto" would shift a file in which, by chance, no row has feature 0.
    X, y = load_svmlight_file(str(path), zero_based=True)
    if X.shape[0] == 0:
        raise FileError(f"{path}: the file has no rows.")
    labels = clean_labels(y, name="label", path=path)
    return FileDomain(path=path, kind="svmlight", X=check_matrix(X.tocsr(), path=path), y=labels, label_name="label")


def _to_domain(arrays: Mapping[str, Any], path: Path, kind: str, options: ReadOptions) -> FileDomain:
    """Find the matrix, the labels and the ids, by name and by shape."""
    key = _matrix_key(arrays, path, options)
    X = arrays[key]
    label = _label_key(arrays, key, path, options)
    remarks = [f"matrix '{key}'"]
    if label is not None:
        X, transposed = _rows_as_samples(X, np.size(arrays[label]), key, label, path)
        remarks += ["its columns are the samples, so it was transposed"] if transposed else []
    X = check_matrix(X.tocsr() if sparse.issparse(X) else X, path=path)
    id_name = _id_key(arrays, {key, label}, X.shape[0], path, options)
    return FileDomain(
        path=path,
        kind=kind,
        X=X,
        y=None if label is None else clean_labels(arrays[label], name=label, path=path),
        ids=None if id_name is None else decode_text(arrays[id_name]),
        label_name=label,
        id_name=id_name,
        remarks=tuple(remarks),
    )


def _matrix_key(arrays: Mapping[str, Any], path: Path, options: ReadOptions) -> str:
    matrices = [key for key, value in arrays.items() if key != options.label and _is_matrix(key, value)]
    if not matrices:
        shapes = ", ".join(f"'{key}' {np.shape(value)}" for key, value in arrays.items()) or "nothing"
        raise FileError(
            f"{path}: no numeric matrix found among its arrays ({shapes}). Save the features as X, rows x columns."
        )
    named = _first_named(matrices, MATRIX_NAMES, _SHORT[options.role][0], options)
    if named is not None:
        return named
    if len(matrices) > 1:
        raise FileError(
            f"{path}: several matrices ({quote_names(matrices)}), none with a common name. Save the features as X."
        )
    return matrices[0]


def _is_matrix(key: str, value: Any) -> bool:
    """Whether an array has two dimensions and is not a vector; a vector counts if its name is that of a matrix."""
    shape = np.shape(value)
    if len(shape) != 2 or value.dtype.kind not in "biuf":
        return False
    return min(shape) > 1 or normalize_name(key) in MATRIX_NAMES


def _first_named(keys: list[str], names: tuple[str, ...], short: tuple[str, ...], options: ReadOptions) -> str | None:
    """The first key with a common name; names that include the role take precedence."""
    by_name = {normalize_name(key): key for key in reversed(keys)}
    endings = [name + ending for name in names for ending in _ENDINGS[options.role]]
    return next((by_name[name] for name in (*endings, *short, *names) if name in by_name), None)


def _label_key(arrays: Mapping[str, Any], matrix: str, path: Path, options: ReadOptions) -> str | None:
    others = [key for key in arrays if key != matrix]
    if options.label is not None:
        return find_name(options.label, others, what="array", path=path)
    sizes = np.shape(arrays[matrix])
    fitting = [
        key
        for key in others
        if np.size(arrays[key]) in sizes and max(np.shape(arrays[key]), default=0) == np.size(arrays[key])
        and arrays[key].dtype.kind in "biufUS"
    ]  # fmt: skip
    derived = (f"{normalize_name(matrix)}_label", f"{normalize_name(matrix)}_labels")
    named = _first_named(fitting, LABEL_NAMES, (*_SHORT[options.role][1], *derived), options)
    if named is None and options.like is not None and options.like.label_name in fitting:
        return options.like.label_name
    return named


def _rows_as_samples(X: Any, n_labels: int, key: str, label: str, path: Path) -> tuple[Any, bool]:
    """The matrix with samples as rows, and whether it was transposed: MATLAB files often hold samples in columns."""
    rows, columns = X.shape
    if n_labels == rows:
        return X, False
    if n_labels == columns:
        return X.T, True
    raise FileError(
        f"{path}: '{label}' holds {n_labels} labels, but '{key}' is {rows} x {columns}. Give one label per row."
    )


def _id_key(
    arrays: Mapping[str, Any], taken: set[str | None], n_rows: int, path: Path, options: ReadOptions
) -> str | None:
    others = [key for key in arrays if key not in taken]
    fitting = [key for key in others if np.size(arrays[key]) == n_rows and arrays[key].dtype.kind in "iuUS"]
    if options.id_column is not None and options.role == "target":
        return find_name(options.id_column, fitting, what=f"array of {n_rows} ids", path=path)
    return next((key for key in fitting if normalize_name(key) in ID_NAMES), None)
