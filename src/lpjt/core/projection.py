"""The projections: leading eigenvectors of ``S_max p = phi S_min p``, Eq. (21)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from lpjt._typing import Array
from lpjt.core.blocks import multiply
from lpjt.core.directions import fix_signs
from lpjt.core.edges import add_to_diagonal
from lpjt.core.leading import are_few, largest_of_pair
from lpjt.core.triangles import Triangle, definite_ridge, factorise

#: Share of the mean diagonal of S_min that is added to it as a ridge. Nothing in Eq. (16) regularises A where widths
#: differ, and landmarks can empty directions; 1e-9 changes an eigenvalue by less than the error of the solver unless
#: S_min is singular.
RIDGE = 1e-9

#: Largest `Projection.residual` of a solution that can be trusted; those of ordinary pairs are below 1e-11.
EXPECTED_RESIDUAL = 1e-6

#: From this width on, and for few components, the Lanczos method takes half the time of the dense routine.
LANCZOS_WIDTH = 500


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """One diagonal block of the pair, reduced to a standard problem: S_min + ridge = L L'."""

    S_max: Array  # (width, width)
    S_min: Array
    factor: Triangle  # L
    inner: Array  # L^-1 S_max L^-T, symmetric

    def is_of(self, S_max: Array, S_min: Array) -> bool:
        """Whether this is the reduction of the given block."""
        return np.array_equal(self.S_max, S_max) and np.array_equal(self.S_min, S_min)


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Solution of Eq. (21); columns in order of decreasing eigenvalue, each with its largest entry positive."""

    vectors: Array  # (total width, n_components), S_min-orthonormal
    eigenvalues: Array  # (n_components,)
    residual: float  # max over k of ||S_max p_k - phi_k S_min p_k|| / ||S_max p_k||; NaN if it was not asked for
    leading: Reduced | None = None  # reduction of the sources' block, for a next pair in which it is unchanged


def solve_projection(
    S_max: Array,
    S_min: Array,
    n_components: int,
    *,
    ridge: float = RIDGE,
    n_leading: int = 0,
    last: Projection | None = None,
    measured: bool = True,
) -> Projection:
    """Find the leading generalised eigenvectors, in float64, by a routine for symmetric pairs.

    Parameters
    ----------
    S_max, S_min : arrays, (width, width), symmetric
        Denominator and numerator of Eq. (16), blocks of all domains together.
    n_components : int
        Number of eigenvectors; fewer are returned if the rank of S_max is lower.
    ridge : float
        Added to S_min as a share of its mean diagonal.
    n_leading : int
        Number of first rows and columns that S_max does not join to the others, as it does not join sources to targets.
        They are eliminated separately, and only once as long as they do not change.
    last : Projection, optional
        Solution of another pair, whose `leading` is reused if these rows and columns are the same.
    measured : bool
        Whether to compute the residual; NaN otherwise.

    Returns
    -------
    Projection
    """
    width = len(S_max)
    d = min(n_components, width)
    added = ridge * (np.trace(S_min) / width + np.finfo(float).tiny)
    if not np.isfinite(added):
        raise ValueError(
            "The objective is not finite: the rows or the weights of its terms are too large. Give smaller values of "
            "locality_weight, variance_weight and coupling_weight, or another scaling than 'none'."
        )
    try:
        phi, P, leading = _solve(S_max, S_min, d, added, n_leading, last)
    except np.linalg.LinAlgError:
        added = definite_ridge(S_min, added)
        phi, P, leading = _solve(S_max, S_min, d, added, n_leading, None)
    # In a direction that neither matrix sees, S_min is the ridge and S_max is rounding.
    unseen = (added * (P**2).sum(axis=0) > 0.5) & (phi < 1e-6 * phi[0])
    kept = (phi > 1e-12 * max(phi[0], np.finfo(float).tiny)) & ~unseen
    kept[0] = True  # rows that are all equal have no direction: one is returned all the same
    phi, P = phi[kept], P[:, kept]
    residual = _residual(S_max, S_min, P, phi, added, n_leading) if measured else np.nan
    return Projection(fix_signs(P), phi, residual, leading)


def _solve(
    S_max: Array, S_min: Array, d: int, added: float, n_leading: int, last: Projection | None
) -> tuple[Array, Array, Reduced | None]:
    if len(S_max) >= LANCZOS_WIDTH and 6 * d <= len(S_max):
        leading = _reduce_leading(S_max, S_min, added, n_leading, last)
        return *_few_of_many(S_max, S_min, d, added, leading), leading
    return *_dense(S_max, S_min, d, added), None


def _residual(S_max: Array, S_min: Array, P: Array, phi: Array, added: float, n_leading: int) -> float:
    blocks = slice(0, n_leading), slice(n_leading, len(S_max))
    left = np.vstack([multiply(S_max[cut, cut], P[cut]) for cut in blocks])
    right = (multiply(S_min, P) + added * P) * phi
    scale = np.linalg.norm(left, axis=0)
    return float((np.linalg.norm(left - right, axis=0) / np.maximum(scale, np.finfo(float).tiny)).max(initial=0))


def _dense(S_max: Array, S_min: Array, d: int, added: float) -> tuple[Array, Array]:
    S_min = _with_ridge(S_min, added)
    # O(width^3), the only cubic step, in width and not in rows.
    if are_few(d, len(S_max)):
        phi, P = largest_of_pair(S_max, S_min, d)
    else:
        phi, P = linalg.eigh(S_max, S_min, driver="gvd", check_finite=False)
    return phi[: -d - 1 : -1], P[:, : -d - 1 : -1]


def _with_ridge(S: Array, added: float) -> Array:
    S = S.copy()
    add_to_diagonal(S, added)
    return S


def _reduce_leading(
    S_max: Array, S_min: Array, added: float, n_leading: int, last: Projection | None
) -> Reduced | None:
    """Reduction of the leading block, that of the last pair if the block is the same; None without such a block."""
    if not 0 < n_leading < len(S_max):
        return None
    S_max, S_min = S_max[:n_leading, :n_leading], S_min[:n_leading, :n_leading]
    if last is not None and last.leading is not None and last.leading.is_of(S_max, S_min):
        return last.leading  # with the ridge of that pair: the difference is less than the effect of either
    return _reduce(S_max.copy(), S_min.copy(), added)


def _reduce(S_max: Array, S_min: Array, added: float) -> Reduced:
    L = factorise(_with_ridge(S_min, added))
    # Two triangular solves are twice the work of LAPACK's sygst, in a third of its time, because threads share them.
    return Reduced(S_max, S_min, L, L.solve_left(L.solve_right(S_max)))


def _few_of_many(S_max: Array, S_min: Array, d: int, added: float, leading: Reduced | None) -> tuple[Array, Array]:
    """As `_dense`, by the Lanczos method on C = L^-1 S_max L^-T with S_min = L L'."""
    product: Callable[[Array], Array]
    back: Callable[[Array], Array]
    if leading is None:
        alone = _reduce(S_max, S_min, added)
        product, back = partial(_symmetric_product, alone.inner), alone.factor.solve_transposed
    else:
        product, back = _joined(leading, S_max, S_min, added)
    try:
        phi, Q = _lanczos(product, len(S_max), d)
    except ArpackError:
        return _dense(S_max, S_min, d, added)
    return phi, back(Q)


