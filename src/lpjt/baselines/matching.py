"""Transfer joint matching."""

from numbers import Integral

import numpy as np

from lpjt._sklearn import Interval, StrOptions
from lpjt.baselines._base import Side
from lpjt.baselines._projection import PROJECTION_CONSTRAINTS, ProjectionBaseline, gram_roots

#: Under the root of a squared length of coefficients, so that a source row that has dropped out keeps a finite G.
EPSILON = np.finfo(np.float64).eps

_CONSTRAINTS: dict = {
    **PROJECTION_CONSTRAINTS,
    "kernel": [StrOptions({"linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"})],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}


class TJM(ProjectionBaseline):
    r"""Transfer joint matching: the means of the domains meet, and source rows that hinder it drop out.

    .. math::
        \min_A \mathrm{tr}(A^\top K M K A) + \lambda (\|A_s\|_{2,1} + \|A_t\|_F^2)
        \quad \text{s.t.} \quad A^\top K H K A = I

    the problem of [1]_, where :math:`A_s` are the coefficients of the source rows and :math:`A_t` those of the target.
    It is solved by turns (its Algorithm 1): an eigenproblem with :math:`\lambda\, \mathrm{tr}(A^\top G A)` in the
    place of the second term, and the diagonal G, which falls as the length of its coefficients grows for a source row
    and is 1 for a target row. A row's label is that of the nearest source row.

    Parameters
    ----------
    n_components : int, default=20
        Columns of A, k of [1]_; fewer where the rows have fewer directions.
    regularization : float, default=1.0
        :math:`\lambda` of [1]_ for objects.
    kernel : {"linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"}, default="linear"
        "linear" is K = X X', solved in the width of the rows: no n x n matrix.
    gamma : float, default=None
        Width of the other kernels; None is 1 over the mean squared distance of rows.
    kernel_rows : int, default=2000
        The other kernels are exact up to so many rows, and Nystroem's method on a sample of so many beyond.
    max_iter : int, default=10
        Passes, T of [1]_; all of them are made.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        Of the rows of each domain, by itself; the authors' program scales to unit length whatever comes in.
    random_state : int, RandomState instance or None, default=None
        For the sample of `kernel_rows`.

    Attributes
    ----------
    relevance_ : array, (n_source,)
        Length of the coefficients of each source row; near 0 where the row has dropped out.
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    n_iter_ : int
        Passes made.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    Follows the authors' program where it differs from [1]_: M is divided by its Frobenius norm, the columns of A have
    unit length, G is :math:`1 / \|a_i\|` and not :math:`1 / (2 \|a_i\|)` at source rows, and embedded rows are
    scaled to unit length for the nearest neighbour. A small number under the root of :math:`\|a_i\|^2` stands for the
    0 of [1]_ at rows of no coefficients.

    TJM has no use for labels but at the end: labelled target rows join the source rows as neighbours, and change
    nothing else.

    References
    ----------
    .. [1] M. Long, J. Wang, G. Ding, J. Sun, P. S. Yu. Transfer joint matching for unsupervised domain adaptation.
       CVPR, 2014.
    """

    _parameter_constraints = _CONSTRAINTS

    def __init__(
        self,
        *,
        n_components=20,
        regularization=1.0,
        kernel="linear",
        gamma=None,
        kernel_rows=2000,
        max_iter=10,
        scaling="unit",
        random_state=None,
    ):
        self.n_components = n_components
        self.regularization = regularization
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_rows = kernel_rows
        self.max_iter = max_iter
        self.scaling = scaling
        self.random_state = random_state

    def _learn(self, source: Side, target: Side, n_classes: int) -> np.ndarray:
        problem = self._open_problem(source, target, n_classes)
        nothing = np.full(len(target.y), -1)
        inverse = [np.ones(len(X)) for X in problem.parts]  # of the diagonal of G
        for n_iter in range(1, self.max_iter + 1):
            root, inverse_root = gram_roots(problem.parts, inverse)
            projection = self._project(problem, nothing, root)
            # A = G^-1 X R^-2 V, from the V that the eigenproblem gives.
            back = inverse_root @ (inverse_root @ projection)
            A_source, A_target = ((X @ back) * g[:, None] for X, g in zip(problem.parts, inverse, strict=True))
            length = np.sqrt((A_source**2).sum(axis=0) + (A_target**2).sum(axis=0))
            self._projection = projection / length
            squares = ((A_source / length) ** 2).sum(axis=1)
            inverse[0] = np.sqrt(squares + EPSILON)
            self.n_iter_ = n_iter
        self.relevance_ = np.sqrt(squares)
        return self._label(problem, self._projection)
