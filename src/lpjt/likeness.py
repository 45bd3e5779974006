"""Whether new rows look like the rows of a domain that a model was fitted on: a test that holds for any distribution.

Half of a sample of the fitted rows is the reference, the other half shows how far rows of the domain are from it. Fresh
rows of the domain are as far as that other half, whatever their distribution: ranks among these distances have a known
one. Rows that are nearer than usual raise no alarm; fitted rows themselves never do.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import mannwhitneyu

from lpjt._typing import Array
from lpjt.core.blocks import AnyRows
from lpjt.core.coordinates import Coordinates, to_coordinates
from lpjt.core.neighbors import nearest_others, nearest_rows

#: Maximum number of rows of each half, and of new rows that are tested: what bounds the cost.
HALF_ROWS, TESTED_ROWS = 500, 1000

#: Fewest rows of a domain that can be compared with, by halves.
LEAST_ROWS = 20

#: Neighbours that a distance is averaged over.
N_NEIGHBORS = 3

#: Probability of a false alarm that each of the two tests may have.
ALARM = 1e-5

#: Share of pairs of a new row and a known one in which the new row must be the farther one, besides being certain: a
#: batch of one class may be a little farther, and its labels are no worse for it.
LEAST_EFFECT = 0.7

#: A row this many times farther than the farthest known one counts as `FAR_ROWS` rows beyond it.
FAR, FAR_ROWS = 3.0, 3


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Some rows of a domain in coordinates, and how far other rows of it are from them."""

    reference: Array  # (m, rank)
    spacing: Array  # (m,) distance of each reference row to the others near it
    usual: Array  # (n,) scores of the other half, sorted

    def scores_of(self, Z: Array) -> Array:
        """Distance of rows to the reference, (n,), over what is usual there: 1 or so for rows within it."""
        return _scores(Z, self.reference, self.spacing)

    def complaint_about(self, Z: Array) -> str | None:
        """Why new rows in coordinates, (n, rank), do not look like the domain, in words; None if they do."""
        if not len(Z):
            return None
        tested = Z[:: -(-len(Z) // TESTED_ROWS)]
        scores = self.scores_of(tested)
        beyond = int(np.sum(scores > self.usual[-1]))
        if not (self._farther_on_the_whole(scores) or self._too_many_beyond(scores, beyond)):
            return None
        share = f"{len(Z)} rows" if len(Z) == len(tested) else f"{len(tested)} tested of {len(Z)} rows"
        times = float(np.median(scores)) / max(float(np.median(self.usual)), np.finfo(float).tiny)
        ratio = f", and {times:.1f} times as far at the median" if 1 < times < 1e6 else ""
        return f"{beyond} of {share} are farther from the fitted rows than any of those are from each other{ratio}"

    def _farther_on_the_whole(self, scores: Array) -> bool:
        below = (np.searchsorted(self.usual, scores, "left") + np.searchsorted(self.usual, scores, "right")) / 2
        if below.mean() < LEAST_EFFECT * len(self.usual):
            return False  # scipy's test takes longer than the search for one row
        return bool(mannwhitneyu(scores, self.usual, alternative="greater").pvalue < ALARM)

    def _too_many_beyond(self, scores: Array, beyond: int) -> bool:
        """Whether more new rows are beyond all known ones than chance allows.

        If both are drawn alike, the `c` farthest of n known and m new rows are all new with the probability
        C(m, c) / C(n + m, c), without ties.
        """
        if not beyond:
            return False
        far = int(np.sum(scores > FAR * self.usual[-1])) if self.usual[-1] > 0 else 0
        extra = (FAR_ROWS - 1) * far
        n, m, count = len(self.usual), len(scores) + extra, beyond + extra
        return _log_choices(m, count) - _log_choices(n + m, count) < math.log(ALARM)


def likeness_to(X: AnyRows, coordinates: Coordinates) -> Likeness | None:
    """Likeness to raw rows of a domain, (n, width), of which at most `2 * HALF_ROWS` are read."""
    rng = np.random.default_rng(0)  # of its own, so that a fit draws the same numbers with and without it
    chosen = rng.permutation(X.shape[0])[: 2 * HALF_ROWS]
    order = np.argsort(chosen)  # rows on disk are read in their order
    Z = to_coordinates(X[chosen[order]], coordinates)
    return fit_likeness(Z[np.argsort(order)])


def fit_likeness(Z: Array) -> Likeness | None:
    """Likeness to rows in coordinates, (n, rank), in random order; None for too few rows or equal ones."""
    if len(Z) < LEAST_ROWS:
        return None
    reference, others = Z[: len(Z) // 2], Z[len(Z) // 2 :]
    near = np.sqrt(nearest_others(reference, N_NEIGHBORS).squared).mean(axis=1, dtype=np.float64)
    # Halfway between what is usual at the row and in the domain: where rows repeat, the former alone is zero.
    spacing = (near + near.mean()) / 2
    if not spacing.any() or not np.isfinite(spacing).all():
        return None
    return Likeness(reference, spacing, np.sort(_scores(others, reference, spacing)))


def _scores(Z: Array, reference: Array, spacing: Array) -> Array:
    near = nearest_rows(Z, reference, N_NEIGHBORS)
    return np.asarray((np.sqrt(np.maximum(near.squared, 0.0)) / spacing[near.indices]).mean(axis=1))


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
