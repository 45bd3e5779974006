"""Transfer component analysis and joint distribution adaptation."""

from typing import ClassVar

import numpy as np

from lpjt.baselines._base import POSITIVE_INTEGER, ScaledDomain
from lpjt.baselines._projection import ProjectionBaseline, ProjectionProblem, gram_roots
from lpjt.baselines._types import Codes, Constraints, Floats


class TCA(ProjectionBaseline):
    r"""Transfer component analysis: components in which the means of the domains meet and their variance stays.

    .. math:: \min_W \mathrm{tr}(W^\top K L K W) + \mu \mathrm{tr}(W^\top W) \quad \text{s.t.} \quad W^\top K H K W = I

    The unsupervised problem of [1]_, with the MMD matrix L and the centring matrix H; a row's label is that of the
    nearest source row among the components.

    Parameters
    ----------
    n_components : int, default=100
        Columns of W, at most the rank of the rows. [2]_ compares with TCA at 100.
    regularization : float, default=0.1
        :math:`\mu`. In its comparison [2]_ uses 0.1 for faces and digits, 1 for objects.
    kernel : {"primal", "linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"}, default="primal"
        "linear" is K = X X', solved in the width of the rows: no n x n matrix. "primal" is the same, except that the
        projection X'W of the rows is regularised instead of W: the first iteration of JDA's program, and the form that
        comes near the figures that [2]_ prints for TCA on faces, where "linear" is far below them.
    gamma : float, default=None
        Coefficient of the other kernels, as in `sklearn.metrics.pairwise`; not used by "cosine". None is 1 over the
        mean squared distance between rows, for "laplacian" 1 over its root.
    kernel_rows : int, default=2000
        The other kernels are exact up to this many rows of both domains together; beyond, Nystroem's method uses a
        sample of this size.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        How the rows of each domain are scaled, separately.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample of `kernel_rows` rows.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    L is divided by its Frobenius norm, as in the programs of JDA [2]_ and its successors, whose figures for TCA are the
    published ones; [1]_ uses L itself. As there, the columns of W have unit length, and embedded rows are scaled to
    unit length for the nearest neighbour. Labelled target rows join the source rows as neighbours and have no other
    effect.

    TCA is the first iteration of `JDA`, and `JDA` without its conditional terms.

    References
    ----------
    .. [1] S. J. Pan, I. W. Tsang, J. T. Kwok, Q. Yang. Domain adaptation via transfer component analysis. IEEE
       Transactions on Neural Networks, 22(2), 2011.
    .. [2] M. Long, J. Wang, G. Ding, J. Sun, P. S. Yu. Transfer feature learning with joint distribution adaptation.
       ICCV, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import TCA
    >>> X, y = load_iris(return_X_y=True)
    >>> TCA().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    def __init__(
        self,
        *,
        n_components: int = 100,
        regularization: float = 0.1,
        kernel: str = "primal",
        gamma: float | None = None,
        kernel_rows: int = 2000,
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

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> Codes:
        problem = self._open_problem(source, target, n_classes)
        self._projection = self._project(problem, problem.no_labels, _kernel_root(problem, self.kernel))
        return self._label(problem)


class JDA(ProjectionBaseline):
    r"""Joint distribution adaptation: marginal and conditional means of the domains meet, in turn with labels.

    .. math::
        \min_A \sum_{c=0}^{C} \mathrm{tr}(A^\top X^\top M_c X A) + \lambda \|A\|_F^2
        \quad \text{s.t.} \quad A^\top X^\top H X A = I

    Eqs. (5)-(9) of [1]_, :math:`M_0` for the marginal and :math:`M_c` for the conditional means; its kernel form for
    every `kernel` other than "primal". The pseudo labels of the target are those of the nearest source row, first after
    an iteration with :math:`M_0` alone.

    Parameters
    ----------
    n_components : int, default=100
        Columns of A (k in [1]_), at most the rank of the rows.
    regularization : float, default=0.1
        :math:`\lambda`. 0.1 is the value for faces and digits and the default of the authors' program; [1]_ uses 1 for
        objects.
    kernel : {"primal", "linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"}, default="primal"
        "primal" regularises the projection of the rows, the others the coefficients of a kernel expansion; "linear"
        is K = X X', solved in the width of the rows, and the authors' choice for objects.
    gamma : float, default=None
        Coefficient of the other kernels, as in `sklearn.metrics.pairwise`; not used by "cosine". None is 1 over the
        mean squared distance between rows, for "laplacian" 1 over its root.
    kernel_rows : int, default=2000
        The other kernels are exact up to this many rows of both domains together; beyond, Nystroem's method uses a
        sample of this size.
    conditional : bool, default=True
        False leaves out the conditional terms: a single iteration, that of TCA.
    max_iter : int, default=10
        Maximum number of iterations (T in [1]_). JDA stops earlier once no label changes: further iterations would
        repeat the last one.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        How the rows of each domain are scaled, separately; the authors' program scales any input to unit length.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample of `kernel_rows` rows.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    n_iter_ : int
        Iterations made.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    Follows the authors' program where it says more than [1]_: :math:`M_0` is weighted by the number of classes, the sum
    of the matrices is divided by its Frobenius norm, the columns of A have unit length, so that the constraint holds up
    to their scale, and embedded rows are scaled to unit length for the nearest neighbour. Departs from it for a class
    without any labelled target row: it is left out, where the program keeps the source's half of :math:`M_c`.

    Labelled target rows keep their labels in the conditional terms, from the first iteration on, and join the source
    rows as neighbours. No n x n matrix is formed for "primal" and "linear": memory is linear in rows.

    References
    ----------
    .. [1] M. Long, J. Wang, G. Ding, J. Sun, P. S. Yu. Transfer feature learning with joint distribution adaptation.
       ICCV, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import JDA
    >>> X, y = load_iris(return_X_y=True)
    >>> JDA().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **ProjectionBaseline._parameter_constraints,
        "conditional": ["boolean"],
        "max_iter": POSITIVE_INTEGER,
    }

    n_iter_: int

    def __init__(
        self,
        *,
        n_components: int = 100,
        regularization: float = 0.1,
        kernel: str = "primal",
        gamma: float | None = None,
        kernel_rows: int = 2000,
        conditional: bool = True,
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
        self.conditional = conditional
        self.max_iter = max_iter

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> Codes:
        problem = self._open_problem(source, target, n_classes)
        root = _kernel_root(problem, self.kernel)
        codes = target.y if self.conditional else problem.no_labels
        for n_iter in range(1, self.max_iter + 1):
            self._projection = self._project(problem, codes, root)
            labels = self._label(problem)
            self.n_iter_ = n_iter
            if not self.conditional or np.array_equal(labels, codes):
                break
            codes = labels
        return labels


def _kernel_root(problem: ProjectionProblem, kernel: str) -> Floats | None:
    """R of the kernel form with G = I, None for the primal form."""
    if kernel == "primal":
        return None
    return gram_roots(problem.parts, [np.ones(len(X)) for X in problem.parts])[0]
