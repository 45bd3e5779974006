r"""Algorithm 1 as the paper prints it, with n x n matrices: what a direct transcription costs.

It shares no code with `lpjt.core` and has the same parameters as the LPJT it is compared with: unit rows, heat weights
whose bandwidth is the mean squared length of the edges, harmonic labels with class-mass normalisation, a coupling
:math:`\|A - B\|^2`, and the two corrections without which the printed equations have no solution (the sign of M_su in
Eq. (13), the target block of Eq. (23)). For one source and one target of the same width; every matrix is dense, the
quadratic program is PIQP's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

Array = np.ndarray

#: Share of the mean diagonal of S_min that is added to it.
_RIDGE = 1e-9


@dataclass(frozen=True, slots=True)
class Setting:
    """Parameters of the paper, in words."""

    n_components: int = 20
    locality_weight: float = 0.0005
    variance_weight: float = 0.1
    coupling_weight: float = 1.0
    landmarks: bool = True
    landmark_ratio: float = 0.5
    n_neighbors: int = 5
    propagation_neighbors: int = 15
    max_iter: int = 10


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Labels of the target and how many iterations they took."""

    labels: np.ndarray  # (n_target,)
    n_iter: int
    weights: np.ndarray  # (n_source + n_target,)


def fit_dense(X_source: Array, y_source: Array, X_target: Array, setting: Setting) -> Answer:
    """Run Algorithm 1 until neither labels nor weights change, for at most `max_iter` iterations.

    Parameters
    ----------
    X_source, X_target : arrays, (n_source, width) and (n_target, width)
    y_source : int array, (n_source,)
        Codes from 0.
    setting : Setting

    Returns
    -------
    Answer
    """
    X = [_unit_rows(np.asarray(part, dtype=np.float64)) for part in (X_source, X_target)]
    n_classes, n_source, n = int(y_source.max()) + 1, len(y_source), len(X_source) + len(X_target)
    stacked = linalg.block_diag(*X)  # (n, 2 width)
    ratio = setting.landmark_ratio if setting.landmarks else 1.0
    y_target = propagate(np.vstack(X), y_source, n_classes, setting.propagation_neighbors)
    weights = np.full(n, ratio)
    answer = Answer(y_target, 0, weights)
    for n_iter in range(1, setting.max_iter + 1):
        y = np.concatenate([y_source, y_target])
        S_max, S_min = _objective(X, stacked, y, weights, ratio, setting)
        P = _eigenvectors(S_max, S_min, setting.n_components)  # Eq. (21)
        Z = stacked @ P
        new_target = propagate(Z, y_source, n_classes, setting.propagation_neighbors)
        new_weights = weights
        if setting.landmarks:
            new_weights = landmark_weights(Z, np.concatenate([y_source, new_target]), n_source, ratio)  # Eq. (23)
        moved = max(np.abs(new_weights - weights)[part].mean() for part in (slice(n_source), slice(n_source, None)))
        steady = np.array_equal(new_target, y_target) and moved <= 1e-2
        y_target, weights = new_target, new_weights
        answer = Answer(y_target, n_iter, weights)
        if steady:
            break
    return answer


def mmd_matrix(y: Array, n_source: int, ratio: float = 1.0) -> Array:
    """M_0 + sum of M_c of Eqs. (10)-(13) for weights of one, (n, n): dense, one class at a time."""
    n = len(y)
    is_source = np.arange(n) < n_source
    side = np.where(is_source, 1.0 / n_source, -1.0 / (n - n_source)) / ratio
    M = np.outer(side, side)
    for c in np.unique(y[is_source]):
        of_class = y == c
        in_source, in_target = of_class & is_source, of_class & ~is_source
        if not in_target.any():
            continue
        a, b = in_source / (ratio * in_source.sum()), in_target / (ratio * in_target.sum())
        M += np.outer(a, a) + np.outer(b, b) - 2 * np.outer(a, b) - 2 * np.outer(b, a)
        # The second part of Eq. (9) is a sum over rows: a diagonal.
        spread = in_source / (ratio**2 * in_source.sum()) + in_target / (ratio**2 * in_target.sum())
        M[np.diag_indices(n)] += spread
    return M


def class_laplacians(X: Array, y: Array, n_neighbors: int) -> tuple[Array, Array]:
    """L_w and L_b of Eqs. (14)-(15), (n, n) each, from all distances."""
    squared = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)  # a row is not its own neighbour
    same = y[:, None] == y
    within, between = (_heat_graph(np.where(mask, squared, np.inf), n_neighbors) for mask in (same, ~same))
    return _laplacian(within), _laplacian(between)


