"""Manifold embedded distribution alignment."""

from numbers import Integral, Real

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import LinearSVC

from lpjt._sklearn import Interval
from lpjt.baselines._base import Baseline, Embedding, Side
from lpjt.baselines._parts import principal_directions
from lpjt.baselines._projection import gap_weights, known_or, nearest_codes
from lpjt.baselines.geodesic import geodesic_root
from lpjt.core.moments import averaging_matrix
from lpjt.core.propagation import unit_rows

#: Of the radial kernel exp(-gamma d^2): 1 / (2 sigma^2), the reference's sigma being the mean length of rows, 1.
GAMMA = 0.5

_CONSTRAINTS: dict = {
    **Baseline._parameter_constraints,
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "alignment_weight": [Interval(Real, 0, None, closed="left")],
    "laplacian_weight": [Interval(Real, 0, None, closed="left")],
    "shrinkage": [Interval(Real, 0, None, closed="neither")],
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "max_rows": [Interval(Integral, 4, None, closed="left")],
}


class MEDA(Embedding):
    r"""Manifold embedded distribution alignment: a kernel classifier on geodesic features, smooth and alike in means.

    .. math::
        \min_f \sum_i (y_i - f(z_i))^2 + \eta \|f\|_K^2 + \lambda \bar D_f + \rho R_f, \quad
        \bar D_f = (1 - \mu) D_f(P_s, P_t) + \mu \sum_c D_f^{(c)}(Q_s, Q_t)

    the problem of [1]_ (its Algorithm 1), where z are the geodesic-flow features of `GFK`, the first sum is over the
    labelled rows, D are squared distances of the means of f, over all rows and over each class, and :math:`R_f` is the
    quadratic form of the graph Laplacian L. With :math:`f = K \beta` the solution is
    :math:`\beta = ((E + \lambda M + \rho L) K + \eta I)^{-1} E Y`. The balance :math:`\mu` follows from the distances
    :math:`2 (1 - 2 \epsilon)` of the domains and of their classes, :math:`\epsilon` the error of a linear SVM that
    tells one from the other. The first pseudo labels are those of the nearest source row, the next those of f.

    Parameters
    ----------
    n_components : int, default=20
        Dimension d of the subspaces of the geodesic flow, half the width at most.
    alignment_weight : float, default=10.0
        :math:`\lambda`.
    laplacian_weight : float, default=1.0
        :math:`\rho`.
    shrinkage : float, default=0.1
        :math:`\eta`.
    n_neighbors : int, default=10
        p, of the graph.
    max_iter : int, default=10
        Passes, T of [1]_; fewer once no label changes, when nothing more would.
    max_rows : int, default=8000
        Rows of both domains beyond which `fit` refuses. K is n x n by nature, and is factorised: memory is about
        24 n^2 bytes, 1.5 GB at 8000 rows, and time grows with the cube.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        Of the rows of each domain, by itself.

    Attributes
    ----------
    balance_ : float
        :math:`\mu` of the last pass.
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    n_iter_ : int
        Passes made.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    Defaults are those of [1]_'s released demonstration. Follows its program where that says more: geodesic features
    have unit length in the kernel and the graph, whose weights are cosines, each row its own neighbour too; the graph
    Laplacian is normalised; the marginal term is weighted by the number of classes and M divided by its Frobenius norm;
    :math:`\mu` has the mean, not the sum, of the distances of classes.

    Departs from it in the SVM of these distances, which has squared errors and is solved exactly, where the program
    descends by random steps; in a class that no target row is labelled with, which is left out; and in the solution:
    E, L and K do not change, so their system is factorised once, and M, of rank C + 1, is added by Woodbury's formula.

    Labelled target rows count as labelled rows of the first sum, keep their labels in the conditional terms, and are
    neighbours in the first pseudo labels. `transform` gives the geodesic features, of unit length.

    References
    ----------
    .. [1] J. Wang, W. Feng, Y. Chen, H. Yu, M. Huang, P. S. Yu. Visual domain adaptation with manifold embedded
       distribution alignment. ACM Multimedia, 2018.
    """

    _parameter_constraints = _CONSTRAINTS

    def __init__(
        self,
        *,
        n_components=20,
        alignment_weight=10.0,
        laplacian_weight=1.0,
        shrinkage=0.1,
        n_neighbors=10,
        max_iter=10,
        max_rows=8000,
        scaling="unit",
    ):
        self.n_components = n_components
        self.alignment_weight = alignment_weight
        self.laplacian_weight = laplacian_weight
        self.shrinkage = shrinkage
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.max_rows = max_rows
        self.scaling = scaling

    def _check(self, domains):
        super()._check(domains)
        n = domains.sources[0].X.shape[0] + domains.targets[0].X.shape[0]
        if n > self.max_rows:
            raise ValueError(
                f"MEDA has a kernel matrix of all rows by all rows, and {n} rows are more than "
                f"max_rows={self.max_rows}. Give fewer rows, raise max_rows if memory allows, or use JDA or LPJT."
            )

    def _learn(self, source: Side, target: Side, n_classes: int) -> np.ndarray:
        self._root = _manifold_root(source.X, target.X, self.n_components)
        features = [side.X.astype(np.float64, copy=False) @ self._root for side in (source, target)]
        self._rows = unit_rows(np.vstack(features))
        known = np.concatenate([source.y, target.y])
        labels = _nearest_labels(self._rows, known)[len(source.y) :]
        system = _System(self._rows, known, n_classes, self)
        marginal = domain_distance(*features)
        for n_iter in range(1, self.max_iter + 1):
            self.balance_ = _balance(marginal, features, source.y, labels, n_classes)
            self._coefficients, F = system.solve(source.y, labels, self.balance_)
            found = known_or(target.y, F[len(source.y) :].argmax(axis=1))
            self.n_iter_ = n_iter
            unchanged = np.array_equal(found, labels)
            labels = found
            if unchanged:
                break
        return labels

    def _embed(self, X, domain):
        return unit_rows(X.astype(np.float64, copy=False) @ self._root).astype(X.dtype, copy=False)

    def _codes_of(self, X):
        rows = unit_rows(X.astype(np.float64, copy=False) @ self._root)
        return (rbf_kernel(rows, self._rows, gamma=GAMMA) @ self._coefficients).argmax(axis=1)


