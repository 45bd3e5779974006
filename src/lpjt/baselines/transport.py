"""The source is moved onto the target: by its covariance (CORAL), or row by row along an optimal transport plan."""

import warnings
from numbers import Integral, Real

import numpy as np

from lpjt._sklearn import Interval, StrOptions
from lpjt.baselines._base import Baseline, Embedding, Side
from lpjt.baselines._parts import ERROR_CONSTRAINTS, RULES, fit_rule, principal_directions

_RECOLOURING_CONSTRAINTS: dict = {
    **ERROR_CONSTRAINTS,
    "regularization": [Interval(Real, 0, None, closed="neither")],
    "classifier": [StrOptions(RULES)],
}
_TRANSPORT_CONSTRAINTS: dict = {
    **Baseline._parameter_constraints,
    "method": [StrOptions({"sinkhorn-lpl1", "sinkhorn", "emd"})],
    "reg": [Interval(Real, 0, None, closed="neither")],
    "reg_cl": [Interval(Real, 0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "limit": [Interval(Integral, 1, None, closed="left")],
}

#: Outer passes of the class term, and what keeps its slope finite at zero mass: both as in POT.
CLASS_PASSES, CLASS_FLOOR = 10, 1e-3


def recolouring(X_source, X_target, regularization):
    r"""A = (C_s + r I)^{-1/2} (C_t + r I)^{1/2}, (width, width): whitens the source, then colours it as the target.

    C_s and C_t are the covariance matrices of the rows, and r is `regularization` times the mean variance of a column
    of both. Where a domain has fewer rows than columns, only the span of its rows costs anything beyond a product.
    """
    (V_source, e_source), (V_target, e_target) = principal_directions(X_source), principal_directions(X_target)
    width = X_source.shape[1]
    ridge = regularization * (e_source.sum() + e_target.sum()) / (2 * width)
    if ridge <= 0:  # rows without any spread: there is nothing to colour
        return np.eye(width)
    # (C + r I)^p is r^p on all directions, and (e + r)^p on the principal ones.
    whitening = ridge**-0.5 * np.eye(width) + (V_source * ((e_source + ridge) ** -0.5 - ridge**-0.5)) @ V_source.T
    colouring = ridge**0.5 * np.eye(width) + (V_target * ((e_target + ridge) ** 0.5 - ridge**0.5)) @ V_target.T
    return whitening @ colouring


class CORAL(Embedding):
    r"""Correlation Alignment: the covariance of the source becomes that of the target.

    .. math:: \min_A \|A^\top C_s A - C_t\|_F^2, \quad A = (C_s + r I)^{-1/2} (C_t + r I)^{1/2}

    Eq. (1) and Algorithm 1 of the reference. With the means m_s and m_t of the domains, source rows become
    :math:`m_t + (x - m_s) A`, and target rows stay as they are.

    Parameters
    ----------
    regularization : float, default=1.0
        r, in units of the mean variance of a column. On z-scores that unit is 1, and 1.0 is the reference's I.
    classifier : {"nn", "svm", "nu-svm"}, default="svm"
        A linear SVM as in the reference, or nearest neighbour.
    C : float or "auto", default="auto"
        Weight of the errors of the SVM, as of `LinearSVM`: by cross validation on the source, as in the reference.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself. The reference takes z-scores.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    recolouring_ : array, (n_features, n_features)
        A.
    means_ : dict of "source" and "target" to array, (n_features,)

    References
    ----------
    B. Sun, J. Feng, K. Saenko, Return of frustratingly easy domain adaptation, AAAI 2016.

    Notes
    -----
    Departs from the reference in the unit of `regularization`: I as it stands would drown the covariance of rows of
    unit length, whose variances are below one over the width, and leave the source as it is. And in the means: the
    reference's rows are z-scores, of mean zero, and it multiplies them with A as they stand, which would throw the mean
    of other rows far away. On z-scores neither makes a difference.
    """

    _parameter_constraints = _RECOLOURING_CONSTRAINTS

    def __init__(self, *, regularization=1.0, classifier="svm", C="auto", scaling="unit"):
        self.regularization = regularization
        self.classifier = classifier
        self.C = C
        self.scaling = scaling

    def _learn(self, source: Side, target: Side, n_classes: int) -> None:
        self.recolouring_ = recolouring(source.X, target.X, self.regularization)
        self.means_ = {"source": source.X.mean(axis=0), "target": target.X.mean(axis=0)}
        self._rule = fit_rule(self.classifier, self._embed(source.X, "source"), source.y, self.C)

    def _embed(self, X, domain):
        if domain == "target":
            return X
        return self.means_["target"] + (X - self.means_["source"]) @ self.recolouring_.astype(X.dtype, copy=False)

    def _codes_of(self, X):
        return self._rule.predict(X)


class OptimalTransport(Baseline):
    r"""Optimal transport of the source's rows to the target's, by POT; then the nearest transported row.

    .. math:: \min_{\pi \ge 0} \; \langle \pi, D \rangle + \epsilon \sum_{ij} \pi_{ij} \log \pi_{ij}
              + \eta \sum_j \sum_c \|\pi_{I_c j}\|_1^{1/2}, \quad \pi 1 = 1 / n_s, \; \pi^\top 1 = 1 / n_t

    (sections 3 and 4 of the reference, with p = 1/2), D the squared distances in units of their median and I_c the
    source rows of class c: the last term keeps a target row from receiving mass of several classes. Source row i goes
    to its barycentre :math:`n_s \sum_j \pi_{ij} x_j`.

    Parameters
    ----------
    method : {"sinkhorn-lpl1", "sinkhorn", "emd"}, default="sinkhorn-lpl1"
        The whole objective; without the classes, eta = 0; without either, epsilon = eta = 0 (exact).
    reg : float, default=0.1
        epsilon, in units of the median squared distance.
    reg_cl : float, default=1.0
        eta, of "sinkhorn-lpl1".
    max_iter : int, default=1000
        Passes of Sinkhorn's scaling; the ten outer passes of "sinkhorn-lpl1" have a fifth of them each at most.
    limit : int, default=100_000_000
        Most entries of the plan, n_source * n_target: beyond it `fit` refuses. A plan takes 8 bytes an entry, and
        POT holds about five matrices of its size, so the default asks for 4 GB at most.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        Scaling of the rows of each domain by itself.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows.
    classes_ : array, (n_classes,)
    transported_ : array, (n_source, n_features)
        Source rows where the plan carries them.

    References
    ----------
    N. Courty, R. Flamary, D. Tuia, A. Rakotomamonjy, Optimal transport for domain adaptation, IEEE Transactions on
    Pattern Analysis and Machine Intelligence, 2017. R. Flamary et al., POT: Python optimal transport, JMLR 2021.

    Notes
    -----
    Needs POT (`pip install 'lpjt[ot]'`). Unlike the other methods it holds matrices of all source rows by all target
    rows. Labelled target rows are not used. The reference chooses epsilon and eta with target labels kept aside; the
    defaults are those of POT's examples of domain adaptation. The outer loop of "sinkhorn-lpl1" is this package's: that
    of POT gives the same plan with a matrix of n_source x n_target x n_classes.
    """

    _parameter_constraints = _TRANSPORT_CONSTRAINTS

    def __init__(
        self, *, method="sinkhorn-lpl1", reg=0.1, reg_cl=1.0, max_iter=1000, limit=100_000_000, scaling="unit"
    ):
        self.method = method
        self.reg = reg
        self.reg_cl = reg_cl
        self.max_iter = max_iter
        self.limit = limit
        self.scaling = scaling

    def _learn(self, source: Side, target: Side, n_classes: int) -> None:
        n_source, n_target = len(source.X), len(target.X)
        if n_source * n_target > self.limit:
            raise ValueError(
                f"OptimalTransport needs a plan of {n_source} x {n_target} entries, more than limit={self.limit}. "
                "Give fewer rows, or raise limit if memory allows."
            )
        plan = self._plan(source, target)
        mass = plan.sum(axis=1, keepdims=True)
        self.transported_ = (plan @ target.X / np.maximum(mass, np.finfo(float).tiny)).astype(source.X.dtype)
        self._rule = fit_rule("nn", self.transported_, source.y)

    def _codes_of(self, X):
        return self._rule.predict(X)

    def _plan(self, source, target):
        """Transport plan, (n_source, n_target), of uniform rows."""
        ot = _import_pot()
        X_source, X_target = (side.X.astype(np.float64, copy=False) for side in (source, target))
        cost = ot.dist(X_source, X_target, metric="sqeuclidean")
        cost /= float(np.median(cost)) or 1.0
        rows, columns = (np.full(n, 1.0 / n) for n in cost.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # POT's own words for what is said below
            if self.method == "emd":
                plan = ot.emd(rows, columns, cost, numItermax=10_000_000)
            elif self.method == "sinkhorn":
                plan = ot.sinkhorn(rows, columns, cost, self.reg, method="sinkhorn", numItermax=self.max_iter)
            else:
                plan = self._class_plan(ot, rows, columns, cost, source.y)
        return self._checked(plan, rows, columns)

    def _class_plan(self, ot, rows, columns, cost, y):
        """Majorise and minimise: the class term by its slope at the last plan, which is added to the cost."""
        members = np.eye(y.max() + 1)[y]
        slope = np.zeros_like(cost)
        for _ in range(CLASS_PASSES):
            passes = max(1, self.max_iter // 5)
            plan = ot.sinkhorn(rows, columns, cost + self.reg_cl * slope, self.reg, numItermax=passes)
            # POT's own loop forms n_source x n_target x n_classes numbers here, 6 GB for two poses of CMU PIE.
            slope = members @ (0.5 / np.sqrt(members.T @ plan + CLASS_FLOOR))
        return plan

    def _checked(self, plan, rows, columns):
        of_rows, of_columns = np.abs(plan.sum(axis=1) - rows).sum(), np.abs(plan.sum(axis=0) - columns).sum()
        error = max(of_rows, of_columns)
        # A pass ends with the scaling of the rows, whose masses are right unless numbers were lost.
        if not (np.isfinite(error) and of_rows < 0.5):
            raise ValueError(f"The transport plan of reg={self.reg} is lost to underflow. Give a larger reg.")
        if error > 1e-2:
            warnings.warn(
                f"The transport plan misses its masses by {error:.2g} of 1 in all after max_iter={self.max_iter}. "
                "Increase max_iter or reg.",
                RuntimeWarning,
                stacklevel=2,
            )
        return plan


def _import_pot():
    try:
        import ot
    except ImportError as error:
        raise ImportError("`POT` is needed for OptimalTransport. Install it with `pip install 'lpjt[ot]'`.") from error
    return ot
