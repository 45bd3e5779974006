"""Nearest rows: an exact search, and an approximate one whose time grows with the rows and not with their square."""

import importlib.util
import warnings
from dataclasses import dataclass

import numpy as np

from lpjt._threads import map_threads
from lpjt.core.blocks import row_blocks

#: Pairs of rows below which distances are computed at once.
SMALL_SEARCH = 2**15

#: The exact search compares so many rows with so many at a time: products of matrices that a cache holds.
QUERIES, CANDIDATES = 64, 4096

#: Rows of a domain from which on "auto" means "approximate". Below, the exact search is no slower.
LARGE = 10_000

#: The approximate search makes clusters of so many rows, by so many leading directions, and compares each row, in so
#: many directions, with the rows of the clusters nearest to its own, so many rows in all; fewer where rows are narrow.
#: The tests hold it to 95 % of the nearest rows, on full MNIST too.
CLUSTER_ROWS, CLUSTER_WIDTH, SEARCH_WIDTH, COMPARED, COMPARED_NARROW = 128, 32, 192, 6144, 4096

#: More clusters than these are made in groups, and a row's own is sought in so many groups.
FEW_CLUSTERS, NEAR_GROUPS = 256, 3

#: Where a search is confined to some classes, the approximate one compares with a spread of so many rows.
CONFINED = 2048

MISSING = "neighbors='approximate' needs faiss. Install it with `pip install lpjt[faiss]`, or set neighbors='exact'."


def choose_search(asked, n_rows):
    """Search for domains of at most so many rows, "exact" or "approximate"; "auto" is exact up to `LARGE` rows.

    Without faiss "auto" stays exact, and warns; "approximate" is an error.
    """
    if asked == "exact" or (asked == "auto" and n_rows <= LARGE):
        return "exact"
    if importlib.util.find_spec("faiss") is not None:
        return "approximate"
    if asked == "approximate":
        raise ImportError(MISSING)
    warnings.warn(
        f"{n_rows} rows are searched exactly, in time that grows with their square, because faiss is not installed. "
        "Install it with `pip install lpjt[faiss]`.",
        stacklevel=4,
    )
    return "exact"


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """Nearest rows of each row, nearest first."""

    indices: np.ndarray  # (n, k)
    squared: np.ndarray  # (n, k) squared distances

    def first(self, k):
        """The k nearest alone."""
        return Neighbors(self.indices[:, :k], self.squared[:, :k])


def nearest_rows(queries, candidates, n_neighbors, *, search="exact"):
    """Nearest `candidates` of each of the `queries`: `Neighbors` of k = min(n_neighbors, n_candidates).

    Exact: O(n_queries n_candidates width) time, no matrix of that size. Approximate: O(n_queries width) but for a small
    part, the assignment to clusters, that grows with the square root of the candidates besides.
    """
    k = min(n_neighbors, len(candidates))
    if len(queries) * len(candidates) <= SMALL_SEARCH:
        return _nearest_of_few(queries, candidates, k)
    if search == "approximate" and len(candidates) > COMPARED:
        return _nearest_by_clusters(queries, candidates, k)
    return _nearest_of_all(queries, candidates, k)


def nearest_others(X, n_neighbors, *, search="exact"):
    """Nearest rows of each row, itself left out; `Neighbors` of k = min(n_neighbors, n - 1)."""
    k = min(n_neighbors, len(X) - 1)
    if search == "approximate" and len(X) > COMPARED:
        return _without_self(_nearest_by_clusters(X, X, k + 1))
    return _nearest_of_all(X, X, k, others=True)


