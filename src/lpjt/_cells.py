"""Columns of a pandas frame: what kind of cells they hold, and the cells as numbers or as texts."""

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pandas import Series

_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d")

#: Forms of dates that are recognised in text, the likeliest first; day first where both orders fit.
DATE_FORMATS = ("ISO8601", *(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")))

_ISO_DAY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?")  # no other form has the year first, and hyphens
_LIKE_A_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?")
#: Words and numbers for truth values, in small letters, as the numbers that they become; and the form of such cells.
TRUTH_FORM = "truth"
TRUTH = {"yes": 1.0, "true": 1.0, "1": 1.0, "no": 0.0, "false": 0.0, "0": 0.0}

_NUMBERS = {"boolean", "integer", "floating", "mixed-integer-float", "decimal"}


class Kind(NamedTuple):
    """What a column holds. `formats` are the forms that all its dates fit; none of stored dates."""

    name: Literal["number", "date", "category", "empty"]
    formats: tuple[str, ...] = ()


def read_kind(column: "Series") -> Kind:
    """The kind of a column: numbers (also truth values and durations), dates, or texts, which are categories."""
    if column.isna().all():
        return Kind("empty")
    if hasattr(column.dtype, "categories"):
        return Kind("category")
    if column.dtype.kind in "biufm":
        return Kind("number")
    if column.dtype.kind == "M":
        return Kind("date")
    from pandas.api.types import infer_dtype

    inferred = infer_dtype(column, skipna=True)
    if inferred in _NUMBERS:
        return Kind("number")
    if inferred in {"datetime", "datetime64"}:
        return Kind("date")
    return _kind_of_texts(distinct_texts(column))


def _kind_of_texts(texts: np.ndarray) -> Kind:
    import pandas

    if not np.isnan(pandas.to_numeric(texts, errors="coerce").astype(float)).any():
        return Kind("number")
    if all(_LIKE_A_DATE.fullmatch(text) for text in texts):
        fitting = tuple(form for form in DATE_FORMATS if not pandas.isna(_read_dates(texts, form)).any())
        if fitting:
            return Kind("date", fitting)
    return Kind("category")


def to_texts(column: "Series") -> np.ndarray:
    """Cells as text, (n,) of object, None where missing; whole numbers have no decimals."""
    cells = column.astype(object).to_numpy()
    missing = column.isna().to_numpy()
    return np.array([None if gone else _text(cell) for cell, gone in zip(cells, missing, strict=True)], dtype=object)


def distinct_texts(column: "Series") -> np.ndarray:
    """The different texts of a column, sorted, without the missing ones."""
    return np.array(sorted({text for text in to_texts(column) if text is not None}), dtype=object)


def find_strange(column: "Series", kind: str) -> np.ndarray:
    """Positions of the cells that are neither missing nor, as text, a "number", a "date" or a "truth" value."""
    import pandas

    texts = to_texts(column)
    if kind == "number":
        good = ~np.isnan(pandas.to_numeric(texts, errors="coerce").astype(float))
    elif kind == "date":
        good = np.array([text is not None and _LIKE_A_DATE.fullmatch(text) is not None for text in texts])
    else:
        good = np.array([text is not None and text.lower() in TRUTH for text in texts])
    return np.flatnonzero(~good & np.array([text is not None for text in texts]))


def to_numbers(column: "Series", kind: str, form: str | None = None, *, usual: float | None = None) -> np.ndarray:
    """Cells as float64, (n,), NaN where missing or infinite; dates as days since 1970, in the given form or in ISO's.

    Words are truth values where the form is `TRUTH_FORM`.

    Raises ValueError if a cell is neither missing nor of that kind; `usual` is a value that its message shows as one.
    """
    import pandas

    if kind == "date":
        values = _read_days(column, form)
    elif form == TRUTH_FORM:
        values = np.array([TRUTH.get((text or "").lower(), np.nan) for text in to_texts(column)])
    elif column.dtype.kind == "m":
        values = (column / pandas.Timedelta(days=1)).to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = pandas.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    missing = column.isna().to_numpy()
    strange = np.flatnonzero(np.isnan(values) & ~missing)
    if len(strange):
        raise ValueError(
            f"Column {column.name!r} holds {str(column.iloc[strange[0]])[:40]!r} in row {strange[0]} (counted from 0), "
            f"which is not a {'truth value' if form == TRUTH_FORM else kind}. {_remedy(kind, form, usual)}"
        )
    return np.where(np.isfinite(values), values, np.nan)


def _remedy(kind: str, form: str | None, usual: float | None) -> str:
    """What to write instead of a cell that cannot be read."""
    if form == TRUTH_FORM:
        return "Write yes or no, true or false, or 1 or 0."
    if kind != "date":
        return "Correct the cell."
    import pandas

    day = pandas.Timestamp(0) + pandas.Timedelta(days=int(usual or 0))
    if form in {None, "ISO8601"}:
        return f"Write it like {day:%Y-%m-%d}."
    return f"Write it in the form of fit, like {day.strftime(str(form))} ({form}), or like {day:%Y-%m-%d}."


def _read_days(column: "Series", form: str | None) -> np.ndarray:
    """Dates as days since 1970, NaN where a cell has neither the given form nor that of ISO."""
    values = _days(_read_dates(column, form))
    others = np.flatnonzero(np.isnan(values) & column.notna().to_numpy())
    in_iso = [i for i in others if _ISO_DAY.fullmatch(str(column.iloc[i]).strip())]
    if in_iso:
        values[in_iso] = _days(_read_dates(column.iloc[in_iso], "ISO8601"))
    return values


def _read_dates(cells: Any, form: str | None) -> Any:
    import pandas

    return pandas.to_datetime(cells, format=form, errors="coerce", utc=True)


def _days(dates: Any) -> np.ndarray:
    import pandas

    return ((dates - pandas.Timestamp(0, tz="UTC")) / pandas.Timedelta(days=1)).to_numpy(dtype=np.float64, copy=True)


def _text(cell: Any) -> str:
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()
