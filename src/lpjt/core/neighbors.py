"""Nearest rows: an exact search, and an approximate one whose time does not grow with the square of the rows."""

import importlib.util
import warnings
from dataclasses import dataclass

import numpy as np

from lpjt._threads import map_threads
from lpjt._typing import Array, Codes
from lpjt.core.clusters import COMPARED, FAISS_MISSING, as_float32, load_faiss, nearest_by_clusters
from lpjt.core.distances import pivot_of
from lpjt.core.smallest import QUERY_BLOCK, entries_of, ranked_of_rows, smallest_of_rows
from lpjt.core.ties import rising, tie_terms

#: Up to this many pairs of rows, all distances are computed at once.
SMALL_SEARCH = 2**15

#: The exact search multiplies blocks of `QUERY_BLOCK` queries and this many candidates: matrices that fit the cache.
CANDIDATE_BLOCK = 4096

#: Up to this many columns of float32 rows, the norms of the candidates are one more column of the product: adding them
#: afterwards takes a tenth of the search. In float64 it would take part in the rounding that `ties` relies on.
NARROW = 64

#: Largest number of rows per domain for which "auto" means "exact", which is no slower there.
EXACT_UP_TO = 10_000

#: Maximum number of candidates of an approximate search that is confined to some classes.
MAX_CONFINED = 2048


def choose_search(asked: str, n_rows: int) -> str:
    """Search for domains of at most `n_rows` rows, "exact" or "approximate"; "auto" is exact up to `EXACT_UP_TO` rows.

    Without faiss "auto" stays exact, and warns; "approximate" is an error.
    """
    if asked == "exact" or (asked == "auto" and n_rows <= EXACT_UP_TO):
        return "exact"
    if importlib.util.find_spec("faiss") is not None:
        return "approximate"
    if asked == "approximate":
        raise ImportError(FAISS_MISSING)
    warnings.warn(
        f"{n_rows} rows are searched exactly, in time that grows with their square, because faiss is not installed. "
        "Install it with `pip install lpjt[faiss]`.",
        stacklevel=4,
    )
    return "exact"


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """Nearest rows of each row, nearest first."""

    indices: Codes  # (n, k)
    squared: Array  # (n, k) squared distances

    def first(self, k: int) -> "Neighbors":
        """The k nearest rows only."""
        return Neighbors(self.indices[:, :k], self.squared[:, :k])


def nearest_rows(queries: Array, candidates: Array, n_neighbors: int, *, search: str = "exact") -> Neighbors:
    """Nearest `candidates` of each of the `queries`: `Neighbors` with k = min(n_neighbors, n_candidates).

    Exact: O(n_queries n_candidates width) time, without a matrix of (n_queries, n_candidates). Approximate: O(n_queries
    width), except for the assignment to clusters, which also grows with the square root of the candidates.
    """
    k = min(n_neighbors, len(candidates))
    if len(queries) * len(candidates) <= SMALL_SEARCH:
        return _nearest_of_few(queries, candidates, k)
    if search == "approximate" and len(candidates) > COMPARED:
        return Neighbors(*nearest_by_clusters(queries, candidates, k))
    return _nearest_of_all(queries, candidates, k)


def nearest_others(X: Array, n_neighbors: int, *, search: str = "exact") -> Neighbors:
    """Nearest other rows of each row: `Neighbors` with k = min(n_neighbors, n - 1)."""
    k = min(n_neighbors, len(X) - 1)
    if search == "approximate" and len(X) > COMPARED:
        return _without_self(Neighbors(*nearest_by_clusters(X, X, k + 1)))
    return _nearest_of_all(X, X, k, others=True)


def nearest_in_cell(X: Array, n_neighbors: int) -> Neighbors:
    """As `nearest_others`, exact, on one thread: by faiss, which takes half the time, if it is installed."""
    k = min(n_neighbors, len(X) - 1)
    if len(X) ** 2 <= SMALL_SEARCH or importlib.util.find_spec("faiss") is None:
        return _nearest_of_all(X, X, k, others=True)
    faiss = load_faiss()
    faiss.omp_set_num_threads(1)
    centered = as_float32(
        X - X.mean(axis=0)
    )  # faiss sums squared norms: those of rows far from the origin would cancel
    squared, indices = faiss.knn(centered, centered, k + 1)
    return _without_self(Neighbors(indices, np.maximum(squared, 0.0)))


