"""Alignment of the principal subspaces of two domains: SA, SDA, and LSSA after a map to landmarks."""

import warnings
from numbers import Integral, Real

import numpy as np
from scipy.spatial.distance import cdist, pdist

from lpjt._sklearn import Interval
from lpjt.baselines._base import Embedding, Side
from lpjt.baselines._parts import RULE_CONSTRAINTS, fit_rule, principal_directions

#: Rows of a block of distances, so that no matrix of all rows by all rows is held.
BLOCK = 256

_LANDMARK_CONSTRAINTS: dict = {
    **RULE_CONSTRAINTS,
    "threshold": [Interval(Real, 0, 1, closed="left")],
    "n_scales": [Interval(Integral, 1, None, closed="left")],
    "max_landmarks": [Interval(Integral, 1, None, closed="left")],
}


def align_subspaces(P_source, P_target):
    """M = P_s' P_t, (k, k), the minimiser of ||P_s M - P_t||_F (Fernando et al., Eqs. 1-3)."""
    return P_source.T @ P_target


class SA(Embedding):
    r"""Subspace Alignment: the principal directions of the source are turned towards those of the target.

    .. math:: M^* = \arg\min_M \|P_s M - P_t\|_F^2 = P_s^\top P_t, \quad Z_s = X_s P_s M^*, \quad Z_t = X_t P_t

    Eqs. (1)-(4) and Algorithm 1 of the reference, with P_s and P_t the leading principal directions of each domain.

    Parameters
    ----------
    n_components : int, default=100
        Directions of each domain. The reference bounds it by a theorem of its own and chooses below the bound by cross
        validation on the source; 100 is the value with which the published figures for digits come out (see Notes).
        Reduced to the rank where that is less.
    classifier : {"nn", "svm", "nu-svm"}, default="nn"
        Nearest neighbour, the reference's first choice, or its second, a linear SVM; in its nu-form, with
        scaling="paper", the column SA of the paper's table of CMU PIE comes out.
    C : float or "auto", default="auto"
        Weight of the errors of the SVM, as of `LinearSVM`.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself. The reference takes z-scores.

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
    no difference; on unit rows this is what gives 67.78 and 48.80 on MNIST to USPS and back, as printed.
    """

    _parameter_constraints = RULE_CONSTRAINTS

    def __init__(self, *, n_components=100, classifier="nn", C="auto", scaling="unit"):
        self.n_components = n_components
        self.classifier = classifier
        self.C = C
        self.scaling = scaling

    def _learn(self, source: Side, target: Side, n_classes: int) -> None:
        self._align(self._map(source.X), self._map(target.X))
        self._rule = fit_rule(self.classifier, self._embed(source.X, "source"), source.y, self.C)

    def _align(self, X_source, X_target):
        P_source, variances_source = principal_directions(X_source, self.n_components)
        P_target, variances_target = principal_directions(X_target, self.n_components)
        common = min(P_source.shape[1], P_target.shape[1])  # the rank of the smaller domain
        P_source, P_target = P_source[:, :common], P_target[:, :common]
        scale = self._scale_components(variances_source[:common], variances_target[:common])
        self.components_ = {"source": P_source @ align_subspaces(P_source, P_target) * scale, "target": P_target}

    def _scale_components(self, variances_source, variances_target):
        return np.ones(len(variances_source))

    def _map(self, X):
        """Rows in the space whose principal directions are aligned: the rows themselves."""
        return X

    def _embed(self, X, domain):
        return self._map(X) @ self.components_[domain].astype(X.dtype, copy=False)

    def _codes_of(self, X):
        return self._rule.predict(self._embed(X, "target"))


class SDA(SA):
    r"""Subspace Distribution Alignment: SA, and the variances along the source's directions become the target's.

    .. math:: Z_s = X_s P_s (P_s^\top P_t) A, \quad A = E_s^{-1/2} E_t^{1/2}, \quad Z_t = X_t P_t

    with the diagonal matrices E_s and E_t of the variances along the columns of P_s and P_t (section 3 of the
    reference, whose similarity is :math:`x_s^\top P_s T A P_t^\top x_t`, T the alignment of SA).

    Parameters
    ----------
    n_components : int, default=100
        Directions of each domain, as of `SA`; with 100 the published figures for digits come out. Reduced to the rank
        where that is less.
    classifier : {"nn", "svm", "nu-svm"}, default="nn"
        Nearest neighbour or linear SVM.
    C : float or "auto", default="auto"
        Weight of the errors of the SVM, as of `LinearSVM`.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself.

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
    the reference has it, and so the printed 65.00 and 35.70 of digits come out. As in `SA`, projected rows are not
    centred.
    """

    def _scale_components(self, variances_source, variances_target):
        return np.sqrt(variances_target / np.maximum(variances_source, np.finfo(float).tiny))


