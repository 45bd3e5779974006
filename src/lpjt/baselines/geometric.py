"""Joint geometrical and statistical alignment."""

from numbers import Integral, Real

import numpy as np
from scipy import linalg

from lpjt._sklearn import Interval
from lpjt.baselines._base import Baseline, Embedding, Side
from lpjt.baselines._projection import gap_weights, known_or, nearest_codes
from lpjt.core.coordinates import span_basis
from lpjt.core.moments import class_moments, mmd_blocks, total_scatter
from lpjt.core.projection import coupling_blocks, solve_projection

_CONSTRAINTS: dict = {
    **Baseline._parameter_constraints,
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "coupling_weight": [Interval(Real, 0, None, closed="left")],
    "variance_weight": [Interval(Real, 0, None, closed="neither")],
    "discrimination_weight": [Interval(Real, 0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}


class JGSA(Embedding):
    r"""Joint geometrical and statistical alignment: two coupled projections, one for each domain.

    .. math::
        \max_{A, B} \frac{\mathrm{tr}(\mu B^\top S_t B) + \mathrm{tr}(\beta A^\top S_b A)}
        {\mathrm{tr}(P^\top M P) + \lambda \|A - B\|_F^2 + \beta\, \mathrm{tr}(A^\top S_w A) + \mu \|B\|_F^2},
        \quad P = [A; B]

    Eqs. (7)-(15) of [1]_: the target's scatter :math:`S_t` and the source's between-class scatter :math:`S_b` are
    large, and the distance M of marginal and conditional means, the difference of the projections and the source's
    within-class scatter :math:`S_w` small. The target's pseudo labels are those of the nearest source row, first as the
    rows come and then in each embedding.

    Parameters
    ----------
    n_components : int, default=30
        Columns of A and B, k of [1]_ for objects.
    coupling_weight : float, default=1.0
        :math:`\lambda`.
    variance_weight : float, default=1.0
        :math:`\mu`.
    discrimination_weight : float, default=0.1
        :math:`\beta`.
    max_iter : int, default=10
        Passes, T of [1]_; fewer once no label changes, when nothing more would.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        Of the rows of each domain, by itself.

    Attributes
    ----------
    projections_ : dict
        "source" and "target": A and B, (n_features, n_components).
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    n_iter_ : int
        Passes made.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    Defaults are those of [1]_ for objects. The linear form. Follows the authors' program where it says more than
    [1]_: the marginal term is weighted by the number of classes, and M is divided by the Frobenius norm of that term.
    A class that no target row is labelled with is left out, where the program keeps the
    source's half.

    Domains of different widths have no difference A - B: :math:`\|A\|^2 + \|B\|^2` is what remains. Their
    first pseudo labels are those of the nearest labelled target row, so at least one row must be labelled.

    Labelled target rows keep their labels in the conditional terms and join the source rows as neighbours; the scatters
    :math:`S_b` and :math:`S_w` are the source's alone. No n x n matrix is formed: memory is linear in rows, and each
    pass solves an eigenproblem of twice the width, or of twice the number of all rows where that is less.

    References
    ----------
    .. [1] J. Zhang, W. Li, P. Ogunbona. Joint geometrical and statistical alignment for visual domain adaptation. CVPR,
       2017.
    """

    _parameter_constraints = _CONSTRAINTS
    _any_widths = True

    def __init__(
        self,
        *,
        n_components=30,
        coupling_weight=1.0,
        variance_weight=1.0,
        discrimination_weight=0.1,
        max_iter=10,
        scaling="unit",
    ):
        self.n_components = n_components
        self.coupling_weight = coupling_weight
        self.variance_weight = variance_weight
        self.discrimination_weight = discrimination_weight
        self.max_iter = max_iter
        self.scaling = scaling

    def _check(self, domains):
        super()._check(domains)
        source, target = domains.sources[0], domains.targets[0]
        if source.X.shape[1] != target.X.shape[1] and not (target.y >= 0).any():
            raise ValueError(
                f"JGSA needs labelled target rows where widths differ, but the source has {source.X.shape[1]} columns, "
                f"the target {target.X.shape[1]}, and y_target marks none. Label a few target rows."
            )

    def _learn(self, source: Side, target: Side, n_classes: int) -> np.ndarray:
        bases = _span_bases(source.X, target.X, self.n_components)
        rows = [_in_basis(side.X, basis) for side, basis in zip((source, target), bases, strict=True)]
        largest, smallest, means = self._fixed_terms(rows, source.y, n_classes)
        codes = known_or(target.y, _first_codes(source, target))
        known = target.y >= 0
        for n_iter in range(1, self.max_iter + 1):
            gap = _gap_blocks(means, len(source.y), rows[1], codes, n_classes)
            P = solve_projection(largest, smallest + gap, self.n_components).vectors
            A, B = np.split(P, [rows[0].shape[1]])
            Z_source, Z_target = rows[0] @ A, rows[1] @ B
            self._pool = np.vstack([Z_source, Z_target[known]])
            self._pool_codes = np.concatenate([source.y, target.y[known]])
            labels = known_or(target.y, nearest_codes(self._pool, self._pool_codes, Z_target))
            self.n_iter_ = n_iter
            if np.array_equal(labels, codes):
                break
            codes = labels
        self.projections_ = {
            name: P if basis is None else basis @ P
            for name, P, basis in zip(("source", "target"), (A, B), bases, strict=True)
        }
        return labels

    def _fixed_terms(self, rows, y_source, n_classes):
        """What no pass changes: the numerator, the denominator but for M, and the source's means."""
        X_source, X_target = rows
        widths = [X.shape[1] for X in rows]
        means = class_moments(X_source, y_source, np.ones(len(y_source)), n_classes=n_classes)
        spread = means.means[1:] - means.means[0]
        between = (spread.T * means.counts) @ spread
        within = total_scatter(X_source) - between  # S_w + S_b is the total scatter
        target_scatter = total_scatter(X_target)
        largest = linalg.block_diag(self.discrimination_weight * between, self.variance_weight * target_scatter)
        smallest = linalg.block_diag(self.discrimination_weight * within, self.variance_weight * np.eye(widths[1]))
        if widths[0] == widths[1]:
            smallest += coupling_blocks(widths, [False, True], self.coupling_weight)
        else:
            smallest[np.diag_indices(len(smallest))] += self.coupling_weight
        return largest, smallest, means

    def _embed(self, X, domain):
        return (X @ self.projections_[domain]).astype(X.dtype, copy=False)

    def _codes_of(self, X):
        embedded = X.astype(np.float64, copy=False) @ self.projections_["target"]
        return nearest_codes(self._pool, self._pool_codes, embedded)


def _span_bases(X_source, X_target, n_components):
    """Bases of the rows: one for both domains where their projections are compared, one each otherwise."""
    if X_source.shape[1] == X_target.shape[1]:
        basis = span_basis([X_source, X_target], n_components=n_components)
        return basis, basis
    return tuple(span_basis([X], n_components=n_components) for X in (X_source, X_target))


def _in_basis(X, basis):
    X = X.astype(np.float64, copy=False)
    return X if basis is None else X @ basis.astype(np.float64, copy=False)


def _first_codes(source, target):
    """Codes of the nearest labelled row as the rows come, of either domain where widths allow."""
    known = target.y >= 0
    pool, codes = target.X[known], target.y[known]
    if source.X.shape[1] == target.X.shape[1]:
        pool, codes = np.vstack([source.X, pool]), np.concatenate([source.y, codes])
    return nearest_codes(pool, codes, target.X)


def _gap_blocks(source, n_source, X_target, codes, n_classes):
    """M, all blocks, over the norm of its marginal term."""
    target = class_moments(X_target, codes, np.ones(len(codes)), n_classes=n_classes)
    weights = gap_weights(source.counts, target.counts, n_source, len(codes), conditional_norm=False)
    return mmd_blocks([source.means, target.means], np.array([[weights, -weights], [-weights, weights]]))
