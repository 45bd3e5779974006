"""Sums by block behind Eqs. (8)-(13) and (17), and their sums over blocks."""

from dataclasses import dataclass

import numpy as np

from lpjt.core import moments
from lpjt.distributed import tasks
from lpjt.distributed.blocks import Blocks


def class_sums(X, y, weights, *, n_classes):
    """Weighted sums of a block's rows, (1 + n_classes, width) float64: of all, then class by class."""
    sums = np.asarray(moments.averaging_matrix(y, weights, np.ones(n_classes)) @ X, dtype=np.float64)
    sums[0] *= len(y)  # the averaging matrix divides it by the rows at hand
    return sums


def label_counts(y, *, n_classes):
    """Rows of a block without a label, and of each class, (1 + n_classes,)."""
    return np.bincount(y + 1, minlength=n_classes + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Sums of embedded rows: `class_sums`, and the second part of Eq. (9)."""

    sums: np.ndarray
    energy: float

    def __add__(self, other):
        return Embedded(self.sums + other.sums, self.energy + other.energy)


def embedded_sums(Z, y, weights, *, counts, own, ratio):
    """`Embedded` of a block."""
    spread = moments.row_spread(y, weights, counts, own, landmark_ratio=ratio)
    energy = float(spread @ np.einsum("ij,ij->i", Z, Z, dtype=np.float64))
    return Embedded(class_sums(Z, y, weights, n_classes=len(counts)), energy)


def means_of(sums, counts, n_rows, ratio):
    """Means of `core.moments.class_moments` from sums over all blocks."""
    return sums / (ratio * np.concatenate([[n_rows], np.maximum(counts, 1)]))[:, None]


def spread_gram(X, y, weights, *, counts, own, ratio):
    """A block's share of X' diag(spread) X, the second part of Eq. (9)."""
    return moments.weighted_gram(X, moments.row_spread(y, weights, counts, own, landmark_ratio=ratio))


def centred_gram(X, *, mean):
    """A block's share of S_h of Eq. (17), about the mean of all blocks."""
    return moments.weighted_gram(X - mean.astype(X.dtype), np.ones(len(X)))


def row_sum(X):
    """Sum of a block's rows."""
    return X.sum(axis=0, dtype=np.float64)


def scatter_node(X: Blocks, mean):
    """Node of `core.moments.total_scatter` about a mean."""
    return X.sum_of(centred_gram, mean=mean)


def means_by_column(many: list[Blocks]):
    """Mean row of each of several blocks, in one computation."""
    sums = tasks.compute([X.sum_of(row_sum) for X in many])
    return [total / X.n_rows for total, X in zip(sums, many, strict=True)]


def total_scatters(many: list[Blocks]):
    """S_h of Eq. (17) of each of several blocks."""
    means = means_by_column(many)
    return tasks.compute([scatter_node(X, mean) for X, mean in zip(many, means, strict=True)])
