"""Alignment of the principal subspaces of two domains: SA, SDA, and LSSA, which first maps rows to landmarks."""

import warnings
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist, pdist

from lpjt._sklearn import Interval
from lpjt.baselines._base import POSITIVE_INTEGER, DomainName, ScaledDomain
from lpjt.baselines._classifiers import SUBSPACE_CONSTRAINTS, EmbeddingClassifier
from lpjt.baselines._directions import principal_directions
from lpjt.baselines._types import Constraints, Floats, Indices

#: Rows per block of distances, so that no matrix of all rows by all rows is held.
BLOCK = 256


def align_subspaces(P_source: Floats, P_target: Floats) -> Floats:
    """M = P_s' P_t, (k, k), the minimiser of ||P_s M - P_t||_F (Fernando et al., Eqs. 1-3)."""
    return P_source.T @ P_target


class SA(EmbeddingClassifier):
    r"""Subspace Alignment: the principal directions of the source are turned towards those of the target.

    .. math:: M^* = \arg\min_M \|P_s M - P_t\|_F^2 = P_s^\top P_t, \quad Z_s = X_s P_s M^*, \quad Z_t = X_t P_t

    Eqs. (1)-(4) and Algorithm 1 of the reference, with P_s and P_t the leading principal directions of each domain.

    Parameters
    ----------
    n_components : int, default=100
        Directions per domain, at most the rank. The reference derives an upper bound and chooses below it by
        cross-validation on the source; 100 is the value that reproduces the published figures for digits (see Notes).
    classifier : {"nn", "svm", "nu-svm"}, default="nn"
        Nearest neighbour, the reference's first choice, or its second, a linear SVM; the nu-form, with
        scaling="paper", reproduces the column SA of the paper's table of CMU PIE.
    C : float or "auto", default="auto"
        Weight of the SVM's errors; "auto" chooses it as `LinearSVM` does for "svm".
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately. The reference uses z-scores.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    components_ : dict of "source" and "target" to array, (n_features, n_components)
        P_s M and P_t.

    References
    ----------
    B. Fernando, A. Habrard, M. Sebban, T. Tuytelaars, Unsupervised visual domain adaptation using subspace alignment,
    ICCV 2013.

    Notes
    -----
    The directions are those of the centred rows, but the rows that are projected are not centred. On z-scores there is
    no difference; on unit rows this gives 67.78 and 48.80 on MNIST to USPS and back, as printed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import SA
    >>> X, y = load_iris(return_X_y=True)
    >>> SA().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = SUBSPACE_CONSTRAINTS

    components_: dict[str, Floats]

    def __init__(
        self,
        *,
        n_components: int = 100,
        classifier: str = "nn",
        C: float | str = "auto",
        scaling: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.classifier = classifier
        self.C = C
        self.scaling = scaling

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        self._align(self._map(source.X), self._map(target.X))
        self._fit_classifier(source)

    def _align(self, X_source: Floats, X_target: Floats) -> None:
        P_source, variances_source = principal_directions(X_source, self.n_components)
        P_target, variances_target = principal_directions(X_target, self.n_components)
        k = min(P_source.shape[1], P_target.shape[1])  # the rank of the smaller domain
        P_source, P_target = P_source[:, :k], P_target[:, :k]
        scale = self._scale_components(variances_source[:k], variances_target[:k])
        self.components_ = {"source": P_source @ align_subspaces(P_source, P_target) * scale, "target": P_target}

    def _scale_components(self, variances_source: Floats, variances_target: Floats) -> Floats:
        return np.ones(len(variances_source))

    def _map(self, X: Floats) -> Floats:
        """Rows in the space whose principal directions are aligned: here, the rows themselves."""
        return X

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        # In the components' precision: scales between domains of very different units leave float32.
        return np.asarray(self._map(X) @ self.components_[domain]).astype(X.dtype, copy=False)


class SDA(SA):
    r"""Subspace Distribution Alignment: SA that also gives the source the target's variances along the directions.

    .. math:: Z_s = X_s P_s (P_s^\top P_t) A, \quad A = E_s^{-1/2} E_t^{1/2}, \quad Z_t = X_t P_t

    with the diagonal matrices E_s and E_t of the variances along the columns of P_s and P_t (section 3 of the
    reference, whose similarity is :math:`x_s^\top P_s T A P_t^\top x_t`, T the alignment of SA).

    Parameters
    ----------
    n_components : int, default=100
        Directions per domain, at most the rank; as in `SA`, 100 reproduces the published figures for digits.
    classifier : {"nn", "svm", "nu-svm"}, default="nn"
        Nearest neighbour or linear SVM.
    C : float or "auto", default="auto"
        Weight of the SVM's errors; "auto" chooses it as `LinearSVM` does for "svm".
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    components_ : dict of "source" and "target" to array, (n_features, n_components)
        P_s M A and P_t.

    References
    ----------
    B. Sun, K. Saenko, Subspace distribution alignment for unsupervised domain adaptation, BMVC 2015.

    Notes
    -----
    The k-th column is scaled by the k-th variances although the alignment has mixed the source's columns before: so
    does the reference, and so the printed 65.00 and 35.70 for digits are reproduced. As in `SA`, projected rows are
    not centred.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import SDA
    >>> X, y = load_iris(return_X_y=True)
    >>> SDA().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    def _scale_components(self, variances_source: Floats, variances_target: Floats) -> Floats:
        return np.sqrt(variances_target / np.maximum(variances_source, np.finfo(float).tiny))


