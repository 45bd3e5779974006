r"""The steps of PUnDA's alternation: latent means, factors, relevances, noise and a margin classifier.

Rows of domain d are :math:`x = W_d z + \epsilon`, centred, :math:`z \sim N(0, I)`,
:math:`\epsilon \sim N(0, \sigma_d^2 I)`, and column k of both factors :math:`W_d` has entries of variance
:math:`1 / a_k`. The posteriors are Gaussian: each z has the precision :math:`I + \mathrm{E} W_d^\top W_d / \sigma_d^2`,
which its domain's rows share, and each row of :math:`W_d` a covariance that all of them share.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from lpjt.baselines._directions import principal_directions
from lpjt.baselines._types import Codes, Floats
from lpjt.core.moments import class_moments

#: Smallest noise, as a share of the variance per column: rows that the factors reproduce exactly leave none.
LEAST_NOISE = 1e-6

#: Takes the place of a variance of 0, that of rows which are all equal; its inverse can still be squared.
TINY = 1e-100


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """Posterior of the factors of one domain, and its noise."""

    W: Floats  # (width, k), mean
    covariance: Floats  # (k, k), of each row of W
    noise: float  # sigma^2

    @property
    def square(self) -> Floats:
        """E W'W, (k, k)."""
        return self.W.T @ self.W + len(self.W) * self.covariance

    @property
    def precision(self) -> Floats:
        """Precision of the posterior of each z, (k, k)."""
        return np.eye(self.W.shape[1]) + self.square / self.noise

    @property
    def inference(self) -> Floats:
        """Matrix, (width, k), that takes centred rows to the posterior means of their z."""
        return linalg.solve(self.precision, self.W.T / self.noise, assume_a="pos").T


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """One-vs-rest classifier z -> V z + b with squared hinge losses, and the targets of its source rows."""

    V: Floats  # (n_classes, k)
    offset: Floats  # b, (n_classes,)
    goals: Floats  # t, (n_source, n_classes): y max(1, y f), y being 1 or -1


def first_factors(X_source: Floats, X_target: Floats, n_components: int) -> Factors:
    """Factors that both domains start from: principal directions of all centred rows; what they leave is noise."""
    X = np.vstack([X_source, X_target])
    directions, variances = principal_directions(X, n_components)
    variances = np.maximum(variances, TINY)
    total = float(np.einsum("ij,ij->", X, X)) / max(len(X) - 1, 1)
    noise = max((total - float(variances.sum())) / X.shape[1], least_noise(X))
    k = len(variances)
    return Factors(directions * np.sqrt(variances), np.zeros((k, k)), noise)


def least_noise(X: Floats) -> float:
    """`LEAST_NOISE` of the mean square of the entries of centred rows."""
    return max(LEAST_NOISE * float(np.einsum("ij,ij->", X, X)) / X.size, TINY)


def relevances(factors: list[Factors]) -> Floats:
    """1 / a, (k,): the mean of E W^2 over the entries of each column of both factors."""
    return np.maximum(np.mean([f.square.diagonal() / len(f.W) for f in factors], axis=0), TINY)


