"""Methods without adaptation: what the source alone gives, what the few labelled target rows alone give, and PCA."""

from numbers import Integral

import numpy as np
from sklearn.svm import LinearSVC

from lpjt._sklearn import Interval, StrOptions
from lpjt.baselines._base import Baseline, Embedding, Side
from lpjt.baselines._parts import ERROR_CONSTRAINTS, RULE_CONSTRAINTS, fit_rule, principal_directions
from lpjt.classifiers import Propagation

_SVM_CONSTRAINTS: dict = {**ERROR_CONSTRAINTS, "form": [StrOptions({"one-vs-rest", "svm", "nu-svm"})]}
_PCA_CONSTRAINTS: dict = {**RULE_CONSTRAINTS, "joint": ["boolean", StrOptions({"auto"})]}
_WITH_NEIGHBORS: dict = {
    **Baseline._parameter_constraints,
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
}


class NearestNeighbor(Baseline):
    """Label of the nearest source row, without adaptation.

    Labelled target rows are not used: the method says what the source alone gives.

    Parameters
    ----------
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself; see `lpjt.core.coordinates.fit_scaling`.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)

    References
    ----------
    T. Cover, P. Hart, Nearest neighbor pattern classification, IEEE Transactions on Information Theory, 1967. It is
    the column NN of M. Long et al., Transfer feature learning with joint distribution adaptation, ICCV 2013.
    """

    def __init__(self, *, scaling="unit"):
        self.scaling = scaling

    def _learn(self, source: Side, target: Side, n_classes: int) -> None:
        self._rule = fit_rule("nn", source.X, source.y)

    def _codes_of(self, X):
        return self._rule.predict(X)


class LinearSVM(Baseline):
    r"""Linear SVM on the source rows alone, without adaptation.

    .. math:: \min_{w, b} \; \tfrac12 \|w\|^2 + C \sum_i \max(0, 1 - y_i (w^\top x_i + b))

    with squared errors, for each class against all others; or for each pair of classes, whose winners vote. Labelled
    target rows are not used.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Weight of the errors. "auto" is 1 for "one-vs-rest", and for "svm" the best of 0.01, 0.1, 1, 10, 100 in two-fold
        cross validation on the source.
    form : {"one-vs-rest", "svm", "nu-svm"}, default="one-vs-rest"
        Each class against all others (LIBLINEAR, which forms no matrix of n x n), the objective above for each pair of
        classes (LIBSVM), or its nu-form with nu = 0.5, which has no C. The column SVMt of the paper's table of CMU PIE,
        where no target row is labelled, comes out within three points of "nu-svm" with scaling="paper"; the default is
        the stronger there.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)

    References
    ----------
    C. Cortes, V. Vapnik, Support-vector networks, Machine Learning, 1995.
    """

    _parameter_constraints = _SVM_CONSTRAINTS

    def __init__(self, *, C="auto", form="one-vs-rest", scaling="unit"):
        self.C = C
        self.form = form
        self.scaling = scaling

    def _learn(self, source: Side, target: Side, n_classes: int) -> None:
        if self.form == "one-vs-rest" and len(np.unique(source.y)) > 1:
            rule = LinearSVC(C=1.0 if self.C == "auto" else self.C, dual="auto", random_state=0)
            self._rule = rule.fit(source.X, source.y)
        else:  # of one class there is nothing to separate, and either rule answers it
            self._rule = fit_rule("svm" if self.form == "one-vs-rest" else self.form, source.X, source.y, self.C)

    def _codes_of(self, X):
        return self._rule.predict(X)


class TargetSVM(Baseline):
    """SVMt: a linear SVM on the labelled target rows alone; the source is not used, so widths may differ.

    A method of heterogeneous adaptation that is not above it has learnt nothing from the source.

    Parameters
    ----------
    C : float or "auto", default=100.0
        Weight of the errors; "auto" as of `LinearSVM`. A few rows a class are too few to choose by, and can be parted
        without an error, so the default hardly allows any: with 1.0 and 68 classes of three unit rows it would.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows; given labels are kept.
    classes_ : array, (n_classes,)
        Classes of the source. Those without a labelled target row are never answered.

    References
    ----------
    Y.-H. Tsai, Y.-R. Yeh, Y.-C. Wang, Learning cross-domain landmarks for heterogeneous domain adaptation, CVPR 2016
    (SVMt, section 4).
    """

    _any_widths = True
    _needs_target_labels = True
    _parameter_constraints = ERROR_CONSTRAINTS

    def __init__(self, *, C=100.0, scaling="unit"):
        self.C = C
        self.scaling = scaling

    def _learn(self, source: Side, target: Side, n_classes: int) -> None:
        known = target.y >= 0
        self._rule = fit_rule("svm", target.X[known], target.y[known], self.C)

    def _codes_of(self, X):
        return self._rule.predict(X)


