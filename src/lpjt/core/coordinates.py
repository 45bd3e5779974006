"""From raw rows to the coordinates that the projections act on: the span of the scaled rows, kernels."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state

from lpjt._threads import map_threads
from lpjt._typing import Array
from lpjt.core.blocks import ENTRIES, AnyRows, gram_blocks, is_sparse, row_blocks, stays_sparse, sum_blocks
from lpjt.core.directions import leading_directions, principal_directions, randomised_directions
from lpjt.core.distances import rbf_values
from lpjt.core.scaling import Scaling, SparseScaled, scale_rows, scale_sparse

#: Eigenvalues of a kernel matrix of n rows below n times this share of the largest are rounding.
KERNEL_FLOOR = 1e-14

#: Coordinates in a kernel's space that are larger than this, or smaller than 1 over it, are multiplied.
EXTREME = 2.0**50

#: Kernels whose exponent grows with the size of the rows, not with its square.
ROOTED = ("laplacian", "chi2")

#: Name of a kernel of scikit-learn, or a function of two rows.
Kernel: TypeAlias = str | Callable[..., float]


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """The map from raw rows of one domain to coordinates, (n, width) to (n, rank)."""

    scaling: Scaling
    basis: Array | None = None  # (width or n_kernel_rows, rank); None: the coordinates are the scaled rows
    kernel_rows: Array | None = None  # scaled rows that the kernel compares with
    kernel: Kernel | None = None
    kernel_params: dict[str, Any] | None = None
    offset: Array | None = None  # (rank,) scores of zeros times the basis; None: sparse rows are made dense in blocks


def second_moment(X: AnyRows, scaling: Scaling, *, entries: int = ENTRIES) -> Array:
    """S'S / n of the scaled rows S, (width, width), in float64, one block at a time."""

    def part(rows: slice) -> Array:
        S = scale_rows(X[rows], scaling)
        return S.T @ S

    gram = sum_blocks(part, gram_blocks(X, entries), (X.shape[1], X.shape[1]))
    gram /= X.shape[0]
    return gram


def principal_basis(
    domains: Sequence[AnyRows],
    scalings: Sequence[Scaling],
    *,
    kept: float = 1.0,
    least: int = 1,
    max_rank: int | None = None,
    entries: int = ENTRIES,
    random_state: int | np.random.RandomState | None = None,
) -> Array | None:
    """Orthonormal basis of the leading principal directions of the scaled rows of all domains.

    A and B act through the span of the rows alone, so that ``kept=1`` loses nothing: 958 + 295 rows of 4096 columns
    become 1253 coordinates. Below 1 the directions that hold the rest of the mean square are left out.

    Parameters
    ----------
    domains : list of arrays or csr_arrays, (n_i, width)
        Raw rows; every domain has the same weight, whatever its number of rows. Sparse rows that are too many for a
        dense copy (`blocks.stays_sparse`) have directions found by a randomised search.
    scalings : list of Scaling
    kept : float
        Share of the mean square of the scaled rows that the basis holds at least.
    least : int
        Directions that are kept whatever they hold; not of sparse rows that are too many for a dense copy.
    max_rank : int, optional
        Maximum number of directions, whatever they hold.
    entries : int
        Maximum number of entries of a block of rows.
    random_state : int, numpy RandomState or None
        Start of the randomised search.

    Returns
    -------
    array, (width, rank), or None
        None where the basis would be the whole space.
    """
    width = domains[0].shape[1]
    n = sum(X.shape[0] for X in domains)
    if n >= width and kept >= 1 and (max_rank is None or max_rank >= width):
        return None
    if stays_sparse(domains):
        scaled = [_weighted(X, s) for X, s in zip(domains, scalings, strict=True)]
        basis = _sparse_directions(scaled, kept, max_rank or width, random_state)
    elif n >= width:
        moments = np.zeros((width, width))
        for X, scaling in zip(domains, scalings, strict=True):
            moments += second_moment(X, scaling, entries=entries)
        _, basis = leading_directions(moments, kept=kept, least=least, max_rank=max_rank, overwrite=True)
    else:
        rows = np.vstack([scale_rows(X[:], s) / np.sqrt(X.shape[0]) for X, s in zip(domains, scalings, strict=True)])
        _, basis = principal_directions(rows, kept=kept, least=least, max_rank=max_rank)
    return None if basis.shape[1] == width else np.ascontiguousarray(basis)


