"""Label propagation over a graph that is held in parts: regions, each with its own rows and the edges that touch them.

Each region solves its system exactly, given the distributions of the rows of other regions at the other ends of its
edges (its *halo*); a few rounds of this (block Jacobi, the simplest Schwarz method) converge to the solution of the
whole graph, because both systems are diagonally dominant. Rows are numbered region by region. Per round, a region sends
the distributions of its rows at borders, not its rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from lpjt._typing import Array, Codes, Mask
from lpjt.core.definite import solve_definite
from lpjt.core.neighbors import Neighbors
from lpjt.core.propagation import harmonic_solution, heat_values, normalise_rows
from lpjt.core.ties import preferred_first


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Neighbours of the rows of a region, by their numbers, and which of them are among the k nearest of both kinds."""

    near: Neighbors  # (n, k) other unlabelled rows, of any region; -1 where there are too few
    known: Neighbors  # (n, k_known) labelled rows
    kept: Mask  # (n, k)
    kept_known: Mask  # (n, k_known)
    n_votes: int  # labelled rows that vote


def make_links(near: Neighbors, known: Neighbors, n_votes: int) -> Links:
    """Links of the rows of a region from both lists."""
    k = near.indices.shape[1]
    squared = preferred_first(near.squared, known.squared)
    kept = np.zeros(squared.shape, dtype=bool)
    np.put_along_axis(kept, np.argpartition(squared, k - 1, axis=1)[:, :k], values=True, axis=1)
    kept &= np.isfinite(squared)
    return Links(near, known, kept[:, :k], kept[:, k:], n_votes)


class Bandwidths(NamedTuple):
    """Squared bandwidths of the heat weights: of votes, of all edges, and of edges to the k nearest of both kinds."""

    votes: float
    anchored: float
    harmonic: float


def length_sums(links: Links) -> Array:
    """Sums, and numbers, of squared edge lengths for each of the `Bandwidths`: (3, 2)."""
    votes = links.known.first(links.n_votes).squared
    near = links.near.squared[np.isfinite(links.near.squared)]
    both = (links.near.squared[links.kept], links.known.squared[links.kept_known])
    kinds = ((votes,), (near,), both)
    return np.array([[sum(p.sum(dtype=np.float64) for p in kind), sum(p.size for p in kind)] for kind in kinds])


def mean_lengths(sums: Sequence[Array]) -> Bandwidths:
    """Bandwidths of the whole graph, from the sums of all regions."""
    total = np.sum(sums, axis=0)
    return Bandwidths(*(total[:, 0] / np.maximum(total[:, 1], 1)).tolist())


class Edges(NamedTuple):
    """Edges between rows of a region, by their place there, and rows of any region, by their number."""

    rows: Codes
    numbers: Codes
    squared: Array
    kept: Mask


def edges_between(links: Links, first: int, start: int, stop: int) -> Edges:
    """Edges from the region whose rows begin at number `first` to the rows `start` to `stop`, as these see them."""
    near = links.near
    rows, places = np.nonzero((near.indices >= start) & (near.indices < stop))
    ends = near.indices[rows, places] - start
    return Edges(ends, rows + first, near.squared[rows, places], links.kept[rows, places])


