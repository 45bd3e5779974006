"""The objective of Algorithm 1: S_max and S_min of Eq. (16), for any number of domains."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.core import graphs, moments, projection
from lpjt.core.edges import Graph, add_to_diagonal, degrees, scale_edges
from lpjt.core.neighbors import Neighbors, nearest_others
from lpjt.core.unlike import Unlike, nothing_known

#: Number of nearest rows of any class that are listed per row, once, by an exact and by an approximate search; the
#: graphs of new labels are read from these lists where they suffice.
LISTED, LISTED_APPROXIMATELY = 64, 32

#: Domains of at most this many rows have lists of all other rows: no class is searched again as labels change.
LISTED_WHOLE = 256


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Domains in coordinates, sources first."""

    rows: tuple[Array, ...]  # (n_i, width_i)
    labels: tuple[Codes, ...]  # (n_i,) codes, -1 where unknown
    is_target: tuple[bool, ...]
    n_classes: int
    neighbors: tuple[Neighbors, ...] | None = None  # from `list_neighbors`, if already computed
    weights: tuple[Array, ...] | None = None  # (n_i,) sample weights, whatever their scale; None: each row counts once

    def mass(self, i: int) -> Array | None:
        """Sample weights of the rows of domain i, of mean 1."""
        return None if self.weights is None else self.weights[i] / self.weights[i].mean()

    @property
    def n_sources(self) -> int:
        """Number of domains that are not targets."""
        return len(self.is_target) - sum(self.is_target)

    @property
    def source_proportions(self) -> Array:
        """Proportions of the classes among the source rows, (n_classes,), by their sample weights."""
        return moments.class_proportions(self.labels[: self.n_sources], self.weights, self.n_classes)

    def share(self, i: int) -> float:
        """Weight of the terms of domain i alone: all sources together count as one, and so do all targets."""
        return 1.0 / sum(other == self.is_target[i] for other in self.is_target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Weights and choices of Eq. (16); docs/notation.md relates them to the letters of the paper.

    The fields with a default are departures of the authors' code from the paper; the defaults are the paper's values.
    """

    n_components: int
    locality_weight: float
    variance_weight: float
    coupling_weight: float
    landmark_ratio: float | None  # None: every weight is 1
    n_neighbors: int
    graph_weights: str  # "heat" or "binary"
    bandwidth: str | float  # of the heat weights: "auto" or a number
    search: str  # for neighbours: "exact" or "approximate"
    max_pairs: int | None = None  # if given, the penalty graph keeps only this many closest pairs of the whole domain
    landmark_cross: float = 2.0  # factor of the conditional cross term in the landmark step
    weigh_target: bool = True  # False: target rows keep their initial weight
    initial_weight: float | None = None  # None: the landmark ratio


@dataclass(slots=True, eq=False)
class Workspace:
    """What the iterations of one fit share: quantities computed once, and results of the last iteration for reuse."""

    neighbors: tuple[Neighbors | None, ...]  # nearest rows of any class of each row of a target; None for sources
    scatter: dict[int, Array]  # target -> S_h
    S_max: Array  # S_b of the sources; each iteration overwrites the blocks of the targets
    S_min: Array  # coupling, and S_w of the sources
    offsets: Codes  # first row of each domain's block, and the total width
    target_graphs: dict[int, tuple[Codes, graphs.ClassGraphs]] = field(default_factory=dict)  # by target, with labels
    source_spreads: dict[int, tuple[Array, Array]] = field(default_factory=dict)  # by source: row spread, Gram matrix
    source_moments: dict[int, tuple[Array, moments.Moments]] = field(default_factory=dict)  # by source, with weights

    def copy(self) -> "Workspace":
        """For other iterations of the same problem: they overwrite no quantity of these."""
        return replace(
            self,
            S_max=self.S_max.copy(),
            target_graphs=dict(self.target_graphs),
            source_spreads=dict(self.source_spreads),
            source_moments=dict(self.source_moments),
        )


def list_neighbors(rows: Sequence[Array], settings: Settings) -> tuple[Neighbors, ...]:
    """Lists of the nearest rows of each row, per domain, for the graphs of any labels."""
    n_listed = count_listed(settings)
    return tuple(
        nearest_others(X, max(n_listed, len(X) if len(X) <= LISTED_WHOLE else 0), search=settings.search) for X in rows
    )


def count_listed(settings: Settings) -> int:
    """Number of nearest rows in each list of a domain with many rows."""
    listed = LISTED if settings.search == "exact" else LISTED_APPROXIMATELY
    return max(listed, 4 * settings.n_neighbors)


def prepare(problem: Problem, settings: Settings) -> Workspace:
    """Compute what all iterations share: neighbours, the matrices of the sources, the coupling."""
    neighbors = list_neighbors(problem.rows, settings) if problem.neighbors is None else problem.neighbors
    widths = [X.shape[1] for X in problem.rows]
    S_min = projection.coupling_blocks(widths, problem.is_target, settings.coupling_weight)
    S_max = np.zeros_like(S_min)
    offsets = np.concatenate([[0], np.cumsum(widths)])
    scatter = {}
    for i, X in enumerate(problem.rows):
        if problem.is_target[i]:
            scatter[i] = moments.total_scatter(X)
            continue
        G = _weigh_edges(_graphs(X, problem.labels[i], settings, neighbors[i]), problem.mass(i))
        block = slice(offsets[i], offsets[i + 1])
        weight = problem.share(i) * settings.locality_weight
        S_min[block, block] += weight * _scatter(X, G.within)
        S_max[block, block] = weight * _scatter(X, G.between)
    of_targets = tuple(near if t else None for near, t in zip(neighbors, problem.is_target, strict=True))
    return Workspace(of_targets, scatter, S_max, S_min, offsets)


def _graphs(
    X: Array, y: Codes, settings: Settings, near: Neighbors | None, memory: Unlike | None = None
) -> graphs.ClassGraphs:
    G = graphs.class_graphs(
        X,
        y,
        n_neighbors=settings.n_neighbors,
        graph_weights=settings.graph_weights,
        bandwidth=settings.bandwidth,
        neighbors=near,
        search=settings.search,
        memory=memory,
    )
    if settings.max_pairs is None:
        return G
    pairs = graphs.closest_pairs_graph(X, y, max_pairs=settings.max_pairs, search=settings.search)
    return replace(G, between=pairs)


def _weigh_edges(G: graphs.ClassGraphs, mass: Array | None) -> graphs.ClassGraphs:
    """Graphs whose edges count as often as the rows that they join, by the geometric mean."""
    if mass is None:
        return G
    root = np.sqrt(mass)
    return graphs.ClassGraphs(scale_edges(G.within, root), scale_edges(G.between, root))


def _scatter(X: Array, W: Graph) -> Array:
    """X' L X of Eqs. (14)-(15)."""
    return moments.weighted_gram(X, degrees(W), W)


def _target_graphs(problem: Problem, settings: Settings, workspace: Workspace, i: int, y: Codes) -> graphs.ClassGraphs:
    """Graphs of a target; those of the last iteration if no label changed.

    From the second labels on searches are remembered: the first labels differ too much from those that follow.
    """
    last = workspace.target_graphs.get(i)
    if last is None or not np.array_equal(last[0], y):
        memory = None if last is None else last[1].unlike or nothing_known(y)
        workspace.target_graphs[i] = (y, _graphs(problem.rows[i], y, settings, workspace.neighbors[i], memory))
    return workspace.target_graphs[i][1]


def objective_matrices(
    problem: Problem,
    settings: Settings,
    workspace: Workspace,
    labels: Sequence[Codes],
    weights: Sequence[Array],
    ratio: float,
) -> tuple[Array, Array]:
    """S_max and S_min of Eq. (16), (total width, total width) each; the next call overwrites the first."""
    gamma, mu = settings.locality_weight, settings.variance_weight
    of_rows = [
        _moments(problem, workspace, i, y, w, ratio) for i, (y, w) in enumerate(zip(labels, weights, strict=True))
    ]
    K = moments.mmd_coefficients([m.counts for m in of_rows], problem.is_target)
    S_min = moments.mmd_blocks([m.means for m in of_rows], K)
    S_min += workspace.S_min
    for i, (X, y, w) in enumerate(zip(problem.rows, labels, weights, strict=True)):
        block = slice(workspace.offsets[i], workspace.offsets[i + 1])
        spread = moments.row_spread(y, w, of_rows[i].counts, K[i, i, 1:], landmark_ratio=ratio, mass=problem.mass(i))
        if not problem.is_target[i]:
            S_min[block, block] += _source_spread(workspace, i, X, spread)
            continue
        share = problem.share(i)
        G = _target_graphs(problem, settings, workspace, i, y)
        # One product for the spread of Eq. (9) and S_w together: X' (diag - gamma W_w) X.
        own = moments.weighted_gram(X, spread + share * gamma * degrees(G.within), share * gamma * G.within)
        add_to_diagonal(own, share * mu)
        S_min[block, block] += own
        workspace.S_max[block, block] = share * (gamma * _scatter(X, G.between) + mu * workspace.scatter[i])
    return workspace.S_max, S_min


def _moments(problem: Problem, workspace: Workspace, i: int, y: Codes, w: Array, ratio: float) -> moments.Moments:
    """Moments of a domain; for a source, whose labels stay, those of the last iteration if no weight changed."""
    last = workspace.source_moments.get(i)
    if last is not None and np.array_equal(last[0], w):
        return last[1]
    found = moments.class_moments(
        problem.rows[i], y, w, n_classes=problem.n_classes, landmark_ratio=ratio, mass=problem.mass(i)
    )
    if not problem.is_target[i]:
        workspace.source_moments[i] = (w, found)
    return found


def _source_spread(workspace: Workspace, i: int, X: Array, spread: Array) -> Array:
    """Spread term of a source; that of the last iteration if neither weights nor shared classes changed."""
    last = workspace.source_spreads.get(i)
    if last is None or not np.array_equal(last[0], spread):
        workspace.source_spreads[i] = (spread, moments.weighted_gram(X, spread))
    return workspace.source_spreads[i][1]


def energies(
    problem: Problem, Z: Sequence[Array], labels: Sequence[Codes], weights: Sequence[Array], ratio: float
) -> tuple[float, float]:
    """Values of Eqs. (8) and (9) on embedded rows: (marginal, conditional)."""
    of_rows = [
        moments.class_moments(z, y, w, n_classes=problem.n_classes, landmark_ratio=ratio, mass=problem.mass(i))
        for i, (z, y, w) in enumerate(zip(Z, labels, weights, strict=True))
    ]
    K = moments.mmd_coefficients([m.counts for m in of_rows], problem.is_target)
    spread = [
        moments.row_spread(y, w, m.counts, K[i, i, 1:], landmark_ratio=ratio, mass=problem.mass(i))
        for i, (y, w, m) in enumerate(zip(labels, weights, of_rows, strict=True))
    ]
    norms = [np.einsum("ij,ij->i", z, z, dtype=np.float64) for z in Z]
    return moments.mmd_energy([m.means for m in of_rows], K, spread, norms)
