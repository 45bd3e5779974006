"""An end for every support vector machine: LIBSVM's steps are bounded, and a machine that is not done says so."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lpjt._warnings import TransferWarning

#: Upper bound on the steps of one machine; scikit-learn has none. Ordinary rows take thousands. Where the differences
#: of rows are lost beside their size, all inner products are equal up to rounding, and steps lead nowhere.
MAX_STEPS = 1_000_000


@contextmanager
def warn_if_unfinished(machine: Any) -> Iterator[None]:
    """Fit a machine of at most `MAX_STEPS` in this block; where they were too few, warn in words of ours."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solver terminated early")
        yield
    if getattr(machine, "fit_status_", 0):
        warnings.warn(
            f"A support vector machine had not converged after {MAX_STEPS:,} steps, so its labels may be wrong. Choose "
            "scaling='standard' or another scaling that brings the columns near to zero, or another classifier.",
            TransferWarning,
            stacklevel=3,
        )