def count_edges(links: Links, starts: Codes) -> Codes:
    """Number of edges to each region, (n_regions,), whose rows begin at `starts`."""
    found = links.near.indices[links.near.indices >= 0]
    return np.bincount(np.searchsorted(starts, found, side="right") - 1, minlength=len(starts))


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The two linear systems of a region."""

    halo: Codes  # ascending numbers of the rows of other regions that edges lead to
    votes: Array  # (n, n_classes)
    pull: Array  # (n, n_classes) weights of the edges to labelled rows, by class
    anchored: tuple[sparse.csr_array, sparse.csr_array]  # weights to the rows of the region, and to the halo
    harmonic: tuple[sparse.csr_array, sparse.csr_array]


def make_system(
    links: Links, first: int, incoming: Sequence[Edges], y_known: Codes, n_classes: int, bandwidths: Bandwidths
) -> System:
    """System of a region whose rows begin at number `first`; `incoming` are the edges from all others."""
    n = len(links.near.indices)
    rows, places = np.nonzero(links.near.indices >= 0)
    out = Edges(rows, links.near.indices[rows, places], links.near.squared[rows, places], links.kept[rows, places])
    into = [edges_between(links, first, first, first + n), *incoming]
    back = Edges(*(np.concatenate(parts) for parts in zip(*into, strict=True)))
    outside = [e.numbers[(e.numbers < first) | (e.numbers >= first + n)] for e in (out, back)]
    halo = np.unique(np.concatenate(outside))

    def weights(bandwidth: float, *, all_edges: bool) -> tuple[sparse.csr_array, sparse.csr_array]:
        W = [_heat_matrix(e, first, n, halo, bandwidth, all_edges=all_edges) for e in (out, back)]
        both = W[0].maximum(W[1]).tocsr()  # an edge counts in both directions, whichever end chose it
        return both[:, :n], both[:, n:]

    Y = sparse.csr_array((np.ones(len(y_known)), y_known, np.arange(len(y_known) + 1)), shape=(len(y_known), n_classes))
    votes = links.known.first(links.n_votes)
    every = np.ones(votes.indices.shape, dtype=bool)
    return System(
        halo,
        normalise_rows(_pull(votes, every, bandwidths.votes, Y)).astype(np.float32),
        _pull(links.known, links.kept_known, bandwidths.harmonic, Y).astype(np.float32),
        weights(bandwidths.anchored, all_edges=True),
        weights(bandwidths.harmonic, all_edges=False),
    )


def _heat_matrix(
    edges: Edges, first: int, n: int, halo: Codes, bandwidth: float, *, all_edges: bool
) -> sparse.csr_array:
    rows, numbers, squared, _ = edges if all_edges else (part[edges.kept] for part in edges)
    columns = numbers - first
    outside = (columns < 0) | (columns >= n)
    columns[outside] = n + np.searchsorted(halo, numbers[outside])
    values = heat_values(squared.astype(np.float64), bandwidth)
    return sparse.csr_array((values, (rows, columns)), shape=(n, n + len(halo)))


def _pull(known: Neighbors, chosen: Mask, bandwidth: float, Y: sparse.csr_array) -> Array:
    """Heat weights of the chosen labelled neighbours, summed by class: (n, n_classes)."""
    values = np.where(chosen, heat_values(known.squared.astype(np.float64), bandwidth), 0.0)
    ends = np.arange(0, values.size + 1, values.shape[1])
    W = sparse.csr_array((values.ravel(), known.indices.ravel(), ends), shape=(len(values), Y.shape[0]))
    return (W @ Y).toarray()


def first_values(system: System) -> Array:
    """The votes, from which both solutions start: (n, 2 n_classes)."""
    return np.hstack([system.votes, system.votes])


def solve_region(system: System, F_halo: Array, smoothing: float, *, tol: float) -> Array:
    """Anchored and harmonic distributions of the rows of a region, side by side, (n, 2 n_classes), given its halo's.

    The equations are those of `core.propagation.anchored_labels` and `harmonic_solution`; each class is one labelled
    row, to which the weights of all of its labelled rows lead.
    """
    n, n_classes = system.votes.shape
    if not n:
        return np.empty((0, 2 * n_classes), dtype=np.float32)
    W, W_halo = system.anchored
    degree = np.maximum(np.asarray(W.sum(axis=1) + W_halo.sum(axis=1)).ravel(), np.finfo(float).tiny)
    pull = (1 - smoothing) * degree[:, None] * system.votes + smoothing * (W_halo @ F_halo[:, :n_classes])
    anchored = solve_definite((sparse.diags_array(degree) - smoothing * W).tocsr(), pull, tol=tol).values
    W, W_halo = system.harmonic
    ends = sparse.hstack([W_halo, sparse.csr_array(system.pull)], format="csr")
    harmonic = harmonic_solution(W, ends, np.vstack([F_halo[:, n_classes:], np.eye(n_classes)]), tol=tol)
    return np.hstack([np.maximum(anchored, 0.0), harmonic]).astype(np.float32)


def count_changed(F: Array, before: Array) -> int:
    """Rows whose likeliest class, anchored or harmonic, differs between two solutions (n, 2 n_classes)."""
    now, then = (part.reshape(len(part), 2, part.shape[1] // 2).argmax(axis=2) for part in (F, before))
    return int((now != then).any(axis=1).sum())
