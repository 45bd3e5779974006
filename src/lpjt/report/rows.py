"""The domains of a fit as a report sees them: what the model kept, and the rows that the caller gives again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lpjt._stacks import split_stack
from lpjt._typing import Array, Codes, Mask, Values
from lpjt.core.blocks import AnyRows
from lpjt.domains import has_label, is_dict, read_labels
from lpjt.engines import is_lazy


@dataclass(frozen=True, slots=True, eq=False)
class DomainRows:
    """One domain: its size, and its rows and labels if they are known."""

    name: str
    is_source: bool
    n_rows: int
    width: int
    X: AnyRows | None  # (n, width), checked as `predict` checks rows
    codes: Codes | None  # (n,) class of each row: given in a source, found in a target
    distributions: Array | None  # (n, n_classes) of a target
    given: Mask  # (n,) target rows whose label was given to fit
    truth: Values | None  # (n,) object, None where unknown; labels that the fit did not use
    ids: Values | None
    columns: Values | None  # (width,)

    @property
    def confidence(self) -> Array | None:
        """Largest share of each distribution, (n,)."""
        return None if self.distributions is None else self.distributions.max(axis=1)


@dataclass(frozen=True, slots=True)
class Given:
    """What the caller gives to a report; each part as in `fit`, or None."""

    X: Any = None
    y: Any = None
    X_target: Any = None
    y_target: Any = None
    y_true: Any = None
    ids: Any = None
    sample_domain: Any = None
    columns: Any = None  # names, where the rows of fit had none; one sequence, or a dict by domain


@dataclass(frozen=True, slots=True)
class _Slot:
    """Parts of what was given that belong to one domain."""

    name: str
    is_source: bool
    X: Any
    y: Any
    truth: Any
    ids: Any
    found: Any  # (n, n_classes) of a target
    n_rows: int


def collect_rows(model: Any, given: Given) -> list[DomainRows]:
    """The domains of a fitted model, sources first, with the rows that were given."""
    for name in ("X", "X_target"):
        parts = getattr(given, name)
        if any(map(is_lazy, parts.values() if is_dict(parts) else [parts])):
            raise ValueError(
                f"{name} is a Dask collection, and a report draws rows in memory. Give a model that was fitted on a "
                "sample of the rows, and the sample; or leave the rows out."
            )
    slots = _stacked(model, given) if given.sample_domain is not None else _separate(model, given)
    return [_read(model, slot, given.columns) for slot in slots]


def has_target(model: Any) -> bool:
    """Whether the fit had any target to label."""
    return model.transduction_ is not None


def _separate(model: Any, given: Given) -> Iterator[_Slot]:
    weights = model.weights_source_
    for name in model._source_names if is_dict(weights) else model._source_names[:1]:
        X, y = _part(given.X, name, "X"), _part(given.y, name, "y")
        yield _Slot(name, True, X, y, None, None, None, len(_part(weights, name, "weights")))
    if not has_target(model):
        return
    found = model.label_distributions_
    # A stack is one target here, as nothing says which rows belong to which.
    for name in model._target_names if is_dict(found) else model._target_names[:1]:
        X, y = _part(given.X_target, name, "X_target"), _part(given.y_target, name, "y_target")
        truth, ids = _part(given.y_true, name, "y_true"), _part(given.ids, name, "ids")
        shares = _computed(_part(found, name, "distributions"))
        yield _Slot(name, False, X, y, truth, ids, shares, len(shares))


def _stacked(model: Any, given: Given) -> Iterator[_Slot]:
    if given.X is None or given.X_target is not None:
        raise ValueError("sample_domain marks the rows of one stack: give all rows as X, and no X_target.")
    n = given.X.shape[0] if hasattr(given.X, "shape") else len(given.X)
    for slot in split_stack(given.sample_domain, n):
        is_source = slot.side == "source"
        X, y = _take(given.X, slot.rows), _take(given.y, slot.rows)
        truth, ids = _take(given.y_true, slot.rows), _take(given.ids, slot.rows)
        found = None if is_source else np.asarray(model.label_distributions_)[slot.places]
        yield _Slot(slot.name, is_source, X, y, truth, ids, found, len(slot.rows))


def _read(model: Any, slot: _Slot, columns: Any) -> DomainRows:
    X = None if slot.X is None else model._open(slot.X, slot.name)
    where = "X" if slot.is_source else "X_target"
    if X is not None and X.shape[0] != slot.n_rows:
        raise ValueError(
            f"{where} has {X.shape[0]:,} rows for the domain {slot.name!r}, but the fit had {slot.n_rows:,}. Give a "
            "report the rows that were given to fit."
        )
    known = _known(slot.y, slot.n_rows, "y" if slot.is_source else "y_target", model.classes_)
    codes = to_codes(known, model.classes_) if slot.is_source else slot.found.argmax(axis=1)
    return DomainRows(
        name=slot.name,
        is_source=slot.is_source,
        n_rows=slot.n_rows,
        width=model._widths[slot.name],
        X=X,
        codes=codes,
        distributions=slot.found,
        given=np.array([value is not None for value in known]) if known is not None else np.zeros(slot.n_rows, bool),
        truth=_known(slot.truth, slot.n_rows, "y_true", model.classes_),
        ids=_ids(slot),
        columns=_columns(model, slot.name, columns),
    )


def _known(y: Any, n: int, where: str, classes: Values) -> Values | None:
    """Labels as objects, None where a row has none; None if no row has one."""
    if y is None:
        return None
    labels = read_labels(y, n, where)
    mask = has_label(labels, classes)
    values = np.full(n, None, dtype=object)
    values[mask] = np.asarray(labels.values, dtype=object)[mask]
    return values if mask.any() else None


def to_codes(values: Values | None, classes: Values) -> Codes | None:
    """Codes, (n,), of labels, -1 where a label is unknown or of no class."""
    if values is None:
        return None
    place = {as_key(label): code for code, label in enumerate(classes)}
    return np.array([-1 if value is None else place.get(as_key(value), -1) for value in values])


def as_key(label: Any) -> str:
    """A label as text, the same for 1, 1.0 and "1", which files tell apart by chance."""
    return str(int(label)) if isinstance(label, float | np.floating) and float(label).is_integer() else str(label)


def _ids(slot: _Slot) -> Values | None:
    """Ids that were given, or the index of a pandas frame."""
    ids = slot.ids
    if ids is None and hasattr(slot.X, "index") and not callable(slot.X.index):
        ids = slot.X.index
    if ids is None:
        return None
    ids = np.asarray(ids, dtype=object).ravel()
    if len(ids) != slot.n_rows:
        raise ValueError(f"ids has {len(ids):,} entries, but {slot.name!r} has {slot.n_rows:,} rows. Give one per row.")
    return ids


def _columns(model: Any, name: str, given: Any) -> Values | None:
    names, order = model._feature_names[name], model._columns[name]
    if names is not None:
        return np.asarray(names) if order is None else np.asarray(names)[order]
    named = _part(given, name, "columns")
    if named is None:
        return None
    if len(named) != model._widths[name]:
        raise ValueError(
            f"columns has {len(named):,} names, but the domain {name!r} has {model._widths[name]:,} columns. Give one "
            "name per column, or a dict of names by domain."
        )
    return np.asarray(named, dtype=object)


def _part(given: Any, name: str, where: str) -> Any:
    if not is_dict(given):
        return given
    if not isinstance(given, Mapping) or (name not in given and where in {"X", "y", "X_target"}):
        known = ", ".join(map(repr, given))
        raise ValueError(f"{where} has no domain {name!r} of the fit, only {known}. Give the domains of fit.")
    return given.get(name)


def _take(part: Any, rows: Codes) -> Any:
    if part is None:
        return None
    if hasattr(part, "iloc"):
        return part.iloc[rows]
    return part[rows] if hasattr(part, "shape") else [part[row] for row in rows]


def _computed(found: Any) -> Array:
    return np.asarray(found.compute() if is_lazy(found) else found)
