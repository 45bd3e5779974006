"""One matrix through the door: its type, shape, finiteness and column names."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils import check_array

from lpjt._containers import (
    TABLES,
    column_names,
    first_of_words,
    foreign_to_numpy,
    frame_to_numbers,
    is_foreign,
    open_frame,
    warn_of_conversion,
)
from lpjt._magnitude import fit_new_rows
from lpjt._structure import check_structure as check_structure
from lpjt._structure import with_own_flags
from lpjt._typing import Array, Codes, Values
from lpjt.core.blocks import AnyRows, Chunked, Rows, is_sparse

_BLOCK = 2**20  # entries examined together in the search for a non-finite one


def open_matrix(X: Any, where: str, *, min_rows: int = 1) -> tuple[AnyRows, Values | None]:
    """Rows of one domain as a float matrix, and the names of its columns.

    Parameters
    ----------
    X : array, frame, sparse matrix or list of rows, (n, width)
    where : str
        What error messages call it.
    min_rows : int
        Fewer rows are an error.

    Returns
    -------
    X : ndarray, csr_array or Chunked, (n, width)
        float32 stays float32, everything else becomes float64. Read-only, and a view of the caller's memory if the
        dtype allows it.
    feature_names : ndarray of object, (width,), or None
        Names of the columns if `X` is a frame whose names are strings.
    """
    if is_foreign(X):
        warn_of_conversion(X, where)
    X, feature_names = _read_matrix(X, where, min_rows)
    _check_finite(X, where, feature_names)
    return _read_only(X), feature_names


def open_rows(
    X: Any,
    *,
    width: int,
    feature_names: Values | None = None,
    where: str = "X",
    estimator: str = "LPJT",
    factor: float | None = None,
) -> AnyRows:
    """New rows of a domain of a fitted estimator, validated as in fit.

    Parameters
    ----------
    X : array, frame, sparse matrix or list of rows, (n, width)
    width : int
        Number of columns the domain had in fit.
    feature_names : ndarray of object, (width,), or None
        Names the columns had in fit.
    where : str
        What error messages call `X`.
    estimator : str
        What error messages call the estimator.
    factor : float or None
        Factor of the domain in fit, `Domain.factor`.

    Returns
    -------
    X : ndarray, csr_array or Chunked, (n, width)
        As `open_matrix` returns it; in float64 if the values are too large for float32.
    """
    X, names = _read_matrix(X, where, 1, lambda names: _check_names(names, feature_names, where, estimator))
    if X.shape[1] != width:
        raise ValueError(f"{where} has {X.shape[1]} features, but {estimator} is expecting {width} features as input.")
    _check_finite(X, where, names)
    return _read_only(fit_new_rows(X, factor, where, estimator))


def _read_matrix(
    X: Any, where: str, min_rows: int, check_names: Callable[[Values | None], None] = lambda names: None
) -> tuple[AnyRows, Values | None]:
    if isinstance(X, list | tuple) and len(X) and len(getattr(X[0], "shape", ())) > 1:
        raise ValueError(
            f"{where} is a {type(X).__name__} of {len(X)} matrices, but a {type(X).__name__} is read as the "
            "rows of one matrix. Give several domains as a dict, e.g. {'photo': X1, 'sketch': X2}, with y a "
            "dict of the same keys."
        )
    if is_on_disk(X):
        check_names(None)
        return _open_on_disk(X, where, min_rows), None
    check_structure(X, where)
    try:
        frame = open_frame(X)
        feature_names = None if frame is None else column_names(frame)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None
    check_names(feature_names)
    try:
        X = check_array(
            _as_numbers(with_own_flags(X)) if frame is None else frame_to_numbers(frame),
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
        )
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{where}: {error}{_remedy(str(error), frame)}") from None
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        if not X.has_canonical_format:  # otherwise scipy sorts in place later, in the caller's memory
            X = X.copy()
            X.sum_duplicates()
    return X, feature_names


def _remedy(error: str, frame: Any) -> str:
    """What to do about rows that are no matrix of numbers, by the words of the error."""
    if "float" in error:
        column = None if frame is None else first_of_words(frame)
        if column is None:
            return ". Encode or drop what is not a number."
        return f" in column {column!r}. Encode or drop what is not a number, or let {TABLES}."
    if "sample(s)" in error:
        return " Give more rows."
    return " Give rows of numbers, all of one length." if "sequence" in error else ""


def is_dict(given: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Whether several domains are given by name; scipy's dok format, a dict too, is one matrix."""
    return isinstance(given, Mapping) and not sparse.issparse(given)


def is_on_disk(X: Any) -> bool:
    """Whether `X` is an array in a file that is read by slices, as those of HDF5 and zarr."""
    return hasattr(X, "chunks") and hasattr(X, "dtype") and hasattr(X, "shape") and not isinstance(X, np.ndarray)


