"""Symmetric positive definite systems with many right-hand sides: sparse and large, or small."""

import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import linalg, sparse

from lpjt._threads import map_threads
from lpjt._typing import Array
from lpjt._warnings import TransferWarning


@dataclass(frozen=True, slots=True, eq=False)
class LinearSolution:
    """Solution of a symmetric positive definite system for many right-hand sides."""

    values: Array  # (n, n_columns)
    residual: float  # largest relative residual of any column


#: From this many unknowns on, threads share the columns, with at most `COLUMNS_EACH` at a time: fewer read the graph
#: more often, more do not fit the cache.
MANY_ENTRIES, COLUMNS_EACH = 2**19, 32


#: Tolerance from which on large systems are solved in float32, unless an entry of the diagonal is smaller than this.
SINGLE_TOLERANCE, SINGLE_LEAST = 1e-4, 1e-20

#: Small systems are factorised, which is quicker than conjugate gradients: up to this many unknowns, and more if there
#: are many columns, as long as the square of the unknowns is at most this many times the number of columns.
DIRECT_UP_TO, DIRECT_PER_COLUMN = 400, 2000


def is_shared(n_rows: int, n_columns: int) -> bool:
    """Whether threads share the columns of a system of this size."""
    return n_rows * n_columns >= MANY_ENTRIES


def solve_definite(A: sparse.csr_array | Array, B: Array, *, tol: float = 1e-8) -> LinearSolution:
    """Solve ``A F = B``, A symmetric positive definite: directly if A is small, else by conjugate gradients.

    Also by conjugate gradients if the factorisation fails or is not as accurate as `tol` asks: weights of edges span
    hundreds of orders of magnitude, and the steps are scaled by the diagonal. Large systems of which no more than
    `SINGLE_TOLERANCE` is asked are solved in float32, in half the time.
    """
    n, n_columns = B.shape
    if n <= DIRECT_UP_TO or n * n <= DIRECT_PER_COLUMN * n_columns:
        solution = _factorised(A if isinstance(A, np.ndarray) else A.toarray(), B)
        if solution.residual < tol:
            return solution
    A = sparse.csr_array(A)
    if tol < SINGLE_TOLERANCE or not is_shared(*B.shape) or A.diagonal().min() < SINGLE_LEAST:
        return conjugate_gradients(A, B, tol=tol)
    return conjugate_gradients(_in_single(A), B, tol=tol)


def _in_single(A: sparse.csr_array) -> sparse.csr_array:
    """The matrix in float32 with short indices, which each product reads."""
    short = np.int32 if A.nnz < 2**31 else np.int64
    values = A.data.astype(np.float32)
    return sparse.csr_array((values, A.indices.astype(short), A.indptr.astype(short)), shape=A.shape)


def _factorised(A: Array, B: Array) -> LinearSolution:
    """Solution by a Cholesky factor, O(n^3); its residual is infinite if A is not definite in float64."""
    root = 1.0 / np.sqrt(A.diagonal())[:, None]
    scaled = root * A
    scaled *= root.T
    # The transpose has the memory order of LAPACK, which then makes no copy.
    factor, failed = linalg.lapack.dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return LinearSolution(B, np.inf)
    F = root * linalg.lapack.dpotrs(factor, root * B, lower=1)[0]
    norm = np.maximum(np.linalg.norm(B, axis=0), np.finfo(float).tiny)
    return LinearSolution(F, float((np.linalg.norm(A @ F - B, axis=0) / norm).max(initial=0.0)))


def conjugate_gradients(A: sparse.csr_array, B: Array, *, tol: float = 1e-8, max_iter: int = 2000) -> LinearSolution:
    """Solve ``A F = B`` by conjugate gradients with the diagonal as preconditioner, all columns together.

    O(nnz(A) n_columns) per step; the columns share each product with A. Computed in the precision of A.

    Parameters
    ----------
    A : sparse array, (n, n), symmetric positive definite
    B : array, (n, n_columns)
    tol : float
        The method stops once the residual of every column is below this share of its right-hand side.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    LinearSolution
    """
    inverse = 1.0 / A.diagonal()[:, None]
    if not is_shared(*B.shape):
        return _certified(_solve_together(A, inverse, B, tol, max_iter), tol, max_iter)
    F = np.empty_like(B)  # converted part by part: with hundreds of classes every copy is as large as all rows

    def solve(columns: slice) -> float:
        solution = _solve_together(A, inverse, np.ascontiguousarray(B[:, columns], dtype=A.dtype), tol, max_iter)
        F[:, columns] = solution.values
        return solution.residual

    n_parts = min(B.shape[1], max(2, -(-B.shape[1] // COLUMNS_EACH)))
    ends = [B.shape[1] * i // n_parts for i in range(n_parts + 1)]
    parts = [slice(a, b) for a, b in pairwise(ends)]
    return _certified(LinearSolution(F, max(map_threads(solve, parts))), tol, max_iter)


def _certified(solution: LinearSolution, tol: float, max_iter: int) -> LinearSolution:
    """The solution, with a warning if its residual is not what was asked for."""
    if not solution.residual < tol:
        warnings.warn(
            f"Labels were propagated to a relative residual of {solution.residual:.1e} only, not {tol:.0e}, in "
            f"{max_iter} steps. Rows far from all labelled ones may have wrong labels: increase n_neighbors of "
            "classifier=Propagation(...), or label some of these rows.",
            TransferWarning,
            stacklevel=3,
        )
    return solution


def _solve_together(A: sparse.csr_array, inverse: Array, B: Array, tol: float, max_iter: int) -> LinearSolution:
    tiny = np.finfo(B.dtype).tiny
    F = np.zeros_like(B)
    R = B.copy()
    S = inverse * R
    P, T = S.copy(), np.empty_like(B)
    rho = _column_products(R, S)
    norm = np.maximum(np.sqrt(_column_products(B, B)), tiny)
    residual = np.inf
    for _ in range(max_iter):
        Q = A @ P
        step = rho / np.maximum(_column_products(P, Q), tiny)
        F += np.multiply(step, P, out=T)
        R -= np.multiply(step, Q, out=T)
        residual = float((np.sqrt(_column_products(R, R)) / norm).max())
        if residual < tol:
            break
        np.multiply(inverse, R, out=S)
        rho, previous = _column_products(R, S), rho
        P *= rho / np.maximum(previous, tiny)
        P += S
    return LinearSolution(F, residual)


def _column_products(P: Array, Q: Array) -> Array:
    """Inner product of each column of P with the same column of Q."""
    return np.einsum("ij,ij->j", P, Q)
