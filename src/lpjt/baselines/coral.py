"""Correlation Alignment: the source is given the mean and the covariance of the target."""

from typing import ClassVar

import numpy as np

from lpjt.baselines._base import POSITIVE, DomainName, ScaledDomain
from lpjt.baselines._classifiers import CLASSIFIER_CONSTRAINTS, EmbeddingClassifier
from lpjt.baselines._directions import principal_directions
from lpjt.baselines._types import Constraints, Floats


def recolouring(X_source: Floats, X_target: Floats, regularization: float) -> Floats:
    r"""A = (C_s + r I)^{-1/2} (C_t + r I)^{1/2}, (width, width): whitens the source, then colours it as the target.

    C_s and C_t are the covariance matrices of the rows, and r is `regularization` times the mean variance per column
    of both. Where a domain has fewer rows than columns, only the span of its rows costs anything beyond a product.
    """
    (V_source, e_source), (V_target, e_target) = principal_directions(X_source), principal_directions(X_target)
    width = X_source.shape[1]
    ridge = regularization * (e_source.sum() + e_target.sum()) / (2 * width)
    if ridge <= 0:  # rows without any spread: there is nothing to colour
        return np.eye(width)
    # (C + r I)^p is r^p on all directions, and (e + r)^p on the principal ones.
    whitening = ridge**-0.5 * np.eye(width) + (V_source * ((e_source + ridge) ** -0.5 - ridge**-0.5)) @ V_source.T
    colouring = ridge**0.5 * np.eye(width) + (V_target * ((e_target + ridge) ** 0.5 - ridge**0.5)) @ V_target.T
    return whitening @ colouring


class CORAL(EmbeddingClassifier):
    r"""Correlation Alignment: the covariance of the source becomes that of the target.

    .. math:: \min_A \|A^\top C_s A - C_t\|_F^2, \quad A = (C_s + r I)^{-1/2} (C_t + r I)^{1/2}

    Eq. (1) and Algorithm 1 of the reference. With the means m_s and m_t of the domains, source rows become
    :math:`m_t + (x - m_s) A`, and target rows stay as they are.

    Parameters
    ----------
    regularization : float, default=1.0
        r, in units of the mean variance per column. On z-scores that unit is 1, and 1.0 gives the reference's I.
    classifier : {"nn", "svm", "nu-svm"}, default="svm"
        A linear SVM as in the reference, or nearest neighbour.
    C : float or "auto", default="auto"
        Weight of the SVM's errors; "auto" chooses it as `LinearSVM` does for "svm", by cross-validation on the source
        as in the reference.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately. The reference uses z-scores.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    recolouring_ : array, (n_features, n_features)
        A.
    means_ : dict of "source" and "target" to array, (n_features,)

    References
    ----------
    B. Sun, J. Feng, K. Saenko, Return of frustratingly easy domain adaptation, AAAI 2016.

    Notes
    -----
    Departs from the reference in two ways that make no difference on z-scores. The unit of `regularization`: the
    variances of rows of unit length are below one over the width, so the reference's I would drown their covariance and
    leave the source as it is. The means: the reference multiplies its rows, which have mean zero, by A directly, which
    would carry the mean of other rows far away.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import CORAL
    >>> X, y = load_iris(return_X_y=True)
    >>> CORAL().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {**CLASSIFIER_CONSTRAINTS, "regularization": POSITIVE}

    recolouring_: Floats
    means_: dict[str, Floats]

    def __init__(
        self,
        *,
        regularization: float = 1.0,
        classifier: str = "svm",
        C: float | str = "auto",
        scaling: str = "unit",
    ) -> None:
        self.regularization = regularization
        self.classifier = classifier
        self.C = C
        self.scaling = scaling

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        self.recolouring_ = recolouring(source.X, target.X, self.regularization)
        self.means_ = {"source": source.X.mean(axis=0), "target": target.X.mean(axis=0)}
        self._fit_classifier(source)

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        if domain == "target":
            return X
        return self.means_["target"] + (X - self.means_["source"]) @ self.recolouring_.astype(X.dtype, copy=False)
