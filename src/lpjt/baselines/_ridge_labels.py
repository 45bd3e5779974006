"""Labels by kernel ridge regression, in memory that does not grow with the square of the rows."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from lpjt.baselines._types import Codes, Floats
from lpjt.core.blocks import sum_blocks
from lpjt.core.distances import rbf_values

#: Rows that are compared with the kernel rows at once.
BLOCK_ROWS = 1024

#: Share of the mean diagonal that is added where kernel rows stand for all: equal rows would leave a singular matrix.
RIDGE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class RidgeLabels:
    """A regression of class indicators on rows: f(x) is a sum of rbf kernels at the kernel rows."""

    rows: Floats  # (m, width)
    coefficients: Floats  # (m, n_classes)
    gamma: float

    def values_of(self, X: Floats) -> Floats:
        """Values of f at the given rows, (n, n_classes)."""
        values = np.empty((len(X), self.coefficients.shape[1]))
        for block in _blocks(len(X)):
            values[block] = rbf_values(X[block], self.rows, self.gamma) @ self.coefficients
        return values

    def codes_of(self, X: Floats) -> Codes:
        """The class of the largest value, (n,)."""
        return self.values_of(X).argmax(axis=1)


def fit_ridge_labels(
    X: Floats, y: Codes, n_classes: int, *, gamma: float, shrinkage: float, max_rows: int
) -> RidgeLabels:
    r"""Minimise :math:`\sum_i \|f(x_i) - e_{y_i}\|^2 + \sigma \|f\|^2` over functions f of the rbf kernel.

    Exact, :math:`(K + \sigma I)^{-1} Y`, up to `max_rows` rows; beyond, f is confined to kernels at `max_rows` evenly
    spaced rows, O(n m^2).

    Parameters
    ----------
    X : array, (n, width)
    y : int array, (n,)
        Class codes.
    n_classes : int
    gamma : float
        Coefficient of the squared distance.
    shrinkage : float
        :math:`\sigma`.
    max_rows : int
        m.
    """
    Y = np.eye(n_classes)[y]
    if len(X) <= max_rows:
        K = rbf_values(X, X, gamma)
        K[np.diag_indices(len(K))] += shrinkage
        return RidgeLabels(X, linalg.solve(K, Y, assume_a="pos", check_finite=False), gamma)
    rows = X[np.linspace(0, len(X) - 1, max_rows).astype(np.int64)]

    def part(block: slice) -> Floats:
        K = rbf_values(X[block], rows, gamma)
        return K.T @ np.hstack([K, Y[block]])

    products = sum_blocks(part, _blocks(len(X)), (max_rows, max_rows + n_classes))
    A = products[:, :max_rows] + shrinkage * rbf_values(rows, rows, gamma)
    A[np.diag_indices(max_rows)] += RIDGE * np.trace(A) / max_rows
    return RidgeLabels(rows, linalg.solve(A, products[:, max_rows:], assume_a="pos", check_finite=False), gamma)


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS)]
