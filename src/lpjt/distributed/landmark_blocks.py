"""What the landmark program computes of one block; rows are grouped by label, -1 first."""

from dataclasses import dataclass

import numpy as np

from lpjt.core import moments
from lpjt.distributed.moments import class_sums


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Weights of all rows and the relative gap."""

    weights: np.ndarray
    gap: float


def take_weights(marks, *, start, stop):
    """Weights of some neighbouring rows."""
    return marks.weights[start:stop].copy()


def take_gap(marks):
    """The relative gap."""
    return marks.gap


@dataclass(frozen=True, slots=True, eq=False)
class MarkRows:
    """A block of embedded rows with what does not change."""

    Z: np.ndarray  # (m, d) float64
    y: np.ndarray  # (m,)
    diagonal: np.ndarray  # (m,)

    def metric(self, floor, lipschitz):
        """Diagonal metric of the gradient steps."""
        return np.maximum(self.diagonal, floor) * lipschitz

    def gradient(self, w, pulled):
        """Gradient of half the energy, (m,)."""
        of_class = np.where((self.y >= 0)[:, None], pulled[1:][self.y], 0.0)
        return np.einsum("ij,ij->i", self.Z, pulled[0] + of_class) + self.diagonal * w


def prepare(Z, y, *, counts, own, ratio):
    """`MarkRows` of a block."""
    Z = np.asarray(Z, dtype=np.float64)
    spread = moments.row_spread(y, np.ones(len(y)), counts, own, landmark_ratio=ratio)
    return MarkRows(Z, y, spread * (Z**2).sum(axis=1))


def scales(rows):
    """Sums of the diagonal and of the squared norms."""
    return np.array([rows.diagonal.sum(), (rows.Z**2).sum()])


def copy_of(w):
    """The weights as they are, in float64."""
    return np.asarray(w, dtype=np.float64)


def wave(rows, *, start):
    """Start of the power iteration for the rows from number `start` on."""
    return 1.0 + 0.1 * np.cos(np.arange(start, start + len(rows.y)))


@dataclass(frozen=True, slots=True, eq=False)
class Rooted:
    """Class sums and squared length of a vector."""

    sums: np.ndarray
    square: float

    def __add__(self, other):
        return Rooted(self.sums + other.sums, self.square + other.square)


def rooted_sums(rows, x, *, n_classes, floor):
    """Class sums of rows weighted by x over the root of the metric, and |x|^2."""
    root = 1.0 / np.sqrt(rows.metric(floor, 1.0))
    return Rooted(class_sums(rows.Z, rows.y, root * x, n_classes=n_classes), float(x @ x))


def rooted_gradient(rows, x, *, pulled, length, floor):
    """One step of the power iteration."""
    root = 1.0 / np.sqrt(rows.metric(floor, 1.0))
    return root * rows.gradient(root * x / length, pulled)


def descend(rows, ahead, *, pulled, floor, lipschitz):
    """A gradient step."""
    return ahead - rows.gradient(ahead, pulled) / rows.metric(floor, lipschitz)


def extrapolate(new, old, *, factor):
    """Beyond the new weights, in the direction from the old ones."""
    return new + factor * (new - old)


@dataclass(frozen=True, slots=True, eq=False)
class Bracket:
    """Smallest and largest multiplier that can matter, group by group."""

    low: np.ndarray
    high: np.ndarray
    product: float = 0.0

    def __add__(self, other):
        return Bracket(np.minimum(self.low, other.low), np.maximum(self.high, other.high), self.product + other.product)


def bracket(rows, v, *, n_classes, floor, lipschitz):
    """`Bracket` of the multipliers of a projection."""
    metric = rows.metric(floor, lipschitz)
    low, high = np.full(n_classes + 1, np.inf), np.full(n_classes + 1, -np.inf)
    np.maximum.at(high, rows.y + 1, v * metric)
    np.minimum.at(low, rows.y + 1, (v - 1) * metric)
    return Bracket(low, high)


def clip_weights(rows, v, *, tau, floor, lipschitz):
    """Weights for given multipliers."""
    return np.clip(v - tau[rows.y + 1] / rows.metric(floor, lipschitz), 0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """Mass of each group for given multipliers, its slope, and what the next step needs should they be right."""

    mass: np.ndarray
    slope: np.ndarray
    sums: np.ndarray  # class sums of weighted rows
    uphill: float  # whether the momentum points uphill: (ahead - new)' metric (new - old)

    def __add__(self, other):
        return Excess(
            self.mass + other.mass, self.slope + other.slope, self.sums + other.sums, self.uphill + other.uphill
        )


def excess(rows, v, ahead, old, *, tau, n_classes, floor, lipschitz):
    """`Excess` of a block."""
    metric = rows.metric(floor, lipschitz)
    raw = v - tau[rows.y + 1] / metric
    w = np.clip(raw, 0.0, 1.0)
    mass = np.bincount(rows.y + 1, w, n_classes + 1)
    slope = np.bincount(rows.y + 1, np.where((raw > 0) & (raw < 1), 1.0 / metric, 0.0), n_classes + 1)
    uphill = 0.0 if ahead is None else float(((ahead - w) * metric) @ (w - old))
    return Excess(mass, slope, class_sums(rows.Z, rows.y, w, n_classes=n_classes), uphill)


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Gradient entries of each group in rising order, their running sums, and the product with the weights."""

    values: list[np.ndarray]
    sums: list[np.ndarray]
    product: float


def rank_gradient(rows, w, *, pulled, n_classes):
    """`Ranked` gradient of a block."""
    gradient = rows.gradient(w, pulled)
    values = [np.sort(gradient[rows.y == c]) for c in range(-1, n_classes)]
    sums = [np.concatenate([[0.0], np.cumsum(part)]) for part in values]
    return Ranked(values, sums, float(w @ gradient))


def range_of_gradient(ranked):
    """Smallest and largest entry of each group, and the product of gradient and weights."""
    low = np.array([part[0] if len(part) else np.inf for part in ranked.values])
    high = np.array([part[-1] if len(part) else -np.inf for part in ranked.values])
    return Bracket(low, high, ranked.product)


def sum_below(ranked, *, tau):
    """Sum of max(tau - gradient, 0) for each group and candidate, (n_groups, n_candidates)."""
    result = np.zeros_like(tau)
    for g, (values, sums) in enumerate(zip(ranked.values, ranked.sums, strict=True)):
        count = np.searchsorted(values, tau[g])
        result[g] = count * tau[g] - sums[count]
    return result
