"""Algorithm 1: projections, labels and landmark weights in turn, for any number of domains. Yields; never prints."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from scipy import linalg

from lpjt.core import graphs, landmarks, moments, projection
from lpjt.core.blocks import multiply
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


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """One pass of Algorithm 1."""

    n_iter: int
    projections: tuple[np.ndarray, ...]  # (width_i, n_components)
    eigenvalues: np.ndarray
    residual: float
    embeddings: tuple[np.ndarray, ...]  # (n_i, n_components)
    distributions: tuple[np.ndarray, ...]  # (n_j, n_classes) for each target
    labels: tuple[np.ndarray, ...]  # (n_i,) codes of all domains, sources first
    weights: tuple[np.ndarray, ...]  # (n_i,)
    objective: float  # Eq. (16) at the new projections
    marginal_mmd: float  # Eq. (8)
    conditional_mmd: float  # Eq. (9)
    n_changed: int
    weight_change: float
    landmark_gap: float  # relative duality gap of the landmark step, 0 where there is none
    seconds: dict


Classify = Callable[[tuple, tuple, tuple], list]


def alternate(problem: Problem, settings: Settings, classify: Classify, start, *, max_iter: int) -> Iterator[State]:
    """Yield the passes of Algorithm 1, from the given first labels on.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    classify : callable
        ``classify(embeddings, known_labels, weights)`` gives the distributions, (n_j, n_classes), of each target.
    start : list of arrays, (n_j, n_classes)
        First distributions of each target; zero rows have no label yet and take part in the marginal terms alone.
    max_iter : int

    Yields
    ------
    State
    """
    clock = Clock()
    fixed = _prepare(problem, settings)
    problem = replace(problem, neighbors=None)
    clock.lap("fixed")
    labels = _labels(problem, start)
    ratio = settings.landmark_ratio or 1.0
    first = ratio if settings.first_weight is None else settings.first_weight
    weights = tuple(np.full(len(X), first) for X in problem.rows)
    for n_iter in range(1, max_iter + 1):
        clock = clock if n_iter == 1 else Clock()  # the first pass bears what all of them use
        S_max, S_min = _objective(problem, settings, fixed, labels, weights, ratio)
        clock.lap("objective")
        solution = projection.solve_projection(S_max, S_min, settings.n_components)  # step 2, Eq. (21)
        clock.lap("projection")
        P = tuple(np.split(solution.vectors, fixed.offsets[1:-1]))
        Z = tuple(multiply(X, p) for X, p in zip(problem.rows, P, strict=True))  # step 3
        marginal, conditional = _energies(problem, Z, labels, weights, ratio)
        clock.lap("embedding")
        F = tuple(classify(Z, problem.labels, weights))  # step 4
        new_labels = _labels(problem, F)
        clock.lap("labels")
        marks = _landmarks(problem, settings, Z, new_labels, weights)  # step 5, Eq. (23)
        clock.lap("landmarks")
        new_weights = marks.weights if marks else weights
        yield State(
            n_iter=n_iter,
            projections=P,
            eigenvalues=solution.eigenvalues,
            residual=solution.residual,
            embeddings=Z,
            distributions=F,
            labels=new_labels,
            weights=tuple(new_weights),
            objective=len(solution.eigenvalues) / max(float(solution.eigenvalues.sum()), np.finfo(float).tiny),
            marginal_mmd=marginal,
            conditional_mmd=conditional,
            n_changed=sum(int((a != b).sum()) for a, b in zip(labels, new_labels, strict=True)),
            weight_change=max(float(np.abs(a - b).mean()) for a, b in zip(weights, new_weights, strict=True)),
            landmark_gap=marks.gap / max(marks.objective, np.finfo(float).tiny) if marks else 0.0,
            seconds=clock.laps,
        )
        labels, weights = new_labels, tuple(new_weights)


@dataclass(slots=True, eq=False)
class _Fixed:
    """What does not change from pass to pass, and the target graphs of the last labels."""

    neighbors: tuple  # nearest rows of each row of each target, any class; None for sources
    source_graphs: dict  # domain -> (S_w, S_b)
    scatter: dict  # target -> S_h
    coupling: np.ndarray
    offsets: np.ndarray
    target_graphs: dict  # target -> (labels, ClassGraphs)
    source_spreads: dict  # source -> (row spread, its Gram matrix)


class Clock:
    """Seconds by stage."""

    def __init__(self):
        self.laps: dict = {}
        self._last = perf_counter()

    def lap(self, stage):
        """Give the time since the last lap to a stage."""
        now = perf_counter()
        self.add({stage: now - self._last})
        self._last = now

    def add(self, laps):
        """Add seconds by stage, measured elsewhere."""
        for stage, seconds in laps.items():
            self.laps[stage] = self.laps.get(stage, 0.0) + seconds

    def skip(self):
        """Give the time since the last lap to no stage."""
        self._last = perf_counter()


def list_neighbors(rows, settings):
    """Lists of nearest rows of each domain, for the graphs of any labels."""
    listed = LISTED if settings.search == "exact" else LISTED_APPROXIMATELY
    k = max(listed, 4 * settings.n_neighbors)
    return tuple(nearest_others(X, k, search=settings.search) for X in rows)


def _prepare(problem, settings):
    neighbors = list_neighbors(problem.rows, settings) if problem.neighbors is None else problem.neighbors
    scatter, source_graphs = {}, {}
    for i, X in enumerate(problem.rows):
        if problem.is_target[i]:
            scatter[i] = moments.total_scatter(X)
        else:
            G = _graphs(X, problem.labels[i], settings, neighbors[i])
            source_graphs[i] = (_scatter(X, G.within), _scatter(X, G.between))
    widths = [X.shape[1] for X in problem.rows]
    coupling = projection.coupling_blocks(widths, problem.is_target, settings.coupling_weight)
    offsets = np.concatenate([[0], np.cumsum(widths)])
    neighbors = tuple(near if t else None for near, t in zip(neighbors, problem.is_target, strict=True))
    return _Fixed(neighbors, source_graphs, scatter, coupling, offsets, {}, {})


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


def _objective(problem, settings, fixed, labels, weights, ratio):
    """S_max and S_min of Eq. (16), all domains together."""
    gamma, mu = settings.locality_weight, settings.variance_weight
    of_rows = [
        moments.class_moments(X, y, w, n_classes=problem.n_classes, landmark_ratio=ratio)
        for X, y, w in zip(problem.rows, labels, weights, strict=True)
    ]
    K = moments.mmd_coefficients([m.counts for m in of_rows], problem.is_target)
    S_min = moments.mmd_blocks([m.means for m in of_rows], K) + fixed.coupling
    diagonal = []
    for i, (X, y, w) in enumerate(zip(problem.rows, labels, weights, strict=True)):
        block = slice(fixed.offsets[i], fixed.offsets[i + 1])
        share = problem.share(i)
        spread = moments.row_spread(y, w, of_rows[i].counts, K[i, i, 1:], landmark_ratio=ratio)
        if problem.is_target[i]:
            G = _target_graphs(problem, settings, fixed, i, y)
            # One product for the spread of Eq. (9) and S_w together: X' (diag - gamma W_w) X.
            own = moments.weighted_gram(X, spread + share * gamma * graphs.degrees(G.within), share * gamma * G.within)
            own[np.diag_indices_from(own)] += share * mu
            diagonal.append(share * (gamma * _scatter(X, G.between) + mu * fixed.scatter[i]))
        else:
            S_w, S_b = fixed.source_graphs[i]
            own = _source_spread(fixed, i, X, spread) + share * gamma * S_w
            diagonal.append(share * gamma * S_b)
        S_min[block, block] += own
    return linalg.block_diag(*diagonal), S_min


def _source_spread(fixed, i, X, spread):
    """Spread term of a source; that of the last pass where neither weights nor shared classes changed."""
    last = fixed.source_spreads.get(i)
    if last is None or not np.array_equal(last[0], spread):
        fixed.source_spreads[i] = (spread, moments.weighted_gram(X, spread))
    return fixed.source_spreads[i][1]


def _energies(problem, Z, labels, weights, ratio):
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


def _landmarks(problem, settings, Z, labels, weights):
    """Step 5; None where landmarks are off."""
    ratio = settings.landmark_ratio
    if ratio is None:
        return None
    ones = [np.ones(len(y)) for y in labels]
    counts = [np.bincount(y[y >= 0], minlength=problem.n_classes) for y in labels]
    K = moments.mmd_coefficients(counts, problem.is_target, conditional_cross=settings.landmark_cross)
    averages = [moments.averaging_matrix(y, w, c, ratio) for y, w, c in zip(labels, ones, counts, strict=True)]
    spread = [
        moments.row_spread(y, w, c, K[i, i, 1:], landmark_ratio=ratio)
        for i, (y, w, c) in enumerate(zip(labels, ones, counts, strict=True))
    ]
    # One group for each class of each domain, unlabelled rows a group of their own, numbered without holes.
    raw = np.concatenate([y + 1 + i * (problem.n_classes + 1) for i, y in enumerate(labels)])
    _, group = np.unique(raw, return_inverse=True)
    mass = ratio * np.bincount(group)
    groups = np.split(group, np.cumsum([len(y) for y in labels])[:-1])
    marks = landmarks.solve_landmarks(Z, averages, K, spread, groups, mass, start=weights, tol=1e-5)
    if settings.weigh_target:
        return marks
    kept = [old if t else new for old, new, t in zip(weights, marks.weights, problem.is_target, strict=True)]
    return landmarks.Landmarks(kept, marks.objective, marks.gap, marks.n_iter)


def _labels(problem, distributions):
    """Codes of all domains: true where known, else the likeliest; -1 where a distribution is empty."""
    parts, targets = [], iter(distributions)
    for y, is_target in zip(problem.labels, problem.is_target, strict=True):
        if is_target:
            F = next(targets)
            guess = np.where(F.sum(axis=1) > 0, F.argmax(axis=1), -1)
            y = np.where(y >= 0, y, guess)
        parts.append(y)
    return tuple(parts)
