"""Labels of all rows over the graph of all of them: tasks search cells and solve regions; the caller only schedules."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.classifiers import regional
from lpjt.classifiers.propagation import scale_rows
from lpjt.classifiers.regional import RegionalPropagation
from lpjt.core import cells, regions
from lpjt.core.neighbors import Neighbors, nearest_rows
from lpjt.engines.dask.cluster import compute, persist
from lpjt.engines.dask.labels import Lazy

#: Maximum number of rows that one task searches, guests included; it bounds the memory of a task.
REGION_ROWS = 300_000

#: Rows whose true neighbours are searched for among all rows, to measure the recall.
RECALL_ROWS = 500

#: Regions are solved until fewer than this share of the rows change their likeliest class, or this many times.
STEADY, MAX_ROUNDS = 1e-3, 12


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The unlabelled rows of all targets, numbered through."""

    Z: Sequence[Lazy]  # embedded rows of each target
    unknown: Sequence[Codes]  # ascending positions of the unlabelled rows of each

    @property
    def starts(self) -> Codes:
        """Number of the first unlabelled row of each target, and their number."""
        return np.cumsum([0, *map(len, self.unknown)])

    def positions(self, rows: Codes) -> list[Codes]:
        """Positions of ascending unlabelled rows, by target."""
        ends = np.searchsorted(rows, self.starts)
        parts = zip(self.unknown, pairwise(ends), self.starts, strict=False)
        return [unknown[rows[a:b] - start] for unknown, (a, b), start in parts]

    def pick(self, rows: Codes) -> list[Any]:
        """Ascending unlabelled rows, one delayed array per target."""
        pairs = zip(self.Z, self.positions(rows), strict=True)
        return [Z[places].rechunk(-1).to_delayed().item() for Z, places in pairs if len(places)]


def label_in_regions(rows: Rows, rule: RegionalPropagation) -> tuple[list[Any], list[list[Codes]], float]:
    """Distributions of all unlabelled rows.

    Returns
    -------
    answers : list of delayed arrays
        Distributions of the rows of each region.
    positions : list of list of arrays
        Ascending positions of these rows in each target.
    recall : float
        Share of the true neighbours that were found, on a sample of the rows.
    """
    import dask

    held = dask.delayed(rule)  # one node in the graph, which holds the labelled rows once
    asked = np.unique(np.linspace(0, rows.starts[-1] - 1, RECALL_ROWS).astype(np.int64))
    true = true_neighbors(rows, asked, rule)
    layout, of_cells, groups = assign(rows, rule, asked, true)
    links = find_links(rows, layout, of_cells, groups, rule, held)
    recall = measure_recall(links, layout, asked, true)
    F = solve_rounds(links, layout, held)
    mass = np.sum(compute(*(dask.delayed(_sum_rows)(part) for part in F)), axis=0) / layout.starts[-1]
    answers = [dask.delayed(_mix)(held, part, mass) for part in F]
    return answers, [rows.positions(layout.own(g)) for g in range(len(F))], recall


def true_neighbors(rows: Rows, asked: Codes, rule: RegionalPropagation) -> Codes:
    """Nearest other rows, (n_asked, k), of some of the rows, from an exact search of every block."""
    import dask

    Q = np.vstack(_gather(rows, asked, rule))
    search, found = dask.delayed(_search_block, pure=False), []
    for Z, unknown, first in zip(rows.Z, rows.unknown, rows.starts, strict=False):
        for block, (start, stop) in zip(Z.to_delayed().ravel(), pairwise(np.cumsum([0, *Z.chunks[0]])), strict=True):
            a, b = np.searchsorted(unknown, (start, stop))
            if b > a:
                places = None if b - a == stop - start else unknown[a:b] - start
                found.append(search(block, places, first + a, Q, asked, rule.classifier, rule.n_neighbors))
    parts = compute(*found)
    k = min(rule.n_neighbors, int(rows.starts[-1]) - 1)
    return cells.merge_lists(
        np.hstack([near.indices for near in parts]), np.hstack([near.squared for near in parts]), k
    ).indices


