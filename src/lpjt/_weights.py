"""Sample weights through the door: how often each source row counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lpjt._typing import Array

#: Largest ratio of two weights.
WIDEST = 1e30


def read_weights(sample_weight: Any, n_rows: int, where: str) -> Array:
    """Weights of the rows, (n_rows,) float64: finite, not negative, and not all zero."""
    try:
        weights = np.asarray(sample_weight).astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{where} must hold numbers, one per row; got {type(sample_weight).__name__}.") from None
    if weights.shape != (n_rows,):
        raise ValueError(f"{where} has shape {weights.shape}, but X has {n_rows} rows. Give one weight per row.")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"{where} holds {weights[row]} at row {row}. Weights are 0 or above, and finite.")
    if not weights.any():
        raise ValueError(f"{where} is zero for every row. Give at least some rows a positive weight.")
    return weights


def relative_weights(parts: Sequence[Array | None]) -> Sequence[Array | None]:
    """Weights of each source, of mean 1 over all sources; None for each, as if none were given, if all are equal.

    Equal weights are not kept, so that they give the same bits as no weights.
    """
    given = [part for part in parts if part is not None]
    if len(given) < len(parts) or all(part.min() == part.max() == given[0][0] for part in given):
        return [None] * len(parts)
    everything = np.concatenate(given)
    least, most = float(everything.min()), float(everything.max())
    if most / WIDEST > least:
        raise ValueError(
            f"sample_weight goes from {least:.3g} to {most:.3g}, so that some rows would count for nothing. Give "
            f"weights whose ratio is at most {WIDEST:.0e}, and 0 to rows that are to be left out."
        )
    if not 1 / WIDEST <= most <= WIDEST:  # their sum may not be finite
        given = [part / most for part in given]
    mean = np.concatenate(given).mean()
    return [part / mean for part in given]
