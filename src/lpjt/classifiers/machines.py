"""An end for every support vector machine: LIBSVM's steps are bounded, and a machine that is not done says so."""

import warnings
from typing import Any

from sklearn.svm import SVC

from lpjt._warnings import TransferWarning

#: Upper bound on the steps of one machine; scikit-learn has none. Ordinary rows take thousands. Where the differences
#: of rows are lost beside their size, all inner products are equal up to rounding, and steps lead nowhere.
MAX_STEPS = 1_000_000


class Bounded:
    """Mixin of a machine of scikit-learn that leaves the warning of its bound to `warn_if_unfinished`.

    A filter of warnings would be the whole process's, and machines are fitted in threads: the first to end would take
    it from the others.
    """

    def _warn_from_fit_status(self) -> None:
        pass


class BoundedSVC(Bounded, SVC):
    """Machine with costs, of at most `MAX_STEPS`."""

    def __init__(self, *, C: float = 1.0, kernel: str = "linear", tol: float = 1e-3) -> None:
        super().__init__(C=C, kernel=kernel, tol=tol, max_iter=MAX_STEPS)


def warn_if_unfinished(machine: Any) -> None:
    """Warn in words of ours where the steps of a fitted machine were too few."""
    if machine.fit_status_:
        warnings.warn(
            f"A support vector machine had not converged after {MAX_STEPS:,} steps, so its labels may be wrong. Choose "
            "scaling='standard' or another scaling that brings the columns near to zero, or another classifier.",
            TransferWarning,
            stacklevel=3,
        )
