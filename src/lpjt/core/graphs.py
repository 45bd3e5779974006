"""Within-class and between-class neighbour graphs, Eqs. (14)-(15)."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from lpjt._typing import Array, Codes, Mask
from lpjt.core.edges import Graph, make_graph, symmetrise
from lpjt.core.neighbors import MAX_CONFINED, Neighbors, nearest_among, nearest_others, nearest_unlike
from lpjt.core.unlike import REMEMBERED, Unlike, recall, remember


@dataclass(frozen=True, slots=True, eq=False)
class ClassGraphs:
    """Weights of both graphs of one domain, symmetric, (n, n)."""

    within: Graph  # W_w
    between: Graph  # W_b
    unlike: Unlike | None = None  # rows of other classes that were searched, if they are to be remembered


#: A row whose nearest rows are all of its own class is far from the others: beyond this many of them, it is compared
#: with `neighbors.MAX_CONFINED`, evenly spaced. Its edges are among the longest, so that they weigh least.
MANY_OTHERS = 4096

#: Rows, columns and squared lengths of directed edges, (n_edges,) each.
Edges: TypeAlias = tuple[Codes, Codes, Array]


def class_graphs(
    X: Array,
    y: Codes,
    *,
    n_neighbors: int,
    graph_weights: str = "heat",
    bandwidth: str | float = "auto",
    neighbors: Neighbors | None = None,
    search: str = "exact",
    memory: Unlike | None = None,
) -> ClassGraphs:
    """Intrinsic and penalty graph: each row is joined to its nearest rows of its own class, and of other classes.

    Parameters
    ----------
    X : array, (n, width)
    y : int array, (n,)
        Class codes; rows with -1 have no edges.
    n_neighbors : int
        k of both graphs. Rows with fewer candidates have fewer edges.
    graph_weights : {"heat", "binary"}
    bandwidth : "auto" or float
        Bandwidth of the heat weights; see `edge_weights`.
    neighbors : Neighbors, optional
        Nearest rows of any class, for reuse when only the labels change.
    search : {"exact", "approximate"}
        For rows with too few neighbours of one kind in `neighbors`.
    memory : Unlike, optional
        Nearest rows of other classes by earlier labels. With it, rows are searched again only where that is needed.

    Returns
    -------
    ClassGraphs
    """
    if neighbors is None:
        neighbors = nearest_others(X, 4 * n_neighbors, search=search)
    y = y.astype(np.int32)  # half the memory for the arrays below, which are as large as the lists
    known, listed = y >= 0, y[neighbors.indices]
    found = []
    for own in (True, False):
        wanted = (listed == y[:, None]) if own else (listed != y[:, None])
        if not known.all():
            wanted &= (listed >= 0) & known[:, None]
        counts = np.count_nonzero(wanted, axis=1)
        rows, columns, squared = edges = _first_wanted(neighbors, wanted, counts, n_neighbors)
        if neighbors.indices.shape[1] < len(X) - 1:  # else no row is missing in the lists
            short = known & (counts < n_neighbors)
            # The lists of these rows are too short: search their class, or all others, directly.
            if own or not short.any():
                extra = _search_by_class(X, y, short, n_neighbors, own, search)
            else:
                extra, memory = _search_unlike(X, y, short, n_neighbors, search, memory)
            keep = ~short[rows]
            edges = _join_edges([(rows[keep], columns[keep], squared[keep]), extra])
        found.append(_symmetric(edges, len(X), graph_weights, bandwidth))
    within, between = found
    return ClassGraphs(within, between, memory)


def closest_pairs_graph(X: Array, y: Codes, *, max_pairs: int, search: str = "exact") -> Graph:
    """Penalty graph of the authors' code: the closest between-class pairs of the whole domain, weight 1.

    As in that code, pairs are ordered: ``max_pairs=10`` joins five pairs of rows.
    """
    wanted = (max_pairs + 1) // 2
    # The m closest pairs are among each row's m nearest rows of other classes.
    rows, columns, squared = _search_by_class(X, y, y >= 0, wanted, False, search, of_all=True)
    order = np.argsort(rows > columns, kind="stable")  # of the two lengths of a pair, that of its first row counts
    rows, columns, squared = rows[order], columns[order], squared[order]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    _, first = np.unique(low.astype(np.int64) * len(X) + high, return_index=True)
    first = first[np.argsort(squared[first], kind="stable")[:wanted]]
    return _symmetric((low[first], high[first], squared[first]), len(X), "binary", "auto")


def edge_weights(squared: Array, graph_weights: str = "heat", bandwidth: str | float = "auto") -> Array:
    r"""Weights of edges of given squared lengths: 1, or :math:`\exp(-\|x - x'\|^2 / (2 h^2))`.

    With ``bandwidth="auto"`` :math:`h^2` is the mean squared length of the edges: the weights then do not depend on the
    scale of the data and cannot all underflow, as they do with the paper's h = 1 on rows far from unit length.
    """
    if graph_weights == "binary" or not len(squared):
        return np.ones(len(squared))
    square = float(np.mean(squared)) if bandwidth == "auto" else float(bandwidth) ** 2
    values = np.exp(-squared / (2 * max(square, float(np.finfo(squared.dtype).tiny))))
    if values.max() < np.finfo(float).eps:
        raise ValueError(
            f"A bandwidth of {bandwidth} leaves nothing of the graph: its edges are "
            f"{np.sqrt(np.mean(squared)):.3g} long on average, and every heat weight is zero. Set graph_weights='heat' "
            "to take the bandwidth from the rows, or scale them (scaling='standard')."
        )
    return values


def _first_wanted(neighbors: Neighbors, wanted: Mask, counts: Codes, k: int) -> Edges:
    """Edges to the first k wanted neighbours of each row; `counts`, (n,), is the number of wanted ones of each."""
    taken = np.minimum(counts, k)
    first = np.repeat(np.cumsum(counts) - counts - np.cumsum(taken) + taken, taken)
    places = np.flatnonzero(wanted)[first + np.arange(len(first))]  # of the first ones of each row among all wanted
    rows = np.repeat(np.arange(len(counts)), taken)
    return rows, neighbors.indices.ravel()[places], neighbors.squared.ravel()[places]


def _search_by_class(X: Array, y: Codes, asked: Mask, k: int, own: bool, search: str, *, of_all: bool = False) -> Edges:
    """Edges from each asked row to the k nearest rows of its own class, or of all others, one class at a time.

    Of more than `MANY_OTHERS` others some are searched, unless `of_all`.
    """
    found: list[Edges] = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for c in np.unique(y[asked]):
        queries = np.flatnonzero(asked & (y == c))
        candidates = np.flatnonzero((y == c) if own else (y >= 0) & (y != c))
        if len(candidates) <= own:
            continue
        if not (own or of_all) and len(candidates) > MANY_OTHERS:
            candidates = candidates[:: -(-len(candidates) // MAX_CONFINED)]
        near = nearest_among(X, queries, candidates, k + own, search=search)
        keep = near.indices != queries[:, None]
        # A duplicate of a row may precede the row itself, which is then missing: keep only the first k others.
        keep &= np.cumsum(keep, axis=1) <= k
        rows = np.broadcast_to(queries[:, None], near.indices.shape)
        found.append((rows[keep], near.indices[keep], near.squared[keep]))
    return _join_edges(found)


def _search_unlike(
    X: Array, y: Codes, asked: Mask, k: int, search: str, memory: Unlike | None
) -> tuple[Edges, Unlike | None]:
    """Edges from each asked row to the k nearest rows of other classes, and what to remember of them.

    Nothing is remembered where some of many others are searched: which ones depends on the labels.
    """
    if memory is None or not _is_whole(y, search):
        return _search_others(X, y, asked, k, search), None
    recalled = recall(X, y, asked, k, memory)
    if recalled is not None:
        rows, near = recalled
        left = asked.copy()
        left[rows] = False
        return _join_edges([_edges_of(rows, near), _search_others(X, y, left, k, search)]), memory
    rows, near = _lists_of(_search_others(X, y, asked, REMEMBERED * k, search), len(y), REMEMBERED * k)
    return _edges_of(rows, near.first(k)), remember(y, rows, near)


def _search_others(X: Array, y: Codes, asked: Mask, k: int, search: str) -> Edges:
    """Edges from each asked row to the k nearest rows of other classes.

    All classes together if there are few rows: each class by itself would prepare nearly all rows as candidates. A
    class of most rows has few candidates.
    """
    if not _is_whole(y, search):
        return _search_by_class(X, y, asked, k, False, search)
    known = np.flatnonzero(y >= 0)
    large = np.bincount(y[known]) * 2 > len(known)
    alone = asked & large[y]
    rows = np.flatnonzero(asked & ~alone)
    found = [_search_by_class(X, y, alone, k, False, search)]
    if len(rows):
        found.append(_edges_of(rows, nearest_unlike(X, y, rows, known, k)))
    return _join_edges(found)


def _is_whole(y: Codes, search: str) -> bool:
    """Whether the others of every class are all compared, exactly."""
    return search == "exact" and int(np.count_nonzero(y >= 0)) <= MANY_OTHERS


def _lists_of(edges: Edges, n: int, width: int) -> tuple[Codes, Neighbors]:
    """Rows that have edges, of n, and their neighbours in the order of the edges: `width`, the last infinitely far."""
    start, end, squared = edges
    order = np.argsort(start, kind="stable")
    counts = np.bincount(start, minlength=n)
    rows = np.flatnonzero(counts)
    lines = np.repeat(np.arange(len(rows)), counts[rows])
    places = np.arange(len(order)) - np.repeat(np.cumsum(counts[rows]) - counts[rows], counts[rows])
    near = Neighbors(np.zeros((len(rows), width), dtype=end.dtype), np.full((len(rows), width), np.inf))
    near.indices[lines, places], near.squared[lines, places] = end[order], squared[order]
    return rows, near


def _edges_of(rows: Codes, near: Neighbors) -> Edges:
    """Edges from each row to its neighbours, those at finite distances."""
    keep = np.isfinite(near.squared)
    return np.broadcast_to(rows[:, None], keep.shape)[keep], near.indices[keep], near.squared[keep]


def _join_edges(parts: list[Edges]) -> Edges:
    rows, columns, squared = (np.concatenate(values) for values in zip(*parts, strict=True))
    return rows, columns, squared


def _symmetric(edges: Edges, n: int, graph_weights: str, bandwidth: str | float) -> Graph:
    """Graph of n rows with an edge wherever either row has one to the other."""
    rows, columns, squared = edges
    return symmetrise(make_graph(edge_weights(squared, graph_weights, bandwidth), rows, columns, (n, n)))
