"""Optimal transport: each source row is moved along a transport plan to the target."""

import warnings
from typing import Any, ClassVar

import numpy as np

from lpjt._sklearn import StrOptions
from lpjt.baselines._base import CONSTRAINTS, NOT_NEGATIVE, POSITIVE, POSITIVE_INTEGER, ScaledDomain
from lpjt.baselines._classifiers import ClassifierBaseline, fit_classifier
from lpjt.baselines._types import Codes, Constraints, Floats

#: Outer iterations of the class term, and the constant that keeps its slope finite at zero mass: both as in POT.
CLASS_ITERATIONS, CLASS_FLOOR = 10, 1e-3


class OptimalTransport(ClassifierBaseline):
    r"""Optimal transport of the source rows to the target by POT; the nearest transported row gives the label.

    .. math:: \min_{\pi \ge 0} \; \langle \pi, D \rangle + \epsilon \sum_{ij} \pi_{ij} \log \pi_{ij}
              + \eta \sum_j \sum_c \|\pi_{I_c j}\|_1^{1/2}, \quad \pi 1 = 1 / n_s, \; \pi^\top 1 = 1 / n_t

    (sections 3 and 4 of the reference, with p = 1/2), where D are the squared distances in units of their median and
    I_c the source rows of class c: the last term keeps a target row from receiving mass from several classes. Source
    row i goes to its barycentre :math:`n_s \sum_j \pi_{ij} x_j`.

    Parameters
    ----------
    method : {"sinkhorn-lpl1", "sinkhorn", "emd"}, default="sinkhorn-lpl1"
        "sinkhorn-lpl1" is the whole objective, "sinkhorn" leaves out the classes (eta = 0), and "emd" solves the exact
        problem (epsilon = eta = 0).
    reg : float, default=0.1
        epsilon, in units of the median squared distance; not used by "emd".
    reg_cl : float, default=1.0
        eta, for "sinkhorn-lpl1".
    max_iter : int, default=1000
        Maximum number of Sinkhorn iterations; each of the ten outer iterations of "sinkhorn-lpl1" has at most a fifth
        of them. Not used by "emd".
    limit : int, default=100_000_000
        Maximum number of entries of the plan, n_source * n_target; `fit` refuses more. A plan takes 8 bytes per entry,
        and POT holds about five matrices of its size, so the default allows 4 GB.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    transported_ : array, (n_source, n_features)
        Source rows where the plan carries them.
    n_iter_ : int
        Sinkhorn iterations in all; 1 for "emd".

    References
    ----------
    N. Courty, R. Flamary, D. Tuia, A. Rakotomamonjy, Optimal transport for domain adaptation, IEEE Transactions on
    Pattern Analysis and Machine Intelligence, 2017. R. Flamary et al., POT: Python optimal transport, JMLR 2021.

    Notes
    -----
    Needs POT (`pip install 'lpjt[ot]'`). Unlike the other methods it holds matrices of all source rows by all target
    rows. Labelled target rows are not used. The reference chooses epsilon and eta with held-out target labels; the
    defaults are those of POT's examples of domain adaptation. The outer loop of "sinkhorn-lpl1" is our own: POT's gives
    the same plan with an array of n_source x n_target x n_classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import OptimalTransport
    >>> X, y = load_iris(return_X_y=True)
    >>> OptimalTransport().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **CONSTRAINTS,
        "method": [StrOptions({"sinkhorn-lpl1", "sinkhorn", "emd"})],
        "reg": POSITIVE,
        "reg_cl": NOT_NEGATIVE,
        "max_iter": POSITIVE_INTEGER,
        "limit": POSITIVE_INTEGER,
    }

    transported_: Floats
    n_iter_: int

    def __init__(
        self,
        *,
        method: str = "sinkhorn-lpl1",
        reg: float = 0.1,
        reg_cl: float = 1.0,
        max_iter: int = 1000,
        limit: int = 100_000_000,
        scaling: str = "unit",
    ) -> None:
        self.method = method
        self.reg = reg
        self.reg_cl = reg_cl
        self.max_iter = max_iter
        self.limit = limit
        self.scaling = scaling

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        n_source, n_target = len(source.X), len(target.X)
        if n_source * n_target > self.limit:
            raise ValueError(
                f"OptimalTransport needs a plan of {n_source} x {n_target} entries, more than limit={self.limit}. "
                "Give fewer rows, or raise limit if memory allows."
            )
        plan = self._plan(source, target)
        mass = plan.sum(axis=1, keepdims=True)
        self.transported_ = (plan @ target.X / np.maximum(mass, np.finfo(float).tiny)).astype(source.X.dtype)
        self._classifier = fit_classifier("nn", self.transported_, source.y)

    def _plan(self, source: ScaledDomain, target: ScaledDomain) -> Floats:
        """Transport plan, (n_source, n_target), between rows of equal mass; sets `n_iter_`."""
        ot = _import_pot()
        X_source, X_target = (domain.X.astype(np.float64, copy=False) for domain in (source, target))
        cost = ot.dist(X_source, X_target, metric="sqeuclidean")
        cost /= float(np.median(cost)) or 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `_checked` says the same in terms of our parameters
            if self.method == "emd":
                plan, self.n_iter_ = ot.emd(*_masses(cost), cost, numItermax=10_000_000), 1
            elif self.method == "sinkhorn":
                plan, self.n_iter_ = self._sinkhorn(ot, cost, self.max_iter)
            else:
                plan = self._class_plan(ot, cost, source.y)
        return self._checked(plan)

    def _class_plan(self, ot: Any, cost: Floats, y: Codes) -> Floats:
        """Majorise and minimise: the class term by its slope at the last plan, which is added to the cost."""
        members = np.eye(y.max() + 1)[y]
        slope = np.zeros_like(cost)
        self.n_iter_ = 0
        for _ in range(CLASS_ITERATIONS):
            plan, n_iter = self._sinkhorn(ot, cost + self.reg_cl * slope, max(1, self.max_iter // 5))
            self.n_iter_ += n_iter
            # POT's own loop forms n_source x n_target x n_classes numbers here, 6 GB for two poses of CMU PIE.
            slope = members @ (0.5 / np.sqrt(members.T @ plan + CLASS_FLOOR))
        return plan

    def _sinkhorn(self, ot: Any, cost: Floats, max_iter: int) -> tuple[Floats, int]:
        """Plan of the entropic problem, and the number of iterations."""
        plan, log = ot.sinkhorn(*_masses(cost), cost, self.reg, method="sinkhorn", numItermax=max_iter, log=True)
        return plan, int(log["niter"]) + 1  # POT counts from 0

    def _checked(self, plan: Floats) -> Floats:
        errors = [np.abs(plan.sum(axis=1 - i) - mass).sum() for i, mass in enumerate(_masses(plan))]
        error = max(errors)
        # An iteration ends by scaling the rows, so their masses are right unless numbers underflowed.
        if not (np.isfinite(error) and errors[0] < 0.5):
            raise ValueError(f"The transport plan of reg={self.reg} is lost to underflow. Give a larger reg.")
        if error > 1e-2:
            warnings.warn(
                f"The masses of the transport plan are wrong by {error:.2g} in all, of a total of 1, after "
                f"max_iter={self.max_iter}. Increase max_iter or reg.",
                RuntimeWarning,
                stacklevel=2,
            )
        return plan


def _masses(cost: Floats) -> tuple[Floats, Floats]:
    """Equal masses of the rows and of the columns."""
    n_source, n_target = cost.shape
    return np.full(n_source, 1.0 / n_source), np.full(n_target, 1.0 / n_target)


def _import_pot() -> Any:
    try:
        import ot
    except ImportError as error:
        raise ImportError("`POT` is needed for OptimalTransport. Install it with `pip install 'lpjt[ot]'`.") from error
    return ot
