"""The one door: arrays, frames, sparse matrices, dicts of them or one stack come in, validated domains go on.

Past it nobody checks again. Nothing that comes in is written to, and nothing is copied that need not be.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import issparse

from lpjt._labels import (
    UNLABELLED,
    Labels,
    encode_source,
    encode_target,
    read_labels,
    source_classes,
    warn_of_rare_classes,
)
from lpjt._matrices import Matrix, open_matrix, open_rows

__all__ = ["UNLABELLED", "Domain", "Domains", "Matrix", "open_domains", "open_rows"]


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """Rows of one domain."""

    name: str  # "source", "target", the caller's key, or e.g. "target_-1" where `sample_domain` says -1
    X: Matrix  # (n, width), float32 or float64, read-only
    y: np.ndarray  # (n,) int64 codes into the classes, -1 where unlabelled
    feature_names: np.ndarray | None  # (width,) of object, in the caller's order
    columns: np.ndarray | None = None  # (width,) the caller's column of each column of X; None for the same order


@dataclass(frozen=True, slots=True, eq=False)
class Domains:
    """All that came through the door, and how results go back out."""

    sources: tuple[Domain, ...]
    targets: tuple[Domain, ...]  # empty where the caller gave none
    classes: np.ndarray  # sorted labels of the sources, in the caller's dtype
    named_sources: bool = False  # the caller gave a dict
    named_targets: bool = False
    # Of a stack: each domain's places among the rows of its side, in the caller's order.
    source_rows: tuple[np.ndarray, ...] | None = None
    target_rows: tuple[np.ndarray, ...] | None = None

    @property
    def all(self) -> tuple[Domain, ...]:
        """All domains, sources first."""
        return (*self.sources, *self.targets)

    def join_sources(self, parts):
        """Give one array for each source back in the shape in which the caller gave the sources.

        A dict for a dict, one array otherwise; of a stack, with a row for each source row, in their order.
        """
        return _join(parts, self.sources, self.source_rows, self.named_sources)

    def join_targets(self, parts):
        """Do what `join_sources` does, for the targets; None where there is no target."""
        return _join(parts, self.targets, self.target_rows, self.named_targets)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A domain whose labels are not yet codes; `labels` is None where nothing is labelled."""

    where: str
    name: str
    X: Matrix
    feature_names: np.ndarray | None
    labels: Labels | None
    columns: np.ndarray | None = None

    def encode(self, encoder, classes):
        nothing = np.full(self.X.shape[0], UNLABELLED, dtype=np.int64)
        y = nothing if self.labels is None else encoder(self.labels, classes)
        return Domain(self.name, self.X, y, self.feature_names, self.columns)


def open_domains(X, y, X_target=None, y_target=None, *, sample_domain=None):
    """Validate what the caller gave to `fit`.

    Parameters
    ----------
    X : matrix, (n_source, width), or dict of name to matrix
        Rows of the source, of several sources by name, or, with `sample_domain`, of all domains in one stack.
    y : labels, (n_source,), or dict of name to labels
        Integers, strings or booleans, in any container. In a stack the target rows have a label or a mark.
    X_target : matrix, (n_target, width), dict of name to matrix, or None
        Rows of the target or of several targets. Without it there are no targets.
    y_target : labels, (n_target,), dict of name to labels, or None
        Labels where there are any. None, NaN, pandas.NA, the empty string, and -1 where that is no class of
        the source, mark a row as unlabelled; so does a key that a dict lacks.
    sample_domain : integers, (n,), or None
        The domain of each row of a stack: 0 and above are sources, below 0 targets.

    Returns
    -------
    Domains
    """
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None. Give the source's labels.")
    if sample_domain is not None:
        _check_only_stack(X, y, X_target, y_target)
        return _close(*_unstack(X, y, sample_domain))
    if X_target is None and y_target is not None:
        raise ValueError("y_target was given without X_target. Give the target's rows too, or neither.")
    sources = read_parts(X, y, "source", _read_part)
    targets = [] if X_target is None else read_parts(X_target, y_target, "target", _read_part)
    shared = {part.name for part in sources} & {part.name for part in targets}
    if shared:
        raise ValueError(f"{_quoted(shared)} names a source and a target. Names must differ.")
    if X_target is None:
        _refuse_marks(sources)
    sources, targets = match_names(sources, sources[0]), match_names(targets, sources[0])
    named = {"named_sources": _is_dict(X), "named_targets": _is_dict(X_target)}
    return _close(sources, targets, named)


def _close(sources, targets, layout):
    """Turn labels into codes once all of them are read."""
    classes = source_classes([part.labels for part in sources])
    domains = Domains(
        tuple(part.encode(encode_source, classes) for part in sources),
        tuple(part.encode(encode_target, classes) for part in targets),
        classes,
        **layout,
    )
    if targets:
        warn_of_rare_classes(classes, np.concatenate([domain.y for domain in domains.sources]))
    return domains


def read_parts(X, y, side, read_part):
    """Parts of one side, "source" or "target", by ``read_part``: one, or one for each key of a dict."""
    x_name, y_name = ("X", "y") if side == "source" else ("X_target", "y_target")
    if not _is_dict(X):
        if _is_dict(y):
            raise ValueError(f"{y_name} is a dict, but {x_name} is not. Give dicts of the same keys, or no dict.")
        return [read_part(X, y, side, x_name, y_name)]
    _check_keys(X, y, side, x_name, y_name)
    labels = {} if y is None else y
    return [read_part(X[name], labels.get(name), name, f"X_{side} {name!r}", f"y_{side} {name!r}") for name in X]


