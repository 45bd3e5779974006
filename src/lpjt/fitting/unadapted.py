"""Outcomes without adaptation: no target, no shift, or iterations that all collapsed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lpjt._typing import Array
from lpjt.classifiers import make_pool
from lpjt.core import coordinates
from lpjt.core.objective import Problem
from lpjt.domains import Domains
from lpjt.fitting.candidate import Candidate, make_coordinates
from lpjt.fitting.plan import Outcome, Plan
from lpjt.selection.unshifted import Unshifted, principal_axes


def fit_source_only(domains: Domains, plan: Plan) -> Outcome:
    """Learn from the source alone: principal axes for `transform`, the plan's classifier for `predict`."""
    kind = plan.scalings[0]
    scalings = [coordinates.fit_scaling(d.X, kind) for d in domains.sources]
    maps = make_coordinates(domains.sources, scalings, plan)
    rows = [coordinates.to_coordinates(d.X, m) for d, m in zip(domains.sources, maps, strict=True)]
    alike = [i for i, X in enumerate(rows) if X.shape[1] == rows[0].shape[1]]
    y = np.concatenate([domains.sources[i].y for i in alike])
    Z, Y = np.vstack([rows[i] for i in alike]), np.eye(len(domains.classes))[y]
    return Outcome(
        coordinates=maps,
        projections=principal_axes(rows, plan.settings.n_components),
        predictor=plan.classifier.freeze(Z, y, np.ones(len(y)), Y, search=plan.settings.search),
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
        projections=principal_axes(rows, plan.settings.n_components),
        predictor=unshifted.predictor,
        distributions=unshifted.distributions,
        weights=_ones(rows),
        adapted=False,
        scaling="source",
        messages=[message],
    )


def keep_first_labels(candidate: Candidate, plan: Plan, shared: dict[str, Any]) -> Outcome:
    """The first labels, in coordinates, if every iteration collapsed."""
    problem = candidate.problem
    Y = all_distributions(problem, candidate.start)
    targets = [X for X, is_target in zip(problem.rows, problem.is_target, strict=True) if is_target]
    one_width = len({X.shape[1] for X in problem.rows}) == 1
    rows = np.vstack(problem.rows if one_width else targets)
    return Outcome(
        coordinates=candidate.maps,
        projections=principal_axes(problem.rows, plan.settings.n_components),
        predictor=make_pool(rows, Y[len(Y) - len(rows) :], n_neighbors=15, unit_length=False),
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


def _ones(rows: Sequence[Array]) -> tuple[Array, ...]:
    return tuple(np.ones(len(X)) for X in rows)
