"""The propagation of `Propagation`, region by region: the same labels for rows that no single process can hold."""

from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.classifiers.propagation import ANCHORED_SHARE, N_VOTES, SMOOTHING, TOLERANCE, Propagation, mass_proportions
from lpjt.core import cells, regions
from lpjt.core.neighbors import Neighbors, nearest_rows
from lpjt.core.propagation import normalise_class_mass, normalise_rows


def works_in_regions(classifier: Any) -> TypeGuard[Propagation]:
    """Whether the labels of a classifier can be computed region by region."""
    return type(classifier) is Propagation and classifier.anchored


@dataclass(frozen=True, slots=True, eq=False)
class RegionalPropagation:
    """What each task needs: the propagation, and the labelled rows."""

    classifier: Propagation
    Z_known: Array  # (n_known, d), scaled
    y_known: Codes  # (n_known,)
    n_classes: int
    search: str  # for labelled rows: "exact" or "approximate"

    @property
    def n_neighbors(self) -> int:
        """Neighbours per row in the graph."""
        return int(self.classifier.n_neighbors)

    def link(self, Z: Array, near: Neighbors) -> regions.Links:
        """Links of the rows of a region, (n, d), scaled, from their nearest other unlabelled rows."""
        known = nearest_rows(Z, self.Z_known, self.n_neighbors, search=self.search)
        return regions.make_links(near, known, N_VOTES)

    def system(
        self, links: regions.Links, first: int, incoming: list[regions.Edges], bandwidths: regions.Bandwidths
    ) -> regions.System:
        """System of a region; see `core.regions.make_system`."""
        return regions.make_system(links, first, incoming, self.y_known, self.n_classes, bandwidths)

    def solve(self, system: regions.System, F_halo: Array) -> Array:
        """Both solutions of a region, side by side, given those of its halo."""
        return regions.solve_region(system, F_halo, SMOOTHING, tol=TOLERANCE)

    def mix(self, F: Array, mass: Array) -> Array:
        """Class distributions, (n, n_classes), from both solutions; `mass` is their mean over all rows."""
        parts = zip(np.split(F, 2, axis=1), np.split(mass, 2), (0.5, 1.0), strict=True)
        anchored, harmonic = (self._normalised(part.astype(np.float64), m, power) for part, m, power in parts)
        return ANCHORED_SHARE * anchored + (1 - ANCHORED_SHARE) * harmonic

    def _normalised(self, F: Array, mass: Array, power: float) -> Array:
        proportions = mass_proportions(
            self.classifier, np.bincount(self.y_known, minlength=self.n_classes) / len(self.y_known)
        )
        if proportions is None:
            return normalise_rows(F)
        return normalise_class_mass(F, proportions, power=power, mass=mass)


def search_members(Z: Array, of_cells: Codes, numbers: Codes, n_neighbors: int) -> Neighbors:
    """Nearest other rows of each member of a region within its cells, by their numbers; -1 beyond the last one."""
    near = cells.search_cells(Z, of_cells, n_neighbors)
    return Neighbors(np.where(near.indices >= 0, numbers[near.indices], -1), near.squared)


def merge_guests(own: Neighbors, guests: list[tuple[Codes, Neighbors]]) -> Neighbors:
    """Lists of a region's own rows, merged with those that other regions found for some of them, given their places."""
    k = own.indices.shape[1]
    for places, near in guests:
        indices = np.hstack([own.indices[places], near.indices])
        merged = cells.merge_lists(indices, np.hstack([own.squared[places], near.squared]), k)
        own.indices[places], own.squared[places] = merged.indices, merged.squared
    return own
