"""Columns' statistics by block, merged: the scaling of one domain, exactly as `core.coordinates.fit_scaling` has it."""

from dataclasses import dataclass

import numpy as np

from lpjt.core import coordinates
from lpjt.core.coordinates import Scaling


@dataclass(frozen=True, slots=True, eq=False)
class ColumnStatistics:
    """Of some rows: how many, the columns' means and summed squared deviations from them."""

    n: int
    mean: np.ndarray  # (width,)
    squares: np.ndarray  # (width,)
    smallest: float  # of all entries
    single: bool  # float32

    def __add__(self, other):
        """Statistics of both sets of rows together (Chan's merge, without cancellation)."""
        n = self.n + other.n
        difference = other.mean - self.mean
        return ColumnStatistics(
            n,
            self.mean + difference * (other.n / n),
            self.squares + other.squares + difference**2 * (self.n * other.n / n),
            min(self.smallest, other.smallest),
            self.single or other.single,
        )


def column_statistics(X, *, row_sums):
    """Statistics of one block of at least one row, of rows of sum 1 if so wanted."""
    smallest = float(X.min())
    if row_sums:
        X = coordinates.scale_rows(X, Scaling(row_sums=True))
    mean = X.mean(axis=0, dtype=np.float64)
    squares = X.var(axis=0, dtype=np.float64) * len(X)
    return ColumnStatistics(len(X), mean, squares, smallest, X.dtype == np.float32)


def scaling_from(statistics: ColumnStatistics | None, kind, row_sums=False):
    """`Scaling` of a kind from merged statistics, by the rules of `core.coordinates.fit_scaling`."""
    if kind in ("none", "unit") or statistics is None:
        return Scaling(unit_rows=kind == "unit")
    deviation = np.sqrt(statistics.squares / statistics.n)
    floor = 1e-10 * max(float(np.max(deviation)), np.finfo(float).tiny)
    # A constant column has rounding for a deviation.
    floor = np.maximum(floor, (1e-7 if statistics.single else 1e-14) * np.abs(statistics.mean))
    return Scaling(
        row_sums=row_sums,
        mean=statistics.mean,
        deviation=np.where(deviation > floor, deviation, np.inf),
        clip=coordinates.CLIP if kind == "standard" else None,
        unit_rows=kind != "sum-zscore",
    )
