r"""What TCA, JDA, TJM and JGSA share: means instead of MMD matrices, coordinates instead of kernels, nearest rows.

The MMD matrix of these methods is :math:`M = C M_0 + \sum_c M_c` with :math:`M_c = e_c e_c^\top`, where :math:`e_c` is
1 / n_{s,c} at the source rows of class c and -1 / n_{t,c} at the target rows with its (pseudo) label, and :math:`e_0`
is the same over all rows. So :math:`X^\top M X` is a sum over differences of means, without an n x n matrix.

The kernel forms have coefficients A, (n, d), and embed by K A. With K = X X' and a positive diagonal G the least
:math:`\mathrm{tr}\, A^\top G A` for a given V = X'A is attained by
:math:`A = G^{-1} X (X^\top G^{-1} X)^{-1} V`, and is :math:`\mathrm{tr}\, V^\top (X^\top G^{-1} X)^{-1} V`.
With :math:`R = (X^\top G^{-1} X)^{1/2}` and V = R P that is :math:`\|P\|^2`: the kernel form is the linear form on the
rows X R, and its cost depends on the width of the rows instead of their number.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy import linalg
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state

from lpjt._sklearn import Interval, StrOptions
from lpjt._warnings import TransferWarning
from lpjt.baselines._base import CONSTRAINTS, POSITIVE, POSITIVE_INTEGER, DomainName, Embedding, ScaledDomain
from lpjt.baselines._types import Codes, Constraints, Floats
from lpjt.core import coordinates
from lpjt.core.moments import class_moments, total_scatter, weighted_gram
from lpjt.core.projection import EXPECTED_RESIDUAL, Projection, solve_projection
from lpjt.core.propagation import unit_rows
from lpjt.core.scaling import Scaling

#: Singular directions of X'X below this share of the largest are rounding error.
RANK_TOLERANCE = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Labelled rows of one space, whose nearest neighbours are asked for."""

    Z: Floats  # (n, d)
    y: Codes  # (n,)

    def nearest_codes(self, Z: Floats) -> Codes:
        """Codes of the nearest labelled row of each row, in blocks: memory is linear in the rows."""
        return self.y[pairwise_distances_argmin(Z, self.Z)]


def labelled_rows(Z_source: Floats, y_source: Codes, Z_target: Floats, y_target: Codes) -> LabelledRows:
    """All source rows and the labelled target rows."""
    known = y_target >= 0
    return LabelledRows(np.vstack([Z_source, Z_target[known]]), np.concatenate([y_source, y_target[known]]))


def given_or(given: Codes, pseudo: Codes) -> Codes:
    """Given codes where there are any (at least 0), pseudo labels elsewhere."""
    return np.where(given >= 0, given, pseudo)


