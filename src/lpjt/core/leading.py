"""The largest eigenvalues of a symmetric matrix, or of a definite pair, and their eigenvectors alone, by LAPACK."""

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from lpjt._typing import Array

#: Where more than one eigenvector in this many is wanted, all of them by divide and conquer take less time.
FEW_SHARE = 3

#: Largest entry of Q'Q - I of eigenvectors found by inverse iteration.
ORTHONORMAL = 1e-10

#: Columns of a block of LAPACK's routines; with room for one only they would work column by column.
BLOCK = 64


def are_few(d: int, size: int) -> bool:
    """Whether d eigenvectors of a matrix of this size are found by inverse iteration, in less time than all of them."""
    return 0 < FEW_SHARE * d <= size


def largest_of_matrix(S: Array, d: int, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Largest d eigenvalues of a symmetric S, (size, size), in increasing order, and eigenvectors, (size, d).

    In half of the time of ``eigh(S, subset_by_index=...)``: S is brought to tridiagonal form, all of whose eigenvalues
    take O(size^2); inverse iteration finds the wanted vectors, and these alone are turned back. That routine takes over
    where inverse iteration fails, and for float32. With `overwrite`, S in Fortran's memory order may be destroyed.
    """
    size, of_diagonal = len(S), S.diagonal().copy()
    wanted = {"subset_by_index": (size - d, size - 1), "check_finite": False}
    if S.dtype != np.float64:
        return linalg.eigh(S, overwrite_a=overwrite, **wanted)
    form, diagonal, beside, turns, _ = lapack.dsytrd(S, lower=1, lwork=BLOCK * size, overwrite_a=overwrite)
    values, failed = lapack.dsterf(diagonal, beside)
    if not failed:
        first, last = np.ones(size, dtype=np.int32), np.full(size, size, dtype=np.int32)  # one block of all rows
        Q, failed = lapack.dstein(diagonal, beside, values[-d:], first, last)
    if failed or not np.abs(Q.T @ Q - np.eye(d)).max() < ORTHONORMAL:
        np.einsum("ii->i", form)[:] = of_diagonal  # the upper triangle is still that of S
        return linalg.eigh(form, lower=False, **wanted)
    # The turns are stored as those of a QR decomposition, but for the first row, which none of them changes.
    Q[1:], _, _ = lapack.dormqr("L", "N", form[1:, :-1], turns, Q[1:], BLOCK * d)
    return values[-d:], Q


def largest_of_pair(A: Array, B: Array, d: int) -> tuple[Array, Array]:
    """Largest d eigenvalues of ``A p = phi B p``, in increasing order, and B-orthonormal eigenvectors, (size, d).

    A is symmetric, and B symmetric positive definite; B may be destroyed.
    """
    # The transposes are the same matrices in the memory order of LAPACK.
    L, failed = lapack.dpotrf(B.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("The second matrix of the pair is not positive definite.")
    reduced, _ = lapack.dsygst(A.T, L, lower=1)
    phi, Q = largest_of_matrix(reduced, d, overwrite=True)
    return phi, lapack.dtrtrs(L, Q, lower=1, trans=1)[0]