def nearest_among(X: Array, queries: Codes, candidates: Codes, n_neighbors: int, *, search: str = "exact") -> Neighbors:
    """Nearest rows, among some rows of `X`, of some rows of `X`; rows are given and returned by their numbers.

    The approximate search compares with at most `MAX_CONFINED` evenly spaced candidates, because an index of the
    candidates would be used only once.
    """
    if search == "approximate" and len(candidates) > MAX_CONFINED:
        candidates = candidates[:: -(-len(candidates) // MAX_CONFINED)]
        k = min(n_neighbors, len(candidates))
        squared, places = load_faiss().knn(as_float32(X[queries]), as_float32(X[candidates]), k)
        return Neighbors(candidates[places], squared)
    near = nearest_rows(X[queries], X[candidates], n_neighbors)
    return Neighbors(candidates[near.indices], near.squared)


def nearest_unlike(X: Array, y: Codes, queries: Codes, candidates: Codes, n_neighbors: int) -> Neighbors:
    """Nearest rows with another code, among some rows of `X`, of some rows of `X`; exact, all classes together.

    Rows are given and returned by their numbers. Where fewer have another code, the last distances are infinite.
    """
    k = min(n_neighbors, len(candidates))
    near = _nearest_of_all(X[queries], X[candidates], k, codes=(y[queries], y[candidates]))
    return Neighbors(candidates[near.indices], near.squared)


def rank_terms(candidates: Array) -> Array:
    """What an exact search adds to the squared distances to each candidate, (n_candidates,), when it ranks them."""
    return _prepared(candidates)[-1]


def _prepared(candidates: Array) -> tuple[Array | None, Array, Array, Array]:
    """Pivot of the candidates, the candidates around it, their squared norms, and what decides between ties."""
    pivot = pivot_of(candidates)
    C = candidates if pivot is None else candidates - pivot
    norms = np.einsum("ij,ij->i", C, C)
    return pivot, C, norms, tie_terms(C, norms)


def _nearest_of_few(queries: Array, candidates: Array, k: int) -> Neighbors:
    """All distances at once: up to `SMALL_SEARCH` pairs the preparations of the block search would take longer."""
    pivot, C, norms, ties = _prepared(candidates)
    Q = queries if pivot is None else queries - pivot
    order = np.argsort(norms + ties - 2 * (Q @ C.T), axis=1, kind="stable")[:, :k]
    difference = queries[:, None] - candidates[order]  # exact: norms would cancel
    squared = np.einsum("ijk,ijk->ij", difference, difference, dtype=np.float64)
    resorted = np.argsort(squared + ties[order], axis=1, kind="stable")
    return Neighbors(entries_of(order, resorted), rising(entries_of(squared, resorted)))


def _nearest_of_all(
    queries: Array, candidates: Array, k: int, *, others: bool = False, codes: tuple[Codes, Codes] | None = None
) -> Neighbors:
    """Exact search by products of blocks of rows; with `others`, row i of the queries is not its own neighbour.

    With `codes` of the queries and of the candidates, rows with equal codes are no neighbours.
    scikit-learn's search converts float32 to float64, and runs on one thread once faiss is loaded.
    """
    pivot, C, norms, ties = _prepared(candidates)
    half = (norms + ties) / 2
    within = C.dtype == np.float32 and C.shape[1] <= NARROW
    if within:
        C = np.column_stack([C, half])
    parts = [slice(start, start + CANDIDATE_BLOCK) for start in range(0, len(C), CANDIDATE_BLOCK)]
    indices = np.empty((len(queries), k), dtype=np.int32)
    squared = np.empty((len(queries), k), dtype=C.dtype)

    def search(start: int) -> None:
        Q = queries[start : start + QUERY_BLOCK]
        Q = Q if pivot is None else Q - pivot
        of_queries = np.einsum("ij,ij->i", Q, Q)[:, None]
        if within:
            Q = np.column_stack([-Q, np.ones(len(Q), dtype=Q.dtype)])
        found: list[tuple[Codes, Array]] = []
        choose = ranked_of_rows if len(parts) == 1 else smallest_of_rows
        for part in parts:
            values: Array = Q @ C[part].T
            if not within:
                np.subtract(half[part], values, out=values)
            if others:
                own = np.arange(max(start, part.start), min(start + len(Q), part.start + values.shape[1]))
                values[own - start, own - part.start] = np.inf
            if codes is not None:
                equal = codes[0][start : start + len(Q), None] == codes[1][part]
                np.copyto(values, np.inf, where=equal)
            places, values = choose(values, k)
            found.append((places + part.start if part.start else places, values))
        places, values = found[0]
        if len(found) > 1:
            together, values = ranked_of_rows(np.hstack([v for _, v in found]), k)
            places = entries_of(np.hstack([p for p, _ in found]), together)
        indices[start : start + len(Q)] = places
        rising(2 * values + (of_queries - ties.take(places, mode="clip")), out=squared[start : start + len(Q)])

    map_threads(search, range(0, len(queries), QUERY_BLOCK))
    return Neighbors(indices, squared)


def _without_self(near: Neighbors) -> Neighbors:
    """Drop each row from its own list, or the last place if duplicates have pushed the row out of it."""
    keep = near.indices != np.arange(len(near.indices))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = len(keep), keep.shape[1] - 1
    return Neighbors(near.indices[keep].reshape(shape), near.squared[keep].reshape(shape))
