"""Manifold embedded distribution alignment."""

from collections.abc import Sequence
from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import LinearSVC

from lpjt._sklearn import Interval
from lpjt.baselines._base import (
    CONSTRAINTS,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_INTEGER,
    DomainName,
    Embedding,
    ScaledDomain,
)
from lpjt.baselines._directions import paired_directions
from lpjt.baselines._projection import LabelledRows, gap_weights, given_or
from lpjt.baselines._types import Codes, Constraints, Floats
from lpjt.baselines.gfk import geodesic_root
from lpjt.core.blocks import as_dense
from lpjt.core.moments import averaging_matrix
from lpjt.core.propagation import unit_rows
from lpjt.domains import Domain

#: Of the radial kernel exp(-gamma d^2): 1 / (2 sigma^2), the reference's sigma being the mean length of rows, 1.
GAMMA = 0.5


class MEDA(Embedding):
    r"""Manifold embedded distribution alignment: a smooth kernel classifier on geodesic features with equal means.

    .. math::
        \min_f \sum_i (y_i - f(z_i))^2 + \eta \|f\|_K^2 + \lambda \bar D_f + \rho R_f, \quad
        \bar D_f = (1 - \mu) D_f(P_s, P_t) + \mu \sum_c D_f^{(c)}(Q_s, Q_t)

    the problem of [1]_ (its Algorithm 1), where z are the geodesic-flow features of `GFK`, the first sum is over the
    labelled rows, D are squared distances of the means of f, over all rows and over each class, and :math:`R_f` is the
    quadratic form of the graph Laplacian L. With :math:`f = K \beta` the solution is
    :math:`\beta = ((E + \lambda M + \rho L) K + \eta I)^{-1} E Y`. The balance :math:`\mu` follows from the distances
    :math:`2 (1 - 2 \epsilon)` of the domains and of their classes, :math:`\epsilon` the error of a linear SVM that
    separates them. The first pseudo labels are those of the nearest source row, the following ones those of f.

    Parameters
    ----------
    n_components : int, default=20
        Dimension d of the subspaces of the geodesic flow, at most half the width; features have 2 d columns.
    alignment_weight : float, default=10.0
        :math:`\lambda`.
    laplacian_weight : float, default=1.0
        :math:`\rho`.
    shrinkage : float, default=0.1
        :math:`\eta`.
    n_neighbors : int, default=10
        Neighbours of each row in the graph (p in [1]_).
    max_iter : int, default=10
        Maximum number of iterations (T in [1]_). MEDA stops earlier once no label changes: further iterations would
        repeat the last one.
    max_rows : int, default=8000
        Maximum number of rows of both domains; `fit` refuses more. K is n x n by nature and is factorised: memory is
        about 24 n^2 bytes, 1.5 GB at 8000 rows, and time grows with the cube of the rows.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        How the rows of each domain are scaled, separately.

    Attributes
    ----------
    balance_ : float
        :math:`\mu` of the last iteration.
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    n_iter_ : int
        Iterations made.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    Defaults are those of [1]_'s released demonstration. Follows its program where that says more: geodesic features
    have unit length in the kernel and in the graph, whose weights are cosines, and each row is its own neighbour too;
    the graph Laplacian is normalised; the marginal term is weighted by the number of classes and M divided by its
    Frobenius norm; :math:`\mu` uses the mean of the class distances, not their sum.

    Departs from it in three points. The SVM of these distances has squared errors and is solved exactly, where the
    program descends by random steps. A class without any labelled target row is left out. E, L and K do not change, so
    their system is factorised once, and M, of rank C + 1, is added by Woodbury's formula.

    Labelled target rows count as labelled rows in the first sum, keep their labels in the conditional terms, and are
    neighbours for the first pseudo labels. `transform` gives the geodesic features, of unit length.

    References
    ----------
    .. [1] J. Wang, W. Feng, Y. Chen, H. Yu, M. Huang, P. S. Yu. Visual domain adaptation with manifold embedded
       distribution alignment. ACM Multimedia, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import MEDA
    >>> X, y = load_iris(return_X_y=True)
    >>> MEDA().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **CONSTRAINTS,
        "n_components": POSITIVE_INTEGER,
        "alignment_weight": NOT_NEGATIVE,
        "laplacian_weight": NOT_NEGATIVE,
        "shrinkage": POSITIVE,
        "n_neighbors": POSITIVE_INTEGER,
        "max_iter": POSITIVE_INTEGER,
        "max_rows": [Interval(Integral, 4, None, closed="left")],
    }

    balance_: float
    n_iter_: int
    _root: Floats  # (width, 2 d)
    _rows: Floats  # (n, 2 d), geodesic features of unit length
    _coefficients: Floats  # beta, (n, n_classes)

    def __init__(
        self,
        *,
        n_components: int = 20,
        alignment_weight: float = 10.0,
        laplacian_weight: float = 1.0,
        shrinkage: float = 0.1,
        n_neighbors: int = 10,
        max_iter: int = 10,
        max_rows: int = 8000,
        scaling: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.alignment_weight = alignment_weight
        self.laplacian_weight = laplacian_weight
        self.shrinkage = shrinkage
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.max_rows = max_rows
        self.scaling = scaling

    def _check(self, source: Domain, target: Domain) -> None:
        super()._check(source, target)
        n = source.X.shape[0] + target.X.shape[0]
        if n > self.max_rows:
            raise ValueError(
                f"MEDA has a kernel matrix of all rows by all rows, and {n} rows are more than "
                f"max_rows={self.max_rows}. Give fewer rows, raise max_rows if memory allows, or use JDA or LPJT."
            )

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> Codes:
        dimension = min(self.n_components, max(1, source.X.shape[1] // 2))
        self._root = geodesic_root(*paired_directions(source.X, target.X, dimension))
        features = [domain.X.astype(np.float64, copy=False) @ self._root for domain in (source, target)]
        self._rows = unit_rows(np.vstack(features))
        given = np.concatenate([source.y, target.y])
        labels = _nearest_labels(self._rows, given)[len(source.y) :]
        system = _System(self._rows, given, n_classes, self)
        marginal = domain_distance(*features)
        for n_iter in range(1, self.max_iter + 1):
            self.balance_ = _balance(marginal, features, source.y, labels, n_classes)
            self._coefficients, F = system.solve(source.y, labels, self.balance_)
            found = given_or(target.y, F[len(source.y) :].argmax(axis=1))
            self.n_iter_ = n_iter
            unchanged = np.array_equal(found, labels)
            labels = found
            if unchanged:
                break
        return labels

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        return unit_rows(X.astype(np.float64, copy=False) @ self._root).astype(X.dtype, copy=False)

    def _codes_of(self, X: Floats) -> Codes:
        rows = unit_rows(X.astype(np.float64, copy=False) @ self._root)
        return (rbf_kernel(rows, self._rows, gamma=GAMMA) @ self._coefficients).argmax(axis=1)


class _System:
    """(E + rho L) K + eta I, factorised once; M is of low rank and changes from iteration to iteration."""

    def __init__(self, rows: Floats, known: Codes, n_classes: int, model: MEDA) -> None:
        self.n_classes = n_classes
        self.alignment_weight = model.alignment_weight
        self.K = rbf_kernel(rows, gamma=GAMMA)
        given = known >= 0
        laplacian = graph_laplacian(rows, model.n_neighbors)
        constant = sparse.diags_array(given.astype(float)) + model.laplacian_weight * laplacian
        matrix = constant @ self.K
        matrix[np.diag_indices(len(rows))] += model.shrinkage
        self.factors = linalg.lu_factor(matrix, overwrite_a=True, check_finite=False)
        one_hot = np.eye(n_classes)[known * given] * given[:, None]
        self.unaligned = linalg.lu_solve(self.factors, one_hot, check_finite=False)  # beta for lambda = 0

    def solve(self, y_source: Codes, y_target: Codes, balance: float) -> tuple[Floats, Floats]:
        """Coefficients beta, (n, n_classes), and f at the rows, K beta, for one M."""
        counts = [np.bincount(y, minlength=self.n_classes) for y in (y_source, y_target)]
        weights = gap_weights(counts[0], counts[1], len(y_source), len(y_target), balance=balance)
        weights = self.alignment_weight * weights
        averages = [averaging_matrix(y, np.ones(len(y)), c) for y, c in zip((y_source, y_target), counts, strict=True)]
        U = np.hstack([as_dense(averages[0]), -as_dense(averages[1])]).T  # e_0, e_1, ..., e_C, (n, 1 + n_classes)
        right = U.T @ self.K
        solved = linalg.lu_solve(self.factors, U, check_finite=False)
        inner = np.eye(len(weights)) + weights[:, None] * (right @ solved)
        correction = linalg.solve(inner, weights[:, None] * (right @ self.unaligned), check_finite=False)
        beta = self.unaligned - solved @ correction
        return beta, self.K @ beta


def graph_laplacian(rows: Floats, n_neighbors: int) -> sparse.csr_array:
    """I - D^-1/2 W D^-1/2 of unit rows; W holds the cosines of each row with its nearest rows and with itself."""
    n = len(rows)
    wanted = min(n_neighbors + 1, n)
    nearest = NearestNeighbors(n_neighbors=wanted, algorithm="brute").fit(rows).kneighbors(rows, return_distance=False)
    of_row = np.repeat(np.arange(n), wanted)
    cosines = np.maximum(np.einsum("ij,ij->i", rows[of_row], rows[nearest.ravel()]), 0.0)
    W = sparse.csr_array((cosines, (of_row, nearest.ravel())), shape=(n, n))
    W = W.maximum(W.T)
    degree = np.maximum(np.asarray(W.sum(axis=1)).ravel(), np.finfo(float).tiny)
    root = sparse.diags_array(1 / np.sqrt(degree))
    return sparse.eye_array(n) - root @ W @ root


def domain_distance(X_source: Floats, X_target: Floats) -> float:
    """2 (1 - 2 error) of a linear SVM that separates the rows of the two domains."""
    rows = np.vstack([X_source, X_target])
    domain = np.repeat([0, 1], [len(X_source), len(X_target)])
    model = LinearSVC(dual=False, max_iter=1000).fit(rows, domain)
    return 2 * (1 - 2 * float(np.mean(model.predict(rows) != domain)))


def _balance(marginal: float, features: Sequence[Floats], y_source: Codes, y_target: Codes, n_classes: int) -> float:
    """The share mu of the conditional terms, in [0, 1]; 0.5 where nothing can be separated."""
    shared = [c for c in range(n_classes) if (y_source == c).any() and (y_target == c).any()]
    distances = [domain_distance(features[0][y_source == c], features[1][y_target == c]) for c in shared]
    conditional = float(np.mean(distances)) if distances else 0.0
    both = max(conditional, 0.0) + max(marginal, 0.0)
    return float(np.clip(conditional / both, 0.0, 1.0)) if both > 0 else 0.5


def _nearest_labels(rows: Floats, known: Codes) -> Codes:
    """Given labels where there are any, those of the nearest labelled row elsewhere."""
    given = known >= 0
    return given_or(known, LabelledRows(rows[given], known[given]).nearest_codes(rows))