def propagate(Z: Array, y_source: Array, n_classes: int, n_neighbors: int) -> Array:
    """Harmonic labels, (n_target,), of the rows after the source's, classes in the source's proportions."""
    Z = _unit_rows(Z)
    squared = cdist(Z, Z, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    L = _laplacian(_heat_graph(squared, n_neighbors))
    n = len(y_source)
    Y = np.eye(n_classes)[y_source]
    system = L[n:, n:]
    # Rows that no path joins to the source have a singular block: the ridge leaves them at zero.
    system[np.diag_indices(len(system))] *= 1 + 1e-12
    F = np.maximum(np.linalg.solve(system, -L[n:, :n] @ Y), 0.0)
    total = F.sum(axis=0)
    F = F * np.divide(Y.mean(axis=0), total, out=np.zeros(n_classes), where=total > 0)
    return F.argmax(axis=1)


def landmark_weights(Z: Array, y: Array, n_source: int, ratio: float) -> Array:
    """Solution of Eq. (23), (n,): each class of each domain has mean weight `ratio`, each weight lies in [0, 1]."""
    try:
        import piqp
    except ImportError as error:
        raise ImportError(
            "`piqp` is needed for the dense transcription. Install it with `pip install 'lpjt[bench]'`."
        ) from error
    n = len(y)
    B = mmd_matrix(y, n_source, ratio) * (Z @ Z.T)
    B /= B.diagonal().mean()  # the minimiser does not depend on the scale, the solver's tolerances do
    group = y + (np.arange(n) >= n_source) * (y.max() + 1)
    membership = (group == np.unique(group)[:, None]).astype(float)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = 1e-6
    solver.settings.eps_rel = 1e-6
    bounds = {"x_l": np.zeros(n), "x_u": np.ones(n)}
    solver.setup(B, np.zeros(n), A=membership, b=ratio * membership.sum(axis=1), **bounds)
    status = solver.solve()
    if status != piqp.PIQP_SOLVED:
        raise RuntimeError(f"PIQP ended with {status} on Eq. (23) of {n} rows.")
    return np.clip(solver.result.x, 0.0, 1.0)


def _objective(
    X: Sequence[Array], stacked: Array, y: Array, weights: Array, ratio: float, setting: Setting
) -> tuple[Array, Array]:
    """Denominator and numerator of Eq. (16), (2 width, 2 width), by products with (n, n) matrices."""
    n_source, width = len(X[0]), X[0].shape[1]
    gamma, mu = setting.locality_weight, setting.variance_weight
    parts = [(X[0], y[:n_source]), (X[1], y[n_source:])]
    within, between = zip(*(class_laplacians(rows, labels, setting.n_neighbors) for rows, labels in parts), strict=True)
    n_target = len(X[1])
    centring = np.eye(n_target) - 1.0 / n_target
    M = mmd_matrix(y, n_source, ratio) * np.outer(weights, weights)
    S_min = stacked.T @ (M + gamma * linalg.block_diag(*within)) @ stacked
    eye, zero = np.eye(width), np.zeros((width, width))
    S_min += setting.coupling_weight * np.block([[eye, -eye], [-eye, eye]]) + mu * linalg.block_diag(zero, eye)
    S_max = stacked.T @ linalg.block_diag(gamma * between[0], gamma * between[1] + mu * centring) @ stacked
    return (S_max + S_max.T) / 2, (S_min + S_min.T) / 2


def _eigenvectors(S_max: Array, S_min: Array, n_components: int) -> Array:
    """Leading solutions of ``S_max p = phi S_min p``, (2 width, n_components)."""
    width = len(S_max)
    S_min[np.diag_indices(width)] += _RIDGE * np.trace(S_min) / width
    first = max(width - n_components, 0)
    return linalg.eigh(S_max, S_min, subset_by_index=(first, width - 1))[1][:, ::-1]


def _heat_graph(squared: Array, n_neighbors: int) -> Array:
    """Symmetric heat weights, (n, n), of the nearest rows at finite distance; `squared` holds the squared distances."""
    n = len(squared)
    k = min(n_neighbors, n - 1)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :k]
    lengths = np.take_along_axis(squared, nearest, axis=1)
    edges = np.isfinite(lengths)
    W = np.zeros((n, n))
    rows = np.broadcast_to(np.arange(n)[:, None], nearest.shape)
    bandwidth = max(lengths[edges].mean(), np.finfo(float).tiny) if edges.any() else 1.0
    W[rows[edges], nearest[edges]] = np.exp(-lengths[edges] / (2 * bandwidth))
    return np.maximum(W, W.T)


def _laplacian(W: Array) -> Array:
    return np.diag(W.sum(axis=1)) - W


def _unit_rows(X: Array) -> Array:
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1.0)
