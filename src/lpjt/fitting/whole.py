"""A whole fit: learn on a sample of the rows, then label every row.

Algorithm 1's projections depend on class means, scatters and local graphs, which a sample estimates well. The labels of
all rows come afterwards: all rows are embedded once and labelled over the graph of all of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lpjt._typing import Array, Codes, Values
from lpjt.classifiers import Inductive, Predictor
from lpjt.core.alternation import Clock
from lpjt.core.blocks import AnyRows, Chunked, keep_freed_memory, multiply
from lpjt.core.coordinates import Coordinates, to_coordinates
from lpjt.core.moments import class_proportions
from lpjt.core.neighbors import nearest_rows
from lpjt.core.propagation import normalise_rows
from lpjt.core.ridge import KernelRidge
from lpjt.core.ties import are_few
from lpjt.domains import Domain, Domains
from lpjt.fitting.adapt import OnRecord, adapt
from lpjt.fitting.asking import order_targets
from lpjt.fitting.engine import Engine, Held
from lpjt.fitting.graph import propagate
from lpjt.fitting.memory import within_memory
from lpjt.fitting.plan import Outcome, Plan
from lpjt.fitting.refine import keep_known, shift_proportions
from lpjt.fitting.sampling import draw_sample
from lpjt.fitting.unadapted import fit_source_only
from lpjt.selection.trust import Verdict, judge


def fit_domains(
    domains: Domains,
    plan: Plan,
    engine: Engine,
    *,
    memory_limit: str | int | None = None,
    on_record: OnRecord | None = None,
) -> Outcome:
    """Fit validated domains, with any engine.

    Parameters
    ----------
    domains : Domains
    plan : Plan
    engine : Engine
        Holds the rows and labels of the domains.
    memory_limit : str, int or None
        Memory beyond the input; see `within_memory`.
    on_record : callable, optional
        Called with the record of each iteration.

    Returns
    -------
    Outcome
        Distributions and weights are held by the engine.
    """
    clock = Clock()
    keep_freed_memory()
    everything = domains.all
    labels = [engine.labels(d.y) for d in everything]
    sample = _draw(everything, labels, plan, len(domains.classes))
    few = _few_in_float64(gather_rows(domains, sample, labels, engine))
    clock.lap("sample")
    plan = within_memory(plan, few, memory_limit, whole=domains, labels_here=engine.in_memory)
    if not domains.targets:
        outcome = replace(fit_source_only(few, plan), weights=_equal_weights(domains, engine))
        clock.lap("predictor")
        return replace(outcome, sample=sample, seconds=clock.laps)
    outcome = adapt(few, plan, on_record)
    outcome = replace(outcome, neighbor_recall=1.0 if plan.settings.search == "exact" else None)
    clock.skip()
    here = None
    if any(positions is not None for positions in sample):
        del few  # all rows are read from the engine, and the sample may be a tenth of them
        outcome = _label_all(domains, labels, sample, outcome, plan, engine)
        pairs = zip(outcome.distributions, domains.targets, strict=True)
        held = [engine.map_rows(likeliest_block, F, d.y, columns=None, dtype=np.int64) for F, d in pairs]
        codes = [engine.labels(part) for part in held]
    else:
        here = outcome.distributions
        codes = [likeliest_block(F, d.y) for F, d in zip(here, few.targets, strict=True)]
        outcome = _hold(outcome, everything, engine)
    of_source = class_proportions(labels[: len(domains.sources)], domains.weights, len(domains.classes))
    verdict = _judge(outcome, codes, of_source, domains.classes)
    asking = order_targets(domains, labels[len(domains.sources) :], outcome, engine, verdict.absent, here=here)
    clock.lap("all rows")
    clock.add(outcome.seconds)
    return replace(outcome, verdict=verdict, asking=asking, sample=sample, seconds=clock.laps)


def _draw(everything: Sequence[Domain], labels: list[Codes], plan: Plan, n_classes: int) -> tuple[Codes | None, ...]:
    """Positions of the rows of each domain that are learned from; None for all of its rows."""
    if plan.sample_size is None:
        return (None,) * len(everything)
    if plan.sample_size < 2 * n_classes and any(len(y) > plan.sample_size for y in labels):
        raise ValueError(
            f"sample_size={plan.sample_size} is too small for {n_classes} classes. Set it to at least {2 * n_classes}, "
            "two rows per class, or to None to learn from every row."
        )
    return tuple(draw_sample(y, plan.sample_size, plan.random_state) for y in labels)


def gather_rows(domains: Domains, sample: Sequence[Codes | None], labels: list[Codes], engine: Engine) -> Domains:
    """The domains with the sampled rows alone, in the caller's memory."""
    n = len(domains.sources)
    few = [
        d.with_rows(
            engine.take(d.X, positions),
            (y if positions is None else y[positions]).astype(np.int64, copy=False),
            positions,
        )
        for d, positions, y in zip(domains.all, sample, labels, strict=True)
    ]
    return replace(domains, sources=tuple(few[:n]), targets=tuple(few[n:]))


