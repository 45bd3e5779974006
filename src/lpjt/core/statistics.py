"""Statistics of the columns of raw rows, dense, sparse or on disk, for their scaling."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from scipy import sparse

from lpjt._typing import Array
from lpjt.core.blocks import AnyRows, as_dense, is_sparse, row_blocks, stays_sparse, sum_blocks

#: Dense rows in memory, or sparse ones; what goes in comes out.
InMemory = TypeVar("InMemory", Array, sparse.csr_array)


def rescale(rows: InMemory, factor: float | None) -> InMemory:
    """Rows times a factor, in float64, which holds them; the rows themselves if there is none."""
    return rows if factor is None else rows.astype(np.float64) * factor


def column_statistics(parts: Sequence[AnyRows], row_sums: bool, factor: float | None = None) -> tuple[Array, Array]:
    """Mean and standard deviation of each column of all parts together, in float64, reading the rows once.

    With `row_sums` those of the rows divided by their sums; with a `factor` those of the rows times it.
    """
    n, width = sum(X.shape[0] for X in parts), parts[0].shape[1]
    if stays_sparse(parts):
        each = [
            _sparse_statistics(X, row_sums, factor) if is_sparse(X) else column_statistics([X], row_sums, factor)
            for X in parts
        ]
        shares = [X.shape[0] / n for X in parts]
        mean = sum(share * m for share, (m, _) in zip(shares, each, strict=True))
        variance = sum(share * (d**2 + (m - mean) ** 2) for share, (m, d) in zip(shares, each, strict=True))
        return mean, np.sqrt(variance)
    pivot = _divided(parts[0][row_blocks(parts[0])[0]], row_sums, factor).mean(axis=0)

    def sums(block: tuple[AnyRows, slice]) -> tuple[Array, Array]:
        X, rows = block
        # Squares about the first block's mean: about zero they would cancel where a mean is far from it.
        centred = _divided(X[rows], row_sums, factor) - pivot
        return centred.sum(axis=0, dtype=np.float64), np.einsum("ij,ij->j", centred, centred)

    total, squares = sum_blocks(sums, [(X, rows) for X in parts for rows in row_blocks(X)], (2, width))
    return pivot + total / n, np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0.0))


def _sparse_statistics(X: sparse.csr_array, row_sums: bool, factor: float | None) -> tuple[Array, Array]:
    """`column_statistics` of one sparse part, from its stored entries."""
    X = rescale(X, factor)
    if row_sums:
        X = divide_rows(X, row_totals(X))
    n, width = X.shape
    mean = np.bincount(X.indices, X.data, width) / n
    squares = np.bincount(X.indices, (X.data - mean[X.indices]) ** 2, width)
    squares += (n - np.bincount(X.indices, minlength=width)) * mean**2
    return mean, np.sqrt(squares / n)


def smallest_entry(X: AnyRows) -> float:
    """Smallest entry of the rows, which are read block by block."""
    return float(X.min()) if is_sparse(X) else min(float(X[rows].min()) for rows in row_blocks(X))


def largest_entry(X: AnyRows) -> float:
    """Largest absolute value of the rows, which are read block by block if they are on disk."""
    blocks = [X] if isinstance(X, np.ndarray) else [X.data] if is_sparse(X) else (X[rows] for rows in row_blocks(X))
    return max((float(max(b.max(initial=0), -b.min(initial=0))) for b in blocks), default=0.0)


def row_totals(X: Array | sparse.csr_array) -> Array:
    """Sum of each row, (n,)."""
    return np.asarray(X.sum(axis=1)).ravel()


def divide_rows(X: InMemory, divisors: Array) -> InMemory:
    """Rows divided by one number each, in their dtype; rows whose number is not positive stay. Sparse stays sparse."""
    divisors = np.where(divisors > 0, divisors, 1.0)
    if is_sparse(X):
        return sparse.csr_array(sparse.diags_array(1.0 / divisors) @ X, dtype=X.dtype)
    return (X / divisors[:, None]).astype(X.dtype, copy=False)


def _divided(rows: Array | sparse.csr_array, row_sums: bool, factor: float | None) -> Array:
    rows = rescale(as_dense(rows), factor)
    return divide_rows(rows, row_totals(rows)) if row_sums else rows
