"""HFA and SHFA: support vector machines on augmented features, with labels inferred for unlabelled target rows."""

from typing import ClassVar

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from lpjt._sklearn import StrOptions
from lpjt.baselines._base import CONSTRAINTS, NOT_NEGATIVE, POSITIVE, POSITIVE_INTEGER, Baseline, ScaledDomain
from lpjt.baselines._machines import Machine, TrainingSet, semi_supervised_machine, supervised_machine
from lpjt.baselines._types import Codes, Constraints, Floats, Indices
from lpjt.core.coordinates import default_kernel_width, kernel_values

#: Maximum number of training rows of all kinds: the kernel matrix is dense, 8 n^2 bytes.
MAX_ROWS = 8000


class SHFA(Baseline):
    r"""Semi-supervised heterogeneous feature augmentation for domains of any widths, with some labelled target rows.

    Source rows become :math:`(P x, x, 0)` and target rows :math:`(Q x, 0, x)`, where P and Q map into a common
    space. Only the metric :math:`H = [P, Q]^\top [P, Q]` is needed. Without unlabelled rows (HFA), the problem of one
    class against the rest is

    .. math::

        \min_{H \succeq 0, \operatorname{tr} H \le \lambda} \max_{0 \le \alpha \le C, y^\top \alpha = 0}
        1^\top \alpha - \frac12 (\alpha \circ y)^\top K^{1/2} (H + I) K^{1/2} (\alpha \circ y),

    with K block-diagonal in the domains. With unlabelled rows (SHFA) their labels are unknowns too, in a rho-SVM with
    squared hinge loss,

    .. math::

        \min_{y, H} \max_{\alpha \ge 0, 1^\top \alpha = 1} -\frac12 \alpha^\top
        \big( (y y^\top) \circ (K^{1/2} (H + I) K^{1/2} + 1 1^\top) + D \big) \alpha,

    relaxed to mixtures of label vectors and solved by cutting planes.

    Parameters
    ----------
    semi_supervised : bool, default=True
        Whether to train on unlabelled rows too (SHFA); False is HFA.
    metric_trace : float, default=100
        :math:`\lambda`, the upper bound on the trace of H.
    C_source, C_target, C_unlabeled : float, default=1, 1, 0.001
        Cost of errors of source rows, labelled target rows and unlabelled target rows.
    kernel : {"rbf", "linear"}, default="rbf"
    gamma : float, default=None
        Coefficient of the rbf kernel; None is 1 over the mean squared distance between rows, for each domain.
    max_unlabeled : int, default=2000
        Maximum number of unlabelled rows used in training, drawn at random where there are more. All rows are labelled
        in the end.
    max_iter : int, default=20
        Maximum number of label vectors per class.
    tol : float, default=1e-3
        Relative growth of the objective below which no more label vectors are added for a class.
    scaling : {"none", "unit", "sum-zscore", "paper", "standard"}, default="unit"
        How the rows of each domain are scaled, separately.
    random_state : int, RandomState or None, default=None
        Seed of the sample of unlabelled rows.

    Attributes
    ----------
    classes_ : array, (n_classes,)
    transduction_ : array, (n_target,)
        Labels of the target rows.
    objectives_ : array, (n_classes,)
        Value of each class's problem at its saddle point.
    gaps_ : array, (n_classes,)
        Relative duality gap of each class's SVM (HFA) or mixture of label vectors (SHFA).
    n_iter_ : int
        Largest number of label vectors over the classes.

    References
    ----------
    W. Li, L. Duan, D. Xu and I. W. Tsang. Learning With Augmented Features for Supervised and Semi-Supervised
    Heterogeneous Domain Adaptation. IEEE TPAMI 36(6), 2014.

    L. Duan, D. Xu and I. W. Tsang. Learning with Augmented Features for Heterogeneous Domain Adaptation. ICML 2012.

    Notes
    -----
    The papers minimise over H by multiple-kernel learning on kernels of rank-one H. The saddle point that those steps
    approach has a closed form, see `supervised_machine`, so no iteration is needed. The closed form also shows that
    source rows act on target decisions only through the offset (in SHFA, also through rho and the inferred labels).

    Defaults are those of the authors' published program, with two exceptions. Its norm of the mixture's shares is 1.5
    in SHFA; here it is 1, for which the problem above is solved (a larger norm grows with every vector that is added).
    It reads the share of positive unlabelled rows from the true labels; here it is that of the labelled target rows.
    The most violated label vector is, as in the papers, the best for a single feature; the features are the root of
    each domain's kernel and a constant, which avoids a root over all rows.

    Cost: n^2 memory in the training rows (at most 8000), one root of the target's kernel, and for each class some
    systems in its support vectors: 10 classes with 230 labelled and 1770 unlabelled rows take about half a minute,
    68 classes with 1564 and 1425 rows a quarter of a minute. HFA takes about a second.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import SHFA
    >>> X, y = load_iris(return_X_y=True)
    >>> X_target, y_target = X[1::2] + 0.5, np.where(np.arange(75) % 5 == 0, y[1::2], -1)
    >>> SHFA().fit(X[::2], y[::2], X_target, y_target).score(X_target, y[1::2]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **CONSTRAINTS,
        "semi_supervised": ["boolean"],
        "metric_trace": NOT_NEGATIVE,
        "C_source": POSITIVE,
        "C_target": POSITIVE,
        "C_unlabeled": POSITIVE,
        "kernel": [StrOptions({"rbf", "linear"})],
        "gamma": [*POSITIVE, None],
        "max_unlabeled": POSITIVE_INTEGER,
        "max_iter": POSITIVE_INTEGER,
        "tol": NOT_NEGATIVE,
        "random_state": ["random_state"],
    }
    _any_widths = True
    _needs_target_labels = True

    objectives_: Floats
    gaps_: Floats
    n_iter_: int
    _rows: Floats  # (n_labelled + n_unlabelled, width) target rows of the training
    _gamma: float
    _coefficients: Floats  # (n_labelled + n_unlabelled, n_classes)
    _offsets: Floats  # (n_classes,)

    def __init__(
        self,
        semi_supervised: bool = True,
        *,
        metric_trace: float = 100.0,
        C_source: float = 1.0,
        C_target: float = 1.0,
        C_unlabeled: float = 1e-3,
        kernel: str = "rbf",
        gamma: float | None = None,
        max_unlabeled: int = 2000,
        max_iter: int = 20,
        tol: float = 1e-3,
        scaling: str = "unit",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
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

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        known, unknown = np.flatnonzero(target.y >= 0), self._sample(np.flatnonzero(target.y < 0))
        rows = target.X[np.concatenate([known, unknown])].astype(np.float64)
        labels = np.concatenate([source.y, target.y[known]])
        self._check_size(len(labels) + len(unknown), len(unknown))
        self._rows, self._gamma = rows, self._kernel_width(rows)
        training = self._training_set(source.X.astype(np.float64), rows, len(known))
        machines = []
        for code in range(n_classes):
            signs = np.where(labels == code, 1.0, -1.0)
            # At least one of the unlabelled rows, where there are any, is of the class, and not all of them are.
            n_positive = round(len(unknown) * float(np.mean(target.y[known] == code)))
            n_positive = min(max(n_positive, 1), max(len(unknown) - 1, 1))
            machines.append(self._fit_machine(training, signs, n_positive))
        self._coefficients = np.column_stack([m.coefficients[len(source.y) :] for m in machines])
        self._offsets = np.array([m.offset for m in machines])
        self.objectives_ = np.array([m.objective for m in machines])
        self.gaps_ = np.array([m.gap for m in machines])
        self.n_iter_ = max(m.n_iter for m in machines)

    def _fit_machine(self, training: TrainingSet, signs: Floats, n_positive: int) -> Machine:
        if training.features is None:
            return supervised_machine(training, signs)
        return semi_supervised_machine(training, signs, n_positive, max_iter=self.max_iter, tol=self.tol)

    def _sample(self, unknown: Indices) -> Indices:
        """Unlabelled rows that take part in training."""
        if not self.semi_supervised:
            return unknown[:0]
        if len(unknown) > self.max_unlabeled:
            draw = check_random_state(self.random_state).choice(len(unknown), self.max_unlabeled, replace=False)
            return unknown[np.sort(draw)]
        return unknown

    def _check_size(self, n: int, n_unlabelled: int) -> None:
        if n > MAX_ROWS:
            raise ValueError(
                f"SHFA has kernel matrices of all training rows, and {n} rows ({n_unlabelled} of them unlabelled) are "
                f"more than {MAX_ROWS}. Give fewer labelled rows, or lower max_unlabeled."
            )

    def _training_set(self, source_rows: Floats, rows: Floats, n_labelled: int) -> TrainingSet:
        n_source, n_unlabelled = len(source_rows), len(rows) - n_labelled
        scale = 1 + self.metric_trace
        G = np.zeros((n_source + len(rows),) * 2)
        G[:n_source, :n_source] = scale * self._kernel(source_rows, source_rows, self._kernel_width(source_rows))
        G[n_source:, n_source:] = scale * self._kernel(rows, rows, self._gamma)
        counts, costs = (n_source, n_labelled, n_unlabelled), (self.C_source, self.C_target, self.C_unlabeled)
        features = None
        if n_unlabelled:
            features = _symmetric_root(G[n_source:, n_source:])
            G += 1.0
        return TrainingSet(G, features, n_source, n_source + n_labelled, np.repeat(costs, counts), self.metric_trace)

    def _kernel_width(self, rows: Floats) -> float:
        return default_kernel_width([rows]) if self.gamma is None else self.gamma

    def _kernel(self, X: Floats, Y: Floats, gamma: float) -> Floats:
        return kernel_values(X, Y, self.kernel, {"gamma": gamma} if self.kernel == "rbf" else {})

    def _codes_of(self, X: Floats) -> Codes:
        kernel = self._kernel(X.astype(np.float64), self._rows, self._gamma)
        return (kernel @ self._coefficients + self._offsets).argmax(axis=1)


def _symmetric_root(K: Floats) -> Floats:
    values, vectors = linalg.eigh(K, check_finite=False)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
