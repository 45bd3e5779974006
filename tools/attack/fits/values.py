"""Rows and labels of the cases: values at the edges of their types, degenerate shapes, odd labels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Change = Callable[[np.random.Generator, Floats], Floats]


@dataclass(slots=True)
class Rows:
    """Both domains of a case before they are put into containers."""

    source: Any
    y: Any
    target: Any
    truth: npt.NDArray[np.integer[Any]]  # (n_target,) codes
    codes: npt.NDArray[np.integer[Any]]  # (n_source,) codes


def draw_rows(rng: np.random.Generator, *, many: bool = False) -> Rows:
    """Two small domains with clusters, of one width or of two; classes may have one row, or none in the target."""
    n_classes, width = int(rng.integers(2, 5)), int(rng.integers(1, 9))
    other = width if rng.random() < 0.75 else int(rng.integers(1, 12))
    centres = rng.normal(size=(n_classes, max(width, other))) * 4
    sizes = rng.integers(1, 8 if rng.random() < 0.8 else 40, size=n_classes)
    if many:
        sizes[0] = 10_000
    codes = np.repeat(np.arange(n_classes), sizes)
    left = np.flatnonzero(rng.random(n_classes) < 0.8)
    truth = rng.choice(left if len(left) else [0], size=int(rng.integers(2, 16)))
    shift = rng.normal(size=other)
    source = centres[codes, :width] + rng.normal(size=(len(codes), width))
    target = centres[truth, :other] + rng.normal(size=(len(truth), other)) + shift
    return Rows(source, codes, target, truth, codes)


def draw_clear_rows(rng: np.random.Generator) -> Rows:
    """Two domains of one width whose labels are beyond doubt: three classes far apart, and a small shift."""
    codes, truth = np.repeat(np.arange(3), 8), np.repeat(np.arange(3), 7)
    centres = np.eye(3, 6) * 12 + 3
    source = centres[codes] + rng.normal(size=(len(codes), 6))
    return Rows(source, codes, centres[truth] + rng.normal(size=(len(truth), 6)) + 0.5, truth, codes)


def _power(rng: np.random.Generator, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def _columns(rng: np.random.Generator, X: Floats) -> Floats:
    return np.asarray(X * 10.0 ** rng.uniform(-300, 290, size=X.shape[1]))


def _some_rows(rng: np.random.Generator, X: Floats) -> Floats:
    return np.asarray(X * 10.0 ** rng.uniform(-300, 290, size=(len(X), 1)))


def _outlier(rng: np.random.Generator, X: Floats) -> Floats:
    X = X.copy()
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice([1e20, -9.96921e36, 1.7e308, 3.4e38])
    return X


def _poisoned(rng: np.random.Generator, X: Floats) -> Floats:
    X = X.copy()
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice([np.nan, np.inf, -np.inf])
    return X


def _repeated(rng: np.random.Generator, X: Floats) -> Floats:
    return X[rng.integers(0, max(1, len(X) // 4), size=len(X))]


def _near(rng: np.random.Generator, X: Floats) -> Floats:
    return X[:1] * (1 + 1e-15 * rng.normal(size=X.shape))


def _some_zero_rows(rng: np.random.Generator, X: Floats) -> Floats:
    return np.where(rng.random((len(X), 1)) < 0.4, 0.0, X)


def _far_from_zero(rng: np.random.Generator, X: Floats) -> Floats:
    return X + _power(rng, 3, 16)


#: What may happen to the rows of a domain. Each takes well-behaved rows.
CHANGES: dict[str, Change] = {
    "none": lambda rng, X: X,
    "huge": lambda rng, X: X * _power(rng, 15, 306),
    "tiny": lambda rng, X: X * _power(rng, -306, -15),
    "denormal": lambda rng, X: X * 1e-310,
    "least": lambda rng, X: np.where(X > 0, 5e-324, 0.0),
    "largest": lambda rng, X: np.sign(X) * np.finfo(np.float64).max,
    "huge float32": lambda rng, X: X * _power(rng, 15, 37),
    "tiny float32": lambda rng, X: X * _power(rng, -44, -15),
    "columns of all sizes": _columns,
    "rows of all sizes": _some_rows,
    "outlier": _outlier,
    "rank one": lambda rng, X: np.outer(X[:, 0], np.ones(X.shape[1])),
    "identical": lambda rng, X: np.broadcast_to(X[0], X.shape).copy(),
    "repeated": _repeated,
    "nearly identical": _near,
    "zero": lambda rng, X: np.zeros_like(X),
    "zero rows": _some_zero_rows,
    "minus zero": lambda rng, X: np.where(X > 0, X, -0.0),
    "constant column": lambda rng, X: np.where(np.arange(X.shape[1]) == 0, 7.0, X),
    "far from zero": _far_from_zero,
    "counts": lambda rng, X: np.floor(np.abs(X)),
    "not finite": _poisoned,
}


def _strings(words: list[str]) -> Callable[[npt.NDArray[np.integer[Any]]], Any]:
    return lambda codes: np.array(words, dtype=object)[codes]


#: Labels for the codes 0 to 3; the names say what is odd about them.
LABELS: dict[str, Callable[[npt.NDArray[np.integer[Any]]], Any]] = {
    "integers": lambda codes: codes,
    "negative": lambda codes: codes * -7 - 2,
    "with -1": lambda codes: codes - 1,
    "int64 extremes": lambda codes: np.array([-(2**63), 2**63 - 1, 0, 5])[codes],
    "uint64 extremes": lambda codes: np.array([2**64 - 1, 2**63, 0, 2**64 - 2], dtype=np.uint64)[codes],
    "float": lambda codes: codes.astype(np.float32),
    "large float": lambda codes: codes * 1e300,
    "fractions": lambda codes: codes + 0.5,
    "bool": lambda codes: codes > 0,
    "list of bool and int": lambda codes: [bool(c) if c < 1 else int(c) for c in codes],
    "words": lambda codes: np.array(["a", "b", "c", "d"])[codes],
    "code points": _strings(["\x00", "\u202eabc", "e\u0301", "\U0001f9a5"]),
    "alike": _strings(["\u00e9", "e\u0301", "\u0435", "e"]),
    "surrogates": _strings(["\ud800", "\udfff", "a\udc80", "b"]),
    "blanks": _strings([" ", "\n", "\t", "\u200b"]),
    "empty": _strings(["", "a", "b", "c"]),
    "formulas": _strings(["=1+1", "@x", "\x1b[31m", "NaN"]),
    "long": _strings(["x" * 10_000, "y" * 10_000, "z", "w"]),
    "bytes": lambda codes: np.array([b"a", b"b", b"c", b"d"])[codes],
    "mixed": lambda codes: [["a", 1, 2.5, None][c] for c in codes],
    "objects": lambda codes: np.array([(1,), {2}, "c", 4], dtype=object)[codes],
    "dates": lambda codes: np.array(["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"], "M8[D]")[codes],
    "one hot": lambda codes: np.eye(4)[codes],
    "column": lambda codes: codes[:, None],
    "none": lambda codes: [None] * len(codes),
    "complex": lambda codes: codes * 1j,
}


def mark(rng: np.random.Generator, y: Any, truth: npt.NDArray[np.integer[Any]], how: str) -> Any:
    """Labels of the target rows with some, all or none of them missing."""
    y = np.asarray(y)
    if how == "none" or y.ndim != 1:
        return None
    given = y.astype(object)
    given[rng.random(len(truth)) < {"some": 0.5, "all": 0.0, "few": 0.9}[how]] = None
    return given
