"""Labels of all target rows over the graph of all embedded rows, from what was learned on the sample."""

from functools import partial

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.classifiers import Classifier
from lpjt.classifiers.propagation import scale_rows
from lpjt.classifiers.regional import RegionalPropagation, works_in_regions
from lpjt.core.neighbors import choose_search
from lpjt.domains import Domains
from lpjt.fitting.engine import Engine, Held, RegionalEngine
from lpjt.fitting.plan import REGION_KNOWN, REGIONS_FROM, SHARD_ROWS, Plan
from lpjt.fitting.sampling import draw_by_class


def propagate(
    Z: list[Held],
    labels: list[Codes],
    domains: Domains,
    plan: Plan,
    classifier: Classifier,
    engine: Engine,
) -> tuple[tuple[Held, ...], float | None]:
    """One labelling of all target rows over the graph of all embedded rows, and the recall of its search.

    In as few shards as their number allows; on a cluster, many rows are labelled in regions of one graph instead. The
    recall is 1 for an exact search, and None where it was not measured.
    """
    n_sources, n_classes = len(domains.sources), len(domains.classes)
    unknown = [np.flatnonzero(y < 0) for y in labels[n_sources:]]
    n_unknown = sum(map(len, unknown))
    many = n_unknown > REGIONS_FROM and plan.neighbor_search != "exact"
    if many and isinstance(engine, RegionalEngine) and works_in_regions(classifier):
        known = _choose_known(labels, n_sources, plan.random_state, REGION_KNOWN)
        Z_known, y_known = _stack_known(Z, labels, known, engine)
        search = choose_search(plan.neighbor_search, len(y_known))
        rule = RegionalPropagation(classifier, scale_rows(classifier, Z_known), y_known, n_classes, search)
        return engine.map_regions(rule, Z[n_sources:], labels[n_sources:])
    shard_rows = plan.shard_rows or SHARD_ROWS
    known = _choose_known(labels, n_sources, plan.random_state, shard_rows)
    Z_known, y_known = _stack_known(Z, labels, known, engine)
    n_shards = max(1, -(-n_unknown // shard_rows))
    search = choose_search(plan.neighbor_search, max(len(y_known), -(-n_unknown // n_shards)))
    label = partial(
        label_shard,
        Z_known=Z_known,
        y_known=y_known,
        weights=None
        if domains.weights is None
        else np.concatenate([w[rows] for w, rows in zip(domains.weights, known, strict=True)]),
        classifier=classifier,
        n_classes=n_classes,
        search=search,
    )
    shards = [[rows[s::n_shards] for rows in unknown] for s in range(n_shards)]
    recall = 1.0 if search == "exact" and n_shards == 1 else None
    return engine.map_shards(label, Z[n_sources:], shards, labels[n_sources:], n_classes), recall


def _stack_known(Z: list[Held], labels: list[Codes], known: list[Codes], engine: Engine) -> tuple[Array, Codes]:
    """Labelled rows of all domains, (n_known, d), and their codes."""
    rows = np.vstack([np.asarray(engine.take(z, places)) for z, places in zip(Z, known, strict=True)])
    return rows, np.concatenate([y[places] for y, places in zip(labels, known, strict=True)])


def _choose_known(
    labels: list[Codes], n_sources: int, random_state: np.random.RandomState, max_rows: int
) -> list[Codes]:
    """Ascending positions of the labelled rows of each domain that take part in a labelling.

    All of them up to `max_rows`; beyond that a stratified sample of each domain. Labelled target rows are worth more
    than source rows, so they are thinned only beyond half of that number.
    """
    known = [np.flatnonzero(y >= 0) for y in labels]
    n_source, n_target = (sum(map(len, side)) for side in (known[:n_sources], known[n_sources:]))
    of_target = min(n_target, max(max_rows // 2, max_rows - n_source))
    of_source = min(n_source, max_rows - of_target)
    chosen = []
    for i, (rows, y) in enumerate(zip(known, labels, strict=True)):
        places, n_side = (of_source, n_source) if i < n_sources else (of_target, n_target)
        n_rows = len(rows) * places // max(n_side, 1)
        chosen.append(np.sort(draw_by_class(rows, y[rows], n_rows, random_state)))
    return chosen


def label_shard(
    parts: list[Array],
    *,
    Z_known: Array,
    y_known: Codes,
    weights: Array | None = None,
    classifier: Classifier,
    n_classes: int,
    search: str,
) -> Array:
    """Class distributions of the unlabelled rows of a shard, stacked, from all labelled rows."""
    stacked = np.vstack([Z_known, *parts])
    y = np.concatenate([y_known, np.full(len(stacked) - len(y_known), -1)]).astype(np.int64, copy=False)
    if len(stacked) == len(y_known):
        return np.empty((0, n_classes))
    if weights is not None:  # of the labelled rows alone; an unlabelled row counts once
        weights = np.concatenate([weights, np.ones(len(stacked) - len(weights))])
    return classifier.classify(stacked, y, weights, n_classes, search=search)
