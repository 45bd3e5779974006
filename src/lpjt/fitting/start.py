"""First labels of the target, step 1 of Algorithm 1."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from sklearn.base import clone
from sklearn.svm import LinearSVC

from lpjt._typing import Array, Codes
from lpjt.classifiers import Propagation
from lpjt.core import propagation, shape_guess
from lpjt.core.blocks import pick_rows, stack_rows
from lpjt.core.neighbors import Neighbors
from lpjt.core.objective import Problem
from lpjt.core.ties import compared_rows
from lpjt.fitting.plan import Plan
from lpjt.selection.unshifted import pca_neighbor

GUESS = (
    "The widths differ and no target row is labelled: the first labels come from matching the shapes of the domains, "
    "which is a guess. Label a few target rows (y_target) to be sure."
)


def first_labels(problem: Problem, widths: Sequence[int], plan: Plan) -> tuple[list[Array], bool]:
    """First distributions of each target, and whether any of them is a guess.

    They come from the labelled rows of the target's own width, of sources or of targets; if there are none, from the
    shapes of the domains.

    Parameters
    ----------
    problem : Problem
    widths : list of int
        Columns of each domain before any reduction; domains of equal width share one feature space.
    plan : Plan

    Returns
    -------
    list of arrays, (n_j, n_classes)
    bool
    """
    assert problem.neighbors is not None
    answers, guessed = [], False
    for j in np.flatnonzero(problem.is_target).tolist():
        alike = [i for i in range(len(widths)) if widths[i] == widths[j] and i != j]
        labels = [problem.labels[i] for i in [*alike, j]]
        if all((y < 0).all() for y in labels):
            answers.append(_matched(problem, j, plan))
            guessed = True
            continue
        F = np.eye(problem.n_classes)[labels[-1] * (labels[-1] >= 0)]
        if (labels[-1] < 0).any():
            of_source = any(not problem.is_target[i] for i in alike)
            rows = [problem.rows[i] for i in [*alike, j]]
            weights = None if problem.weights is None else [problem.weights[i] for i in [*alike, j]]
            F[labels[-1] < 0] = _propagated(plan, rows, labels, problem, of_source, problem.neighbors[j], weights)
        answers.append(F)
    return answers, guessed


def later_labels(
    problem: Problem, widths: Sequence[int], plan: Plan, *, needed: bool
) -> tuple[Callable[[], list[Array]], bool]:
    """What gives the first distributions of each target, and whether any of them is a guess.

    Unless they are needed they are found when they are asked for, which is seldom: they take as long as two searches of
    all rows.
    """
    if needed or len(set(widths)) > 1:  # a guess draws random numbers, in its turn
        start, guessed = first_labels(problem, widths, plan)
        return lambda: start, guessed
    of_targets = replace(problem, neighbors=_lists_of_targets(problem))
    return lambda: first_labels(of_targets, widths, plan)[0], False


def _lists_of_targets(problem: Problem) -> tuple[Neighbors, ...]:
    """Lists of the nearest rows of each target row, which the iterations keep too; empty ones for sources."""
    assert problem.neighbors is not None
    nothing = Neighbors(np.empty((0, 0), dtype=np.int64), np.empty((0, 0)))
    return tuple(near if t else nothing for near, t in zip(problem.neighbors, problem.is_target, strict=True))


def _propagated(
    plan: Plan,
    rows: list[Array],
    labels: list[Codes],
    problem: Problem,
    of_source: bool,
    near: Neighbors,
    weights: list[Array] | None,
) -> Array:
    """Distributions of the unlabelled rows of the last domain, from the labelled rows of all domains given.

    `rows`, `labels` and `weights` (of samples, if any) have one entry per domain; `near` are the nearest rows of each
    row of the last domain.
    """
    n_classes, target = problem.n_classes, labels[-1] < 0
    known = stack_rows([pick_rows(X, y >= 0) for X, y in zip(rows, labels, strict=True)])
    y_known = np.concatenate([y[y >= 0] for y in labels])
    counts = None
    if weights is not None:
        counts = np.concatenate([w[y >= 0] for w, y in zip(weights, labels, strict=True)])
    if plan.start == "pca-nn":
        unknown = pick_rows(rows[-1], target)
        return pca_neighbor(known, y_known, unknown, n_classes, plan.settings.n_components)
    rule = plan.classifier if isinstance(plan.classifier, Propagation) else Propagation()
    search = plan.settings.search
    # Unlabelled rows of other targets take part in the graph, but their answers are not used.
    unknown = stack_rows([pick_rows(X, y < 0) for X, y in zip(rows, labels, strict=True)])
    if not rule.anchored or not of_source:
        stacked = np.vstack([known, unknown])
        y = np.concatenate([y_known, np.full(len(unknown), -1)])
        answer = _from_few if rule.anchored else Propagation.classify
        if counts is not None:
            counts = np.concatenate([counts, np.ones(len(unknown))])
        F = answer(rule, stacked, y, counts, n_classes, search=search)
    else:
        whole = near if len(unknown) == len(rows[-1]) and target.all() else None
        known, unknown = map(compared_rows, (known, unknown))
        F = rule.start(known, propagation.one_hot(y_known, counts, n_classes), unknown, whole, search=search)
    return F[len(F) - target.sum() :]


def _from_few(
    rule: Propagation,
    rows: Array,
    labels: Codes,
    weights: Array | None,
    n_classes: int,
    *,
    search: str,
) -> Array:
    """From a few labelled rows of the target alone: the harmonic solution, averaged with smoothed linear votes.

    Three rows per class say little about neighbourhoods but place a hyperplane well; on weak features the linear half
    is the better one, on strong features the harmonic half. Arguments as those of `Propagation.classify`.
    """
    known = labels >= 0
    harmonic = clone(rule).set_params(anchored=False)
    F = harmonic.classify(rows, labels, weights, n_classes, search=search)
    if len(np.unique(labels[known])) < 2:
        return F
    counts = None if weights is None else weights[known]
    model = LinearSVC(dual="auto", random_state=0).fit(rows[known], labels[known], counts)
    margins = model.decision_function(rows[~known])
    margins = np.column_stack([-margins, margins]) if margins.ndim == 1 else margins
    votes: Array = np.zeros((len(margins), n_classes))
    votes[:, model.classes_] = np.exp(5 * (margins - margins.max(axis=1, keepdims=True)))
    votes = propagation.normalise_rows(votes)
    if len(votes) > 1:
        W = propagation.neighbor_graph(rows[~known], rule.n_neighbors, search=search)
        votes = propagation.anchored_labels(votes, W, 0.5)
    return (F + propagation.normalise_rows(votes)) / 2


def _matched(problem: Problem, j: int, plan: Plan) -> Array:
    largest = int(np.argmax([len(X) for X in problem.rows[: problem.n_sources]]))  # the most reliable shape
    match = shape_guess.guess_gromov if plan.start == "gromov" else shape_guess.guess_spectral
    return match(
        problem.rows[largest],
        problem.labels[largest],
        problem.rows[j],
        n_classes=problem.n_classes,
        random_state=plan.random_state,
    )
