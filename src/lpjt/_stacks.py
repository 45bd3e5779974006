"""One stack of the rows of all domains: which of its rows belong to which domain."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lpjt._typing import Codes


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A domain in a stack."""

    side: str  # "source" or "target"
    name: str  # e.g. "target_-1"
    where: str  # what error messages call it
    rows: Codes  # ascending positions in the stack
    places: Codes  # positions of the same rows among all rows of their side


def split_stack(sample_domain: Any, n_rows: int) -> Iterator[Slot]:
    """Domains of a stack of `n_rows` rows, in the order of their numbers in `sample_domain`, (n_rows,)."""
    domain = read_sample_domain(sample_domain, n_rows)
    _check_sides(domain)
    for value in np.unique(domain).tolist():
        rows = np.flatnonzero(domain == value)
        where = f"X where `sample_domain` is {value}"
        if len(rows) < 2:
            raise ValueError(f"{where}: found 1 sample while a minimum of 2 is required. Add rows or drop it.")
        side = "source" if value >= 0 else "target"
        of_side = domain >= 0 if side == "source" else domain < 0
        yield Slot(side, domain_name(value), where, rows, np.cumsum(of_side)[rows] - 1)


def read_sample_domain(sample_domain: Any, n_rows: int) -> Codes:
    """The domain of each row of a stack as integers, (n_rows,); there may be sources or targets alone."""
    given = np.asarray(sample_domain)
    if given.shape != (n_rows,):
        raise ValueError(f"`sample_domain` has shape {given.shape}, but X has {n_rows} rows. Give one value per row.")
    try:
        with np.errstate(invalid="ignore"):  # NaN is found by comparing
            domain = given.astype(np.int64)
        whole = given.dtype.kind in "iufO" and bool((domain == given).all())
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise ValueError(
            "`sample_domain` must hold integers, 0 and above for source rows, below 0 for target rows; "
            f"got {given.dtype} values, e.g. {given[:5].tolist()}."
        )
    return domain


def domain_name(value: int) -> str:
    """Name of the domain of a stack that `sample_domain` calls `value`."""
    return f"{'source' if value >= 0 else 'target'}_{value}"


def _check_sides(domain: Codes) -> None:
    values = np.unique(domain).tolist()
    if values[0] >= 0:
        raise ValueError(
            "No target samples: `sample_domain` has no negative value. Mark target rows with a negative "
            f"domain label, e.g. -2; got labels {values}."
        )
    if values[-1] < 0:
        raise ValueError(
            "No source samples: `sample_domain` has only negative values. Mark source rows with a domain "
            f"label of 0 or above, e.g. 1; got labels {values}."
        )
