"""What every method of comparison shares: the door, scaling, labels out, rows never seen."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lpjt._sklearn import StrOptions, _fit_context
from lpjt.core.coordinates import fit_scaling, scale_rows
from lpjt.domains import open_domains, open_rows

#: How the rows of each domain are scaled, by itself, before a method sees them; see `core.coordinates.fit_scaling`.
SCALINGS = {"none", "unit", "sum-zscore", "paper", "standard"}

#: What the parameter that all have may be, for scikit-learn's validation.
CONSTRAINTS: dict = {"scaling": [StrOptions(SCALINGS)]}


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Scaled rows of one domain as a method sees them."""

    X: np.ndarray  # (n, width), dense, float32 or float64
    y: np.ndarray  # (n,) codes into the classes, -1 where unlabelled


class Baseline(ClassifierMixin, BaseEstimator):
    """Base of the methods of comparison; subclasses define `_learn` and `_codes_of`, and `_embed` where they embed.

    `_learn(source, target, n_classes)` receives two `Side`s and may set attributes ending in an underscore. It returns
    the codes of all target rows, (n_target,), or None where `_codes_of` applied to the target's rows gives them.
    `_codes_of(X)` labels scaled rows of the target domain, `_embed(X, domain)` embeds scaled rows of either domain.
    """

    _parameter_constraints: dict = CONSTRAINTS

    #: Whether domains may differ in width, and whether some target rows must be labelled.
    _any_widths = False
    _needs_target_labels = False

    scaling: str

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, X_target, y_target=None):
        """Learn from a labelled source and a target.

        Parameters
        ----------
        X : matrix, (n_source, n_features)
        y : labels, (n_source,)
            Any dtype.
        X_target : matrix, (n_target, n_features_target)
        y_target : labels, (n_target,), default=None
            Labels of some target rows; None, NaN, pandas.NA, and -1 where that is no source class, mark the others.

        Returns
        -------
        The estimator.
        """
        domains = open_domains(X, y, X_target, y_target)
        self._check(domains)
        source, target = domains.sources[0], domains.targets[0]
        self._scalings = {d.name: fit_scaling(d.X, self.scaling) for d in (source, target)}
        self._widths = {d.name: d.X.shape[1] for d in (source, target)}
        self._names = {d.name: d.feature_names for d in (source, target)}
        known, wanted = (Side(self._scale(d.X, d.name), d.y) for d in (source, target))
        self.classes_ = domains.classes
        self.n_features_in_ = target.X.shape[1]
        codes = self._learn(known, wanted, len(domains.classes))
        if codes is None:
            codes = self._codes_of(wanted.X)
        self.transduction_ = domains.classes[np.where(target.y >= 0, target.y, codes)]
        return self

    def fit_predict(self, X, y, X_target, y_target=None):
        """Fit, and return the labels of the target rows, `transduction_`."""
        return self.fit(X, y, X_target, y_target).transduction_

    def predict(self, X):
        """Labels, (n,), of rows of the target domain, seen in fit or not."""
        check_is_fitted(self)
        return self.classes_[self._codes_of(self._open(X, "target"))]

    def _learn(self, source: Side, target: Side, n_classes: int) -> np.ndarray | None:
        raise NotImplementedError

    def _codes_of(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _check(self, domains: Any) -> None:
        name = type(self).__name__
        if len(domains.sources) != 1 or len(domains.targets) != 1 or domains.named_sources or domains.named_targets:
            raise ValueError(f"{name} takes one source and one target, not dicts of them. Fit it pair by pair.")
        source, target = domains.sources[0], domains.targets[0]
        if not self._any_widths and source.X.shape[1] != target.X.shape[1]:
            raise ValueError(
                f"{name} needs domains of one width, but the source has {source.X.shape[1]} columns and the target "
                f"{target.X.shape[1]}. Use CDLS, SHFA or LPJT for domains of different widths."
            )
        if self._needs_target_labels and not (target.y >= 0).any():
            raise ValueError(f"{name} learns from labelled target rows, and y_target marks none. Label a few rows.")

    def _open(self, X, domain):
        rows = open_rows(
            X, width=self._widths[domain], feature_names=self._names[domain], estimator=type(self).__name__
        )
        return self._scale(rows, domain)

    def _scale(self, X, domain):
        scaled = scale_rows(X, self._scalings[domain])
        return scaled.toarray() if sparse.issparse(scaled) else scaled


class Embedding(Baseline):
    """A baseline that embeds the rows of both domains in one space."""

    def transform(self, X, domain="target"):
        """Embed rows, seen in fit or not, of the domain "source" or "target": (n, n_components)."""
        check_is_fitted(self)
        if domain not in ("source", "target"):
            raise ValueError(f"domain={domain!r} is not a domain of fit. Give 'source' or 'target'.")
        return self._embed(self._open(X, domain), domain)

    def _embed(self, X: np.ndarray, domain: str) -> np.ndarray:
        raise NotImplementedError
