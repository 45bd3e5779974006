"""The smallest entries of each row of a matrix, and the nearest rows by one product of matrices."""

from typing import Any

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.core.ties import rising, tie_terms

#: Maximum number of rows whose distances to others are computed at once.
QUERY_BLOCK = 256


def nearest_of_block(queries: Array, candidates: Array, k: int) -> tuple[Array, Codes]:
    """Squared distances to the k nearest candidates of each query, nearest first, and their places: (n, k) each.

    Exact, for rows around the origin: squared norms would hide the distances of others. Quicker than faiss, whose
    product of matrices is slower, and which keeps a heap for each query.
    """
    norms = np.einsum("ij,ij->i", candidates, candidates)
    ties = tie_terms(candidates, norms)
    half = (norms + ties) / 2
    squared = np.empty((len(queries), k), dtype=candidates.dtype)
    places: Codes = np.empty((len(queries), k), dtype=np.int64)
    for start in range(0, len(queries), QUERY_BLOCK):
        rows = slice(start, start + QUERY_BLOCK)
        values: Array = queries[rows] @ candidates.T
        np.subtract(half, values, out=values)
        nearest, smallest = ranked_of_rows(values, k)
        places[rows] = nearest
        of_queries = np.einsum("ij,ij->i", queries[rows], queries[rows])[:, None]
        rising(2 * smallest + (of_queries - ties.take(nearest, mode="clip")), out=squared[rows])
    return squared, places


def ranked_of_rows(values: Array, k: int) -> tuple[Codes, Array]:
    """Columns and values of the k smallest entries of each row, the smallest first."""
    if 2 * k >= values.shape[1]:  # sorting all of them takes less time than choosing first
        first = np.argsort(values, axis=1)[:, :k]
        return first, entries_of(values, first)
    places, smallest = smallest_of_rows(values, k)
    order = np.argsort(smallest, axis=1, kind="stable")
    return entries_of(places, order), entries_of(smallest, order)


#: Columns are compared in this many groups, or four times k if that is more. The k-th smallest of the groups' minima
#: bounds the k-th smallest value, and few values are below the bound if there are enough groups.
GROUPS = 128


def smallest_of_rows(values: Array, k: int) -> tuple[Codes, Array]:
    """Columns and values of the k smallest entries of each row, in any order.

    Two passes over the values, one for the minima of groups and one for the bound, then work on little more than k
    values per row: a partition of whole rows takes longer.
    """
    n, width = values.shape
    if width <= k:
        return np.broadcast_to(np.arange(width), values.shape), values
    n_groups = min(width // 4, max(GROUPS, 4 * k))
    if k == 1 or n_groups < 3 * k:
        return _partitioned(values, k)
    grouped = values[:, : width - width % n_groups].reshape(n, -1, n_groups)
    bound = np.partition(grouped.min(axis=1), k - 1, axis=1)[:, k - 1 : k]
    below = np.flatnonzero(values <= bound)
    rows, columns = np.divmod(below, width)
    counts = np.bincount(rows, minlength=n)
    places = np.arange(len(below)) - np.repeat(np.cumsum(counts) - counts, counts)
    few = np.full((n, counts.max()), np.inf, dtype=values.dtype)
    few[rows, places] = values.ravel()[below]
    of_few = np.zeros(few.shape, dtype=np.int64)
    of_few[rows, places] = columns
    found, smallest = _partitioned(few, k)
    return entries_of(of_few, found), smallest


def _partitioned(values: Array, k: int) -> tuple[Codes, Array]:
    """As `smallest_of_rows`, by a partition of whole rows, which have at least k values."""
    places = np.argmin(values, axis=1)[:, None] if k == 1 else np.argpartition(values, k - 1, axis=1)[:, :k]
    return places, entries_of(values, places)


def entries_of(values: Array | Codes, places: Codes) -> Any:
    """Entries of each row at its places, (n, k): `np.take_along_axis` in a third of its time, for few rows."""
    return values[np.arange(len(values))[:, None], places]
