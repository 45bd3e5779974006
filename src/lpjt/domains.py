"""The one door: arrays, frames, sparse matrices, dicts of them or one stack come in, validated domains go on.

Nothing is checked again later. The input is never written to, and copied only if it must be.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from lpjt._domain import Domain, Domains
from lpjt._labels import (
    UNLABELLED,
    Labels,
    encode_source,
    encode_target,
    has_label,
    read_labels,
    source_classes,
    warn_of_rare_classes,
)
from lpjt._magnitude import shared_factors
from lpjt._matrices import is_dict, open_matrix, open_rows, take_columns
from lpjt._stacks import domain_name, read_sample_domain, split_stack
from lpjt._typing import Array, Codes, Values
from lpjt._weights import read_weights, relative_weights
from lpjt.core.blocks import AnyRows
from lpjt.core.statistics import largest_entry

__all__ = [
    "UNLABELLED",
    "Domain",
    "Domains",
    "domain_name",
    "has_label",
    "is_dict",
    "open_domains",
    "open_rows",
    "read_labels",
    "read_sample_domain",
    "take_columns",
]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A domain whose labels are not yet codes; `labels` is None if no row is labelled."""

    where: str
    name: str
    X: AnyRows
    feature_names: Values | None
    labels: Labels | None
    columns: Codes | None = None
    weights: Array | None = None  # as given, positive

    def drop_unweighted(self, sample_weight: Any, where: str) -> "_Part":
        """The part with sample weights, without its rows of weight 0, which are as if they were not there."""
        weights = read_weights(sample_weight, self.X.shape[0], where)
        if weights.all():
            return replace(self, weights=weights)
        kept = np.flatnonzero(weights)
        labels = None if self.labels is None else self.labels.take(kept)
        return replace(self, X=self.X[kept], labels=labels, weights=weights[kept])

    def encode(self, encoder: Callable[[Labels, Values], Codes], classes: Values) -> Domain:
        nothing = np.full(self.X.shape[0], UNLABELLED, dtype=np.int64)
        y = nothing if self.labels is None else encoder(self.labels, classes)
        return Domain(self.name, self.X, y, self.feature_names, self.columns)


def open_domains(
    X: Any,
    y: Any,
    X_target: Any = None,
    y_target: Any = None,
    *,
    sample_domain: Any = None,
    sample_weight: Any = None,
) -> Domains:
    """Validate what the caller gave to `fit`.

    Parameters
    ----------
    X : matrix, (n_source, width), or dict of name to matrix
        Rows of the source, of several sources by name, or, with `sample_domain`, of all domains in one stack.
    y : labels, (n_source,), or dict of name to labels
        Integers, strings or booleans, in any container. In a stack, target rows have a label or a missing mark.
    X_target : matrix, (n_target, width), dict of name to matrix, or None
        Rows of the target or of several targets. Without it there are no targets.
    y_target : labels, (n_target,), dict of name to labels, or None
        Labels of some rows. None, NaN, pandas.NA, the empty string, and -1 unless that is a class of the source, mark
        a row as unlabelled; a target that is not a key of the dict has no labels.
    sample_domain : integers, (n,), or None
        The domain of each row of a stack: 0 and above are sources, below 0 targets.
    sample_weight : numbers, (n_source,), dict of name to numbers, or None
        How often each source row counts; in a stack one per row, of which those of target rows are not used. A row of
        weight 0 is left out.

    Returns
    -------
    Domains
    """
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None. Give the source's labels.")
    if sample_domain is not None:
        _check_only_stack(X, y, X_target, y_target)
        return _close(*_unstack(X, y, sample_domain, sample_weight))
    if X_target is None and y_target is not None:
        raise ValueError("y_target was given without X_target. Give the target's rows too, or neither.")
    sources = _weigh(read_parts(X, y, "source", _read_part), sample_weight, named=is_dict(X))
    targets = [] if X_target is None else read_parts(X_target, y_target, "target", _read_part)
    check_names_differ(sources, targets)
    if X_target is None:
        _refuse_marks(sources)
    sources, targets = _match_names(sources, sources[0]), _match_names(targets, sources[0])
    return _close(sources, targets, {"named_sources": is_dict(X), "named_targets": is_dict(X_target)})


