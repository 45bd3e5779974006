"""Where rows are drawn: two dimensions for both domains before adaptation, and for the shared space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from lpjt._typing import Array, Codes
from lpjt.core.blocks import as_dense
from lpjt.report.rows import DomainRows

LAYOUTS = ("tsne", "pca")

#: Rows that t-SNE lays out itself, 2 seconds on one core; others are placed among them. The cost grows faster than
#: the rows, and a reader sees no more in more of them.
ANCHORS = 800
ITERATIONS = 500
PLACED_BY = 5  # nearest anchors that place another row

#: Directions of the rows that a layout starts from.
DIRECTIONS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One drawing: a position, (n, 2), in [0, 1], for each drawn row; NaN for rows of other panels."""

    title: str
    note: str
    places: Array


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The rows of all domains that are drawn."""

    chosen: list[Codes]  # positions in each domain
    domain: Codes  # (n,) number of the domain of each drawn row
    panels: list[Panel]


def choose_rows(domains: Sequence[DomainRows], max_rows: int, seed: int) -> list[Codes]:
    """At most `max_rows` rows in all, drawn from each domain in proportion to its rows."""
    total = sum(d.n_rows for d in domains)
    rng = np.random.default_rng(seed)
    ends = np.cumsum([0, *(d.n_rows for d in domains)]) * min(1.0, max_rows / total)
    sizes = np.diff(np.round(ends).astype(int))
    return [np.sort(rng.permutation(d.n_rows)[: max(1, size)]) for d, size in zip(domains, sizes, strict=True)]


def draw_domains(
    model: Any, domains: Sequence[DomainRows], *, max_rows: int, layout: str = "tsne", seed: int = 0
) -> Drawn:
    """Lay out the domains before and after adaptation.

    Parameters
    ----------
    model : LPJT
        Fitted; embeds the rows.
    domains : sequence of DomainRows
        All with rows.
    max_rows : int
        Rows that are drawn, all domains together.
    layout : {"tsne", "pca"}
    seed : int
    """
    chosen = choose_rows(domains, max_rows, seed)
    rows = [as_dense(d.X[places]) for d, places in zip(domains, chosen, strict=True) if d.X is not None]
    domain = np.repeat(np.arange(len(rows)), [len(X) for X in rows])
    with threadpool_limits(1):  # t-SNE on few rows loses more by waiting for threads than it gains
        panels = _before(rows, domains, domain, layout, seed)
        after = [normalize(model._embed(X, d.name)) for X, d in zip(rows, domains, strict=True)]
        title = "After" if model.adapted_ else "Shared space (its labels were not used)"
        note = "In the shared space that was learned, where near rows get the same label."
        panels.append(Panel(title, note, _plane(np.vstack(after), layout, seed)))
    return Drawn(chosen, domain, panels)


def _before(rows: Sequence[Array], domains: Sequence[DomainRows], domain: Codes, layout: str, seed: int) -> list[Panel]:
    if len({X.shape[1] for X in rows}) == 1:
        places = _plane(_z_scores(np.vstack(rows)), layout, seed)
        note = "The rows as they were given, each column scaled to the same spread."
        note += " With so few columns, t-SNE is not needed." if rows[0].shape[1] < 3 else ""
        return [Panel("Before", note, places)]
    panels = []
    for number, (X, d) in enumerate(zip(rows, domains, strict=True)):
        places = np.full((len(domain), 2), np.nan)
        places[domain == number] = _plane(_z_scores(X), layout, seed)
        note = f"{X.shape[1]:,} columns of its own, so it is drawn by itself."
        panels.append(Panel(f"Before: {d.name}", note, places))
    return panels


def _z_scores(X: Array) -> Array:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _plane(X: Array, layout: str, seed: int) -> Array:
    """Places of rows in the unit square."""
    reduced = _reduce(X, seed)
    flat = reduced[:, :2] if layout == "pca" or len(X) < 10 or reduced.shape[1] < 3 else _tsne(reduced, seed)
    if flat.shape[1] < 2:
        flat = np.column_stack([flat[:, 0], np.zeros(len(flat))])
    low, high = np.quantile(flat, [0.002, 0.998], axis=0)  # a far row must not shrink all others to a dot
    return np.clip((flat - low) / np.where(high > low, high - low, 1.0), -0.02, 1.02)


def _reduce(X: Array, seed: int) -> Array:
    return np.asarray(PCA(min(DIRECTIONS, *X.shape), random_state=seed).fit_transform(X))


def _tsne(X: Array, seed: int) -> Array:
    places = np.random.default_rng(seed).permutation(len(X))
    anchors, others = places[:ANCHORS], places[ANCHORS:]
    flat = np.empty((len(X), 2))
    perplexity = min(30.0, (len(anchors) - 1) / 3)
    with np.errstate(all="ignore"):
        flat[anchors] = TSNE(init="pca", perplexity=perplexity, max_iter=ITERATIONS, random_state=seed).fit_transform(
            X[anchors]
        )
    if len(others):
        k = min(PLACED_BY, len(anchors))
        distances, near = NearestNeighbors(n_neighbors=k).fit(X[anchors]).kneighbors(X[others])
        weights = 1.0 / (distances**2 + 1e-12 + 1e-3 * distances.mean() ** 2)
        weights /= weights.sum(axis=1, keepdims=True)
        flat[others] = np.einsum("ij,ijk->ik", weights, flat[anchors][near])
    return flat
