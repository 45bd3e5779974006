"""Methods without adaptation: the source alone, the few labelled target rows alone, and PCA."""

from typing import ClassVar

import numpy as np
from sklearn.svm import LinearSVC

from lpjt._sklearn import StrOptions
from lpjt.baselines._base import CONSTRAINTS, POSITIVE_INTEGER, DomainName, ScaledDomain
from lpjt.baselines._classifiers import (
    C_CONSTRAINTS,
    SUBSPACE_CONSTRAINTS,
    ClassifierBaseline,
    EmbeddingClassifier,
    fit_classifier,
)
from lpjt.baselines._directions import paired_directions, principal_directions
from lpjt.baselines._types import Codes, Constraints, Floats
from lpjt.classifiers import Propagation
from lpjt.domains import Domain


class NearestNeighbor(ClassifierBaseline):
    """Label of the nearest source row, without adaptation.

    Labelled target rows are not used: the method shows what the source alone gives.

    Parameters
    ----------
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately; see `lpjt.core.scaling.fit_scaling`.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)

    References
    ----------
    T. Cover, P. Hart, Nearest neighbor pattern classification, IEEE Transactions on Information Theory, 1967. It is
    the column NN of M. Long et al., Transfer feature learning with joint distribution adaptation, ICCV 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import NearestNeighbor
    >>> X, y = load_iris(return_X_y=True)
    >>> NearestNeighbor().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    def __init__(self, *, scaling: str = "unit") -> None:
        self.scaling = scaling

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        self._classifier = fit_classifier("nn", source.X, source.y)


class LinearSVM(ClassifierBaseline):
    r"""Linear SVM on the source rows alone, without adaptation.

    .. math:: \min_{w, b} \; \tfrac12 \|w\|^2 + C \sum_i \max(0, 1 - y_i (w^\top x_i + b))

    for each pair of classes, whose winners vote; or, with squared errors, for each class against all others. Labelled
    target rows are not used.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Weight of the errors. "auto" is 1 for "one-vs-rest"; for "svm" it is the best of 0.01, 0.1, 1, 10 and 100 in
        two-fold cross-validation on the source.
    form : {"one-vs-rest", "svm", "nu-svm"}, default="one-vs-rest"
        "one-vs-rest" separates each class from all others (LIBLINEAR, which forms no n x n matrix), "svm" solves the
        objective above for each pair of classes (LIBSVM), and "nu-svm" is its nu-form with nu = 0.5, which has no C.
        "nu-svm" with scaling="paper" comes within three points of the column SVMt in the paper's table of CMU PIE,
        where no target row is labelled; the default is better there.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)

    References
    ----------
    C. Cortes, V. Vapnik, Support-vector networks, Machine Learning, 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import LinearSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVM().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.6
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **C_CONSTRAINTS,
        "form": [StrOptions({"one-vs-rest", "svm", "nu-svm"})],
    }

    def __init__(self, *, C: float | str = "auto", form: str = "one-vs-rest", scaling: str = "unit") -> None:
        self.C = C
        self.form = form
        self.scaling = scaling

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        if self.form == "one-vs-rest":
            svm = LinearSVC(C=1.0 if self.C == "auto" else self.C, dual="auto", random_state=0)
            self._classifier = svm.fit(source.X, source.y)
        else:
            self._classifier = fit_classifier(self.form, source.X, source.y, self.C)


class TargetSVM(ClassifierBaseline):
    """SVMt: a linear SVM on the labelled target rows alone; the source is not used, so widths may differ.

    A heterogeneous method that is no better than this one has learnt nothing from the source.

    Parameters
    ----------
    C : float or "auto", default=100.0
        Weight of the errors; "auto" as in `LinearSVM`. A few rows per class are too few to choose C by, and can be
        separated without an error, so the default allows hardly any: 1.0 would, with 68 classes of three unit rows.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows; given labels are kept.
    classes_ : array, (n_classes,)
        Classes of the source. Those without a labelled target row are never predicted.

    References
    ----------
    Y.-H. Tsai, Y.-R. Yeh, Y.-C. Wang, Learning cross-domain landmarks for heterogeneous domain adaptation, CVPR 2016
    (SVMt, section 4).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import TargetSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> X_target, y_target = X[1::2] + 0.5, np.where(np.arange(75) % 5 == 0, y[1::2], -1)
    >>> TargetSVM().fit(X[::2], y[::2], X_target, y_target).score(X_target, y[1::2]) > 0.8
    True
    """

    _any_widths = True
    _needs_target_labels = True
    _parameter_constraints: ClassVar[Constraints] = C_CONSTRAINTS

    def __init__(self, *, C: float | str = 100.0, scaling: str = "unit") -> None:
        self.C = C
        self.scaling = scaling

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        known = target.y >= 0
        self._classifier = fit_classifier("svm", target.X[known], target.y[known], self.C)