def assign(rows: Rows, rule: RegionalPropagation, asked: Codes, true: Codes) -> tuple[cells.Layout, Codes, Codes]:
    """Regions, the cells of each row, (n, n_near), and the region of each cell."""
    import dask

    n = int(rows.starts[-1])
    n_cells = cells.count_cells(n)
    some = np.unique(np.linspace(0, n - 1, min(n, n_cells * cells.ROWS_PER_CENTER)).astype(np.int64))
    centers = cells.cell_centers(np.vstack(_gather(rows, some, rule)), n_cells)
    name, blocks = dask.delayed(_name_cells, pure=False), []
    for Z in rows.Z:
        blocks.append([name(block, centers, rule.classifier) for block in Z.to_delayed().ravel()])
    found = iter(compute(*(block for of_target in blocks for block in of_target)))
    of_targets = [np.concatenate([next(found) for _ in of_target]) for of_target in blocks]
    of_cells = np.concatenate([part[unknown] for part, unknown in zip(of_targets, rows.unknown, strict=True)])
    n_near = cells.choose_overlap(of_cells[asked], of_cells[true])
    most = cells.CROWDED * cells.CELL_ROWS * n_near // cells.FEWEST_CELLS
    of_cells, origins = cells.split_crowded(of_cells[:, :n_near], len(centers), most)
    sizes = np.bincount(of_cells.ravel(), minlength=len(origins))
    groups = cells.group_cells(centers[origins], sizes, REGION_ROWS)
    return cells.lay_out(of_cells, groups), of_cells, groups


def find_links(
    rows: Rows, layout: cells.Layout, of_cells: Codes, groups: Codes, rule: RegionalPropagation, held: Any
) -> list[Any]:
    """Links of each region: its members are searched by one task, the lists of guests go to their own region."""
    import dask

    search, link, take = (dask.delayed(f, pure=False) for f in (_search_region, _link, _take))
    n_regions = len(layout.members)
    picked = [rows.pick(members) for members in layout.members]
    found = []
    for g, members in enumerate(layout.members):
        mine = np.where(groups[of_cells[members]] == g, of_cells[members], -1)
        found.append(search(picked[g], mine, layout.numbers[members], rule.classifier, rule.n_neighbors))
    guests: list[list[Any]] = [[] for _ in range(n_regions)]
    places_own = []
    for g, members in enumerate(layout.members):
        numbers = layout.numbers[members]
        home = np.searchsorted(layout.starts, numbers, side="right") - 1
        for h in np.unique(home):
            places = np.flatnonzero(home == h)
            if h == g:
                places_own.append(places)
            else:
                guests[h].append((numbers[places] - layout.starts[h], take(found[g], places)))
        if g not in home:
            places_own.append(np.empty(0, dtype=np.int64))
    return list(persist(*(link(held, picked[g], found[g], places_own[g], guests[g]) for g in range(n_regions))))


def measure_recall(links: list[Any], layout: cells.Layout, asked: Codes, true: Codes) -> float:
    """Share of the true neighbours of the rows that were asked for that their lists have."""
    import dask

    numbers, pick = layout.numbers[asked], dask.delayed(_near, pure=False)
    home = np.searchsorted(layout.starts, numbers, side="right") - 1
    wanted = [np.flatnonzero(home == g) for g in range(len(links))]
    lists = compute(*(pick(part, numbers[wanted[g]] - layout.starts[g]) for g, part in enumerate(links)))
    return cells.recall(np.vstack(lists), layout.numbers[true][np.concatenate(wanted)])


