"""Which target rows to label by hand next: representative, in doubt and diverse, and one for each class in question."""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from lpjt._typing import Array, Codes, Mask

#: A row is like another as far as they are near: by a factor of e less for each squared distance of this neighbour.
NEIGHBOR = 10

#: A class is contested if less than this share of the rows that are expected of it have its label.
CLAIMED = 0.5

#: A class is not asked about if no row has at least this share of it: then nothing says which row to ask.
POSSIBLE = 0.05

#: What a row that is sure adds to the worth of its neighbours, beside its doubt: labels may be wrong and sure.
FLOOR = 0.02


def order_rows(Z: Array, F: Array, given: Mask, n: int, *, absent: Mask | None = None) -> tuple[Codes, Codes]:
    r"""Rows in the order in which their labels would tell most, found one after another.

    A set A of rows covers row i by the likeness :math:`s_{ij} = \exp(-\|z_i - z_j\|^2 / h)` of the most alike row in A.
    The next row is the one that raises :math:`\sum_i d_i \max_{j \in A} s_{ij}` most, with the doubt
    :math:`d_i = 1 - \max_k F_{ik}`: it is in doubt or near many rows in doubt, and unlike those that were asked before.
    The sum is submodular, so that this order is within a factor 1 - 1/e of the best choice of any length. Rows whose
    label is known cover from the start. Every second row, while there are any, is one for a class in question
    (`classes_in_question`) of which no row was asked: the one of most worth times its share of the class.

    Parameters
    ----------
    Z : array, (n_rows, n_components)
        Embedded rows.
    F : array, (n_rows, n_classes)
        Calibrated distributions.
    given : bool array, (n_rows,)
        Rows whose label is known; they are not asked.
    n : int
        Upper bound on the rows to return.
    absent : bool array, (n_classes,), optional
        Classes that seem to be absent.

    Returns
    -------
    int array, (m,)
        Positions, the row of most worth first.
    int array, (m,)
        Class for which the row was chosen, -1 for none.
    """
    free = np.flatnonzero(~given)
    likeness = _likeness(Z)
    doubt = np.where(given, 0.0, 1 - F.max(axis=1) + FLOOR)
    cover: Array = likeness[:, given].max(axis=1) if given.any() else np.zeros(len(Z))
    likeness = likeness[:, free].T  # by the row that is asked
    shares = F[free]
    open_classes = _by_mass(shares, classes_in_question(F[~given], absent))

    def worth(j: int) -> float:
        return float(doubt @ np.maximum(likeness[j] - cover, 0.0))

    # Worth only falls as more is covered, so that an old value is an upper bound: most need not be found again.
    heap = [(-worth(j), j) for j in range(len(free))]
    bounds = -np.array([value for value, _ in heap])
    heapify(heap)
    taken = np.zeros(len(free), dtype=bool)
    order: list[int] = []
    reasons: list[int] = []
    while len(order) < min(n, len(free)):
        reason = -1
        if len(order) % 2 and open_classes:
            reason = open_classes.pop(0)
            j = int(np.argmax(np.where(taken, -1.0, shares[:, reason] * (bounds + 1e-12))))
        else:
            j = _next(heap, taken, worth, bounds)
        taken[j] = True
        order.append(j)
        reasons.append(reason)
        np.maximum(cover, likeness[j], out=cover)
        # A row that may well be of a class asks about it, whatever it was chosen for.
        open_classes = [k for k in open_classes if shares[j, k] < shares[:, k].max() / 2]
    return free[order], np.array(reasons, dtype=np.int64)


def first_rows(order: Codes, reasons: Codes, n: int) -> Codes:
    """The first `n` rows of an order, (at most n,), with all rows that were chosen for a class, if there is room."""
    places = np.flatnonzero(reasons >= 0)[:n]
    others = np.flatnonzero(reasons < 0)[: n - len(places)]
    return order[np.sort(np.concatenate([places, others]))]


def merge_orders(orders: Sequence[Codes]) -> Codes:
    """Rows of several orders, (m_j, any) each, as one order, (m, any): the first of each, then the second of each."""
    ranks = np.concatenate([np.arange(len(order)) for order in orders])
    return np.concatenate(orders)[np.argsort(ranks, kind="stable")]


def classes_in_question(F: Array, absent: Mask | None = None) -> Mask:
    """Whether each class seems absent or is contested, (n_classes,), though some row of `F` may be of it."""
    n_classes = F.shape[1]
    if not len(F) or n_classes < 2:
        return np.zeros(n_classes, dtype=bool)
    claimed = np.bincount(F.argmax(axis=1), weights=F.max(axis=1), minlength=n_classes)
    found = claimed < CLAIMED * F.sum(axis=0)
    if absent is not None:
        found |= absent
    return found & (F.max(axis=0) >= POSSIBLE)


def _by_mass(F: Array, wanted: Mask) -> list[int]:
    """The wanted classes, the one of which most rows are expected first."""
    return [int(k) for k in np.argsort(-F.sum(axis=0), kind="stable") if wanted[k]]


def _likeness(Z: Array) -> Array:
    """exp(-squared distance / width), (n, n); the width is the median squared distance of a near neighbour."""
    squares = np.einsum("ij,ij->i", Z, Z)
    squared = np.maximum(squares[:, None] + squares - 2 * Z @ Z.T, 0.0)
    np.fill_diagonal(squared, 0.0)
    k = min(NEIGHBOR, len(Z) - 1)  # the row itself is the first
    width = float(np.median(np.partition(squared, k, axis=1)[:, k])) if k > 0 else 0.0
    likeness: Array = np.exp(-squared / max(width, 1e-12))
    return likeness


def _next(heap: list[tuple[float, int]], taken: Mask, worth: Callable[[int], float], bounds: Array) -> int:
    """The row of most worth that is not taken; `bounds` is brought up to date where it is found again."""
    while True:
        _, j = heappop(heap)
        if taken[j]:
            continue
        bounds[j] = worth(j)
        if not heap or bounds[j] >= -heap[0][0]:
            return j
        heappush(heap, (-bounds[j], j))
