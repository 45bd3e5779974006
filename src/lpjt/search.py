"""A search among settings of `LPJT` that needs no target labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lpjt._search_grid import print_lines, read_grid, tabulate, warn_of_failures
from lpjt._sklearn import Interval, _fit_context
from lpjt._threads import threads
from lpjt._typing import Values
from lpjt.domains import Domains
from lpjt.engines import choose_engine
from lpjt.estimator import LPJT
from lpjt.fitting import Plan
from lpjt.fitting.compare import Compared, compare_plans
from lpjt.fitting.samples import FIRST_ROWS, bound_rows
from lpjt.fitting.sampling import draw_sample
from lpjt.fitting.whole import gather_rows


class LPJTSearch(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Search for good parameters of `LPJT` without target labels.

    Every setting of the grid labels the same sample of the target by a few iterations. All labellings are weighed
    against each other, and against unadapted classifiers, by evidence that needs no target label: whether neighbouring
    target rows have the same label, whether source rows agree with the labels of the target rows next to them, how
    well the view joins the domains, and how many of the others agree. The setting with the best score is fitted on all
    rows. Scaled rows, coordinates and neighbours are computed once for all settings that need the same ones.

    Parameters
    ----------
    estimator : LPJT
        Has the values of all parameters that are not in the grid. It is not changed.
    param_grid : dict or list of dicts
        Names of parameters and the values to try, as for scikit-learn's `ParameterGrid`. Parameters of a classifier or
        kernel object have names such as "classifier__n_neighbors".
    refit : bool, default=True
        Whether to fit the best setting on all rows; without it there is no `best_estimator_` to predict with.
    max_rows : int, default=800
        Maximum number of rows per domain that every setting labels, or 10 per class if that is more, up to 4,000.
    max_iter : int, default=5
        Maximum number of iterations of a setting.
    n_jobs : int, default=None
        Threads of the search, -1 for all processors. None uses as many as the numerical libraries are set to.
    verbose : int, default=0
        1 prints a line for each setting.
    random_state : int, RandomState or None, default=None
        Seed of the sample and of everything else that the search draws; the estimator has its own.

    Attributes
    ----------
    best_params_ : dict
    best_index_ : int
    best_score_ : float
    best_estimator_ : LPJT
        The best setting, fitted on all rows; only with ``refit=True``.
    cv_results_ : dict of arrays, one entry per setting
        "params", "param_<name>" (masked arrays), "score", its parts "separation", "reverse", "agreement", "kinship" and
        "clarity", "weight" in the consensus of all candidates, "rank" (1 is best) and "seconds", without the work that
        settings share. A setting that failed has NaN.
    classes_ : array, (n_classes,)
    n_features_in_ : int
        Width of the target.
    feature_names_in_ : array, (width,)
        Set only if the target has column names.

    Notes
    -----
    What a setting leaves open ("auto" for `scaling`, `kernel` and `target_proportions`) is settled once, by the
    candidates of `estimator`. Scores are comparable within one search alone. `refine`, `safeguard`, `sample_size` and
    `memory_limit` do not act on the sample: settings that differ in nothing else have equal scores.

    Examples
    --------
    >>> import numpy as np
    >>> from lpjt import LPJT, LPJTSearch
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 30)
    >>> X_source = rng.normal(size=(90, 5)) + 4 * np.eye(3, 5)[y]
    >>> X_target = 1.5 * rng.normal(size=(90, 5)) + 6 * np.eye(3, 5)[y] + 3
    >>> search = LPJTSearch(LPJT(random_state=0), {"n_components": [1, 3]}, random_state=0)
    >>> search.fit(X_source, y, X_target).best_params_
    {'n_components': 3}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [LPJT],
        "param_grid": [dict, list, tuple],
        "refit": ["boolean"],
        "max_rows": [Interval(Integral, 2, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    best_params_: dict[str, Any]
    best_index_: int
    best_score_: float
    best_estimator_: LPJT
    cv_results_: dict[str, Any]
    classes_: Values
    n_features_in_: int
    feature_names_in_: Values

    def __init__(
        self,
        estimator: LPJT,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        refit: bool = True,
        max_rows: int = 800,
        max_iter: int = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.refit = refit
        self.max_rows = max_rows
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: Any, X_target: Any = None, y_target: Any = None, *, sample_domain: Any = None
    ) -> "LPJTSearch":
        """Compare all settings, and fit the best one on all rows if `refit`.

        Parameters
        ----------
        X : matrix, (n_source, n_features), or dict of name to matrix
            As for `LPJT.fit`, and so are all others.
        y : labels, (n_source,), or dict of name to labels
        X_target : matrix, (n_target, n_features_target), or dict of name to matrix
            Required, unless `sample_domain` marks target rows.
        y_target : labels, (n_target,), or dict, default=None
            Labels of some target rows, which every setting learns from.
        sample_domain : int array, (n,), default=None
            For a stack: 0 and above marks source rows, below 0 target rows.

        Returns
        -------
        LPJTSearch
        """
        self.estimator._validate_params()
        settings, models = read_grid(self.estimator, self.param_grid)
        engine = choose_engine(X, X_target)
        domains = engine.open(X, y, X_target, y_target, sample_domain=sample_domain)
        if not domains.targets:
            raise ValueError(
                "LPJTSearch needs a target: settings are compared by the labels that they give to its rows. Give "
                "X_target, or a sample_domain with negative values."
            )
        with threads(self.n_jobs):
            found = self._compare(models, domains, engine)
        warn_of_failures(settings, found)
        results = tabulate(settings, found)
        best = int(np.nanargmax(results["score"]))
        if self.verbose:
            print_lines(results, best)
        model = models[best].fit(X, y, X_target, y_target, sample_domain=sample_domain) if self.refit else None
        self._keep(results, best, model, domains)
        return self

    def predict(self, X: Any, domain: str = "target") -> Any:
        """Labels, (n,), of rows of a domain by the best estimator."""
        return self._best("predict").predict(X, domain)

    def predict_proba(self, X: Any, domain: str = "target") -> Any:
        """Class distributions, (n, n_classes), of rows of a domain by the best estimator."""
        return self._best("predict_proba").predict_proba(X, domain)

    def transform(self, X: Any, domain: str = "target") -> Any:
        """Rows of a domain in the shared space of the best estimator, (n, n_components)."""
        return self._best("transform").transform(X, domain)

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, domain: str = "target", *, sample_domain: Any = None
    ) -> float:
        """Accuracy of the best estimator on the labelled rows among those given; see `LPJT.score`."""
        return self._best("score").score(X, y, sample_weight, domain, sample_domain=sample_domain)

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores: by value if one or two parameters vary, else by setting. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.

        Returns
        -------
        matplotlib Axes
        """
        check_is_fitted(self, "best_index_")
        from lpjt._search_plot import draw_scores

        return draw_scores(self.cv_results_, self.best_index_, ax)

    def _compare(self, models: Sequence[LPJT], domains: Domains, engine: Any) -> list[Compared]:
        """Evidence for each model's parameters, on a sample of the rows."""
        random_state = check_random_state(self.random_state)
        labels = [engine.labels(d.y) for d in domains.all]
        n_rows = bound_rows((self.max_rows, *FIRST_ROWS[1:]), len(domains.classes))
        few = gather_rows(domains, [draw_sample(y, n_rows, random_state) for y in labels], labels, engine)
        opened = clone(self.estimator).set_params(scaling="auto", candidates="auto", kernel="linear")
        return compare_plans(
            few,
            replace(self.estimator._plan(domains), random_state=random_state),
            [_plan_or_error(model, domains) for model in models],
            views=opened._plan(domains).views,
            max_iter=self.max_iter,
        )

    def _keep(self, results: dict[str, Any], best: int, model: LPJT | None, domains: Domains) -> None:
        """Set the fitted attributes, all of them at the end, so that a failed fit changes none."""
        target = domains.targets[0]
        self.cv_results_ = results
        self.best_index_ = best
        self.best_params_ = results["params"][best]
        self.best_score_ = float(results["score"][best])
        self.classes_ = domains.classes
        self.n_features_in_ = target.X.shape[1]
        optional = {"best_estimator_": model, "feature_names_in_": target.feature_names}
        for name, value in optional.items():
            if value is not None:
                setattr(self, name, value)
            elif hasattr(self, name):
                delattr(self, name)

    def _best(self, method: str) -> LPJT:
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"LPJTSearch(refit=False) has no fitted estimator for `{method}`. Set refit=True, or fit the estimator "
                f"with best_params_, {self.best_params_}."
            )
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _plan_or_error(model: LPJT, domains: Domains) -> Plan | Exception:
    try:
        model._validate_params()
        return model._plan(domains)
    except Exception as error:
        return error
