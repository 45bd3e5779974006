"""What a fitted estimator does with rows: attributes, embeddings, labels of new rows. No mathematics."""

import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from lpjt._products import sound_products
from lpjt._sklearn import CallbackSupportMixin
from lpjt._threads import threads
from lpjt._typing import Array, Codes, Values
from lpjt._warnings import TransferWarning
from lpjt.classifiers import MANY_NEW_ROWS, Predictor
from lpjt.core.blocks import AnyRows
from lpjt.core.coordinates import Coordinates, to_coordinates
from lpjt.domains import Domains, domain_name, has_label, open_rows, read_labels, read_sample_domain, take_columns
from lpjt.engines import is_lazy
from lpjt.fitting import Engine, Outcome
from lpjt.fitting.asking import rows_to_label
from lpjt.fitting.whole import embed_block
from lpjt.likeness import Likeness, likeness_to
from lpjt.report import make_report, summary_html
from lpjt.report.rows import Given
from lpjt.saving import save


class FittedModel(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """The scikit-learn methods of `LPJT` that need a fit, and the attributes that a fit sets."""

    n_jobs: int | None
    classes_: Values
    transduction_: Any
    label_distributions_: Any
    weights_source_: Any
    weights_target_: Any
    projections_: dict[str, Array]
    adapted_: bool
    scaling_: str
    candidates_: list[dict[str, Any]]
    estimated_accuracy_: float | None
    estimated_accuracy_interval_: tuple[float, float] | None
    target_proportions_: Array | None
    absent_classes_: Values
    summary_: str
    history_: list[dict[str, Any]]
    n_iter_: int
    neighbor_recall_: float | None
    sample_: dict[str, Codes | None]
    seconds_: dict[str, float]
    n_features_in_: int
    feature_names_in_: Values
    _predictors: dict[str, Predictor]
    _coordinates: dict[str, Coordinates]
    _likeness: dict[str, Likeness | None]
    _to_ask: dict[str, Codes]

    # As in skada, whose scorers also offer `allow_source`, which has no meaning here.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"sample_domain": True, "allow_source": False}
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = {"sample_domain": True, "allow_source": False}
    __metadata_request__transform: ClassVar[dict[str, bool]] = {"sample_domain": True, "allow_source": False}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_domain": True, "allow_source": False}

    def transform(self, X: Any, domain: str = "target", *, sample_domain: Any = None) -> Any:
        """Embed rows of a domain in the shared space.

        Parameters
        ----------
        X : matrix, (n, width of the domain)
        domain : str, default="target"
            "source", "target", or the name of one of several domains. Not used with `sample_domain`.
        sample_domain : int array, (n,), default=None
            For a stack, as in `fit`: each row is embedded as a row of its own domain.

        Returns
        -------
        array, (n, n_components)
        """
        check_is_fitted(self)
        if sample_domain is not None:
            with sound_products():
                return self._answer_stack(X, sample_domain, self._embed)
        if is_lazy(X):
            return self._apply_lazily("transform", X, domain)
        name = self._domain(domain)
        rows = self._open(X, name)
        with self._threads_for(rows):
            return self._embed(rows, name)

    def predict_proba(self, X: Any, domain: str = "target", *, sample_domain: Any = None) -> Any:
        """Class distributions, (n, n_classes), of rows of a domain, or of the domains of a stack; as `transform`."""
        check_is_fitted(self)
        if sample_domain is not None:
            return self._answer_stack(X, sample_domain, self._distributions)
        if is_lazy(X):
            return self._apply_lazily("predict_proba", X, domain)
        name = self._domain(domain)
        return self._distributions(self._open(X, name), name)

    def predict(self, X: Any, domain: str = "target", *, sample_domain: Any = None) -> Any:
        """Labels, (n,), of rows of a domain, or of the domains of a stack, seen in fit or not; as `transform`."""
        check_is_fitted(self)
        if is_lazy(X) and sample_domain is None:
            return self._apply_lazily("predict", X, domain)
        return self.classes_[self.predict_proba(X, domain, sample_domain=sample_domain).argmax(axis=1)]

    def rows_to_label(self, n: int = 20) -> Any:
        """Target rows of `fit` whose labels would tell most: representative, in doubt, diverse.

        Among them is one for each class that seems absent or is contested, as far as any row could be of it. Label
        them and fit again with `y_target`.

        Parameters
        ----------
        n : int, default=20
            Number of rows, of each target if there are several with names. A fit puts at most 500 in order.

        Returns
        -------
        int array, (at most n,), or dict of name to array
            Positions in the target rows of `fit`, those of `transduction_`, the row of most worth first; fewer if there
            are no more rows without a label.
        """
        check_is_fitted(self)
        return rows_to_label(self._to_ask, n, named=isinstance(self.label_distributions_, dict))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to one file, which `lpjt.load` reads without executing anything; see `lpjt.load`.

        Parameters
        ----------
        path : path
            Name of the file, such as "weather.lpjt".
        overwrite : bool, default=False
            Whether a file of this name is replaced; otherwise it is kept, with an error.

        Notes
        -----
        `callback` is not kept. A model with parts that are not in the list of allowed classes, such as a function as
        kernel, is refused; pickle takes it.
        """
        check_is_fitted(self)
        save(self, path, overwrite=overwrite)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        domain: str = "target",
        *,
        sample_domain: Any = None,
        allow_source: bool = True,
    ) -> float:
        """Accuracy of `predict` on the labelled rows among those given.

        Parameters
        ----------
        X : matrix, (n, width of the domain)
        y : labels, (n,)
            Rows marked as unlabelled, as in `fit` (None, NaN, pandas.NA, and -1 unless that is a class), are left out.
        sample_weight : array, (n,), default=None
            Weights of the rows; those of unlabelled rows are not used.
        domain : str, default="target"
            The domain of the rows, as in `predict`. Not used with `sample_domain`.
        sample_domain : int array, (n,), default=None
            For a stack, as in `fit`: each row is labelled as a row of its own domain.
        allow_source : bool, default=True
            Passed by skada's ImportanceWeightedScorer. Source rows can always be scored, so it changes nothing.

        Returns
        -------
        float
        """
        del allow_source
        check_is_fitted(self)
        found = np.asarray(self.predict(X, domain, sample_domain=sample_domain))
        labels = read_labels(y, len(found), "y")
        scored = has_label(labels, self.classes_)
        if not scored.any():
            raise ValueError(
                "y has no label to score: every row is marked as unlabelled (None, NaN, '' or -1). Give the labels of "
                "some rows; LPJTSearch chooses parameters without target labels."
            )
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight)
            if sample_weight.shape != found.shape:
                raise ValueError(f"sample_weight has shape {sample_weight.shape}, but X has {len(found)} rows.")
            sample_weight = sample_weight[scored]
        return float(accuracy_score(labels.values[scored], found[scored], sample_weight=sample_weight))

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        X: Any = None,
        y: Any = None,
        X_target: Any = None,
        y_target: Any = None,
        y_true: Any = None,
        ids: Any = None,
        columns: Any = None,
        sample_domain: Any = None,
        title: str | None = None,
        command: str | None = None,
        files: Sequence[str | os.PathLike[str]] = (),
        layout: str = "tsne",
        max_rows: int = 5000,
        overwrite: bool = False,
    ) -> str:
        """One page of HTML that tells what the fit did, how far to trust it, and what to do next; needs jinja2.

        The model does not keep rows. Without them, the page has what the fit kept: estimate, classes, confidence,
        candidates, iterations. With the rows of `fit`, it also draws both domains before and after, tells which rows
        and columns shifted, and which rows to label next. The page needs no network and is one file.

        Parameters
        ----------
        path : path, default=None
            File to write, whole or not at all. An existing one is kept, with an error, unless `overwrite`.
        X, y, X_target, y_target, sample_domain
            As they were given to `fit`; each may be left out. Rows of `y_target` are not scored.
        y_true : labels, (n_target,), or dict, default=None
            Labels of target rows that `fit` was not given, for a score and a confusion matrix; missing ones are marked
            as in `y_target`. With `sample_domain`, one per row of the stack.
        ids : array, (n_target,), or dict, default=None
            Names of the target rows. Without them, the index of a frame, or the numbers of the rows from 0. With
            `sample_domain`, one per row of the stack.
        columns : sequence, (width,), or dict by domain, default=None
            Names of the columns, where the rows of `fit` had none.
        title : str, default=None
            Title of the page; the names of the domains by default.
        command : str, default=None
            What repeats the fit; a statement of Python by default.
        files : sequence of paths, default=()
            Files whose checksums the page shows.
        layout : {"tsne", "pca"}, default="tsne"
            How rows are laid out in the drawings. "pca" is faster.
        max_rows : int, default=5000
            Rows that are drawn, all domains together; more are sampled, and the page says so.
        overwrite : bool, default=False
            Whether an existing file is replaced.

        Returns
        -------
        str
            The page.
        """
        given = Given(X, y, X_target, y_target, y_true, ids, sample_domain, columns)
        return make_report(
            self,
            path,
            given=given,
            title=title,
            command=command,
            files=files,
            layout=layout,
            max_rows=max_rows,
            overwrite=overwrite,
        )

    def _html_repr(self) -> str:
        """scikit-learn's diagram, below what a fitted model says first."""
        diagram: str = estimator_html_repr(self)
        return summary_html(self) + diagram if hasattr(self, "summary_") else diagram

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """As scikit-learn's, which takes the bare diagram in 1.6."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return {**shown, "text/html": self._html_repr()} if "text/html" in shown else shown

    @property
    def _n_features_out(self) -> int:
        return next(iter(self.projections_.values())).shape[1]

    def _apply_lazily(self, method: str, X: Any, domain: str) -> Any:
        from lpjt.engines.dask.results import apply_lazily

        columns, dtype = {
            "transform": (self._n_features_out, None),
            "predict_proba": (len(self.classes_), np.dtype(np.float64)),
            "predict": (None, self.classes_.dtype),
        }[method]
        width = self._widths[self._domain(domain)]
        return apply_lazily(self, method, X, domain, width=width, columns=columns, dtype=dtype)

    def _answer_stack(self, X: Any, sample_domain: Any, answer: Callable[[AnyRows, str], Array]) -> Array:
        """``answer(rows, name)`` for the rows of a stack, each as a row of its own domain, in the caller's order."""
        if is_lazy(X):
            raise ValueError("`sample_domain` cannot be given with Dask arrays. Give the rows of one `domain`.")
        values = read_sample_domain(sample_domain, X.shape[0] if hasattr(X, "shape") else len(X))
        parts: list[Array] = []
        order: list[Codes] = []
        for value in np.unique(values).tolist():
            side = self._source_names if value >= 0 else self._target_names
            name = side[0] if len(side) == 1 else self._domain(domain_name(value))
            order.append(np.flatnonzero(values == value))
            parts.append(answer(self._open(X, name)[order[-1]], name))
        return np.concatenate(parts)[np.argsort(np.concatenate(order))]

    def _distributions(self, rows: AnyRows, name: str) -> Array:
        with self._threads_for(rows):
            Z = to_coordinates(rows, self._coordinates[name])
            self._warn_of_strangers(rows, Z, name)
            return self._predictors[name].distributions_of(Z)

    def _warn_of_strangers(self, rows: AnyRows, Z: Array, name: str) -> None:
        """Warn if new rows, which are `Z` in coordinates, do not look like those of the domain in fit."""
        known = self._likeness.get(name)
        names, columns = self._feature_names[name], self._columns[name]
        names = names if names is None or columns is None else names[columns]
        complaint = None if known is None else known.complaint_about(rows, Z, names)
        if complaint:
            warnings.warn(
                f"These rows do not look like those of {name!r} in fit: {complaint}. Their labels may be wrong. Check "
                "that columns and units are the same, or fit again with these rows as the target.",
                TransferWarning,
                stacklevel=4,
            )

    def _embed(self, rows: AnyRows, name: str) -> Array:
        return embed_block(rows, map_to=self._coordinates[name], projection=self.projections_[name])

    def _threads_for(self, rows: AnyRows) -> AbstractContextManager[None]:
        # Starting threads costs more than the work on few rows.
        return threads(self.n_jobs) if rows.shape[0] > MANY_NEW_ROWS else sound_products()

    def _open(self, X: Any, name: str) -> AnyRows:
        factor = self._coordinates[name].scaling.factor
        rows = open_rows(X, width=self._widths[name], feature_names=self._feature_names[name], factor=factor)
        columns = self._columns[name]
        return rows if columns is None else take_columns(rows, columns)

    def _domain(self, domain: str) -> str:
        """Name of a domain: its own, or "source" or "target" if there is only one."""
        if domain in self.projections_:
            return domain
        side = {"source": self._source_names, "target": self._target_names}.get(domain, [])
        if len(side) == 1 or (side and not self._named):
            return side[0]
        known = ", ".join(map(repr, self.projections_))
        raise ValueError(f"domain={domain!r} is not one of the domains of fit. Give one of {known}.")

    def _keep(self, outcome: Outcome, domains: Domains, engine: Engine) -> None:
        """Set the fitted attributes, all of them at the end of a fit, so that a failed fit changes none."""
        names = [d.name for d in domains.all]
        n = len(domains.sources)
        self._source_names = names[:n]
        self._target_names = names[n:] or names[:n]
        self._named = domains.named_sources or domains.named_targets
        self._widths = {d.name: d.X.shape[1] for d in domains.all}
        self._feature_names = {d.name: d.feature_names for d in domains.all}
        self._columns = {d.name: d.columns for d in domains.all}
        self._coordinates = dict(zip(names, outcome.coordinates, strict=True))
        self._predictors = dict(zip(names, outcome.predictors, strict=True))
        known = domains.targets or domains.sources
        self._likeness = {d.name: None if is_lazy(d.X) else likeness_to(d.X, self._coordinates[d.name]) for d in known}
        self._to_ask = dict(zip(names[n:], outcome.asking, strict=True))
        self.classes_ = domains.classes
        self.projections_ = dict(zip(names, outcome.projections, strict=True))
        self.label_distributions_ = domains.join_targets(list(outcome.distributions))
        pairs = zip(domains.targets, outcome.distributions, strict=True)
        self.transduction_ = domains.join_targets([engine.decode(d.y, F, domains.classes) for d, F in pairs])
        self.weights_source_ = domains.join_sources(list(outcome.weights[:n]))
        self.weights_target_ = domains.join_targets(list(outcome.weights[n:]))
        self.adapted_ = outcome.adapted
        self.scaling_ = outcome.scaling
        self.candidates_ = [] if outcome.trial is None else outcome.trial.table()
        trust, verdict = outcome.trust, outcome.verdict
        self.estimated_accuracy_ = None if trust is None else trust.accuracy
        self.estimated_accuracy_interval_ = None if trust is None else (trust.low, trust.high)
        self.target_proportions_ = None if verdict is None else verdict.proportions
        self.absent_classes_ = domains.classes[:0] if verdict is None else domains.classes[verdict.absent]
        self.summary_ = "There was no target to label." if verdict is None else verdict.summary
        self.history_ = outcome.history
        self.n_iter_ = max(outcome.n_iter, 1)
        self.neighbor_recall_ = outcome.neighbor_recall
        self.sample_ = dict(zip(names, outcome.sample, strict=True))
        self.seconds_ = outcome.seconds
        first = self._target_names[0]
        self.n_features_in_ = self._widths[first]
        if self._feature_names[first] is not None:
            self.feature_names_in_ = np.asarray(self._feature_names[first])
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __getstate__(self) -> Any:
        if any(is_lazy(part) for value in self.__dict__.values() for part in _parts(value)):
            from lpjt.engines.dask.results import refuse_to_pickle

            refuse_to_pickle(self.__dict__)
        return super().__getstate__()


def _parts(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else (value,)