def _weighted(X: AnyRows, scaling: Scaling) -> SparseScaled:
    """Scaled rows over the root of their number, without a dense copy of sparse ones."""
    scaled = scale_sparse(sparse.csr_array(X if is_sparse(X) else X[:]), scaling)
    return replace(scaled, factors=scaled.factors / np.sqrt(X.shape[0], dtype=X.dtype))


def _sparse_directions(
    parts: Sequence[SparseScaled], kept: float, max_rank: int, random_state: int | np.random.RandomState | None
) -> Array:
    """Leading directions, (width, rank), of the rows of all parts together."""
    ends = np.cumsum([len(part.factors) for part in parts])

    def times(M: Array) -> Array:
        return np.vstack([part.times(M) for part in parts])

    def transposed_times(M: Array) -> Array:
        first, *others = zip(parts, np.split(M, ends[:-1]), strict=True)
        product = first[0].transposed_times(first[1])
        for part, piece in others:
            product += part.transposed_times(piece)
        return product

    shape = int(ends[-1]), len(parts[0].constant)
    total = sum(float(part.factors.astype(np.float64) ** 2 @ part.squares) for part in parts)
    return randomised_directions(
        times, transposed_times, shape, total=total, kept=kept, max_rank=max_rank, random_state=random_state
    )[1]


def span_basis(parts: Sequence[Array]) -> Array | None:
    """Orthonormal basis, (width, rank), of the span of the rows of all parts, or None if it is the whole space."""
    return principal_basis(parts, [Scaling()] * len(parts))


def kernel_basis(
    parts: Sequence[Array],
    kernel: Kernel,
    params: dict[str, Any],
    *,
    kept: float = 1.0,
    max_rank: int | None = None,
    max_rows: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array, Array]:
    """Kernel-PCA coordinates of all parts together.

    With every row a kernel row and ``kept=1`` the coordinates reproduce the kernel matrix exactly, and the problem of
    the paper's appendix is the linear one in them, mu K being mu I.

    Parameters
    ----------
    parts : list of arrays, (n_i, width)
        Scaled rows.
    kernel : str or callable
        As in `sklearn.metrics.pairwise.pairwise_kernels`.
    params : dict
        Parameters of the kernel; those that it does not have are ignored.
    kept, max_rank
        Share of the trace of the kernel matrix to hold, and maximum number of coordinates, as in `principal_basis`.
    max_rows : int, optional
        Above this many rows a random sample of this size represents all of them (Nystroem).
    random_state : numpy RandomState, optional
        Draws the sample.

    Returns
    -------
    rows : array, (n_kernel_rows, width)
        Rows that new rows are compared with.
    basis : array, (n_kernel_rows, rank)
    """
    rows = np.vstack(parts)
    if max_rows is not None and rows.shape[0] > max_rows:
        rows = rows[np.sort(check_random_state(random_state).choice(rows.shape[0], max_rows, replace=False))]
    gram = kernel_values(rows.astype(np.float64, copy=False), None, kernel, params).astype(np.float64, copy=False)
    gram = (gram + gram.T) / 2
    values, vectors = leading_directions(
        gram, kept=kept, max_rank=max_rank, floor=KERNEL_FLOOR * len(gram), overwrite=True
    )
    if values[0] <= 0:
        raise ValueError(f"The kernel {kernel!r} gives a matrix without a positive eigenvalue. Choose another kernel.")
    return rows, vectors / np.sqrt(values) * _moderate(float(np.sqrt(values[0])))


def _moderate(size: float) -> float:
    """Power of two that brings coordinates of an extreme size to about one, so that float32 holds squares; else 1."""
    return 1.0 if 1 / EXTREME <= size <= EXTREME else math.ldexp(1.0, -math.frexp(size)[1])