class LSSA(SA):
    r"""Landmark-Selection-based Subspace Alignment: SA on the similarities of the rows with common landmarks.

    A row c of either domain is a landmark where, at some scale s, its similarities :math:`e^{-\|c-x\|^2/2s^2}` with the
    source's rows, of mean and deviation :math:`\mu_S, \sigma_S`, overlap those with the target's rows:

    .. math:: \frac{N(\mu_S - \mu_T \mid 0, \sigma_S^2 + \sigma_T^2)}{N(0 \mid 0, \sigma_S^2 + \sigma_T^2)} > th

    (section 3 of the reference, Algorithm 2). All rows are then mapped to :math:`K(x, a) = e^{-\|x-a\|^2/2\sigma^2}`
    over the landmarks a, with the median distance :math:`\sigma`, and aligned by `SA` (Algorithm 1).

    Parameters
    ----------
    n_components : int, default=100
        Directions of each domain, as of `SA`. Reduced to the rank where that is less.
    threshold : float in [0, 1), default=0.3
        th, the least overlap of a landmark.
    n_scales : int, default=9
        Scales s: evenly spaced percentiles of the distances among rows; 9 are the deciles.
    max_landmarks : int, default=1000
        Where more rows pass, those of largest overlap are the landmarks.
    classifier : {"nn", "svm", "nu-svm"}, default="svm"
        Nearest neighbour, or a linear SVM as in the reference.
    C : float or "auto", default="auto"
        Weight of the errors of the SVM, as of `LinearSVM`.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself. The reference takes z-scores.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    landmarks_ : array, (n_landmarks, n_features)
        Scaled rows of both domains.
    overlap_ : array, (n_source + n_target,)
        Largest overlap of each row over the scales, the source's rows first.
    components_ : dict of "source" and "target" to array, (n_landmarks, n_components)

    References
    ----------
    R. Aljundi, R. Emonet, D. Muselet, M. Sebban, Landmarks-based kernelized subspace alignment for unsupervised domain
    adaptation, CVPR 2015.

    Notes
    -----
    Departs from the reference in three bounds on cost: the percentiles and the median are those of the distances among
    an even spread of 1000 rows at most; at most `max_landmarks` landmarks; the scales are deciles. The choice costs
    O(n^2 (width + n_scales)) time and no n x n matrix. The default threshold is this package's. Where no row passes it,
    a warning is given and the `n_components` rows of largest overlap are taken.
    """

    _parameter_constraints = _LANDMARK_CONSTRAINTS

    def __init__(
        self,
        *,
        n_components=100,
        threshold=0.3,
        n_scales=9,
        max_landmarks=1000,
        classifier="svm",
        C="auto",
        scaling="unit",
    ):
        super().__init__(n_components=n_components, classifier=classifier, C=C, scaling=scaling)
        self.threshold = threshold
        self.n_scales = n_scales
        self.max_landmarks = max_landmarks

    def _learn(self, source: Side, target: Side, n_classes: int) -> None:
        rows = np.vstack([source.X, target.X])
        distances = spread_of_distances(rows)
        scales = np.percentile(distances, np.linspace(0, 100, self.n_scales + 2)[1:-1])
        self.overlap_ = landmark_overlap(source.X, target.X, scales)
        self.landmarks_ = rows[self._choose(self.overlap_)]
        self._width = float(np.median(distances)) or 1.0
        super()._learn(source, target, n_classes)

    def _choose(self, overlap):
        """Places of the landmarks among all rows, in their order."""
        best = np.argsort(-overlap, kind="stable")
        n_passed = int((overlap > self.threshold).sum())
        if not n_passed:
            n_passed = min(self.n_components, len(overlap))
            warnings.warn(
                f"No row has an overlap above threshold={self.threshold}; the largest is {overlap.max():.2g}. The "
                f"{n_passed} rows of largest overlap are the landmarks. Lower threshold.",
                RuntimeWarning,
                stacklevel=2,
            )
        return np.sort(best[: min(n_passed, self.max_landmarks)])

    def _map(self, X):
        return gaussian_similarities(X, self.landmarks_, self._width)


def gaussian_similarities(X, landmarks, width):
    """exp(-||x - a||^2 / 2 width^2), (n, n_landmarks), in the dtype of X."""
    return np.exp(cdist(X, landmarks, "sqeuclidean") / (-2 * width**2)).astype(X.dtype, copy=False)


def spread_of_distances(rows, n_rows=1000):
    """Distances among an even spread of `n_rows` rows at most."""
    return pdist(rows[np.linspace(0, len(rows) - 1, min(n_rows, len(rows))).astype(int)])


def landmark_overlap(X_source, X_target, scales):
    """Overlap of each row's similarities with the two domains, at its best scale: (n_source + n_target,), in [0, 1].

    In blocks of rows: O(n^2) time, no matrix larger than (`BLOCK`, n).
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
            # Equal similarities throughout overlap fully where their means agree, and not at all otherwise.
            ratio = gap**2 / (2 * np.maximum(variance, np.finfo(float).tiny))
            overlap[block] = np.maximum(overlap[block], np.exp(-np.minimum(ratio, 700.0)))
    return overlap


def _squared_distances(A, B):
    A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
    squared = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.maximum(squared, 0.0)
