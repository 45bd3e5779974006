"""What the tests of the core share: small shifted domains, and the core's way from labels to matrices."""

import numpy as np
from scipy import linalg, optimize, sparse

import oracles
from lpjt.core import landmarks, moments, propagation
from lpjt.core.objective import Settings, objective_matrices, prepare
from lpjt.core.projection import RIDGE


def blobs(rng, n, width, n_classes, *, noise=0.6, shift=0.0):
    """Rows around class centres at distance 2 or so from each other, labels in turn: (X, y)."""
    centres = 1.5 * np.random.default_rng(100 + width).normal(size=(n_classes, width))
    y = np.arange(n) % n_classes
    return centres[y] + noise * rng.normal(size=(n, width)) + shift, y


def plain_scaling(X, kind):
    """The kinds of scaling in numpy alone."""
    if kind == "none":
        return X
    if kind == "paper" and X.min() >= 0:
        X = X / X.sum(axis=1, keepdims=True)
    if kind in ("standard", "paper"):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    if kind == "standard":
        X = np.clip(X, -3, 3)
    return X / np.sqrt((X**2).sum(axis=1, keepdims=True))


def raw_rows(seed=0, n=40, width=5, positive=False):
    """Rows away from the origin, one of them far out."""
    X = np.random.default_rng(seed).normal(2.0, 3.0, size=(n, width))
    X[0] *= 20  # something to cut
    return np.abs(X) if positive else X


def settings(**changes):
    """Choices under which the core and the oracles mean the same: bandwidth 1, no landmarks unless asked."""
    weights = {"locality_weight": 0.3, "variance_weight": 0.7, "coupling_weight": 0.5, "landmark_ratio": None}
    graphs = {"n_neighbors": 3, "graph_weights": "heat", "bandwidth": 1.0, "search": "exact"}
    return Settings(**({"n_components": 3} | weights | graphs | changes))


def objective(problem, choice, labels, weights):
    """S_max and S_min of one iteration."""
    workspace = prepare(problem, choice)
    return objective_matrices(problem, choice, workspace, labels, weights, choice.landmark_ratio or 1.0)


def oracle_graphs(X, y, choice):
    """W_w and W_b by the oracle."""
    arguments = (X, y, choice.n_neighbors, choice.graph_weights, choice.bandwidth)
    return oracles.within_graph(*arguments), oracles.between_graph(*arguments)


def oracle_propagation(n_classes, *, n_neighbors, proportions=None, bandwidth=1.0):
    """A `classify` for one source and one target on the oracle's graph, with the core's harmonic solution."""

    def classify(Z, known, weights):
        clamped = known[1] >= 0
        rows = np.vstack([Z[0], Z[1][clamped], Z[1][~clamped]])
        W = sparse.csr_array(oracles.nearest_graph(rows, n_neighbors, bandwidth=bandwidth))
        codes = np.concatenate([known[0], known[1][clamped]])
        is_known = np.arange(len(rows)) < len(codes)
        Y = np.zeros((len(rows), n_classes))
        Y[np.arange(len(codes)), codes] = 1
        F = np.zeros((len(Z[1]), n_classes))
        F[~clamped] = propagation.harmonic_labels(W, Y, is_known, tol=1e-12)
        if proportions is not None:
            F[~clamped] = propagation.normalise_class_mass(F[~clamped], proportions)
        F[clamped] = np.eye(n_classes)[known[1][clamped]]
        return [F]

    return classify


def heat_graph(seed=0, n=60, n_labelled=20, n_classes=3, k=5, bandwidth=1.0):
    """A heat graph whose first rows are labelled: (W dense, Y of the labelled rows)."""
    rng = np.random.default_rng(seed)
    W = oracles.nearest_graph(rng.normal(size=(n, 3)), k, bandwidth=bandwidth)
    return W, oracles.one_hot(np.arange(n_labelled) % n_classes, n_classes)


def harmonic(W, Y, n_labelled, **options):
    """The core's solution, with rows of rubbish below the labelled ones: they must not be read."""
    all_rows = np.vstack([Y, np.full((len(W) - n_labelled, Y.shape[1]), 7.0)])
    return propagation.harmonic_labels(sparse.csr_array(W), all_rows, np.arange(len(W)) < n_labelled, **options)


