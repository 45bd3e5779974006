"""How the rows of one domain become numbers. The learned state is plain values: texts, numbers and one array."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from lpjt._cells import to_numbers, to_texts
from lpjt._typing import Array
from lpjt.files.domain import normalize_name, quote_names

if TYPE_CHECKING:
    from pandas import DataFrame

#: Names of `impute`, and scikit-learn's.
STRATEGIES = {"mean": "mean", "median": "median", "most-frequent": "most_frequent"}


@dataclass(frozen=True, slots=True)
class ColumnCode:
    """How one column becomes numbers."""

    name: str  # in the tables of the domain
    position: int  # in the table of fit, for tables without names
    kind: str  # "number", "date" or "category"
    feature: str  # name in the matrix; the same in all domains whose columns are matched
    form: str | None = None  # of dates in text, e.g. "%d.%m.%Y", None of stored ones; "truth" of truth values in words
    levels: tuple[str, ...] = ()  # of a category: one column of 0 and 1 each


@dataclass(frozen=True, slots=True, eq=False)
class TableEncoder:
    """What a domain's tables go through before the estimator: made by `fit_encoder`, or of its own fields.

    Numbers and dates are imputed by `SimpleImputer`, categories are encoded by `OneHotEncoder`; both are made anew from
    the fields, so that these are all there is to save.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from lpjt.tables import ColumnCode, TableEncoder
    >>> height = ColumnCode("height", 0, "number", "height")
    >>> soil = ColumnCode("soil", 1, "category", "soil", levels=("clay", "sand"))
    >>> encoder = TableEncoder((height, soil), width=2, impute="median", statistics=np.array([7.0]))
    >>> encoder.transform(pd.DataFrame({"soil": ["sand", "clay"], "height": [None, 5]}))
    array([[7., 0., 1.],
           [5., 1., 0.]])
    """

    columns: tuple[ColumnCode, ...]
    width: int  # columns of the table of fit, used or not
    impute: str | None  # "mean", "median", "most-frequent", or None: then a missing cell is an error
    statistics: Array  # (numbers and dates,) what replaces a missing cell of each
    padding: int = 0  # columns of zeros at the end
    dtype: str = "float64"

    @property
    def measured(self) -> list[ColumnCode]:
        """Numbers and dates, which come first in the matrix."""
        return [code for code in self.columns if code.kind != "category"]

    @property
    def categories(self) -> list[ColumnCode]:
        """Categories, whose levels come after the numbers and dates."""
        return [code for code in self.columns if code.kind == "category"]

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of the matrix."""
        levels = [f"{code.feature}={level}" for code in self.categories for level in code.levels]
        return [*(code.feature for code in self.measured), *levels, *(f"(zero {i})" for i in range(self.padding))]

    def transform(self, table: "DataFrame") -> Array:
        """Rows of a table with the columns of fit, in any order, as a matrix, (n, n_features)."""
        places = self.places(table)
        values = read_numbers(table, self.measured, places, self.dtype, usual=self.statistics)
        if self.impute is None:
            refuse_missing(values, [code.name for code in self.measured])
        blocks = [values if self.impute is None else impute_cells(values, self.statistics, self.impute)]
        if self.categories:
            texts = np.column_stack([to_texts(table.iloc[:, places[code.name]]) for code in self.categories])
            blocks.append(one_hot(texts, [code.levels for code in self.categories]).astype(self.dtype, copy=False))
        if self.padding:
            blocks.append(np.zeros((len(table), self.padding), dtype=self.dtype))
        return np.hstack(blocks) if len(blocks) > 1 else blocks[0]

    def places(self, table: "DataFrame") -> dict[str, int]:
        """Where the columns of fit are in a table: by name, or by position if the table has no names."""
        names = list(table.columns)
        if not has_names(names) and table.shape[1] == self.width:
            return {code.name: code.position for code in self.columns}
        find = ColumnFinder(names)
        places = {code.name: find(code.name) for code in self.columns}
        missing = [name for name, place in places.items() if place is None]
        if missing:
            raise ValueError(
                f"The table lacks {quote_names(missing)}, which the table of fit has. It has "
                f"{quote_names(map(str, names), 8)}. Add or rename the columns."
            )
        return {name: place for name, place in places.items() if place is not None}

    def to_dict(self) -> dict[str, Any]:
        """All fields as what JSON has: texts, numbers, lists, dicts."""
        return {**asdict(self), "statistics": self.statistics.tolist()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "TableEncoder":
        """The encoder of `to_dict`, with the same numbers bit by bit."""
        codes = tuple(ColumnCode(**{**code, "levels": tuple(code["levels"])}) for code in fields["columns"])
        statistics = np.array(fields["statistics"], dtype=np.float64)
        return cls(**{**fields, "columns": codes, "statistics": statistics})


def fit_encoder(
    table: "DataFrame", codes: Sequence[ColumnCode], *, impute: str | None, dtype: str, padding: int = 0
) -> TableEncoder:
    """The encoder of one domain; what replaces missing cells is learned from its own rows.

    A shift between domains is mostly one of location and scale. A cell of the target that is replaced by the source's
    median would lie where no row of the target is, and a median of both would lie between them; the domain's own is the
    one value that says nothing about the row.
    """
    measured = [code for code in codes if code.kind != "category"]
    places = {code.name: code.position for code in codes}
    values = read_numbers(table, measured, places, "float64")
    statistics = np.zeros(0)
    if measured:
        imputer = SimpleImputer(strategy=STRATEGIES[impute or "median"], keep_empty_features=True)
        statistics = imputer.fit(values).statistics_.astype(np.float64)
    return TableEncoder(tuple(codes), table.shape[1], impute, statistics, padding, dtype)


def read_numbers(
    table: "DataFrame",
    codes: Sequence[ColumnCode],
    places: Mapping[str, int],
    dtype: str = "float64",
    usual: Array | None = None,
) -> Array:
    """Columns of numbers and dates as a matrix, (n, len(codes)), NaN where a cell is missing or infinite.

    `usual`, (len(codes),), are values that an error about a cell shows as examples.
    """
    dtypes = list(table.dtypes)
    kinds = {dtypes[places[code.name]] for code in codes}
    if codes and all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in kinds):  # all at once
        values = table.iloc[:, [places[code.name] for code in codes]].to_numpy(dtype=dtype)
        return values if np.isfinite(values).all() else np.where(np.isfinite(values), values, np.nan)
    values = np.empty((len(table), len(codes)), dtype=dtype)
    for i, code in enumerate(codes):
        example = None if usual is None else float(usual[i])
        values[:, i] = to_numbers(table.iloc[:, places[code.name]], code.kind, code.form, usual=example)
    return values


