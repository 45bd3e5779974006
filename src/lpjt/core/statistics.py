"""Statistics of the columns of raw rows, dense, sparse or on disk, for their scaling."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from scipy import sparse

from lpjt._typing import Array
from lpjt.core.blocks import AnyRows, as_dense, is_sparse, row_blocks, stays_sparse, sum_blocks

#: Dense rows in memory, or sparse ones; what goes in comes out.
InMemory = TypeVar("InMemory", Array, sparse.csr_array)


def column_statistics(parts: Sequence[AnyRows], row_sums: bool) -> tuple[Array, Array]:
    """Mean and standard deviation of each column of all parts together, in float64, reading the rows once.

    With `row_sums` those of the rows divided by their sums.
    """
    n, width = sum(X.shape[0] for X in parts), parts[0].shape[1]
    if stays_sparse(parts):
        each = [_sparse_statistics(X, row_sums) if is_sparse(X) else column_statistics([X], row_sums) for X in parts]
        shares = [X.shape[0] / n for X in parts]
        mean = sum(share * m for share, (m, _) in zip(shares, each, strict=True))
        variance = sum(share * (d**2 + (m - mean) ** 2) for share, (m, d) in zip(shares, each, strict=True))
        return mean, np.sqrt(variance)
    pivot = _divided(parts[0][row_blocks(parts[0])[0]], row_sums).mean(axis=0)

    def sums(block: tuple[AnyRows, slice]) -> tuple[Array, Array]:
        X, rows = block
        # Squares about the first block's mean: about zero they would cancel where a mean is far from it.
        centred = _divided(X[rows], row_sums) - pivot
        return centred.sum(axis=0, dtype=np.float64), np.einsum("ij,ij->j", centred, centred)

    total, squares = sum_blocks(sums, [(X, rows) for X in parts for rows in row_blocks(X)], (2, width))
    return pivot + total / n, np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0.0))


def _sparse_statistics(X: sparse.csr_array, row_sums: bool) -> tuple[Array, Array]:
    """`column_statistics` of one sparse part, from its stored entries."""
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


def row_totals(X: Array | sparse.csr_array) -> Array:
    """Sum of each row, (n,)."""
    return np.asarray(X.sum(axis=1)).ravel()


def divide_rows(X: InMemory, divisors: Array) -> InMemory:
    """Rows divided by one number each, in their dtype; rows whose number is not positive stay. Sparse stays sparse."""
    divisors = np.where(divisors > 0, divisors, 1.0)
    if is_sparse(X):
        return sparse.csr_array(sparse.diags_array(1.0 / divisors) @ X, dtype=X.dtype)
    return (X / divisors[:, None]).astype(X.dtype, copy=False)


def _divided(rows: Array | sparse.csr_array, row_sums: bool) -> Array:
    rows = as_dense(rows)
    return divide_rows(rows, row_totals(rows)) if row_sums else rows
