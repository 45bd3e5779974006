"""What a fit is asked to do, and what it returns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.classifiers import Classifier, Predictor
from lpjt.core.blocks import ENTRIES
from lpjt.core.coordinates import Coordinates
from lpjt.core.objective import Settings
from lpjt.kernels import Kernel

#: Maximum number of unlabelled rows, and of labelled rows, in one graph. More rows are labelled in several shards, each
#: with rows from everywhere: this bounds the memory of a fit and of a task on a cluster, and a shard of this size is
#: dense enough that its neighbourhoods are as good as those of all rows.
SHARD_ROWS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The estimator's parameters, resolved."""

    settings: Settings
    classifier: Classifier
    scalings: tuple[str, ...]  # to choose from, without target labels
    random_state: np.random.RandomState
    kernel: Kernel
    n_rows: int  # of the largest domain, learned from or not
    start: str = "auto"
    max_iter: int = 10
    tol: float = 1e-3
    safeguard: bool = True
    n_coordinates: int | str | None = "auto"
    neighbor_search: str = "auto"  # as given; `settings.search` is the one of the rows that are learned from
    sample_size: int | None = None  # maximum number of rows per domain to learn from; None for all
    block_entries: int = ENTRIES  # of the blocks in which rows are read
    on_disk: bool = False  # whether coordinates are kept in a temporary file


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Result of a fit; domains in the order of the problem, sources first."""

    coordinates: tuple[Coordinates, ...]  # one map per domain
    projections: tuple[Array, ...]  # (rank_i, n_components) per domain
    predictors: tuple[Predictor, ...]  # of new rows, per domain: from embeddings if adapted, else from coordinates
    distributions: tuple[Any, ...]  # (n_j, n_classes) per target, held by the engine after a whole fit
    weights: tuple[Any, ...]  # (n_i,) per domain, held likewise
    adapted: bool
    scaling: str
    n_iter: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # texts of warnings
    n_changed: int | None = None  # labels that still changed in the last iteration; None if they were steady
    seconds: dict[str, float] = field(default_factory=dict)  # by stage, all iterations together
    sample: tuple[Codes | None, ...] = ()  # positions of the rows of each domain that were learned from; None for all
