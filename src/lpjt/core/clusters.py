"""The approximate search for nearest rows: faiss makes clusters, and rows are compared within nearby clusters."""

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from lpjt._threads import map_threads
from lpjt._typing import Array, Codes
from lpjt.core.blocks import row_blocks
from lpjt.core.directions import principal_directions
from lpjt.core.smallest import nearest_of_block

#: Rows per cluster, and number of leading directions in which clusters are formed.
CLUSTER_ROWS, CLUSTER_WIDTH = 128, 32

#: Maximum number of leading directions in which rows are compared.
SEARCH_WIDTH = 192

#: Number of candidates, from the clusters nearest to its own, that a row is compared with; fewer suffice where rows
#: have at most twice `CLUSTER_WIDTH` columns. The tests ask for 95 % of the true neighbours, on full MNIST too.
COMPARED, COMPARED_NARROW = 6144, 4096

#: Above this number, clusters are formed in groups, and each row finds its cluster within its nearest groups.
FEW_CLUSTERS, NEAR_GROUPS = 256, 3

FAISS_MISSING = (
    "neighbors='approximate' needs faiss. Install it with `pip install lpjt[faiss]`, or set neighbors='exact'."
)


def nearest_by_clusters(queries: Array, candidates: Array, k: int) -> tuple[Codes, Array]:
    """Approximate search: a row is compared with the candidates of its own cluster and of the clusters around it.

    All rows of one cluster are searched together, as one product of matrices. Returns row numbers and squared
    distances, (n_queries, k) each, nearest first; distances are those in the leading `SEARCH_WIDTH` directions, in
    float32.
    """
    faiss = load_faiss()
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
    C = _project(candidates, axes, places)  # rows of a cluster are adjacent: few reads instead of thousands
    indices = np.empty((len(queries), k), dtype=np.int32)
    squared = np.empty((len(queries), k), dtype=np.float32)

    def search(cluster: int) -> None:
        rows, near = asked[cluster], around[cluster]
        if not len(rows):
            return
        near = near[: np.searchsorted(np.cumsum(sizes[near]), wanted) + 1]
        compared = [slice(ends[c] - sizes[c], ends[c]) for c in near]
        if sizes[near].sum() < k:  # the clusters around are almost empty
            compared = [slice(0, len(C))]
        own = (
            C[ends[cluster] - sizes[cluster] : ends[cluster]] if asked is members else as_float32(queries[rows]) @ axes
        )
        # Around the cluster's own middle: in float32 the squared norms of rows far from the origin hide the distance
        # between them.
        middle = own.mean(axis=0)
        others = np.concatenate([C[part] for part in compared])
        others -= middle
        squared[rows], found = nearest_of_block(own - middle, others, k)
        indices[rows] = np.concatenate([places[part] for part in compared])[found]

    map_threads(search, range(len(centers)))
    return indices, squared


def _leading_axes(X: Array, *, n_rows: int = 4096) -> Array:
    """Leading directions, (width, at most `SEARCH_WIDTH`), of at most `n_rows` evenly spaced rows."""
    rows = np.asarray(X[:: -(-len(X) // n_rows)], dtype=np.float64)
    return principal_directions(rows, max_rank=SEARCH_WIDTH)[1].astype(np.float32)


def _project(X: Array, axes: Array, places: Codes | None = None) -> Array:
    """Rows in the given directions, in float32; in the order of `places` if given."""
    Z = np.empty((len(X), axes.shape[1]), dtype=np.float32)

    def fill(rows: slice) -> None:
        np.matmul(as_float32(X[rows] if places is None else X[places[rows]]), axes, out=Z[rows])

    map_threads(fill, row_blocks(X))
    return Z


@dataclass(frozen=True, slots=True, eq=False)
class _Clusters:
    """Centres of clusters, in the `CLUSTER_WIDTH` leading directions, group by group."""

    groups: Array  # (n_groups, width) centres of the groups
    centers: list[Array]  # (n_clusters_g, width) per group


def _find_clusters(faiss: ModuleType, C: Array, *, rows_each: int = 20) -> _Clusters:
    """k-means on evenly spaced rows, `rows_each` per cluster: first into groups, then within each group.

    A row is then compared with the centres of the groups and of a few groups' clusters, not of all clusters: the number
    of clusters grows with the rows, so that the time would grow with the square of the rows.
    """
    n_clusters = -(-len(C) // CLUSTER_ROWS)
    some = as_float32(C[:: max(1, len(C) // (rows_each * n_clusters))])
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


def _means(faiss: ModuleType, rows: Array, n_means: int, *, n_steps: int = 5) -> Array:
    """Centres, (n_means, width), of k-means."""
    if n_means == 1:
        return rows.mean(axis=0, keepdims=True)
    means = faiss.Kmeans(
        rows.shape[1], n_means, niter=n_steps, seed=1, min_points_per_centroid=1, max_points_per_centroid=2**30
    )
    means.train(rows)
    return means.centroids


def _by_cluster(faiss: ModuleType, C: Array, clusters: _Clusters) -> list[Codes]:
    """Numbers of the rows of each cluster; clusters in the order of their groups."""
    ends = np.cumsum([len(centers) for centers in clusters.centers])
    cluster = np.zeros(len(C), dtype=np.int32)
    squared = np.full(len(C), np.inf, dtype=np.float32)
    n_near = min(NEAR_GROUPS, len(clusters.groups))
    near = np.vstack([faiss.knn(C[rows], clusters.groups, n_near)[1] for rows in row_blocks(C)])

    def compare(group: tuple[Codes, int]) -> None:
        rows, g = group
        if len(rows):
            distance, nearest = (part[:, 0] for part in faiss.knn(C[rows], clusters.centers[g], 1))
            better = distance < squared[rows]
            squared[rows[better]] = distance[better]
            cluster[rows[better]] = nearest[better] + ends[g] - len(clusters.centers[g])

    for groups in near.T:  # the nearest group of each row, then the next: the nearest centre may be there
        items = list(zip(_split(groups, len(ends)), range(len(ends)), strict=True))
        map_threads(compare, items, first=lambda: faiss.omp_set_num_threads(1))
    return _split(cluster, ends[-1])


def _split(codes: Codes, n_codes: int) -> list[Codes]:
    """Numbers of the rows that have each code, 0 to n_codes - 1."""
    order = np.argsort(codes, kind="stable").astype(np.int32)
    return np.split(order, np.searchsorted(codes[order], np.arange(1, n_codes)))


def as_float32(X: Array) -> Array:
    """Rows as faiss takes them: contiguous float32."""
    return np.ascontiguousarray(X, dtype=np.float32)


def load_faiss() -> ModuleType:
    """The module faiss; an error that names the remedy if it is missing."""
    try:
        import faiss
    except ImportError:
        raise ImportError(FAISS_MISSING) from None
    return faiss
