r"""What TCA, JDA, TJM and JGSA share: means instead of MMD matrices, coordinates instead of kernels, nearest rows.

The MMD matrix of these methods is :math:`M = C M_0 + \sum_c M_c` with :math:`M_c = e_c e_c^\top`, where :math:`e_c` is
1 / n_{s,c} at the source rows of class c and -1 / n_{t,c} at the target rows that have its (pseudo) label, and
:math:`e_0` the same over all rows. So :math:`X^\top M X` is made of differences of means, without an n x n matrix.

The kernel forms have coefficients A, (n, d), and embed by K A. With K = X X' and a positive diagonal G the least
:math:`\mathrm{tr}\, A^\top G A` for a given V = X'A is attained by
:math:`A = G^{-1} X (X^\top G^{-1} X)^{-1} V`, and is :math:`\mathrm{tr}\, V^\top (X^\top G^{-1} X)^{-1} V`.
With :math:`R = (X^\top G^{-1} X)^{1/2}` and V = R P that is
:math:`\|P\|^2`: the kernel form is the linear form on the rows X R, as wide as the rows and not as long.
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from scipy import linalg
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state

from lpjt._sklearn import Interval, StrOptions
from lpjt.baselines._base import Baseline, Embedding, Side
from lpjt.core import coordinates
from lpjt.core.moments import class_moments, total_scatter, weighted_gram
from lpjt.core.projection import solve_projection
from lpjt.core.propagation import unit_rows

#: Singular directions of X'X below this share of the largest carry rounding alone.
RANK_TOLERANCE = 1e-13


def known_or(known, pseudo):
    """Codes with the given ones, of at least 0, in place of the pseudo labels."""
    return np.where(known >= 0, known, pseudo)


def nearest_codes(Z_known, codes, Z):
    """Codes of the nearest known rows, in blocks: memory linear in rows."""
    return codes[pairwise_distances_argmin(Z, Z_known)]


def gap_weights(counts_source, counts_target, n_source, n_target, *, balance=0.5, conditional_norm=True):
    r"""Weights of :math:`M_0, M_1, \dots, M_C`, (1 + n_classes,), over the Frobenius norm of their weighted sum.

    :math:`M_0` weighs C (1 - balance), and each :math:`M_c` the balance, or nothing where one domain lacks the class.
    :math:`\langle M_0, M_c \rangle = (1/n_s + 1/n_t)^2` and :math:`\|M_c\|_F = 1/n_{s,c} + 1/n_{t,c}`; the matrices
    of two classes share no entry.

    Parameters
    ----------
    counts_source, counts_target : int arrays, (n_classes,)
        Rows of each class.
    n_source, n_target : int
        All rows.
    balance : float in [0, 1]
        Share of the conditional terms; at 0.5 the weights are as C to 1.
    conditional_norm : bool
        False divides by the norm of the marginal term alone.
    """
    shared = balance * ((counts_source > 0) & (counts_target > 0))
    first = (1 - balance) * len(counts_source)
    marginal = 1 / n_source + 1 / n_target
    squares = (first * marginal) ** 2
    if conditional_norm:
        own = 1 / np.maximum(counts_source, 1) + 1 / np.maximum(counts_target, 1)
        squares += float((shared**2 * own**2 + 2 * first * shared * marginal**2).sum())
    return np.concatenate([[first], shared]) / np.sqrt(max(squares, np.finfo(float).tiny))


def gap_matrix(X_source, X_target, y_source, y_target, n_classes):
    """X' M X / ||M||, (width, width), over the classes that have rows in both domains; codes of -1 are of no class."""
    source, target = (
        class_moments(X, y, np.ones(len(y)), n_classes=n_classes)
        for X, y in ((X_source, y_source), (X_target, y_target))
    )
    weights = gap_weights(source.counts, target.counts, len(y_source), len(y_target))
    gap = source.means - target.means
    return (gap.T * weights) @ gap


def gram_roots(parts, weights):
    """R = (X' diag(weights) X)^(1/2) and its pseudo-inverse, both symmetric, of the stacked parts."""
    gram = sum(weighted_gram(X, w) for X, w in zip(parts, weights, strict=True))
    values, vectors = linalg.eigh(gram, check_finite=False)
    kept = values > RANK_TOLERANCE * max(values[-1], np.finfo(float).tiny)
    roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return (vectors * roots) @ vectors.T, (vectors / roots) @ vectors.T