class TargetPropagation(Baseline):
    r"""Label propagation from the labelled target rows over the neighbour graph of the target alone.

    .. math:: F_u = (D_{uu} - W_{uu})^{-1} W_{uk} Y_k

    with the heat weights W among `n_neighbors` nearest rows, then class-mass normalisation to the proportions of the
    labelled rows: Zhu's harmonic functions, the classifier of LPJT (its Eq. 2) without a source. Without this method no
    gain of a semi-supervised adaptation can be attributed to its source. Widths may differ.

    Parameters
    ----------
    n_neighbors : int, default=15
        As in `lpjt.LPJT`.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself; the graph is made of rows of unit length in any case.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows; given labels are kept.
    classes_ : array, (n_classes,)
        Classes of the source. Those without a labelled target row are never answered.

    References
    ----------
    X. Zhu, Z. Ghahramani, J. Lafferty, Semi-supervised learning using Gaussian fields and harmonic functions, ICML
    2003 (Eq. 5; class-mass normalisation, section 4).

    Notes
    -----
    Rows never seen take the label of the nearest target row of `fit`; harmonic functions say nothing about them.
    """

    _any_widths = True
    _needs_target_labels = True
    _parameter_constraints = _WITH_NEIGHBORS

    def __init__(self, *, n_neighbors=15, scaling="unit"):
        self.n_neighbors = n_neighbors
        self.scaling = scaling

    def _learn(self, source: Side, target: Side, n_classes: int) -> np.ndarray:
        codes = target.y.copy()
        unknown = codes < 0
        if unknown.any():
            spread = Propagation(n_neighbors=self.n_neighbors, anchored=False)
            present = np.unique(codes[~unknown])  # an absent class must not win a row that nothing reaches
            labels = np.where(unknown, -1, np.searchsorted(present, codes))
            codes[unknown] = present[spread.classify(target.X, labels, None, len(present)).argmax(axis=1)]
        self._rule = fit_rule("nn", target.X, codes)
        return codes

    def _codes_of(self, X):
        return self._rule.predict(X)


class PCASVM(Embedding):
    r"""PCA, then a classifier trained on the source's components and applied to the target's.

    .. math:: Z_s = X_s P_s, \quad Z_t = X_t P_t

    with P_s = P_t the leading principal directions of all rows together (`joint`), or of each domain by itself. The
    second is all that can be done where widths differ, and near chance, since nothing makes the k-th component of one
    domain mean what it means in the other: PCA+SVM of the tables of heterogeneous adaptation.

    Parameters
    ----------
    n_components : int, default=100
        Long et al. (2013) have 100: with it, classifier="nn" and scaling="sum-zscore" their column PCA on SURF comes
        out to the second decimal. Reduced to the rank where that is less.
    joint : bool or "auto", default="auto"
        Principal directions of all rows together; "auto" where the widths agree.
    classifier : {"svm", "nu-svm", "nn"}, default="svm"
        Linear SVM, its nu-form as of `LinearSVM`, or nearest neighbour as in the column PCA of Long et al. (2013).
    C : float or "auto", default="auto"
        Weight of the errors of the SVM, as of `LinearSVM`.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself.

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
    """

    _any_widths = True
    _parameter_constraints = _PCA_CONSTRAINTS

    def __init__(self, *, n_components=100, joint="auto", classifier="svm", C="auto", scaling="unit"):
        self.n_components = n_components
        self.joint = joint
        self.classifier = classifier
        self.C = C
        self.scaling = scaling

    def _check(self, domains):
        super()._check(domains)
        widths = [domain.X.shape[1] for domain in (domains.sources[0], domains.targets[0])]
        if self.joint is True and widths[0] != widths[1]:
            raise ValueError(
                f"joint=True needs domains of one width, but the source has {widths[0]} columns and the target "
                f"{widths[1]}. Use joint='auto'."
            )

    def _learn(self, source: Side, target: Side, n_classes: int) -> None:
        joint = source.X.shape[1] == target.X.shape[1] if self.joint == "auto" else self.joint
        if joint:
            directions, _ = principal_directions(np.vstack([source.X, target.X]), self.n_components)
            self.components_ = {"source": directions, "target": directions}
        else:
            found = [principal_directions(side.X, self.n_components)[0] for side in (source, target)]
            common = min(directions.shape[1] for directions in found)
            self.components_ = {"source": found[0][:, :common], "target": found[1][:, :common]}
        self._rule = fit_rule(self.classifier, self._embed(source.X, "source"), source.y, self.C)

    def _embed(self, X, domain):
        return X @ self.components_[domain].astype(X.dtype, copy=False)

    def _codes_of(self, X):
        return self._rule.predict(self._embed(X, "target"))
