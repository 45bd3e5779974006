"""From raw rows to the coordinates that the projections act on: scaling, the span of the rows, kernels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd

from lpjt._threads import map_threads
from lpjt._typing import Array
from lpjt.core import statistics
from lpjt.core.blocks import ENTRIES, AnyRows, Rows, is_sparse, row_blocks, sum_blocks
from lpjt.core.directions import leading_directions, principal_directions
from lpjt.core.statistics import InMemory, divide_rows, row_totals

#: Scores beyond this many standard deviations are clipped. A column that is almost constant has entries at twenty
#: deviations and more, each of which would dominate its unit row.
CLIP = 3.0

#: Minimum number of leading singular directions that represent a sparse domain.
SPARSE_RANK = 256

#: Eigenvalues of a kernel matrix of n rows below n times this share of the largest are rounding.
KERNEL_FLOOR = 1e-14

#: Name of a kernel of scikit-learn, or a function of two rows.
Kernel: TypeAlias = str | Callable[..., float]


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """How the rows of one domain are scaled; None for a step that is left out."""

    row_sums: bool = False
    mean: Array | None = None  # (width,)
    deviation: Array | None = None  # (width,)
    clip: float | None = None
    unit_rows: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """The map from raw rows of one domain to coordinates, (n, width) to (n, rank)."""

    scaling: Scaling
    basis: Array | None = None  # (width or n_kernel_rows, rank); None: the coordinates are the scaled rows
    kernel_rows: Array | sparse.csr_array | None = None  # scaled rows that the kernel compares with
    kernel: Kernel | None = None
    kernel_params: dict[str, Any] | None = None


def fit_scaling(X: AnyRows, kind: str) -> Scaling:
    """Statistics of one domain for a kind of scaling.

    Parameters
    ----------
    X : array or csr_array, (n, width)
    kind : {"standard", "paper", "sum-zscore", "unit", "none"}
        "standard": z-score of each column, clipped at three deviations, then rows of unit length. "paper": rows divided
        by their sum (if no entry is negative), z-score, rows of unit length. "sum-zscore": the same without the last
        step. "unit": rows of unit length. Sparse rows are not centred.

    Returns
    -------
    Scaling
    """
    return joint_scaling([X], kind)


def joint_scaling(parts: Sequence[AnyRows], kind: str) -> Scaling:
    """`fit_scaling` of the rows of several parts of one width, taken together."""
    if kind == "none":
        return Scaling()
    if kind == "unit":
        return Scaling(unit_rows=True)
    row_sums = kind in ("paper", "sum-zscore") and min(statistics.smallest_entry(X) for X in parts) >= 0
    clip, unit_rows = CLIP if kind == "standard" else None, kind != "sum-zscore"
    if any(is_sparse(X) for X in parts):
        deviation = statistics.sparse_deviations(parts, row_sums)
        deviation = np.where(deviation > _rounding(deviation), deviation, 1.0)
        return Scaling(row_sums=row_sums, deviation=deviation, clip=clip, unit_rows=unit_rows)
    mean, deviation = statistics.column_statistics(parts, row_sums)
    precision = 1e-7 if any(X.dtype == np.float32 for X in parts) else 1e-14
    # The deviation of a constant column is rounding: its scores are zero, whatever new rows have there.
    floor = np.maximum(_rounding(deviation), precision * np.abs(mean))
    deviation = np.where(deviation > floor, deviation, np.inf)
    return Scaling(row_sums=row_sums, mean=mean, deviation=deviation, clip=clip, unit_rows=unit_rows)


def _rounding(deviation: Array) -> float:
    """Standard deviation below which a column is constant but for rounding."""
    return 1e-10 * max(float(np.max(deviation)), np.finfo(float).tiny)


def scale_rows(X: InMemory, scaling: Scaling) -> InMemory:
    """Scaled copy of the rows, dense or sparse as they are, in their dtype."""
    if is_sparse(X):
        return _scale_sparse(X, scaling)
    if scaling.row_sums:
        X = divide_rows(X, row_totals(X))
    elif scaling.deviation is not None or scaling.unit_rows:
        X = np.array(X)
    if scaling.mean is not None:
        X -= scaling.mean.astype(X.dtype)
    if scaling.deviation is not None:
        X /= scaling.deviation.astype(X.dtype)
    if scaling.clip is not None:
        np.clip(X, -scaling.clip, scaling.clip, out=X)
    if scaling.unit_rows:
        length = np.sqrt(np.einsum("ij,ij->i", X, X))
        X /= np.where(length > 0, length, 1.0)[:, None]
    return X


def scale_to_float32(X: Rows, scaling: Scaling) -> Array:
    """`scale_rows` of dense rows, in float32, without a scaled copy in their own dtype; threads share the rows."""
    scaled = np.empty(X.shape, dtype=np.float32)

    def fill(rows: slice) -> None:
        scaled[rows] = scale_rows(X[rows], scaling)

    map_threads(fill, row_blocks(X))
    return scaled


def second_moment(X: Rows, scaling: Scaling, *, entries: int = ENTRIES) -> Array:
    """S'S / n of the scaled rows S, (width, width), in float64, one block at a time."""

    def part(rows: slice) -> Array:
        S = scale_rows(X[rows], scaling)
        return S.T @ S

    gram = sum_blocks(part, row_blocks(X, entries), (X.shape[1], X.shape[1]))
    gram /= X.shape[0]
    return gram


