"""Evidence for a labelling of the target that needs no target label."""

from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.core.blocks import Rows
from lpjt.core.neighbors import nearest_others, nearest_rows
from lpjt.core.ties import compared_rows


@dataclass(frozen=True, slots=True)
class Evidence:
    """Two measures of a labelling, each in [0, 1]; more is better."""

    information: float  # mutual information of rows and labels, in units of log n_classes
    reverse: float  # share of source rows whose nearest target row has their label; 0 if widths differ

    @property
    def total(self) -> float:
        """Sum of both: the first falls if classes are lost or labels get vague, the second if labels are wrong."""
        return self.information + self.reverse


def mutual_information(F: Array) -> float:
    """Entropy of the mean distribution minus the mean entropy, over log n_classes, of `F`, (n, n_classes)."""
    n_classes = F.shape[1]
    if n_classes < 2 or not len(F):
        return 0.0
    return float((_entropy(F.mean(axis=0)) - _entropy(F).mean()) / np.log(n_classes))


def effective_classes(F: Array) -> float:
    """Effective number of classes of `F`, (n, n_classes): the exponential of the entropy of the label proportions."""
    counts = np.bincount(F.argmax(axis=1), minlength=F.shape[1])
    return float(np.exp(_entropy(counts / max(counts.sum(), 1))))


def nearest_targets(source_rows: Array, target_rows: Array) -> Codes:
    """Position of the nearest target row of each source row, (n_source,), for `reverse_agreement`; found once per fit.

    Many rows in float32: exact enough for a share of rows, and twice as fast.
    """
    return nearest_rows(compared_rows(source_rows), compared_rows(target_rows), 1).indices[:, 0]


def class_separation(rows: Array, y: Codes, *, max_queries: int = 5000) -> float:
    """Share of rows whose nearest other row has their label (leave-one-out 1-NN): how well a scaling separates classes.

    At most `max_queries` evenly spaced rows are tested, each against all others.
    """
    queries = every_few(np.arange(len(y)), max_queries)
    near = nearest_rows(rows[queries], rows, 2).indices
    other = np.where(near[:, 0] == queries, near[:, 1], near[:, 0])  # a duplicate may come before the row itself
    return float(np.mean(y[other] == y[queries]))


def separation(labels: Codes, nearest: Codes) -> float:
    """Share of rows whose nearest other row was given their label; `nearest` has its position for each row."""
    return float(np.mean(labels[nearest] == labels))


def reverse_agreement(nearest: Codes, target_labels: Codes, y_source: Codes) -> float:
    """Share of source rows whose nearest target row was given their label (reverse validation by 1-NN)."""
    return float(np.mean(target_labels[nearest] == y_source))


#: Up to this many pairs of classes, counting them in a table is quicker than sorting.
SMALL_TABLE = 2**12


def shared_information(labels: Codes, others: Codes, n_classes: int) -> float:
    """Information that two labellings of the same rows share, over the entropy of the first one; in [0, 1].

    1 if the second tells the first exactly, whatever the names of its classes; 0 if it tells nothing, or if all labels
    are the same. Labellings that give most rows to a few of many classes have nothing to gain from it.

    Parameters
    ----------
    labels, others : int arrays, (n,)
        Codes from 0 to `n_classes` - 1.
    n_classes : int
    """
    n = len(labels)
    if not n:
        return 0.0
    coded = labels.astype(np.int64) * n_classes + others
    # Pairs that occur are at most n; a table of all pairs would be large for thousands of classes.
    pairs = np.bincount(coded) if n_classes**2 <= SMALL_TABLE else np.unique(coded, return_counts=True)[1]
    own, of_others, both = (_count_entropy(counts, n) for counts in (np.bincount(labels), np.bincount(others), pairs))
    return min(max((own + of_others - both) / own, 0.0), 1.0) if own > 0 else 0.0


def domain_mixing(
    source_rows: Array,
    y_source: Codes,
    target_rows: Array,
    y_target: Codes,
    *,
    n_neighbors: int = 5,
    max_rows: int = 2000,
) -> float:
    """How well the domains mix within classes: 1 if they cannot be distinguished, near 0 if they are apart.

    Among the nearest rows of a row within its class, in both domains together, the share of rows of the other domain,
    divided by the share expected by chance (Schilling's two-sample statistic, class by class, so that class
    proportions cancel). The smaller value of the two domains is returned: predictions assign target rows to the class
    of the source rows that they resemble, so target rows always find source rows near them; the reverse need not hold.

    Parameters
    ----------
    source_rows, target_rows : arrays, (n_source, width) and (n_target, width)
    y_source, y_target : int arrays
        Codes; those of the target are predictions.
    n_neighbors : int
    max_rows : int
        Maximum number of rows per class and domain that are used.

    Returns
    -------
    float
    """
    seen, expected = np.zeros(2), np.zeros(2)
    for c in np.unique(y_target[y_target >= 0]):
        source = every_few(np.flatnonzero(y_source == c), max_rows)
        target = every_few(np.flatnonzero(y_target == c), max_rows)
        if not len(source) or not len(target):
            continue
        pool = np.concatenate([source_rows[source], target_rows[target]])
        k = min(n_neighbors, len(pool) - 1)
        near = nearest_others(pool, k).indices
        of_target = np.arange(len(pool)) >= len(source)
        foreign = of_target[near] != of_target[:, None]
        for side, size, others in ((0, len(source), len(target)), (1, len(target), len(source))):
            seen[side] += foreign[of_target == bool(side)].sum()
            expected[side] += size * k * others / (len(pool) - 1)
    return float((seen / np.maximum(expected, 1e-300)).min()) if expected.all() else 0.0


def _count_entropy(counts: Codes, n: int) -> float:
    """Entropy of the shares of `counts`, which sum to n: one logarithm per class that occurs."""
    shares = counts[counts > 0] / n
    return -float(shares @ np.log(shares))


def _entropy(P: Array) -> Any:
    """Entropy along the last axis: a number for one distribution, (n,) for (n, n_classes)."""
    safe = np.where(P > 0, P, 1.0)
    return -(P * np.log(safe)).sum(axis=-1)


@overload
def every_few(rows: Codes, max_rows: int) -> Codes: ...


@overload
def every_few(rows: Rows, max_rows: int) -> Array: ...


def every_few(rows: Any, max_rows: int) -> Any:
    """All rows, or every second, third, ..., so that at most `max_rows` are left."""
    return rows[:: max(1, -(-rows.shape[0] // max_rows))]
