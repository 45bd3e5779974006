"""The rbf kernel by products of matrices, without loss of digits far from the origin."""

import numpy as np

from lpjt._typing import Array

#: Float64 rows have a pivot if their mean square around it is below this share of the pivot's square: half of the
#: digits of a distance would be lost. float32 has no digits to spare.
NEAR = 1e-8


def pivot_of(X: Array) -> Array | None:
    """Mean of rows that are much farther from the origin than from each other; None if distances need no pivot.

    |q|^2 - 2 q'c + |c|^2 cancels for such rows. In float32 any mean that is larger than the spread is a pivot.
    """
    if not len(X):
        return None
    mean = X.mean(axis=0, dtype=np.float64)
    spread = np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X) - mean @ mean
    share = 1.0 if X.dtype == np.float32 else NEAR
    return mean.astype(X.dtype) if spread < share * (mean @ mean) else None


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