def _close(sources: list[_Part], targets: list[_Part], layout: dict[str, Any]) -> Domains:
    """Turn labels into codes once all of them are read."""
    classes = source_classes([part.labels for part in sources if part.labels is not None])
    weights = relative_weights([part.weights for part in sources])
    both = [*sources, *targets]
    factors = iter(shared_factors(*zip(*((p.where, p.X.shape[1], largest_entry(p.X)) for p in both), strict=True)))
    encoded = [part.encode(encode_source, classes) for part in sources]
    domains = Domains(
        tuple(replace(d, weights=w, factor=next(factors)) for d, w in zip(encoded, weights, strict=True)),
        tuple(replace(part.encode(encode_target, classes), factor=next(factors)) for part in targets),
        classes,
        **layout,
    )
    if targets:
        warn_of_rare_classes(classes, np.concatenate([domain.y for domain in domains.sources]))
    return domains


class Named(Protocol):
    """A part of a domain that has been read; each engine has its own."""

    @property
    def name(self) -> str:
        """Name of the domain."""


AnyPart = TypeVar("AnyPart", bound=Named)


def read_parts(X: Any, y: Any, side: str, read_part: Callable[[Any, Any, str, str, str], AnyPart]) -> list[AnyPart]:
    """Parts of one side, "source" or "target", by ``read_part``: one, or one for each key of a dict."""
    x_name, y_name = ("X", "y") if side == "source" else ("X_target", "y_target")
    if not is_dict(X):
        if is_dict(y):
            raise ValueError(f"{y_name} is a dict, but {x_name} is not. Give dicts of the same keys, or no dict.")
        return [read_part(X, y, side, x_name, y_name)]
    _check_keys(X, y, side, x_name, y_name)
    labels = {} if y is None else y
    return [read_part(X[name], labels.get(name), name, f"X_{side} {name!r}", f"y_{side} {name!r}") for name in X]


def check_names_differ(sources: Iterable[Named], targets: Iterable[Named]) -> None:
    """Refuse a name that a source and a target share."""
    shared = {part.name for part in sources} & {part.name for part in targets}
    if shared:
        raise ValueError(f"{_quoted(shared)} is the name of a source and of a target. Names must differ.")


def _read_part(X: Any, y: Any, name: str, x_where: str, y_where: str) -> _Part:
    rows, feature_names = open_matrix(X, x_where, min_rows=2)
    labels = None if y is None else read_labels(y, rows.shape[0], y_where, of=x_where)
    return _Part(x_where, name, rows, feature_names, labels)


def _check_keys(X: Any, y: Any, side: str, x_name: str, y_name: str) -> None:
    if not len(X):
        raise ValueError(f"{x_name} is an empty dict. Give at least one {side}, e.g. {{'photo': X1}}.")
    others = [name for name in X if not isinstance(name, str)]
    if others:
        raise ValueError(f"{x_name} has the key {others[0]!r}. Names of domains are strings, e.g. 'photo'.")
    if y is None and side == "target":
        return
    if not is_dict(y):
        raise ValueError(f"{x_name} is a dict, but {y_name} is not. Give {y_name} as a dict of the same keys.")
    surplus = [name for name in y if name not in X]
    lacking = [name for name in X if y.get(name) is None] if side == "source" else []
    if surplus or lacking:
        raise ValueError(
            f"The keys of {x_name} and {y_name} differ:"
            + (f" {y_name} lacks {_quoted(lacking)}." if lacking else "")
            + (f" {x_name} lacks {_quoted(surplus)}." if surplus else "")
            + " Give both the same keys."
        )


def _check_only_stack(X: Any, y: Any, X_target: Any, y_target: Any) -> None:
    if X_target is not None or y_target is not None:
        raise ValueError(
            "X_target and y_target cannot be given with `sample_domain`, which marks the target rows of X. "
            "Give one or the other."
        )
    if is_dict(X) or is_dict(y):
        raise ValueError(
            "A dict cannot be given with `sample_domain`. Give X and y as one stack of all domains, "
            "or leave `sample_domain` out."
        )


def _weigh(parts: list[_Part], sample_weight: Any, *, named: bool) -> list[_Part]:
    """Sources with their sample weights, if any are given."""
    if sample_weight is None:
        return parts
    if named != is_dict(sample_weight) or (named and set(sample_weight) != {part.name for part in parts}):
        raise ValueError(
            "sample_weight has another form than X. Give one array for one source, and a dict of the same keys as X "
            "for a dict of sources."
        )
    if not named:
        return [parts[0].drop_unweighted(sample_weight, "sample_weight")]
    return [part.drop_unweighted(sample_weight[part.name], f"sample_weight {part.name!r}") for part in parts]


