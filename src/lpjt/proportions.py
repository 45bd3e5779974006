"""Class proportions of the target as a caller gives them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lpjt._typing import Array, Values

#: Proportions may miss a sum of 1 by this much, which is rounding.
TOLERANCE = 1e-3


def read_proportions(given: Any, classes: Values) -> Array:
    """Proportions, (n_classes,), from an array in the order of the classes, or from a dict by class.

    Classes that a dict leaves out have the proportion 0.
    """
    if isinstance(given, Mapping):
        unknown = [label for label in given if label not in set(classes.tolist())]
        if unknown:
            raise ValueError(
                f"target_proportions has the class {unknown[0]!r}, which the source lacks. Its classes are "
                f"{', '.join(map(repr, classes[:10].tolist()))}{', ...' if len(classes) > 10 else ''}."
            )
        given = [given.get(label, 0.0) for label in classes.tolist()]
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"target_proportions={given!r} are not numbers. {_remedy(classes)}") from error
    if values.shape != (len(classes),):
        raise ValueError(
            f"target_proportions has shape {values.shape}, but there are {len(classes)} classes. {_remedy(classes)}"
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"target_proportions has the value {_first_bad(values)}. {_remedy(classes)}")
    if abs(values.sum() - 1) > TOLERANCE:
        raise ValueError(f"target_proportions sum to {values.sum():.4g}, not to 1. {_remedy(classes)}")
    return values / values.sum()


def _first_bad(values: Array) -> float:
    return float(values[~np.isfinite(values) | (values < 0)][0])


def _remedy(classes: Values) -> str:
    return (
        f"Give {len(classes)} numbers from 0 to 1 that sum to 1, in the order of classes_, a dict by class, or 'auto', "
        "'source' or 'free'."
    )
