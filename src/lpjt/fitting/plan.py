"""What a fit is asked to do, and what it leaves."""

from dataclasses import dataclass, field
from typing import Any

from lpjt.core.blocks import ENTRIES
from lpjt.core.objective import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The estimator's parameters, resolved."""

    settings: Settings
    classifier: Any  # of lpjt.classifiers
    scalings: tuple[str, ...]  # tried in turn, the best by evidence kept
    start: str = "auto"
    kernel: Any = "linear"
    kernel_params: dict | None = None
    kernel_rows: int = 2000
    max_iter: int = 10
    tol: float = 1e-3
    safeguard: bool = True
    n_coordinates: int | str | None = "auto"
    block_entries: int = ENTRIES  # of the blocks in which rows are read
    on_disk: bool = False  # whether coordinates are kept in a file
    random_state: Any = None  # a numpy RandomState


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a fit leaves; domains in the order of the problem, sources first."""

    coordinates: tuple  # one map for each domain
    projections: tuple  # (rank_i, n_components) for each domain
    predictor: Any  # distributions of new rows, from embeddings if adapted, else from coordinates
    distributions: tuple  # (n_j, n_classes) of each target
    weights: tuple  # (n_i,) of each domain
    adapted: bool
    scaling: str
    n_iter: int = 0
    history: list = field(default_factory=list)
    messages: list = field(default_factory=list)  # texts of warnings
    n_changed: int | None = None  # labels that still changed in the last pass; None where they were steady
    seconds: dict = field(default_factory=dict)  # by stage, all passes together