def solve_rounds(links: list[Any], layout: cells.Layout, held: Any) -> list[Any]:
    """Both solutions of each region, (n, 2 n_classes), after as many rounds as they need."""
    import dask

    starts, n_regions = layout.starts, len(links)
    told = compute(*(dask.delayed(_tell)(part, starts[:-1]) for part in links))
    bandwidths = regions.mean_lengths([sums for sums, _ in told])
    joined = np.array([counts for _, counts in told]) > 0
    between, system = (dask.delayed(f, pure=False) for f in (regions.edges_between, _system))
    systems = []
    for g in range(n_regions):
        others = [h for h in range(n_regions) if joined[h, g] and h != g]
        incoming = [between(links[h], int(starts[h]), int(starts[g]), int(starts[g + 1])) for h in others]
        systems.append(system(held, links[g], int(starts[g]), incoming, bandwidths))
    systems = list(persist(*systems))
    near = [[h for h in range(n_regions) if h != g and (joined[h, g] or joined[g, h])] for g in range(n_regions)]
    need, export, solve = (dask.delayed(f, pure=False) for f in (_need, _take_rows, _solve))
    F = [dask.delayed(regions.first_values)(part) for part in systems]
    # The places at which a region needs others go to these, not its system, which is large.
    needs = [[need(systems[g], int(starts[h]), int(starts[h + 1])) for h in near[g]] for g in range(n_regions)]
    for _ in range(MAX_ROUNDS):
        halos = [[export(F[h], places) for h, places in zip(near[g], needs[g], strict=True)] for g in range(n_regions)]
        solved = [solve(held, systems[g], halos[g]) for g in range(n_regions)]
        changed = [dask.delayed(regions.count_changed)(now, then) for now, then in zip(solved, F, strict=True)]
        both = persist(*solved, *changed)
        F = list(both[:n_regions])
        if n_regions == 1 or sum(compute(*both[n_regions:])) < STEADY * starts[-1]:
            break
    return F


def _gather(rows: Rows, chosen: Codes, rule: RegionalPropagation) -> list[Array]:
    return [scale_rows(rule.classifier, np.asarray(part)) for part in compute(*rows.pick(chosen))]


def _search_block(
    Z: Array, places: Codes | None, first: int, Q: Array, asked: Codes, classifier: Any, k: int
) -> Neighbors:
    """Nearest rows of a block other than the rows that are asked for, by their numbers from `first` on."""
    near = nearest_rows(Q, scale_rows(classifier, Z if places is None else Z[places]), k + 1)
    numbers = near.indices.astype(np.int64) + first
    own = numbers == asked[:, None]
    return Neighbors(np.where(own, -1, numbers), np.where(own, np.inf, near.squared))


def _name_cells(Z: Array, centers: Array, classifier: Any) -> Codes:
    return cells.nearest_cells(scale_rows(classifier, Z), centers).astype(np.min_scalar_type(-len(centers)))


def _search_region(parts: list[Array], of_cells: Codes, numbers: Codes, classifier: Any, k: int) -> Neighbors:
    return regional.search_members(scale_rows(classifier, np.vstack(parts)), of_cells, numbers, k)


def _take(near: Neighbors, places: Codes) -> Neighbors:
    return Neighbors(near.indices[places], near.squared[places])


def _link(
    rule: RegionalPropagation, parts: list[Array], near: Neighbors, own: Codes, guests: list[Any]
) -> regions.Links:
    return rule.link(
        scale_rows(rule.classifier, np.vstack(parts)[own]), regional.merge_guests(_take(near, own), guests)
    )


def _near(links: regions.Links, places: Codes) -> Codes:
    return links.near.indices[places]


def _tell(links: regions.Links, starts: Codes) -> tuple[Array, Codes]:
    return regions.length_sums(links), regions.count_edges(links, starts)


def _system(
    rule: RegionalPropagation, links: regions.Links, first: int, incoming: list[Any], bandwidths: Any
) -> regions.System:
    return rule.system(links, first, incoming, bandwidths)


def _need(system: regions.System, start: int, stop: int) -> Codes:
    a, b = np.searchsorted(system.halo, (start, stop))
    return system.halo[a:b] - start


def _take_rows(F: Array, places: Codes) -> Array:
    return F[places]


def _solve(rule: RegionalPropagation, system: regions.System, halo: list[Array]) -> Array:
    return rule.solve(system, np.vstack(halo) if halo else np.zeros((0, 2 * rule.n_classes), dtype=np.float32))


def _sum_rows(F: Array) -> Array:
    return F.sum(axis=0, dtype=np.float64)


def _mix(rule: RegionalPropagation, F: Array, mass: Array) -> Array:
    return rule.mix(F, mass)