def gap_weights(
    counts_source: Codes | Floats,
    counts_target: Codes | Floats,
    n_source: int,
    n_target: int,
    *,
    balance: float = 0.5,
    conditional_norm: bool = True,
) -> Floats:
    r"""Weights of :math:`M_0, M_1, \dots, M_C`, (1 + n_classes,), over the Frobenius norm of their weighted sum.

    :math:`M_0` has the weight C (1 - balance), and each :math:`M_c` the weight balance, or 0 where one domain lacks the
    class. :math:`\langle M_0, M_c \rangle = (1/n_s + 1/n_t)^2` and :math:`\|M_c\|_F = 1/n_{s,c} + 1/n_{t,c}`; the
    matrices of two classes share no entry.

    Parameters
    ----------
    counts_source, counts_target : arrays, (n_classes,)
        Rows of each class.
    n_source, n_target : int
        All rows.
    balance : float in [0, 1]
        Share of the conditional terms; at 0.5 the weights are in the ratio C to 1.
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


def gap_matrix(
    X_source: Floats, X_target: Floats, y_source: Codes, y_target: Codes, n_classes: int, *, balance: float = 0.5
) -> Floats:
    """X' M X / ||M||, (width, width), over the classes with rows in both domains; a code of -1 belongs to no class.

    `balance` is that of `gap_weights`.
    """
    source, target = (
        class_moments(X, y, np.ones(len(y)), n_classes=n_classes)
        for X, y in ((X_source, y_source), (X_target, y_target))
    )
    weights = gap_weights(source.counts, target.counts, len(y_source), len(y_target), balance=balance)
    gap = source.means - target.means
    return (gap.T * weights) @ gap


def gram_roots(parts: Sequence[Floats], weights: Sequence[Floats]) -> tuple[Floats, Floats]:
    """R = (X' diag(weights) X)^(1/2) and its pseudo-inverse, both symmetric, of the stacked parts."""
    gram = sum(weighted_gram(X, w) for X, w in zip(parts, weights, strict=True))
    values, vectors = linalg.eigh(gram, check_finite=False)
    kept = values > RANK_TOLERANCE * max(values[-1], np.finfo(float).tiny)
    roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return (vectors * roots) @ vectors.T, (vectors / roots) @ vectors.T


def unit_projection(scatter: Floats, loss: Floats, n_components: int) -> Floats:
    """Stationary columns of tr(P' loss P) under P' scatter P = I, each of unit length, in order of increasing loss.

    The constraint gives every component the same variance, so that nearest neighbours would count rounding as much as
    signal. The programs of JDA and TJM take the eigenvectors as their routine returns them, of unit length; the figures
    published for both depend on that. `loss` has the regularisation on its diagonal and needs no ridge: a ridge is a
    share of the gap of means, which is large for long rows, and would drown the regularisation.
    """
    vectors = certified(solve_projection(scatter, loss, n_components, ridge=0.0)).vectors
    return vectors / np.linalg.norm(vectors, axis=0)


def certified(solution: Projection) -> Projection:
    """The solution of an eigenproblem, with a warning if its residual is larger than it should be."""
    if not solution.residual <= EXPECTED_RESIDUAL:
        warnings.warn(
            f"The eigenproblem is solved to a relative residual of {solution.residual:.1e} only; "
            f"{EXPECTED_RESIDUAL:.0e} is expected. Set a larger regularization, fewer n_components or another scaling.",
            TransferWarning,
            stacklevel=2,
        )
    return solution


@dataclass(frozen=True, slots=True, eq=False)
class ProjectionProblem:
    """Both domains in the coordinates in which the projection is sought."""

    X_source: Floats  # (n_source, rank), float64
    X_target: Floats  # (n_target, rank)
    y_source: Codes  # (n_source,)
    y_target: Codes  # (n_target,), -1 where unlabelled
    scatter: Floats  # X' H X, (rank, rank)
    n_classes: int

    @property
    def parts(self) -> tuple[Floats, Floats]:
        """Rows of both domains."""
        return self.X_source, self.X_target

    @property
    def no_labels(self) -> Codes:
        """Codes, (n_target,), that label no target row: the gap of the marginal means alone."""
        return np.full(len(self.y_target), -1)


class LinearEmbedding(Embedding):
    """One linear map of the rows of all domains, learned in coordinates of their span."""

    _map: coordinates.Coordinates
    _projection: Floats  # (rank, n_components)

    def _fit_map(self, parts: list[Floats]) -> coordinates.Coordinates:
        return coordinates.Coordinates(Scaling(), coordinates.span_basis(parts))

    def _coordinates_of(self, X: Floats) -> Floats:
        return np.asarray(coordinates.to_coordinates(X, self._map), dtype=np.float64)

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        return (self._coordinates_of(X) @ self._projection).astype(X.dtype, copy=False)


class ProjectionBaseline(LinearEmbedding):
    """One linear map of both domains, or of their kernel coordinates, and the nearest labelled row in it.

    Embedded rows are scaled to unit length before neighbours are sought, as in the programs of JDA and TJM. Labelled
    target rows take part as neighbours.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **CONSTRAINTS,
        "n_components": POSITIVE_INTEGER,
        "regularization": POSITIVE,
        "kernel": [StrOptions({"primal", "linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"})],
        "gamma": [*POSITIVE, None],
        "kernel_rows": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    _labelled: LabelledRows

    def __init__(
        self,
        *,
        n_components: int,
        regularization: float,
        kernel: str,
        gamma: float | None,
        kernel_rows: int,
        scaling: str,
        random_state: int | np.random.RandomState | None,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_rows = kernel_rows
        self.scaling = scaling
        self.random_state = random_state

    def _open_problem(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> ProjectionProblem:
        """Coordinates of both domains; `_map` takes new rows to the same coordinates."""
        self._map = self._fit_map([source.X, target.X])
        X_source, X_target = (self._coordinates_of(domain.X) for domain in (source, target))
        scatter = total_scatter(np.vstack([X_source, X_target]))
        return ProjectionProblem(X_source, X_target, source.y, target.y, scatter, n_classes)

    def _fit_map(self, parts: list[Floats]) -> coordinates.Coordinates:
        if self.kernel in ("primal", "linear"):
            return super()._fit_map(parts)
        gamma = self.gamma or coordinates.default_kernel_width(parts, self.kernel)
        params = {} if self.kernel == "cosine" else {"gamma": gamma}
        random_state = check_random_state(self.random_state)
        rows, basis = coordinates.kernel_basis(
            parts, self.kernel, params, max_rows=self.kernel_rows, random_state=random_state
        )
        return coordinates.Coordinates(Scaling(), basis, rows, self.kernel, params)

    def _project(self, problem: ProjectionProblem, codes: Codes, root: Floats | None) -> Floats:
        """Projection of the coordinates, (rank, n_components), for codes of the target and the root R; None is I."""
        scatter = problem.scatter
        gap = gap_matrix(problem.X_source, problem.X_target, problem.y_source, codes, problem.n_classes)
        if root is not None:
            scatter, gap = root @ scatter @ root, root @ gap @ root
        gap[np.diag_indices(len(gap))] += self.regularization
        P = unit_projection(scatter, gap, self.n_components)
        return P if root is None else root @ P

    def _label(self, problem: ProjectionProblem) -> Codes:
        """Codes of the target rows by their nearest labelled rows, given labels kept; sets what `_codes_of` needs."""
        Z_source, Z_target = (unit_rows(X @ self._projection) for X in problem.parts)
        self._labelled = labelled_rows(Z_source, problem.y_source, Z_target, problem.y_target)
        return given_or(problem.y_target, self._labelled.nearest_codes(Z_target))

    def _codes_of(self, X: Floats) -> Codes:
        return self._labelled.nearest_codes(unit_rows(self._coordinates_of(X) @ self._projection))
