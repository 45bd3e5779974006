"""Labels that the fit did not use, against the labels that it found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest

from lpjt._typing import Array, Codes
from lpjt.report.rows import DomainRows, to_codes


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """Accuracy where labels are known."""

    n_rows: int
    accuracy: float
    low: float  # Wilson's interval of 95 %
    high: float
    matrix: Codes  # (n_classes, n_classes) rows by true class and found class
    n_foreign: int  # labelled rows whose class no source has; counted as wrong
    mixed_up: list[tuple[int, int, int]]  # true class, found class, rows; the most frequent first

    @property
    def recall(self) -> Array:
        """Share of the rows of each class that were found, (n_classes,), NaN without rows."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.diag(self.matrix) / self.matrix.sum(axis=1))


def is_right(d: DomainRows, classes: Any) -> Array | None:
    """1 for a right label, 0 for a wrong one, NaN where the label is unknown or was given to fit; None for no label."""
    if d.truth is None or d.codes is None:
        return None
    right = np.asarray(to_codes(d.truth, classes) == d.codes, dtype=float)
    right[[value is None for value in d.truth]] = np.nan
    right[d.given] = np.nan
    return right


def check_labels(domains: Sequence[DomainRows], classes: Any) -> Checked | None:
    """Compare all target rows whose label is known and was not given to fit."""
    matrix = np.zeros((len(classes), len(classes)), dtype=np.int64)
    n_rows, n_right, n_foreign = 0, 0, 0
    for d in domains:
        right = None if d.is_source else is_right(d, classes)
        if right is None or d.codes is None:
            continue
        known = ~np.isnan(right)
        true = to_codes(d.truth, classes)
        assert true is not None
        here = known & (true >= 0)
        np.add.at(matrix, (true[here], d.codes[here]), 1)
        n_rows, n_right = n_rows + int(known.sum()), n_right + int(right[known].sum())
        n_foreign += int((known & (true < 0)).sum())
    if not n_rows:
        return None
    interval = binomtest(n_right, n_rows).proportion_ci(method="wilson")
    wrong = matrix - np.diag(np.diag(matrix))
    pairs = [(int(i), int(j), int(wrong[i, j])) for i, j in np.argwhere(wrong)]
    mixed_up = sorted(pairs, key=lambda pair: -pair[2])[:8]
    return Checked(n_rows, n_right / n_rows, float(interval.low), float(interval.high), matrix, n_foreign, mixed_up)
