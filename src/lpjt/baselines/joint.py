"""Transfer component analysis and joint distribution adaptation."""

from numbers import Integral

import numpy as np

from lpjt._sklearn import Interval
from lpjt.baselines._base import Side
from lpjt.baselines._projection import PROJECTION_CONSTRAINTS, ProjectionBaseline, gram_roots

_JDA_CONSTRAINTS: dict = {
    **PROJECTION_CONSTRAINTS,
    "conditional": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}


class TCA(ProjectionBaseline):
    r"""Transfer component analysis: components in which the means of the domains meet and their variance stays.

    .. math:: \min_W \mathrm{tr}(W^\top K L K W) + \mu \mathrm{tr}(W^\top W) \quad \text{s.t.} \quad W^\top K H K W = I

    The unsupervised problem of [1]_, with the MMD matrix L and the centring matrix H; a row's label is that of the
    nearest source row among the components.

    Parameters
    ----------
    n_components : int, default=100
        Columns of W; fewer where the rows have fewer directions. 100 in [2]_'s comparison with TCA.
    regularization : float, default=0.1
        :math:`\mu`; 0.1 for faces and digits in [2]_'s comparison, 1 for objects.
    kernel : {"primal", "linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"}, default="primal"
        "linear" is K = X X', solved in the width of the rows: no n x n matrix. "primal" is the same but for the
        regularised matrix, which is the projection X'W of the rows and not W: the first pass of JDA's program, and
        the form that comes near to the figures that [2]_ prints for TCA on faces, where "linear" is far below them.
    gamma : float, default=None
        Width of the other kernels; None is 1 over the mean squared distance of rows.
    kernel_rows : int, default=2000
        The other kernels are exact up to so many rows, and Nystroem's method on a sample of so many beyond.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        Of the rows of each domain, by itself.
    random_state : int, RandomState instance or None, default=None
        For the sample of `kernel_rows`.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    L is divided by its Frobenius norm, as in the programs of JDA [2]_ and its successors, whose figures for TCA are the
    published ones; [1]_ has L as it is. Columns of W have unit length, and embedded rows are scaled to unit length for
    the nearest neighbour, as there. Labelled target rows join the source rows as neighbours, and change nothing else.

    TCA is the first pass of `JDA`, and `JDA` without its conditional terms.

    References
    ----------
    .. [1] S. J. Pan, I. W. Tsang, J. T. Kwok, Q. Yang. Domain adaptation via transfer component analysis. IEEE
       Transactions on Neural Networks, 22(2), 2011.
    .. [2] M. Long, J. Wang, G. Ding, J. Sun, P. S. Yu. Transfer feature learning with joint distribution adaptation.
       ICCV, 2013.
    """

    def __init__(
        self,
        *,
        n_components=100,
        regularization=0.1,
        kernel="primal",
        gamma=None,
        kernel_rows=2000,
        scaling="unit",
        random_state=None,
    ):
        self.n_components = n_components
        self.regularization = regularization
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_rows = kernel_rows
        self.scaling = scaling
        self.random_state = random_state

    def _learn(self, source: Side, target: Side, n_classes: int) -> np.ndarray:
        problem = self._open_problem(source, target, n_classes)
        nothing = np.full(len(target.y), -1)
        self._projection = self._project(problem, nothing, _kernel_root(problem, self.kernel))
        return self._label(problem, self._projection)


class JDA(ProjectionBaseline):
    r"""Joint distribution adaptation: marginal and conditional means of the domains meet, labels by turns.

    .. math::
        \min_A \sum_{c=0}^{C} \mathrm{tr}(A^\top X^\top M_c X A) + \lambda \|A\|_F^2
        \quad \text{s.t.} \quad A^\top X^\top H X A = I

    Eqs. (5)-(9) of [1]_, :math:`M_0` for the marginal and :math:`M_c` for the conditional means; its kernel form for
    every other `kernel` than "primal". The pseudo labels of the target are those of the nearest source row, the first
    ones after a pass with :math:`M_0` alone.

    Parameters
    ----------
    n_components : int, default=100
        Columns of A, k of [1]_; fewer where the rows have fewer directions.
    regularization : float, default=0.1
        :math:`\lambda`: 0.1 for faces and digits and the default of the authors' program; 1 for objects in [1]_.
    kernel : {"primal", "linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"}, default="primal"
        "primal" regularises the projection of the rows, the others the coefficients of a kernel expansion; "linear"
        is K = X X', solved in the width of the rows, and the authors' choice for objects.
    gamma : float, default=None
        Width of the other kernels; None is 1 over the mean squared distance of rows.
    kernel_rows : int, default=2000
        The other kernels are exact up to so many rows, and Nystroem's method on a sample of so many beyond.
    conditional : bool, default=True
        False leaves out the conditional terms: one pass, TCA's.
    max_iter : int, default=10
        Passes, T of [1]_; fewer once no label changes, when nothing more would.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        Of the rows of each domain, by itself; the authors' program scales to unit length whatever comes in.
    random_state : int, RandomState instance or None, default=None
        For the sample of `kernel_rows`.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    n_iter_ : int
        Passes made.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    Follows the authors' program where it says more than [1]_: :math:`M_0` is weighted by the number of classes, the sum
    of the matrices is divided by its Frobenius norm, the columns of A have unit length, so that the constraint holds up
    to their scale, and embedded rows are scaled to unit length for the nearest neighbour. Departs from it for a class
    that no target row is labelled with: it is left out, where the program keeps the source's half of :math:`M_c`.

    Labelled target rows keep their labels in the conditional terms, from the first pass on, and join the source rows as
    neighbours. No n x n matrix is formed for "primal" and "linear": memory is linear in rows.

    References
    ----------
    .. [1] M. Long, J. Wang, G. Ding, J. Sun, P. S. Yu. Transfer feature learning with joint distribution adaptation.
       ICCV, 2013.
    """

    _parameter_constraints = _JDA_CONSTRAINTS

    def __init__(
        self,
        *,
        n_components=100,
        regularization=0.1,
        kernel="primal",
        gamma=None,
        kernel_rows=2000,
        conditional=True,
        max_iter=10,
        scaling="unit",
        random_state=None,
    ):
        self.n_components = n_components
        self.regularization = regularization
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_rows = kernel_rows
        self.conditional = conditional
        self.max_iter = max_iter
        self.scaling = scaling
        self.random_state = random_state

    def _learn(self, source: Side, target: Side, n_classes: int) -> np.ndarray:
        problem = self._open_problem(source, target, n_classes)
        root = _kernel_root(problem, self.kernel)
        codes = target.y if self.conditional else np.full(len(target.y), -1)
        for n_iter in range(1, self.max_iter + 1):
            self._projection = self._project(problem, codes, root)
            labels = self._label(problem, self._projection)
            self.n_iter_ = n_iter
            if not self.conditional or np.array_equal(labels, codes):
                break
            codes = labels
        return labels


def _kernel_root(problem, kernel):
    """R of the kernel form with G = I, None for the primal form."""
    if kernel == "primal":
        return None
    return gram_roots(problem.parts, [np.ones(len(X)) for X in problem.parts])[0]
