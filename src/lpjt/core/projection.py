"""The projections: the top of ``S_max p = phi S_min p``, Eq. (21)."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from lpjt.core.blocks import multiply
from lpjt.core.directions import fix_signs
from lpjt.core.triangles import Triangle, factorise

#: S_min gets this share of its mean diagonal as a ridge. Nothing in Eq. (16) regularises A where widths differ, and
#: landmarks can empty directions; 1e-9 moves an eigenvalue by less than the solver's error unless S_min is singular.
RIDGE = 1e-9

#: From this width on, and for few components, Lanczos' method takes half the time of the dense routine.
LANCZOS_WIDTH = 500


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A diagonal block of the pair by itself: S_min + ridge = L L', and S_max in its terms."""

    S_max: np.ndarray  # (width, width)
    S_min: np.ndarray
    factor: Triangle  # L
    inner: np.ndarray  # L^-1 S_max L^-T, symmetric

    def is_of(self, S_max, S_min):
        """Whether the block is this one."""
        return np.array_equal(self.S_max, S_max) and np.array_equal(self.S_min, S_min)


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Solution of Eq. (21); columns in order of decreasing eigenvalue, each with its largest entry positive."""

    vectors: np.ndarray  # (total width, n_components), S_min-orthonormal
    eigenvalues: np.ndarray  # (n_components,)
    residual: float  # max over k of ||S_max p_k - phi_k S_min p_k|| / ||S_max p_k||
    leading: Reduced | None = None  # of the first domains, for the next pair that has them unchanged


def solve_projection(S_max, S_min, n_components, *, ridge=RIDGE, n_leading=0, last=None):
    """Find the leading generalised eigenvectors, in float64, by the routine made for the symmetric pair.

    Parameters
    ----------
    S_max, S_min : arrays, (width, width), symmetric
        Denominator and numerator of Eq. (16), blocks of all domains together.
    n_components : int
        Columns wanted; fewer come back where S_max has fewer directions with anything in them.
    ridge : float
        Added to S_min as a share of its mean diagonal.
    n_leading : int
        So many first rows and columns S_max does not join to the others, as sources are not joined to targets: they are
        eliminated by themselves, and only once for as long as they stay as they are.
    last : Projection, optional
        Solution of another pair, whose `leading` serves again where these rows and columns are the same.

    Returns
    -------
    Projection
    """
    width = len(S_max)
    d = min(n_components, width)
    added = ridge * (np.trace(S_min) / width + np.finfo(float).tiny)
    leading = None
    if width >= LANCZOS_WIDTH and 6 * d <= width:
        leading = _reduce_leading(S_max, S_min, added, n_leading, last)
        phi, P = _few_of_many(S_max, S_min, d, added, leading)
    else:
        phi, P = _dense(S_max, S_min, d, added)
    # A direction that neither matrix sees is one in which S_min is the ridge and S_max is rounding.
    unseen = (added * (P**2).sum(axis=0) > 0.5) & (phi < 1e-6 * phi[0])
    kept = (phi > 1e-12 * max(phi[0], np.finfo(float).tiny)) & ~unseen
    kept[0] = True  # rows that are all alike have no direction: one stands for none
    phi, P = phi[kept], P[:, kept]
    left = np.vstack([multiply(S_max[cut, cut], P[cut]) for cut in (slice(0, n_leading), slice(n_leading, width))])
    residual = _residual(left, (multiply(S_min, P) + added * P) * phi)
    return Projection(fix_signs(P), phi, residual, leading)


def _residual(left, right):
    scale = np.linalg.norm(left, axis=0)
    return float((np.linalg.norm(left - right, axis=0) / np.maximum(scale, np.finfo(float).tiny)).max(initial=0))


def _dense(S_max, S_min, d, added):
    width = len(S_max)
    S_min = _with_ridge(S_min, added)
    # O(width^3), the only cubic step, in width and not in rows.
    phi, P = linalg.eigh(S_max, S_min, subset_by_index=(width - d, width - 1), check_finite=False)
    return phi[::-1], P[:, ::-1]


def _with_ridge(S, added):
    S = S.copy()
    S[np.diag_indices_from(S)] += added
    return S


def _reduce_leading(S_max, S_min, added, n_leading, last):
    """The leading block by itself, that of the last pair where it is the same; None where there is none."""
    if not 0 < n_leading < len(S_max):
        return None
    S_max, S_min = S_max[:n_leading, :n_leading], S_min[:n_leading, :n_leading]
    if last is not None and last.leading is not None and last.leading.is_of(S_max, S_min):
        return last.leading  # with the ridge of that pair, which differs by less than what either changes
    return _reduce(S_max.copy(), S_min.copy(), added)


def _reduce(S_max, S_min, added):
    L = factorise(_with_ridge(S_min, added))
    # Two triangular solves are twice the work of LAPACK's sygst, and a third of its time, for threads share it.
    return Reduced(S_max, S_min, L, L.solve_left(L.solve_right(S_max)))


def _few_of_many(S_max, S_min, d, added, leading):
    """The same by Lanczos' method on C = L^-1 S_max L^-T, S_min = L L': a Cholesky factor and products with C."""
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


def _joined(leading, S_max, S_min, added):
    """Products with C and with L^-T for a leading block and the rest: no matrix of both is factorised or multiplied.

    L = [[L_1, 0], [E, L_2]] and S_max = diag(S_1, S_2), so that with N = L_2^-1 E and the inner C_i = L_i^-1 S_i L_i^-T
    of either block, C = [[1, 0], [-N, 1]] diag(C_1, C_2) [[1, -N'], [0, 1]].
    """
    first, L_1, C_1 = len(leading.S_max), leading.factor, leading.inner
    E = L_1.solve_right(S_min[first:, :first])
    L_2 = factorise(_with_ridge(S_min[first:, first:] - E @ E.T, added))
    both = L_2.solve_left(np.hstack([S_max[first:, first:], E]))
    C_2, N = L_2.solve_right(both[:, : len(E)]), np.ascontiguousarray(both[:, len(E) :])

    def product(x):
        ahead = _symmetric_product(C_1, x[:first] - x[first:] @ N)
        return np.concatenate([ahead, _symmetric_product(C_2, x[first:]) - N @ ahead])

    def back(Q):
        P = L_2.solve_transposed(Q[first:])
        return np.vstack([L_1.solve_transposed(Q[:first] - E.T @ P), P])

    return product, back


def _lanczos(product, width, d):
    """Largest d eigenvalues, in decreasing order, and their vectors, of what a product is given for."""
    start = 1.0 + np.cos(np.arange(width))  # fixed, so that a fit is repeatable
    steps = min(width, max(3 * d // 2, d + 60))
    operator = LinearOperator((width, width), matvec=product, dtype=np.float64)
    phi, Q = eigsh(operator, d, which="LA", v0=start, ncv=steps, maxiter=50, tol=1e-11)
    order = np.argsort(-phi)
    return phi[order], Q[:, order]


def _symmetric_product(S, x):
    return linalg.blas.dsymv(1.0, S.T, x, lower=1)  # the transpose is in the order that BLAS reads


def coupling_blocks(widths, is_target, weight):
    r"""Matrix of :math:`\lambda \sum_{s,t} \|A_s - B_t\|^2` over pairs of equal width, each pair weighted alike."""
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
