"""First labels of the target, step 1 of Algorithm 1."""

from dataclasses import replace

import numpy as np
from sklearn.svm import LinearSVC

from lpjt.classifiers import Propagation
from lpjt.core import propagation, shape_guess
from lpjt.core.blocks import pick_rows, stack_rows
from lpjt.selection.plain import pca_neighbor

GUESS = (
    "The widths differ and no target row is labelled: the first labels come from matching the shapes of the domains, "
    "which is a guess. Label a few target rows (y_target) to be sure."
)


def first_labels(problem, widths, plan):
    """First distributions of each target, and whether any of them is a guess.

    Labelled rows of the target's own width, of sources or of targets, are used; where there are none, shapes.

    Parameters
    ----------
    problem : Problem
    widths : list of int
        Columns of each domain before any reduction: equal widths are one space.
    plan : Plan

    Returns
    -------
    list of arrays, (n_j, n_classes)
    bool
    """
    answers, guessed = [], False
    for j in np.flatnonzero(problem.is_target):
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
            F[labels[-1] < 0] = _propagated(plan, rows, labels, problem, of_source, problem.neighbors[j])
        answers.append(F)
    return answers, guessed


def _propagated(plan, rows, labels, problem, of_source, near):
    """Distributions of the unlabelled rows of the last of some domains from the labelled rows of all of them.

    `rows` and `labels` are lists, one entry a domain; `near` are the nearest rows of each row of the last domain.
    """
    n_classes, target = problem.n_classes, labels[-1] < 0
    known = stack_rows([pick_rows(X, y >= 0) for X, y in zip(rows, labels, strict=True)])
    y_known = np.concatenate([y[y >= 0] for y in labels])
    if plan.start == "pca-nn":
        unknown = pick_rows(rows[-1], target)
        return pca_neighbor(known, y_known, unknown, n_classes, plan.settings.n_components)
    rule = plan.classifier if isinstance(plan.classifier, Propagation) else Propagation(search=plan.settings.search)
    # Unlabelled rows of other targets take part in the graph, and their answers are not asked for.
    unknown = stack_rows([pick_rows(X, y < 0) for X, y in zip(rows, labels, strict=True)])
    if not rule.anchored or not of_source:
        stacked = np.vstack([known, unknown])
        y = np.concatenate([y_known, np.full(len(unknown), -1)])
        F = _from_few(rule, stacked, y, n_classes) if rule.anchored else rule.classify(stacked, y, None, n_classes)
    else:
        whole = near if len(unknown) == len(rows[-1]) and target.all() else None
        known, unknown = (part.astype(np.float32, copy=False) for part in (known, unknown))  # votes need no more
        F = rule.start(known, np.eye(n_classes)[y_known], unknown, whole)
    return F[len(F) - target.sum() :]


def _from_few(rule, rows, labels, n_classes):
    """From a few labelled rows of the target alone: the harmonic solution, averaged with smoothed linear votes.

    Three rows a class say little about neighbourhoods but place a hyperplane well; on weak features the linear half is
    the better one, on strong features the harmonic half.
    """
    known = labels >= 0
    harmonic = replace(rule, anchored=False)
    F = harmonic.classify(rows, labels, None, n_classes)
    if len(np.unique(labels[known])) < 2:
        return F
    model = LinearSVC(dual="auto", random_state=0).fit(rows[known], labels[known])
    margins = model.decision_function(rows[~known])
    margins = np.column_stack([-margins, margins]) if margins.ndim == 1 else margins
    votes = np.zeros((len(margins), n_classes))
    votes[:, model.classes_] = np.exp(5 * (margins - margins.max(axis=1, keepdims=True)))
    votes = propagation.normalise_rows(votes)
    if len(votes) > 1:
        W = propagation.neighbor_graph(rows[~known], rule.n_neighbors, search=rule.search)
        votes = propagation.anchored_labels(votes, W, 0.5)
    return (F + propagation.normalise_rows(votes)) / 2


def _matched(problem, j, plan):
    largest = int(np.argmax([len(X) for X in problem.rows[: problem.n_sources]]))  # it has the surest shape
    match = shape_guess.guess_gromov if plan.start == "gromov" else shape_guess.guess_spectral
    return match(
        problem.rows[largest],
        problem.labels[largest],
        problem.rows[j],
        n_classes=problem.n_classes,
        random_state=plan.random_state,
    )
