"""The geodesic flow kernel, as an embedding of twice as many dimensions as the subspaces have."""

import warnings

import numpy as np
from scipy import linalg
from sklearn.cross_decomposition import PLSRegression

from lpjt._sklearn import StrOptions
from lpjt.baselines._base import Embedding, Side
from lpjt.baselines._parts import RULE_CONSTRAINTS, fit_rule, principal_directions

#: A principal angle whose sine is below this is zero: the two directions are one.
SMALLEST_SINE = 1e-10

_CONSTRAINTS: dict = {**RULE_CONSTRAINTS, "subspace": [StrOptions({"pca", "pls"})]}


def geodesic_root(P_source, P_target):
    r"""Square root L, (width, 2 k), of the geodesic flow kernel, L L' = G.

    .. math:: G = \int_0^1 \Phi(t) \Phi(t)^\top dt, \quad \Phi(t) = P_s U_1 \cos(\Theta t) + R \sin(\Theta t)

    Section 3 of Gong et al. P_s and P_t, (width, k), have orthonormal columns; :math:`U_1 \cos(\Theta) V^\top` is
    the singular value decomposition of :math:`P_s^\top P_t`, and R has the unit columns of :math:`P_t V - P_s U_1
    \cos(\Theta)`, the reference's :math:`-R_s U_2`, found without the orthogonal complement of the source. G is
    block-diagonal of 2 x 2 in the columns of P_s U_1 and R, so its root costs O(width k^2).
    """
    U, cosines, Vt = linalg.svd(P_source.T @ P_target, check_finite=False)
    start = P_source @ U
    ahead = P_target @ Vt.T - start * cosines
    sines = np.linalg.norm(ahead, axis=0)  # accurate for small angles, where an arccos is not
    turning = sines > SMALLEST_SINE
    ahead = ahead / np.where(turning, sines, np.inf)
    angles = np.where(turning, np.arctan2(sines, cosines), 0.0)
    # Integrals over t of cos^2, cos sin and sin^2 of (angle t); np.sinc(x) is sin(pi x) / (pi x).
    ripple = np.sinc(2 * angles / np.pi)
    cross = np.sin(angles) * np.sinc(angles / np.pi) / 2
    blocks = np.array([[(1 + ripple) / 2, cross], [cross, (1 - ripple) / 2]]).transpose(2, 0, 1)
    values, vectors = np.linalg.eigh(blocks)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    pairs = np.stack([start, ahead], axis=2)  # (width, k, 2)
    return np.einsum("wki,kij->wkj", pairs, roots).reshape(len(start), -1)


class GFK(Embedding):
    r"""Geodesic Flow Kernel: similarity over all the subspaces on the way from the source's to the target's.

    .. math:: \langle z_i, z_j \rangle = x_i^\top G x_j, \quad G = \int_0^1 \Phi(t) \Phi(t)^\top dt

    Section 3 of the reference, with the geodesic :math:`\Phi` of the Grassmann manifold from :math:`\Phi(0)`, the
    source's subspace, to :math:`\Phi(1)`, the target's. The nearest source row in this metric gives the label.

    Parameters
    ----------
    n_components : int, default=20
        Dimension d of the subspaces; 20 is that of the reference's released program. Long et al. (2013) have 100. The
        reference demands 2 d <= n_features: d is reduced to that, with a warning, and silently to the rank.
    subspace : {"pca", "pls"}, default="pca"
        Of the source: principal directions, or directions of largest covariance with the labels (partial least
        squares). The target's are principal directions.
    classifier : {"nn", "svm", "nu-svm"}, default="nn"
        Nearest neighbour as in the reference, or a linear SVM.
    C : float or "auto", default="auto"
        Weight of the errors of the SVM, as of `LinearSVM`.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself. The reference takes z-scores.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    root_ : array, (n_features, 2 * n_components)
        L with L L' = G; both domains are embedded by it.

    References
    ----------
    B. Gong, Y. Shi, F. Sha, K. Grauman, Geodesic flow kernel for unsupervised domain adaptation, CVPR 2012.

    Notes
    -----
    G is never formed, and no kernel matrix among rows: rows are embedded by its root. Published kernels are twice this
    one, which changes no neighbour. The directions are those of the centred rows, the embedded rows are not centred.
    """

    _parameter_constraints = _CONSTRAINTS

    def __init__(self, *, n_components=20, subspace="pca", classifier="nn", C="auto", scaling="unit"):
        self.n_components = n_components
        self.subspace = subspace
        self.classifier = classifier
        self.C = C
        self.scaling = scaling

    def _learn(self, source: Side, target: Side, n_classes: int) -> None:
        n_components = self._dimension(source.X.shape[1])
        P_target, _ = principal_directions(target.X, n_components)
        P_source, _ = principal_directions(source.X, n_components)
        common = min(P_source.shape[1], P_target.shape[1])  # the rank of the smaller domain
        if self.subspace == "pls":
            P_source = _covarying_directions(source.X, source.y, n_classes, common)
        self.root_ = geodesic_root(P_source[:, :common], P_target[:, :common])
        self._rule = fit_rule(self.classifier, self._embed(source.X, "source"), source.y, self.C)

    def _dimension(self, width):
        largest = max(1, width // 2)
        if self.n_components > largest:
            warnings.warn(
                f"n_components={self.n_components} of GFK is more than half of the {width} columns; {largest} is used. "
                "Give a smaller n_components.",
                RuntimeWarning,
                stacklevel=2,
            )
        return min(self.n_components, largest)

    def _embed(self, X, domain):
        return X @ self.root_.astype(X.dtype, copy=False)

    def _codes_of(self, X):
        return self._rule.predict(self._embed(X, "target"))


def _covarying_directions(X, y, n_classes, n_components):
    """Orthonormal directions, (width, n_components), of partial least squares of the rows on their one-hot labels."""
    model = PLSRegression(n_components=n_components, scale=False).fit(X.astype(np.float64), np.eye(n_classes)[y])
    return linalg.qr(model.x_weights_, mode="economic", check_finite=False)[0]
