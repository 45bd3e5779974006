"""Label propagation by block: the rules of `classifiers.Propagation` on rows that stay where they are."""

from dataclasses import dataclass

import numpy as np

from lpjt.classifiers import ANCHORED_SHARE, N_VOTES, SMOOTHING
from lpjt.core import propagation
from lpjt.distributed import graphs, neighbors, systems, tasks
from lpjt.distributed.blocks import Blocks
from lpjt.distributed.graphs import Edges
from lpjt.distributed.systems import System


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Rows with a label and rows without one, of all domains; a block of either is part of a block of a domain."""

    known: Blocks  # arrays, (m, width)
    codes: Blocks  # int arrays, (m,), of the known rows
    unknown: Blocks
    known_counts: np.ndarray  # (n_classes,)

    @property
    def proportions(self):
        """Shares of the classes among the known rows."""
        return self.known_counts / max(self.known_counts.sum(), 1)


def classify(rule, sides: Sides) -> Blocks:
    """Distributions of the unknown rows, (m, n_classes), as `Propagation.classify`; persisted."""
    if not rule.anchored:
        return _normalised(rule, _harmonic_of_all(rule, sides), sides, 1.0).persist()
    if sides.unknown.n_rows < 2:
        return _votes_alone(sides)
    known, unknown = _search(rule, sides)
    harmonic = _harmonic(known, unknown, sides)
    anchored = _anchored(rule, known, unknown, sides)
    F = _normalised(rule, harmonic, sides, 1.0)
    return F.each(mix, anchored, share=ANCHORED_SHARE).persist()


def start(rule, sides: Sides) -> Blocks:
    """Anchored labels alone, as `Propagation.start`; persisted."""
    if sides.unknown.n_rows < 2:
        return _votes_alone(sides)
    known, unknown = _search(rule, sides)
    return _anchored(rule, known, unknown, sides).persist()


def mix(F, other, *, share):
    """Weighted mean of two sets of distributions."""
    return (1 - share) * F + share * other


def _search(rule, sides):
    """Lists of the nearest known and the nearest unknown rows of each unknown row."""
    known = neighbors.search(sides.unknown, sides.known, rule.n_neighbors, codes=sides.codes)
    unknown = neighbors.search(sides.unknown, sides.unknown, rule.n_neighbors, same=True)
    neighbors.persist_lists(known, unknown)
    return known, unknown


def _votes_alone(sides):
    known = neighbors.search(sides.unknown, sides.known, N_VOTES, codes=sides.codes)
    return _voted(known, len(sides.known_counts)).persist()


def _voted(known, n_classes):
    return known.each(vote, known.sum_of(measure_votes), n_classes=n_classes, row_bytes=8 * n_classes)


def measure_votes(known):
    """`Measure` of the squared distances of the rows that vote."""
    return graphs.measure_squares(known.squared[:, :N_VOTES])


def vote(known, found, *, n_classes):
    """Mean distribution, by heat weights, of the nearest known rows, (m, n_classes)."""
    F = np.zeros((len(known.codes), n_classes))
    weights = graphs.heat(known.squared[:, :N_VOTES], found.mean)
    for codes, values in zip(known.codes[:, :N_VOTES].T, weights.T, strict=True):
        F[np.arange(len(F)), codes] += values
    return propagation.normalise_rows(F)


def _anchored(rule, known, unknown, sides):
    """Smoothed votes, `core.propagation.anchored_labels`, normalised half the way."""
    n_classes = len(sides.known_counts)
    votes = _voted(known, n_classes)
    starts = unknown.offsets
    nodes = [tasks.call(list_edges, node, start=int(starts[p])) for p, node in enumerate(unknown.nodes)]
    W = graphs.symmetric(Blocks(nodes, unknown.sizes, 2 * unknown.row_bytes))
    system = W.each(anchored_system, votes, smoothing=SMOOTHING).persist()
    return _normalised(rule, systems.solve(system, n_classes), sides, 0.5)


def list_edges(lists, *, start):
    """All entries of a block's lists as edges."""
    m, k = lists.indices.shape
    rows = np.repeat(np.arange(m), k)
    codes = np.full(m * k, -1, np.int32)
    return Edges(rows, lists.indices.ravel(), lists.squared.ravel(), codes, start, np.full(m, -1, np.int32))


def anchored_system(W, votes, *, smoothing):
    """Rows of ``(D - eta W) F = (1 - eta) D F_0``."""
    degree = np.maximum(np.asarray(W.sum(axis=1)).ravel(), systems.TINY)
    return System(W, degree, (1 - smoothing) * degree[:, None] * votes, smoothing)


