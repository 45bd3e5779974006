"""First labels if widths differ and no target row is labelled: a guess from the shapes of the domains."""

import numpy as np
from scipy.optimize import quadratic_assignment
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.cluster import KMeans

from lpjt._typing import Array, Codes
from lpjt.core.directions import principal_directions


def guess_spectral(
    X_source: Array,
    y_source: Codes,
    X_target: Array,
    *,
    n_classes: int,
    random_state: np.random.RandomState,
    n_trials: int = 10,
) -> Array:
    """Cluster the target, and match its clusters to the classes of the source by the distances between their centres.

    The target is reduced to its leading directions and divided into as many clusters as the source has classes. The
    labels of the clusters are those for which the distances between their centres agree best with the distances between
    class means: a quadratic assignment over the classes, not over rows.

    Parameters
    ----------
    X_source : array, (n_source, width)
    y_source : int array, (n_source,)
    X_target : array, (n_target, other width)
    n_classes : int
    random_state : numpy RandomState
    n_trials : int
        Number of clusterings, each with its best assignment; the best of all is returned.

    Returns
    -------
    array, (n_target, n_classes)
        Distributions by the distances to the centres.
    """
    present = np.unique(y_source[y_source >= 0])
    means = np.array([X_source[y_source == c].mean(axis=0) for c in present])
    A = _relative(squareform(pdist(means)))
    Z = _leading(X_target, max(len(present), 2))
    centres, order, best_cost = Z[:0], np.empty(0, dtype=int), np.inf
    for _ in range(n_trials):
        seed = random_state.randint(2**31 - 1)
        k = min(len(present), len(Z))
        found = KMeans(n_clusters=k, n_init=3, random_state=seed).fit(Z).cluster_centers_
        assignment, cost = _assign(A, _relative(squareform(pdist(found))), random_state)
        if cost < best_cost:
            centres, order, best_cost = found, assignment, cost
    squared = cdist(Z, centres, "sqeuclidean")
    nearest = max(float(squared.min(axis=1).mean()), 1e-12 * float(squared.max()), np.finfo(float).tiny)
    closeness = np.exp(-np.minimum(squared / (2 * nearest), 500.0)) + 1e-12
    F = np.zeros((len(Z), n_classes))
    for place, cluster in enumerate(order):
        if cluster < len(centres):
            F[:, present[place]] = closeness[:, cluster]
    return F / F.sum(axis=1, keepdims=True)


def guess_gromov(
    X_source: Array,
    y_source: Codes,
    X_target: Array,
    *,
    n_classes: int,
    random_state: np.random.RandomState,
    max_rows: int = 500,
) -> Array:
    """Labels by a Gromov-Wasserstein plan between samples of the rows of both domains, computed by POT.

    At most `max_rows` rows of each domain are matched, so that no matrix grows with n; the other rows take the
    distribution of the nearest matched row. Returns distributions, (n_target, n_classes).
    """
    try:
        import ot
    except ImportError as error:
        raise ImportError(
            "`POT` is needed for start='gromov'. Install it with `pip install 'lpjt[ot]'`, or use start='spectral'."
        ) from error
    source = np.sort(random_state.permutation(len(X_source))[:max_rows])
    target = np.sort(random_state.permutation(len(X_target))[:max_rows])
    C_s, C_t = (_relative(squareform(pdist(X[rows]))) for X, rows in ((X_source, source), (X_target, target)))
    plan = ot.gromov.gromov_wasserstein(C_s, C_t, symmetric=True, max_iter=200)
    F = plan.T @ np.eye(n_classes)[y_source[source]]
    F = F / np.maximum(F.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    nearest = cdist(X_target, X_target[target]).argmin(axis=1) if len(target) < len(X_target) else slice(None)
    return F[nearest]


def _leading(X: Array, rank: int) -> Array:
    """Rows about their mean, in at most `rank` leading directions, in float64."""
    centred = np.asarray(X - X.mean(axis=0), dtype=np.float64)
    return centred @ principal_directions(centred, max_rank=rank, floor=1e-12)[1]


def _relative(D: Array) -> Array:
    """Distances as multiples of their mean."""
    return D / (float(D.mean()) or 1.0)


def _assign(A: Array, B: Array, random_state: np.random.RandomState) -> tuple[Codes, float]:
    """Order of B's points in which its distances are most similar to A's, and the remaining squared difference."""
    n = len(A)
    padded = np.zeros_like(A)
    padded[: len(B), : len(B)] = B  # with fewer clusters than classes, the other classes have none
    generator = np.random.default_rng(random_state.randint(2**31 - 1))
    best, best_cost = np.arange(n), np.inf
    for trial in range(5):
        start = "barycenter" if trial == 0 else "randomized"
        options = {"maximize": True, "P0": start, "rng": generator}
        order = quadratic_assignment(A, padded, method="faq", options=options).col_ind
        refined = {
            "maximize": True,
            "partial_guess": np.column_stack([np.arange(n), order]),
            "rng": generator,
        }
        order = quadratic_assignment(A, padded, method="2opt", options=refined).col_ind
        cost = float(((A - padded[np.ix_(order, order)]) ** 2).sum())
        if cost < best_cost:
            best, best_cost = order, cost
    return best, best_cost
