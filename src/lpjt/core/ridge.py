"""Ridge regression on class distributions: linear with leave-one-out answers, and with an rbf kernel."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from lpjt._threads import map_threads
from lpjt._typing import Array
from lpjt.core.blocks import sum_blocks
from lpjt.core.distances import rbf_values
from lpjt.core.propagation import normalise_rows, unit_rows
from lpjt.core.triangles import definite_ridge

#: Penalties that the linear regression chooses from, relative to the mean square of the rows.
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)


#: Rows that are compared with the centres at once, and the maximum number of centres.
BLOCK_ROWS, MAX_CENTRES = 1024, 1000


@dataclass(frozen=True, slots=True, eq=False)
class LinearRidge:
    """A linear regression of class indicators on rows, with an intercept."""

    coefficients: Array  # (width + 1, n_classes); the last row is the intercept
    accuracy: float  # share of the rows that it classifies correctly when they are left out

    def values_of(self, X: Array) -> Array:
        """Regression values, (n, n_classes), near 1 for the class of a row and near 0 for the others."""
        return X @ self.coefficients[:-1] + self.coefficients[-1]


def fit_linear_ridge(X: Array, Y: Array, weights: Array | None = None) -> LinearRidge:
    """Regress class indicators on rows; the penalty is the one with the best leave-one-out accuracy.

    Leave-one-out values come from one fit, ``(f_i - h_i y_i) / (1 - h_i)`` with the leverages h. O(n width^2).

    Parameters
    ----------
    X : array, (n, width)
    Y : array, (n, n_classes)
        Indicators of the class.
    weights : array, (n,), or None
        Sample weights of the squared errors.
    """
    Z = np.column_stack([X, np.ones(len(X))]).astype(np.float64)
    labels = Y.argmax(axis=1)
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        Z, Y = Z * root, Y * root
    values, vectors = linalg.eigh(Z.T @ Z)
    rotated = Z @ vectors
    moments = rotated.T @ Y
    unit = max(float(np.einsum("ij,ij->", X, X, dtype=np.float64)) / X.shape[1], 1e-200)  # zeros have an inverse
    best: LinearRidge | None = None
    for penalty in PENALTIES:
        inverse = 1.0 / (np.maximum(values, 0.0) + penalty * unit)
        leverage = np.minimum((rotated**2) @ inverse, 1 - 1e-9)[:, None]
        fitted = rotated @ (inverse[:, None] * moments)
        accuracy = float(np.mean(((fitted - leverage * Y) / (1 - leverage)).argmax(axis=1) == labels))
        if best is None or accuracy > best.accuracy:
            best = LinearRidge(vectors @ (inverse[:, None] * moments), accuracy)
    assert best is not None
    return best


@dataclass(frozen=True, slots=True, eq=False)
class KernelRidge:
    """A regression of class distributions on rows, with an rbf kernel at some of the rows."""

    centres: Array  # (m, width), of unit length if rows are
    coefficients: Array  # (m, n_classes)
    gamma: float
    unit_length: bool = True  # whether rows are scaled to unit length

    def distributions_of(self, Z: Array) -> Array:
        """Class distributions, (n, n_classes): the regression's values, cut at zero, as shares."""
        values = np.empty((len(Z), self.coefficients.shape[1]))

        def fill(rows: slice) -> None:
            values[rows] = rbf_values(self._scaled(Z[rows]), self.centres, self.gamma) @ self.coefficients

        map_threads(fill, _blocks(len(Z)))
        values += 1.0 / self.coefficients.shape[1]
        return normalise_rows(np.maximum(values, 0.0))

    def _scaled(self, Z: Array) -> Array:
        return unit_rows(Z) if self.unit_length else Z


def fit_kernel_ridge(
    Z: Array,
    Y: Array,
    weights: Array,
    *,
    unit_length: bool = True,
    penalty: float = 0.1,
    max_centres: int = MAX_CENTRES,
) -> KernelRidge:
    r"""Minimise :math:`\sum_i w_i \|y_i - f(z_i)\|^2 + \lambda \|f\|^2` over rbf functions of rows.

    Exact up to `max_centres` rows; beyond that f is confined to evenly spaced rows (Nystroem), O(n m^2). The width of
    the kernel is 1 over the mean squared distance between rows.

    Parameters
    ----------
    Z : array, (n, width)
        Embedded rows.
    Y : array, (n, n_classes)
        Class distributions; their deviation from uniform is regressed.
    weights : array, (n,)
    unit_length : bool
        Whether rows are scaled to unit length first.
    """

    def scaled(rows: slice) -> Array:  # not all of them at once: a copy of the rows would be the peak of a fit's memory
        return unit_rows(Z[rows]) if unit_length else np.asarray(Z[rows])

    blocks = _blocks(len(Z))
    centres = scaled(slice(None, None, -(-len(Z) // max_centres)))
    mean = sum(scaled(rows).sum(axis=0, dtype=np.float64) for rows in blocks) / len(Z)
    variance = sum(float(np.square(scaled(rows) - mean).sum()) for rows in blocks) / len(Z)
    gamma = 1.0 / max(2.0 * variance, np.finfo(float).eps)
    n_centres, root = len(centres), np.sqrt(weights)[:, None]

    def part(rows: slice) -> Array:  # a block at a time: all of K would be the largest array of a fit on a sample
        K = root[rows] * rbf_values(scaled(rows), centres, gamma)
        return np.hstack([K.T @ K, K.T @ (root[rows] * (Y[rows] - 1.0 / Y.shape[1]))])

    sums = sum_blocks(part, blocks, (n_centres, n_centres + Y.shape[1]))
    A = penalty * rbf_values(centres, centres, gamma).astype(np.float64, copy=False)
    A += sums[:, :n_centres]
    right = sums[:, n_centres:]
    A[np.diag_indices_from(A)] += 1e-8 * np.trace(A) / len(A)  # repeated centres
    try:
        coefficients = linalg.solve(A, right, assume_a="pos")
    except linalg.LinAlgError:  # the kernel of float32 rows that are close to each other is not quite definite
        A[np.diag_indices_from(A)] += definite_ridge(A)
        coefficients = linalg.solve(A, right, assume_a="pos")
    return KernelRidge(centres, coefficients, gamma, unit_length)


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS)]
