"""The scikit-learn class: parameters, the door, attributes. No mathematics."""

import warnings
from contextlib import nullcontext
from inspect import signature
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from lpjt._sklearn import _fit_context
from lpjt._threads import threads
from lpjt.classifiers import MANY_NEW_ROWS
from lpjt.core.blocks import multiply
from lpjt.core.coordinates import to_coordinates
from lpjt.distributed import (
    adapt_distributed,
    apply_lazily,
    holds_lazy,
    is_lazy,
    join_labels,
    open_lazy_domains,
    refuse_to_pickle,
)
from lpjt.domains import open_domains, open_rows
from lpjt.fitting import Outcome, adapt, fit_source_only, within_memory
from lpjt.parameters import CONSTRAINTS, make_plan, resolve


class LPJT(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    r"""Locality Preserving Joint Transfer: labels for a target domain from a labelled source domain.

    Learns one projection a domain into a shared space by the generalised eigenproblem of Eq. (21) [1]_, in which the
    domains' marginal and conditional distributions agree (Eqs. 8-9), rows keep to their class and away from others
    (Eqs. 14-15) and the target keeps its variance (Eq. 17); labels the target there by label propagation; and repeats,
    with the new labels and, if wanted, weights for the rows that bridge the domains best (Eq. 23). Domains may have
    different widths. No matrix of n x n is formed.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimensions of the shared space, d. "auto" is 20, or twice the classes where that is more.
    locality_weight : float, default=0.0005
        Weight of the class graphs, :math:`\gamma`.
    variance_weight : float, default=0.1
        Weight of the target's variance and of :math:`\|B\|^2`, :math:`\mu`.
    coupling_weight : float or "auto", default="auto"
        Weight of :math:`\|A - B\|^2`, :math:`\lambda`. "auto" is 1 where all widths are equal and 0 otherwise.
    landmarks : bool, default=False
        Whether rows are weighted by the quadratic program of Eq. (23). Off by default: over the benchmark of
        docs/results.md it cost more than it gave.
    landmark_ratio : float, default=0.5
        Mean weight of the rows of each class, :math:`\delta`, where `landmarks` is true.
    n_neighbors : int, default=5
        Neighbours of a row in the within-class and in the between-class graph.
    graph_weights : {"heat", "binary"}, default="heat"
        Weights of the edges of both graphs.
    bandwidth : float or "auto", default="auto"
        Of the heat weights. "auto" takes the mean squared length of the edges, which suits any scale; the paper has 1.
    kernel : str or callable, default="linear"
        "linear", "rbf", "poly", "cosine", "laplacian", "chi2", "sigmoid" or a callable of two rows: the kernel version
        of the appendix, exact up to `kernel_rows` rows and by Nystroem's method beyond.
    kernel_params : dict, default=None
        For the kernel, as for `sklearn.metrics.pairwise.pairwise_kernels`. `gamma` defaults to 1 over the mean squared
        distance between rows.
    kernel_rows : int, default=2000
        Rows up to which the kernel is exact, and rows that stand for the others beyond.
    classifier : {"propagation", "harmonic", "nn", "svm"} or classifier, default="propagation"
        How rows are labelled in the shared space. "harmonic" is the paper's label propagation; "propagation" is
        one that does not bend the target to the source's class proportions; "nn" is the nearest neighbour,
        "svm" a linear nu-SVM weighted by landmarks; or any scikit-learn classifier.
    propagation_neighbors : int, default=15
        Neighbours of a row in the graph of label propagation.
    unit_embeddings : bool, default=True
        Whether embedded rows are scaled to unit length before propagation.
    nu : float, default=0.5
        Of ``classifier="svm"``.
    scaling : {"auto", "standard", "unit", "paper", "none"} or None, default="auto"
        Of each domain by itself. "standard": z-score of the columns, cut at three deviations, then rows of unit length.
        "unit": rows of unit length. "paper": rows of sum 1 where nothing is negative, z-score, rows of unit length.
        "auto" takes the one of "standard" and "unit" under which the source's classes are the more separate and the
        first labels of the target agree the better with the source. "none" or None leaves the rows alone.
    start : {"auto", "spectral", "gromov", "pca-nn"}, default="auto"
        First labels of the target. Where the widths differ and no target row is labelled: "auto" and "spectral" match
        clusters to classes, "gromov" matches rows by Gromov-Wasserstein (needs POT). "pca-nn" is the authors' start.
    max_iter : int, default=10
        Passes of Algorithm 1 at most, T.
    tol : float, default=1e-3
        Passes end when at most this share of the target's labels changes and weights are steady.
    safeguard : bool, default=True
        Whether to look for a shift first and leave out adaptation where there is none, and to return the pass with the
        best evidence where later ones got worse. No target label is used for either.
    n_coordinates : int, "auto" or None, default="auto"
        Columns of a domain, after a rotation to principal directions, in which the projections are sought. None keeps
        all that the rows span; "auto" those that hold 99.9 % of their mean square, and at most 512 (or four times the
        components) in domains of more than 20,000 rows; an int so many. Sparse rows and kernels have coordinates of
        their own.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        Search of nearest rows. "approximate" (needs faiss) takes time in proportion to the rows, and finds at least
        95 % of the neighbours in the tests; "auto" is exact up to 10,000 rows a domain.
    memory_limit : str or int, default=None
        What a fit may use beyond its input, e.g. "4GB" or bytes: rows are read in blocks that suit it, and
        coordinates are kept in a temporary file where they are too large for it.
    n_jobs : int, default=None
        Threads of a fit, -1 for all processors. None is as many as the numerical libraries are set to.
    preset : {"paper", "code"}, default=None
        Values of the paper, or of its authors' program, for every parameter that has its default's value, given or not.
    callback : callable, default=None
        Called after each pass with its record, a dict as in `history_`.
    verbose : int, default=0
        1 prints a line for each pass.
    random_state : int, RandomState or None, default=None
        For what is drawn: kernel rows, clusters, folds.

    Attributes
    ----------
    classes_ : array, (n_classes,)
    transduction_ : array, (n_target,), or dict
        Labels of the target rows given to `fit`, in the caller's order and dtype; given labels are kept.
    label_distributions_ : array, (n_target, n_classes), or dict
    adapted_ : bool
        False where the labels come from the source without adaptation.
    weights_source_, weights_target_ : arrays, (n_source,) and (n_target,), or dicts
        Landmark weights; 1 where landmarks are off.
    projections_ : dict of name to array, (rank, n_components)
        In the coordinates of each domain; `transform` applies scaling, coordinates and projection.
    scaling_ : str
        The scaling that was used.
    history_ : list of dict
        For each pass: objective, marginal and conditional MMD, labels changed, classes left, evidence, the landmark
        step's gap, the eigen-residual, seconds by stage.
    n_iter_ : int
    seconds_ : dict
        Seconds by stage of the whole fit.
    n_features_in_ : int
        Width of the target.
    feature_names_in_ : array, (width,)
        Where the target has column names.

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

    _parameter_constraints: dict = CONSTRAINTS

    def __init__(
        self,
        n_components="auto",
        *,
        locality_weight=0.0005,
        variance_weight=0.1,
        coupling_weight="auto",
        landmarks=False,
        landmark_ratio=0.5,
        n_neighbors=5,
        graph_weights="heat",
        bandwidth="auto",
        kernel="linear",
        kernel_params=None,
        kernel_rows=2000,
        classifier="propagation",
        propagation_neighbors=15,
        unit_embeddings=True,
        nu=0.5,
        scaling="auto",
        start="auto",
        max_iter=10,
        tol=1e-3,
        safeguard=True,
        n_coordinates="auto",
        neighbors="auto",
        memory_limit=None,
        n_jobs=None,
        preset=None,
        callback=None,
        verbose=0,
        random_state=None,
    ):
        self.n_components = n_components
        self.locality_weight = locality_weight
        self.variance_weight = variance_weight
        self.coupling_weight = coupling_weight
        self.landmarks = landmarks
        self.landmark_ratio = landmark_ratio
        self.n_neighbors = n_neighbors
        self.graph_weights = graph_weights
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.kernel_rows = kernel_rows
        self.classifier = classifier
        self.propagation_neighbors = propagation_neighbors
        self.unit_embeddings = unit_embeddings
        self.nu = nu
        self.scaling = scaling
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.safeguard = safeguard
        self.n_coordinates = n_coordinates
        self.neighbors = neighbors
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.preset = preset
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, X_target=None, y_target=None, *, sample_domain=None):
        """Learn projections and label the target.

        Parameters
        ----------
        X : matrix, (n_source, n_features), or dict of name to matrix
            Rows of the source, or of several sources, each of any width; with `sample_domain`, of all domains. Dask
            arrays are fitted where they are (docs/scaling.md).
        y : labels, (n_source,), or dict of name to labels
            Any dtype.
        X_target : matrix, (n_target, n_features_target), or dict of name to matrix, default=None
            Rows of the target or of several. Without any target the source alone is learnt, as by any classifier.
        y_target : labels, (n_target,), or dict, default=None
            Labels of some target rows; None, NaN, pandas.NA, and -1 where that is no source class, mark the others.
        sample_domain : int array, (n,), default=None
            For a stack: 0 and above marks source rows, below 0 target rows.

        Returns
        -------
        LPJT
        """
        lazy = holds_lazy(X, X_target)
        enter, learn = (open_lazy_domains, adapt_distributed) if lazy else (open_domains, adapt)
        domains = enter(X, y, X_target, y_target, sample_domain=sample_domain)
        everything = [*domains.sources, *domains.targets]
        defaults = {name: p.default for name, p in signature(type(self).__init__).parameters.items()}
        parameters = resolve(self.get_params(deep=False), defaults)
        plan = make_plan(
            parameters,
            n_classes=len(domains.classes),
            one_width=len({d.X.shape[1] for d in everything}) == 1,
            n_rows=0 if lazy else max(d.X.shape[0] for d in everything),  # a distributed search is exact
        )
        with threads(self.n_jobs):
            if not lazy:  # the memory of a cluster is its own affair
                plan = within_memory(plan, domains, self.memory_limit)
            outcome = learn(domains, plan, self._on_record) if domains.targets else fit_source_only(domains, plan)
        self._warn(outcome, plan, domains)
        self._keep(outcome, domains)
        return self

    def fit_predict(self, X, y, X_target=None, y_target=None, *, sample_domain=None):
        """Fit, and return the labels of the target rows, `transduction_` (of the source rows without a target)."""
        self.fit(X, y, X_target, y_target, sample_domain=sample_domain)
        return self.predict(X) if self.transduction_ is None else self.transduction_

    def fit_transform(self, X, y, X_target=None, y_target=None, *, sample_domain=None):
        """Fit, and embed `X` as rows of the source (of all domains, each as its own, with `sample_domain`)."""
        self.fit(X, y, X_target, y_target, sample_domain=sample_domain)
        if sample_domain is None:
            return self.transform(X, domain="source")
        sample_domain = np.asarray(sample_domain)
        rows = open_rows(X, width=self.n_features_in_, feature_names=getattr(self, "feature_names_in_", None))
        Z = np.empty((rows.shape[0], self._n_features_out), dtype=rows.dtype)
        for value in np.unique(sample_domain):
            chosen = sample_domain == value
            Z[chosen] = self._embed(rows[chosen], f"{'source' if value >= 0 else 'target'}_{value}")
        return Z

    def transform(self, X, domain="target"):
        """Embed rows of a domain in the shared space.

        Parameters
        ----------
        X : matrix, (n, width of the domain)
        domain : str, default="target"
            "source", "target", or the name of one of several.

        Returns
        -------
        array, (n, n_components)
        """
        check_is_fitted(self)
        if is_lazy(X):
            return apply_lazily(self, "transform", X, domain)
        name = self._domain(domain)
        rows = self._open(X, name)
        with self._threads_for(rows):
            return self._embed(rows, name)

    def predict_proba(self, X, domain="target"):
        """Class distributions, (n, n_classes), of rows of a domain, seen in fit or not."""
        check_is_fitted(self)
        if is_lazy(X):
            return apply_lazily(self, "predict_proba", X, domain)
        name = self._domain(domain)
        rows = self._open(X, name)
        with self._threads_for(rows):
            Z = self._embed(rows, name) if self.adapted_ else to_coordinates(rows, self._coordinates[name])
            return self._predictor.distributions_of(Z)

    def predict(self, X, domain="target"):
        """Labels, (n,), of rows of a domain, seen in fit or not."""
        check_is_fitted(self)
        if is_lazy(X):
            return apply_lazily(self, "predict", X, domain)
        return self.classes_[self.predict_proba(X, domain).argmax(axis=1)]

    def score(self, X, y, sample_weight=None, domain="target"):
        """Accuracy of `predict` on rows of a domain."""
        return accuracy_score(y, self.predict(X, domain), sample_weight=sample_weight)

    @property
    def _n_features_out(self):
        return next(iter(self.projections_.values())).shape[1]

    def _embed(self, rows, name):
        P = self.projections_[name]
        return multiply(to_coordinates(rows, self._coordinates[name]), P)

    def _threads_for(self, rows):
        return threads(self.n_jobs) if rows.shape[0] > MANY_NEW_ROWS else nullcontext()  # few are done before it is set

    def _open(self, X, name):
        return open_rows(X, width=self._widths[name], feature_names=self._feature_names[name])

    def _domain(self, domain):
        """Name of a domain: its own, or "source" or "target" where that is but one."""
        if domain in self.projections_:
            return domain
        side = {"source": self._source_names, "target": self._target_names}.get(domain, ())
        if len(side) == 1 or (side and not self._named):
            return side[0]
        known = ", ".join(map(repr, self.projections_))
        raise ValueError(f"domain={domain!r} is not one of the domains of fit. Give one of {known}.")

    def _on_record(self, record):
        if self.callback is not None:
            self.callback(record)
        if self.verbose:
            print(
                f"[LPJT] pass {record['n_iter']}: {record['n_changed']} labels changed, {record['n_classes']} classes, "
                f"objective {record['objective']:.4g}, evidence {record['evidence']:.3f}, "
                f"{sum(record['seconds'].values()):.2f} s"
            )

    def _warn(self, outcome, plan, domains):
        for message in outcome.messages:
            warnings.warn(message, UserWarning, stacklevel=4)
        found = outcome.projections[0].shape[1]
        if isinstance(self.n_components, Integral) and found < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} is more than the domains have directions for; reduced to {found}. "
                "Ask for fewer, or give more rows or columns.",
                UserWarning,
                stacklevel=4,
            )
        if outcome.n_changed is not None:
            n_target = sum(d.X.shape[0] for d in domains.targets)
            warnings.warn(
                f"Labels still changed for {outcome.n_changed} of {n_target} target rows after "
                f"max_iter={plan.max_iter} passes (tol={plan.tol}). Increase max_iter or tol, or accept the last pass.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _keep(self, outcome: Outcome, domains):
        """Set the fitted attributes, all at once and last, so that a failed fit leaves nothing half done."""
        everything = [*domains.sources, *domains.targets]
        names = [d.name for d in everything]
        n = len(domains.sources)
        self._source_names = names[:n]
        self._target_names = names[n:] or names[:n]
        self._named = domains.named_sources or domains.named_targets
        self._widths = {d.name: d.X.shape[1] for d in everything}
        self._feature_names = {d.name: d.feature_names for d in everything}
        self._coordinates = dict(zip(names, outcome.coordinates, strict=True))
        self._predictor = outcome.predictor
        self.classes_ = domains.classes
        self.projections_ = dict(zip(names, outcome.projections, strict=True))
        self.label_distributions_ = domains.join_targets(list(outcome.distributions))
        pairs = zip(domains.targets, outcome.distributions, strict=True)
        self.transduction_ = domains.join_targets([join_labels(d.y, F, domains.classes) for d, F in pairs])
        self.weights_source_ = domains.join_sources(list(outcome.weights[:n]))
        self.weights_target_ = domains.join_targets(list(outcome.weights[n:]))
        self.adapted_ = outcome.adapted
        self.scaling_ = outcome.scaling
        self.history_ = outcome.history
        self.n_iter_ = max(outcome.n_iter, 1)
        self.seconds_ = outcome.seconds
        first = self._target_names[0]
        self.n_features_in_ = self._widths[first]
        if self._feature_names[first] is not None:
            self.feature_names_in_ = self._feature_names[first]
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __getstate__(self):
        refuse_to_pickle(self.__dict__)
        return super().__getstate__()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
