"""Whether the solvers of a fit reached what they aim at: each reports a residual or a gap, and a large one is told."""

from collections.abc import Mapping, Sequence
from typing import Any

from lpjt.core.projection import EXPECTED_RESIDUAL

#: Largest relative gap of the landmark weights that needs no word; the solver aims at a hundredth of it.
EXPECTED_GAP = 1e-3


def doubts_of(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Texts of warnings for the records of iterations, `history_`, whose certificates fail."""
    doubts = []
    residual = max((record["residual"] for record in records), default=0.0)
    if not residual <= EXPECTED_RESIDUAL:
        doubts.append(
            f"The projections solve their eigenproblem to a relative residual of {residual:.1e} only; "
            f"{EXPECTED_RESIDUAL:.0e} is expected. Set a larger variance_weight, fewer n_components or another scaling."
        )
    gap = max((record["landmark_gap"] for record in records), default=0.0)
    if not gap <= EXPECTED_GAP:
        doubts.append(
            f"The landmark weights may be {gap:.1e} of the objective away from the best ones; {EXPECTED_GAP:.0e} is "
            "expected. Set another landmark_ratio, or None for equal weights."
        )
    return doubts
