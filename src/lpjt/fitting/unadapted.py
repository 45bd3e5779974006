"""Outcomes without adaptation: no target, no shift, or iterations that all collapsed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lpjt._typing import Array
from lpjt.classifiers import Predictor, Reweighted, make_pool
from lpjt.core import coordinates
from lpjt.core.objective import Problem
from lpjt.domains import Domains
from lpjt.fitting.candidate import Candidate, make_coordinates
from lpjt.fitting.plan import Outcome, Plan, settle_lengths
from lpjt.fitting.refine import refine_labels
from lpjt.fitting.trial import Trial
from lpjt.kernels import Kernel
from lpjt.selection.scaling import Scalings
from lpjt.selection.unshifted import Unshifted, principal_axes


def fit_source_only(domains: Domains, plan: Plan) -> Outcome:
    """Learn from the source alone: principal axes for `transform`, the plan's classifier for `predict`."""
    scalings = Scalings(domains)
    plan = settle_lengths(plan, scalings)
    kind = plan.views[0]
    maps = make_coordinates(domains.sources, scalings.of(kind), plan)
    rows = [coordinates.to_coordinates(d.X, m) for d, m in zip(domains.sources, maps, strict=True)]
    widths = [d.X.shape[1] for d in domains.sources]

    def learn(members: list[int]) -> Predictor:
        Z, y = np.vstack([rows[i] for i in members]), np.concatenate([domains.sources[i].y for i in members])
        Y = np.eye(len(domains.classes))[y]
        weights = None if domains.weights is None else np.concatenate([domains.weights[i] for i in members])
        return plan.classifier.freeze(Z, y, weights, Y, search=plan.settings.search)

    return Outcome(
        coordinates=maps,
        projections=principal_axes(rows, widths, plan.settings.n_components),
        predictors=_of_each_width(widths, learn),
        distributions=(),
        weights=_ones(rows),
        adapted=False,
        scaling=kind,
    )


def keep_unshifted(domains: Domains, plan: Plan, unshifted: Unshifted) -> Outcome:
    """Labels of the best classifier of the source, if the target cannot be told from it."""
    everything = domains.all
    maps = tuple(coordinates.Coordinates(unshifted.scaling) for _ in everything)
    rows = [coordinates.to_coordinates(d.X, m) for d, m in zip(everything, maps, strict=True)]
    message = (
        f"No shift found: rows of both domains mix within classes (statistic {unshifted.mixing:.2f}, 1 is no shift), "
        f"so the target is labelled by {unshifted.name} on the source, without adaptation. Set safeguard=False to "
        "adapt all the same."
    )
    return Outcome(
        coordinates=maps,
        projections=principal_axes(rows, [d.X.shape[1] for d in everything], plan.settings.n_components),
        predictors=(unshifted.predictor,) * len(everything),
        distributions=unshifted.distributions,
        weights=_ones(rows),
        adapted=False,
        scaling="source",
        messages=[message],
    )


def keep_consensus(domains: Domains, plan: Plan, trial: Trial, scalings: Scalings) -> Outcome:
    """Labels of the consensus of the candidates, in a view of the rows, where the evidence is against adaptation."""
    everything, n_classes = domains.all, len(domains.classes)
    widths = [d.X.shape[1] for d in everything]
    view = trial.best_unadapted.view
    maps = make_coordinates(everything, scalings.of(view), replace(plan, kernel=Kernel("linear")))
    rows = [coordinates.to_coordinates(d.X, m) for d, m in zip(everything, maps, strict=True)]
    is_target = tuple(i >= len(domains.sources) for i in range(len(everything)))
    problem = Problem(tuple(rows), tuple(d.y for d in everything), is_target, n_classes, weights=domains.weights)
    named = plan.named_proportions(problem.source_proportions)
    refined = refine_labels(problem, widths, None, trial, named, unit_length=plan.unit_length)
    predictors: tuple[Predictor, ...] = refined.regressions
    if refined.factors is not None:
        predictors = tuple(Reweighted(predictor, refined.factors) for predictor in predictors)
    return Outcome(
        coordinates=maps,
        projections=principal_axes(rows, widths, plan.settings.n_components),
        predictors=predictors,
        distributions=tuple(refined.distributions),
        weights=_ones(rows),
        adapted=False,
        scaling=view,
        trial=trial,
    )


def keep_first_labels(candidate: Candidate, plan: Plan, shared: dict[str, Any]) -> Outcome:
    """The first labels, in coordinates, if every iteration collapsed."""
    problem = candidate.problem
    parts = np.split(all_distributions(problem, candidate.start), np.cumsum([len(X) for X in problem.rows])[:-1])

    def pool(members: list[int]) -> Predictor:
        Z, Y = (np.vstack([of_domain[i] for i in members]) for of_domain in (problem.rows, parts))
        return make_pool(Z, Y, n_neighbors=15, unit_length=False)

    return Outcome(
        coordinates=candidate.maps,
        projections=principal_axes(problem.rows, candidate.widths, plan.settings.n_components),
        predictors=_of_each_width(candidate.widths, pool),
        distributions=tuple(candidate.start),
        weights=_ones(problem.rows),
        adapted=False,
        scaling=candidate.scaling,
        **shared,
    )


def all_distributions(problem: Problem, distributions: Sequence[Array]) -> Array:
    """Distributions of the rows of all domains, (n, n_classes); one-hot for sources."""
    targets, eye = iter(distributions), np.eye(problem.n_classes)
    return np.vstack([next(targets) if t else eye[y] for y, t in zip(problem.labels, problem.is_target, strict=True)])


def _of_each_width(widths: Sequence[int], learn: Callable[[list[int]], Predictor]) -> tuple[Predictor, ...]:
    """Predictor of each domain, learned from all domains of its width, the only ones that share its coordinates."""
    learned = {width: learn([i for i, other in enumerate(widths) if other == width]) for width in set(widths)}
    return tuple(learned[width] for width in widths)


def _ones(rows: Sequence[Array]) -> tuple[Array, ...]:
    return tuple(np.ones(len(X)) for X in rows)