def nearest_among(X, queries, candidates, n_neighbors, *, search="exact"):
    """Nearest rows, among some rows of `X`, of some rows of `X`; both are given, and found, by their places.

    The approximate search takes a spread of `CONFINED` candidates, for an index of them would serve but once.
    """
    if search == "approximate" and len(candidates) > CONFINED:
        candidates = candidates[:: -(-len(candidates) // CONFINED)]
        squared, places = _faiss().knn(_singles(X[queries]), _singles(X[candidates]), min(n_neighbors, len(candidates)))
        return Neighbors(candidates[places], squared)
    near = nearest_rows(X[queries], X[candidates], n_neighbors)
    return Neighbors(candidates[near.indices], near.squared)


def _nearest_of_few(queries, candidates, k):
    """All distances at once: below `SMALL_SEARCH` pairs the search's own preparations would take longer."""
    norms = np.einsum("ij,ij->i", candidates, candidates)
    order = np.argsort(norms - 2 * (queries @ candidates.T), axis=1, kind="stable")[:, :k]
    difference = queries[:, None] - candidates[order]  # exact, where norms would cancel
    squared = np.einsum("ijk,ijk->ij", difference, difference, dtype=np.float64)
    resorted = np.argsort(squared, axis=1, kind="stable")
    return Neighbors(np.take_along_axis(order, resorted, axis=1), np.take_along_axis(squared, resorted, axis=1))


def _nearest_of_all(queries, candidates, k, *, others=False):
    """Exact search, by products of some rows with some; of `others`, a row is not the neighbour of its own place.

    scikit-learn's takes float32 for float64, and runs on one thread once faiss is loaded.
    """
    pivot = _pivot(candidates)
    C = candidates if pivot is None else candidates - pivot
    half = np.einsum("ij,ij->i", C, C) / 2
    parts = [slice(start, start + CANDIDATES) for start in range(0, len(C), CANDIDATES)]
    indices = np.empty((len(queries), k), dtype=np.int32)
    squared = np.empty((len(queries), k), dtype=C.dtype)

    def search(start):
        Q = queries[start : start + QUERIES]
        Q = Q if pivot is None else Q - pivot
        found = []
        for part in parts:
            values = Q @ C[part].T
            np.subtract(half[part], values, out=values)
            if others:
                own = np.arange(max(start, part.start), min(start + len(Q), part.start + values.shape[1]))
                values[own - start, own - part.start] = np.inf
            places, values = _smallest_of_rows(values, k)
            found.append((places + part.start, values))
        places, values = found[0]
        if len(found) > 1:
            together, values = _smallest_of_rows(np.hstack([v for _, v in found]), k)
            places = np.take_along_axis(np.hstack([p for p, _ in found]), together, axis=1)
        order = np.argsort(values, axis=1, kind="stable")
        indices[start : start + len(Q)] = np.take_along_axis(places, order, axis=1)
        norms = np.einsum("ij,ij->i", Q, Q)[:, None]
        np.maximum(2 * np.take_along_axis(values, order, axis=1) + norms, 0.0, out=squared[start : start + len(Q)])

    map_threads(search, range(0, len(queries), QUERIES))
    return Neighbors(indices, squared)


def _pivot(X):
    """Mean of float32 rows that are farther from the origin than from each other; None where distances need none.

    |q|^2 - 2 q'c + |c|^2 cancels there, and float32 has no digits to spare.
    """
    if X.dtype != np.float32:
        return None
    mean = X.mean(axis=0, dtype=np.float64)
    square = np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X)
    return mean.astype(X.dtype) if 2 * (mean @ mean) > square else None


def _smallest_of_rows(values, k):
    """Places and values of the k smallest entries of each row, in any order."""
    if values.shape[1] <= k:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape), values
    places = np.argpartition(values, k - 1, axis=1)[:, :k]
    return places, np.take_along_axis(values, places, axis=1)


