"""First labels of the target, step 1 of Algorithm 1."""

import numpy as np
from sklearn.svm import LinearSVC

from lpjt.classifiers import Propagation
from lpjt.core import matching, propagation
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
        rows = np.vstack([problem.rows[i] for i in [*alike, j]])
        labels = np.concatenate([problem.labels[i] for i in [*alike, j]])
        if (labels < 0).all():
            answers.append(_matched(problem, j, plan))
            guessed = True
            continue
        of_source = any(not problem.is_target[i] for i in alike)
        F = np.eye(problem.n_classes)[labels * (labels >= 0)]
        if (labels < 0).any():
            F[labels < 0] = _propagated(plan, rows, labels, problem.n_classes, of_source)
        answers.append(F[len(F) - len(problem.labels[j]) :])
    return answers, guessed


def _propagated(plan, rows, labels, n_classes, of_source):
    """Distributions of the unlabelled rows from labelled rows of the same space."""
    known = labels >= 0
    if plan.start == "pca-nn":
        return pca_neighbor(rows[known], labels[known], rows[~known], n_classes, plan.settings.n_components)
    rule = plan.classifier if isinstance(plan.classifier, Propagation) else Propagation()
    if not rule.anchored:
        return rule.classify(rows, labels, None, n_classes)
    if of_source:
        return rule.start(rows[known], np.eye(n_classes)[labels[known]], rows[~known])
    return _from_few(rule, rows, labels, n_classes)


def _from_few(rule, rows, labels, n_classes):
    """From a few labelled rows of the target alone: the harmonic solution, averaged with smoothed linear votes.

    Three rows a class say little about neighbourhoods but place a hyperplane well; on weak features the linear half is
    the better one, on strong features the harmonic half.
    """
    known = labels >= 0
    harmonic = Propagation(rule.n_neighbors, rule.unit_rows, anchored=False, class_mass=rule.class_mass)
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
        votes = propagation.anchored_labels(votes, propagation.neighbor_graph(rows[~known], rule.n_neighbors), 0.5)
    return (F + propagation.normalise_rows(votes)) / 2


def _matched(problem, j, plan):
    n_sources = len(problem.is_target) - sum(problem.is_target)
    largest = int(np.argmax([len(X) for X in problem.rows[:n_sources]]))  # the largest source has the surest shape
    match = matching.match_gromov if plan.start == "gromov" else matching.match_spectral
    return match(
        problem.rows[largest],
        problem.labels[largest],
        problem.rows[j],
        n_classes=problem.n_classes,
        random_state=plan.random_state,
    )
