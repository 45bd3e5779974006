"""How sure the labels are: confidence, what it claims, and the rows that are worth a look."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lpjt._typing import Array, Codes, Mask
from lpjt.domains import is_dict
from lpjt.report.checks import is_right
from lpjt.report.rows import DomainRows
from lpjt.selection.asking import first_rows

THRESHOLDS = (0.5, 0.7, 0.8, 0.9, 0.95)
BINS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What is left if only rows of at least some confidence are used."""

    threshold: float
    n_rows: int
    share: float
    claimed: float | None  # mean confidence of these rows: the share that should be right
    measured: float | None  # the share that is right, where labels are known


@dataclass(frozen=True, slots=True, eq=False)
class Confidence:
    """Confidence of all target rows that fit was not given a label for."""

    n_rows: int
    mean: float
    counts: Codes  # (BINS,) rows by confidence, from 0 to 1
    claimed: Array  # (BINS,) mean confidence in each bin, NaN if empty
    measured: Array | None  # (BINS,) share of right labels where labels are known, NaN if none
    kept: list[Kept]


def weigh_confidence(domains: Sequence[DomainRows], classes: Any) -> Confidence | None:
    """Histogram of the confidence, what it claims, and how it holds where labels are known."""
    targets = [d for d in domains if not d.is_source]
    values = [(d.confidence[~d.given], _right(d, classes)[~d.given]) for d in targets if d.confidence is not None]
    if not sum(len(c) for c, _ in values):
        return None
    confidence, right = (np.concatenate(parts) for parts in zip(*values, strict=True))
    place = np.clip((confidence * BINS).astype(int), 0, BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    inside = [place == bin_ for bin_ in range(BINS)]
    checked = ~np.isnan(right)
    return Confidence(
        n_rows=len(confidence),
        mean=float(confidence.mean()),
        counts=counts,
        claimed=np.array([_mean(confidence[mask]) for mask in inside]),
        measured=np.array([_mean(right[mask & checked]) for mask in inside]) if checked.any() else None,
        kept=[_keep(threshold, confidence, right, checked) for threshold in THRESHOLDS],
    )


def _keep(threshold: float, confidence: Array, right: Array, checked: Mask) -> Kept:
    mask = confidence >= threshold
    claimed = float(confidence[mask].mean()) if mask.any() else None
    known = mask & checked
    measured = float(right[known].mean()) if known.any() else None
    return Kept(threshold, int(mask.sum()), float(mask.mean()), claimed, measured)


def _right(d: DomainRows, classes: Any) -> Array:
    found = is_right(d, classes)
    return np.full(d.n_rows, np.nan) if found is None else found


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")


def rows_worth_a_look(model: Any, d: DomainRows, n: int) -> Codes:
    """Positions of at most `n` target rows whose labels would tell most, the most telling first: `rows_to_label`."""
    if d.distributions is None:
        return np.arange(0)
    if not is_dict(model.label_distributions_) and len(model.label_distributions_) == d.n_rows:
        return np.asarray(model.rows_to_label(n))
    order = model._to_ask[d.name]
    return first_rows(order[:, 0], order[:, 1], n)
