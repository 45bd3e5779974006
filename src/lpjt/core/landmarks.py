r"""Landmark weights: the quadratic program of Eq. (22)-(23) over a product of capped simplices.

The energy of Eqs. (8)-(9) is quadratic in the weights :math:`w = (\alpha, \beta, ...)`: products of class means, which
are linear in w, plus a diagonal. Its gradient costs O(n d), and the projection onto the constraints (the mean weight of
each class of each domain is :math:`\delta`, and each weight lies in [0, 1]) is exact, so that an accelerated projected
gradient method with the diagonal as its metric needs a few dozen steps. The Frank-Wolfe gap bounds the distance from
the optimum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.core.edges import Graph


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """Solution of Eq. (23) with its certificate."""

    weights: list[Array]  # (n_i,) per domain
    objective: float  # half the energy of Eqs. (8)-(9)
    gap: float  # objective - gap <= optimum <= objective
    n_iter: int
    scale: float = 0.0  # half the energy's diagonal at weights of 1: an objective below its rounding is zero

    @property
    def relative_gap(self) -> float:
        """Gap as a share of the objective."""
        return self.gap / max(self.objective, np.finfo(float).eps * self.scale, np.finfo(float).tiny)


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """1/2 w'Bw over the rows of all domains, stacked; a group is a class of a domain."""

    Z: Sequence[Array]  # embedded rows of each domain
    averages: Sequence[Graph]  # (1 + C, n_i): unweighted averages of the rows of each domain
    transposed: Sequence[Graph]  # of the averages: made once, because scipy checks each new matrix
    K: Array
    diagonal: Array  # (n,)
    group: Codes  # (n,) number of the group of each row
    mass: Array  # (n_groups,) sum of the weights of each group
    offsets: Codes

    def split(self, w: Array) -> list[Array]:
        """Weights of each domain."""
        return np.split(w, self.offsets[1:-1])

    def gradient(self, w: Array) -> Array:
        """Bw, (n,), in O(n d)."""
        parts = self.split(w)
        means = [A @ (Z * part[:, None]) for A, Z, part in zip(self.averages, self.Z, parts, strict=True)]
        pulled = np.einsum("ijc,jcd->icd", self.K, np.array(means))
        low_rank = [(Z * (A_T @ U)).sum(axis=1) for Z, A_T, U in zip(self.Z, self.transposed, pulled, strict=True)]
        return np.concatenate(low_rank) + self.diagonal * w


def solve_landmarks(
    Z: Sequence[Array],
    averages: Sequence[Graph],
    K: Array,
    spread: Sequence[Array],
    groups: Sequence[Codes],
    mass: Array | Codes,
    *,
    start: Sequence[Array] | None = None,
    tol: float = 1e-7,
    max_iter: int = 500,
) -> Landmarks:
    """Minimise half the energy of Eqs. (8)-(9) over the weights.

    Parameters
    ----------
    Z : list of arrays, (n_i, d)
        Embedded rows, domain by domain.
    averages : list of arrays, dense or sparse, (1 + n_classes, n_i)
        `moments.averaging_matrix` with weights 1.
    K : array, (n_domains, n_domains, 1 + n_classes)
        `moments.mmd_coefficients`.
    spread : list of arrays, (n_i,)
        `moments.row_spread` with weights 1.
    groups : list of int arrays, (n_i,)
        Number of the group (class of a domain) of each row; consecutive from 0 over all domains.
    mass : array, (n_groups,)
        Sum of the weights of each group: delta n_c.
    start : list of arrays, (n_i,), optional
        Weights to start from; equal weights within each group by default.
    tol : float
        The method stops once the gap is at most this share of the objective.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    Landmarks

    Notes
    -----
    Eq. (23) prints a zero target block, which is not convex; the energy itself has K_uu, which is kept here.
    """
    rows = [np.asarray(part, dtype=np.float64) for part in Z]
    norms = np.concatenate([(part**2).sum(axis=1) for part in rows])
    diagonal = np.concatenate(spread) * norms
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in rows])])
    group, transposed = np.concatenate(groups), [A.T for A in averages]
    program = _Program(rows, averages, transposed, K, diagonal, group, np.asarray(mass, float), offsets)
    # A row at the origin, or of a class that the other side lacks, has a zero on the diagonal: the floor keeps the
    # metric definite. If the whole diagonal is zero the scale of the marginal term is used, and if that is zero too, 1.
    scale = diagonal.mean() or float(np.mean(norms)) / len(norms) or 1.0
    metric = np.maximum(diagonal, 1e-3 * scale)
    lipschitz = _largest_curvature(program, metric)
    size = np.bincount(program.group, minlength=len(program.mass))
    w = (program.mass / size)[program.group] if start is None else np.concatenate(start)
    w = project_capped(w, program.group, program.mass, metric)
    return _accelerate(program, w, metric * lipschitz, tol, max_iter)


def _accelerate(program: _Program, w: Array, metric: Array, tol: float, max_iter: int) -> Landmarks:
    """FISTA in the given metric, restarted whenever the momentum points uphill."""
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
    return Landmarks(program.split(w), objective, gap, n_iter, float(program.diagonal.sum()) / 2)


def project_capped(v: Array, group: Codes, mass: Array, metric: Array) -> Array:
    r"""Nearest point, in the metric, with weights in [0, 1] that sum to `mass` in each group.

    The solution is ``clip(v - tau_g / metric, 0, 1)`` with one multiplier per group, the root of a piecewise linear,
    decreasing function: Newton steps inside a bracket, for all groups at once, O(n) each.
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


def lowest_vertex(gradient: Array, group: Codes, mass: Array) -> Array:
    """Feasible point with the smallest product with the gradient: each group's mass goes to its smallest entries."""
    order = np.lexsort((gradient, group))
    size = np.bincount(group, minlength=len(mass))
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    place = np.empty(len(group))
    place[order] = np.arange(len(group)) - first[group[order]]
    return np.clip(mass[group] - place, 0.0, 1.0)


def _largest_curvature(program: _Program, metric: Array, n_steps: int = 15) -> float:
    """Largest eigenvalue of the program in the metric, plus a margin, by power iteration from a fixed start."""
    root = 1.0 / np.sqrt(metric)
    x = np.ones(len(metric)) + 0.1 * np.cos(np.arange(len(metric)))
    largest = 1.0
    for _ in range(n_steps):
        x = x / max(float(np.linalg.norm(x)), np.finfo(float).tiny)
        x = root * program.gradient(root * x)
        largest = float(np.linalg.norm(x))
    return 1.1 * largest or 1.0  # rows all at the origin: any step will do
