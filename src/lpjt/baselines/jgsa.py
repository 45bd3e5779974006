"""Joint geometrical and statistical alignment."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from scipy import linalg

from lpjt.baselines._base import (
    CONSTRAINTS,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_INTEGER,
    DomainName,
    Embedding,
    ScaledDomain,
)
from lpjt.baselines._projection import LabelledRows, certified, gap_weights, given_or, labelled_rows
from lpjt.baselines._types import Codes, Constraints, Floats
from lpjt.core.coordinates import span_basis
from lpjt.core.moments import Moments, class_moments, mmd_blocks, total_scatter
from lpjt.core.projection import coupling_blocks, solve_projection
from lpjt.domains import Domain


class JGSA(Embedding):
    r"""Joint geometrical and statistical alignment: two coupled projections, one per domain.

    .. math::
        \max_{A, B} \frac{\mathrm{tr}(\mu B^\top S_t B) + \mathrm{tr}(\beta A^\top S_b A)}
        {\mathrm{tr}(P^\top M P) + \lambda \|A - B\|_F^2 + \beta\, \mathrm{tr}(A^\top S_w A) + \mu \|B\|_F^2},
        \quad P = [A; B]

    Eqs. (7)-(15) of [1]_: the target's scatter :math:`S_t` and the source's between-class scatter :math:`S_b` are
    large, and the distance M of marginal and conditional means, the difference of the projections and the source's
    within-class scatter :math:`S_w` small. The target's pseudo labels are those of the nearest source row, first among
    the scaled rows and then in each embedding.

    Parameters
    ----------
    n_components : int, default=30
        Columns of A and B (k in [1]_, for objects), at most the sum of the ranks of the domains.
    coupling_weight : float, default=1.0
        :math:`\lambda`.
    variance_weight : float, default=1.0
        :math:`\mu`.
    discrimination_weight : float, default=0.1
        :math:`\beta`.
    max_iter : int, default=10
        Maximum number of iterations (T in [1]_). JGSA stops earlier once no label changes: further iterations would
        repeat the last one.
    scaling : {"unit", "none", "standard", "paper", "sum-zscore"}, default="unit"
        How the rows of each domain are scaled, separately.

    Attributes
    ----------
    projections_ : dict
        "source" and "target": A and B, (n_features, n_components).
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    n_iter_ : int
        Iterations made.
    classes_ : array, (n_classes,)
        Labels of the source.

    Notes
    -----
    Defaults are those of [1]_ for objects; this is its linear form. Follows the authors' program where it says more
    than [1]_: the marginal term is weighted by the number of classes, and M is divided by the Frobenius norm of that
    term. A class without any labelled target row is left out, where the program keeps the source's half.

    Domains of different widths have no difference A - B, and :math:`\|A\|^2 + \|B\|^2` takes its place. Their first
    pseudo labels are those of the nearest labelled target row, so at least one row must be labelled.

    Labelled target rows keep their labels in the conditional terms and join the source rows as neighbours; the scatters
    :math:`S_b` and :math:`S_w` are the source's alone. No n x n matrix is formed: memory is linear in rows, and each
    iteration solves an eigenproblem of twice the width, or of twice the number of all rows where that is less.

    References
    ----------
    .. [1] J. Zhang, W. Li, P. Ogunbona. Joint geometrical and statistical alignment for visual domain adaptation. CVPR,
       2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.baselines import JGSA
    >>> X, y = load_iris(return_X_y=True)
    >>> JGSA().fit(X[::2], y[::2], X[1::2] + 0.5).score(X[1::2] + 0.5, y[1::2]) > 0.6
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **CONSTRAINTS,
        "n_components": POSITIVE_INTEGER,
        "coupling_weight": NOT_NEGATIVE,
        "variance_weight": POSITIVE,
        "discrimination_weight": NOT_NEGATIVE,
        "max_iter": POSITIVE_INTEGER,
    }
    _any_widths = True

    projections_: dict[str, Floats]
    n_iter_: int
    _labelled: LabelledRows

    def __init__(
        self,
        *,
        n_components: int = 30,
        coupling_weight: float = 1.0,
        variance_weight: float = 1.0,
        discrimination_weight: float = 0.1,
        max_iter: int = 10,
        scaling: str = "unit",
    ) -> None:
        self.n_components = n_components
        self.coupling_weight = coupling_weight
        self.variance_weight = variance_weight
        self.discrimination_weight = discrimination_weight
        self.max_iter = max_iter
        self.scaling = scaling

    def _check(self, source: Domain, target: Domain) -> None:
        super()._check(source, target)
        if source.X.shape[1] != target.X.shape[1] and not (target.y >= 0).any():
            raise ValueError(
                f"JGSA needs labelled target rows where widths differ, but the source has {source.X.shape[1]} columns, "
                f"the target {target.X.shape[1]}, and y_target labels none. Label a few target rows."
            )

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> Codes:
        bases = _span_bases(source.X, target.X)
        rows = [_in_basis(domain.X, basis) for domain, basis in zip((source, target), bases, strict=True)]
        largest, smallest, moments = self._constant_terms(rows, source.y, n_classes)
        codes = given_or(target.y, _first_codes(source, target))
        for n_iter in range(1, self.max_iter + 1):
            gap = _gap_blocks(moments, len(source.y), rows[1], codes, n_classes)
            P = certified(solve_projection(largest, smallest + gap, self.n_components)).vectors
            A, B = np.split(P, [rows[0].shape[1]])
            Z_source, Z_target = rows[0] @ A, rows[1] @ B
            self._labelled = labelled_rows(Z_source, source.y, Z_target, target.y)
            labels = given_or(target.y, self._labelled.nearest_codes(Z_target))
            self.n_iter_ = n_iter
            if np.array_equal(labels, codes):
                break
            codes = labels
        self.projections_ = {
            name: P if basis is None else basis @ P
            for name, P, basis in zip(("source", "target"), (A, B), bases, strict=True)
        }
        return labels

    def _constant_terms(self, rows: list[Floats], y_source: Codes, n_classes: int) -> tuple[Floats, Floats, Moments]:
        """What no iteration changes: the numerator, the denominator without M, and the source's class moments."""
        X_source, X_target = rows
        widths = [X.shape[1] for X in rows]
        moments = class_moments(X_source, y_source, np.ones(len(y_source)), n_classes=n_classes)
        spread = moments.means[1:] - moments.means[0]
        between = (spread.T * moments.counts) @ spread
        within = total_scatter(X_source) - between  # S_w + S_b is the total scatter
        target_scatter = total_scatter(X_target)
        largest = linalg.block_diag(self.discrimination_weight * between, self.variance_weight * target_scatter)
        smallest = linalg.block_diag(self.discrimination_weight * within, self.variance_weight * np.eye(widths[1]))
        if widths[0] == widths[1]:
            smallest += coupling_blocks(widths, [False, True], self.coupling_weight)
        else:
            smallest[np.diag_indices(len(smallest))] += self.coupling_weight
        return largest, smallest, moments

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        return (X @ self.projections_[domain]).astype(X.dtype, copy=False)

    def _codes_of(self, X: Floats) -> Codes:
        return self._labelled.nearest_codes(X.astype(np.float64, copy=False) @ self.projections_["target"])


