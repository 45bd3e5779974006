"""Nearest rows of very many rows: rows are put into overlapping cells, and rows are compared within a cell alone.

Each row goes to the cells of its nearest centres, two or more, so that a row near the border of a cell meets the rows
beyond it in another one. With n rows of width d, r cells per row and m rows per cell, m independent of n:

- Time is n r m d for the search, linear in the rows, and n (n r / m) d for the assignment, which at 10^8 rows takes
  as long as the search.
- n r rows are moved at most, 4 d bytes each: a row is moved once to all of its cells in one region.
- Memory is m d for a cell; cells are searched in groups, so that each task has many rows and tasks are few.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.cluster import KMeans

from lpjt._threads import map_threads
from lpjt._typing import Array, Codes
from lpjt.core.neighbors import Neighbors, nearest_in_cell, nearest_rows

#: Mean number of rows in a cell if each row is in `FEWEST_CELLS`. With fewer, more neighbours are beyond a border and a
#: row needs more cells: four cells of this size find as much among 600,000 rows as three of four times the size, with
#: 38,000 instead of 87,000 comparisons per row.
CELL_ROWS = 4096

#: Rows from which the centre of a cell is computed.
ROWS_PER_CENTER = 32

#: A cell that has more than this many times the mean is split evenly: rows that are equal cannot be told apart, and
#: would all be in one cell, whatever their number.
CROWDED = 4

#: Smallest share of the true neighbours that is asked for, and the numbers of cells per row that are tried.
LEAST_RECALL, FEWEST_CELLS, MOST_CELLS = 0.95, 2, 8


def count_cells(n_rows: int) -> int:
    """Number of cells, so that one has `CELL_ROWS` rows in the mean if each row is in `FEWEST_CELLS`."""
    return max(1, round(FEWEST_CELLS * n_rows / CELL_ROWS))


def cell_centers(rows: Array, n_cells: int, *, n_steps: int = 10) -> Array:
    """Centres, (at most n_cells, width), by k-means on a sample of the rows; O(n_steps n_rows n_cells width)."""
    distinct = np.unique(rows, axis=0) if len(rows) <= n_cells else rows
    if len(distinct) <= n_cells:
        return distinct.astype(np.float32)
    means = KMeans(n_cells, init="random", n_init=1, max_iter=n_steps, algorithm="lloyd", random_state=0)
    return means.fit(rows.astype(np.float32)).cluster_centers_


def nearest_cells(Z: Array, centers: Array) -> Codes:
    """Cells of each row, (n, at most `MOST_CELLS`), that of the nearest centre first."""
    return nearest_rows(Z, centers, MOST_CELLS).indices.astype(np.int32)


def shared_recall(of_rows: Codes, of_neighbors: Codes, n_near: int) -> float:
    """Share of neighbours that are in one of the first `n_near` cells of their row: the recall of a search in cells.

    Parameters
    ----------
    of_rows : array, (n, n_cells)
        Cells of each row, nearest first.
    of_neighbors : array, (n, k, n_cells)
        Cells of its true neighbours.
    """
    mine, theirs = of_rows[:, None, :n_near, None], of_neighbors[:, :, None, :n_near]
    return float((mine == theirs).any(axis=(2, 3)).mean())


def choose_overlap(of_rows: Codes, of_neighbors: Codes) -> int:
    """Fewest cells per row with a recall of `LEAST_RECALL`, as in `shared_recall`; otherwise all that were tried."""
    available = of_rows.shape[1]
    for n_near in range(min(FEWEST_CELLS, available), available):
        if shared_recall(of_rows, of_neighbors, n_near) >= LEAST_RECALL:
            return n_near
    return available


def split_crowded(cells: Codes, n_cells: int, max_rows: int) -> tuple[Codes, Codes]:
    """Cells of each row, (n, n_near), where each cell with more than `max_rows` rows has become several; their origins.

    Rows are dealt to the parts in turn, so that each has rows from everywhere in the cell. Numbers from `n_cells` on
    are those of the new parts; the origins, (n_cells and more,), say of which cell each is a part.
    """
    sizes = np.bincount(cells.ravel(), minlength=n_cells)
    split, origins = cells.astype(np.int32), [np.arange(n_cells)]
    for cell in np.flatnonzero(sizes > max_rows):
        rows, places = np.nonzero(cells == cell)
        n_parts = -(-len(rows) // max_rows)
        part = np.arange(len(rows)) % n_parts
        split[rows, places] = np.where(part == 0, cell, n_cells + part - 1)
        origins.append(np.full(n_parts - 1, cell))
        n_cells += n_parts - 1
    return split, np.concatenate(origins)


def group_cells(centers: Array, sizes: Codes, max_rows: int) -> Codes:
    """Group of each cell, (n_cells,): cells near each other, at most `max_rows` rows together unless it is one cell.

    Cells are halved at the median of their widest direction until a part is small enough.
    """
    groups = np.empty(len(sizes), dtype=np.int32)
    open_parts, n_groups = [np.arange(len(sizes))], 0
    while open_parts:
        part = open_parts.pop()
        if len(part) == 1 or sizes[part].sum() <= max_rows:
            groups[part] = n_groups
            n_groups += 1
            continue
        along = centers[part, np.ptp(centers[part], axis=0).argmax()]
        order = part[np.argsort(along, kind="stable")]
        middle = np.searchsorted(np.cumsum(sizes[order]), sizes[part].sum() / 2) + 1
        middle = min(max(1, int(middle)), len(order) - 1)
        open_parts += [order[middle:], order[:middle]]
    return groups


def search_cells(Z: Array, cells: Codes, n_neighbors: int) -> Neighbors:
    """Nearest other rows of each row within its cells: indices (n, n_neighbors), -1 beyond the last one found.

    `cells`, (n, n_near), has the numbers of the cells of each row; those that are negative are not searched.
    """
    n, n_near = cells.shape
    indices = np.full((n, n_near, n_neighbors), -1, dtype=np.int32)
    squared = np.full((n, n_near, n_neighbors), np.inf, dtype=np.float32)
    flat = cells.ravel()
    order = np.argsort(flat, kind="stable")
    order = order[np.searchsorted(flat[order], 0) :]

    def search(entries: Codes) -> None:
        rows, place = np.divmod(entries, n_near)
        if len(rows) > 1:
            near = nearest_in_cell(Z[rows], n_neighbors)
            k = near.indices.shape[1]
            indices[rows, place, :k] = rows[near.indices]
            squared[rows, place, :k] = near.squared

    map_threads(search, np.split(order, np.flatnonzero(np.diff(flat[order])) + 1))
    return merge_lists(indices.reshape(n, -1), squared.reshape(n, -1), n_neighbors)


def merge_lists(indices: Codes, squared: Array, n_neighbors: int) -> Neighbors:
    """The nearest of each row's candidates, none twice: (n, n_neighbors), nearest first.

    Parameters
    ----------
    indices, squared : arrays, (n, n_candidates)
        -1 and infinity where there is no candidate; likewise in the result, where there are too few.
    """
    by_index = np.argsort(indices, axis=1, kind="stable")
    places: Codes = np.take_along_axis(indices, by_index, axis=1)
    again = np.zeros(places.shape, dtype=bool)
    again[:, 1:] = places[:, 1:] == places[:, :-1]
    lengths = np.take_along_axis(squared, by_index, axis=1).astype(np.float32, copy=False)
    lengths = np.where(again | (places < 0), np.float32(np.inf), lengths)
    nearest = np.argsort(lengths, axis=1, kind="stable")[:, :n_neighbors]
    lengths = np.take_along_axis(lengths, nearest, axis=1)
    return Neighbors(np.where(np.isfinite(lengths), np.take_along_axis(places, nearest, axis=1), -1), lengths)


def recall(found: Codes, true: Codes) -> float:
    """Share of the true neighbours, (n, k), that were found, (n, any number)."""
    return float((true[:, :, None] == found[:, None, :]).any(axis=2).mean())


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Regions: each has the rows whose nearest centre is that of one of its cells, its own, and guests."""

    order: Codes  # (n,) the rows, region by region; a row's place here is its number
    numbers: Codes  # (n,) number of each row
    starts: Codes  # (n_regions + 1,) number of the first own row of each region, and n
    members: list[Codes]  # ascending rows of each region, guests included

    def own(self, region: int) -> Codes:
        """Ascending rows of a region, without guests."""
        return self.order[self.starts[region] : self.starts[region + 1]]


def lay_out(cells: Codes, groups: Codes) -> Layout:
    """Regions from the cells of each row, (n, n_near), and the group of each cell, (n_cells,)."""
    n, n_regions = len(cells), int(groups.max()) + 1
    of_rows = groups[cells].astype(np.uint16 if n_regions < 2**16 else np.int64)  # 16 bits are sorted in linear time
    order = np.argsort(of_rows[:, 0], kind="stable")
    starts = np.searchsorted(of_rows[order, 0], np.arange(n_regions + 1))
    numbers = np.empty(n, dtype=np.int64)
    numbers[order] = np.arange(n)
    for place in range(1, of_rows.shape[1]):  # several cells of a row may be in one region
        of_rows[(of_rows[:, :place] == of_rows[:, place, None]).any(axis=1), place] = n_regions
    flat = of_rows.ravel()
    entries = np.argsort(flat, kind="stable")
    ends = np.searchsorted(flat[entries], np.arange(n_regions + 1))
    members = [entries[a:b] // of_rows.shape[1] for a, b in pairwise(ends)]
    return Layout(order, numbers, starts, members)
