"""Within-class and between-class neighbour graphs, Eqs. (14)-(15), sparse."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lpjt.core.neighbors import nearest_among, nearest_others


@dataclass(frozen=True, slots=True, eq=False)
class ClassGraphs:
    """Weights of both graphs of one domain, symmetric, (n, n) sparse."""

    within: sparse.csr_array  # W_w
    between: sparse.csr_array  # W_b


def class_graphs(X, y, *, n_neighbors, graph_weights="heat", bandwidth="auto", neighbors=None, search="exact"):
    """Intrinsic and penalty graph: for each row its nearest rows of its own class, and of other classes.

    Parameters
    ----------
    X : array, (n, width)
    y : int array, (n,)
        Class codes; rows with -1 take no part.
    n_neighbors : int
        k of both graphs. A class of fewer rows, or rows with fewer others, have fewer edges.
    graph_weights : {"heat", "binary"}
    bandwidth : "auto" or float
        Of the heat weights; see `edge_weights`.
    neighbors : Neighbors, optional
        Nearest rows of any class, reused where only the labels changed.
    search : {"exact", "approximate"}
        For rows whose list of nearest rows has too few of a kind.

    Returns
    -------
    ClassGraphs
    """
    if neighbors is None:
        neighbors = nearest_others(X, 4 * n_neighbors, search=search)
    y = y.astype(np.int32)  # what follows is of the size of the lists: half of it
    known, listed = y >= 0, y[neighbors.indices]
    graphs = []
    for own in (True, False):
        wanted = (listed == y[:, None]) if own else (listed != y[:, None]) & (listed >= 0)
        wanted &= known[:, None]
        rows, columns, squared = _first_wanted(neighbors, wanted, n_neighbors)
        short = known & (wanted.sum(axis=1) < n_neighbors)
        # The list of nearest rows of any class is too short for these: search their class, or the rest, itself.
        extra = _search_by_class(X, y, short, n_neighbors, own, search)
        keep = ~short[rows]
        rows, columns, squared = (
            np.concatenate(part) for part in zip((rows[keep], columns[keep], squared[keep]), extra, strict=True)
        )
        graphs.append(_symmetric(rows, columns, squared, len(X), graph_weights, bandwidth))
    return ClassGraphs(*graphs)


def closest_pairs_graph(X, y, *, max_pairs, search="exact"):
    """Penalty graph of the authors' code: the closest between-class pairs of the whole domain, weight 1.

    Ordered pairs are counted, as there: ``max_pairs=10`` joins five pairs of rows.
    """
    wanted = (max_pairs + 1) // 2
    # The m closest pairs lie among each row's m nearest rows of other classes.
    rows, columns, squared = _search_by_class(X, y, y >= 0, wanted, False, search)
    one_way = rows < columns
    rows, columns, squared = (
        np.concatenate([rows[one_way], columns[~one_way]]),
        np.concatenate([columns[one_way], rows[~one_way]]),
        np.concatenate([squared[one_way], squared[~one_way]]),
    )
    _, first = np.unique(rows.astype(np.int64) * len(X) + columns, return_index=True)
    first = first[np.argsort(squared[first], kind="stable")[:wanted]]
    return _symmetric(rows[first], columns[first], squared[first], len(X), "binary", "auto")


def edge_weights(squared, graph_weights="heat", bandwidth="auto"):
    r"""Weights of edges of given squared lengths: 1, or :math:`\exp(-\|x - x'\|^2 / (2 h^2))`.

    With ``bandwidth="auto"`` :math:`h^2` is the mean squared length of the edges themselves: the weights then do not
    depend on the scale of the data and cannot all underflow, as the paper's h = 1 does on data not of unit length.
    """
    if graph_weights == "binary" or not len(squared):
        return np.ones(len(squared))
    square = float(np.mean(squared)) if bandwidth == "auto" else float(bandwidth) ** 2
    values = np.exp(-squared / (2 * max(square, np.finfo(float).tiny)))
    if values.max() < np.finfo(float).eps:
        raise ValueError(
            f"bandwidth={bandwidth} leaves nothing of the graph: its edges are {np.sqrt(np.mean(squared)):.3g} long on "
            "average, and every heat weight is zero. Set bandwidth='auto', or scale the rows (scaling='standard')."
        )
    return values


def degrees(W):
    """Row sums of a sparse graph, (n,)."""
    return np.asarray(W.sum(axis=1), dtype=np.float64).ravel()


def _first_wanted(neighbors, wanted, k):
    """The first k wanted neighbours of each row as (rows, columns, squared distances)."""
    chosen = wanted & (np.cumsum(wanted, axis=1, dtype=np.int32) <= k)
    rows, places = np.nonzero(chosen)
    return rows, neighbors.indices[rows, places], neighbors.squared[rows, places]


def _search_by_class(X, y, asked, k, own, search):
    """Search for each asked row among the rows of its own class, or of all others, one class at a time."""
    found: list[tuple] = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for c in np.unique(y[asked]):
        queries = np.flatnonzero(asked & (y == c))
        candidates = np.flatnonzero((y == c) if own else (y >= 0) & (y != c))
        if len(candidates) <= own:
            continue
        near = nearest_among(X, queries, candidates, k + own, search=search)
        columns = near.indices
        keep = columns != queries[:, None]
        # A row's own duplicate may stand before the row itself: drop the last place where it was not found.
        keep &= np.cumsum(keep, axis=1) <= k
        rows = np.broadcast_to(queries[:, None], columns.shape)
        found.append((rows[keep], columns[keep], near.squared[keep]))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def _symmetric(rows, columns, squared, n, graph_weights, bandwidth):
    values = edge_weights(squared, graph_weights, bandwidth)
    W = sparse.csr_array((values, (rows, columns)), shape=(n, n))
    return W.maximum(W.T).tocsr()
