"""Readers of files that hold arrays: npz, npy, mat, svmlight."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

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
    list_arrays,
    normalize_name,
    quote_names,
    shown_name,
)
from lpjt.isolated import MAX_COLUMNS, Other, SparseParts, limits_for, read_isolated
from lpjt.isolated.npy import check_npy
from lpjt.isolated.parts import Value

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
    with open(path, "rb") as file:
        if check_npy(file, path.stat().st_size).hasobject:
            raise FileError(_pickled(path, "the array"))
    X = np.load(path, mmap_mode="r", allow_pickle=False)
    if options.label is not None:
        raise FileError(
            f"{path}: an npy file holds a single array, so there is no '{options.label}'. Save X and y together as npz."
        )
    return FileDomain(path=path, kind="npy", X=check_matrix(X, path=path))


def read_npz(path: Path, options: ReadOptions) -> FileDomain:
    """Read the arrays of an npz file, or a matrix written by ``scipy.sparse.save_npz``."""
    values = read_isolated(path, "npz").values
    if isinstance(values.get(""), SparseParts):
        X = build_sparse(values[""], path).tocsr()
        return FileDomain(path=path, kind="npz", X=check_matrix(X, path=path))
    for key, value in values.items():
        named = normalize_name(key) in {*MATRIX_NAMES, *LABEL_NAMES, *ID_NAMES} or key == options.label
        if isinstance(value, Other) and value.what == "pickled" and named:
            raise FileError(_pickled(path, f"'{key}'"))
    return _to_domain(_arrays(values, path), path, "npz", options)


def _pickled(path: Path, what: str) -> str:
    return (
        f"{path}: {what} is pickled (dtype object), and pickles are never loaded because they can run code. "
        "Save it as a plain array, for example with .astype(str)."
    )


def read_mat(path: Path, options: ReadOptions) -> FileDomain:
    """Read a MATLAB file: version 5 with scipy, version 7.3 with h5py."""
    return _to_domain(_arrays(read_isolated(path, mat_kind(path)).values, path), path, "mat", options)


def mat_kind(path: Path) -> str:
    """The reader that a MATLAB file needs; an error that says how to get h5py if it is not there."""
    with open(path, "rb") as file:
        start = file.read(128)
    if start[124:126] != b"\0\2":
        return "mat"
    if find_spec("h5py") is None:
        raise ImportError(
            f"`h5py` is needed to read {path} (MATLAB 7.3). Install it with `pip install 'lpjt[hdf5]'`, or save the "
            "file with -v7."
        )
    return "mat-7.3"


def _arrays(values: Mapping[str, Value], path: Path) -> dict[str, Any]:
    """Arrays and sparse matrices by name, without what is neither."""
    built = {k: build_sparse(v, path) if isinstance(v, SparseParts) else v for k, v in values.items()}
    return {key: value for key, value in built.items() if not isinstance(value, Other)}


def build_sparse(parts: Any, path: Path) -> Any:
    """The sparse matrix of its parts, refused if they do not fit together or it would be too large."""
    # A conversion allocates an index per row or column.
    longest = min(limits_for(path.stat().st_size).memory // 16, MAX_COLUMNS)
    if len(parts.shape) != 2 or not all(0 <= length <= longest for length in parts.shape):
        raise FileError(
            f"{path}: a sparse matrix of shape {parts.shape} cannot be read; it has two sides of at most {longest:,}. "
            "Leave out the rows and columns without entries."
        )
    named = parts.arrays
    try:
        if parts.format == "coo":
            found = sparse.coo_matrix((named["data"], (named["row"], named["col"])), shape=parts.shape)
        elif parts.format == "dia":
            found = _build_diagonals(named["data"], named["offsets"], parts.shape)
        else:
            build = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix, "bsr": sparse.bsr_matrix}[parts.format]
            found = build((named["data"], named["indices"], named["indptr"]), shape=parts.shape)
        check_structure(found, "its matrix")
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        if str(error).startswith("its matrix is"):
            raise FileError(f"{path}: {error}") from None
        raise FileError(f"{path}: its sparse matrix is invalid ({error}). Build and write it again.") from None
    return found


def _build_diagonals(data: np.ndarray, offsets: np.ndarray, shape: tuple[int, int]) -> Any:
    if offsets.dtype.kind not in "iu" or not all(-shape[0] < offset < shape[1] for offset in offsets.ravel().tolist()):
        raise ValueError("a diagonal is out of bounds")
    return sparse.dia_matrix((data, offsets), shape=shape)


def read_svmlight(path: Path, options: ReadOptions) -> FileDomain:
    """Read sparse rows. The index of a feature in the file is its column, so column 0 may be empty."""
    if options.label is not None and normalize_name(options.label) not in LABEL_NAMES:
        raise FileError(
            f"{path}: an svmlight file has no named columns, so there is no '{options.label}'. Omit --label."
        )
    values = read_isolated(path, "svmlight").values
    X, labels = build_sparse(values["X"], path), clean_labels(values["y"], name="label", path=path)
    return FileDomain(path=path, kind="svmlight", X=check_matrix(X, path=path), y=labels, label_name="label")


def _to_domain(arrays: Mapping[str, Any], path: Path, kind: str, options: ReadOptions) -> FileDomain:
    """Find the matrix, the labels and the ids, by name and by shape."""
    key = _matrix_key(arrays, path, options)
    X = arrays[key]
    label = _label_key(arrays, key, path, options)
    remarks = [f"matrix '{shown_name(key)}'"]
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
        raise FileError(
            f"{path}: no numeric matrix found among its arrays ({list_arrays(arrays)}). Save the features as X, rows x "
            "columns."
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
        f"{path}: '{shown_name(label)}' holds {n_labels} labels, but '{shown_name(key)}' is {rows} x {columns}. Give "
        "one label per row."
    )


def _id_key(
    arrays: Mapping[str, Any], taken: set[str | None], n_rows: int, path: Path, options: ReadOptions
) -> str | None:
    others = [key for key in arrays if key not in taken]
    fitting = [key for key in others if np.size(arrays[key]) == n_rows and arrays[key].dtype.kind in "iuUS"]
    if options.id_column is not None and options.role == "target":
        return find_name(options.id_column, fitting, what=f"array of {n_rows} ids", path=path)
    return next((key for key in fitting if normalize_name(key) in ID_NAMES), None)
