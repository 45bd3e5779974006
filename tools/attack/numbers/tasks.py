"""Small domains of several kinds, made from a seed or cut from real pairs, and settings to fit them in."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from lpjt._typing import Array, Codes, Values

Generator = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What a fit is given: sources by name, a target, and rows of the target that it does not see."""

    kind: str
    X: dict[str, Any]
    y: dict[str, Values]
    X_target: Any
    new: Any  # rows of the target to predict
    y_target: Values | None = None  # object array with None for unlabelled rows

    def with_rows(self, change: Callable[[Any], Any]) -> "Task":
        """The task with every matrix changed in the same way."""
        rows = {name: change(X) for name, X in self.X.items()}
        return replace(self, X=rows, X_target=change(self.X_target), new=change(self.new))


def pair(
    rng: Generator, *, n: int, width: int, n_classes: int, apart: float, n_target: int | None = None
) -> tuple[Array, Codes, Array, Codes]:
    """Gaussian classes, and the same classes turned a little, stretched and moved."""
    centres = apart * rng.normal(size=(n_classes, width))
    y, y_target = (rng.permutation(np.arange(size) % n_classes) for size in (n, n_target or n - n // 5))
    turn, upper = np.linalg.qr(np.eye(width) + 0.1 * rng.normal(size=(width, width)))
    turn = turn * np.sign(np.diag(upper))  # near the identity, not near its negative
    X = centres[y] + rng.normal(size=(len(y), width))
    X_target = (centres[y_target] + rng.normal(size=(len(y_target), width))) @ turn * 1.3 + 2 * rng.normal(size=width)
    return X, y, X_target, y_target


def _task(kind: str, X: Array, y: Codes, X_target: Array, y_target: Values | None = None) -> Task:
    """Every fifth target row is left out of the fit."""
    out = np.arange(len(X_target)) % 5 == 4
    known = None if y_target is None else y_target[~out]
    return Task(kind, {"source": X}, {"source": y}, X_target[~out], X_target[out], known)


def overlapping(rng: Generator) -> Task:
    """Classes that overlap, so that labels move for a few iterations."""
    return _task("overlapping", *pair(rng, n=int(rng.integers(100, 260)), width=10, n_classes=4, apart=1.2)[:3])


def wide(rng: Generator) -> Task:
    """More columns than rows."""
    return _task("wide", *pair(rng, n=80, width=200, n_classes=3, apart=0.5)[:3])


def counts(rng: Generator) -> Task:
    """Counts of words, most of them zero, at other rates in the target."""
    y = rng.permutation(np.arange(200) % 4)
    rates = 0.04 + rng.gamma(0.3, 0.25, size=(4, 90))
    X, X_target = rng.poisson(rates[y]), rng.poisson(rates[y] * rng.uniform(0.3, 2.0, size=90))
    return _task("counts", X.astype(float), y, X_target.astype(float))


def uneven(rng: Generator) -> Task:
    """Columns of very different scales, and a target of other class proportions."""
    X, y, X_target, y_target = pair(rng, n=220, width=8, n_classes=3, apart=2.0)
    kept = (y_target > 0) | (rng.random(len(y_target)) < 0.3)
    scales = 10.0 ** rng.integers(-3, 4, size=8)
    return _task("uneven", X * scales, y, X_target[kept] * scales)


def some_labels(rng: Generator) -> Task:
    """A target with three labels of each class."""
    X, y, X_target, y_target = pair(rng, n=200, width=10, n_classes=4, apart=1.2)
    return _task("some labels", X, y, X_target, _few_of(y_target, 3))


def widths(rng: Generator) -> Task:
    """A target of another width, with three labels of each class."""
    X, y, X_target, y_target = pair(rng, n=200, width=10, n_classes=4, apart=1.5)
    X_target = X_target @ rng.normal(size=(10, 17)) + 0.1 * rng.normal(size=(len(X_target), 17))
    return _task("widths", X, y, X_target, _few_of(y_target, 3))


def sources(rng: Generator) -> Task:
    """Two sources, the second moved."""
    X, y, X_target, _ = pair(rng, n=240, width=8, n_classes=3, apart=1.5)
    whole, half = _task("sources", X, y, X_target), len(X) // 2
    return replace(whole, X={"a": X[:half], "b": 1.2 * X[half:] + 1}, y={"a": y[:half], "b": y[half:]})


def real(rng: Generator) -> Task:
    """A few rows per class of a pair of real domains."""
    table, name = REAL[int(rng.integers(len(REAL)))]
    X, y, X_target, y_target = _real_pair(table, name)
    rows, kept = (np.sort(rng.permutation(len(labels))[:220]) for labels in (y, y_target))
    return _task(f"{table} {name}", X[rows], y[rows], X_target[kept])


#: Pairs whose features are of different kinds: pixels, counts of visual words, a network's features.
REAL = (("digits", "MNIST to USPS"), ("surf", "A to W"), ("efficientnet", "C to A"))

MADE: tuple[Callable[[Generator], Task], ...] = (overlapping, wide, counts, uneven, some_labels, widths, sources)


def kinds() -> tuple[Callable[[Generator], Task], ...]:
    """Makers of tasks; with LPJT_DATA, real domains too."""
    return (*MADE, real) if os.environ.get("LPJT_DATA") else MADE


#: Parameters by name. The first three draw folds, to judge candidates, iterations or a shift; the others draw nothing
#: on domains of this size.
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "one setting": {"candidates": None, "refine": False},
    "refined": {"candidates": None},
    "landmarks": {"candidates": None, "refine": False, "safeguard": False, "landmark_ratio": 0.5},
    "harmonic": {"candidates": None, "refine": False, "safeguard": False, "classifier": "harmonic"},
    "rbf": {"candidates": None, "safeguard": False, "kernel": "rbf"},
}


@cache
def _real_pair(table: str, name: str) -> tuple[Array, Codes, Array, Codes]:
    from lpjt.datasets import load_problem

    problem = load_problem(table, name)
    return problem.X_source, problem.y_source, problem.X_target, problem.y_target


def _few_of(y: Codes, n: int) -> Values:
    given = np.full(len(y), None, dtype=object)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)[:n]
        given[rows] = y[rows]
    return given