def _span_bases(X_source: Floats, X_target: Floats) -> Sequence[Floats | None]:
    """Bases of the rows: one for both domains where their projections are compared, one per domain otherwise."""
    if X_source.shape[1] == X_target.shape[1]:
        basis = span_basis([X_source, X_target])
        return basis, basis
    return [span_basis([X]) for X in (X_source, X_target)]


def _in_basis(X: Floats, basis: Floats | None) -> Floats:
    X = X.astype(np.float64, copy=False)
    return X if basis is None else X @ basis.astype(np.float64, copy=False)


def _first_codes(source: ScaledDomain, target: ScaledDomain) -> Codes:
    """Codes of the nearest labelled scaled row, of either domain where the widths allow."""
    if source.X.shape[1] == target.X.shape[1]:
        labelled = labelled_rows(source.X, source.y, target.X, target.y)
    else:
        known = target.y >= 0
        labelled = LabelledRows(target.X[known], target.y[known])
    return labelled.nearest_codes(target.X)


def _gap_blocks(source: Moments, n_source: int, X_target: Floats, codes: Codes, n_classes: int) -> Floats:
    """M, all blocks, over the norm of its marginal term."""
    target = class_moments(X_target, codes, np.ones(len(codes)), n_classes=n_classes)
    weights = gap_weights(source.counts, target.counts, n_source, len(codes), conditional_norm=False)
    return mmd_blocks([source.means, target.means], np.array([[weights, -weights], [-weights, weights]]))