class _OtherColumns:
    """Rows on disk with their columns in another order, block by block."""

    def __init__(self, rows: Chunked, columns: Codes) -> None:
        self._rows, self._columns = rows, columns
        self.shape, self.dtype = (rows.shape[0], len(columns)), rows.dtype

    def __getitem__(self, rows: slice) -> Array:
        return self._rows[rows][:, self._columns]


def take_columns(X: AnyRows, columns: Codes) -> AnyRows:
    """Rows with the given columns, in the given order."""
    return Chunked(_OtherColumns(X, columns)) if isinstance(X, Chunked) else X[:, columns]


def _open_on_disk(X: Any, where: str, min_rows: int) -> Chunked:
    if len(X.shape) != 2:
        raise ValueError(
            f"{where}: got shape {tuple(X.shape)}, but one row per sample is needed. Reshape it in its file."
        )
    if np.dtype(X.dtype).kind not in "fiub":
        raise TypeError(f"{where}: {X.dtype} values on disk are not numbers. Store float32 or float64.")
    if X.shape[0] < min_rows or X.shape[1] < 1:
        raise ValueError(
            f"{where}: found shape {tuple(X.shape)}, a minimum of {min_rows} rows of 1 column is required."
        )
    return Chunked(X)


def _as_numbers(X: Any) -> Any:
    """`X` as something that `check_array` reads without loss: no mask, no dates, no float32 turned into float64."""
    if sparse.issparse(X) or isinstance(X, list | tuple):
        return X
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X) and X.dtype.kind not in "cmMV":
        X = np.ma.filled(X.astype(np.float64), np.nan)
    array = foreign_to_numpy(X) if is_foreign(X) else np.asarray(X)
    if array.ndim == 0:
        raise ValueError(f"Expected 2D array, got {type(X).__name__} instead. Give an array, a frame or rows.")
    if array.dtype.kind in "mMV":
        raise TypeError(f"dates, durations and records are not numbers, got {array.dtype}. Convert or drop them.")
    if array.ndim > 2:
        raise ValueError(f"got shape {array.shape}, but one row per sample is needed. Use X.reshape(len(X), -1).")
    return array


def _check_finite(X: AnyRows, where: str, feature_names: Values | None) -> None:
    data: Rows = X.data.reshape(-1, 1) if is_sparse(X) else X
    if get_config()["assume_finite"]:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass, nothing allocated. The sum of finite float32 values may overflow: then the blocks decide.
        if not isinstance(data, Chunked) and np.isfinite(data.sum()):
            return
    position, count = first_non_finite(data)
    if position is None:
        return
    row, column = position
    value = data[row : row + 1].ravel()[column]
    if is_sparse(X):  # then `row` counts the stored entries
        row, column = int(np.searchsorted(X.indptr, row, side="right") - 1), X.indices[row]
    raise ValueError(
        f"{where} holds {'NaN' if np.isnan(value) else value} at row {row}, column "
        f"{column if feature_names is None else repr(feature_names[column])}"
        f"{f' (and {count - 1} more)' if count > 1 else ''}. "
        + (
            "Remove or impute them first, e.g. with sklearn.impute.SimpleImputer."
            if np.isnan(value)
            else "Remove these rows or replace the values by finite ones first."
        )
    )


def first_non_finite(X: Rows) -> tuple[tuple[int, int] | None, int]:
    """Row and column of the first non-finite entry of dense rows, None if all are finite, and how many there are."""
    first, count = None, 0
    step = max(1, _BLOCK // X.shape[1])
    for start in range(0, len(X), step):
        bad = ~np.isfinite(X[start : start + step])
        if first is None and bad.any():
            row, column = np.unravel_index(bad.argmax(), bad.shape)
            first = start + int(row), int(column)
        count += int(np.count_nonzero(bad))
    return first, count


def _read_only(X: AnyRows) -> AnyRows:
    """A view of `X` through which no later stage can write to the caller's memory."""
    if isinstance(X, Chunked):
        return X
    if is_sparse(X):
        X.data = _read_only(X.data)
        return X
    view = X.view()
    view.flags.writeable = False
    return view


def _check_names(found: Values | None, expected: Values | None, where: str, estimator: str) -> None:
    """Compare column names with those of fit, in scikit-learn's words."""
    if found is None and expected is None:
        return
    if expected is None:
        message = f"{where} has feature names, but {estimator} was fitted without feature names"
        warnings.warn(message, stacklevel=4)
    elif found is None:
        message = f"{where} does not have valid feature names, but {estimator} was fitted with feature names"
        warnings.warn(message, stacklevel=4)
    elif not np.array_equal(found, expected):
        unseen, missing = sorted(set(found) - set(expected)), sorted(set(expected) - set(found))
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += "Feature names unseen at fit time:\n" + _bullets(unseen)
        if missing:
            message += "Feature names seen at fit time, yet now missing:\n" + _bullets(missing)
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)


def _bullets(names: list[str]) -> str:
    return "".join(f"- {name}\n" for name in names[:5]) + ("- ...\n" if len(names) > 5 else "")