def latent_means(
    rows: list[Floats], codes: list[Codes], factors: list[Factors], margin: Margin, *, margin_weight: float, pull: float
) -> list[Floats]:
    r"""Means of z, (n_d, k) per domain, that minimise the energy for fixed factors, classifier and codes.

    The rows meet in their means alone: with the gaps :math:`g_c` of the means of the domains, c = 0 for all rows and
    1 to C for the classes, :math:`z_i = A_d^{-1} (r_i \mp b_0 g_0 / n_d \mp b_c g_c / n_{d,c})`, - in the source and +
    in the target. Averaged, these are C + 1 equations of size k in the gaps, coupled through :math:`g_0` alone: C
    systems of size k and one more, whatever the number of rows.

    Parameters
    ----------
    rows : centred rows of source and target
    codes : labels of the source, and labels of the target or -1
    factors : of source and target
    margin : Margin
    margin_weight : float
    pull : float
        Weight of the gaps.
    """
    n_classes = len(margin.V)
    A = [f.precision for f in factors]
    A[0] = A[0] + margin_weight * margin.V.T @ margin.V
    inverses = [linalg.inv(a, check_finite=False) for a in A]
    right = [X @ (f.W / f.noise) for X, f in zip(rows, factors, strict=True)]
    right[0] += margin_weight * (margin.goals - margin.offset) @ margin.V
    means = [class_moments(r, y, np.ones(len(y)), n_classes=n_classes) for r, y in zip(right, codes, strict=True)]
    sizes = [np.concatenate([[len(y)], m.counts]) for y, m in zip(codes, means, strict=True)]
    weights = pull * sizes[0] * sizes[1] / np.maximum(sizes[0] + sizes[1], 1)  # 0 for a class that one domain lacks
    sizes = [np.maximum(n, 1) for n in sizes]
    plain = means[0].means @ inverses[0] - means[1].means @ inverses[1]
    gaps = solve_gaps(plain, inverses, sizes, weights)
    found = []
    for r, y, n, inverse, sign in zip(right, codes, sizes, inverses, (-1, 1), strict=True):
        shifts = weights[:, None] * gaps / n[:, None]
        own = np.vstack([shifts[1:], np.zeros(len(gaps[0]))])[y]  # a code of -1 takes the last row
        found.append((r + sign * (shifts[0] + own)) @ inverse)
    return found


def solve_gaps(plain: Floats, inverses: list[Floats], sizes: list[Floats], weights: Floats) -> Floats:
    """Gaps g, (1 + n_classes, k), from those that there were without a pull: see `latent_means`."""
    eye = np.eye(plain.shape[1])
    first = inverses[0] / sizes[0][0] + inverses[1] / sizes[1][0]
    alone, through = [], []  # g_c = alone_c - weights_0 through_c g_0
    for c in range(1, len(plain)):
        own = inverses[0] / sizes[0][c] + inverses[1] / sizes[1][c]
        solved = linalg.solve(eye + weights[c] * own, np.column_stack([plain[c], first]), check_finite=False)
        alone.append(solved[:, 0])
        through.append(solved[:, 1:])
    back = np.tensordot(weights[1:], through, axes=1)
    left = eye + weights[0] * (first - first @ back)
    g_0 = linalg.solve(left, plain[0] - first @ (weights[1:] @ np.array(alone)), check_finite=False)
    return np.vstack([g_0, np.array(alone) - weights[0] * (through @ g_0)])


def update_factors(X: Floats, Z: Floats, factors: Factors, columns: Floats) -> Factors:
    """Posterior of W for means of z and 1 / a = `columns`, then the noise that fits best."""
    second = Z.T @ Z + len(Z) * linalg.inv(factors.precision)  # the sum of E z z'
    covariance = linalg.inv(second / factors.noise + np.diag(1 / columns))
    cross = X.T @ Z
    found = Factors(cross @ covariance / factors.noise, covariance, factors.noise)
    error = np.einsum("ij,ij->", X, X) - 2 * np.einsum("ij,ij->", cross, found.W) + np.sum(found.square * second)
    return replace(found, noise=max(float(error) / X.size, least_noise(X)))


def first_margin(n_source: int, n_classes: int, k: int) -> Margin:
    """No classifier yet: with V = 0 the targets have no effect on the latent means."""
    return Margin(np.zeros((n_classes, k)), np.zeros(n_classes), np.zeros((n_source, n_classes)))


def update_margin(Z: Floats, y: Codes, margin: Margin, weight: float) -> Margin:
    """Targets that fit the decisions best, then the ridge regression of the targets on the latent means.

    A squared hinge max(0, 1 - y f)^2 is the least (t - f)^2 over all t that have the sign of y and at least length 1.
    """
    signs = np.where(y[:, None] == np.arange(len(margin.V)), 1.0, -1.0)
    goals = signs * np.maximum(1.0, signs * (Z @ margin.V.T + margin.offset))
    centre, middle = Z.mean(axis=0), goals.mean(axis=0)
    moved = Z - centre
    V = linalg.solve(moved.T @ moved + np.eye(Z.shape[1]) / weight, moved.T @ (goals - middle), assume_a="pos").T
    return Margin(V, middle - V @ centre, goals)
