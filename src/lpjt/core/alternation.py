"""Algorithm 1: projections, labels and landmark weights in turn, for any number of domains. Yields; never prints."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from lpjt.core import landmarks, moments, projection
from lpjt.core.blocks import multiply
from lpjt.core.objective import Problem, Settings, energies, objective_matrices, prepare


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Result of one iteration of Algorithm 1."""

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
    """Yield the iterations of Algorithm 1, starting from the given first labels.

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
    workspace = prepare(problem, settings)
    problem = replace(problem, neighbors=None)
    clock.lap("fixed")
    labels = _labels(problem, start)
    ratio = settings.landmark_ratio or 1.0
    first = ratio if settings.initial_weight is None else settings.initial_weight
    weights = tuple(np.full(len(X), first) for X in problem.rows)
    solution = None
    for n_iter in range(1, max_iter + 1):
        clock = clock if n_iter == 1 else Clock()  # the first iteration includes what all of them share
        S_max, S_min = objective_matrices(problem, settings, workspace, labels, weights, ratio)
        clock.lap("objective")
        solution = projection.solve_projection(  # step 2, Eq. (21)
            S_max, S_min, settings.n_components, n_leading=workspace.offsets[problem.n_sources], last=solution
        )
        clock.lap("projection")
        P = tuple(np.split(solution.vectors, workspace.offsets[1:-1]))
        Z = tuple(multiply(X, p) for X, p in zip(problem.rows, P, strict=True))  # step 3
        marginal, conditional = energies(problem, Z, labels, weights, ratio)
        clock.lap("embedding")
        F = tuple(classify(Z, problem.labels, weights))  # step 4
        new_labels = _labels(problem, F)
        clock.lap("labels")
        marks = weigh_landmarks(problem, settings, Z, new_labels, weights)  # step 5, Eq. (23)
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


def weigh_landmarks(problem, settings, Z, labels, weights):
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
