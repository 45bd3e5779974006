"""CDLS: source rows mapped into the target's principal subspace, rows of both domains weighted as landmarks."""

from collections.abc import Sequence
from numbers import Real
from typing import ClassVar

import numpy as np

from lpjt._sklearn import Interval
from lpjt.baselines._base import CONSTRAINTS, POSITIVE, POSITIVE_INTEGER, DomainName, Embedding, ScaledDomain
from lpjt.baselines._cdls_energy import SOURCE, UNLABELLED, cdls_energy, choose_landmarks, map_source
from lpjt.baselines._directions import principal_directions
from lpjt.baselines._types import Codes, Constraints, Floats
from lpjt.classifiers import NuSVM
from lpjt.core.coordinates import span_basis


class CDLS(Embedding):
    r"""Cross-Domain Landmark Selection for domains of any widths, with some labelled target rows.

    .. math::

        \min_{A, \alpha, \beta} E_M(A, \alpha, \beta) + E_C(A, \alpha, \beta) + \lambda \|A\|^2, \qquad
        \alpha^c, \beta^c \in [0, 1]^{n_c} \text{ of mean } \delta,

    Eq. (5), where target rows are replaced by their projections :math:`\hat x` on the target's principal axes,

    .. math::

        E_M = \Big\| \frac{1}{\delta n_S} \sum_i \alpha_i A^\top x_s^i
            - \frac{1}{n_L + \delta n_U} \Big( \sum_i \hat x_l^i + \sum_i \beta_i \hat x_u^i \Big) \Big\|^2,

    Eq. (6), and :math:`E_C`, Eq. (7), is the same of each class plus :math:`1 / e_c` times the sum of
    :math:`\|\alpha_i A^\top x_s^i - \hat x_l^j\|^2`, :math:`\|\hat x_l^i - \beta_j \hat x_u^j\|^2` and
    :math:`\|\beta_i \hat x_u^i - \alpha_j A^\top x_s^j\|^2` over the pairs of the class. The start is the supervised
    problem, Eqs. (1)-(4); then A (a ridge regression in closed form), pseudo labels (a linear SVM with the landmark
    weights) and the weights (a convex quadratic program) are updated in turn.

    Parameters
    ----------
    n_components : int, default=100
        Number of principal axes of the target, at most their rank.
    landmark_ratio : float, default=0.5
        :math:`\delta`; 1 leaves every weight at 1.
    regularization : float, default=0.5
        :math:`\lambda`.
    n_iter : int, default=5
        Number of iterations; the first is supervised CDLS, without pseudo labels.
    nu : float, default=0.5
        nu of the linear nu-SVM.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately.

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
        Landmark weights of the source rows in the last iteration.
    beta_ : array, (n_target,)
        Landmark weights of the target rows; 1 where the label was given.
    gaps_ : list of float
        Duality gap of the quadratic program of each iteration but the first, relative to its objective.
    n_iter_ : int
        Iterations made.

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

    A source class without a target row, given or pseudo, has no conditional term. Each iteration costs
    O((n_S + n_T) d (1 + C)) for the means and the weights, and r^3 for A, with r the rank of the source rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import CDLS
    >>> X, y = load_iris(return_X_y=True)
    >>> X_target, y_target = X[1::2] + 0.5, np.where(np.arange(75) % 5 == 0, y[1::2], -1)
    >>> CDLS().fit(X[::2], y[::2], X_target, y_target).score(X_target, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **CONSTRAINTS,
        "n_components": POSITIVE_INTEGER,
        "landmark_ratio": [Interval(Real, 0, 1, closed="right")],
        "regularization": POSITIVE,
        "n_iter": POSITIVE_INTEGER,
        "nu": [Interval(Real, 0, 1, closed="right")],
    }
    _any_widths = True
    _needs_target_labels = True

    axes_: Floats
    projection_: Floats
    alpha_: Floats
    beta_: Floats
    gaps_: list[float]
    n_iter_: int
    _svm: NuSVM

    def __init__(
        self,
        n_components: int = 100,
        *,
        landmark_ratio: float = 0.5,
        regularization: float = 0.5,
        n_iter: int = 5,
        nu: float = 0.5,
        scaling: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.landmark_ratio = landmark_ratio
        self.regularization = regularization
        self.n_iter = n_iter
        self.nu = nu
        self.scaling = scaling

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        X, known = source.X.astype(np.float64), target.y >= 0
        basis = span_basis([X])
        X = X if basis is None else X @ basis
        target_rows = target.X.astype(np.float64)
        if (target_rows == target_rows[0]).all():
            raise ValueError(
                f"The target rows are all equal (n_features = {target_rows.shape[1]}, scaling={self.scaling!r}) "
                "and have no principal axes. Give rows that differ, or another scaling: 'unit' turns a single "
                "positive column into ones."
            )
        self.axes_, _ = principal_directions(target_rows, self.n_components)
        projected = target_rows @ self.axes_
        parts = [projected[known], projected[~known]]
        labels = [source.y, target.y[known], np.zeros((~known).sum(), dtype=np.int64)]
        weights: list[Floats] = [np.ones(len(y)) for y in labels]
        self.gaps_ = []
        A = self._update(X, parts, labels, weights, n_classes, labelled_only=True)
        for _ in range(1, self.n_iter):
            if self.landmark_ratio < 1:
                weights = self._weigh([X @ A, *parts], labels, n_classes)
            A = self._update(X, parts, labels, weights, n_classes)
        self.projection_ = A if basis is None else basis @ A
        self.alpha_ = weights[SOURCE]
        self.beta_ = np.ones(len(target.y))
        self.beta_[~known] = weights[UNLABELLED]
        self.n_iter_ = self.n_iter

    def _update(
        self,
        X: Floats,
        parts: Sequence[Floats],
        labels: list[Codes],
        weights: Sequence[Floats],
        n_classes: int,
        *,
        labelled_only: bool = False,
    ) -> Floats:
        """A for the given weights; writes the pseudo labels of the SVM that follows into `labels`."""
        energy = cdls_energy(labels, weights, n_classes, labelled_only=labelled_only)
        A = map_source(X, parts, energy, weights, self.regularization)
        self._svm = self._fit_svm(X @ A, parts[0], labels, weights[SOURCE])
        if len(parts[1]):
            labels[UNLABELLED] = self._svm.predict(parts[1])
        return A

    def _weigh(self, rows: list[Floats], labels: list[Codes], n_classes: int) -> list[Floats]:
        landmarks = choose_landmarks(rows, labels, n_classes, self.landmark_ratio)
        self.gaps_.append(landmarks.relative_gap)
        return landmarks.weights

    def _fit_svm(self, source: Floats, labelled: Floats, labels: list[Codes], alpha: Floats) -> NuSVM:
        rows, codes = np.vstack([source, labelled]), np.concatenate(labels[:2])
        weights = np.concatenate([alpha * len(labelled) / len(source), np.ones(len(labelled))])
        return NuSVM(nu=self.nu).fit(rows, codes, sample_weight=weights)

    def _codes_of(self, X: Floats) -> Codes:
        return self._svm.predict(X @ self.axes_)

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        projection = self.projection_ if domain == "source" else self.axes_
        return (X @ projection).astype(X.dtype, copy=False)
