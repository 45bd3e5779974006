"""How far apart the domains are: column by column, and rows of the target that are unlike the source."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from lpjt._typing import Array, Codes
from lpjt.core.blocks import as_dense
from lpjt.report.rows import DomainRows

#: Rows of each side that the statistics read: at 2,000, a distance of 0.04 is chance.
SAMPLE = 2000
BINS = 16

#: Share of source rows that are as far from other source rows as a target row that is called far.
FAR = 0.01

#: Probability, over all columns together, that a column without a shift is said to have one.
CHANCE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class ColumnShift:
    """One column of both sides."""

    name: str
    distance: float  # Kolmogorov-Smirnov: the largest difference of the two distribution functions
    means: tuple[float, float]  # source, target
    deviations: float  # difference of the means, in pooled standard deviations
    histograms: tuple[Array, Array]  # shares of the rows in `BINS` bins from `low` to `high`
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Shifts:
    """The columns that shifted most, and how many shifted at all."""

    columns: list[ColumnShift]  # the largest distance first
    n_columns: int
    n_shifted: int  # columns whose distance is above `by_chance`
    by_chance: float
    n_rows: tuple[int, int]  # rows that were compared


def compare_columns(domains: Sequence[DomainRows], *, n_shown: int = 12, seed: int = 0) -> Shifts | None:
    """Two-sample statistics of each column, source rows against target rows.

    Returns
    -------
    Shifts or None
        None if there is no target, if rows are missing, or if the widths differ: then no column has a counterpart.
    """
    sides = [[d for d in domains if d.is_source is side] for side in (True, False)]
    if not all(sides) or any(d.X is None for d in domains) or len({d.width for d in domains}) > 1:
        return None
    rng = np.random.default_rng(seed)
    source, target = (_sample(side, rng) for side in sides)
    distances = _distances(source, target)
    order = np.argsort(-distances, kind="stable")
    names = next((d.columns for d in domains if d.columns is not None), None)
    shown = [_describe(j, names, float(distances[j]), source[:, j], target[:, j]) for j in order[:n_shown]]
    n, m = len(source), len(target)
    by_chance = float(np.sqrt(-0.5 * np.log(CHANCE / len(distances) / 2)) * np.sqrt((n + m) / (n * m)))
    return Shifts(shown, len(distances), int((distances > by_chance).sum()), by_chance, (n, m))


def _sample(side: Sequence[DomainRows], rng: np.random.Generator) -> Array:
    total = sum(d.n_rows for d in side)
    parts = []
    for d in side:
        keep = min(d.n_rows, max(2, SAMPLE * d.n_rows // total))
        parts.append(as_dense(d.X[np.sort(rng.permutation(d.n_rows)[:keep])]) if d.X is not None else np.empty((0, 0)))
    return np.vstack(parts).astype(np.float64)


def _distances(source: Array, target: Array) -> Array:
    return np.array([stats.ks_2samp(a, b, method="asymp").statistic for a, b in zip(source.T, target.T, strict=True)])


def _describe(j: int, names: Any, distance: float, a: Array, b: Array) -> ColumnShift:
    both = np.concatenate([a, b])
    low, high = np.quantile(both, [0.005, 0.995])
    if not high > low:
        low, high = both.min(), both.max()
    if not high > low:
        low, high = low - 0.5, high + 0.5
    counts = [np.histogram(np.clip(x, low, high), BINS, (low, high))[0] / len(x) for x in (a, b)]
    pooled = np.sqrt((a.var() + b.var()) / 2)
    means = float(a.mean()), float(b.mean())
    return ColumnShift(
        name=f"column {j}" if names is None else str(names[j]),
        distance=distance,
        means=means,
        deviations=(means[1] - means[0]) / pooled if pooled > 0 else 0.0,
        histograms=(counts[0], counts[1]),
        low=float(low),
        high=float(high),
    )


@dataclass(frozen=True, slots=True, eq=False)
class FarRows:
    """Target rows that are unlike any row of the sources in the shared space."""

    rows: list[tuple[DomainRows, int, float]]  # target, row, distance as a multiple of what is usual; farthest first
    n_far: int
    n_rows: int


def find_far_rows(model: Any, domains: Sequence[DomainRows], *, n_shown: int = 8, seed: int = 0) -> FarRows | None:
    """Target rows farther from the nearest source row than `FAR` of the source rows are from their own."""
    sources, targets = ([d for d in domains if d.is_source is side] for side in (True, False))
    if not sources or not targets or any(d.X is None for d in domains):
        return None
    rng = np.random.default_rng(seed)
    Z = np.vstack([_embedded(model, d, _some(d, rng)) for d in sources])
    search = NearestNeighbors(n_neighbors=min(2, len(Z))).fit(Z)
    usual = float(np.quantile(search.kneighbors(Z)[0][:, -1], 1 - FAR)) or 1.0
    found, n_far, n_rows = [], 0, 0
    for d in targets:
        places = _some(d, rng)
        multiples = search.kneighbors(_embedded(model, d, places), n_neighbors=1)[0][:, 0] / usual
        n_far, n_rows = n_far + int((multiples > 1).sum()), n_rows + len(places)
        far = np.argsort(-multiples, kind="stable")[:n_shown]
        found += [(d, int(places[i]), float(multiples[i])) for i in far if multiples[i] > 1]
    return FarRows(sorted(found, key=lambda one: -one[2])[:n_shown], n_far, n_rows)


def _some(d: DomainRows, rng: np.random.Generator) -> Codes:
    return np.sort(rng.permutation(d.n_rows)[: 3 * SAMPLE])


def _embedded(model: Any, d: DomainRows, places: Codes) -> Array:
    return np.empty((0, 1)) if d.X is None else normalize(model._embed(d.X[places], d.name))
