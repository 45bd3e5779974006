"""From raw rows to the coordinates in which the projections are sought: scaling, the span of the rows, kernels."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.sparsefuncs import mean_variance_axis

from lpjt._threads import map_threads
from lpjt.core.blocks import ENTRIES, row_blocks, sum_blocks

#: Scores beyond this many standard deviations are cut. A column that is almost always the same has rows at twenty
#: deviations and more, which would fill their unit row alone.
CLIP = 3.0

#: A sparse domain is represented by so many leading singular directions at least.
SPARSE_RANK = 256


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """How the rows of one domain are scaled; None for a step that is left out."""

    row_sums: bool = False
    mean: np.ndarray | None = None  # (width,)
    deviation: np.ndarray | None = None  # (width,)
    clip: float | None = None
    unit_rows: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """The map from raw rows of one domain to coordinates, (n, width) to (n, rank)."""

    scaling: Scaling
    basis: np.ndarray | None = None  # (width or n_kernel_rows, rank); None where the coordinates are the scaled rows
    kernel_rows: np.ndarray | sparse.csr_array | None = None  # scaled rows that the kernel compares with
    kernel: object = None
    kernel_params: dict | None = None


def fit_scaling(X, kind):
    """Statistics of one domain for a kind of scaling.

    Parameters
    ----------
    X : array or csr_array, (n, width)
    kind : {"standard", "paper", "sum-zscore", "unit", "none"}
        "standard": z-score of each column, cut at three deviations, rows of unit length. "paper": rows of sum 1 (where
        nothing is negative), z-score, rows of unit length. "sum-zscore": the same, but for the last step. "unit": rows
        of unit length. Sparse rows are not centred.

    Returns
    -------
    Scaling
    """
    return joint_scaling([X], kind)


def joint_scaling(parts, kind):
    """`fit_scaling` of the rows of several parts of one width, taken together."""
    if kind == "none":
        return Scaling()
    if kind == "unit":
        return Scaling(unit_rows=True)
    row_sums = kind in ("paper", "sum-zscore") and min(_smallest(X) for X in parts) >= 0
    if sparse.issparse(parts[0]):
        X = sparse.vstack(parts, format="csr")
        X = _divide_rows(X, np.asarray(X.sum(axis=1)).ravel()) if row_sums else X
        _, variance = mean_variance_axis(X, axis=0)
        deviation, mean = np.sqrt(variance), None
    else:
        mean, deviation = _column_statistics(parts, row_sums)
    # A constant column has rounding for a deviation: it is left as it is, that is, zero once centred.
    floor = 1e-10 * max(float(np.max(deviation)), np.finfo(float).tiny)
    if mean is not None:
        single = any(X.dtype == np.float32 for X in parts)
        floor = np.maximum(floor, (1e-7 if single else 1e-14) * np.abs(mean))
    deviation = np.where(deviation > floor, deviation, np.inf if mean is not None else 1.0)
    clip = CLIP if kind == "standard" else None
    return Scaling(row_sums=row_sums, mean=mean, deviation=deviation, clip=clip, unit_rows=kind != "sum-zscore")


def scale_rows(X, scaling):
    """Scaled copy of the rows, in their dtype; sparse rows stay sparse."""
    if sparse.issparse(X):
        return _scale_sparse(X, scaling)
    if scaling.row_sums:
        X = _divide_rows(X, X.sum(axis=1))
    elif scaling.deviation is not None or scaling.unit_rows:
        X = np.array(X)
    if scaling.deviation is not None:
        X -= scaling.mean.astype(X.dtype)
        X /= scaling.deviation.astype(X.dtype)
    if scaling.clip is not None:
        np.clip(X, -scaling.clip, scaling.clip, out=X)
    if scaling.unit_rows:
        length = np.sqrt(np.einsum("ij,ij->i", X, X))
        X /= np.where(length > 0, length, 1.0)[:, None]
    return X


def scale_to_float32(X, scaling):
    """`scale_rows` of dense rows, in float32; threads share them, and no scaled copy in their own dtype is made."""
    scaled = np.empty(X.shape, dtype=np.float32)

    def fill(rows):
        scaled[rows] = scale_rows(X[rows], scaling)

    map_threads(fill, row_blocks(X))
    return scaled


def second_moment(X, scaling, *, entries=ENTRIES):
    """S'S / n in float64, (width, width), of the scaled rows S; a block of them at a time."""

    def part(rows):
        S = scale_rows(X[rows], scaling)
        return S.T @ S

    gram = sum_blocks(part, row_blocks(X, entries), (X.shape[1], X.shape[1]))
    gram /= X.shape[0]
    return gram


