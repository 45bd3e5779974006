"""The rbf kernel by products of matrices, without loss of digits far from the origin."""

import numpy as np

from lpjt._typing import Array


def pivot_of(X: Array) -> Array | None:
    """Mean of float32 rows that are farther from the origin than from each other; None if distances need no pivot.

    |q|^2 - 2 q'c + |c|^2 cancels for such rows, and float32 has no digits to spare.
    """
    if X.dtype != np.float32:
        return None
    mean = X.mean(axis=0, dtype=np.float64)
    square = np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X)
    return mean.astype(X.dtype) if 2 * (mean @ mean) > square else None


def rbf_values(X: Array, others: Array, gamma: float) -> Array:
    """Kernel values exp(-gamma |x - x'|^2), (n, n_others), in the dtype of the rows.

    scikit-learn's kernel converts float32 rows to float64, which takes twice as long.
    """
    pivot = pivot_of(others)
    if pivot is not None:
        X, others = X - pivot, others - pivot
    values: Array = X @ others.T
    values *= -2
    values += np.einsum("ij,ij->i", X, X)[:, None]
    values += np.einsum("ij,ij->i", others, others)
    np.maximum(values, 0.0, out=values)
    values *= -gamma
    return np.exp(values, out=values)
