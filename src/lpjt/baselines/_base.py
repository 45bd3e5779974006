"""What all baselines share: input validation, scaling, labels in the caller's dtype, prediction for new rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lpjt._products import sound_products
from lpjt._sklearn import Interval, StrOptions, _fit_context
from lpjt.baselines._types import Codes, Constraints, Floats, Labels, MatrixLike, SourceLabelsLike, SourcesLike
from lpjt.core.scaling import Scaling, fit_scaling, scale_rows
from lpjt.domains import Domain, Domains, is_dict, open_domains, open_rows

#: How the rows of each domain are scaled, separately, before a method sees them; see `core.scaling.fit_scaling`.
SCALINGS = {"none", "unit", "sum-zscore", "paper", "standard"}

#: Ranges that recur among the parameters.
POSITIVE_INTEGER = [Interval(Integral, 1, None, closed="left")]
POSITIVE = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]

#: Constraints of the parameter that every baseline has.
CONSTRAINTS: Constraints = {"scaling": [StrOptions(SCALINGS)]}

#: "source", "target", or the caller's name of one of several sources.
DomainName: TypeAlias = str


@dataclass(frozen=True, slots=True, eq=False)
class ScaledDomain:
    """Rows of one domain as a method sees them."""

    X: Floats  # (n, width), dense, scaled
    y: Codes  # (n,) codes into the classes, -1 where unlabelled


class Baseline(ClassifierMixin, BaseEstimator):
    """Base class of the baselines; subclasses define `_learn` and `_codes_of`, and `_embed` where they embed rows.

    `_learn(source, target, n_classes)` receives two `ScaledDomain`s and may set attributes ending in an underscore. It
    returns the codes of all target rows, (n_target,), or None where `_codes_of` applied to the target rows gives them.
    `_codes_of(X)` labels scaled rows of the target domain; `_embed(X, domain)` embeds scaled rows of either domain.
    A method for several sources sets `_several_sources` and defines `_learn_sources` instead of `_learn`.
    """

    _parameter_constraints: ClassVar[Constraints] = CONSTRAINTS

    #: Whether the domains may differ in width, whether some target rows must be labelled, and whether `fit` takes a
    #: dict of several sources.
    _any_widths: ClassVar[bool] = False
    _needs_target_labels: ClassVar[bool] = False
    _several_sources: ClassVar[bool] = False

    scaling: str
    classes_: Labels
    transduction_: Labels | None
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    _scalings: dict[str, Scaling]
    _widths: dict[str, int]
    _feature_names: dict[str, npt.NDArray[np.object_] | None]

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: SourcesLike,
        y: SourceLabelsLike,
        X_target: MatrixLike | None = None,
        y_target: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from a labelled source and a target.

        Parameters
        ----------
        X : matrix, (n_source, n_features), or dict of name to matrix
            A dict, of one or several sources, where the method takes several; the others refuse it.
        y : labels, (n_source,), or dict of name to labels
            Any dtype.
        X_target : matrix, (n_target, n_features_target), default=None
            Without a target, the labelled source takes its place: there is no shift to adapt to, and the method is
            fitted as any classifier is.
        y_target : labels, (n_target,), default=None
            Labels of some target rows. None, NaN, pandas.NA, and -1 unless it is a source class, mark the other rows.

        Returns
        -------
        The estimator.
        """
        domains = open_domains(X, y, X_target, y_target)
        self._check_form(domains)
        sources = domains.sources
        target = domains.targets[0] if domains.targets else replace(sources[0], name="target")
        for source in sources:
            self._check(source, target)
        self._keep_layout([*sources, target])
        *scaled, scaled_target = (ScaledDomain(self._scale(d.X, d.name), d.y) for d in (*sources, target))
        self.classes_ = domains.classes
        with sound_products():
            codes = self._learn_sources(scaled, scaled_target, len(domains.classes))
            if codes is None:
                codes = self._codes_of(scaled_target.X)
        self.transduction_ = None
        if domains.targets:
            self.transduction_ = domains.classes[np.where(target.y >= 0, target.y, codes)]
        return self

    def fit_predict(
        self,
        X: SourcesLike,
        y: SourceLabelsLike,
        X_target: MatrixLike | None = None,
        y_target: npt.ArrayLike | None = None,
    ) -> Labels:
        """Fit, and return the labels of the target rows, `transduction_`; without a target, those of the source."""
        labels = self.fit(X, y, X_target, y_target).transduction_
        return self.predict(cast(MatrixLike, X)) if labels is None else labels  # a dict without a target is refused

    def predict(self, X: MatrixLike) -> Labels:
        """Labels, (n,), of rows of the target domain, whether they were in fit or not."""
        check_is_fitted(self)
        rows = self._open(X, "target")
        with sound_products():
            return self.classes_[self._codes_of(rows)]

    def _learn_sources(self, sources: Sequence[ScaledDomain], target: ScaledDomain, n_classes: int) -> Codes | None:
        """As `_learn`, from every source; there is one unless `_several_sources`."""
        return self._learn(sources[0], target, n_classes)

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> Codes | None:
        raise NotImplementedError

    def _codes_of(self, X: Floats) -> Codes:
        raise NotImplementedError

    def _check_form(self, domains: Domains) -> None:
        """Refuse dicts of domains that the method does not take."""
        name = type(self).__name__
        if domains.named_sources and not self._several_sources:
            raise ValueError(f"{name} takes one source and one target, not dicts of domains. Fit each pair separately.")
        if domains.named_targets:
            raise ValueError(f"{name} takes one target, not a dict of targets. Fit each target separately.")
        if domains.named_sources and not domains.targets:
            raise ValueError(f"{name} was given a dict of sources without a target. Give X_target too.")

    def _check(self, source: Domain, target: Domain) -> None:
        name = type(self).__name__
        if not self._any_widths and source.X.shape[1] != target.X.shape[1]:
            which = "the source" if source.name == "source" else f"the source {source.name!r}"
            raise ValueError(
                f"{name} needs domains of one width, but {which} has {source.X.shape[1]} columns and the target "
                f"{target.X.shape[1]}. Use CDLS, SHFA or LPJT for domains of different widths."
            )
        if self._needs_target_labels and not (target.y >= 0).any():
            raise ValueError(f"{name} learns from labelled target rows, but y_target labels none. Label a few rows.")

    def _keep_layout(self, domains: Sequence[Domain]) -> None:
        """Remember how each domain, the target last, is scaled and what its rows look like."""
        self._scalings = {d.name: fit_scaling(d.X, self.scaling, d.factor) for d in domains}
        self._widths = {d.name: d.X.shape[1] for d in domains}
        self._feature_names = {d.name: d.feature_names for d in domains}
        target = domains[-1]
        self.n_features_in_ = target.X.shape[1]
        if target.feature_names is not None:
            self.feature_names_in_ = target.feature_names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _open(self, X: MatrixLike, domain: DomainName) -> Floats:
        rows = open_rows(
            X,
            width=self._widths[domain],
            feature_names=self._feature_names[domain],
            estimator=type(self).__name__,
            factor=self._scalings[domain].factor,
        )
        return self._scale(rows, domain)

    def _scale(self, X: Any, domain: str) -> Floats:
        return scale_rows(X, self._scalings[domain])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class Embedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Baseline):
    """A baseline that embeds the rows of all domains in one space."""

    def transform(self, X: MatrixLike, domain: DomainName = "target") -> Floats:
        """Embed rows of a domain, (n, n_components), whether they were in fit or not.

        `domain` is "target", "source" or, after a fit to a dict of sources, the name of one of them. After a fit
        without a target both names mean the one domain there is.
        """
        check_is_fitted(self)
        if domain not in self._widths:
            *others, last = map(repr, self._widths)
            wanted = f"{', '.join(others)} or {last}"
            raise ValueError(f"domain={domain!r} is not a domain of fit. Give {wanted}.")
        if self.transduction_ is None:
            domain = "target"
        rows = self._open(X, domain)
        with sound_products():
            return self._embed(rows, domain)

    def fit_transform(
        self,
        X: SourcesLike,
        y: SourceLabelsLike,
        X_target: MatrixLike | None = None,
        y_target: npt.ArrayLike | None = None,
    ) -> Floats | dict[str, Floats]:
        """Fit, and embed the rows of the source, (n_source, n_components); those of each source of a dict by name."""
        self.fit(X, y, X_target, y_target)
        if is_dict(X):
            return {name: self.transform(rows, domain=name) for name, rows in X.items()}
        return self.transform(cast(MatrixLike, X), domain="source")

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        raise NotImplementedError

    @property
    def _n_features_out(self) -> int:
        return self._embed(np.zeros((1, self.n_features_in_)), "target").shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