def principal_basis(domains, scalings, *, kept=1.0, max_rank=None, entries=ENTRIES):
    """Orthonormal basis, (width, rank), of the leading principal directions of all domains, or None for all of them.

    A and B act through the span of the rows alone: with `kept` 1 nothing is lost, and 4096 columns of 958 + 295 rows
    become 1253. Below 1 the directions are left out that hold less than the rest of the mean square.

    Parameters
    ----------
    domains : list of arrays, (n_i, width)
        Raw rows; each domain counts alike, whatever its rows.
    scalings : list of Scaling
    kept : float
        Share of the mean square of the scaled rows that the basis holds at least.
    max_rank : int, optional
        No more directions than these, whatever they hold.
    entries : int
        Of the blocks of rows.

    Returns
    -------
    array, (width, rank), or None
        None where the rank is the width.
    """
    width = domains[0].shape[1]
    n = sum(X.shape[0] for X in domains)
    if n >= width and kept >= 1 and (max_rank is None or max_rank >= width):
        return None
    if n >= width:
        moments = sum(second_moment(X, s, entries=entries) for X, s in zip(domains, scalings, strict=True))
        total, first = np.trace(moments), width - min(width, max_rank or width)
        chosen: dict = {"driver": "evr", "subset_by_index": (first, width - 1)} if first else {"driver": "evd"}
        values, vectors = linalg.eigh(moments, check_finite=False, overwrite_a=True, **chosen)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    else:
        rows = np.vstack([scale_rows(X[:], s) / np.sqrt(len(X)) for X, s in zip(domains, scalings, strict=True)])
        _, values, right = linalg.svd(rows, full_matrices=False, check_finite=False)
        floor = values[0] * max(rows.shape) * np.finfo(rows.dtype).eps
        spanned = max(1, int((values > floor).sum()))
        values, vectors = values[:spanned].astype(np.float64) ** 2, right[:spanned].T
        total = values.sum()
    rank = min(len(values), max_rank or width)
    if kept < 1:
        rank = min(rank, 1 + int(np.searchsorted(np.cumsum(values), kept * total)))
    return None if rank == width else np.ascontiguousarray(vectors[:, :rank])


def span_basis(parts, *, n_components, random_state=None):
    """Orthonormal basis, (width, rank), of the span of scaled rows of all parts, or None where it is the whole space.

    Sparse parts are represented by their leading singular directions, at least `SPARSE_RANK` or four times the
    components: lossless coordinates would be the dense matrix.
    """
    if not any(sparse.issparse(part) for part in parts):
        return principal_basis(parts, [Scaling()] * len(parts))
    stacked = sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    rank = min(*stacked.shape, max(SPARSE_RANK, 4 * n_components))
    return randomized_svd(stacked, rank, n_oversamples=10, n_iter=7, random_state=random_state)[2].T


def kernel_basis(parts, kernel, params, *, max_rows, random_state):
    """Kernel-PCA coordinates of all parts together: (landmark rows, basis (n_kernel_rows, rank)).

    With every row a landmark the coordinates reproduce the kernel matrix exactly, and the appendix's problem is the
    linear one in them, mu K being mu I. Beyond `max_rows` rows a sample of so many stands for them (Nystroem).
    """
    if any(sparse.issparse(part) for part in parts):
        rows = sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    else:
        rows = np.vstack(parts)
    if rows.shape[0] > max_rows:
        rows = rows[np.sort(random_state.choice(rows.shape[0], max_rows, replace=False))]
    gram = np.asarray(pairwise_kernels(rows, metric=kernel, filter_params=True, **params), dtype=np.float64)
    values, vectors = linalg.eigh((gram + gram.T) / 2, check_finite=False)
    kept = values > values[-1] * len(values) * 1e-14
    if values[-1] <= 0:
        raise ValueError(f"The kernel {kernel!r} gives a matrix without a positive eigenvalue. Choose another kernel.")
    return rows, vectors[:, kept] / np.sqrt(values[kept])


