"""What a fit is asked to do, and what it returns."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from lpjt._typing import Array, Codes
from lpjt.classifiers import Classifier, Predictor, Propagation
from lpjt.core.blocks import ENTRIES
from lpjt.core.coordinates import Coordinates
from lpjt.core.objective import Problem, Settings, Workspace
from lpjt.core.ridge import KernelRidge
from lpjt.kernels import Kernel
from lpjt.selection.scaling import KEPT, Scalings, with_lengths
from lpjt.selection.trust import Trust, Verdict

#: Maximum number of unlabelled rows, and of labelled rows, in one graph. More rows are labelled in several shards, each
#: with rows from everywhere: this bounds the memory of a fit and of a task on a cluster, and a shard of this size is
#: dense enough that its neighbourhoods are as good as those of all rows.
SHARD_ROWS = 500_000

#: On a cluster, number of unlabelled rows above which they are labelled in regions of one graph, by the default
#: classifier, and the maximum number of labelled rows then, which every worker holds.
REGIONS_FROM, REGION_KNOWN = 150_000, 250_000


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What the iterations of one setting begin with, whatever the first labels are."""

    maps: tuple[Coordinates, ...]  # one per domain
    problem: Problem  # with lists of neighbours
    shared: Workspace | None = None  # None: the iterations make it


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The estimator's parameters, resolved."""

    settings: Settings
    classifier: Classifier
    views: tuple[str, ...]  # to choose from, without target labels
    random_state: np.random.RandomState
    kernel: Kernel
    n_rows: int  # of the largest domain, learned from or not
    chooses: bool = False  # whether candidates are tried: views, masses and kernels
    masses: tuple[str, ...] = (
        "classifier",
    )  # to choose from: "source", "free", "given", or as the classifier has them
    proportions: Array | None = None  # (n_classes,) of the target, if given
    kernels: tuple[Kernel, ...] = ()  # to choose from
    keeps_lengths: bool = False  # whether views and labels keep the lengths of rows, see `settle_lengths`
    refine: bool = False  # whether the last labels are averaged with those of a kernel ridge regression
    start: str = "auto"
    max_iter: int = 10
    tol: float = 1e-3
    safeguard: bool = True
    n_coordinates: int | str | None = "auto"
    neighbor_search: str = "auto"  # as given; `settings.search` is the one of the rows that are learned from
    sample_size: int | None = None  # maximum number of rows per domain to learn from; None for all
    block_entries: int = ENTRIES  # of the blocks in which rows are read
    shard_rows: int | None = None  # unlabelled rows that share one graph, at most; None for `SHARD_ROWS`
    on_disk: bool = False  # whether coordinates are kept in a temporary file
    prepared: Prepared | None = None  # of the candidate that is fitted whole, if it had all rows and coordinates

    @property
    def unit_length(self) -> bool:
        """Whether embedded rows are scaled to unit length before they are labelled."""
        if self.keeps_lengths:
            return False
        return not isinstance(self.classifier, Propagation) or bool(self.classifier.unit_length)

    def named_proportions(self, of_source: Array) -> Array | None:
        """Proportions of the target that the caller named, (n_classes,); None if they are open or free."""
        if self.masses == ("source",):
            return of_source
        return self.proportions if self.masses == ("given",) else None


def settle_lengths(plan: Plan, scalings: Scalings) -> Plan:
    """The plan, with views and a propagation that keep the lengths of rows if they matter and the plan is free to."""
    named = len(plan.views) == 1 and plan.views[0].endswith(KEPT)
    if not (named or (len(plan.views) > 1 and plan.unit_length and scalings.lengths_matter)):
        return plan
    classifier = plan.classifier
    if isinstance(classifier, Propagation):
        classifier = clone(classifier).set_params(unit_length=False)
    return replace(plan, views=with_lengths(plan.views), classifier=classifier, keeps_lengths=True)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Result of a fit; domains in the order of the problem, sources first."""

    coordinates: tuple[Coordinates, ...]  # one map per domain
    projections: tuple[Array, ...]  # (rank_i, n_components) per domain
    predictors: tuple[Predictor, ...]  # of new rows, per domain, from their coordinates
    distributions: tuple[Any, ...]  # (n_j, n_classes) per target, held by the engine after a whole fit
    weights: tuple[Any, ...]  # (n_i,) per domain, held likewise
    adapted: bool
    scaling: str
    classifier: Classifier | None = None  # of the last labelling, with the class masses that were chosen
    regressions: tuple[KernelRidge, ...] = ()  # per domain, from coordinates; averaged with the labels of `classifier`
    share: float = 1.0  # of the labels of `classifier` beside one of the regressions
    factors: Array | None = None  # (n_classes,) by which class masses are drawn to proportions that the caller named
    shift: Array | None = None  # (n_classes,) by which calibrated distributions are brought to the target's proportions
    trial: Any = None  # the candidates that were tried, a `fitting.candidates.Trial`; None if there was no choice
    trust: Trust | None = None  # estimated accuracy and calibration; None without a target
    n_iter: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # texts of warnings
    n_changed: int | None = None  # labels that still changed in the last iteration; None if they were steady
    seconds: dict[str, float] = field(default_factory=dict)  # by stage, all iterations together
    verdict: Verdict | None = None  # the fit in words; None without a target
    asking: tuple[Codes, ...] = ()  # (m_j, 3) per target: the rows to label next, see `order_targets`
    neighbor_recall: float | None = None  # of the last labelling's search; 1 if exact, None if not measured
    sample: tuple[Codes | None, ...] = ()  # positions of the rows of each domain that were learned from; None for all