class TargetPropagation(ClassifierBaseline):
    r"""Label propagation from the labelled target rows over the neighbour graph of the target alone.

    .. math:: F_u = (D_{uu} - W_{uu})^{-1} W_{uk} Y_k

    with the heat weights W among the `n_neighbors` nearest rows, then class-mass normalisation to the proportions of
    the labelled rows: Zhu's harmonic functions, which are LPJT's classifier (its Eq. 2) without a source. A
    semi-supervised method owes its source only what it gains over this one. Widths may differ.

    Parameters
    ----------
    n_neighbors : int, default=15
        Neighbours of each row in the graph.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately; the graph compares rows of unit length in any case.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows; given labels are kept.
    classes_ : array, (n_classes,)
        Classes of the source. Those without a labelled target row are never predicted.

    References
    ----------
    X. Zhu, Z. Ghahramani, J. Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, ICML
    2003 (Eq. 5; class-mass normalisation, section 4).

    Notes
    -----
    New rows take the label of the nearest target row of `fit`; harmonic functions are not defined for them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import TargetPropagation
    >>> X, y = load_iris(return_X_y=True)
    >>> X_target, y_target = X[1::2] + 0.5, np.where(np.arange(75) % 5 == 0, y[1::2], -1)
    >>> TargetPropagation().fit(X[::2], y[::2], X_target, y_target).score(X_target, y[1::2]) > 0.8
    True
    """

    _any_widths = True
    _needs_target_labels = True
    _parameter_constraints: ClassVar[Constraints] = {**CONSTRAINTS, "n_neighbors": POSITIVE_INTEGER}

    def __init__(self, *, n_neighbors: int = 15, scaling: str = "unit") -> None:
        self.n_neighbors = n_neighbors
        self.scaling = scaling

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> Codes:
        codes = target.y.copy()
        unknown = codes < 0
        if unknown.any():
            propagation = Propagation(n_neighbors=self.n_neighbors, anchored=False)
            present = np.unique(codes[~unknown])  # an absent class must not win a row that no label reaches
            labels = np.where(unknown, -1, np.searchsorted(present, codes))
            codes[unknown] = present[propagation.classify(target.X, labels, None, len(present)).argmax(axis=1)]
        self._classifier = fit_classifier("nn", target.X, codes)
        return codes


class PCASVM(EmbeddingClassifier):
    r"""PCA, then a classifier trained on the source's components and applied to the target's.

    .. math:: Z_s = X_s P_s, \quad Z_t = X_t P_t

    where P_s = P_t are the leading principal directions of all rows together (`joint`), or P_s and P_t are those of
    each domain separately. Domains of different widths allow only the second, which is near chance: nothing makes the
    k-th component of one domain mean what it means in the other. It is PCA+SVM in the heterogeneous tables.

    Parameters
    ----------
    n_components : int, default=100
        Number of directions, at most the rank. 100 is the value of Long et al. (2013): with it, classifier="nn" and
        scaling="sum-zscore" reproduce their column PCA on SURF to the second decimal.
    joint : bool or "auto", default="auto"
        Whether to use the principal directions of all rows together; "auto" does so where the widths agree.
    classifier : {"svm", "nu-svm", "nn"}, default="svm"
        Linear SVM, its nu-form as in `LinearSVM`, or nearest neighbour as in the column PCA of Long et al. (2013).
    C : float or "auto", default="auto"
        Weight of the SVM's errors; "auto" chooses it as `LinearSVM` does for "svm".
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    components_ : dict of "source" and "target" to array, (width, n_components)

    References
    ----------
    I. T. Jolliffe, Principal component analysis, 2002. M. Long et al., Transfer feature learning with joint
    distribution adaptation, ICCV 2013 (the column PCA of Table 2). J. Li et al., Locality preserving joint transfer for
    domain adaptation, IEEE Transactions on Image Processing, 2019 (the column PCA+SVM).

    Notes
    -----
    The rows are not centred before they are projected; with joint directions that is a common shift.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import PCASVM
    >>> X, y = load_iris(return_X_y=True)
    >>> PCASVM().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    _any_widths = True
    _parameter_constraints: ClassVar[Constraints] = {**SUBSPACE_CONSTRAINTS, "joint": ["boolean", StrOptions({"auto"})]}

    components_: dict[str, Floats]

    def __init__(
        self,
        *,
        n_components: int = 100,
        joint: bool | str = "auto",
        classifier: str = "svm",
        C: float | str = "auto",
        scaling: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.joint = joint
        self.classifier = classifier
        self.C = C
        self.scaling = scaling

    def _check(self, source: Domain, target: Domain) -> None:
        super()._check(source, target)
        widths = source.X.shape[1], target.X.shape[1]
        if self.joint != "auto" and self.joint and widths[0] != widths[1]:
            raise ValueError(
                f"joint=True needs domains of one width, but the source has {widths[0]} columns and the target "
                f"{widths[1]}. Use joint='auto'."
            )

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        joint = source.X.shape[1] == target.X.shape[1] if self.joint == "auto" else self.joint
        if joint:
            P_source = P_target = principal_directions(np.vstack([source.X, target.X]), self.n_components)[0]
        else:
            P_source, P_target = paired_directions(source.X, target.X, self.n_components)
        self.components_ = {"source": P_source, "target": P_target}
        self._fit_classifier(source)

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        return X @ self.components_[domain].astype(X.dtype, copy=False)