def _read_part(X, y, name, x_where, y_where):
    X, feature_names = open_matrix(X, x_where, min_rows=2)
    labels = None if y is None else read_labels(y, X.shape[0], y_where, of=x_where)
    return _Part(x_where, name, X, feature_names, labels)


def _check_keys(X, y, side, x_name, y_name):
    if not len(X):
        raise ValueError(f"{x_name} is an empty dict. Give at least one {side}, e.g. {{'photo': X1}}.")
    strange = [name for name in X if not isinstance(name, str)]
    if strange:
        raise ValueError(f"{x_name} has the key {strange[0]!r}. Names of domains are strings, e.g. 'photo'.")
    if y is None and side == "target":
        return
    if not _is_dict(y):
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


def _check_only_stack(X, y, X_target, y_target):
    if X_target is not None or y_target is not None:
        raise ValueError(
            "X_target and y_target cannot be given with `sample_domain`, which marks the target rows of X. "
            "Give one or the other."
        )
    if _is_dict(X) or _is_dict(y):
        raise ValueError(
            "A dict cannot be given with `sample_domain`. Give X and y as one stack of all domains, "
            "or leave `sample_domain` out."
        )


def _unstack(X, y, sample_domain):
    """Split a stack into sources and targets, and say where their rows were."""
    X, feature_names = open_matrix(X, "X", min_rows=2)
    labels = read_labels(y, X.shape[0], "y")
    domain = _read_sample_domain(sample_domain, X.shape[0])
    parts: dict[str, list[_Part]] = {"source": [], "target": []}
    places: dict[str, list[np.ndarray]] = {"source": [], "target": []}
    for value in np.unique(domain).tolist():
        rows = np.flatnonzero(domain == value)
        where = f"X where `sample_domain` is {value}"
        if len(rows) < 2:
            raise ValueError(f"{where}: found 1 sample while a minimum of 2 is required. Add rows or drop it.")
        side = "source" if value >= 0 else "target"
        parts[side].append(_Part(where, f"{side}_{value}", _take_rows(X, rows), feature_names, labels.take(rows)))
        of_side = domain >= 0 if side == "source" else domain < 0
        places[side].append(np.cumsum(of_side)[rows] - 1)
    layout = {"source_rows": tuple(places["source"]), "target_rows": tuple(places["target"])}
    return parts["source"], parts["target"], layout


def _read_sample_domain(sample_domain, n_rows):
    given = np.asarray(sample_domain)
    if given.shape != (n_rows,):
        raise ValueError(f"`sample_domain` has shape {given.shape}, but X has {n_rows} rows. Give one value a row.")
    try:
        with np.errstate(invalid="ignore"):  # NaN is found by comparing
            domain = given.astype(np.int64)
        whole = given.dtype.kind in "iufO" and bool((domain == given).all())
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise ValueError(
            "`sample_domain` must hold integers, 0 and above for source rows, below 0 for target rows; "
            f"got {given.dtype} values, e.g. {given[:5].tolist()}."
        )
    values = np.unique(domain).tolist()
    if values[0] >= 0:
        raise ValueError(
            "No target samples: `sample_domain` has no negative value. Mark target rows with a negative "
            f"domain label, e.g. -2; got labels {values}."
        )
    if values[-1] < 0:
        raise ValueError(
            "No source samples: `sample_domain` has only negative values. Mark source rows with a domain "
            f"label of 0 or above, e.g. 1; got labels {values}."
        )
    return domain


def _take_rows(X, rows):
    if rows[-1] - rows[0] + 1 == len(rows):  # neighbouring rows of a dense stack are a view, not a copy
        return X[rows[0] : rows[-1] + 1]
    return X[rows]


def _join(parts, domains, rows, named):
    if named:
        return {domain.name: part for domain, part in zip(domains, parts, strict=True)}
    if rows is None:
        return parts[0] if domains else None
    stacked = np.concatenate(parts)
    joined = np.empty_like(stacked)
    joined[np.concatenate(rows)] = stacked
    return joined


def match_names(parts, first):
    """Parts whose columns have the names of the first source's, in its order.

    Columns with other names are matched by position, with a warning if only some of the names are shared.
    """
    if first.feature_names is None:
        return parts
    return [part if part.feature_names is None else _order_like(first, part) for part in parts]


def _order_like(first, part):
    wanted, found = first.feature_names, part.feature_names
    if np.array_equal(wanted, found):
        return part
    shared = set(wanted) & set(found)
    if len(shared) == len(wanted) == len(found):
        place = {name: i for i, name in enumerate(found)}
        columns = np.array([place[name] for name in wanted])
        return replace(part, X=part.X[:, columns], columns=columns)
    if shared and len(wanted) == len(found):
        strange = sorted(set(map(str, found)) - set(map(str, wanted)))
        warnings.warn(
            f"{part.where} has columns that {first.where} lacks, e.g. {strange[0]!r}, so columns are matched by "
            "position. Give both the same column names to match them by name.",
            stacklevel=4,
        )
    return part


def _refuse_marks(sources):
    """Refuse a stack of both domains that came without `sample_domain`: its unlabelled rows look like a class -1."""
    for part in sources:
        values = part.labels.known
        if values.dtype.kind in "if" and (values == UNLABELLED).any() and len(np.unique(values)) > 2:
            raise ValueError(
                f"{part.labels.where} holds -1, which marks unlabelled rows, but neither `X_target` nor "
                "`sample_domain` says which rows are the target's. Give fit(X, y, X_target), or "
                "fit(X, y, sample_domain=...) with negative values for target rows. If -1 is a class, rename it."
            )


def _is_dict(given):
    return isinstance(given, Mapping) and not issparse(given)  # scipy's dok format is a dict by descent


def _quoted(names):
    return ", ".join(sorted(map(repr, names)))
