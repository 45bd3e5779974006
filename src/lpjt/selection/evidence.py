"""Evidence for a labelling of the target that needs no target label."""

from dataclasses import dataclass

import numpy as np

from lpjt.core.neighbors import nearest_others, nearest_rows


@dataclass(frozen=True, slots=True)
class Evidence:
    """Two views of a labelling, each in [0, 1]; more is better."""

    information: float  # mutual information of rows and labels, in units of log n_classes
    reverse: float  # share of source rows whose nearest target row has their label; 0 where widths differ

    @property
    def total(self):
        """Sum of both: a labelling that loses classes or turns vague loses the first, one that is wrong the second."""
        return self.information + self.reverse


def mutual_information(F):
    """Entropy of the mean distribution less the mean entropy, over log n_classes; O(n n_classes)."""
    n_classes = F.shape[1]
    if n_classes < 2 or not len(F):
        return 0.0
    return float((_entropy(F.mean(axis=0)) - _entropy(F).mean()) / np.log(n_classes))


def effective_classes(F):
    """Number of classes in use: the exponential of the entropy of the labels' proportions."""
    counts = np.bincount(F.argmax(axis=1), minlength=F.shape[1])
    return float(np.exp(_entropy(counts / max(counts.sum(), 1))))


def nearest_targets(source_rows, target_rows):
    """Place of each source row's nearest target row, (n_source,), for `reverse_agreement`; found once a fit.

    In float32, for a share is made of them, and half the time.
    """
    source_rows, target_rows = (rows.astype(np.float32, copy=False) for rows in (source_rows, target_rows))
    return nearest_rows(source_rows, target_rows, 1).indices[:, 0]


def class_separation(rows, y, *, n_asked=5000):
    """Share of rows whose nearest other row has their label (1-NN left one out): how well a scaling shows the classes.

    A spread of at most `n_asked` rows is asked, each among all others.
    """
    asked = every_few(np.arange(len(y)), n_asked)
    near = nearest_rows(rows[asked], rows, 2).indices
    other = np.where(near[:, 0] == asked, near[:, 1], near[:, 0])  # a duplicate may stand before the row itself
    return float(np.mean(y[other] == y[asked]))


def reverse_agreement(nearest, target_labels, y_source):
    """Share of source rows whose nearest target row has been given their label (reverse validation by 1-NN)."""
    return float(np.mean(target_labels[nearest] == y_source))


def domain_mixing(source_rows, y_source, target_rows, y_target, *, n_neighbors=5, max_rows=2000):
    """How well the domains mix within classes: 1 where they cannot be told apart, towards 0 where they are apart.

    The share of rows of the other domain among each row's nearest rows of its class, both domains together, over the
    share that chance would give (Schilling's two-sample statistic, class by class, so that class proportions cancel).
    The smaller of the two sides counts: predictions draw target rows to the source rows they resemble, never the
    source rows to them.

    Parameters
    ----------
    source_rows, target_rows : arrays, (n_source, width) and (n_target, width)
    y_source, y_target : int arrays
        Codes; those of the target are predictions.
    n_neighbors : int
    max_rows : int
        So many rows of a class of each domain are used at most.

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


def _entropy(P):
    safe = np.where(P > 0, P, 1.0)
    return -(P * np.log(safe)).sum(axis=-1)


def every_few(rows, at_most):
    """All rows, or every second, third, ... so that at most so many are left."""
    return rows[:: max(1, -(-len(rows) // at_most))]
