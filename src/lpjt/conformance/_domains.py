"""Domains that every check is made of, and how an estimator of either interface is fitted to them."""

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from lpjt._typing import Array, Codes, Values

#: Share of rows whose labels must be equal where two fits should be: ties and rounding may move a row.
SAME = 0.95

#: On easy domains, where the nearest source row is right at least as often as the first number says, an estimator must
#: be right at least as often as the second.
EASY, KEPT = 0.95, 0.8


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A source, a target and its true labels."""

    X: Any  # (n_source, width)
    y: Any  # (n_source,)
    X_target: Any  # (n_target, width)
    truth: Values  # (n_target,) for the checks alone
    y_target: Any = None  # (n_target,) what the estimator is given, if anything


def make_pair(
    target_labels: int = 0,
    *,
    counts: tuple[int, ...] = (20, 20, 20),
    target_counts: tuple[int, ...] = (15, 15, 15),
    shift: float = 1.0,
    seed: int = 0,
) -> Pair:
    """Gaussian classes in six columns, moved and stretched a little in the target: easy even without adaptation.

    Parameters
    ----------
    target_labels : int
        Labelled target rows per class.
    counts, target_counts : tuples of int
        Rows of each class in the source and in the target.
    shift : float
        Length of the move.
    seed : int
    """
    rng = np.random.default_rng(seed)
    centres = 6.0 * np.eye(len(counts), 6)
    y, truth = (np.repeat(np.arange(len(counts)), n) for n in (counts, target_counts))
    X, X_target = (centres[labels] + rng.normal(size=(len(labels), 6)) for labels in (y, truth))
    X_target = 1.1 * X_target + shift / np.sqrt(6)
    order, order_target = rng.permutation(len(y)), rng.permutation(len(truth))
    X, y, X_target, truth = X[order], y[order], X_target[order_target], truth[order_target]
    return Pair(X, y, X_target, truth, few_labels(truth, target_labels))


def few_labels(truth: Codes, n_each: int) -> Codes | None:
    """Labels of the first rows of each class, -1 elsewhere; None if no row is to be labelled."""
    if not n_each:
        return None
    given = np.full(len(truth), -1)
    for label in np.unique(truth):
        rows = np.flatnonzero(truth == label)[:n_each]
        given[rows] = label
    return given


def relabelled(pair: Pair, names: Values) -> Pair:
    """The pair with `names[c]` for the class c; unlabelled rows keep their mark, None among strings."""
    given = pair.y_target
    if given is not None:
        known, given = given >= 0, np.where(given >= 0, names[given], None if names.dtype.kind in "UO" else -1)
        given = given if known.any() else None
    return replace(pair, y=names[pair.y], truth=names[pair.truth], y_target=given)


def new(estimator: Any) -> Any:
    """An unfitted copy with fixed seeds."""
    copy = clone(estimator)
    seeds = {name: 0 for name in copy.get_params() if name.split("__")[-1] == "random_state"}
    return copy.set_params(**seeds)


def fit(estimator: Any, pair: Pair) -> Any:
    """A new copy of the estimator, fitted to a pair."""
    return fit_inputs(estimator, inputs_for(estimator, pair))


def fit_inputs(estimator: Any, inputs: dict[str, Any]) -> Any:
    """A new copy of the estimator, fitted to what `inputs_for` made."""
    model = new(estimator)
    with quiet():
        return model.fit(**inputs) or model


def inputs_for(estimator: Any, pair: Pair) -> dict[str, Any]:
    """Arguments of ``fit(X, y, X_target, y_target)`` or, on a stack, of ``fit(X, y, sample_domain=...)``."""
    names = inspect.signature(estimator.fit).parameters
    if "X_target" in names:
        given = {} if pair.y_target is None else {"y_target": pair.y_target}
        return {"X": pair.X, "y": pair.y, "X_target": pair.X_target, **given}
    if "sample_domain" in names or any(p.kind == p.VAR_KEYWORD for p in names.values()):
        return dict(zip(("X", "y", "sample_domain"), stack(pair), strict=True))
    raise TypeError(
        f"{type(estimator).__name__}.fit has neither `X_target` nor `sample_domain`. Give an estimator with "
        "fit(X, y, X_target) or fit(X, y, sample_domain=...)."
    )


def stack(pair: Pair) -> tuple[Any, Values, Codes]:
    """All rows in one stack, source first, target rows unlabelled; their labels, and skada's numbers of the domains."""
    from scipy import sparse

    n, n_target = len(pair.y), pair.X_target.shape[0]
    if sparse.issparse(pair.X):
        X: Any = sparse.vstack([pair.X, pair.X_target]).tocsr()
    else:
        X = np.concatenate([pair.X, pair.X_target])
    y = np.asarray(pair.y)
    mark = None if y.dtype.kind in "UO" else -1
    given = [mark] * n_target if pair.y_target is None else pair.y_target
    labels = np.concatenate([y, np.asarray(given, dtype=object if mark is None else y.dtype)])
    return X, labels, np.repeat([1, -2], [n, n_target])


def labels_of(model: Any, X: Any) -> Values:
    """Labels of target rows, (n,)."""
    with quiet():
        return np.asarray(model.predict(X))


def agreement(first: Values, second: Values) -> float:
    """Share of equal labels."""
    assert len(first) == len(second), f"{len(first)} and {len(second)} labels for the same rows"
    return float(np.mean(np.asarray(first) == np.asarray(second)))


def assert_same(first: Values, second: Values, what: str) -> None:
    """Fail if more rows differ than ties and rounding explain."""
    share = agreement(first, second)
    assert share >= SAME, f"{what}: only {100 * share:.0f} % of the labels are the same"


def assert_easy(model: Any, pair: Pair) -> None:
    """Fail if an easy target is labelled badly, or by labels that the source does not have."""
    found = labels_of(model, pair.X_target)
    strange = set(found.tolist()) - set(np.asarray(pair.y).tolist())
    assert not strange, f"labels that the source does not have: {sorted(map(repr, strange))[:3]}"
    easy = agreement(KNeighborsClassifier(1).fit(pair.X, pair.y).predict(pair.X_target), pair.truth)
    assert easy >= EASY, "the domains of this check are not easy"
    share = agreement(found, pair.truth)
    assert share >= KEPT, f"{100 * share:.0f} % right, where the nearest source row is right for {100 * easy:.0f} %"


@contextmanager
def quiet() -> Iterator[None]:
    """Warnings are no failures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def frozen(X: Array) -> Array:
    """A copy that cannot be written to."""
    copy = np.array(X)
    copy.flags.writeable = False
    return copy
