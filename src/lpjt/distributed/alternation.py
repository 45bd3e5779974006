"""Algorithm 1 on blocks: `core.alternation` with rows that stay on the workers."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from lpjt.core import moments as of_rows
from lpjt.core import projection
from lpjt.core.alternation import Clock
from lpjt.core.objective import LISTED
from lpjt.distributed import evidence, graphs, landmarks, moments, neighbors, tasks
from lpjt.distributed.blocks import Blocks
from lpjt.distributed.evidence import Summary
from lpjt.distributed.problem import Problem, decide, project


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """One pass; as `core.alternation.State`, with blocks for arrays of rows and a summary of the labels."""

    n_iter: int
    projections: tuple[np.ndarray, ...]
    embeddings: tuple[Blocks, ...]
    distributions: tuple[Blocks, ...]
    weights: tuple[Blocks, ...]
    objective: float
    marginal_mmd: float
    conditional_mmd: float
    n_changed: int
    weight_change: float
    landmark_gap: float
    residual: float
    seconds: dict
    summary: Summary


@dataclass(slots=True, eq=False)
class _Fixed:
    """What does not change from pass to pass, and the scatters of the last labels."""

    near: list[Blocks]
    scatter: dict  # target -> S_h
    coupling: np.ndarray
    offsets: np.ndarray
    graphs: dict = field(default_factory=dict)  # domain -> (S_w, S_b)


def alternate(problem: Problem, settings, classify, labels, pointers, *, max_iter) -> Iterator[State]:
    """Yield the passes of Algorithm 1, from the given first labels on.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    classify : callable
        ``classify(embeddings)`` gives Blocks of distributions for each target.
    labels : tuple of Blocks
        First labels of all domains.
    pointers : Blocks or None
        Of `neighbors.count_pointers`, for the evidence of each pass.
    max_iter : int
    """
    clock = Clock()
    fixed = _prepare(problem, settings)
    clock.lap("fixed")
    ratio = settings.landmark_ratio or 1.0
    first = ratio if settings.initial_weight is None else settings.initial_weight
    weights = tuple(y.each(full, value=first, row_bytes=8).persist() for y in labels)
    n_changed = solution = None
    for n_iter in range(1, max_iter + 1):
        clock = clock if n_iter == 1 else Clock()  # the first pass bears what all of them use
        counts, sums = _sums(problem, labels, weights)
        S_max, S_min = _objective(problem, settings, fixed, labels, weights, (counts, sums), n_changed != 0)
        clock.lap("objective")
        solution = projection.solve_projection(  # step 2, Eq. (21)
            S_max, S_min, settings.n_components, n_leading=fixed.offsets[problem.targets[0]], last=solution
        )
        clock.lap("projection")
        P = tuple(np.split(solution.vectors, fixed.offsets[1:-1]))
        Z = _embed(problem, P)  # step 3
        marginal, conditional = _energies(problem, Z, labels, weights, counts, ratio)
        clock.lap("embedding")
        F = tuple(classify(Z))  # step 4
        new_labels = decide_labels(problem, F)
        summary = evidence.summarise(problem, F, new_labels, labels, pointers)
        clock.lap("labels")
        new_weights, gap = landmarks.weigh(problem, settings, Z, new_labels, weights)  # step 5, Eq. (23)
        weight_change = _weight_change(weights, new_weights)
        clock.lap("landmarks")
        n_changed = summary.n_changed
        yield State(
            n_iter=n_iter,
            projections=P,
            embeddings=Z,
            distributions=F,
            weights=new_weights,
            objective=len(solution.eigenvalues) / max(float(solution.eigenvalues.sum()), np.finfo(float).tiny),
            marginal_mmd=marginal,
            conditional_mmd=conditional,
            n_changed=n_changed,
            weight_change=weight_change,
            landmark_gap=gap,
            residual=solution.residual,
            seconds=clock.laps,
            summary=summary,
        )
        labels, weights = new_labels, new_weights


def full(y, *, value):
    """One weight for all rows of a block."""
    return np.full(len(y), value)


def _prepare(problem, settings):
    near = [neighbors.search(X, X, max(LISTED, 4 * settings.n_neighbors), same=True) for X in problem.rows]
    neighbors.persist_lists(*near)
    targets = problem.targets
    scatter = dict(zip(targets, moments.total_scatters([problem.rows[i] for i in targets]), strict=True))
    coupling = projection.coupling_blocks(problem.ranks, problem.is_target, settings.coupling_weight)
    return _Fixed(near, scatter, coupling, np.concatenate([[0], np.cumsum(problem.ranks)]))


def _sums(problem, labels, weights):
    """Rows of each class, and class sums of weighted rows, domain by domain."""
    n_classes = problem.n_classes
    counts = [y.sum_of(moments.label_counts, n_classes=n_classes) for y in labels]
    triples = zip(problem.rows, labels, weights, strict=True)
    sums = [X.sum_of(moments.class_sums, y, w, n_classes=n_classes) for X, y, w in triples]
    values = tasks.compute([*counts, *sums])
    return [total[1:] for total in values[: len(labels)]], values[len(labels) :]


def _objective(problem, settings, fixed, labels, weights, found, changed):
    """S_max and S_min of Eq. (16), all domains together."""
    gamma, mu, ratio = settings.locality_weight, settings.variance_weight, settings.landmark_ratio or 1.0
    counts, sums = found
    means = [moments.means_of(s, c, X.n_rows, ratio) for s, c, X in zip(sums, counts, problem.rows, strict=True)]
    K = of_rows.mmd_coefficients(counts, problem.is_target)
    S_min = of_rows.mmd_blocks(means, K)
    S_min += fixed.coupling
    spreads = tasks.compute(
        [
            X.sum_of(moments.spread_gram, y, w, counts=counts[i], own=K[i, i, 1:], ratio=ratio)
            for i, (X, y, w) in enumerate(zip(problem.rows, labels, weights, strict=True))
        ]
    )
    diagonal = []
    for i, X in enumerate(problem.rows):
        if i not in fixed.graphs or (problem.is_target[i] and changed):
            fixed.graphs[i] = graphs.class_scatters(X, labels[i], fixed.near[i], settings)
        S_w, S_b = fixed.graphs[i]
        share = problem.share(i)
        own, spread_out = spreads[i] + share * gamma * S_w, share * gamma * S_b
        if problem.is_target[i]:
            own[np.diag_indices_from(own)] += share * mu
            spread_out = spread_out + share * mu * fixed.scatter[i]
        diagonal.append(spread_out)
        block = slice(fixed.offsets[i], fixed.offsets[i + 1])
        S_min[block, block] += own
    return linalg.block_diag(*diagonal), S_min


def _embed(problem, P):
    Z = []
    for X, p in zip(problem.rows, P, strict=True):
        row_bytes = X.row_bytes * p.shape[1] / max(p.shape[0], 1)
        Z.append(X.each(project, tasks.constant(p), row_bytes=row_bytes))
    tasks.persist([node for blocks in Z for node in blocks.nodes])
    return tuple(Z)


def _energies(problem, Z, labels, weights, counts, ratio):
    """Values of Eqs. (8) and (9)."""
    K = of_rows.mmd_coefficients(counts, problem.is_target)
    found = tasks.compute(
        [
            X.sum_of(moments.embedded_sums, y, w, counts=counts[i], own=K[i, i, 1:], ratio=ratio)
            for i, (X, y, w) in enumerate(zip(Z, labels, weights, strict=True))
        ]
    )
    means = [moments.means_of(f.sums, c, X.n_rows, ratio) for f, c, X in zip(found, counts, Z, strict=True)]
    return of_rows.mmd_energy(means, K, [np.ones(1)] * len(Z), [np.array([f.energy]) for f in found])


def decide_labels(problem, distributions):
    """Labels of all domains from distributions of the targets; persisted."""
    targets = dict(zip(problem.targets, distributions, strict=True))
    labels = tuple(y.each(decide, targets[i]) if i in targets else y for i, y in enumerate(problem.labels))
    tasks.persist([node for blocks in (*distributions, *labels) for node in blocks.nodes])
    return labels


def _weight_change(old, new):
    """Largest mean change of the weights of a domain."""
    moved = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a is not b]
    sums = tasks.compute([old[i].sum_of(absolute_change, new[i]) for i in moved]) if moved else []
    return max((total / old[i].n_rows for i, total in zip(moved, sums, strict=True)), default=0.0)


def absolute_change(old, new):
    """Summed change of a block's weights."""
    return float(np.abs(old - new).sum())
