"""Transfer joint matching."""

from typing import ClassVar

import numpy as np

from lpjt._sklearn import StrOptions
from lpjt.baselines._base import POSITIVE_INTEGER, ScaledDomain
from lpjt.baselines._projection import ProjectionBaseline, gram_roots
from lpjt.baselines._types import Codes, Constraints, Floats

#: Added to a squared length of coefficients before its root, so that G stays finite for a source row that dropped out.
EPSILON = np.finfo(np.float64).eps


class TJM(ProjectionBaseline):
    r"""Transfer joint matching: the means of the domains meet, and source rows that hinder it drop out.

    .. math::
        \min_A \mathrm{tr}(A^\top K M K A) + \lambda (\|A_s\|_{2,1} + \|A_t\|_F^2)
        \quad \text{s.t.} \quad A^\top K H K A = I

    the problem of [1]_, where :math:`A_s` are the coefficients of the source rows and :math:`A_t` those of the target.
    Two steps alternate (its Algorithm 1): an eigenproblem with :math:`\lambda\, \mathrm{tr}(A^\top G A)` in place of
    the second term, and the diagonal G, which is 1 over the length of its coefficients for a source row and 1 for a
    target row. A row's label is that of the nearest source row.

    Parameters
    ----------
    n_components : int, default=20
        Columns of A (k in [1]_), at most the rank of the rows.
    regularization : float, default=1.0
        :math:`\lambda`; the value of [1]_ for objects.
    kernel : {"linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"}, default="linear"
        "linear" is K = X X', solved in the width of the rows: no n x n matrix.
    gamma : float, default=None
        Coefficient of the other kernels, as in `sklearn.metrics.pairwise`; not used by "cosine". None is 1 over the
        mean squared distance between rows, for "laplacian" 1 over its root.
    kernel_rows : int, default=2000
        The other kernels are exact up to this many rows of both domains together; beyond, Nystroem's method uses a
        sample of this size.
    max_iter : int, default=10
        Number of iterations (T in [1]_); all of them are made.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        How the rows of each domain are scaled, separately; the authors' program scales any input to unit length.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample of `kernel_rows` rows.

    Attributes
    ----------
    relevance_ : array, (n_source,)
        Length of the coefficients of each source row; near 0 where the row has dropped out.
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    n_iter_ : int
        Iterations made.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    Follows the authors' program where it differs from [1]_: M is divided by its Frobenius norm, the columns of A have
    unit length, G is :math:`1 / \|a_i\|` and not :math:`1 / (2 \|a_i\|)` at source rows, and embedded rows are
    scaled to unit length for the nearest neighbour. A small number added to :math:`\|a_i\|^2` replaces the 0 of [1]_
    for rows without coefficients.

    TJM uses labels only at the end: labelled target rows join the source rows as neighbours and have no other effect.

    References
    ----------
    .. [1] M. Long, J. Wang, G. Ding, J. Sun, P. S. Yu. Transfer joint matching for unsupervised domain adaptation.
       CVPR, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import TJM
    >>> X, y = load_iris(return_X_y=True)
    >>> TJM().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ProjectionBaseline._parameter_constraints,
        "kernel": [StrOptions({"linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"})],
        "max_iter": POSITIVE_INTEGER,
    }

    relevance_: Floats
    n_iter_: int

    def __init__(
        self,
        *,
        n_components: int = 20,
        regularization: float = 1.0,
        kernel: str = "linear",
        gamma: float | None = None,
        kernel_rows: int = 2000,
        max_iter: int = 10,
        scaling: str = "unit",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_components=n_components,
            regularization=regularization,
            kernel=kernel,
            gamma=gamma,
            kernel_rows=kernel_rows,
            scaling=scaling,
            random_state=random_state,
        )
        self.max_iter = max_iter

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> Codes:
        problem = self._open_problem(source, target, n_classes)
        inverse = [np.ones(len(X)) for X in problem.parts]  # of the diagonal of G
        for n_iter in range(1, self.max_iter + 1):
            root, inverse_root = gram_roots(problem.parts, inverse)
            projection = self._project(problem, problem.no_labels, root)
            # A = G^-1 X R^-2 V, from the V that the eigenproblem gives.
            back = inverse_root @ (inverse_root @ projection)
            A_source, A_target = ((X @ back) * g[:, None] for X, g in zip(problem.parts, inverse, strict=True))
            length = np.sqrt((A_source**2).sum(axis=0) + (A_target**2).sum(axis=0))
            length[length == 0] = 1.0  # of rows that are all zero
            self._projection = projection / length
            squares = ((A_source / length) ** 2).sum(axis=1)
            inverse[0] = np.sqrt(squares + EPSILON)
            self.n_iter_ = n_iter
        self.relevance_ = np.sqrt(squares)
        return self._label(problem)