def principal_basis(
    domains: Sequence[Rows],
    scalings: Sequence[Scaling],
    *,
    kept: float = 1.0,
    max_rank: int | None = None,
    entries: int = ENTRIES,
) -> Array | None:
    """Orthonormal basis of the leading principal directions of the scaled rows of all domains.

    A and B act through the span of the rows alone, so that ``kept=1`` loses nothing: 958 + 295 rows of 4096 columns
    become 1253 coordinates. Below 1 the directions that hold the rest of the mean square are left out.

    Parameters
    ----------
    domains : list of arrays, (n_i, width)
        Raw rows; every domain has the same weight, whatever its number of rows.
    scalings : list of Scaling
    kept : float
        Share of the mean square of the scaled rows that the basis holds at least.
    max_rank : int, optional
        Maximum number of directions, whatever they hold.
    entries : int
        Maximum number of entries of a block of rows.

    Returns
    -------
    array, (width, rank), or None
        None where the basis would be the whole space.
    """
    width = domains[0].shape[1]
    n = sum(X.shape[0] for X in domains)
    if n >= width and kept >= 1 and (max_rank is None or max_rank >= width):
        return None
    if n >= width:
        moments = np.zeros((width, width))
        for X, scaling in zip(domains, scalings, strict=True):
            moments += second_moment(X, scaling, entries=entries)
        _, basis = leading_directions(moments, kept=kept, max_rank=max_rank, overwrite=True)
    else:
        rows = np.vstack([scale_rows(X[:], s) / np.sqrt(len(X)) for X, s in zip(domains, scalings, strict=True)])
        _, basis = principal_directions(rows, kept=kept, max_rank=max_rank)
    return None if basis.shape[1] == width else np.ascontiguousarray(basis)


def span_basis(
    parts: Sequence[AnyRows],
    *,
    n_components: int,
    random_state: int | np.random.RandomState | None = None,
) -> Array | None:
    """Orthonormal basis, (width, rank), of the span of the scaled rows of all parts, or None if it is the whole space.

    Sparse parts are represented by their leading singular directions, `SPARSE_RANK` of them or four times
    `n_components`, whichever is more: lossless coordinates would be the dense matrix.
    """
    if not any(is_sparse(part) for part in parts):
        return principal_basis(parts, [Scaling()] * len(parts))
    stacked = sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    rank = min(*stacked.shape, max(SPARSE_RANK, 4 * n_components))
    return randomized_svd(stacked, rank, n_oversamples=10, n_iter=7, random_state=random_state)[2].T


def kernel_basis(
    parts: Sequence[Array | sparse.csr_array],
    kernel: Kernel,
    params: dict[str, Any],
    *,
    kept: float = 1.0,
    max_rank: int | None = None,
    max_rows: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array | sparse.csr_array, Array]:
    """Kernel-PCA coordinates of all parts together.

    With every row a kernel row and ``kept=1`` the coordinates reproduce the kernel matrix exactly, and the problem of
    the paper's appendix is the linear one in them, mu K being mu I.

    Parameters
    ----------
    parts : list of arrays or csr_arrays, (n_i, width)
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
    rows : array or csr_array, (n_kernel_rows, width)
        Rows that new rows are compared with.
    basis : array, (n_kernel_rows, rank)
    """
    if any(is_sparse(part) for part in parts):
        rows = sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    else:
        rows = np.vstack(parts)
    if max_rows is not None and rows.shape[0] > max_rows:
        rows = rows[np.sort(check_random_state(random_state).choice(rows.shape[0], max_rows, replace=False))]
    gram = np.asarray(pairwise_kernels(rows, metric=kernel, filter_params=True, **params), dtype=np.float64)
    gram = (gram + gram.T) / 2
    values, vectors = leading_directions(
        gram, kept=kept, max_rank=max_rank, floor=KERNEL_FLOOR * len(gram), overwrite=True
    )
    if values[0] <= 0:
        raise ValueError(f"The kernel {kernel!r} gives a matrix without a positive eigenvalue. Choose another kernel.")
    return rows, vectors / np.sqrt(values)


def default_kernel_width(parts: Sequence[AnyRows], *, n_rows: int = 500) -> float:
    """Width of rbf, laplacian and chi2 kernels: 1 over the mean squared distance between evenly spaced rows."""
    means, squares = [], []
    for part in parts:
        spaced = part[:: max(1, part.shape[0] // n_rows)]
        rows = spaced.toarray() if is_sparse(spaced) else spaced
        means.append(rows.mean(axis=0))
        squares.append((rows**2).sum(axis=1).mean())
    spread = 2 * float(np.mean(squares) - float((np.mean(means, axis=0) ** 2).sum()))
    return 1.0 / max(spread, np.finfo(float).eps)


def to_coordinates(X: AnyRows, coordinates: Coordinates, *, entries: int = ENTRIES, out: Array | None = None) -> Array:
    """Coordinates, (n, rank), of raw rows, block by block; written into `out` if it is given."""
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
    X = scale_rows(block, coordinates.scaling)
    if coordinates.kernel is not None:
        params = coordinates.kernel_params or {}
        kernel = pairwise_kernels(X, coordinates.kernel_rows, metric=coordinates.kernel, filter_params=True, **params)
        X = kernel.astype(X.dtype, copy=False)
    if coordinates.basis is None:
        return X.toarray() if is_sparse(X) else X
    return np.asarray(X @ coordinates.basis.astype(X.dtype, copy=False))


def _scale_sparse(X: sparse.csr_array, scaling: Scaling) -> sparse.csr_array:
    if scaling.row_sums:
        X = divide_rows(X, row_totals(X))
    if scaling.deviation is not None:
        X = sparse.csr_array(X @ sparse.diags_array(1.0 / scaling.deviation), dtype=X.dtype)
    if scaling.clip is not None:
        X = X.copy()
        np.clip(X.data, -scaling.clip, scaling.clip, out=X.data)
    if scaling.unit_rows:
        X = divide_rows(X, np.sqrt(row_totals(X.multiply(X))))
    return X
