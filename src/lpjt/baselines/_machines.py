"""The one-vs-rest problems of HFA and SHFA: support vector machines on augmented features."""

from dataclasses import dataclass

import numpy as np

from lpjt.baselines._label_mixtures import mix_labels, top_labels, violated_labels
from lpjt.baselines._types import Floats
from lpjt.classifiers.machines import BoundedSVC, warn_if_unfinished


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """Solution of one one-vs-rest problem; a target row has the decision value kernel row @ coefficients + offset."""

    coefficients: Floats  # (n_training,), including the factor 1 + lambda
    offset: float
    objective: float  # value of the dual at the saddle point
    gap: float  # relative duality gap
    n_iter: int  # label vectors tried


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """What the one-vs-rest problems share; rows are labelled source, labelled target, unlabelled target."""

    G: Floats  # (n, n) block-diagonal kernel times 1 + lambda; plus 1 in SHFA, where the offset is a feature
    features: Floats | None  # (n_target, n_target) symmetric root of the target's block; None if supervised
    n_source: int
    n_labelled: int  # rows of both domains
    costs: Floats  # (n,) C of each row
    metric_trace: float  # lambda


def supervised_machine(training: TrainingSet, signs: Floats) -> Machine:
    r"""HFA's saddle point, the minimum over H of the maximum over alpha, with H eliminated.

    In the dual :math:`1^\top \alpha - \frac12 q^\top (H + I) q`, :math:`q = K^{1/2} (\alpha \circ y)`, the minimising
    H of trace :math:`\lambda` is :math:`\lambda q q^\top / \|q\|^2`. The dual is linear in H and concave in alpha, so
    minimum and maximum may be exchanged: alpha solves the SVM with the kernel :math:`(1 + \lambda) K`. There
    :math:`H q = \lambda q`, and the decision value of a target row is
    :math:`(1 + \lambda) k^\top (\alpha \circ y)_t + b`.

    Parameters
    ----------
    training : TrainingSet
    signs : array, (n,)
        Labels 1 and -1.

    Returns
    -------
    Machine
    """
    svm = BoundedSVC(kernel="precomputed", tol=1e-6)
    svm.fit(training.G, signs, sample_weight=training.costs)
    warn_if_unfinished(svm)
    coefficients = np.zeros(len(signs))
    coefficients[svm.support_] = svm.dual_coef_[0]
    offset = float(svm.intercept_[0])
    pulled = training.G @ coefficients
    squares = float(coefficients @ pulled)
    dual = float(np.abs(coefficients).sum()) - squares / 2
    primal = squares / 2 + float(training.costs @ np.maximum(0.0, 1 - signs * (pulled + offset)))
    gap = (primal - dual) / max(primal, np.finfo(float).tiny)
    return Machine((1 + training.metric_trace) * coefficients, offset, dual, gap, 1)


def semi_supervised_machine(
    training: TrainingSet, signs: Floats, n_positive: int, *, max_iter: int, tol: float
) -> Machine:
    r"""SHFA's saddle point by cutting planes: a mixture of label vectors, with H eliminated from each.

    The base kernel of a label vector, with the best H of trace :math:`\lambda` for it, is
    :math:`(y y^\top) \circ ((1 + \lambda) K + 1 1^\top)`, by the argument of `supervised_machine`.

    Parameters
    ----------
    training : TrainingSet
    signs : array, (n_labelled,)
        Labels 1 and -1 of the labelled rows.
    n_positive : int
        Number of unlabelled rows that are positive.
    max_iter : int
        Maximum number of label vectors.
    tol : float
        Relative growth of rho at which to stop.

    Returns
    -------
    Machine
    """
    assert training.features is not None  # there are unlabelled rows
    G, ridge, n_source = training.G, 1.0 / training.costs, training.n_source
    target = slice(n_source, None)
    Y = np.concatenate([signs, _first_labels(training, signs, n_positive)])[:, None]
    mixture = mix_labels(G, Y, ridge)
    for _ in range(1, max_iter):
        constant = float(mixture.alpha[:n_source] @ signs[:n_source])
        inferred = violated_labels(
            training.features, mixture.alpha[target], signs[n_source:], n_positive, constant=constant
        )
        vector = np.concatenate([signs, inferred])
        if (vector[:, None] == Y).all(axis=0).any():
            break
        Y = np.column_stack([Y, vector])
        previous, mixture = mixture, mix_labels(G, Y, ridge, start=mixture)
        if mixture.rho - previous.rho <= tol * mixture.rho:
            break
    mean_labels = Y @ mixture.shares
    coefficients = mixture.alpha * mean_labels / mixture.rho
    scaled = (1 + training.metric_trace) * coefficients
    return Machine(scaled, float(coefficients.sum()), mixture.rho / 2, mixture.gap, Y.shape[1])


def _first_labels(training: TrainingSet, signs: Floats, n_positive: int) -> Floats:
    """Labels of the unlabelled rows by a rho-SVM of the labelled target rows alone, without augmentation."""
    known = slice(training.n_source, training.n_labelled)
    K = (training.G[training.n_source :, known] - 1.0) / (1 + training.metric_trace) + 1.0
    own = signs[known]
    alone = mix_labels(K[: len(own)], own[:, None], 1.0 / training.costs[known])
    return top_labels(K[len(own) :] @ (alone.alpha * own), n_positive)