def _unstack(X: Any, y: Any, sample_domain: Any, sample_weight: Any) -> tuple[list[_Part], list[_Part], dict[str, Any]]:
    """Sources and targets of a stack, and the positions of their rows."""
    stack, feature_names = open_matrix(X, "X", min_rows=2)
    labels = read_labels(y, stack.shape[0], "y")
    weights = None
    if sample_weight is not None:
        weights = read_weights(sample_weight, stack.shape[0], "sample_weight")
        sample_domain = read_sample_domain(sample_domain, stack.shape[0])
        kept = np.flatnonzero((weights > 0) | (sample_domain < 0))
        if len(kept) < len(weights):
            stack, labels = stack[kept], labels.take(kept)
            sample_domain, weights = sample_domain[kept], weights[kept]
    parts: dict[str, list[_Part]] = {"source": [], "target": []}
    places: dict[str, list[Codes]] = {"source": [], "target": []}
    for slot in split_stack(sample_domain, stack.shape[0]):
        rows = _take_rows(stack, slot.rows)
        part = _Part(slot.where, slot.name, rows, feature_names, labels.take(slot.rows))
        if weights is not None and slot.side == "source":
            part = replace(part, weights=weights[slot.rows])
        parts[slot.side].append(part)
        places[slot.side].append(slot.places)
    layout = {"source_rows": tuple(places["source"]), "target_rows": tuple(places["target"])}
    return parts["source"], parts["target"], layout


def _take_rows(X: AnyRows, rows: Codes) -> AnyRows:
    if rows[-1] - rows[0] + 1 == len(rows):  # consecutive rows of a dense stack are a view, not a copy
        return X[rows[0] : rows[-1] + 1]
    return X[rows]


def _match_names(parts: list[_Part], first: _Part) -> list[_Part]:
    """Parts with the columns that have the names of the first source's in its order.

    Other columns are matched by position, with a warning if the two domains share only some of the names. Domains of
    different widths have different features, which is worth a warning too if they share names.
    """
    return [_order_like(first, part) for part in parts]


def _order_like(first: _Part, part: _Part) -> _Part:
    wanted, found = first.feature_names, part.feature_names
    if wanted is None or found is None or np.array_equal(wanted, found):
        return part
    shared = set(wanted) & set(found)
    if len(shared) == len(wanted) == len(found):
        place = {name: i for i, name in enumerate(found)}
        columns = np.array([place[name] for name in wanted])
        return replace(part, X=take_columns(part.X, columns), columns=columns)
    if shared and len(wanted) != len(found):
        warnings.warn(_different_in_spite_of(shared, part, first), stacklevel=4)
    elif shared:
        others = sorted(set(map(str, found)) - set(map(str, wanted)))
        warnings.warn(
            f"{part.where} has columns that {first.where} lacks, e.g. {others[0]!r}, so columns are matched by "
            "position. Give both the same column names to match them by name.",
            stacklevel=4,
        )
    return part


def _different_in_spite_of(shared: set[Any], part: _Part, first: _Part) -> str:
    """What to say of two domains of different widths that share names."""
    return (
        f"{part.where} has {part.X.shape[1]} columns and {first.where} has {first.X.shape[1]}, so they are taken for "
        f"different features, though {len(shared)} names are in both, e.g. {min(map(str, shared))!r}. If these are the "
        "same features, give both frames the shared columns alone, as TableAdapter(LPJT()) does by itself."
    )


def _refuse_marks(sources: list[_Part]) -> None:
    """Refuse a stack of both domains without `sample_domain`: its unlabelled rows look like a class -1."""
    for labels in [part.labels for part in sources if part.labels is not None]:
        values = labels.known
        if values.dtype.kind in "if" and (values == UNLABELLED).any() and len(np.unique(values)) > 2:
            raise ValueError(
                f"{labels.where} holds -1, which marks unlabelled rows, but neither `X_target` nor "
                "`sample_domain` says which rows are the target's. Give fit(X, y, X_target), or "
                "fit(X, y, sample_domain=...) with negative values for target rows. If -1 is a class, rename it."
            )


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(sorted(map(repr, names)))
