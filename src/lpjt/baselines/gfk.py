"""The geodesic flow kernel, as an embedding of twice the dimension of the subspaces."""

import warnings
from typing import ClassVar

import numpy as np
from scipy import linalg
from sklearn.cross_decomposition import PLSRegression

from lpjt._sklearn import StrOptions
from lpjt.baselines._base import DomainName, ScaledDomain
from lpjt.baselines._classifiers import SUBSPACE_CONSTRAINTS, EmbeddingClassifier
from lpjt.baselines._directions import paired_directions
from lpjt.baselines._types import Codes, Constraints, Floats

#: A principal angle whose sine is below this is zero: the two directions coincide.
SMALLEST_SINE = 1e-10


def geodesic_root(P_source: Floats, P_target: Floats) -> Floats:
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


class GFK(EmbeddingClassifier):
    r"""Geodesic Flow Kernel: similarity over all the subspaces on the way from the source's to the target's.

    .. math:: \langle z_i, z_j \rangle = x_i^\top G x_j, \quad G = \int_0^1 \Phi(t) \Phi(t)^\top dt

    Section 3 of the reference, with the geodesic :math:`\Phi` of the Grassmann manifold from :math:`\Phi(0)`, the
    source's subspace, to :math:`\Phi(1)`, the target's. The nearest source row in this metric gives the label.

    Parameters
    ----------
    n_components : int, default=20
        Dimension d of the subspaces, at most the rank; 20 is the value of the reference's released program, Long et al.
        (2013) use 100. The reference demands 2 d <= n_features: a larger d is reduced, with a warning.
    subspace : {"pca", "pls"}, default="pca"
        Subspace of the source: principal directions, or directions of largest covariance with the labels (partial least
        squares). The target's subspace is always that of its principal directions.
    classifier : {"nn", "svm", "nu-svm"}, default="nn"
        Nearest neighbour as in the reference, or a linear SVM.
    C : float or "auto", default="auto"
        Weight of the SVM's errors; "auto" chooses it as `LinearSVM` does for "svm".
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately. The reference uses z-scores.

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
    Neither G nor a kernel matrix among rows is formed: rows are embedded by the root of G. Published kernels are twice
    this one, which changes no neighbour. The directions are those of the centred rows; embedded rows are not centred.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import GFK
    >>> X, y = load_iris(return_X_y=True)
    >>> GFK().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {**SUBSPACE_CONSTRAINTS, "subspace": [StrOptions({"pca", "pls"})]}

    root_: Floats

    def __init__(
        self,
        *,
        n_components: int = 20,
        subspace: str = "pca",
        classifier: str = "nn",
        C: float | str = "auto",
        scaling: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.subspace = subspace
        self.classifier = classifier
        self.C = C
        self.scaling = scaling

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        P_source, P_target = paired_directions(source.X, target.X, self._dimension(source.X.shape[1]))
        if self.subspace == "pls":
            P_source = _covarying_directions(source.X, source.y, n_classes, P_target.shape[1])
        self.root_ = geodesic_root(P_source, P_target)
        self._fit_classifier(source)

    def _dimension(self, width: int) -> int:
        largest = max(1, width // 2)
        if self.n_components > largest:
            warnings.warn(
                f"n_components={self.n_components} of GFK is more than half of the {width} columns; {largest} is used. "
                "Give a smaller n_components.",
                RuntimeWarning,
                stacklevel=2,
            )
        return min(self.n_components, largest)

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        return X @ self.root_.astype(X.dtype, copy=False)


def _covarying_directions(X: Floats, y: Codes, n_classes: int, n_components: int) -> Floats:
    """Orthonormal directions, (width, n_components), of partial least squares of the rows on their one-hot labels."""
    model = PLSRegression(n_components=n_components, scale=False).fit(X.astype(np.float64), np.eye(n_classes)[y])
    return linalg.qr(model.x_weights_, mode="economic", check_finite=False)[0]
