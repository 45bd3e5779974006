"""CDLS: source rows mapped into the target's principal subspace, rows of both domains weighted as landmarks."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from scipy import linalg

from lpjt._sklearn import Interval
from lpjt.baselines._base import Baseline, Embedding
from lpjt.classifiers import FeasibleNuSVC
from lpjt.core.coordinates import span_basis
from lpjt.core.landmarks import solve_landmarks
from lpjt.core.moments import weighted_gram

#: Order of the three groups of rows below: labelled source, labelled target, unlabelled target.
SOURCE, LABELLED, UNLABELLED = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Energy:
    r"""E_M + E_C of Eqs. (6)-(7) as products of weighted class means and a diagonal.

    With :math:`m_{i,c}` row c of ``averages[i] @ (weights[i] * rows[i])`` the energy is
    :math:`\sum_{ijc} K_{ij,c} m_{i,c}^\top m_{j,c}` plus the sum of ``spread * weights**2`` times squared norms.
    """

    averages: list  # sparse or dense (1 + n_classes, n_i), without the weights
    K: np.ndarray  # (3, 3, 1 + n_classes)
    spread: list  # (n_i,) coefficients of the squared norms of weighted rows


def cdls_energy(labels, weights, n_classes, *, labelled_alone=False):
    r"""Coefficients of the energy for given labels; the weights enter through their sums alone.

    The normalisers are :math:`1 / \sum \alpha`, :math:`1 / (n_L + \sum \beta)` and, in each class,
    :math:`e_c = n_L a + n_L b + a b` with the sums of weights a of the source and b of the unlabelled rows.

    Parameters
    ----------
    labels : list of three int arrays, (n_i,)
        Codes of the labelled source, the labelled target and the unlabelled target (its pseudo labels).
    weights : list of three arrays, (n_i,)
        alpha, ones, beta.
    n_classes : int
    labelled_alone : bool
        Leave the unlabelled rows out of the conditional part: Eq. (3), before there are pseudo labels.

    Returns
    -------
    Energy
    """
    mass = np.array([np.bincount(y, w, n_classes) for y, w in zip(labels, weights, strict=True)])
    counts = np.array([np.bincount(y, minlength=n_classes) for y in labels], dtype=float)
    if labelled_alone:
        mass[UNLABELLED] = counts[UNLABELLED] = 0.0
    of_all = np.array([w.sum() for w in weights])
    sides = np.array([mass[SOURCE], mass[LABELLED] + mass[UNLABELLED]])
    met = (sides > 0).all(axis=0)  # a class that one side lacks has no conditional term
    inverse = np.divide(1.0, sides, out=np.zeros_like(sides), where=met)
    scale = np.array([inverse[0], inverse[1], inverse[1] * (not labelled_alone)])
    in_all = np.array([1.0 / of_all[SOURCE], *[1.0 / of_all[1:].sum()] * 2])
    averages = [_averages(y, a, s) for y, a, s in zip(labels, in_all, scale, strict=True)]
    signs = np.array([1.0, -1.0, -1.0])
    K = np.repeat(np.outer(signs, signs)[:, :, None], n_classes + 1, axis=2)
    a, n, b = mass
    pairs = a * n + n * b + a * b
    share = np.divide(1.0, pairs, out=np.zeros_like(pairs), where=met & (pairs > 0))
    spread = []
    for i in range(3):
        others = [j for j in range(3) if j != i]
        for j in others:
            product = scale[i] * scale[j]
            K[i, j, 1:] -= np.divide(share, product, out=np.zeros_like(share), where=product > 0)
        spread.append((share * counts[others].sum(axis=0))[labels[i]])
    if labelled_alone:
        spread[UNLABELLED] = np.zeros(len(labels[UNLABELLED]))
    return Energy(averages, K, spread)


def _averages(y, in_all, in_class):
    """(1 + n_classes, n): row 0 for all rows, row 1 + c for those of class c."""
    average = np.zeros((1 + len(in_class), len(y)))
    average[0] = in_all
    average[1 + y, np.arange(len(y))] = in_class[y]
    return average


def map_source(X, targets, energy, weights, regularization):
    r"""Closed form of A, Eq. (4) and its weighted form: the minimiser of the energy plus :math:`\lambda \|A\|^2`.

    :math:`(\lambda I + X_S H_S X_S^\top) A = X_S (H_L \hat X_L^\top + H_U \hat X_U^\top)`, where every H is a product
    of averages but for a diagonal of H_S: O(n_S r^2 + r^3) for source rows of rank r.

    Parameters
    ----------
    X : array, (n_source, r)
    targets : list of two arrays, (n_i, n_components)
        Projected labelled and unlabelled target rows.
    energy : Energy
    weights : list of three arrays
    regularization : float

    Returns
    -------
    array, (r, n_components)
    """
    means = [A @ (w[:, None] * Z) for A, w, Z in zip(energy.averages, weights, [X, *targets], strict=True)]
    M = means[SOURCE]
    left = weighted_gram(X, energy.spread[SOURCE] * weights[SOURCE] ** 2)
    left += (M.T * energy.K[SOURCE, SOURCE]) @ M
    left[np.diag_indices_from(left)] += regularization
    pull = sum(energy.K[SOURCE, j][:, None] * means[j] for j in (LABELLED, UNLABELLED))
    return linalg.solve(left, -M.T @ pull, assume_a="pos", check_finite=False)


def choose_landmarks(rows, labels, n_classes, ratio, *, tol=1e-6, max_iter=2000):
    r"""Weights alpha and beta that minimise the energy for a fixed A: the quadratic program of the second step.

    Each class of the source and of the unlabelled rows has weights in [0, 1] of mean :math:`\delta`. Labelled target
    rows take part as a group whose weights sum to its size, which fixes them at 1.

    Parameters
    ----------
    rows : list of three arrays, (n_i, n_components)
    labels : list of three int arrays, (n_i,)
    n_classes : int
    ratio : float
        :math:`\delta`.

    Returns
    -------
    Landmarks
    """
    ratios = (ratio, 1.0, ratio)
    even = [np.full(len(y), r) for y, r in zip(labels, ratios, strict=True)]
    energy = cdls_energy(labels, even, n_classes)
    codes = np.concatenate([y + n_classes * i for i, y in enumerate(labels)])
    _, group = np.unique(codes, return_inverse=True)
    mass = np.bincount(group, np.concatenate(even))
    groups = np.split(group, np.cumsum([len(y) for y in labels])[:-1])
    return solve_landmarks(
        rows, energy.averages, energy.K, energy.spread, groups, mass, start=even, tol=tol, max_iter=max_iter
    )


def principal_axes(X, n_components):
    """Leading axes, (width, n_components), of the centred rows, each with its largest entry positive."""
    centred = X - X.mean(axis=0)
    if len(X) >= X.shape[1]:
        axes = linalg.eigh(centred.T @ centred, check_finite=False)[1][:, ::-1][:, :n_components]
    else:
        axes = linalg.svd(centred, full_matrices=False, check_finite=False)[2][:n_components].T
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return axes * np.where(largest < 0, -1.0, 1.0)


_CONSTRAINTS: dict = {
    **Baseline._parameter_constraints,
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "landmark_ratio": [Interval(Real, 0, 1, closed="right")],
    "regularization": [Interval(Real, 0, None, closed="neither")],
    "n_iter": [Interval(Integral, 1, None, closed="left")],
    "nu": [Interval(Real, 0, 1, closed="right")],
}


class CDLS(Embedding):
    r"""Cross-Domain Landmark Selection for domains of any widths, with some labelled target rows.

    .. math::

        \min_{A, \alpha, \beta} E_M(A, \alpha, \beta) + E_C(A, \alpha, \beta) + \lambda \|A\|^2, \qquad
        \alpha^c, \beta^c \in [0, 1]^{n_c} \text{ of mean } \delta,

    Eq. (5), where target rows stand for their projections :math:`\hat x` on the target's principal axes,

    .. math::

        E_M = \Big\| \frac{1}{\delta n_S} \sum_i \alpha_i A^\top x_s^i
            - \frac{1}{n_L + \delta n_U} \Big( \sum_i \hat x_l^i + \sum_i \beta_i \hat x_u^i \Big) \Big\|^2,

    Eq. (6), and :math:`E_C`, Eq. (7), is the same of each class plus :math:`1 / e_c` times the sum of
    :math:`\|\alpha_i A^\top x_s^i - \hat x_l^j\|^2`, :math:`\|\hat x_l^i - \beta_j \hat x_u^j\|^2` and
    :math:`\|\beta_i \hat x_u^i - \alpha_j A^\top x_s^j\|^2` over the pairs of the class. The start is the supervised
    problem, Eqs. (1)-(4); then A (a ridge regression in closed form), pseudo labels (a linear SVM with the landmark
    weights) and the weights (a convex quadratic program) follow each other.

    Parameters
    ----------
    n_components : int, default=100
        Principal axes of the target that are kept, at most.
    landmark_ratio : float, default=0.5
        :math:`\delta`; 1 leaves every weight at 1.
    regularization : float, default=0.5
        :math:`\lambda`.
    n_iter : int, default=5
        Passes; the first is supervised CDLS, without pseudo labels.
    nu : float, default=0.5
        Of the linear nu-SVM.
    scaling : str, default="unit"
        How each domain's rows are scaled, see `core.coordinates.fit_scaling`.

    Attributes
    ----------
    classes_ : array, (n_classes,)
    transduction_ : array, (n_target,)
        Labels of the target rows.
    axes_ : array, (n_features_target, n_components)
        The target's projection.
    projection_ : array, (n_features, n_components)
        A, the source's.
    alpha_ : array, (n_source,)
        Landmark weights of the source rows in the last pass.
    beta_ : array, (n_target,)
        Of the target rows; 1 where the label was given.
    gaps_ : list of float
        Duality gap of each pass's program, relative to its objective.
    n_iter_ : int

    References
    ----------
    Y.-H. H. Tsai, Y.-R. Yeh and Y.-C. F. Wang. Learning Cross-Domain Landmarks for Heterogeneous Domain Adaptation.
    CVPR 2016.

    Notes
    -----
    The defaults, unit rows, the nu-SVM (nu 0.5, source weights scaled by n_L / n_S), projections that are not centred
    and the supervised start, whose marginal mean counts the unlabelled rows, are those of the authors' published
    program. In the pairwise part of E_C that program multiplies squared distances by the weights, alpha_i beta_j
    ||.||^2, where the paper weights the rows within the norm. The program's choice makes the quadratic program
    indefinite; the paper's is convex and is followed here, in A as well.

    A class of the source without a target row, given or pseudo, has no conditional term. Cost a pass:
    O((n_S + n_T) d (1 + C)) for the means and the weights, r^3 for A with r the rank of the source rows.
    """

    _parameter_constraints = _CONSTRAINTS
    _any_widths = True
    _needs_target_labels = True

    def __init__(self, n_components=100, *, landmark_ratio=0.5, regularization=0.5, n_iter=5, nu=0.5, scaling="unit"):
        self.n_components = n_components
        self.landmark_ratio = landmark_ratio
        self.regularization = regularization
        self.n_iter = n_iter
        self.nu = nu
        self.scaling = scaling

    def _learn(self, source, target, n_classes):
        X, known = source.X.astype(np.float64), target.y >= 0
        basis = span_basis([X], n_components=self.n_components)
        X = X if basis is None else X @ basis
        target_rows = target.X.astype(np.float64)
        self.axes_ = principal_axes(target_rows, min(self.n_components, len(target_rows) - 1, target_rows.shape[1]))
        projected = target_rows @ self.axes_
        parts = [projected[known], projected[~known]]
        labels = [source.y, target.y[known], np.zeros((~known).sum(), dtype=np.int64)]
        weights = [np.ones(len(y)) for y in labels]
        self.gaps_ = []
        A = self._pass(X, parts, labels, weights, n_classes, labelled_alone=True)
        for _ in range(1, self.n_iter):
            if self.landmark_ratio < 1:
                weights = self._weigh([X @ A, *parts], labels, n_classes)
            A = self._pass(X, parts, labels, weights, n_classes)
        self.projection_ = A if basis is None else basis @ A
        self.alpha_ = weights[SOURCE]
        self.beta_ = np.ones(len(target.y))
        self.beta_[~known] = weights[UNLABELLED]
        self.n_iter_ = self.n_iter

    def _pass(self, X, parts, labels, weights, n_classes, *, labelled_alone=False):
        """A for the given weights, and pseudo labels, written into `labels`, by the SVM that it allows."""
        energy = cdls_energy(labels, weights, n_classes, labelled_alone=labelled_alone)
        A = map_source(X, parts, energy, weights, self.regularization)
        self._svm = self._classifier(X @ A, parts[0], labels, weights[SOURCE])
        if len(parts[1]):
            labels[UNLABELLED] = self._svm.predict(parts[1])
        return A

    def _weigh(self, rows, labels, n_classes):
        marks = choose_landmarks(rows, labels, n_classes, self.landmark_ratio)
        self.gaps_.append(marks.gap / max(marks.objective, np.finfo(float).tiny))
        return marks.weights

    def _classifier(self, source, labelled, labels, alpha):
        rows, codes = np.vstack([source, labelled]), np.concatenate(labels[:2])
        weights = np.concatenate([alpha * len(labelled) / len(source), np.ones(len(labelled))])
        return FeasibleNuSVC(nu=self.nu, kernel="linear").fit(rows, codes, sample_weight=weights)

    def _codes_of(self, X):
        return self._svm.predict(self._embed(X, "target"))

    def _embed(self, X, domain):
        return X @ (self.projection_ if domain == "source" else self.axes_)
