"""HFA and SHFA: support vector machines on augmented features, with labels inferred for unlabelled target rows."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from lpjt._sklearn import Interval, StrOptions
from lpjt.baselines._base import Baseline
from lpjt.baselines._label_mixtures import mix_labels, top_labels, violated_labels
from lpjt.core.coordinates import default_kernel_width

#: Rows of all kinds that may take part in training: the kernel matrix is dense, 8 n^2 bytes.
MAX_ROWS = 8000


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """Solution of one one-vs-rest problem; a target row is decided by its kernel row @ coefficients + offset."""

    coefficients: np.ndarray  # (n_training,), the factor 1 + lambda within
    offset: float
    objective: float  # the saddle value of the dual
    gap: float  # relative duality gap
    n_iter: int  # label vectors tried


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """What the one-vs-rest problems share; rows are labelled source, labelled target, unlabelled target."""

    G: np.ndarray  # (n, n) block-diagonal kernel times 1 + lambda; of SHFA, whose offset is a feature, plus 1
    features: np.ndarray | None  # (n_target, n_target) symmetric root of the target's block; None if supervised
    n_source: int
    n_known: int
    bounds: np.ndarray  # (n,) C of each row
    metric_trace: float


def supervised_machine(training, signs):
    r"""HFA's saddle point, smallest over H and largest over alpha, of which H is eliminated.

    In the dual :math:`1^\top \alpha - \frac12 q^\top (H + I) q`, :math:`q = K^{1/2} (\alpha \circ y)`, the H of
    trace :math:`\lambda` that takes most is :math:`\lambda q q^\top / \|q\|^2`. The dual is linear in H and concave
    in alpha, so that the order may be changed: alpha solves the SVM with the kernel :math:`(1 + \lambda) K`. There
    :math:`H q = \lambda q`, and a target row is decided by :math:`(1 + \lambda) k^\top (\alpha \circ y)_t + b`.

    Parameters
    ----------
    training : Training
    signs : array, (n,)
        Labels 1 and -1.

    Returns
    -------
    Machine
    """
    svm = SVC(C=1.0, kernel="precomputed", tol=1e-6).fit(training.G, signs, sample_weight=training.bounds)
    coefficients = np.zeros(len(signs))
    coefficients[svm.support_] = svm.dual_coef_[0]
    offset = float(svm.intercept_[0])
    pulled = training.G @ coefficients
    squares = float(coefficients @ pulled)
    dual = float(np.abs(coefficients).sum()) - squares / 2
    primal = squares / 2 + float(training.bounds @ np.maximum(0.0, 1 - signs * (pulled + offset)))
    gap = (primal - dual) / max(primal, np.finfo(float).tiny)
    return Machine((1 + training.metric_trace) * coefficients, offset, dual, gap, 1)


def semi_supervised_machine(training, signs, n_positive, *, max_iter, tol):
    r"""SHFA's saddle point by cutting planes: a mixture of label vectors, with H eliminated from each.

    The base kernel of a label vector and of the best H of trace :math:`\lambda` for it is
    :math:`(y y^\top) \circ ((1 + \lambda) K + 1 1^\top)`, by the argument of `supervised_machine`.

    Parameters
    ----------
    training : Training
    signs : array, (n_known,)
        Labels 1 and -1 of the labelled rows.
    n_positive : int
        How many unlabelled rows are positive.
    max_iter : int
        Label vectors, at most.
    tol : float
        Stops when rho grows by less than this share.

    Returns
    -------
    Machine
    """
    G, ridge, n_source = training.G, 1.0 / training.bounds, training.n_source
    target = slice(n_source, None)
    Y = np.concatenate([signs, _first_labels(training, signs, n_positive)])[:, None]
    mixture = mix_labels(G, Y, ridge)
    for _ in range(1, max_iter):
        constant = float(mixture.alpha[:n_source] @ signs[:n_source])
        inferred = violated_labels(
            training.features, mixture.alpha[target], signs[n_source:], n_positive, constant=constant
        )
        vector = np.concatenate([signs, inferred])
        if (vector[:, None] == Y).all(axis=0).any():
            break
        Y = np.column_stack([Y, vector])
        previous, mixture = mixture, mix_labels(G, Y, ridge, start=mixture)
        if mixture.rho - previous.rho <= tol * mixture.rho:
            break
    mean_labels = Y @ mixture.shares
    coefficients = mixture.alpha * mean_labels / mixture.rho
    scaled = (1 + training.metric_trace) * coefficients
    return Machine(scaled, float(coefficients.sum()), mixture.rho / 2, mixture.gap, Y.shape[1])


def _first_labels(training, signs, n_positive):
    """Labels of the unlabelled rows by a rho-SVM of the labelled target rows alone, without augmentation."""
    known = slice(training.n_source, training.n_known)
    K = (training.G[training.n_source :, known] - 1.0) / (1 + training.metric_trace) + 1.0
    own = signs[known]
    alone = mix_labels(K[: len(own)], own[:, None], 1.0 / training.bounds[known])
    return top_labels(K[len(own) :] @ (alone.alpha * own), n_positive)


_CONSTRAINTS: dict = {
    **Baseline._parameter_constraints,
    "semi_supervised": ["boolean"],
    "metric_trace": [Interval(Real, 0, None, closed="left")],
    "C_source": [Interval(Real, 0, None, closed="neither")],
    "C_target": [Interval(Real, 0, None, closed="neither")],
    "C_unlabeled": [Interval(Real, 0, None, closed="neither")],
    "kernel": [StrOptions({"rbf", "linear"})],
    "gamma": [Interval(Real, 0, None, closed="neither"), None],
    "max_unlabeled": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state"],
}


class SHFA(Baseline):
    r"""Semi-supervised heterogeneous feature augmentation for domains of any widths, with some labelled target rows.

    Source rows become :math:`(P x, x, 0)` and target rows :math:`(Q x, 0, x)`, with P and Q into a common space. Of
    them only the metric :math:`H = [P, Q]^\top [P, Q]` is needed. Without unlabelled rows (HFA) a class against the
    rest solves

    .. math::

        \min_{H \succeq 0, \operatorname{tr} H \le \lambda} \max_{0 \le \alpha \le C, y^\top \alpha = 0}
        1^\top \alpha - \frac12 (\alpha \circ y)^\top K^{1/2} (H + I) K^{1/2} (\alpha \circ y),

    with K block-diagonal in the domains. With them (SHFA) the labels of unlabelled rows are unknowns too, in a
    rho-SVM with squared hinge loss,

    .. math::

        \min_{y, H} \max_{\alpha \ge 0, 1^\top \alpha = 1} -\frac12 \alpha^\top
        \big( (y y^\top) \circ (K^{1/2} (H + I) K^{1/2} + 1 1^\top) + D \big) \alpha,

    relaxed to mixtures of label vectors and solved by cutting planes.

    Parameters
    ----------
    semi_supervised : bool, default=True
        SHFA; False is HFA.
    metric_trace : float, default=100
        :math:`\lambda`.
    C_source, C_target, C_unlabeled : float, default=1, 1, 0.001
        Cost of errors of the three kinds of rows.
    kernel : {"rbf", "linear"}, default="rbf"
    gamma : float, default=None
        Of the rbf kernel; None is 1 over the mean squared distance of each domain's rows.
    max_unlabeled : int, default=2000
        Unlabelled rows that take part in training; of more a sample is drawn. All rows are labelled in the end.
    max_iter : int, default=20
        Label vectors of each class, at most.
    tol : float, default=1e-3
        Relative growth of the objective at which a class is done.
    scaling : str, default="unit"
        How each domain's rows are scaled, see `core.coordinates.fit_scaling`.
    random_state : int, RandomState or None, default=None
        Draws the sample of unlabelled rows.

    Attributes
    ----------
    classes_ : array, (n_classes,)
    transduction_ : array, (n_target,)
        Labels of the target rows.
    objectives_ : array, (n_classes,)
        Saddle values of the classes' problems.
    gaps_ : array, (n_classes,)
        Relative duality gaps, of the SVM (HFA) or of the mixture of label vectors (SHFA).
    n_iter_ : int
        Most label vectors that a class has tried.

    References
    ----------
    W. Li, L. Duan, D. Xu and I. W. Tsang. Learning With Augmented Features for Supervised and Semi-Supervised
    Heterogeneous Domain Adaptation. IEEE TPAMI 36(6), 2014.

    L. Duan, D. Xu and I. W. Tsang. Learning with Augmented Features for Heterogeneous Domain Adaptation. ICML 2012.

    Notes
    -----
    The papers solve over H by multiple-kernel learning on kernels of rank-one H. The saddle point is known in closed
    form, see `supervised_machine`, and that is what those steps approach: no iteration is needed. It also shows that
    source rows act on target decisions through the offset (and, in SHFA, through rho and the inferred labels) alone.

    Defaults are those of the authors' published program, but for two: its norm of the mixture's shares is 1.5 in
    SHFA, here 1, for which the problem above is solved (a larger norm grows with every vector that is added); and it
    reads the share of positive unlabelled rows from the true labels, here it is that of the labelled target rows. The
    most violated label vector is, as in the papers, the best for a single feature; the features are the root of each
    domain's kernel and a constant, which spares a root of all rows.

    Cost: n^2 memory in the training rows (at most 8000), one root of the target's kernel, and for each class some
    systems in its support vectors: 10 classes with 230 labelled and 1770 unlabelled rows take about half a minute,
    68 classes with 1564 and 1425 rows a quarter of a minute. HFA takes about a second.
    """

    _parameter_constraints = _CONSTRAINTS
    _any_widths = True
    _needs_target_labels = True

    def __init__(
        self,
        semi_supervised=True,
        *,
        metric_trace=100.0,
        C_source=1.0,
        C_target=1.0,
        C_unlabeled=1e-3,
        kernel="rbf",
        gamma=None,
        max_unlabeled=2000,
        max_iter=20,
        tol=1e-3,
        scaling="unit",
        random_state=None,
    ):
        self.semi_supervised = semi_supervised
        self.metric_trace = metric_trace
        self.C_source = C_source
        self.C_target = C_target
        self.C_unlabeled = C_unlabeled
        self.kernel = kernel
        self.gamma = gamma
        self.max_unlabeled = max_unlabeled
        self.max_iter = max_iter
        self.tol = tol
        self.scaling = scaling
        self.random_state = random_state

    def _learn(self, source, target, n_classes):
        known, unknown = np.flatnonzero(target.y >= 0), self._sample(np.flatnonzero(target.y < 0))
        rows = target.X[np.concatenate([known, unknown])].astype(np.float64)
        labels = np.concatenate([source.y, target.y[known]])
        self._check_size(len(labels) + len(unknown), len(unknown))
        self._rows, self._gamma = rows, self._width(rows)
        training = self._train(source.X.astype(np.float64), rows, len(known))
        machines = []
        for code in range(n_classes):
            signs = np.where(labels == code, 1.0, -1.0)
            # At least one of the unlabelled rows, where there are any, is of the class, and not all of them are.
            n_positive = round(len(unknown) * float(np.mean(target.y[known] == code)))
            n_positive = min(max(n_positive, 1), max(len(unknown) - 1, 1))
            machines.append(self._machine(training, signs, n_positive))
        self._coefficients = np.column_stack([m.coefficients[len(source.y) :] for m in machines])
        self._offsets = np.array([m.offset for m in machines])
        self.objectives_ = np.array([m.objective for m in machines])
        self.gaps_ = np.array([m.gap for m in machines])
        self.n_iter_ = max(m.n_iter for m in machines)

    def _machine(self, training, signs, n_positive):
        if training.features is None:
            return supervised_machine(training, signs)
        return semi_supervised_machine(training, signs, n_positive, max_iter=self.max_iter, tol=self.tol)

    def _sample(self, unknown):
        """Unlabelled rows that take part in training."""
        if not self.semi_supervised:
            return unknown[:0]
        if len(unknown) > self.max_unlabeled:
            draw = check_random_state(self.random_state).choice(len(unknown), self.max_unlabeled, replace=False)
            return unknown[np.sort(draw)]
        return unknown

    def _check_size(self, n, n_unlabeled):
        if n > MAX_ROWS:
            raise ValueError(
                f"SHFA has kernel matrices of all training rows, and {n} rows ({n_unlabeled} of them unlabelled) are "
                f"more than {MAX_ROWS}. Give fewer labelled rows, or lower max_unlabeled."
            )

    def _train(self, source_rows, rows, n_labelled):
        n_source, n_unlabelled = len(source_rows), len(rows) - n_labelled
        scale = 1 + self.metric_trace
        G = np.zeros((n_source + len(rows),) * 2)
        G[:n_source, :n_source] = scale * self._kernel(source_rows, source_rows, self._width(source_rows))
        G[n_source:, n_source:] = scale * self._kernel(rows, rows, self._gamma)
        counts, costs = (n_source, n_labelled, n_unlabelled), (self.C_source, self.C_target, self.C_unlabeled)
        features = None
        if n_unlabelled:
            features = _symmetric_root(G[n_source:, n_source:])
            G += 1.0
        return Training(G, features, n_source, n_source + n_labelled, np.repeat(costs, counts), self.metric_trace)

    def _width(self, rows):
        return default_kernel_width([rows]) if self.gamma is None else self.gamma

    def _kernel(self, X, Y, gamma):
        return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, gamma=gamma)

    def _codes_of(self, X):
        kernel = self._kernel(X.astype(np.float64), self._rows, self._gamma)
        return (kernel @ self._coefficients + self._offsets).argmax(axis=1)


def _symmetric_root(K):
    values, vectors = linalg.eigh(K, check_finite=False)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