def _nearest_by_clusters(queries, candidates, k):
    """Approximate search: clusters of candidates; a row is compared with its own cluster and those around it.

    All rows of one cluster are searched together, as one product of matrices. Distances are those in the leading
    `SEARCH_WIDTH` directions, in float32.
    """
    faiss = _faiss()
    axes = _leading_axes(candidates)
    leading = _project(candidates, axes[:, :CLUSTER_WIDTH])
    clusters = _find_clusters(faiss, leading)
    members = asked = _by_cluster(faiss, leading, clusters)
    if queries is not candidates:
        asked = _by_cluster(faiss, _project(queries, axes[:, :CLUSTER_WIDTH]), clusters)
    del leading
    wanted = COMPARED if axes.shape[1] > 2 * CLUSTER_WIDTH else COMPARED_NARROW
    centers = np.vstack(clusters.centers)
    around = faiss.knn(centers, centers, min(len(centers), 2 * wanted // CLUSTER_ROWS))[1]
    sizes = np.array([len(rows) for rows in members])
    ends = np.cumsum(sizes)
    places = np.concatenate(members)
    C = _project(candidates, axes, places)  # rows of a cluster side by side: few reads instead of thousands
    indices = np.empty((len(queries), k), dtype=np.int32)
    squared = np.empty((len(queries), k), dtype=np.float32)

    def search(cluster):
        rows, near = asked[cluster], around[cluster]
        if not len(rows):
            return
        near = near[: np.searchsorted(np.cumsum(sizes[near]), wanted) + 1]
        compared = [slice(ends[c] - sizes[c], ends[c]) for c in near]
        if sizes[near].sum() < k:  # clusters of almost nothing all around
            compared = [slice(0, len(C))]
        own = C[ends[cluster] - sizes[cluster] : ends[cluster]] if asked is members else _singles(queries[rows]) @ axes
        squared[rows], found = faiss.knn(own, np.concatenate([C[part] for part in compared]), k)
        indices[rows] = np.concatenate([places[part] for part in compared])[found]

    # One thread of faiss's own in each of ours: two share the product of a cluster badly.
    map_threads(search, range(len(centers)), first=lambda: faiss.omp_set_num_threads(1))
    return Neighbors(indices, np.maximum(squared, 0.0))


def _leading_axes(X, *, n_rows=4096):
    """Principal directions, (width, at most `SEARCH_WIDTH`), of a spread of rows."""
    rows = np.asarray(X[:: -(-len(X) // n_rows)], dtype=np.float64)
    _, vectors = np.linalg.eigh(rows.T @ rows)
    return vectors[:, ::-1][:, :SEARCH_WIDTH].astype(np.float32)


def _project(X, axes, places=None):
    """Rows in the given directions, in float32; in the order of `places` where these are given."""
    Z = np.empty((len(X), axes.shape[1]), dtype=np.float32)

    def fill(rows):
        np.matmul(_singles(X[rows] if places is None else X[places[rows]]), axes, out=Z[rows])

    map_threads(fill, row_blocks(X))
    return Z


@dataclass(frozen=True, slots=True, eq=False)
class _Clusters:
    """Centres of clusters, in the `CLUSTER_WIDTH` leading directions, group by group."""

    groups: np.ndarray  # (n_groups, width) centres of the groups
    centers: list  # of each group, (n_clusters_g, width)


def _find_clusters(faiss, C, *, rows_each=20):
    """k-means on a spread of rows, of `CLUSTER_ROWS` rows a cluster: first into groups, then within each of them.

    So that a row is compared with as many groups as a group has clusters, and not with all clusters: their number grows
    with the rows, and the time would with the rows' square.
    """
    n_clusters = -(-len(C) // CLUSTER_ROWS)
    some = _singles(C[:: max(1, len(C) // (rows_each * n_clusters))])
    n_groups = 1 if n_clusters <= FEW_CLUSTERS else round(n_clusters**0.5)
    groups = _means(faiss, some, n_groups)
    rows_of = _split(faiss.knn(some, groups, 1)[1][:, 0], n_groups)
    share = n_clusters / len(some)
    centers = map_threads(
        lambda rows: _means(faiss, some[rows], max(1, round(share * len(rows)))) if len(rows) else groups[:0],
        rows_of,
        first=lambda: faiss.omp_set_num_threads(1),
    )
    kept = [g for g, found in enumerate(centers) if len(found)]
    return _Clusters(groups[kept], [centers[g] for g in kept])


def _means(faiss, rows, n_means, *, n_steps=5):
    """Centres of k-means."""
    if n_means == 1:
        return rows.mean(axis=0, keepdims=True)
    means = faiss.Kmeans(
        rows.shape[1], n_means, niter=n_steps, seed=1, min_points_per_centroid=1, max_points_per_centroid=2**30
    )
    means.train(rows)
    return means.centroids


def _by_cluster(faiss, C, clusters):
    """Places of the rows of each cluster, in the order of the groups' clusters."""
    ends = np.cumsum([len(centers) for centers in clusters.centers])
    cluster = np.zeros(len(C), dtype=np.int32)
    squared = np.full(len(C), np.inf, dtype=np.float32)
    n_near = min(NEAR_GROUPS, len(clusters.groups))
    near = np.vstack([faiss.knn(C[rows], clusters.groups, n_near)[1] for rows in row_blocks(C)])

    def compare(of_group):
        rows, g = of_group
        if len(rows):
            distance, nearest = (part[:, 0] for part in faiss.knn(C[rows], clusters.centers[g], 1))
            better = distance < squared[rows]
            squared[rows[better]] = distance[better]
            cluster[rows[better]] = nearest[better] + ends[g] - len(clusters.centers[g])

    for groups in near.T:  # the nearest group of each row, then the next: its nearest centre may be across the border
        items = list(zip(_split(groups, len(ends)), range(len(ends)), strict=True))
        map_threads(compare, items, first=lambda: faiss.omp_set_num_threads(1))
    return _split(cluster, ends[-1])


def _split(codes, n_codes):
    """Places of each code, 0 to n_codes - 1."""
    order = np.argsort(codes, kind="stable").astype(np.int32)
    return np.split(order, np.searchsorted(codes[order], np.arange(1, n_codes)))


def _without_self(near):
    """Drop each row from its own list; the last place where it is not there, for a duplicate stands before it."""
    keep = near.indices != np.arange(len(near.indices))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = len(keep), keep.shape[1] - 1
    return Neighbors(near.indices[keep].reshape(shape), near.squared[keep].reshape(shape))


def _singles(X):
    return np.ascontiguousarray(X, dtype=np.float32)


def _faiss():
    try:
        import faiss
    except ImportError:
        raise ImportError(MISSING) from None
    return faiss
