"""Class graphs of one domain by block, and their scatter X' (D - W) X, Eqs. (14)-(15)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lpjt.distributed import neighbors, tasks
from lpjt.distributed.blocks import Blocks, fold
from lpjt.distributed.neighbors import Lists


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Directed edges from the rows of one block."""

    rows: np.ndarray  # (e,) in the block
    columns: np.ndarray  # (e,) among all rows
    squared: np.ndarray  # (e,) squared lengths
    codes: np.ndarray  # (e,) label of the row at the other end where that is clamped, else -1
    start: int  # number of the block's first row
    code: np.ndarray  # (m,) labels of the block's own rows where they are clamped, else -1


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What a block's list of nearest rows gives for one graph, and which rows need a search of their own."""

    edges: Edges
    short: np.ndarray  # (m,) bool


def class_scatters(rows: Blocks, labels: Blocks, near: Blocks, settings):
    """S_w and S_b of one domain, (width, width) each, float64, as in memory by `graphs.class_graphs`.

    Parameters
    ----------
    rows : Blocks of arrays, (m, width)
    labels : Blocks of int arrays, (m,)
    near : Blocks of `Lists`
        Nearest rows of any class.
    settings : Settings
    """
    known = neighbors.look_up_labels(near, labels)
    starts = rows.offsets
    pair = []
    for own in (True, False):
        chosen = [
            tasks.call(choose, *nodes, k=settings.n_neighbors, own=own, start=int(starts[p]))
            for p, nodes in enumerate(zip(near.nodes, labels.nodes, known.nodes, strict=True))
        ]
        pair.append(Blocks(chosen, rows.sizes, neighbors.ENTRY_BYTES * settings.n_neighbors))
    neighbors.persist_lists(*pair)
    counts = tasks.compute([tasks.call(count_short, node) for chosen in pair for node in chosen.nodes])
    split = len(rows.nodes)
    graphs = [
        _complete(rows, labels, chosen, counts[i * split : (i + 1) * split], settings, own=own)
        for i, (chosen, own) in enumerate(zip(pair, (True, False), strict=True))
    ]
    sums = [_scatter(rows, G, settings) for G in graphs]
    return [(gram + gram.T) / 2 for gram in tasks.compute(sums)]


def _complete(rows, labels, chosen, counts, settings, *, own):
    """Edges of a graph with those of the rows whose list was too short."""
    which = [p for p, count in enumerate(counts) if count]
    starts = rows.offsets
    asked = Blocks(
        [
            tasks.call(ask_short, *nodes, start=int(starts[p]))
            for p, nodes in enumerate(zip(rows.nodes, labels.nodes, chosen.nodes, strict=True))
        ],
        rows.sizes,
        rows.row_bytes,
    )
    tasks.persist([asked.nodes[p] for p in which])
    found = neighbors.search_by_class(asked, rows, labels, which, settings.n_neighbors, own=own)
    nodes = [
        tasks.call(complete, node, asked.nodes[p], found[p]) if p in found else tasks.call(complete, node)
        for p, node in enumerate(chosen.nodes)
    ]
    return Blocks(nodes, rows.sizes, 2 * neighbors.ENTRY_BYTES * settings.n_neighbors)


def choose(near: Lists, y, known, *, k, own, start):
    """The first k neighbours of the row's own class, or of others, on its list."""
    labelled = (y >= 0)[:, None]
    wanted = labelled & (known == y[:, None]) if own else labelled & (known >= 0) & (known != y[:, None])
    short = (y >= 0) & (wanted.sum(axis=1) < k)
    rows, places = np.nonzero(wanted & (np.cumsum(wanted, axis=1) <= k) & ~short[:, None])
    return Chosen(_edges(rows, near.indices[rows, places], near.squared[rows, places], start, len(y)), short)


def count_short(chosen):
    """Rows whose list was too short."""
    return int(chosen.short.sum())


def ask_short(rows, labels, chosen, *, start):
    """Rows whose list was too short, to be searched for."""
    return neighbors.ask(rows, labels, chosen.short, start=start)


def complete(chosen, asked=None, found=None):
    """Edges from the list, and those that were searched for."""
    edges = chosen.edges
    if asked is None:
        return edges
    rows, places = np.nonzero(np.isfinite(found.squared))
    return _edges(
        np.concatenate([edges.rows, asked.places[rows]]),
        np.concatenate([edges.columns, found.indices[rows, places]]),
        np.concatenate([edges.squared, found.squared[rows, places]]),
        edges.start,
        len(edges.code),
    )


def _edges(rows, columns, squared, start, size):
    return Edges(rows, columns, squared, np.full(len(rows), -1, np.int32), start, np.full(size, -1, np.int32))


@dataclass(frozen=True, slots=True)
class Measure:
    """Of squared lengths: their sum, their number, the smallest."""

    total: float = 0.0
    count: int = 0
    smallest: float = np.inf

    def __add__(self, other):
        return Measure(self.total + other.total, self.count + other.count, min(self.smallest, other.smallest))

    @property
    def mean(self):
        """Mean squared length."""
        return self.total / max(self.count, 1)


