"""Nearest rows of other classes, remembered while few labels change."""

from dataclasses import dataclass

import numpy as np

from lpjt._typing import Array, Codes, Mask
from lpjt.core.neighbors import Neighbors, nearest_rows, rank_terms
from lpjt.core.smallest import entries_of

#: Neighbours that are remembered of each row, in times of those that are asked for: some of them change their class.
REMEMBERED = 6

#: Nothing is recalled once more than one label in this many has changed, or if it would answer for less than this share
#: of the rows: then all rows are searched again, for lists by the labels of now.
CHANGED, ANSWERED = 32, 0.75

#: Rows that are not listed may be as far as the end of a list. Up to this share of it no rounding makes them equal.
SURELY_NEARER = 1 - 2.0**-20


@dataclass(frozen=True, slots=True, eq=False)
class Unlike:
    """Nearest rows of other classes of some rows, by the labels of one time."""

    y: Codes  # (n,) labels of that time
    places: Codes  # (n,) list of each row; -1 without one
    near: Neighbors  # (n_lists, k) by the numbers of the rows


def nothing_known(y: Codes) -> Unlike:
    """No list yet: what is searched next is worth being remembered."""
    none = np.empty((0, 1))
    return Unlike(y, np.full(len(y), -1), Neighbors(none.astype(np.int64), none))


def remember(y: Codes, rows: Codes, near: Neighbors) -> Unlike:
    """What a search by these labels found: the lists, nearest first, of some rows."""
    places = np.full(len(y), -1)
    places[rows] = np.arange(len(rows))
    return Unlike(y, places, near)


def recall(X: Array, y: Codes, asked: Mask, k: int, last: Unlike) -> tuple[Codes, Neighbors] | None:
    """Rows that need no search, and their k nearest rows of other classes now; None if all have to be searched again.

    A row that is still in its class has the rows of its list that are not in it, and those that have left it: they are
    nearer than all that are not listed, if they are nearer than the end of the list. Of equally far ones the search's
    own terms decide, so that the order of the rows does not.
    """
    moved = np.flatnonzero(y != last.y)
    if CHANGED * len(moved) > len(y) or (last.y[moved] < 0).any():
        return None
    rows = np.flatnonzero(asked & (last.places >= 0) & (y == last.y))
    places, own = last.places[rows], y[rows][:, None]
    indices, squared = last.near.indices[places], last.near.squared[places]
    end, listed = squared[:, -1:], y[indices]
    squared = np.where((listed == own) | (listed < 0), np.inf, squared)
    left = moved[y[moved] >= 0]
    if len(left):
        found = nearest_rows(X[rows], X[left], len(left))
        other = left[found.indices]
        indices = np.hstack([indices, other])
        squared = np.hstack([squared, np.where(last.y[other] == own, found.squared, np.inf)])
    nearest = np.argsort(squared + rank_terms(X)[indices], axis=1, kind="stable")[:, :k]
    indices, squared = entries_of(indices, nearest), entries_of(squared, nearest)
    sure = ((squared < SURELY_NEARER * end) | np.isinf(end)).all(axis=1)
    if np.count_nonzero(sure) < ANSWERED * np.count_nonzero(asked):
        return None
    return rows[sure], Neighbors(indices[sure], squared[sure])
