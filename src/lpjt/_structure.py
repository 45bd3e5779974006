"""Whether the parts of a sparse matrix fit together: scipy trusts them, and reads and writes where they point."""

from typing import Any

import numpy as np
from scipy import sparse


def check_structure(X: Any, where: str) -> None:
    """Refuse a sparse matrix whose parts do not fit together; what is not sparse passes. `X` is not changed."""
    if not sparse.issparse(X):
        return
    try:
        fault = _fault_of(X)
    except (ValueError, TypeError, IndexError, AttributeError) as error:  # parts of the wrong kind
        fault = str(error)
    if fault:
        raise ValueError(
            f"{where} is a sparse matrix whose parts do not fit together: {fault.rstrip('.')}. Build it again from "
            "its entries, e.g. with scipy.sparse.coo_array."
        )


def with_own_flags(X: Any) -> Any:
    """The same compressed matrix, whose flags (sorted, no duplicates) are found again instead of believed."""
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    return type(X)((X.data, X.indices, X.indptr), shape=X.shape)


def _fault_of(X: Any) -> str:
    """What is wrong with a sparse matrix, in words; empty if nothing is."""
    if X.ndim != 2:
        return f"it has {X.ndim} dimension instead of two"
    if X.dtype.kind not in "biufc":
        return f"its entries are of type {X.dtype}"
    fault: str = {
        "csr": _fault_of_compressed,
        "csc": _fault_of_compressed,
        "bsr": _fault_of_compressed,
        "coo": _fault_of_coordinates,
        "lil": _fault_of_lists,
        "dok": _fault_of_keys,
        "dia": _fault_of_diagonals,
    }[X.format](X)
    return fault


def _fault_of_compressed(X: Any) -> str:
    n_rows, n_columns = X.shape
    data_ndim = 1
    if X.format == "bsr":
        height, width = X.blocksize
        if n_rows % height or n_columns % width:
            return f"blocks of {height} x {width} do not fill a matrix of {n_rows} x {n_columns}"
        n_rows, n_columns, data_ndim = n_rows // height, n_columns // width, 3
    elif X.format == "csc":
        n_rows, n_columns = n_columns, n_rows
    pointers, indices = X.indptr, X.indices
    if (X.data.ndim, indices.ndim, pointers.ndim) != (data_ndim, 1, 1):
        return "data, indices or indptr has the wrong number of dimensions"
    if pointers.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        return f"indices and indptr are of type {indices.dtype} and {pointers.dtype}, not integers"
    if len(pointers) != n_rows + 1:
        return f"indptr has {len(pointers)} entries instead of {n_rows + 1}"
    if len(indices) != len(X.data):
        return f"indices has {len(indices)} entries, but data has {len(X.data)}"
    if pointers[0] != 0 or pointers[-1] > len(indices):
        return f"indptr goes from {pointers[0]} to {pointers[-1]}, but there are {len(indices)} entries"
    if (pointers[1:] < pointers[:-1]).any():
        return "indptr falls, but it must not decrease"
    return _outside(indices[: pointers[-1]], n_columns, "indices")


def _fault_of_coordinates(X: Any) -> str:
    for name, size, index in zip(("row", "column"), X.shape, (X.row, X.col), strict=True):
        if index.ndim != 1 or len(index) != len(X.data):
            return f"there are {len(X.data)} entries, but {len(index)} {name} indices"
        if fault := _outside(index, size, f"{name} indices"):
            return fault
    return ""


def _fault_of_lists(X: Any) -> str:
    if len(X.rows) != X.shape[0] or len(X.data) != X.shape[0]:
        return f"it has lists for {len(X.rows)} rows instead of {X.shape[0]}"
    if any(len(row) != len(values) for row, values in zip(X.rows, X.data, strict=True)):
        return "a row has more or fewer column indices than entries"
    return _outside(np.array([column for row in X.rows for column in row]), X.shape[1], "column indices")


def _fault_of_keys(X: Any) -> str:
    keys = np.array(list(X.keys())).reshape(-1, 2)
    return _outside(keys[:, 0], X.shape[0], "row indices") or _outside(keys[:, 1], X.shape[1], "column indices")


def _fault_of_diagonals(X: Any) -> str:
    if X.data.ndim != 2 or X.offsets.ndim != 1 or len(X.data) != len(X.offsets):
        return f"it has {len(X.offsets)} offsets, but {len(X.data)} diagonals"
    if X.offsets.dtype.kind not in "iu" or len(np.unique(X.offsets)) < len(X.offsets):
        return "its offsets are not integers that differ"
    return ""


def _outside(index: Any, size: int, name: str) -> str:
    """What is wrong with indices that must be whole numbers from 0 to size - 1."""
    if not len(index):
        return ""
    if index.dtype.kind not in "iu":
        return f"{name} are of type {index.dtype}, not integers"
    least, most = int(index.min()), int(index.max())
    return f"{name} go from {least} to {most}, outside of 0 to {size - 1}" if least < 0 or most >= size else ""
