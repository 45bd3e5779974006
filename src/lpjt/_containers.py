"""Containers of rows that are not numpy's: frames of any library, through narwhals, and arrays of other libraries."""

import warnings
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from lpjt._typing import Values

#: What makes numbers of frames that hold more than numbers.
TABLES = "TableAdapter(LPJT()) encode texts and dates"


def open_frame(X: Any) -> "nw.DataFrame[Any] | None":
    """`X` as a narwhals frame if it is a frame in memory, of pandas, polars, pyarrow or any library narwhals knows."""
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"column names must differ. {' '.join(str(error).split())}. Rename or drop columns.") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(frame: "nw.DataFrame[Any]") -> Values | None:
    """Names of the columns, (width,) of object; None if they are numbers, as those that pandas makes up."""
    kinds = sorted({type(name).__name__ for name in frame.columns})
    if kinds == ["str"]:
        return np.asarray(frame.columns, dtype=object)
    if "str" in kinds:
        raise TypeError(f"column names are of the types {kinds}. Name all columns by strings, or none.")
    return None


def frame_to_numbers(frame: "nw.DataFrame[Any]") -> Any:
    """Values of a frame as an array, missing ones as NaN; frames of sparse columns alone as they were given."""
    types = frame.schema.values()
    if types and all(dtype == nw.Unknown for dtype in types):
        return frame.to_native()  # pandas' sparse columns, which scikit-learn reads without a dense copy
    temporal = [(name, dtype) for name, dtype in frame.schema.items() if dtype.is_temporal()]
    if temporal:
        name, dtype = temporal[0]
        raise TypeError(
            f"dates, durations and records are not numbers, got {dtype} in column {name!r}. Convert or drop them, or "
            f"let {TABLES}."
        )
    return frame.to_numpy()


def first_of_words(frame: "nw.DataFrame[Any]") -> str | None:
    """Name of the first column that holds what is not a number, None if there is none."""
    for column in frame.iter_columns():
        try:
            column.to_numpy().astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            return column.name
    return None


def is_foreign(X: Any) -> bool:
    """Whether `X` is an array of another library: of the array API, or one that can be exchanged by DLPack."""
    known = isinstance(X, np.ndarray | np.generic) or sparse.issparse(X)
    return not known and (hasattr(X, "__array_namespace__") or hasattr(X, "__dlpack__"))


def foreign_to_numpy(X: Any) -> Values:
    """An array of another library as a numpy array, without a copy where its library allows it."""
    kind = f"{type(X).__module__.partition('.')[0]} {type(X).__name__}"
    try:
        return np.asarray(X) if hasattr(X, "__array__") else np.from_dlpack(X)
    except (TypeError, RuntimeError, ValueError, BufferError) as error:
        raise TypeError(
            f"a {kind} could not be read as a numpy array ({error}). Move it to the CPU and detach it first, e.g. "
            "X.detach().cpu()."
        ) from None


def warn_of_conversion(X: Any, where: str) -> None:
    """Say that arrays of another library are converted, and that results are numpy's."""
    warnings.warn(
        f"{where} is a {type(X).__module__.partition('.')[0]} {type(X).__name__}: it is converted to a numpy array "
        "once, the fit runs on the CPU, and results are numpy arrays. Give numpy.asarray(...) to avoid this warning.",
        UserWarning,
        stacklevel=5,
    )