def default_kernel_width(parts, *, n_rows=500):
    """Width for rbf, laplacian and chi2 kernels: 1 over the mean squared distance between a spread of rows."""
    means, squares = [], []
    for part in parts:
        rows = part[:: max(1, part.shape[0] // n_rows)]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        means.append(rows.mean(axis=0))
        squares.append((rows**2).sum(axis=1).mean())
    spread = 2 * (np.mean(squares) - float((np.mean(means, axis=0) ** 2).sum()))
    return 1.0 / max(spread, np.finfo(float).eps)


def to_coordinates(X, coordinates, *, entries=ENTRIES, out=None):
    """Coordinates, (n, rank), of raw rows, made block by block, into `out` where it is given."""
    blocks = row_blocks(X, entries) or [slice(0, 0)]
    if out is None and len(blocks) == 1:
        return _block_coordinates(X[blocks[0]], coordinates)
    if out is None:
        few = _block_coordinates(X[:1], coordinates)
        out = np.empty((X.shape[0], few.shape[1]), dtype=few.dtype)

    def fill(rows):
        out[rows] = _block_coordinates(X[rows], coordinates)

    map_threads(fill, blocks)
    return out


def rank_of(coordinates, width):
    """Columns of the coordinates of raw rows of a width."""
    return width if coordinates.basis is None else coordinates.basis.shape[1]


def _block_coordinates(X, coordinates):
    X = scale_rows(X, coordinates.scaling)
    if coordinates.kernel is not None:
        dtype = X.dtype
        X = pairwise_kernels(
            X,
            coordinates.kernel_rows,
            metric=coordinates.kernel,
            filter_params=True,
            **coordinates.kernel_params,
        ).astype(dtype, copy=False)
    if coordinates.basis is None:
        return X.toarray() if sparse.issparse(X) else X
    return np.asarray(X @ coordinates.basis.astype(X.dtype, copy=False))


def _scale_sparse(X, scaling):
    if scaling.row_sums:
        X = _divide_rows(X, np.asarray(X.sum(axis=1)).ravel())
    if scaling.deviation is not None:
        X = sparse.csr_array(X @ sparse.diags_array(1.0 / scaling.deviation), dtype=X.dtype)
    if scaling.clip is not None:
        X = X.copy()
        np.clip(X.data, -scaling.clip, scaling.clip, out=X.data)
    if scaling.unit_rows:
        X = _divide_rows(X, np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()))
    return X


def _column_statistics(parts, row_sums):
    """Mean and standard deviation of each column, in float64, in one reading of the rows."""
    n, width = sum(X.shape[0] for X in parts), parts[0].shape[1]
    pivot = _divided(parts[0][row_blocks(parts[0])[0]], row_sums).mean(axis=0)

    def sums(of_part):
        X, rows = of_part
        # Squares about the first block's mean: about zero they would cancel where a mean is far from it.
        block = _divided(X[rows], row_sums) - pivot
        return block.sum(axis=0, dtype=np.float64), np.einsum("ij,ij->j", block, block)

    total, squares = sum_blocks(sums, [(X, rows) for X in parts for rows in row_blocks(X)], (2, width))
    return pivot + total / n, np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0.0))


def _divided(rows, row_sums):
    return _divide_rows(rows, rows.sum(axis=1)) if row_sums else rows


def _smallest(X):
    """Smallest entry."""
    return X.min() if sparse.issparse(X) else min(X[rows].min() for rows in row_blocks(X))


def _divide_rows(X, by):
    by = np.where(by > 0, by, 1.0)
    if sparse.issparse(X):
        return sparse.csr_array(sparse.diags_array(1.0 / by) @ X, dtype=X.dtype)
    return (X / by[:, None]).astype(X.dtype, copy=False)
