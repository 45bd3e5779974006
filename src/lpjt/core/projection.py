"""The projections: the top of ``S_max p = phi S_min p``, Eq. (21)."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from lpjt._threads import map_threads
from lpjt.core.blocks import SHARES, multiply

#: S_min gets this share of its mean diagonal as a ridge. Nothing in Eq. (16) regularises A where widths differ, and
#: landmarks can empty directions; 1e-9 moves an eigenvalue by less than the solver's error unless S_min is singular.
RIDGE = 1e-9

#: From this width on, and for few components, Lanczos' method takes half the time of the dense routine.
LANCZOS_WIDTH = 500


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Solution of Eq. (21); columns in order of decreasing eigenvalue, each with its largest entry positive."""

    vectors: np.ndarray  # (total width, n_components), S_min-orthonormal
    eigenvalues: np.ndarray  # (n_components,)
    residual: float  # max over k of ||S_max p_k - phi_k S_min p_k|| / ||S_max p_k||


def solve_projection(S_max, S_min, n_components, *, ridge=RIDGE):
    """Find the leading generalised eigenvectors, in float64, by the routine made for the symmetric pair.

    Parameters
    ----------
    S_max, S_min : arrays, (width, width), symmetric
        Denominator and numerator of Eq. (16), blocks of all domains together.
    n_components : int
        Columns wanted; fewer come back where S_max has fewer directions with anything in them.
    ridge : float
        Added to S_min as a share of its mean diagonal.

    Returns
    -------
    Projection
    """
    width = len(S_max)
    d = min(n_components, width)
    added = ridge * (np.trace(S_min) / width + np.finfo(float).tiny)
    S_min = S_min.copy()
    S_min[np.diag_indices(width)] += added
    phi, P = _few_of_many(S_max, S_min, d) if width >= LANCZOS_WIDTH and 6 * d <= width else _dense(S_max, S_min, d)
    # A direction that neither matrix sees is one in which S_min is the ridge and S_max is rounding.
    unseen = (added * (P**2).sum(axis=0) > 0.5) & (phi < 1e-6 * phi[0])
    kept = (phi > 1e-12 * max(phi[0], np.finfo(float).tiny)) & ~unseen
    kept[0] = True  # rows that are all alike have no direction: one stands for none
    phi, P = phi[kept], P[:, kept]
    left, right = multiply(S_max, P), multiply(S_min, P) * phi
    scale = np.linalg.norm(left, axis=0)
    residual = float((np.linalg.norm(left - right, axis=0) / np.maximum(scale, np.finfo(float).tiny)).max(initial=0))
    P = P * np.sign(P[np.abs(P).argmax(axis=0), range(P.shape[1])])  # a sign is arbitrary: fix it
    return Projection(P, phi, residual)


def _dense(S_max, S_min, d):
    width = len(S_max)
    # O(width^3), the only cubic step, in width and not in rows.
    phi, P = linalg.eigh(S_max, S_min, subset_by_index=(width - d, width - 1), check_finite=False)
    return phi[::-1], P[:, ::-1]


def _few_of_many(S_max, S_min, d):
    """The same by Lanczos' method on L^-1 S_max L^-T, S_min = L L': a Cholesky factor and products with one matrix."""
    L = linalg.cholesky(S_min.T, lower=True, check_finite=False)
    # Two triangular solves are twice the work of LAPACK's sygst, and a third of its time, for they share it.
    C = _solve_lower(L, _solve_lower(L, S_max).T).T  # symmetric: its transpose is in the order that BLAS reads
    operator = LinearOperator(C.shape, matvec=lambda x: linalg.blas.dsymv(1.0, C, x, lower=1), dtype=np.float64)
    start = 1.0 + np.cos(np.arange(len(C)))  # fixed, so that a fit is repeatable
    try:
        steps = min(len(C), max(3 * d // 2, d + 60))
        phi, Q = eigsh(operator, d, which="LA", v0=start, ncv=steps, maxiter=50, tol=1e-11)
    except ArpackError:
        return _dense(S_max, S_min, d)
    order = np.argsort(-phi)
    return phi[order], linalg.solve_triangular(L, Q[:, order], trans="T", lower=True, check_finite=False)


def _solve_lower(L, B, *, leaf=64):
    """L^-1 B for a lower triangular L; threads share the columns, and leave zeros at the top of their share alone."""
    X = np.zeros_like(B, order="C")
    width = -(-B.shape[1] // SHARES)

    def solve(L, B):
        if len(L) <= leaf:
            B[...] = linalg.inv(L, check_finite=False, assume_a="lower triangular") @ B
            return
        half = len(L) // 2
        solve(L[:half, :half], B[:half])
        B[half:] -= L[half:, :half] @ B[:half]
        solve(L[half:, half:], B[half:])

    def share(columns):
        part = np.array(B[:, columns], order="C")
        top = int(part.any(axis=1).argmax())
        solve(L[top:, top:], part[top:])
        X[:, columns] = part

    map_threads(share, [slice(a, a + width) for a in range(0, B.shape[1], width)])
    return X


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