def kernel_values(X: Array, others: Array | None, kernel: Kernel, params: dict[str, Any]) -> Array:
    """Kernel of rows and others, (n, n_others), or of the rows themselves; refused if it is not finite."""
    if kernel == "chi2" and min(float(X.min(initial=0)), 0.0 if others is None else float(others.min(initial=0))) < 0:
        raise ValueError(
            "kernel='chi2' is for rows without negative values, but these have some. Choose another kernel, or give "
            "counts or shares, with scaling='unit' or 'none'."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        if kernel == "rbf" and "gamma" in params:
            values = rbf_values(X, X if others is None else others, params["gamma"])
        else:
            # Compiled kernels of scikit-learn take no read-only rows.
            both = [part if part is None or part.flags.writeable else part.copy() for part in (X, others)]
            values = np.asarray(pairwise_kernels(*both, metric=kernel, filter_params=True, **params))
    if not np.isfinite(values).all():
        raise ValueError(
            f"The kernel {kernel!r} gives values that are not finite for these rows. Choose another kernel, smaller "
            "values of its gamma and degree, or another scaling than 'none'."
        )
    return values


def default_kernel_width(parts: Sequence[Array], kernel: Kernel = "rbf", *, n_rows: int = 500) -> float:
    """Coefficient of a kernel that has none: 1 over the mean squared distance between evenly spaced rows.

    The kernels of `ROOTED` add up differences that are not squared, so theirs is 1 over the root of that distance. Rows
    times any factor then have the same kernel values.
    """
    some = [part[:: max(1, len(part) // n_rows)].astype(np.float64, copy=False) for part in parts]
    middle = np.mean([rows.mean(axis=0) for rows in some], axis=0)
    # Around their middle: the squares of rows far from zero would cancel.
    spread = 2 * float(np.mean([((rows - middle) ** 2).sum(axis=1).mean() for rows in some]))
    # Where all rows are equal only rounding is left, which grows with the rows; of zeros any coefficient will do.
    spread = max(spread, np.finfo(float).eps ** 2 * float(middle @ middle)) or 1.0
    return 1.0 / (spread**0.5 if kernel in ROOTED else spread)


def to_coordinates(X: AnyRows, coordinates: Coordinates, *, entries: int = ENTRIES, out: Array | None = None) -> Array:
    """Coordinates, (n, rank), of raw rows, block by block; written into `out` if it is given."""
    if coordinates.kernel_rows is not None:
        entries = max(entries, coordinates.kernel_rows.size // 4)  # each block reads all kernel rows
    blocks = row_blocks(X, entries) or [slice(0, 0)]
    if out is None and len(blocks) == 1:
        return _block_coordinates(X[blocks[0]], coordinates)
    if out is None:
        few = _block_coordinates(X[:1], coordinates)
        out = np.empty((X.shape[0], few.shape[1]), dtype=few.dtype)
    into = out

    def fill(rows: slice) -> None:
        into[rows] = _block_coordinates(X[rows], coordinates)

    map_threads(fill, blocks)
    return into


def rank_of(coordinates: Coordinates, width: int) -> int:
    """Number of coordinates of raw rows of the given width."""
    return width if coordinates.basis is None else coordinates.basis.shape[1]


def _block_coordinates(block: Array | sparse.csr_array, coordinates: Coordinates) -> Array:
    if is_sparse(block) and coordinates.basis is not None and coordinates.offset is not None:
        basis, offset = (part.astype(block.dtype, copy=False) for part in (coordinates.basis, coordinates.offset))
        return scale_sparse(block, coordinates.scaling).times(basis, offset)
    X = scale_rows(block, coordinates.scaling)
    if coordinates.kernel is not None:
        params = coordinates.kernel_params or {}
        kernel = kernel_values(X, coordinates.kernel_rows, coordinates.kernel, params)
        if coordinates.basis is None:
            return kernel.astype(X.dtype, copy=False)
        # In the kernel's own precision: powers of large float32 rows overflow it, and their basis is as small.
        return np.asarray(kernel @ coordinates.basis.astype(kernel.dtype, copy=False)).astype(X.dtype, copy=False)
    if coordinates.basis is None:
        return X
    return np.asarray(X @ coordinates.basis.astype(X.dtype, copy=False))
