r"""Similarities that are learned from distances and labels: the adaptive graph of AGE-CS, sparse.

Row i of the graph minimises, over weights :math:`s_{ij} \ge 0` of its k nearest rows with :math:`\sum_j s_{ij} = 1`,

.. math::
    \sum_j d_{ij} s_{ij} + \beta_i \sum_j (s_{ij} - g_{ij})^2 + \gamma_i \sum_j s_{ij}^2,

which is the point of the simplex that is nearest to :math:`f_{ij} / (\beta_i + \gamma_i)`,
:math:`f_{ij} = \beta_i g_{ij} - d_{ij} / 2`.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lpjt.baselines._types import Codes, Floats
from lpjt.core.neighbors import nearest_others

#: Least :math:`\beta_i + \gamma_i`, relative to the mean distance: below it the problem of a row is not convex.
LEAST_CURVATURE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveGraph:
    """Similarities of one domain."""

    S: sparse.csr_array  # (n, n), k entries in each row, of sum 1
    spread: float  # mean over the rows of gamma_i, which the next graph of the domain takes for all of them


def adaptive_graph(
    X: Floats, y: Codes, n_neighbors: int, *, semantic_weight: float, spread: float | None = None
) -> AdaptiveGraph:
    r"""Similarities of rows to their nearest rows, by distance :math:`d_{ij}` and equal label :math:`g_{ij}`.

    :math:`\beta_i` is the value with which the k-th and the next row have the same :math:`f_{ij}`,
    :math:`(d_{i,k+1} - d_{ik}) / (2 (g_{i,k+1} - g_{ik}))`, or `semantic_weight` where their labels agree. With
    :math:`\beta_i + \gamma_i = \sum_{j \le k} f_{ij} - k f_{ik}` the k-th row is the first whose similarity is 0.

    Parameters
    ----------
    X : array, (n, width)
    y : int array, (n,)
        Class codes.
    n_neighbors : int
        k, at most n - 2.
    semantic_weight : float
        :math:`\tau`.
    spread : float, optional
        :math:`\gamma` of all rows; by default each row has its own, as above.
    """
    k = max(1, min(n_neighbors, len(X) - 2))
    near = nearest_others(X, k + 1)
    listed = np.minimum(np.arange(k + 1), near.indices.shape[1] - 1)  # of two rows, one stands for the next one too
    indices, d = near.indices[:, listed], np.sqrt(near.squared.astype(np.float64))[:, listed]
    g = (y[indices] == y[:, None]).astype(np.float64)
    step = g[:, k] - g[:, k - 1]
    beta = np.where(step != 0, (d[:, k] - d[:, k - 1]) / (2 * np.where(step != 0, step, 1.0)), semantic_weight)
    f = beta[:, None] * g[:, :k] - d[:, :k] / 2
    curvature = f.sum(axis=1) - k * f[:, -1]
    gamma = curvature - beta
    if spread is not None:
        curvature = spread + beta
    least = max(LEAST_CURVATURE * float(d.mean()), np.finfo(float).tiny)
    values = project_on_simplex(f / np.maximum(curvature, least)[:, None])
    ends = np.arange(0, values.size + 1, k)
    S = sparse.csr_array((values.ravel(), indices[:, :k].ravel(), ends), shape=(len(X), len(X)))
    return AdaptiveGraph(S, float(gamma.mean()))


def project_on_simplex(V: Floats) -> Floats:
    """For each row, the nearest point with entries of at least 0 and sum 1: entries less a threshold, cut at 0."""
    V = V - V.max(axis=1, keepdims=True)  # a constant changes nothing, and sums of large numbers would be inexact
    ordered = -np.sort(-V, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1
    counts = np.arange(1, V.shape[1] + 1)
    n_kept = (ordered * counts > excess).sum(axis=1)
    threshold = excess[np.arange(len(V)), n_kept - 1] / n_kept
    return np.maximum(V - threshold[:, None], 0.0)