def _few_in_float64(domains: Domains) -> Domains:
    """The domains in float64 if all of them are small: rounded rows would lose which distances are equal."""
    if not all(are_few(d.X) and d.X.dtype == np.float32 for d in domains.all):
        return domains
    in_memory = [d.X[:] if isinstance(d.X, Chunked) else d.X for d in domains.all]
    few = [d.with_rows(X.astype(np.float64), d.y, None) for d, X in zip(domains.all, in_memory, strict=True)]
    n = len(domains.sources)
    return replace(domains, sources=tuple(few[:n]), targets=tuple(few[n:]))


def _hold(outcome: Outcome, everything: Sequence[Domain], engine: Engine) -> Outcome:
    """The outcome of a fit on every row, its results held by the engine."""
    n_sources = len(everything) - len(outcome.distributions)
    return replace(
        outcome,
        distributions=tuple(
            engine.hold(F, d.X) for F, d in zip(outcome.distributions, everything[n_sources:], strict=True)
        ),
        weights=tuple(engine.hold(w, d.X) for w, d in zip(outcome.weights, everything, strict=True)),
    )


def _label_all(
    domains: Domains,
    labels: list[Codes],
    sample: Sequence[Codes | None],
    outcome: Outcome,
    plan: Plan,
    engine: Engine,
) -> Outcome:
    """Distributions and weights of all rows, from the maps, projections and predictor learned on the sample."""
    everything = domains.all
    n_sources, n_classes = len(domains.sources), len(domains.classes)
    parts = list(zip(outcome.coordinates, outcome.projections, strict=True))
    weights, recall = _equal_weights(domains, engine), outcome.neighbor_recall
    Z: list[Held] = []
    weighted = outcome.adapted and plan.settings.landmark_ratio is not None
    transductive = outcome.adapted and not isinstance(outcome.classifier, Inductive)
    if transductive or weighted:
        Z = [
            engine.map_rows(partial(embed_block, map_to=m, projection=P), d.X, columns=P.shape[1], dtype=np.float32)
            for d, (m, P) in zip(everything, parts, strict=True)
        ]
    if weighted:
        weights = _spread_weights(Z, sample, outcome.weights, engine)
    if transductive:
        assert outcome.classifier is not None
        distributions, recall = propagate(Z, labels, domains, plan, outcome.classifier, engine)
        distributions = _refine(distributions, domains, outcome, engine)
    else:
        distributions = tuple(
            engine.map_rows(
                partial(predict_block, map_to=outcome.coordinates[i], predictor=outcome.predictors[i]),
                everything[i].X,
                everything[i].y,
                columns=n_classes,
                dtype=np.float64,
            )
            for i in range(n_sources, len(everything))
        )
    return replace(outcome, distributions=distributions, weights=weights, neighbor_recall=recall)