class _System:
    """(E + rho L) K + eta I, factorised once; M is of low rank and changes from pass to pass."""

    def __init__(self, rows, known, n_classes, choice):
        self.n_classes = n_classes
        self.weight = choice.alignment_weight
        self.K = rbf_kernel(rows, gamma=GAMMA)
        given = known >= 0
        fixed = sparse.diags_array(given.astype(float)) + choice.laplacian_weight * graph_laplacian(
            rows, choice.n_neighbors
        )
        matrix = fixed @ self.K
        matrix[np.diag_indices(len(rows))] += choice.shrinkage
        self.factors = linalg.lu_factor(matrix, overwrite_a=True, check_finite=False)
        targets = np.eye(n_classes)[known * given] * given[:, None]
        self.plain = linalg.lu_solve(self.factors, targets, check_finite=False)

    def solve(self, y_source, y_target, balance):
        """Coefficients beta, (n, n_classes), and f at the rows, K beta, for one M."""
        counts = [np.bincount(y, minlength=self.n_classes) for y in (y_source, y_target)]
        weights = self.weight * gap_weights(counts[0], counts[1], len(y_source), len(y_target), balance=balance)
        averages = [averaging_matrix(y, np.ones(len(y)), c) for y, c in zip((y_source, y_target), counts, strict=True)]
        U = sparse.hstack([averages[0], -averages[1]]).toarray().T  # e_0, e_1, ..., e_C, (n, 1 + n_classes)
        right = U.T @ self.K
        solved = linalg.lu_solve(self.factors, U, check_finite=False)
        inner = np.eye(len(weights)) + weights[:, None] * (right @ solved)
        beta = self.plain - solved @ linalg.solve(inner, weights[:, None] * (right @ self.plain), check_finite=False)
        return beta, self.K @ beta


def graph_laplacian(rows, n_neighbors):
    """I - D^-1/2 W D^-1/2, sparse, of unit rows: W has the cosines of each row with its nearest and with itself."""
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


def domain_distance(X_source, X_target):
    """2 (1 - 2 error) of a linear SVM that tells the rows of one part from those of the other."""
    rows = np.vstack([X_source, X_target])
    side = np.repeat([0, 1], [len(X_source), len(X_target)])
    model = LinearSVC(dual=False, max_iter=1000).fit(rows, side)
    return 2 * (1 - 2 * float(np.mean(model.predict(rows) != side)))


def _balance(marginal, features, y_source, y_target, n_classes):
    """The share mu of the conditional terms, in [0, 1]; a half where nothing can be told apart."""
    shared = [c for c in range(n_classes) if (y_source == c).any() and (y_target == c).any()]
    distances = [domain_distance(features[0][y_source == c], features[1][y_target == c]) for c in shared]
    conditional = float(np.mean(distances)) if distances else 0.0
    both = max(conditional, 0.0) + max(marginal, 0.0)
    return float(np.clip(conditional / both, 0.0, 1.0)) if both > 0 else 0.5


def _nearest_labels(rows, known):
    """Given labels, and those of the nearest labelled row elsewhere."""
    given = known >= 0
    return known_or(known, nearest_codes(rows[given], known[given], rows))


def _manifold_root(X_source, X_target, n_components):
    """Root of the geodesic flow kernel between the principal subspaces of the domains, (width, 2 d)."""
    wanted = min(n_components, max(1, X_source.shape[1] // 2))
    P_source, P_target = (principal_directions(X, wanted)[0] for X in (X_source, X_target))
    common = min(P_source.shape[1], P_target.shape[1])
    return geodesic_root(P_source[:, :common], P_target[:, :common])