def embedded(seed=0):
    """30 known rows, their one-hot labels, and 25 unknown rows."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(30, 4)), oracles.one_hot(rng.integers(0, 3, size=30), 3), rng.normal(size=(25, 4))


def nearest_mean(n_classes):
    """A `classify` for any domains: one-hot of the nearest mean of the rows of known label."""

    def classify(Z, known, weights):
        rows, codes = np.vstack(Z), np.concatenate(known)
        means = np.array([rows[codes == c].mean(axis=0) for c in range(n_classes)])
        distances = [((z[:, None] - means) ** 2).sum(axis=2) for z in Z]
        # A domain with an unlabelled row is a target here.
        return [np.eye(n_classes)[d.argmin(axis=1)] for d, y in zip(distances, known, strict=True) if (y < 0).any()]

    return classify


def landmark_program(Z, labels, is_target, *, n_classes, ratio, cross=2.0):
    """Arguments of `solve_landmarks`: a group for each class of each domain, and for its unlabelled rows."""
    counts = [np.bincount(y[y >= 0], minlength=n_classes) for y in labels]
    ones = [np.ones(len(y)) for y in labels]
    K = moments.mmd_coefficients(counts, is_target, conditional_cross=cross)
    averages = [moments.averaging_matrix(y, w, c, ratio) for y, w, c in zip(labels, ones, counts, strict=True)]
    spread = [
        moments.row_spread(y, w, c, K[i, i, 1:], landmark_ratio=ratio)
        for i, (y, w, c) in enumerate(zip(labels, ones, counts, strict=True))
    ]
    group = np.unique(np.concatenate([y + 100 * i for i, y in enumerate(labels)]), return_inverse=True)[1]
    groups = np.split(group, np.cumsum([len(y) for y in labels])[:-1])
    return Z, averages, K, spread, groups, ratio * np.bincount(group)


def solve(Z, labels, is_target=(False, True), *, n_classes, ratio, cross=2.0, **options):
    """Landmark weights, stacked, and the solution."""
    program = landmark_program(Z, labels, is_target, n_classes=n_classes, ratio=ratio, cross=cross)
    marks = landmarks.solve_landmarks(*program, **options)
    return np.concatenate(marks.weights), marks


def embedded_pair(seed=0, n_source=40, n_target=30, n_classes=3, d=4, shift=0.5):
    """Embedded rows of a source and a target, every row labelled."""
    rng = np.random.default_rng(seed)
    y = [rng.integers(0, n_classes, size=n_source), rng.integers(0, n_classes, size=n_target)]
    centres = rng.normal(size=(n_classes, d))
    return [
        centres[y[0]] + rng.normal(size=(n_source, d)),
        centres[y[1]] + shift + rng.normal(size=(n_target, d)),
    ], y


def capped_reference(v, group, mass, metric):
    """min sum metric (x - v)^2, class by class, by bisection on the multiplier."""
    x = np.empty_like(v)
    for g in range(len(mass)):
        rows = group == g

        def excess(tau, rows=rows, total=mass[g]):
            return np.clip(v[rows] - tau / metric[rows], 0, 1).sum() - total

        span = 2 * (np.abs(v[rows]).max() + 1) * metric[rows].max()
        tau = optimize.brentq(excess, -span, span, xtol=1e-14, rtol=1e-14)
        x[rows] = np.clip(v[rows] - tau / metric[rows], 0, 1)
    return x


def random_pair(seed=0, width=12, rank=12, rank_min=None):
    """S_max of the given rank, S_min of full rank (or of `rank_min`), neither with axes of its own."""
    rng = np.random.default_rng(seed)
    C, D = rng.normal(size=(rank, width)), rng.normal(size=(rank_min or 3 * width, width))
    return C.T @ C, D.T @ D


def with_ridge(S_min, ridge=RIDGE):
    """S_min as the solver takes it."""
    return S_min + ridge * np.trace(S_min) / len(S_min) * np.eye(len(S_min))


def domain_pair(*, width=260, leading_rank=None, seed=0):
    """S_max of two domains that it does not join, and S_min that joins them."""
    _, S_min = random_pair(width=2 * width, seed=seed)
    first, rest = (random_pair(width=width, rank=rank or width, seed=seed)[0] for rank in (leading_rank, None))
    return linalg.block_diag(first, rest), S_min
