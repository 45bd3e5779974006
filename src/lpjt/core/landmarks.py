r"""Landmark weights: the quadratic program of Eq. (22)-(23) over a product of capped simplices.

The energy of Eqs. (8)-(9) is quadratic in the weights :math:`w = (\alpha, \beta, ...)`: products of class means, which
are linear in w, plus a diagonal. Its gradient costs O(n d), and the constraints (each class of each domain has mean
weight :math:`\delta`, each weight lies in [0, 1]) have an exact projection, so that an accelerated projected gradient
with the diagonal as its metric needs a few dozen such steps. The Frank-Wolfe gap bounds the distance from the optimum.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """Solution of Eq. (23) with its certificate."""

    weights: list  # one array, (n_i,), for each domain
    objective: float  # half the energy of Eqs. (8)-(9)
    gap: float  # objective - gap <= optimum <= objective
    n_iter: int


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """1/2 w'Bw over rows of all domains stacked; groups are the classes of the domains."""

    Z: list  # embedded rows of each domain
    averages: list  # sparse (1 + C, n_i): unweighted averaging of each domain's rows
    K: np.ndarray
    diagonal: np.ndarray  # (n,)
    group: np.ndarray  # (n,) number of the (domain, class) of each row
    mass: np.ndarray  # (n_groups,) what the weights of a group sum to
    offsets: np.ndarray

    def split(self, w):
        return np.split(w, self.offsets[1:-1])

    def gradient(self, w):
        parts = self.split(w)
        means = [A @ (Z * part[:, None]) for A, Z, part in zip(self.averages, self.Z, parts, strict=True)]
        pulled = np.einsum("ijc,jcd->icd", self.K, np.array(means))
        low_rank = [(Z * (A.T @ U)).sum(axis=1) for Z, A, U in zip(self.Z, self.averages, pulled, strict=True)]
        return np.concatenate(low_rank) + self.diagonal * w


def solve_landmarks(Z, averages, K, spread, groups, mass, *, start=None, tol=1e-7, max_iter=500):
    """Minimise half the energy of Eqs. (8)-(9) over the weights.

    Parameters
    ----------
    Z : list of arrays, (n_i, d)
        Embedded rows, domain by domain.
    averages : list of sparse arrays, (1 + n_classes, n_i)
        `moments.averaging_matrix` with weights 1.
    K : array, (n_domains, n_domains, 1 + n_classes)
        `moments.mmd_coefficients`.
    spread : list of arrays, (n_i,)
        `moments.row_spread` with weights 1.
    groups : list of int arrays, (n_i,)
        Number of the group (class of a domain) of each row; consecutive from 0 over all domains.
    mass : array, (n_groups,)
        What the weights of each group sum to: delta n_c.
    start : list of arrays, optional
        Weights to start from.
    tol : float
        Stops when the gap is below this share of the objective.

    Returns
    -------
    Landmarks

    Notes
    -----
    Eq. (23) prints a zero target block, which is not convex; the energy itself has K_uu, which is kept here.
    """
    Z = [np.asarray(rows, dtype=np.float64) for rows in Z]
    norms = np.concatenate([(rows**2).sum(axis=1) for rows in Z])
    diagonal = np.concatenate(spread) * norms
    offsets = np.concatenate([[0], np.cumsum([len(rows) for rows in Z])])
    program = _Program(Z, averages, K, diagonal, np.concatenate(groups), np.asarray(mass, float), offsets)
    # A row at the origin, or of a class without a partner, has no diagonal: the floor keeps the metric one. Without
    # any diagonal only the scale of the marginal term is left, and without that any positive number will do.
    scale = diagonal.mean() or float(np.mean(norms)) / len(norms) or 1.0
    metric = np.maximum(diagonal, 1e-3 * scale)
    lipschitz = _largest_curvature(program, metric)
    size = np.bincount(program.group, minlength=len(program.mass))
    w = (program.mass / size)[program.group] if start is None else np.concatenate(start)
    w = project_capped(w, program.group, program.mass, metric)
    return _accelerate(program, w, metric * lipschitz, tol, max_iter)


def _accelerate(program, w, metric, tol, max_iter):
    """FISTA in the given metric, started afresh whenever the momentum points uphill."""
    ahead, momentum = w, 1.0
    objective = gap = np.inf
    n_iter = 0
    for n_iter in range(1, max_iter + 1):
        new = project_capped(ahead - program.gradient(ahead) / metric, program.group, program.mass, metric)
        if ((ahead - new) * metric) @ (new - w) > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / following * (new - w)
        w, momentum = new, following
        if n_iter % 10 == 0 or n_iter == max_iter:
            gradient = program.gradient(w)
            objective = float(w @ gradient) / 2
            gap = float(gradient @ (w - lowest_vertex(gradient, program.group, program.mass)))
            if gap <= tol * max(objective, np.finfo(float).tiny):
                break
    return Landmarks(program.split(w), objective, gap, n_iter)


def project_capped(v, group, mass, metric):
    r"""Nearest point, in the metric, with weights in [0, 1] that sum to `mass` in each group.

    The solution is ``clip(v - tau_g / metric, 0, 1)`` with one multiplier a group, the root of a piecewise linear,
    decreasing function: Newton steps inside a bracket, all groups at once, O(n) each.
    """
    n_groups = len(mass)
    inverse = 1.0 / metric
    high = np.full(n_groups, -np.inf)
    low = np.full(n_groups, np.inf)
    np.maximum.at(high, group, v * metric)
    np.minimum.at(low, group, (v - 1) * metric)
    tau = np.clip(np.zeros(n_groups), low, high)
    for _ in range(100):
        raw = v - tau[group] * inverse
        clipped = np.clip(raw, 0.0, 1.0)
        excess = np.bincount(group, clipped, n_groups) - mass
        if np.all(np.abs(excess) <= 1e-13 * np.maximum(mass, 1.0)):
            break
        low, high = np.where(excess > 0, tau, low), np.where(excess < 0, tau, high)
        slope = np.bincount(group, np.where((raw > 0) & (raw < 1), inverse, 0.0), n_groups)
        newton = tau + np.divide(excess, slope, out=np.full(n_groups, np.inf), where=slope > 0)
        inside = (newton > low) & (newton < high)
        tau = np.where(excess == 0, tau, np.where(inside, newton, (low + high) / 2))
    return clipped


def lowest_vertex(gradient, group, mass):
    """Feasible point of the smallest product with the gradient: each group's mass on its smallest entries."""
    order = np.lexsort((gradient, group))
    size = np.bincount(group, minlength=len(mass))
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    place = np.empty(len(group))
    place[order] = np.arange(len(group)) - first[group[order]]
    return np.clip(mass[group] - place, 0.0, 1.0)


def _largest_curvature(program, metric, n_steps=15):
    """Largest eigenvalue of the program in the metric, by power iteration from a fixed start, with a margin."""
    root = 1.0 / np.sqrt(metric)
    x = np.ones(len(metric)) + 0.1 * np.cos(np.arange(len(metric)))
    largest = 1.0
    for _ in range(n_steps):
        x = x / max(float(np.linalg.norm(x)), np.finfo(float).tiny)
        x = root * program.gradient(root * x)
        largest = float(np.linalg.norm(x))
    return 1.1 * largest or 1.0  # rows all at the origin: any step will do
