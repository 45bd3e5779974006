"""The scikit-learn class for tables: preprocessing that is remembered, in front of an estimator."""

import os
from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from lpjt._sklearn import HasMethods, Interval, StrOptions, _fit_context
from lpjt._typing import Values
from lpjt.domains import is_dict
from lpjt.estimator import LPJT
from lpjt.saving import save
from lpjt.tables.encoder import STRATEGIES, TableEncoder
from lpjt.tables.matching import MATCHES
from lpjt.tables.preparing import Prepared, Rules, prepare_tables

if TYPE_CHECKING:
    from pandas import DataFrame


class TableAdapter(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Labels for a table from a labelled table: names, texts, dates and missing cells in front of `LPJT`.

    Columns are matched by name; those that not all tables have are left out. Missing numbers and dates are replaced by
    a statistic of the same domain, texts become a column of 0 and 1 for each level, dates become days since 1970. What
    was learned is remembered, and `predict` does the same with new rows.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Has ``fit(X, y, X_target, y_target)``: `LPJT` (also None), `LPJTSearch`, or one of `lpjt.baselines`. A clone of
        it is fitted.
    match : {"name", "position", "different"}, default="name"
        Which columns belong together. "name": those of the same name, but for case, spaces and hyphens; tables without
        names are matched by position. "position": the first with the first, and so on. "different": none, as the
        tables have different features; the estimator then has matrices of different widths.
    impute : {"median", "mean", "most-frequent"} or None, default="median"
        What replaces a missing number or date; learned from each domain by itself, because the value that is usual in
        one domain need not be in the other. A missing text has none of the levels. With None a missing number or date
        is an error.
    max_levels : int, default=20
        Maximum number of levels of a text column: the most frequent of those that source and target both have. Other
        texts have none of the levels. A column with more levels than this, most of which occur once, is left out.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    columns_ : list of dict
        For each column: name, kind (number, date, category, text, empty), treatment, used (bool), missing (cells by
        domain). ``pandas.DataFrame(adapter.columns_)`` makes a table of it.
    notes_ : list of str
        What was left out, replaced or guessed, in sentences.
    encoders_ : dict of name to TableEncoder
        What the tables of each domain go through; `to_dict` gives all of it as texts and numbers.
    classes_ : array, (n_classes,)
    transduction_, label_distributions_ : arrays, (n_target,) and (n_target, n_classes), or dicts
        Those of the fitted estimator.
    summary_, estimated_accuracy_, estimated_accuracy_interval_ : str, float and pair of float
        How far to trust the labels, as `LPJT` says it; not there with an estimator that does not.
    n_features_in_ : int
        Number of columns of the target's table that are used.
    feature_names_in_ : array, (n_columns,)
        Their names.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from lpjt import LPJT, TableAdapter
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat(["oak", "elm"], 40)
    >>> def measure(shift):
    ...     sizes = np.where(kind == "oak", 20, 8)[:, None] + rng.normal(scale=3, size=(80, 3)) + shift
    ...     soil = np.where(rng.random(80) < 0.5, "clay", "sand")
    ...     return pd.DataFrame(sizes, columns=["height", "crown", "girth"]).assign(soil=soil)
    >>> last_year, this_year = measure(0), measure(3).assign(comment="new")
    >>> this_year.loc[3, "height"] = None
    >>> adapter = TableAdapter(LPJT(random_state=0)).fit(last_year, kind, this_year)
    >>> bool((adapter.transduction_ == kind).mean() > 0.9)
    True
    >>> [column["name"] for column in adapter.columns_ if column["used"]]
    ['height', 'crown', 'girth', 'soil']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "match": [StrOptions(set(MATCHES))],
        "impute": [StrOptions(set(STRATEGIES)), None],
        "max_levels": [Interval(Integral, 1, None, closed="left")],
    }

    estimator_: Any
    columns_: list[dict[str, Any]]
    notes_: list[str]
    encoders_: dict[str, TableEncoder]
    classes_: Values
    transduction_: Any
    label_distributions_: Any
    n_features_in_: int
    feature_names_in_: Values

    def __init__(
        self, estimator: Any = None, *, match: str = "name", impute: str | None = "median", max_levels: int = 20
    ) -> None:
        self.estimator = estimator
        self.match = match
        self.impute = impute
        self.max_levels = max_levels

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        X_target: Any,
        y_target: Any = None,
        *,
        sample_weight: Any = None,
        prepared: Prepared | None = None,
    ) -> "TableAdapter":
        """Learn how the tables become numbers, and fit the estimator on these.

        Parameters
        ----------
        X : frame, (n_source, n_columns), or dict of name to frame
            Rows of the source or of several: pandas, polars or pyarrow, or an array, whose columns have no names.
        y : labels, (n_source,), or dict of name to labels
            As for `LPJT.fit`.
        X_target : frame, (n_target, n_columns), or dict of name to frame
        y_target : labels, (n_target,), or dict, default=None
            Labels of some target rows, as for `LPJT.fit`.
        sample_weight : array, (n_source,), or dict, default=None
            Weights of the source rows, given to the estimator if it takes them.
        prepared : Prepared, default=None
            What `prepare` returned for these tables, which saves its time.

        Returns
        -------
        TableAdapter
        """
        sources, targets = _by_domain(X, "source"), _by_domain(X_target, "target")
        if prepared is None:
            prepared = self._prepare(sources, targets)
        encoded = {name: self._encode(prepared.encoders[name], table) for name, table in {**sources, **targets}.items()}
        given = [{name: encoded[name] for name in side} for side in (sources, targets)]
        rows, rows_target = (
            side if is_dict(table) else next(iter(side.values()))
            for side, table in zip(given, (X, X_target), strict=True)
        )
        estimator = clone(LPJT() if self.estimator is None else self.estimator)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if weights and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(f"{type(estimator).__name__} takes no sample_weight. Leave the weights of rows out.")
        self.estimator_ = estimator.fit(rows, y, rows_target, y_target, **weights)
        self._keep(prepared, list(sources), list(targets))
        return self

    def prepare(self, X: Any, X_target: Any) -> Prepared:
        """What `fit` would do with the columns, without a fit: `columns`, `notes` and `encoders`."""
        self._validate_params()
        return self._prepare(_by_domain(X, "source"), _by_domain(X_target, "target"))

    def predict(self, X: Any, domain: str = "target") -> Any:
        """Labels, (n,), of the rows of a table of a domain."""
        return self.estimator_.predict(self.encode(X, domain), domain)

    def predict_proba(self, X: Any, domain: str = "target") -> Any:
        """Class distributions, (n, n_classes), of the rows of a table of a domain."""
        return self.estimator_.predict_proba(self.encode(X, domain), domain)

    def transform(self, X: Any, domain: str = "target") -> Any:
        """Rows of a table of a domain in the shared space, (n, n_components)."""
        return self.estimator_.transform(self.encode(X, domain), domain)

    @property
    def summary_(self) -> str:
        """What the labels rest on and how far to trust them; as `LPJT.summary_`."""
        return self._fitted.summary_

    @property
    def estimated_accuracy_(self) -> float:
        """Estimated accuracy of the labels; as `LPJT.estimated_accuracy_`."""
        return self._fitted.estimated_accuracy_

    @property
    def estimated_accuracy_interval_(self) -> tuple[float, float]:
        """Interval of the estimated accuracy; as `LPJT.estimated_accuracy_interval_`."""
        return self._fitted.estimated_accuracy_interval_

    @property
    def _fitted(self) -> Any:
        """The estimator that has the results: that of the best setting if the estimator is a search."""
        return getattr(self.estimator_, "best_estimator_", self.estimator_)

    def rows_to_label(self, n: int = 20) -> Any:
        """Positions of the rows of the target's table whose labels would tell most; as `LPJT.rows_to_label`."""
        check_is_fitted(self, "encoders_")
        fitted = self._fitted
        if not hasattr(fitted, "rows_to_label"):
            raise ValueError(f"{type(fitted).__name__} does not say which rows to label. Use LPJT as the estimator.")
        return fitted.rows_to_label(n)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted adapter and the model in it to one file; as `LPJT.save`."""
        check_is_fitted(self, "encoders_")
        save(self, path, overwrite=overwrite)

    def report(
        self, path: str | os.PathLike[str] | None = None, *, X: Any = None, X_target: Any = None, **parts: Any
    ) -> str:
        """One page of HTML about the fit, as `LPJT.report`; X and X_target are the tables of `fit`."""
        check_is_fitted(self, "encoders_")
        return self._fitted.report(
            path, X=self._encode_side(X, "source"), X_target=self._encode_side(X_target, "target"), **parts
        )

    def _encode_side(self, X: Any, side: str) -> Any:
        if is_dict(X):
            return {name: self.encode(table, str(name)) for name, table in X.items()}
        return None if X is None else self.encode(X, side)

    def encode(self, X: Any, domain: str = "target") -> Any:
        """Rows of a table as the numbers that the estimator has, (n, n_features).

        A frame with the names of the features, or an array if the domains have different features.
        """
        check_is_fitted(self, "encoders_")
        return self._encode(self._encoder(domain), to_pandas(X))

    def _prepare(self, sources: Mapping[str, "DataFrame"], targets: Mapping[str, "DataFrame"]) -> Prepared:
        shared = sorted(set(sources) & set(targets))
        if shared:
            raise ValueError(f"{shared[0]!r} is the name of a source and of a target. Names must differ.")
        rules = Rules(frozenset(sources), self.match, self.impute, self.max_levels)
        return prepare_tables({**sources, **targets}, rules)

    def _encode(self, encoder: TableEncoder, table: "DataFrame") -> Any:
        matrix = encoder.transform(table)
        if self.match == "different":
            return matrix
        import pandas

        return pandas.DataFrame(matrix, columns=encoder.feature_names, copy=False)

    def _encoder(self, domain: str) -> TableEncoder:
        if domain in self.encoders_:
            return self.encoders_[domain]
        side = {"source": self._source_names, "target": self._target_names}.get(domain, [])
        if len(side) == 1:
            return self.encoders_[side[0]]
        known = ", ".join(map(repr, self.encoders_))
        raise ValueError(f"domain={domain!r} is not one of the domains of fit. Give one of {known}.")

    def _keep(self, prepared: Prepared, sources: list[str], targets: list[str]) -> None:
        """Set the fitted attributes, all of them at the end of a fit."""
        self._source_names, self._target_names = sources, targets
        self.encoders_, self.columns_, self.notes_ = prepared.encoders, prepared.columns, prepared.notes
        fitted = self._fitted
        self.classes_ = fitted.classes_
        self.transduction_ = fitted.transduction_
        self.label_distributions_ = getattr(fitted, "label_distributions_", None)
        names = [code.name for code in self.encoders_[targets[0]].columns]
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)


def _by_domain(X: Any, side: str) -> dict[str, "DataFrame"]:
    """Tables by the name of their domain, which is that of the side if there is one."""
    if not is_dict(X):
        return {side: to_pandas(X)}
    if not len(X):
        raise ValueError(f"There is no {side}: the dict is empty. Give at least one table.")
    return {str(name): to_pandas(table) for name, table in X.items()}


def to_pandas(X: Any) -> "DataFrame":
    """A table as a pandas frame; columns of an array are numbered."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("`pandas` is needed for tables. Install it with `pip install 'lpjt[cli]'`.") from error
    if isinstance(X, pandas.DataFrame):
        return X
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    if np.ndim(X) != 2:
        raise ValueError(f"A table has rows and columns, got {np.ndim(X)} dimensions. Give a frame or a 2-D array.")
    return pandas.DataFrame(np.asarray(X))
