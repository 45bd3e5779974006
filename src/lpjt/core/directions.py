"""Leading directions of a symmetric matrix or of rows, by one routine for all of the package."""

from collections.abc import Callable

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from lpjt._typing import Array
from lpjt.core.leading import are_few, largest_of_matrix


def leading_directions(
    S: Array,
    *,
    kept: float = 1.0,
    least: int = 1,
    max_rank: int | None = None,
    floor: float = 0.0,
    overwrite: bool = False,
) -> tuple[Array, Array]:
    """Leading eigenvalues and eigenvectors of a symmetric positive semidefinite matrix.

    Parameters
    ----------
    S : array, (size, size)
    kept : float
        Share of the trace that the directions hold at least; 1 keeps all directions.
    least : int
        Directions that are kept whatever they hold, but for rounding: where rows have a large common part, one
        direction holds nearly all of the trace, and all differences between rows are in the others.
    max_rank : int, optional
        Maximum number of directions, whatever they hold.
    floor : float
        Directions whose eigenvalue is at most this share of the largest are rounding, and left out; 0 keeps all.
    overwrite : bool
        Whether `S` may be destroyed, which saves a copy.

    Returns
    -------
    values : array, (rank,)
        Eigenvalues in decreasing order, negative ones set to zero; rank is at least 1.
    vectors : array, (size, rank)
        Orthonormal columns, each with its largest entry positive.
    """
    size, total = len(S), float(np.trace(S))
    # The transpose is the same matrix in the memory order of LAPACK, which would copy it otherwise.
    given = S.T if S.flags.c_contiguous else S
    if max_rank is not None and are_few(max_rank, size):
        values, vectors = largest_of_matrix(given, max_rank, overwrite=overwrite)
    else:
        driver = "evd" if size > 1 else "ev"  # "evd" of older scipy fails on a single column
        values, vectors = linalg.eigh(given, check_finite=False, overwrite_a=overwrite, driver=driver)
    return _cut(np.maximum(values[::-1], 0.0), vectors[:, ::-1], total, kept, least, max_rank, floor)


def principal_directions(
    rows: Array, *, kept: float = 1.0, least: int = 1, max_rank: int | None = None, floor: float = 0.0
) -> tuple[Array, Array]:
    """Leading directions of rows, about the origin: `leading_directions` of their Gram matrix X'X.

    Fewer rows than columns are decomposed themselves if all directions are wanted: O(n^2 width), and directions that
    they do not span are left out. Leading directions alone come from XX', in a sixth of the time: squaring loses half
    of the digits, which only the directions feel that hold next to nothing.

    Parameters
    ----------
    rows : array, (n, width)
        Centred by the caller where directions about the mean are wanted.
    kept, least, max_rank, floor
        As in `leading_directions`.

    Returns
    -------
    values : array, (rank,)
        Squared singular values, in decreasing order.
    vectors : array, (width, rank)
    """
    if len(rows) >= rows.shape[1]:
        gram = rows.T @ rows
        return leading_directions(gram, kept=kept, least=least, max_rank=max_rank, floor=floor, overwrite=True)
    rounding = (max(rows.shape) * float(np.finfo(rows.dtype).eps)) ** 2
    if kept < 1 or max_rank is not None:
        wide = rows.astype(np.float64, copy=False)
        values, left = leading_directions(
            wide @ wide.T,
            kept=kept,
            least=least,
            max_rank=max_rank,
            floor=max(floor, rounding, NEGLIGIBLE),
            overwrite=True,
        )
        right = wide.T @ (left / np.sqrt(np.maximum(values, np.finfo(float).tiny)))
        return values, fix_signs(right).astype(rows.dtype, copy=False)
    _, roots, right = linalg.svd(rows, full_matrices=False, check_finite=False)
    values = roots.astype(np.float64) ** 2
    return _cut(values, right.T, float(values.sum()), kept, least, max_rank, max(floor, rounding))


#: An eigenvalue below this share of the largest is rounding.
NEGLIGIBLE = 1e-12

#: Further directions that the randomised search looks for, and its power iterations: for slowly falling spectra.
OVERSAMPLED, POWER_ITERATIONS = 10, 7


def randomised_directions(
    times: Callable[[Array], Array],
    transposed_times: Callable[[Array], Array],
    shape: tuple[int, int],
    *,
    total: float,
    kept: float,
    max_rank: int,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array, Array]:
    """`principal_directions` of rows X that are known by their products alone: a randomised range finder.

    Exact if `max_rank` and `OVERSAMPLED` more cover the span of the rows.

    Parameters
    ----------
    times, transposed_times : callables
        X M and X' M of a matrix M.
    shape : (n, width)
        Of X.
    total : float
        Sum of the squares of all entries of X.
    kept, max_rank
        As in `leading_directions`.
    random_state : int, numpy RandomState or None

    Returns
    -------
    values : array, (rank,)
    vectors : array, (width, rank)
    """
    n, width = shape
    size = min(n, width, max_rank + OVERSAMPLED)
    # The iterated basis is one of the smaller side, where its QR decompositions cost less.
    forth, back = (transposed_times, times) if n < width else (times, transposed_times)
    basis = check_random_state(random_state).normal(size=(min(shape), size))
    for _ in range(POWER_ITERATIONS if size < min(shape) else 0):
        basis = back(forth(linalg.qr(basis, mode="economic", check_finite=False)[0]))
    basis, _ = linalg.qr(basis, mode="economic", check_finite=False)
    left, roots, right = linalg.svd(forth(basis), full_matrices=False, overwrite_a=True, check_finite=False)
    vectors = left if n < width else basis @ right.T
    rounding = (max(shape) * float(np.finfo(roots.dtype).eps)) ** 2
    return _cut(roots.astype(np.float64) ** 2, vectors, total, kept, 1, max_rank, rounding)


def fix_signs(vectors: Array) -> Array:
    """Columns with their largest entry positive: the sign of an eigenvector is arbitrary."""
    return vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), range(vectors.shape[1])])


def _cut(
    values: Array, vectors: Array, total: float, kept: float, least: int, max_rank: int | None, floor: float
) -> tuple[Array, Array]:
    rank = len(values) if floor == 0 else max(1, int((values > floor * values[0]).sum()))
    rank = min(rank, max_rank or rank)
    if kept < 1:
        # An indefinite kernel has a trace below the sum of its positive eigenvalues.
        total = max(total, float(values.sum()))
        real = int((values > NEGLIGIBLE * values[0]).sum())
        rank = min(rank, max(1 + int(np.searchsorted(np.cumsum(values), kept * total)), min(least, real)))
    return values[:rank], fix_signs(vectors[:, :rank])