def _joined(
    leading: Reduced, S_max: Array, S_min: Array, added: float
) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """Products with C and with L^-T from a leading block and the rest, without a matrix of the full width.

    L = [[L_1, 0], [E, L_2]] and S_max = diag(S_1, S_2). With N = L_2^-1 E and C_i = L_i^-1 S_i L_i^-T of either block,
    C = [[1, 0], [-N, 1]] diag(C_1, C_2) [[1, -N'], [0, 1]].
    """
    first, L_1, C_1 = len(leading.S_max), leading.factor, leading.inner
    E = L_1.solve_right(S_min[first:, :first])
    L_2 = factorise(_with_ridge(S_min[first:, first:] - E @ E.T, added))
    both = L_2.solve_left(np.hstack([S_max[first:, first:], E]))
    C_2, N = L_2.solve_right(both[:, : len(E)]), np.ascontiguousarray(both[:, len(E) :])

    def product(x: Array) -> Array:
        ahead = _symmetric_product(C_1, x[:first] - x[first:] @ N)
        return np.concatenate([ahead, _symmetric_product(C_2, x[first:]) - N @ ahead])

    def back(Q: Array) -> Array:
        P = L_2.solve_transposed(Q[first:])
        return np.vstack([L_1.solve_transposed(Q[:first] - E.T @ P), P])

    return product, back


def _lanczos(product: Callable[[Array], Array], width: int, d: int) -> tuple[Array, Array]:
    """Largest d eigenvalues, in decreasing order, and eigenvectors of the matrix that `product` multiplies with."""
    start = 1.0 + np.cos(np.arange(width))  # fixed, so that fits are repeatable
    steps = min(width, max(3 * d // 2, d + 60))
    operator = LinearOperator((width, width), matvec=product, dtype=np.float64)
    phi, Q = eigsh(operator, d, which="LA", v0=start, ncv=steps, maxiter=50, tol=1e-11)
    order = np.argsort(-phi)
    return phi[order], Q[:, order]


def _symmetric_product(S: Array, x: Array) -> Array:
    return linalg.blas.dsymv(1.0, S.T, x, lower=1)  # the transpose has the memory order of BLAS


def coupling_blocks(widths: Sequence[int], is_target: Sequence[bool], weight: float) -> Array:
    r"""Matrix of :math:`\lambda \sum_{s,t} \|A_s - B_t\|^2` over pairs of equal width; all pairs have equal weight."""
    offsets = np.concatenate([[0], np.cumsum(widths)])
    C = np.zeros((offsets[-1], offsets[-1]))
    sources = [i for i in range(len(widths)) if not is_target[i]]
    targets = [i for i in range(len(widths)) if is_target[i]]
    share = weight / max(len(sources) * len(targets), 1)
    for s in sources:
        for t in targets:
            if widths[s] != widths[t]:
                continue
            a, b = offsets[s] + np.arange(widths[s]), offsets[t] + np.arange(widths[t])
            C[a, a] += share
            C[b, b] += share
            C[a, b] -= share
            C[b, a] -= share
    return C