class LSSA(SA):
    r"""Landmarks Selection-based Subspace Alignment: SA on the similarities of the rows to common landmarks.

    A row c of either domain is a landmark where, at some scale s, its similarities :math:`e^{-\|c-x\|^2/2s^2}` to the
    source rows, with mean and deviation :math:`\mu_S, \sigma_S`, overlap those to the target rows:

    .. math:: \frac{N(\mu_S - \mu_T \mid 0, \sigma_S^2 + \sigma_T^2)}{N(0 \mid 0, \sigma_S^2 + \sigma_T^2)} > th

    (section 3 of the reference, Algorithm 2). All rows are then mapped to :math:`K(x, a) = e^{-\|x-a\|^2/2\sigma^2}`
    over the landmarks a, where :math:`\sigma` is the median distance, and aligned by `SA` (Algorithm 1).

    Parameters
    ----------
    n_components : int, default=100
        Directions per domain, as in `SA`; at most the rank.
    threshold : float in [0, 1), default=0.3
        th, the overlap that a landmark must exceed.
    n_scales : int, default=9
        Number of scales s: evenly spaced percentiles of the distances among rows; 9 gives the deciles.
    max_landmarks : int, default=1000
        Maximum number of landmarks; where more rows pass the threshold, those with the largest overlap are kept.
    classifier : {"nn", "svm", "nu-svm"}, default="svm"
        Nearest neighbour, or a linear SVM as in the reference.
    C : float or "auto", default="auto"
        Weight of the SVM's errors; "auto" chooses it as `LinearSVM` does for "svm".
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately. The reference uses z-scores.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    landmarks_ : array, (n_landmarks, n_features)
        Scaled rows of both domains.
    overlap_ : array, (n_source + n_target,)
        Largest overlap of each row over the scales, the source rows first.
    components_ : dict of "source" and "target" to array, (n_landmarks, n_components)

    References
    ----------
    R. Aljundi, R. Emonet, D. Muselet, M. Sebban, Landmarks-based kernelized subspace alignment for unsupervised domain
    adaptation, CVPR 2015.

    Notes
    -----
    Departs from the reference to limit the cost: the percentiles and the median are taken over the distances among at
    most 1000 evenly spaced rows, there are at most `max_landmarks` landmarks, and the scales are deciles. The selection
    takes O(n^2 (width + n_scales)) time and no n x n matrix. The default threshold is our own choice. If no row passes
    it, a warning is issued and the `n_components` rows with the largest overlap are the landmarks.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import LSSA
    >>> X, y = load_iris(return_X_y=True)
    >>> LSSA().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **SUBSPACE_CONSTRAINTS,
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "n_scales": POSITIVE_INTEGER,
        "max_landmarks": POSITIVE_INTEGER,
    }

    overlap_: Floats
    landmarks_: Floats
    _similarity_width: float

    def __init__(
        self,
        *,
        n_components: int = 100,
        threshold: float = 0.3,
        n_scales: int = 9,
        max_landmarks: int = 1000,
        classifier: str = "svm",
        C: float | str = "auto",
        scaling: str = "unit",
    ) -> None:
        super().__init__(n_components=n_components, classifier=classifier, C=C, scaling=scaling)
        self.threshold = threshold
        self.n_scales = n_scales
        self.max_landmarks = max_landmarks

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        rows = np.vstack([source.X, target.X])
        distances = sample_distances(rows)
        scales = np.percentile(distances, np.linspace(0, 100, self.n_scales + 2)[1:-1])
        self.overlap_ = landmark_overlap(source.X, target.X, scales)
        self.landmarks_ = rows[self._choose(self.overlap_)]
        self._similarity_width = float(np.median(distances)) or 1.0
        super()._learn(source, target, n_classes)

    def _choose(self, overlap: Floats) -> Indices:
        """Positions of the landmarks among all rows, ascending."""
        best = np.argsort(-overlap, kind="stable")
        n_passed = int((overlap > self.threshold).sum())
        if not n_passed:
            n_passed = min(self.n_components, len(overlap))
            warnings.warn(
                f"No row has an overlap above threshold={self.threshold}; the largest is {overlap.max():.2g}. The "
                f"{n_passed} rows with the largest overlap are the landmarks. Lower threshold.",
                RuntimeWarning,
                stacklevel=2,
            )
        return np.sort(best[: min(n_passed, self.max_landmarks)])

    def _map(self, X: Floats) -> Floats:
        return gaussian_similarities(X, self.landmarks_, self._similarity_width)


def gaussian_similarities(X: Floats, landmarks: Floats, width: float) -> Floats:
    """exp(-||x - a||^2 / 2 width^2), (n, n_landmarks), in the dtype of X."""
    return np.exp(cdist(X, landmarks, "sqeuclidean") / (-2 * width**2)).astype(X.dtype, copy=False)


def sample_distances(rows: Floats, max_rows: int = 1000) -> Floats:
    """Distances among at most `max_rows` evenly spaced rows, condensed as by `scipy.spatial.distance.pdist`."""
    return pdist(rows[np.linspace(0, len(rows) - 1, min(max_rows, len(rows))).astype(int)])


def landmark_overlap(X_source: Floats, X_target: Floats, scales: Floats) -> Floats:
    """Overlap of each row's similarities to the two domains, at its best scale: (n_source + n_target,), in [0, 1].

    Computed in blocks of rows: O(n^2) time, no matrix larger than (`BLOCK`, n).
    """
    rows = np.vstack([X_source, X_target])
    overlap = np.zeros(len(rows))
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        squared = [_squared_distances(rows[block], X) for X in (X_source, X_target)]
        for scale in scales[scales > 0]:
            similar = [np.exp(part / (-2 * scale**2)) for part in squared]
            gap = similar[0].mean(axis=1) - similar[1].mean(axis=1)
            variance = similar[0].var(axis=1) + similar[1].var(axis=1)
            # Constant similarities overlap fully where their means agree, and not at all otherwise.
            ratio = gap**2 / (2 * np.maximum(variance, np.finfo(float).tiny))
            overlap[block] = np.maximum(overlap[block], np.exp(-np.minimum(ratio, 700.0)))
    return overlap


def _squared_distances(A: Floats, B: Floats) -> Floats:
    A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
    squared = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.maximum(squared, 0.0)
