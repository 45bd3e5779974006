"""The objective of Algorithm 1: S_max and S_min of Eq. (16), for any number of domains, pass after pass."""

from dataclasses import dataclass

import numpy as np

from lpjt.core import graphs, moments, projection
from lpjt.core.neighbors import Neighbors, nearest_others

#: Nearest rows of any class listed once for each row, by an exact and by an approximate search; graphs of new labels
#: are read off the list where it is enough.
LISTED, LISTED_APPROXIMATELY = 64, 32


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Domains in coordinates, sources first."""

    rows: tuple[np.ndarray, ...]  # (n_i, width_i)
    labels: tuple[np.ndarray, ...]  # (n_i,) codes, -1 where unknown
    is_target: tuple[bool, ...]
    n_classes: int
    neighbors: tuple[Neighbors, ...] | None = None  # of `list_neighbors`, where they are known

    @property
    def n_sources(self):
        """Domains that are not targets."""
        return len(self.is_target) - sum(self.is_target)

    def share(self, i):
        """Weight of the terms that domain i has alone: all sources together count as one, and all targets."""
        return 1.0 / sum(other == self.is_target[i] for other in self.is_target)


@dataclass(frozen=True, slots=True)
class Settings:
    """Weights and choices of Eq. (16); words for the paper's letters are in docs/notation.md."""

    n_components: int = 40
    locality_weight: float = 0.0005
    variance_weight: float = 0.1
    coupling_weight: float = 1.0
    landmark_ratio: float | None = None  # None: every weight is 1
    n_neighbors: int = 5
    weighting: str = "heat"
    bandwidth: str | float = "auto"
    n_pairs: int | None = None  # the penalty graph has so many pairs of the whole domain, as in the authors' code
    landmark_cross: float = 2.0
    weigh_target: bool = True
    first_weight: float | None = None  # None: the landmark ratio
    search: str = "exact"  # of neighbours: "exact" or "approximate"


@dataclass(slots=True, eq=False)
class Fixed:
    """What does not change from pass to pass, and the target graphs of the last labels."""

    neighbors: tuple  # nearest rows of each row of each target, any class; None for sources
    scatter: dict  # target -> S_h
    S_max: np.ndarray  # S_b of the sources; the blocks of the targets are written anew in each pass
    S_min: np.ndarray  # coupling, and S_w of the sources
    offsets: np.ndarray
    target_graphs: dict  # target -> (labels, ClassGraphs)
    source_spreads: dict  # source -> (row spread, its Gram matrix)
    source_moments: dict  # source -> (weights, Moments)


def list_neighbors(rows, settings):
    """Lists of nearest rows of each domain, for the graphs of any labels."""
    listed = LISTED if settings.search == "exact" else LISTED_APPROXIMATELY
    k = max(listed, 4 * settings.n_neighbors)
    return tuple(nearest_others(X, k, search=settings.search) for X in rows)


def prepare(problem, settings):
    """What all passes share: neighbours, the matrices of the sources, the coupling."""
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
        G = _graphs(X, problem.labels[i], settings, neighbors[i])
        block = slice(offsets[i], offsets[i + 1])
        weight = problem.share(i) * settings.locality_weight
        S_min[block, block] += weight * _scatter(X, G.within)
        S_max[block, block] = weight * _scatter(X, G.between)
    neighbors = tuple(near if t else None for near, t in zip(neighbors, problem.is_target, strict=True))
    return Fixed(neighbors, scatter, S_max, S_min, offsets, {}, {}, {})


def _graphs(X, y, settings, near):
    G = graphs.class_graphs(
        X,
        y,
        n_neighbors=settings.n_neighbors,
        weighting=settings.weighting,
        bandwidth=settings.bandwidth,
        neighbors=near,
        search=settings.search,
    )
    if settings.n_pairs is None:
        return G
    return graphs.ClassGraphs(
        G.within, graphs.closest_pairs_graph(X, y, n_pairs=settings.n_pairs, search=settings.search)
    )


def _scatter(X, W):
    """X' L X of Eqs. (14)-(15)."""
    return moments.weighted_gram(X, graphs.degrees(W), W)


def _target_graphs(problem, settings, fixed, i, y):
    """Graphs of a target; those of the last pass where no label changed."""
    last = fixed.target_graphs.get(i)
    if last is None or not np.array_equal(last[0], y):
        fixed.target_graphs[i] = (y, _graphs(problem.rows[i], y, settings, fixed.neighbors[i]))
    return fixed.target_graphs[i][1]


def objective_matrices(problem, settings, fixed, labels, weights, ratio):
    """S_max and S_min of Eq. (16), all domains together; the first is written over by the next call."""
    gamma, mu = settings.locality_weight, settings.variance_weight
    of_rows = [_moments(problem, fixed, i, y, w, ratio) for i, (y, w) in enumerate(zip(labels, weights, strict=True))]
    K = moments.mmd_coefficients([m.counts for m in of_rows], problem.is_target)
    S_min = moments.mmd_blocks([m.means for m in of_rows], K)
    S_min += fixed.S_min
    for i, (X, y, w) in enumerate(zip(problem.rows, labels, weights, strict=True)):
        block = slice(fixed.offsets[i], fixed.offsets[i + 1])
        spread = moments.row_spread(y, w, of_rows[i].counts, K[i, i, 1:], landmark_ratio=ratio)
        if not problem.is_target[i]:
            S_min[block, block] += _source_spread(fixed, i, X, spread)
            continue
        share = problem.share(i)
        G = _target_graphs(problem, settings, fixed, i, y)
        # One product for the spread of Eq. (9) and S_w together: X' (diag - gamma W_w) X.
        own = moments.weighted_gram(X, spread + share * gamma * graphs.degrees(G.within), share * gamma * G.within)
        own[np.diag_indices_from(own)] += share * mu
        S_min[block, block] += own
        fixed.S_max[block, block] = share * (gamma * _scatter(X, G.between) + mu * fixed.scatter[i])
    return fixed.S_max, S_min


def _moments(problem, fixed, i, y, w, ratio):
    """Moments of a domain; of a source, whose labels stay, those of the last pass where no weight changed."""
    last = fixed.source_moments.get(i)
    if last is not None and np.array_equal(last[0], w):
        return last[1]
    found = moments.class_moments(problem.rows[i], y, w, n_classes=problem.n_classes, landmark_ratio=ratio)
    if not problem.is_target[i]:
        fixed.source_moments[i] = (w, found)
    return found


def _source_spread(fixed, i, X, spread):
    """Spread term of a source; that of the last pass where neither weights nor shared classes changed."""
    last = fixed.source_spreads.get(i)
    if last is None or not np.array_equal(last[0], spread):
        fixed.source_spreads[i] = (spread, moments.weighted_gram(X, spread))
    return fixed.source_spreads[i][1]


def energies(problem, Z, labels, weights, ratio):
    """Values of Eqs. (8) and (9) on embedded rows: (marginal, conditional)."""
    of_rows = [
        moments.class_moments(z, y, w, n_classes=problem.n_classes, landmark_ratio=ratio)
        for z, y, w in zip(Z, labels, weights, strict=True)
    ]
    K = moments.mmd_coefficients([m.counts for m in of_rows], problem.is_target)
    spread = [
        moments.row_spread(y, w, m.counts, K[i, i, 1:], landmark_ratio=ratio)
        for i, (y, w, m) in enumerate(zip(labels, weights, of_rows, strict=True))
    ]
    norms = [np.einsum("ij,ij->i", z, z, dtype=np.float64) for z in Z]
    return moments.mmd_energy([m.means for m in of_rows], K, spread, norms)
