"""The scikit-learn class: parameters, the door, attributes. No mathematics."""

import warnings
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lpjt._products import sound_products
from lpjt._sklearn import TO_CALLER, _fit_context, begin_fit, end_fit, tell_iteration, with_callbacks
from lpjt._threads import threads
from lpjt._warnings import TransferWarning
from lpjt.domains import Domains
from lpjt.engines import choose_engine
from lpjt.fitted import FittedModel
from lpjt.fitting import Outcome, Plan, fit_domains
from lpjt.kernels import Kernel
from lpjt.parameters import AUTHORS_DEPARTURES, CONSTRAINTS, authors_parameters, make_plan, paper_parameters

#: Parts of the evidence in a record of `candidates_`, in the order in which they are shown.
EVIDENCE = ("separation", "reverse", "kinship", "clarity", "agreement", "score", "weight")


class LPJT(FittedModel):
    r"""Locality Preserving Joint Transfer: labels for a target domain from a labelled source domain.

    Learns one projection per domain into a shared space by the generalised eigenproblem of Eq. (21) [1]_, in which the
    domains' marginal and conditional distributions agree (Eqs. 8-9), rows keep to their class and away from others
    (Eqs. 14-15) and the target keeps its variance (Eq. 17); labels the target there by label propagation; and repeats,
    with the new labels and, if asked for, weights for the rows that bridge the domains best (Eq. 23). Domains may have
    different widths. No n x n matrix is formed.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimensions of the shared space, d. "auto" is 40, half of the columns of the narrowest domain if that is less,
        at least 20, and at least the number of classes; without candidates, 20 or twice the number of classes.
    locality_weight : float, default=0.0005
        Weight of the class graphs, :math:`\gamma`.
    variance_weight : float, default=0.1
        Weight of the target's variance and of :math:`\|B\|^2`, :math:`\mu`.
    coupling_weight : float or "auto", default="auto"
        Weight of :math:`\|A - B\|^2`, :math:`\lambda`. "auto" is 1 if all widths are equal and 0 otherwise.
    landmark_ratio : float or None, default=None
        Mean weight of the rows of each class, :math:`\delta`, when rows are weighted by the quadratic program of
        Eq. (23). None gives every row the weight 1: on the data sets of docs/results.md weights cost accuracy.
    n_neighbors : int, default=5
        Neighbours per row in the within-class graph and in the between-class graph.
    graph_weights : {"heat", "binary"} or float, default="heat"
        Weights of the edges of both graphs. "heat" takes its squared bandwidth from the data, the mean squared length
        of the edges, which suits any scale; a number is the bandwidth itself (1 in the paper). "binary" is 0 or 1.
    kernel : str, callable or Kernel, default="auto"
        "linear", "rbf", "poly", "cosine", "laplacian", "chi2", "sigmoid", a callable of two rows, or an `lpjt.Kernel`
        with parameters: the kernel version of the paper's appendix. "auto" chooses between "linear" and "rbf" (500
        kernel rows) if `candidates` allows a choice, and is "linear" otherwise.
    classifier : str or object, default="propagation"
        How rows are labelled in the shared space: `lpjt.Propagation`, `lpjt.NuSVM`, any scikit-learn classifier, or a
        short form. "propagation" is ``Propagation()``, "harmonic" the paper's ``Propagation(anchored=False)``, "nn"
        the nearest neighbour, "svm" ``NuSVM()``.
    scaling : {"auto", "standard", "source", "joint", "unit", "none", "paper", ...} or None, default="auto"
        The view: how columns are scaled. "standard", "source" and "joint" are z-scores, clipped at three deviations,
        then rows of unit length; by each domain's own statistics, by those of the sources for all, or by those of all
        domains together. "unit": rows of unit length. "paper": rows of sum 1 if nothing is negative, z-scores, rows of
        unit length. "none" or None leaves the rows unchanged. "auto" tries all but "paper" if `candidates` allows a
        choice; otherwise it takes the better of "standard" and "unit". "standard-length", "source-length" and
        "joint-length" keep the lengths of the rows, in the embedding too, and "auto" takes these instead if unit length
        loses classes of the labelled rows, as in some tables of few columns.
    target_proportions : {"auto", "source", "free"}, array, (n_classes,), or dict by class, default="auto"
        Class proportions towards which the propagation's class masses are normalised: the source's, none, or those
        given. "auto" tries "source" and "free" and then uses those of the candidates' consensus, as far as they differ
        from the source's by more than its errors would explain; without a choice it is "source".
    candidates : "auto" or None, default="auto"
        Whether to try candidates for what `scaling`, `target_proportions` and `kernel` leave open, on a sample of at
        most 800 rows per domain (10 per class if that is more), the best of them on 1,500 (22 per class), and to weigh
        them by evidence that needs no target label; see `lpjt.selection`. None, or naming both a scaling and target
        proportions, turns the choice off.
    refine : bool, default=True
        Whether the labels of the last iteration are averaged with those of a kernel ridge regression on the coordinates
        of the rows, which learns from the source, from these labels and from the consensus of the candidates. Only
        with label propagation.
    start : {"auto", "spectral", "gromov", "pca-nn"}, default="auto"
        First labels of the target. If the widths differ and no target row is labelled, "auto" and "spectral" match
        clusters to classes, and "gromov" matches rows by Gromov-Wasserstein (needs POT). "pca-nn" is the start of the
        authors' program.
    max_iter : int, default=10
        Maximum number of iterations of Algorithm 1 (T in the paper). Those of the candidate that is fitted on all rows,
        up to five, count; but half of `max_iter` is left for all rows, so that below 9 there may be more in all.
    tol : float, default=1e-3
        Iterations end when at most this share of the target's labels changes and the weights are steady.
    safeguard : bool, default=True
        Whether to return the iteration with the best evidence if later ones got worse, and, if no candidates are
        tried, to test for a shift first and not to adapt if there is none. Neither uses a target label.
    n_coordinates : int, "auto" or None, default="auto"
        Number of principal directions of the rows in which the projections are sought. None keeps all that the rows
        span. "auto" keeps those that hold 99.9 % of the mean square, at least four times the components, and at most
        512 (or four times the components) in domains of more than 20,000 rows and with a kernel. Sparse domains of
        more than 2**26 entries, zeros included, have at most 256 (or four times the components). Where candidates were
        tried on all rows, it keeps as many as these had, 100 or `n_components` if that is more.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        Search of nearest rows. "approximate" (needs faiss) takes time in proportion to the rows, and finds at least
        95 % of the neighbours in the tests. "auto" is exact up to 10,000 rows per domain. Either way a row far from
        more than 4,096 rows of other classes is compared with 2,048 of them.
    sample_size : int, "auto" or None, default="auto"
        Maximum number of rows per domain that Algorithm 1 learns from. Larger domains are represented by a sample
        stratified by class; then all rows are embedded and labelled over the graph of all of them. "auto" is 10,000,
        or 30 per class if that is more; None iterates on every row.
    memory_limit : str or int, default=None
        Memory that a fit may use beyond its input, e.g. "4GB" or a number of bytes. Rows are read in blocks that suit
        it, and coordinates are kept in a temporary file if they do not fit.
    n_jobs : int, default=None
        Threads of a fit, -1 for all processors. None uses as many as the numerical libraries are set to.
    callback : callable, default=None
        Called after each iteration with its record, a dict as in `history_`.
    verbose : int, default=0
        1 prints a line for each iteration and for each candidate.
    random_state : int, RandomState or None, default=None
        Seed of everything that is drawn: the sample, kernel rows, clusters, folds.

    Attributes
    ----------
    classes_ : array, (n_classes,)
    transduction_ : array, (n_target,), or dict
        Labels of the target rows given to `fit`, in the caller's order and dtype; given labels are kept.
    label_distributions_ : array, (n_target, n_classes), or dict
        Calibrated if candidates were tried: the mean confidence is the estimated accuracy.
    adapted_ : bool
        False if the labels come from the source without adaptation.
    candidates_ : list of dict
        The candidates of the last round, the best first: candidate, view, masses, kernel, each part of the evidence
        (separation, reverse, kinship, clarity, agreement; found, the share of given target labels that it finds while
        they are hidden from it, or None), score, weight in the consensus, and which one was chosen for the whole fit.
        Empty without a choice. ``pandas.DataFrame(model.candidates_)`` makes a table of it.
    estimated_accuracy_ : float or None
        Estimated share of correct labels among the unlabelled target rows; None without a target.
    estimated_accuracy_interval_ : tuple of two floats or None
        Meant to hold the true accuracy nine times in ten; docs/robustness.md has how often it does.
    target_proportions_ : array, (n_classes,), or None
        Proportions of the classes among the target's labels.
    absent_classes_ : array
        Classes of the source that the target seems to lack.
    summary_ : str
        The fit in a few plain sentences.
    weights_source_, weights_target_ : arrays, (n_source,) and (n_target,), or dicts
        Landmark weights; 1 without landmarks. A row outside the sample has the weight of the nearest sampled row.
    projections_ : dict of name to array, (rank, n_components)
        In the coordinates of each domain; `transform` applies scaling, coordinates and projection.
    scaling_ : str
        The scaling that was used.
    history_ : list of dict
        For each iteration: objective, marginal and conditional MMD, labels changed, classes left, evidence, gap of the
        landmark step, eigen-residual, seconds by stage.
    n_iter_ : int
    neighbor_recall_ : float or None
        Share of the nearest rows that the search of the last labelling found, measured on 500 target rows against an
        exact search among all of them, where rows were searched in cells (more than 150,000 rows in Dask arrays). 1.0
        where no search was approximate; None where an approximate search was not measured, as in memory.
    sample_ : dict of name to array or None
        Positions of the rows of each domain that Algorithm 1 learned from; None for all of its rows.
    seconds_ : dict
        Seconds by stage of the whole fit.
    n_features_in_ : int
        Width of the target.
    feature_names_in_ : array, (width,)
        Set only if the target has column names.

    References
    ----------
    .. [1] J. Li, M. Jing, K. Lu, L. Zhu, H. T. Shen: Locality Preserving Joint Transfer for Domain Adaptation.
           IEEE Transactions on Image Processing 28 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from lpjt import LPJT
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X_source = rng.normal(size=(60, 5)) + 4 * y[:, None]
    >>> X_target = 1.5 * rng.normal(size=(60, 5)) + 6 * y[:, None] + 3
    >>> model = LPJT(random_state=0).fit(X_source, y, X_target)
    >>> bool((model.transduction_ == y).mean() > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS

    #: Fields of `core.objective.Settings` beyond the parameters.
    _departures: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        locality_weight: float = 0.0005,
        variance_weight: float = 0.1,
        coupling_weight: float | str = "auto",
        landmark_ratio: float | None = None,
        n_neighbors: int = 5,
        graph_weights: str | float = "heat",
        kernel: str | Callable[..., float] | Kernel = "auto",
        classifier: Any = "propagation",
        scaling: str | None = "auto",
        target_proportions: Any = "auto",
        candidates: str | None = "auto",
        refine: bool = True,
        start: str = "auto",
        max_iter: int = 10,
        tol: float = 1e-3,
        safeguard: bool = True,
        n_coordinates: int | str | None = "auto",
        neighbor_search: str = "auto",
        sample_size: int | str | None = "auto",
        memory_limit: str | int | None = None,
        n_jobs: int | None = None,
        callback: Callable[[dict[str, Any]], None] | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.locality_weight = locality_weight
        self.variance_weight = variance_weight
        self.coupling_weight = coupling_weight
        self.landmark_ratio = landmark_ratio
        self.n_neighbors = n_neighbors
        self.graph_weights = graph_weights
        self.kernel = kernel
        self.classifier = classifier
        self.scaling = scaling
        self.target_proportions = target_proportions
        self.candidates = candidates
        self.refine = refine
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.safeguard = safeguard
        self.n_coordinates = n_coordinates
        self.neighbor_search = neighbor_search
        self.sample_size = sample_size
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    @classmethod
    def paper(cls, **changes: Any) -> "LPJT":
        """Algorithm 1 of the paper to the letter, with its values for SURF features.

        Parameters
        ----------
        **changes
            Any parameters of `LPJT`; what is given always wins over the paper's value.

        Examples
        --------
        >>> from lpjt import LPJT
        >>> LPJT.paper(max_iter=10).max_iter
        10
        """
        return LPJT(**{**paper_parameters(), **changes})

    @classmethod
    def authors(cls, **changes: Any) -> "LPJT":
        """The authors' published program: its values, and its departures from the paper.

        Parameters
        ----------
        **changes
            Any parameters of `LPJT`; what is given always wins over the program's value.
        """
        return AuthorsLPJT(**{**authors_parameters(), **changes})

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        X_target: Any = None,
        y_target: Any = None,
        *,
        sample_domain: Any = None,
        sample_weight: Any = None,
    ) -> "LPJT":
        """Learn projections and label the target.

        Parameters
        ----------
        X : matrix, (n_source, n_features), or dict of name to matrix
            Rows of the source, or of several sources, each of any width; with `sample_domain`, of all domains. Dask
            arrays stay on their workers (docs/scaling.md).
        y : labels, (n_source,), or dict of name to labels
            Any dtype.
        X_target : matrix, (n_target, n_features_target), or dict of name to matrix, default=None
            Rows of the target or of several. Without any target, only the source is learned, as by any classifier.
        y_target : labels, (n_target,), or dict, default=None
            Labels of some target rows; None, NaN, pandas.NA, and -1 unless that is a source class, mark the others.
        sample_domain : int array, (n,), default=None
            For a stack: 0 and above marks source rows, below 0 target rows.
        sample_weight : array, (n_source,), or dict by name, default=None
            How often each source row counts; only ratios matter. A row of weight 0 is left out. In a stack one weight
            per row, of which those of target rows are not used.

        Returns
        -------
        LPJT
        """
        engine = choose_engine(X, X_target)
        domains = engine.open(X, y, X_target, y_target, sample_domain=sample_domain, sample_weight=sample_weight)
        plan = self._plan(domains)
        begin_fit(self, max_iter=plan.max_iter)
        with threads(self.n_jobs):
            outcome = fit_domains(domains, plan, engine, memory_limit=self.memory_limit, on_record=self._on_record)
        if self.verbose and outcome.trial is not None:
            print_candidates(outcome.trial.table())
        if self.verbose and outcome.neighbor_recall not in (None, 1.0):
            print(f"[LPJT] all rows labelled: {outcome.neighbor_recall:.1%} of the nearest rows found")
        self._warn(outcome, plan, domains)
        with sound_products():
            self._keep(outcome, domains, engine)
        end_fit(self)
        return self

    def fit_predict(self, X: Any, y: Any, X_target: Any = None, y_target: Any = None, **of_rows: Any) -> Any:
        """Fit, and return the labels of the target rows, `transduction_` (of the source rows without a target).

        `of_rows` are `sample_domain` and `sample_weight`, as in `fit`.
        """
        self.fit(X, y, X_target, y_target, **of_rows)
        return self.predict(X) if self.transduction_ is None else self.transduction_

    def fit_transform(self, X: Any, y: Any, X_target: Any = None, y_target: Any = None, **of_rows: Any) -> Any:
        """Fit, and embed `X` as rows of the source (of all domains, each as its own, with `sample_domain`).

        `of_rows` are `sample_domain` and `sample_weight`, as in `fit`.
        """
        self.fit(X, y, X_target, y_target, **of_rows)
        return self.transform(X, domain="source", sample_domain=of_rows.get("sample_domain"))

    def _plan(self, domains: Domains) -> Plan:
        return make_plan(
            self.get_params(deep=False),
            classes=domains.classes,
            widths=[d.X.shape[1] for d in domains.all],
            n_rows=max(d.X.shape[0] for d in domains.all),
            departures=self._departures,
        )

    def _on_record(self, record: dict[str, Any]) -> None:
        tell_iteration(self)
        if self.callback is not None:
            self.callback(record)
        if self.verbose:
            print(
                f"[LPJT] iteration {record['n_iter']}: {record['n_changed']} labels changed, {record['n_classes']} "
                f"classes, objective {record['objective']:.4g}, evidence {record['evidence']:.3f}, "
                f"{sum(record['seconds'].values()):.2f} s"
            )

    def _warn(self, outcome: Outcome, plan: Plan, domains: Domains) -> None:
        alarms = () if outcome.verdict is None else outcome.verdict.alarms
        for message in (*outcome.messages, *alarms):
            warnings.warn(message, TransferWarning, stacklevel=TO_CALLER)
        found = outcome.projections[0].shape[1]
        if isinstance(self.n_components, Integral) and found < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} is more than the number of directions of the domains; reduced to "
                f"{found}. Ask for fewer, or give more rows or columns.",
                UserWarning,
                stacklevel=TO_CALLER,
            )
        if outcome.n_changed is not None:
            rows = [d.X.shape[0] if s is None else len(s) for d, s in zip(domains.all, outcome.sample, strict=True)]
            warnings.warn(
                f"Labels still changed for {outcome.n_changed} of {sum(rows[len(domains.sources) :])} target rows "
                f"after max_iter={plan.max_iter} iterations (tol={plan.tol}). Increase max_iter or tol, or accept the "
                "last iteration.",
                ConvergenceWarning,
                stacklevel=TO_CALLER,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def print_candidates(table: list[dict[str, Any]]) -> None:
    """Print the candidates of a fit, the best first."""
    for record in table:
        parts = " ".join(f"{name} {record[name]:.2f}" for name in EVIDENCE)
        setting = ", ".join(f"{record[name]}" for name in ("candidate", "view", "masses", "kernel") if record[name])
        print(f"[LPJT] {'chosen' if record['chosen'] else 'tried':6s} {setting}: {parts}")


class AuthorsLPJT(LPJT):
    """`LPJT` with the departures of the authors' program that have no parameter; made by `LPJT.authors`."""

    _departures = AUTHORS_DEPARTURES