def refuse_missing(values: Array, names: Sequence[str]) -> None:
    """An error if a cell of the columns of these names is missing."""
    missing = np.isnan(values)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        more = f" (and {missing.sum() - 1:,} more)" if missing.sum() > 1 else ""
        raise ValueError(
            f"Column {names[column]!r} has no value in row {row} (counted from 0){more}, and impute is None. Fill the "
            "missing cells, or choose impute='median', 'mean' or 'most-frequent' (--impute)."
        )


def impute_cells(values: Array, statistics: Array, impute: str) -> Array:
    """Values with missing cells replaced by the statistics of their columns."""
    if not values.size or not np.isnan(values).any():
        return values
    # An imputer that is fitted on its own statistics has them again: every rule gives the one row that it sees.
    imputer = SimpleImputer(strategy=STRATEGIES[impute]).fit(statistics[np.newaxis].astype(values.dtype))
    return imputer.transform(values)


def one_hot(texts: np.ndarray, levels: Sequence[Sequence[str]]) -> Array:
    """Columns of 0 and 1, one for each level; a text that is no level, or is missing, has zeros alone."""
    encoder = OneHotEncoder(
        categories=[np.array(known, dtype=object) for known in levels], handle_unknown="ignore", sparse_output=False
    )
    return encoder.fit(np.array([[known[0] for known in levels]], dtype=object)).transform(texts)


def has_names(names: Sequence[Any]) -> bool:
    """Whether columns have names; numbers alone only count them, and count a label's column too."""
    return not all(isinstance(name, int | np.integer) or str(name).isdigit() for name in names)


class ColumnFinder:
    """Finds the place of a name among others: itself, or the only one that differs in case, spaces or hyphens alone."""

    def __init__(self, names: Sequence[Any]) -> None:
        self._exact = {name: place for place, name in enumerate(names)}
        self._folded: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            self._folded.setdefault(normalize_name(name), []).append(place)

    def __call__(self, name: Any) -> int | None:
        """The place, or None."""
        if name in self._exact:
            return self._exact[name]
        folded = self._folded.get(normalize_name(name), [])
        return folded[0] if len(folded) == 1 else None