def measure(edges):
    """`Measure` of a block's edges."""
    return measure_squares(edges.squared)


def measure_squares(squared):
    """`Measure` of an array of squared lengths."""
    return Measure(float(squared.sum()), squared.size, float(squared.min(initial=np.inf)))


def squared_bandwidth(found: Measure, weighting, bandwidth):
    """h^2 of the heat weights, None for binary ones; as `core.graphs.edge_weights`, with its complaint."""
    if weighting == "binary" or not found.count:
        return None
    square = max(found.mean if bandwidth == "auto" else float(bandwidth) ** 2, np.finfo(float).tiny)
    if np.exp(-found.smallest / (2 * square)) < np.finfo(float).eps:
        raise ValueError(
            f"bandwidth={bandwidth} leaves nothing of the graph: its edges are {np.sqrt(found.mean):.3g} long "
            "on average, and every heat weight is zero. Set bandwidth='auto', or scale the rows (scaling='standard')."
        )
    return square


def _scatter(rows: Blocks, graph: Blocks, settings):
    """Node of the sum over blocks of X_p' (D_p X_p - W_p X): whole blocks of rows travel, group by group."""
    weights = symmetric(graph, weighting=settings.graph_weights, bandwidth=settings.bandwidth)
    starts = tuple(rows.offsets.tolist())
    pulled = [fold(multiply_group, None, [node], rows, first=p, starts=starts) for p, node in enumerate(weights.nodes)]
    return tasks.total(
        [tasks.call(gram_of_block, *nodes) for nodes in zip(rows.nodes, weights.nodes, pulled, strict=True)]
    )


def symmetric(graph: Blocks, *, weighting="heat", bandwidth="auto", known=False):
    """Rows of the symmetric graph max(W, W'), by block; see `join_edges` for `known`.

    A block finds the edges that point to it among those of all blocks, so that edges travel, group by group. With
    ``bandwidth="auto"`` the squared bandwidth is the mean squared length of all directed edges.
    """
    found = graph.sum_of(measure)
    options = {"weighting": weighting, "bandwidth": bandwidth, "n": graph.n_rows, "known": known}
    nodes = []
    for p, node in enumerate(graph.nodes):
        pointing = fold(edges_towards, None, [node], graph, first=p)
        nodes.append(tasks.call(join_edges, node, pointing, found, **options))
    return Blocks(nodes, graph.sizes, graph.row_bytes)


def edges_towards(found, edges, others, *, numbers):
    """Edges of some more blocks that point to the rows of one block, turned around."""
    parts = [] if found is None else [found]
    start, end = edges.start, edges.start + len(edges.code)
    for other in others:
        here = (other.columns >= start) & (other.columns < end)
        rows = other.columns[here] - start
        codes = other.code[other.rows[here]]
        parts.append(Edges(rows, other.rows[here] + other.start, other.squared[here], codes, start, edges.code))
    return concatenate_edges(parts)


def concatenate_edges(parts):
    """Edges of several sets from the same block."""
    return Edges(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.squared for part in parts]),
        np.concatenate([part.codes for part in parts]),
        parts[0].start,
        parts[0].code,
    )


def join_edges(edges, pointing, found, *, weighting, bandwidth, n, known):
    """Rows of max(W, W') for one block, (m, n) sparse; with `known`, edges to clamped rows apart (`Clamped`)."""
    both = concatenate_edges([edges, pointing])
    order = np.lexsort((both.squared, both.columns, both.rows))
    rows, columns, squared, codes = (part[order] for part in (both.rows, both.columns, both.squared, both.codes))
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    rows, columns, squared, codes = (part[first] for part in (rows, columns, squared, codes))
    values = heat(squared, squared_bandwidth(found, weighting, bandwidth))
    m = len(edges.code)
    free = codes < 0
    W = sparse.csr_array((values[free], (rows[free], columns[free])), shape=(m, n))
    if not known:
        return W
    return Clamped(W, rows[~free], codes[~free], values[~free])


@dataclass(frozen=True, slots=True, eq=False)
class Clamped:
    """Rows of a graph, its edges to clamped rows kept apart with the labels they lead to."""

    free: sparse.csr_array  # (m, n)
    rows: np.ndarray  # (e,) of the edges to clamped rows
    codes: np.ndarray  # (e,) their labels
    values: np.ndarray  # (e,) their weights


def heat(squared, square):
    """Heat weights of squared lengths; 1 where there is no bandwidth."""
    if square is None:
        return np.ones(len(squared))
    return np.exp(-np.minimum(squared / (2 * max(square, np.finfo(float).tiny)), 500.0))


def multiply_group(result, W, blocks, *, numbers, starts):
    """W X after some more blocks of X, (m, width) float64."""
    result = np.zeros((W.shape[0], blocks[0].shape[1])) if result is None else result.copy()
    for place, q in enumerate(numbers):
        result += W[:, starts[q] : starts[q + 1]] @ blocks[place]
    return result


def gram_of_block(X, W, pulled):
    """X_p' (D_p X_p - W_p X), a block's share of X' (D - W) X."""
    degrees = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    return X.T @ (X * degrees[:, None] - pulled)