def _harmonic(known, unknown, sides):
    """Harmonic solution where only unknown rows choose neighbours, `Neighborhoods.blocks`."""
    starts = unknown.offsets
    nodes = [
        tasks.call(nearest_of_both, *pair, start=int(starts[p]), n=unknown.n_rows)
        for p, pair in enumerate(zip(unknown.nodes, known.nodes, strict=True))
    ]
    edges = Blocks(nodes, unknown.sizes, 2 * unknown.row_bytes)
    return _clamped_solution(edges, len(sides.known_counts))


def nearest_of_both(unknown, known, *, start, n):
    """Edges to each row's k nearest rows, known or not; known ones are numbered behind the n unknown ones."""
    m, k = unknown.squared.shape
    squared = np.hstack([unknown.squared, known.squared])
    indices = np.hstack([unknown.indices, np.where(known.indices >= 0, known.indices + n, -1)])
    codes = np.hstack([np.full((m, k), -1, np.int32), known.codes])
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    squared, indices, codes = (np.take_along_axis(part, order, axis=1).ravel() for part in (squared, indices, codes))
    return Edges(np.repeat(np.arange(m), k), indices, squared, codes, start, np.full(m, -1, np.int32))


def _harmonic_of_all(rule, sides):
    """Harmonic solution on the graph in which every row chooses, `core.propagation.neighbor_graph`."""
    nodes = [*sides.unknown.nodes, *sides.known.nodes]
    everything = Blocks(nodes, (*sides.unknown.sizes, *sides.known.sizes), sides.unknown.row_bytes)
    n_unknown = len(sides.unknown.nodes)
    labels = Blocks(
        [*(tasks.call(no_codes, node) for node in sides.unknown.nodes), *sides.codes.nodes], everything.sizes, 8
    )
    lists = neighbors.search(everything, everything, rule.n_neighbors, same=True, codes=labels)
    starts = lists.offsets
    edges = Blocks(
        [
            tasks.call(coded_edges, *pair, start=int(starts[p]))
            for p, pair in enumerate(zip(lists.nodes, labels.nodes, strict=True))
        ],
        lists.sizes,
        2 * lists.row_bytes,
    )
    return _clamped_solution(edges, len(sides.known_counts), n_unknown)


def no_codes(rows):
    """Labels of rows that have none."""
    return np.full(len(rows), -1, np.int32)


def coded_edges(lists, codes, *, start):
    """All entries of a block's lists as edges, with the labels at both ends."""
    m, k = lists.indices.shape
    rows = np.repeat(np.arange(m), k)
    return Edges(rows, lists.indices.ravel(), lists.squared.ravel(), lists.codes.ravel(), start, codes)


def _clamped_solution(edges, n_classes, n_unknown=None):
    """Harmonic solution of the unknown blocks, which come first among the blocks of edges."""
    n_unknown = len(edges.nodes) if n_unknown is None else n_unknown
    n_rows = int(sum(edges.sizes[:n_unknown]))
    W = graphs.symmetric(edges, known=True)
    unknown = Blocks(W.nodes[:n_unknown], edges.sizes[:n_unknown], edges.row_bytes)
    system = unknown.each(harmonic_system, n_classes=n_classes, n=n_rows).persist()
    return systems.solve(system, n_classes)


def harmonic_system(clamped, *, n_classes, n):
    """Rows of ``(D_uu - W_uu) F = W_uk Y``."""
    m = clamped.free.shape[0]
    right = np.zeros((m, n_classes))
    np.add.at(right, (clamped.rows, clamped.codes), clamped.values)
    degree = np.asarray(clamped.free.sum(axis=1)).ravel() + np.bincount(clamped.rows, clamped.values, m)
    return System(clamped.free[:, :n].tocsr(), degree, right, 1.0)


def _normalised(rule, F: Blocks, sides, power):
    """Class-mass normalisation over all blocks, or rows of sum 1 alone."""
    if not rule.class_mass:
        return F.each(propagation.normalise_rows)
    mass = F.sum_of(column_sums)
    return F.each(scale_classes, mass, proportions=sides.proportions, power=power, n_rows=F.n_rows)


def column_sums(F):
    """Sums of the columns."""
    return F.sum(axis=0)


def scale_classes(F, mass, *, proportions, power, n_rows):
    """Classes scaled towards the proportions of their mass in all blocks, then rows of sum 1."""
    mass = mass / n_rows
    scale = np.divide(proportions, mass, out=np.zeros(len(mass)), where=mass > 0)
    return propagation.normalise_rows(F * scale**power)