def _refine(distributions: Sequence[Held], domains: Domains, outcome: Outcome, engine: Engine) -> tuple[Held, ...]:
    """Distributions of all target rows, averaged with those of the regressions, which read the rows once more."""
    temperature = 1.0 if outcome.trust is None else outcome.trust.temperature
    n_sources, n_classes = len(domains.sources), len(domains.classes)
    if not outcome.regressions:
        pairs = zip(domains.targets, distributions, strict=True)
        calibrate = partial(calibrate_block, temperature=temperature, shift=outcome.shift)
        return tuple(engine.map_rows(calibrate, F, d.y, columns=n_classes, dtype=np.float64) for d, F in pairs)
    refined = []
    for j, (d, F) in enumerate(zip(domains.targets, distributions, strict=True), start=n_sources):
        refine = partial(
            refine_block,
            map_to=outcome.coordinates[j],
            regression=outcome.regressions[j],
            share=outcome.share,
            factors=outcome.factors,
            temperature=temperature,
            shift=outcome.shift,
        )
        refined.append(engine.map_rows(refine, d.X, F, d.y, columns=n_classes, dtype=np.float64))
    return tuple(refined)


def _judge(outcome: Outcome, of_targets: list[Codes], of_source: Array, classes: Values) -> Verdict:
    """The fit in words, from the codes of all target rows and the proportions of the source."""
    proportions = np.bincount(np.concatenate(of_targets), minlength=len(classes)) / sum(map(len, of_targets))
    assert outcome.trust is not None
    return judge(
        outcome.trust,
        adapted=outcome.adapted,
        view=outcome.scaling,
        proportions=proportions,
        of_source=of_source,
        classes=classes,
    )


def _equal_weights(domains: Domains, engine: Engine) -> tuple[Held, ...]:
    """Weight 1 for every row of every domain."""
    return tuple(engine.hold(np.ones(d.X.shape[0]), d.X) for d in domains.all)


def _spread_weights(
    Z: list[Held], sample: Sequence[Codes | None], weights: Sequence[Array], engine: Engine
) -> tuple[Held, ...]:
    """Landmark weights of all rows: those of the sample, and for any other row that of the nearest sampled row."""

    def spread(z: Held, positions: Codes | None, w: Array) -> Held:
        if positions is None:
            return engine.hold(w, z)
        weigh = partial(weigh_block, sampled=np.asarray(engine.take(z, positions)), weights=w)
        return engine.map_rows(weigh, z, columns=None, dtype=np.float64)

    return tuple(spread(*parts) for parts in zip(Z, sample, weights, strict=True))


def embed_block(X: AnyRows, *, map_to: Coordinates, projection: Array) -> Array:
    """Embedded rows of a block of raw rows."""
    return multiply(to_coordinates(X, map_to), projection)


def predict_block(X: AnyRows, y: Codes, *, map_to: Coordinates, predictor: Predictor) -> Array:
    """Class distributions of a block of raw rows; one-hot where the label is known."""
    return keep_known(predictor.distributions_of(to_coordinates(X, map_to)), y)


def refine_block(
    X: AnyRows,
    F: Array,
    y: Codes,
    *,
    map_to: Coordinates,
    regression: KernelRidge,
    share: float,
    factors: Array | None,
    temperature: float,
    shift: Array | None = None,
) -> Array:
    """Mean of given distributions, by their share, and of those of a regression, calibrated; known labels are kept."""
    G = regression.distributions_of(to_coordinates(X, map_to)) + share * F
    F = normalise_rows(G if factors is None else G * factors)
    return keep_known(shift_proportions(F, temperature, shift), y)


def calibrate_block(F: Array, y: Codes, *, temperature: float, shift: Array | None = None) -> Array:
    """Distributions of a block of rows, calibrated; known labels are kept."""
    return keep_known(shift_proportions(np.array(F), temperature, shift), y)


def likeliest_block(F: Array, y: Codes) -> Codes:
    """Codes of a block of rows: those given, else the likeliest."""
    return np.where(y >= 0, y, F.argmax(axis=1))


def weigh_block(Z: Array, *, sampled: Array, weights: Array) -> Array:
    """Weight of the nearest sampled row of each embedded row of a block."""
    return weights[nearest_rows(Z, sampled, 1).indices[:, 0]]
