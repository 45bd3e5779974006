"""First labels where widths differ and no target row is labelled: match the shapes of the domains."""

import numpy as np
from scipy.optimize import quadratic_assignment
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.cluster import KMeans

from lpjt.core.directions import principal_directions


def guess_spectral(X_source, y_source, X_target, *, n_classes, random_state, n_trials=10):
    """Cluster the target and match its clusters to the source's classes by the distances among their centres.

    Both domains are reduced to their leading directions, the target to as many clusters as the source has classes; the
    assignment whose matrix of distances among centres agrees best with that among class means (a quadratic assignment
    over the classes, not over rows) names the clusters.

    Parameters
    ----------
    X_source : array, (n_source, width)
    y_source : int array, (n_source,)
    X_target : array, (n_target, other width)
    n_classes : int
    random_state : numpy RandomState
    n_trials : int
        Clusterings, each with its best assignment; the best of all is returned.

    Returns
    -------
    array, (n_target, n_classes)
        Soft distributions, by distance to the named centres.
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


def guess_gromov(X_source, y_source, X_target, *, n_classes, random_state, max_rows=500):
    """Gromov-Wasserstein plan between samples of the domains' rows, by POT; labels follow the plan.

    `max_rows` rows of each domain at most are matched, so that no matrix grows with n; the others take the label of
    the nearest matched row. Returns distributions, (n_target, n_classes).
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


def _leading(X, rank):
    """Rows about their mean, in at most `rank` leading directions, in float64."""
    centred = np.asarray(X - X.mean(axis=0), dtype=np.float64)
    return centred @ principal_directions(centred, max_rank=rank, floor=1e-12)[1]


def _relative(D):
    return D / (float(D.mean()) or 1.0)


def _assign(A, B, random_state):
    """Order of B's points that makes its distances most like A's, and the cost."""
    n = len(A)
    padded = np.zeros_like(A)
    padded[: len(B), : len(B)] = B  # fewer clusters than classes: the rest match nothing
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
