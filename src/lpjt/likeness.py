"""Whether new rows look like the rows of a domain that a model was fitted on: a test that holds for any distribution.

Half of a sample of the fitted rows is the reference, the other half shows how far rows of the domain are from it. Fresh
rows of the domain are as far as that other half, whatever their distribution: ranks among these distances have a known
one. Rows that are nearer than usual raise no alarm; fitted rows themselves never do. The range of each raw column is
tested in the same way. Neither minds other class proportions: rows of one class are near fitted rows, and in range.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import mannwhitneyu

from lpjt._typing import Array, Values
from lpjt.core.blocks import AnyRows, is_sparse
from lpjt.core.coordinates import Coordinates, to_coordinates
from lpjt.core.neighbors import Neighbors, nearest_others, nearest_rows

#: Maximum number of rows of each half, and of new rows that are tested: what bounds the cost.
HALF_ROWS, TESTED_ROWS = 500, 500

#: Fewest rows of a domain that can be compared with, by halves.
LEAST_ROWS = 20

#: Neighbours that the distance of a new row is averaged over, and those that say what is usual at a row. The latter is
#: at least a share of the mean: where rows repeat it would be zero.
N_NEIGHBORS, N_NEAR, LEAST_SPACING = 3, 8, 0.1

#: Distances below this share of the length of the rows are rounding: for float64, and for float32.
ROUNDING = (1e-7, 1e-3)

#: Probability of a false alarm that each of the three tests may have.
ALARM = 1e-6

#: Share of pairs of a new row and a known one in which the new row must be the farther one, besides being certain. Rows
#: of one class alone, or of new writers in digits, reach 0.8, and their labels are no worse for it; digits that are
#: moved, noisy, dark or mirrored have 0.92 and more.
LEAST_EFFECT = 0.85

#: Share of the new rows that must be out of the range of a column, besides being more than chance allows.
LEAST_OUTSIDE = 0.1

#: Fewest new rows whose ranks are tested together.
RANKED_ROWS = 10

#: A row this many times farther than the farthest known one counts as `FAR_ROWS` rows beyond it: one row alone could
#: not raise an alarm otherwise.
FAR, FAR_ROWS = 10.0, 3


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Some rows of a domain in coordinates, how far other rows of it are from them, and the range of each column."""

    reference: Array  # (m, rank)
    spacing: Array  # (m,) distance of each reference row to the others near it
    usual: Array  # (n,) scores of the other half, sorted
    rounding: float  # distances up to this are zero
    low: Array | None = None  # (width,) least raw value of each column; None for sparse rows
    high: Array | None = None  # (width,) largest one
    n_ranged: int = 0  # rows that the ranges are of

    def scores_of(self, Z: Array) -> Array:
        """Distance of rows to the reference, (n,), over what is usual there: 1 or so for rows within it."""
        near = nearest_rows(Z, self.reference, N_NEIGHBORS)
        return np.asarray((_distances(near, self.rounding) / self.spacing[near.indices]).mean(axis=1))

    def complaint_about(self, X: AnyRows, Z: Array, names: Values | None = None) -> str | None:
        """Why new rows do not look like the domain, in words; None if they do.

        Parameters
        ----------
        X : array or csr_array, (n, width)
            Raw rows.
        Z : array, (n, rank)
            The same rows in coordinates.
        names : array, (width,), optional
            Names of the columns, for the words.
        """
        n = len(Z)
        tested = np.arange(0, n, max(1, -(-n // TESTED_ROWS)))
        if not n:
            return None
        scores = self.scores_of(Z[tested])
        beyond = int(np.sum(scores > self.usual[-1]))
        of_rows = f"of {n} rows" if len(tested) == n else f"of {len(tested)} tested rows"
        if self._farther_on_the_whole(scores) or self._too_many_beyond(scores, beyond):
            return f"{beyond} {of_rows} are farther from the fitted rows than any of those from each other"
        return None if self.low is None or is_sparse(X) else self._out_of_range(X[tested], names, of_rows)

    def _farther_on_the_whole(self, scores: Array) -> bool:
        if len(scores) < RANKED_ROWS:
            return False
        below = (np.searchsorted(self.usual, scores, "left") + np.searchsorted(self.usual, scores, "right")) / 2
        if below.mean() < LEAST_EFFECT * len(self.usual):
            return False  # scipy's test takes longer than the search for one row
        return bool(mannwhitneyu(scores, self.usual, alternative="greater").pvalue < ALARM)

    def _too_many_beyond(self, scores: Array, beyond: int) -> bool:
        """Whether more new rows are farther than all known ones than chance allows."""
        if not beyond:
            return False
        # Rows that mostly repeat known ones have no scale: whatever is new is far.
        far = int(np.sum(scores > FAR * self.usual[-1])) if np.median(self.usual) > 0 else 0
        extra = (FAR_ROWS - 1) * far
        return _log_chance(beyond + extra, len(scores) + extra, len(self.usual)) < math.log(ALARM)

    def _out_of_range(self, X: Array, names: Values | None, of_rows: str) -> str | None:
        """The column in which more new rows are out of the range of the known ones than chance allows, if any."""
        assert self.low is not None
        assert self.high is not None
        slack = ROUNDING[X.dtype == np.float32] * np.maximum(np.abs(self.low), np.abs(self.high))
        with np.errstate(over="ignore"):  # next to the largest number nothing is out of range
            low, high = self.low - slack, self.high + slack
        counts = np.maximum((low > X).sum(axis=0), (high < X).sum(axis=0))
        counts[self.low == self.high] = 0  # a constant column has told the fit nothing
        column = int(counts.argmax())
        chance = _log_chance(int(counts[column]), len(X), self.n_ranged) + math.log(2 * X.shape[1])
        if chance >= math.log(ALARM) or counts[column] < LEAST_OUTSIDE * len(X):
            return None
        name = column if names is None else repr(str(names[column]))
        return (
            f"{counts[column]} {of_rows} are out of the range of column {name}, {self.low[column]:.6g} to "
            f"{self.high[column]:.6g}"
        )


def likeness_to(X: AnyRows, coordinates: Coordinates) -> Likeness | None:
    """Likeness to raw rows of a domain, (n, width), of which at most `2 * HALF_ROWS` are read."""
    rng = np.random.default_rng(0)  # of its own, so that a fit draws the same numbers with and without it
    chosen = rng.permutation(X.shape[0])[: 2 * HALF_ROWS]
    order = np.argsort(chosen)  # rows on disk are read in their order
    rows = X[chosen[order]]
    found = fit_likeness(to_coordinates(rows, coordinates)[np.argsort(order)])
    if found is None or is_sparse(rows):
        return found
    return replace(found, low=rows.min(axis=0), high=rows.max(axis=0), n_ranged=len(rows))


def fit_likeness(Z: Array) -> Likeness | None:
    """Likeness to rows in coordinates, (n, rank), in random order; None for too few rows or equal ones."""
    if len(Z) < LEAST_ROWS:
        return None
    reference, others = Z[: len(Z) // 2], Z[len(Z) // 2 :]
    rounding = ROUNDING[Z.dtype == np.float32] * float(np.sqrt(np.einsum("ij,ij->", Z, Z, dtype=np.float64) / len(Z)))
    near = _distances(nearest_others(reference, N_NEAR), rounding).mean(axis=1)
    if not near.any():
        return None
    spacing = np.maximum(near, LEAST_SPACING * near.mean())
    known = Likeness(reference, spacing, np.zeros(1), rounding)
    return replace(known, usual=np.sort(known.scores_of(others)))


def _distances(near: Neighbors, rounding: float) -> Array:
    distances = np.sqrt(near.squared, dtype=np.float64)
    return np.where(distances > rounding, distances, 0.0)


def _log_chance(count: int, n_new: int, n_known: int) -> float:
    """Logarithm of the probability that the `count` largest of all values are new ones, if all are drawn alike.

    C(n_new, count) / C(n_new + n_known, count), without ties; less with ties.
    """
    return _log_choices(n_new, count) - _log_choices(n_new + n_known, count)


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
