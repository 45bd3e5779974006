"""The approximate search for nearest rows: clusters, by faiss, and products of the rows of those that are near."""

from dataclasses import dataclass

import numpy as np

from lpjt._threads import map_threads
from lpjt.core.blocks import row_blocks
from lpjt.core.directions import principal_directions

#: The approximate search makes clusters of so many rows, by so many leading directions, and compares each row, in so
#: many directions, with the rows of the clusters nearest to its own, so many rows in all; fewer where rows are narrow.
#: The tests hold it to 95 % of the nearest rows, on full MNIST too.
CLUSTER_ROWS, CLUSTER_WIDTH, SEARCH_WIDTH, COMPARED, COMPARED_NARROW = 128, 32, 192, 6144, 4096

#: More clusters than these are made in groups, and a row's own is sought in so many groups.
FEW_CLUSTERS, NEAR_GROUPS = 256, 3

FAISS_MISSING = (
    "neighbors='approximate' needs faiss. Install it with `pip install lpjt[faiss]`, or set neighbors='exact'."
)


def nearest_by_clusters(queries, candidates, k):
    """Approximate search: clusters of candidates; a row is compared with its own cluster and those around it.

    All rows of one cluster are searched together, as one product of matrices. Returns places and squared distances,
    (n_queries, k) each, nearest first; distances are those in the leading `SEARCH_WIDTH` directions, in float32.
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
        own = (
            C[ends[cluster] - sizes[cluster] : ends[cluster]] if asked is members else as_float32(queries[rows]) @ axes
        )
        squared[rows], found = faiss.knn(own, np.concatenate([C[part] for part in compared]), k)
        indices[rows] = np.concatenate([places[part] for part in compared])[found]

    # One thread of faiss's own in each of ours: two share the product of a cluster badly.
    map_threads(search, range(len(centers)), first=lambda: faiss.omp_set_num_threads(1))
    return indices, np.maximum(squared, 0.0)


def _leading_axes(X, *, n_rows=4096):
    """Principal directions, (width, at most `SEARCH_WIDTH`), of a spread of rows."""
    rows = np.asarray(X[:: -(-len(X) // n_rows)], dtype=np.float64)
    return principal_directions(rows, max_rank=SEARCH_WIDTH)[1].astype(np.float32)


def _project(X, axes, places=None):
    """Rows in the given directions, in float32; in the order of `places` where these are given."""
    Z = np.empty((len(X), axes.shape[1]), dtype=np.float32)

    def fill(rows):
        np.matmul(as_float32(X[rows] if places is None else X[places[rows]]), axes, out=Z[rows])

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


def as_float32(X):
    """Rows as faiss takes them."""
    return np.ascontiguousarray(X, dtype=np.float32)


def load_faiss():
    """The module faiss; an error with the remedy where it is missing."""
    try:
        import faiss
    except ImportError:
        raise ImportError(FAISS_MISSING) from None
    return faiss