def unit_projection(scatter, loss, n_components):
    """Stationary columns of tr(P' loss P) under P' scatter P = I, each of unit length, in order of increasing loss.

    The constraint leaves every component with the same variance, and nearest neighbours then count rounding as much as
    signal. The programs of JDA and TJM take the eigenvectors as their routine gives them, of unit length; the figures
    published for both need that. `loss` has the regularisation on its diagonal and needs no ridge, which would be a
    share of the gap of means, large where rows are, and would drown it.
    """
    vectors = solve_projection(scatter, loss, n_components, ridge=0.0).vectors
    return vectors / np.linalg.norm(vectors, axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Both domains in the coordinates in which the projection is sought."""

    X_source: np.ndarray  # (n_source, rank), float64
    X_target: np.ndarray  # (n_target, rank)
    y_source: np.ndarray  # (n_source,) codes
    y_target: np.ndarray  # (n_target,) codes, -1 where unlabelled
    scatter: np.ndarray  # X' H X, (rank, rank)
    n_classes: int

    @property
    def parts(self):
        """Both domains' rows."""
        return self.X_source, self.X_target


#: Constraints of the methods that project by one map.
PROJECTION_CONSTRAINTS: dict = {
    **Baseline._parameter_constraints,
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "regularization": [Interval(Real, 0, None, closed="neither")],
    "kernel": [StrOptions({"primal", "linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"})],
    "gamma": [Interval(Real, 0, None, closed="neither"), None],
    "kernel_rows": [Interval(Integral, 2, None, closed="left")],
    "random_state": ["random_state"],
}


class ProjectionBaseline(Embedding):
    """One linear map of both domains, or of their kernel coordinates, and the nearest labelled row in it.

    Embedded rows are scaled to unit length before neighbours are sought, as in the programs of JDA and TJM. Labelled
    target rows take part as neighbours.
    """

    _parameter_constraints = PROJECTION_CONSTRAINTS

    n_components: int
    regularization: float
    kernel: str
    gamma: float | None
    kernel_rows: int
    random_state: object

    def _open_problem(self, source: Side, target: Side, n_classes: int) -> Problem:
        """Coordinates of both domains; `_map` takes new rows to the same ones."""
        self._map = self._fit_map([source.X, target.X])
        X_source, X_target = (self._coordinates_of(side.X) for side in (source, target))
        scatter = total_scatter(np.vstack([X_source, X_target]))
        return Problem(X_source, X_target, source.y, target.y, scatter, n_classes)

    def _coordinates_of(self, X):
        return np.asarray(coordinates.to_coordinates(X, self._map), dtype=np.float64)

    def _fit_map(self, parts):
        plain = coordinates.Scaling()
        random_state = check_random_state(self.random_state)
        if self.kernel in ("primal", "linear"):
            return coordinates.Coordinates(plain, coordinates.span_basis(parts, n_components=self.n_components))
        gamma = self.gamma or coordinates.default_kernel_width(parts)
        params = {} if self.kernel == "cosine" else {"gamma": gamma}
        rows, basis = coordinates.kernel_basis(
            parts, self.kernel, params, max_rows=self.kernel_rows, random_state=random_state
        )
        return coordinates.Coordinates(plain, basis, rows, self.kernel, params)

    def _project(self, problem: Problem, codes: np.ndarray, root: np.ndarray | None) -> np.ndarray:
        """Projection of the coordinates, (rank, n_components), for the target's codes and the root R, None being I."""
        scatter = problem.scatter
        gap = gap_matrix(problem.X_source, problem.X_target, problem.y_source, codes, problem.n_classes)
        if root is not None:
            scatter, gap = root @ scatter @ root, root @ gap @ root
        gap[np.diag_indices(len(gap))] += self.regularization
        P = unit_projection(scatter, gap, self.n_components)
        return P if root is None else root @ P

    def _label(self, problem: Problem, projection: np.ndarray) -> np.ndarray:
        """Codes of the target rows by their nearest labelled rows, given labels kept; sets what `_codes_of` needs."""
        Z_source, Z_target = (unit_rows(X @ projection) for X in problem.parts)
        known = problem.y_target >= 0
        self._pool = np.vstack([Z_source, Z_target[known]])
        self._pool_codes = np.concatenate([problem.y_source, problem.y_target[known]])
        return known_or(problem.y_target, nearest_codes(self._pool, self._pool_codes, Z_target))

    def _embed(self, X, domain):
        return (self._coordinates_of(X) @ self._projection).astype(X.dtype, copy=False)

    def _codes_of(self, X):
        return nearest_codes(self._pool, self._pool_codes, unit_rows(self._coordinates_of(X) @ self._projection))
