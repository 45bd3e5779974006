"""What every measured method has: a name, a function, and labels that come of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Labels of the target rows, and what else there is to tell."""

    labels: np.ndarray
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimedMethod:
    """A way to label a target: ``fit(X, y, X_target, parameters)`` gives `Fitted`."""

    name: str
    fit: Callable[..., Fitted]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()  # modules of other libraries
    optional: bool = False  # left out, with a note, where they are missing
