"""Algorithm 1: projections, labels and landmark weights in turn, for any number of domains. Yields; never prints."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TypeAlias

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.core import landmarks, moments, projection
from lpjt.core.blocks import multiply
from lpjt.core.objective import Problem, Settings, Workspace, energies, objective_matrices, prepare


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Result of one iteration of Algorithm 1."""

    n_iter: int
    projections: tuple[Array, ...]  # (width_i, n_components)
    eigenvalues: Array
    residual: float
    embeddings: tuple[Array, ...]  # (n_i, n_components)
    distributions: tuple[Array, ...]  # (n_j, n_classes) per target
    labels: tuple[Codes, ...]  # (n_i,) codes of all domains, sources first
    weights: tuple[Array, ...]  # (n_i,)
    objective: float  # Eq. (16) at the new projections
    marginal_mmd: float  # Eq. (8); NaN, as the next and the residual, if it was not asked for
    conditional_mmd: float  # Eq. (9)
    n_changed: int
    weight_change: float
    landmark_gap: float  # relative duality gap of the landmark step, 0 without landmarks
    seconds: dict[str, float]


#: ``classify(embeddings, known_labels, weights)`` returns the distributions, (n_j, n_classes), of each target.
Classify: TypeAlias = Callable[[tuple[Array, ...], tuple[Codes, ...], tuple[Array, ...]], Sequence[Array]]


def alternate(
    problem: Problem,
    settings: Settings,
    classify: Classify,
    start: Sequence[Array],
    *,
    max_iter: int,
    shared: Workspace | None = None,
    measured: bool = True,
) -> Iterator[State]:
    """Yield the iterations of Algorithm 1, starting from the given first labels.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    classify : callable
        ``classify(embeddings, known_labels, weights)`` returns the distributions, (n_j, n_classes), of each target.
    start : list of arrays, (n_j, n_classes)
        First distributions of each target; rows of zeros have no label yet and take part in the marginal terms only.
    max_iter : int
    shared : Workspace, optional
        What `prepare` found for this problem and these settings, if already computed. It is not changed.
    measured : bool
        Whether to compute the values of Eqs. (8) and (9) and the residual of the projections, which the iterations do
        not need; NaN otherwise.

    Yields
    ------
    State
    """
    clock = Clock()
    workspace = prepare(problem, settings) if shared is None else shared.copy()
    problem = replace(problem, neighbors=None)
    clock.lap("fixed")
    labels = _labels(problem, start)
    ratio = settings.landmark_ratio or 1.0
    initial = ratio if settings.initial_weight is None else settings.initial_weight
    weights: tuple[Array, ...] = tuple(np.full(len(X), initial) for X in problem.rows)
    solution = None
    for n_iter in range(1, max_iter + 1):
        clock = clock if n_iter == 1 else Clock()  # the first iteration includes what all of them share
        S_max, S_min = objective_matrices(problem, settings, workspace, labels, weights, ratio)
        clock.lap("objective")
        solution = projection.solve_projection(  # step 2, Eq. (21)
            S_max,
            S_min,
            settings.n_components,
            n_leading=int(workspace.offsets[problem.n_sources]),
            last=solution,
            measured=measured,
        )
        clock.lap("projection")
        P = tuple(np.split(solution.vectors, workspace.offsets[1:-1]))
        Z = tuple(multiply(X, p) for X, p in zip(problem.rows, P, strict=True))  # step 3
        marginal, conditional = energies(problem, Z, labels, weights, ratio) if measured else (np.nan, np.nan)
        clock.lap("embedding")
        F = tuple(classify(Z, problem.labels, weights))  # step 4
        new_labels = _labels(problem, F)
        clock.lap("labels")
        marks = None
        if settings.landmark_ratio is not None:
            marks = weigh_landmarks(problem, settings, Z, new_labels, weights)  # step 5, Eq. (23)
        clock.lap("landmarks")
        new_weights = tuple(marks.weights) if marks else weights
        yield State(
            n_iter=n_iter,
            projections=P,
            eigenvalues=solution.eigenvalues,
            residual=solution.residual,
            embeddings=Z,
            distributions=F,
            labels=new_labels,
            weights=new_weights,
            objective=len(solution.eigenvalues) / max(float(solution.eigenvalues.sum()), np.finfo(float).tiny),
            marginal_mmd=marginal,
            conditional_mmd=conditional,
            n_changed=sum(int((a != b).sum()) for a, b in zip(labels, new_labels, strict=True)),
            weight_change=max(float(np.abs(a - b).mean()) for a, b in zip(weights, new_weights, strict=True)),
            landmark_gap=marks.relative_gap if marks else 0.0,
            seconds=clock.laps,
        )
        labels, weights = new_labels, new_weights


class Clock:
    """Seconds per stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to a stage."""
        now = perf_counter()
        self.add({stage: now - self._last})
        self._last = now

    def add(self, laps: Mapping[str, float]) -> None:
        """Add seconds per stage that were measured elsewhere."""
        for stage, seconds in laps.items():
            self.laps[stage] = self.laps.get(stage, 0.0) + seconds

    def skip(self) -> None:
        """Leave the time since the last lap out of every stage."""
        self._last = perf_counter()


def weigh_landmarks(
    problem: Problem, settings: Settings, Z: Sequence[Array], labels: Sequence[Codes], weights: Sequence[Array]
) -> landmarks.Landmarks:
    """Step 5: new weights of all rows, by Eq. (23)."""
    ratio = settings.landmark_ratio or 1.0
    ones = [np.ones(len(y)) for y in labels]
    counts = [np.bincount(y[y >= 0], minlength=problem.n_classes) for y in labels]
    K = moments.mmd_coefficients(counts, problem.is_target, conditional_cross=settings.landmark_cross)
    averages = [moments.averaging_matrix(y, w, c, ratio) for y, w, c in zip(labels, ones, counts, strict=True)]
    spread = [
        moments.row_spread(y, w, c, K[i, i, 1:], landmark_ratio=ratio)
        for i, (y, w, c) in enumerate(zip(labels, ones, counts, strict=True))
    ]
    # One group per class and domain, and one for the unlabelled rows of a domain, numbered without gaps.
    raw = np.concatenate([y + 1 + i * (problem.n_classes + 1) for i, y in enumerate(labels)])
    _, group = np.unique(raw, return_inverse=True)
    mass = ratio * np.bincount(group)
    groups = np.split(group, np.cumsum([len(y) for y in labels])[:-1])
    marks = landmarks.solve_landmarks(Z, averages, K, spread, groups, mass, start=weights, tol=1e-5)
    if settings.weigh_target:
        return marks
    kept = [old if t else new for old, new, t in zip(weights, marks.weights, problem.is_target, strict=True)]
    return replace(marks, weights=kept)


def _labels(problem: Problem, distributions: Sequence[Array]) -> tuple[Codes, ...]:
    """Codes of all domains: the true one if known, else the most probable; -1 where a distribution is all zero."""
    parts, targets = [], iter(distributions)
    for y, is_target in zip(problem.labels, problem.is_target, strict=True):
        if is_target:
            F = next(targets)
            guess = np.where(F.sum(axis=1) > 0, F.argmax(axis=1), -1)
            y = np.where(y >= 0, y, guess)
        parts.append(y)
    return tuple(parts)
