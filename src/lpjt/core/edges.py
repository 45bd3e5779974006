"""Graphs as matrices of weights: dense if they are small, sparse otherwise."""

from typing import TypeAlias

import numpy as np
from scipy import sparse

from lpjt._typing import Array, Codes

#: Up to this many entries a dense graph takes less time than a sparse one, whose every operation checks its indices.
SMALL_GRAPH = 2**16

#: Weights of the edges from some rows to others, or among rows, and then symmetric.
Graph: TypeAlias = sparse.csr_array | Array


def is_small(shape: tuple[int, int]) -> bool:
    """Whether a graph of this shape is dense."""
    return shape[0] * shape[1] <= SMALL_GRAPH


def make_graph(weights: Array, rows: Codes, columns: Codes, shape: tuple[int, int]) -> Graph:
    """Graph with one edge for each weight; no edge may be given twice."""
    if not is_small(shape):
        return sparse.csr_array((weights, (rows, columns)), shape=shape)
    W = np.zeros(shape)
    W[rows, columns] = weights
    return W


def symmetrise(W: Graph) -> Graph:
    """Graph with an edge wherever either row has one to the other; the larger weight counts."""
    return np.maximum(W, W.T) if isinstance(W, np.ndarray) else W.maximum(W.T).tocsr()


def degrees(W: Graph) -> Array:
    """Row sums of a graph, (n,)."""
    return np.asarray(W.sum(axis=1), dtype=np.float64).ravel()


def scale_edges(W: Graph, factors: Array) -> Graph:
    """Graph whose edges are multiplied by the factors, (n,), of both of their rows."""
    if isinstance(W, np.ndarray):
        return factors[:, None] * W * factors
    root = sparse.diags_array(factors)
    return (root @ W @ root).tocsr()


def add_to_diagonal(A: Array, values: Array | float) -> None:
    """Add to the diagonal of a square array of any memory order, in place."""
    diagonal = np.einsum("ii->i", A)  # a view
    diagonal += values
