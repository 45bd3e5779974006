r"""Neighbours at equal distances: which of them comes first, whatever the order of rows and columns, and the unit.

Rows of small counts have many neighbours at exactly the same distance. Rounding, which depends on the order of rows and
of columns, would decide which of them is among the k nearest. So a search ranks its candidates by
:math:`|q - c|^2 + \tau |c - a|^2`, where the anchor :math:`a` is a mean of all candidates: of candidates equally far
from a row, the one nearest to the anchor comes first. In float64 the factor is far above rounding and far below other
differences; the rows of small domains are compared in it, whatever their dtype.
"""

import numpy as np

from lpjt._typing import Array
from lpjt.core.blocks import AnyRows

#: Factor of the term that decides between equal distances of float64 rows, which differ by a few units of the last
#: place. There is none for float32: their rounding is as large as differences that count.
TAU = 2.0**-28

#: Binary digits of the largest norm above the step in which the term is counted; float64 has 53.
STEP_DIGITS = 50

#: Up to this many rows are compared in float64. Beyond it a search takes noticeably longer, and a tie decides less.
FEW_ROWS = 1000

#: Rows of a float32 domain are converted up to this many values, 64 MB: sums over wide rows are seldom equal.
MOST_VALUES = 2**23


def compared_rows(rows: Array) -> Array:
    """Rows as they are compared with others: in float64 if there are few, else in float32, in half the time."""
    return rows.astype(np.float64 if len(rows) <= FEW_ROWS else np.float32, copy=False)


def are_few(rows: AnyRows) -> bool:
    """Whether rows, dense, sparse or on disk, are so few that they cost little in float64."""
    n, width = rows.shape
    return n <= FEW_ROWS and getattr(rows, "nnz", n * width) <= MOST_VALUES


def tie_terms(candidates: Array, norms: Array) -> Array:
    """What is added to the squared distances to each candidate when they are ranked: (n_candidates,), not negative.

    Rows far from the mean weigh more in the anchor. Without weights, rows that have the same words in another order of
    columns would often be equally far from the anchor: whole counts have few different means.

    Parameters
    ----------
    candidates : array, (n_candidates, width)
    norms : array, (n_candidates,)
        Their squared norms.
    """
    if len(candidates) < 2 or candidates.dtype != np.float64:
        return np.zeros_like(norms)
    weights = _squared_distances(candidates, norms, candidates.mean(axis=0))
    largest = weights.max()
    if not 0 < largest < np.inf:
        return np.zeros_like(norms)
    weights /= largest
    anchor = (weights @ candidates) / weights.sum()
    terms = _squared_distances(candidates, norms, anchor)
    # In steps that the last places of the norms have room for: a term that is added and taken away leaves no trace.
    step = 2.0 ** (int(np.frexp(norms.max())[1]) - STEP_DIGITS)
    return np.rint(terms * (TAU / step)) * step


def rising(squared: Array, out: Array | None = None) -> Array:
    """Squared distances of ranked neighbours, (n, k), none negative or below the one before: equal ones are rounded."""
    squared[:, :1] = np.maximum(squared[:, :1], 0.0)
    np.maximum.accumulate(squared, axis=1, out=squared)
    if out is None:
        return squared
    out[...] = squared  # with `out` of float32 in its place, accumulate would read what is in there
    return out


def preferred_first(squared: Array, preferred: Array) -> Array:
    """Two lists of squared distances side by side, to be ranked: of equal ones, those that are preferred come first.

    Parameters
    ----------
    squared, preferred : arrays, (n, k) and (n, k_preferred)

    Returns
    -------
    array, (n, k + k_preferred)
    """
    if preferred.size and preferred.dtype == np.float64:
        preferred = preferred - TAU * preferred.mean()
    return np.hstack([squared, preferred])


def _squared_distances(X: Array, norms: Array, point: Array) -> Array:
    """Squared distances of rows from one point, by their squared norms: O(n width), without a copy of the rows."""
    found: Array = X @ point
    found *= -2
    found += norms
    found += point @ point
    return np.maximum(found, 0.0, out=found)
