"""Labels through the door: any dtype in, codes into the source's classes out, -1 for rows without a label."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from lpjt._containers import foreign_to_numpy, is_foreign
from lpjt._typing import Codes, Mask, Values

UNLABELLED = -1
_UNKNOWN = -2


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """One `y` as it was read, before the classes are known."""

    where: str  # what error messages call it
    values: Values  # (n,) bool, integer, float, str or object of str; of no meaning for missing labels
    missing: Mask  # (n,)
    rows: Codes  # (n,) row numbers in the caller's `y`

    def take(self, rows: Codes) -> "Labels":
        """Labels of some rows only."""
        return Labels(self.where, self.values[rows], self.missing[rows], self.rows[rows])

    @property
    def known(self) -> Values:
        """The values that are not missing."""
        return self.values[~self.missing]


def read_labels(y: Any, n_rows: int, where: str, of: str = "X") -> Labels:
    """Read `y`, (n_rows,), and find the missing labels: None, NaN, pandas.NA, NaT and the empty string."""
    given_as_list = isinstance(y, list | tuple)
    if isinstance(y, np.ma.MaskedArray):
        y, masked = y.data.astype(object), np.ma.getmaskarray(y)
        y[masked] = None
    # A list is read as objects: numpy would turn the 1 and the nan in ['a', 1, nan] into strings.
    if given_as_list:
        y = np.array(y, dtype=object)
    else:
        y = foreign_to_numpy(y) if is_foreign(y) else np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if y.ndim != 1:
        raise ValueError(
            f"{where} should be a 1d array, got an array of shape {y.shape} instead. Give one label per "
            "row; for one-hot rows, give y.argmax(axis=1)."
        )
    if len(y) != n_rows:
        raise ValueError(f"{where} has {len(y)} labels, but {of} has {n_rows} rows. Give one label per row.")
    if y.dtype.kind == "c":
        raise ValueError(f"{where}: Complex data not supported. Give integers, strings or booleans.")
    if y.dtype.kind in "biuf":
        missing = np.isnan(y)
    elif y.dtype.kind == "U":
        missing = y == ""
    else:
        y, missing = _read_objects(y.astype(object), where, keep_strings=not given_as_list)
    labels = Labels(where, y, missing, np.arange(n_rows))
    _reject_continuous(labels)
    return labels


def source_classes(sources: Sequence[Labels]) -> Values:
    """Sorted classes of the labels of all sources, which must be complete and of one kind."""
    for labels in sources:
        if labels.missing.any():
            raise ValueError(
                f"{labels.where} has no label (None, NaN or '') at row {_some(labels.rows[labels.missing])}. "
                "Every source row needs one: drop these rows, or give them as target rows."
            )
    for labels in sources[1:]:
        _check_kinds(labels, sources[0].where, sources[0].values)
    classes = np.unique(np.concatenate([labels.values for labels in sources]))
    if len(classes) < 2:
        where = sources[0].where if len(sources) == 1 else "y of all sources"
        raise ValueError(
            f"{where} holds only one class, {classes.tolist()[0]!r}. A classifier cannot be "
            "trained with one class: give source rows of at least two."
        )
    return classes


def encode_source(labels: Labels, classes: Values) -> Codes:
    """Labels as codes into `classes`, (n,) int64."""
    return _lookup(labels.values, {label: code for code, label in enumerate(classes.tolist())})[0]


def encode_target(labels: Labels, classes: Values) -> Codes:
    """`target_codes`, with a warning where -1 is a class, is given, and leaves no row without a label."""
    codes = target_codes(labels, classes)
    if len(codes) and (codes != UNLABELLED).all() and (classes[codes] == UNLABELLED).any():
        warnings.warn(
            f"-1 is a class of the source, so {labels.where} labels every target row, those with -1 too. If these "
            "are unlabelled, mark them with NaN or None.",
            stacklevel=4,
        )
    return codes


def target_codes(labels: Labels, classes: Values) -> Codes:
    """Labels as codes into `classes`, (n,) int64; -1 for rows whose label is missing, or is -1 and not a class."""
    codes = np.full(len(labels.values), UNLABELLED, dtype=np.int64)
    if labels.missing.all():
        return codes
    _check_kinds(labels, "the source", classes)
    lookup = {label: code for code, label in enumerate(classes.tolist())}
    numeric = classes.dtype.kind in "biuf"
    if numeric:
        lookup.setdefault(-1, UNLABELLED)
    codes[~labels.missing], unknown = _lookup(labels.known, lookup)
    if len(unknown):
        raise ValueError(
            f"{labels.where} holds labels unknown to the source: {_some(unknown)}. The source's classes are "
            f"{_some(classes, 10)}. Drop those rows, or mark them as unlabelled with {_marks(numeric)}."
        )
    return codes


def has_label(labels: Labels, classes: Values) -> Mask:
    """Whether each label is one, known to the source or not: neither missing, nor -1 where that is not a class."""
    if classes.dtype.kind in "biuf" and UNLABELLED not in classes.tolist():
        return ~labels.missing & (labels.values != UNLABELLED)
    return ~labels.missing


def warn_of_rare_classes(classes: Values, codes: Codes) -> None:
    """Warn of classes that have only one source row."""
    rare = classes[np.bincount(codes, minlength=len(classes)) == 1]
    if len(rare):
        warnings.warn(
            f"Only one source row has the label {_some(rare)}: the spread of such a class is "
            "unknown. Add rows to it, or drop it.",
            stacklevel=4,
        )


def _read_objects(y: Values, where: str, *, keep_strings: bool) -> tuple[Values, Mask]:
    """Values of an object array, and which of them are missing; numbers are returned in a numeric dtype."""
    missing = np.fromiter(map(_is_missing, y), dtype=bool, count=len(y))
    known = y[~missing].tolist()
    strings = all(isinstance(label, str) for label in known)
    if strings and keep_strings:
        return y, missing
    numbers = all(isinstance(label, Real | np.bool_) for label in known)
    packed = np.asarray(known if strings or numbers else [])
    if not strings and not (numbers and packed.dtype.kind in "biuf"):
        types = sorted({type(label).__name__ for label in known})
        raise ValueError(
            f"Unknown label type: {where} holds labels of type {', '.join(types)}. Give integers, strings or "
            "booleans, one kind of them; mark unlabelled target rows with None."
        )
    values = np.zeros(len(y), dtype=packed.dtype)
    values[~missing] = packed
    return values, missing


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label) or label == ""  # NaN and NaT differ from themselves
    except TypeError:  # pandas.NA has no truth value
        return True
    except ValueError:  # neither has an array, which is refused later: it is not a label
        return False


def _reject_continuous(labels: Labels) -> None:
    if labels.values.dtype.kind != "f":
        return
    bad = ~labels.missing & ((labels.values != np.rint(labels.values)) | np.isinf(labels.values))
    if bad.any():
        raise ValueError(
            f"Unknown label type: continuous. {labels.where} holds {labels.values[bad][0]} at row "
            f"{labels.rows[bad][0]}. Give classes: integers, strings or booleans; put continuous values into "
            "bins first."
        )


def _check_kinds(labels: Labels, other_where: str, other: Values) -> None:
    """Refuse strings on one side and numbers on the other, which would never be equal."""
    mine, theirs = _kind(labels.known), _kind(other)
    if (mine == "strings") != (theirs == "strings"):
        raise ValueError(
            f"{labels.where} holds {mine}, e.g. {labels.known.tolist()[0]!r}, but the labels of "
            f"{other_where} are {theirs}, e.g. {other.tolist()[0]!r}. Give both as one kind; mark unlabelled "
            f"target rows with {_marks(theirs != 'strings')}."
        )


def _kind(values: Values) -> str:
    return {"b": "booleans", "O": "strings", "U": "strings"}.get(values.dtype.kind, "numbers")


def _lookup(values: Values, lookup: Mapping[Any, int]) -> tuple[Codes, Values]:
    """Codes of `values`, and the values that have none, by Python's equality: 1, 1.0 and True are the same label."""
    unique, inverse = np.unique(values, return_inverse=True)
    codes = np.array([lookup.get(label, _UNKNOWN) for label in unique.tolist()], dtype=np.int64)
    return codes[inverse], unique[codes == _UNKNOWN]


def _marks(numeric: bool) -> str:
    return "NaN, None or -1" if numeric else "None or ''"


def _some(values: Values, limit: int = 5) -> str:
    more = f" (and {len(values) - limit} more)" if len(values) > limit else ""
    return ", ".join(map(repr, values[:limit].tolist())) + more
