"""The candidates of a fit: several ways to label a sample of the target, which share coordinates and neighbours."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lpjt._threads import map_threads
from lpjt._typing import Array, Codes
from lpjt.classifiers import with_masses
from lpjt.core.blocks import is_sparse
from lpjt.core.moments import class_proportions
from lpjt.domains import Domains
from lpjt.fitting.held_out import HeldOut, hold_out
from lpjt.fitting.plan import Plan, Prepared
from lpjt.fitting.samples import Samples, draw_samples
from lpjt.fitting.trial import Sampled, Trial
from lpjt.fitting.views import Setting, View, iterate, join_grounds, label_view, map_problem
from lpjt.selection.choice import Ground, prior_votes, weigh_candidates
from lpjt.selection.scaling import Scalings
from lpjt.selection.shift import LEAST_PROPORTION, believe_proportions

#: Upper bound on the coordinates of candidates: a small share of the cost of a whole fit.
CANDIDATE_COORDINATES = 100

#: Upper bounds on the iterations of the two rounds, and on the adapted candidates of the second one.
FIRST_ITERATIONS, SECOND_ITERATIONS, FINALISTS = 2, 3, 4

#: Number of classes beyond which the second round is shorter, and upper bounds on its iterations and its adapted
#: candidates there: a whole second round would take a third of a fit, and changes few of the last labels.
MANY_CLASSES, FEWER_ITERATIONS, FEWER_FINALISTS = 100, 3, 2


def bound_second_round(n_classes: int) -> tuple[int, int]:
    """Upper bounds on the iterations and on the adapted candidates of the second round."""
    return (FEWER_ITERATIONS, FEWER_FINALISTS) if n_classes > MANY_CLASSES else (SECOND_ITERATIONS, FINALISTS)


def try_candidates(domains: Domains, plan: Plan) -> tuple[Trial, Plan]:
    """Label a sample of the target by every candidate of the plan, weigh them, and settle the plan.

    In the first round every view, kernel and class mass has few iterations. Its consensus tells the class masses. In
    the second round the best adapted candidates have more rows and iterations, with these masses, and are weighed again
    beside the unadapted ones, by the votes of the first round.

    Parameters
    ----------
    domains : Domains
        With at least one target.
    plan : Plan

    Returns
    -------
    Trial
        The second round.
    Plan
        With the view, the kernel and the class masses of the candidate that is fitted whole.
    """
    samples = draw_samples(domains, plan.random_state)
    return settle_plan(samples, plan, label_views(samples.few, plan, Scalings(samples.few)))


def label_views(few: Domains, plan: Plan, scalings: Scalings) -> list[View]:
    """The first round: all rows of `few` labelled by the candidates of every view of the plan."""
    small = make_small(plan, FIRST_ITERATIONS)
    # Each view has random numbers of its own, so that the threads do not share a generator.
    seeds = plan.random_state.randint(2**31 - 1, size=len(plan.views))
    return map_threads(
        lambda job: label_view(few, replace(small, random_state=np.random.RandomState(job[1])), job[0], scalings),
        list(zip(plan.views, seeds, strict=True)),
    )


def settle_plan(samples: Samples, plan: Plan, views: Sequence[View]) -> tuple[Trial, Plan]:
    """The second round, and what it settles; the views have labelled the rows of the first round."""
    few = samples.few
    tried = [pair for view in views for pair in zip(view.settings, view.labellings, strict=True)]
    if not any(s.family == "adapted" for s, _ in tried):
        raise next(error for view in views for error in view.errors)
    held = hold_out(few, make_small(plan, FIRST_ITERATIONS), views)
    first = _weigh(tried, views, join_grounds(few, views), samples, given=_given(held))
    masses, proportions = settle_masses(plan, first, few)
    plan = replace(plan, classifier=with_masses(plan.classifier, masses, proportions))
    n_iterations, n_finalists = bound_second_round(len(few.classes))
    numbers = _finalists(first, n_finalists)
    begun = [begin_from(first.labellings[i], samples, len(few.classes)) for i in numbers]
    finalists = [first.settings[i] for i in numbers]
    again = _label_again(finalists, begun, samples, make_small(plan, n_iterations), views)
    trial = _weigh_again(
        first,
        numbers,
        [(replace(s, masses=masses), F) for s, F in zip(finalists, again, strict=True)],
        views,
        samples,
        held,
    )
    shift, *_ = _find_shift(first, few)
    trial = replace(trial, held=held, shift=shift, mixing=max(view.mixing for view in views))
    chosen = trial.settings[trial.chosen]
    return trial, replace(
        plan,
        views=(chosen.view,),
        kernel=chosen.kernel or plan.kernel,
        n_coordinates=_rank_of_whole(plan, samples),
        prepared=_prepared(chosen, plan, samples, views),
        # The whole fit goes on where the candidate ended; some iterations are left for the rows outside the sample.
        max_iter=max(plan.max_iter - FIRST_ITERATIONS - n_iterations, (plan.max_iter + 1) // 2),
    )


def _weigh_again(
    first: Trial,
    numbers: Sequence[int],
    finalists: Sequence[tuple[Setting, Array]],
    views: Sequence[View],
    samples: Samples,
    held: HeldOut | None,
) -> Trial:
    """Finalists beside the candidates that do not adapt, judged by the votes of the first round.

    `numbers` are those of the finalists in the first round; each has distributions of the rows of the second one.
    """
    unadapted = [i for i, s in enumerate(first.settings) if s.family != "adapted"]
    n, rows = len(unadapted), samples.few_targets
    second = [(first.settings[i], first.labellings[i]) for i in unadapted]
    second += [(s, F[rows].argmax(axis=1)) for s, F in finalists]
    of_views = {view.name: view.facts for view in views}
    voted = prior_votes([s.family for s in first.settings], [of_views[s.view].mixing for s in first.settings])
    trial = _weigh(
        second,
        views,
        first.ground,
        samples,
        votes=first.weighed.votes,
        before={n + i: (voted[number], first.labellings[number]) for i, number in enumerate(numbers)},
        soft={n + i: F[rows] for i, (_, F) in enumerate(finalists)},
        given=_given(held, unadapted + list(numbers)),
    )
    # Rows outside the first round's sample have the votes of the finalists alone: they teach as much as these weigh.
    values = np.add.reduce([w * F for w, (_, F) in zip(trial.weighed.weight[n:], finalists, strict=True)])
    values[rows] = trial.weighed.consensus
    reached = finalists[trial.chosen - n][1]
    return replace(
        trial,
        first=first,
        lesson=Sampled(samples.positions, values),
        reached=Sampled(samples.positions, reached),
    )


def begin_from(labels: Codes, samples: Samples, n_classes: int) -> list[Array]:
    """First distributions of each target's rows of the second round: labels of the first one, else zeros."""
    sizes = [d.X.shape[0] for d in samples.more.targets]
    F = np.zeros((sum(sizes), n_classes))
    F[samples.few_targets, labels] = 1.0
    return np.split(F, np.cumsum(sizes)[:-1])


def _label_again(
    finalists: Sequence[Setting],
    begun: Sequence[Sequence[Array]],
    samples: Samples,
    small: Plan,
    views: Sequence[View],
) -> list[Array]:
    """Distributions of the target rows of the second round, (n, n_classes), by each finalist.

    Each goes on from its own labels of the first round, `begun`: finalists that begin with the consensus agree, right
    or wrong.
    """
    of_name, is_same = {view.name: view for view in views}, all(rows is None for rows in samples.within)
    seeds = small.random_state.randint(2**31 - 1, size=len(finalists))

    def label(job: tuple[Setting, Sequence[Array], int]) -> Array:
        setting, start, seed = job
        view, kernel = of_name[setting.view], setting.kernel or small.kernel
        own = replace(small, kernel=kernel, random_state=np.random.RandomState(seed))
        if is_same:
            return iterate(view.problems[kernel], own, samples.more, start, view.shared[kernel])
        # The coordinates of the first round: to learn them from more rows would take longer than the iterations.
        problem = map_problem(samples.more, own, view.maps[kernel])
        return iterate(problem, own, samples.more, start)

    return map_threads(label, list(zip(finalists, begun, seeds, strict=True)))


def settle_masses(plan: Plan, first: Trial, domains: Domains) -> tuple[str, Array | None]:
    """Class masses of the second round and of the whole fit, by name, and their proportions if they are estimated.

    Where the plan leaves them open: the proportions of the consensus, as far as they are further from the source's than
    wrong labels would make them; those of the source otherwise, since a target that has them is labelled better with
    them.
    """
    if len(plan.masses) == 1:
        return plan.masses[0], plan.proportions
    share, found, of_source = _find_shift(first, domains)
    if not share:
        return "source", None
    return "estimated", np.maximum((1 - share) * of_source + share * found, LEAST_PROPORTION)


def _find_shift(first: Trial, domains: Domains) -> tuple[float, Array, Array]:
    """How far to believe in other proportions than the source's, those of the consensus, and those of the source."""
    consensus, consent = first.weighed.consensus, first.weighed.consent
    found = np.bincount(consensus.argmax(axis=1), minlength=consensus.shape[1]) / len(consensus)
    of_source = class_proportions([d.y for d in domains.sources], domains.weights, consensus.shape[1])
    return believe_proportions(found, of_source, consent, len(consensus)), found, of_source


def _given(held: HeldOut | None, kept: Sequence[int] | None = None) -> tuple[Codes, Codes] | None:
    """Answers for hidden labels and these labels, as `weigh_candidates` takes them; of some candidates if named.

    A finalist has the answers of the first round: to hide labels in the second one too would cost as much again.
    """
    if held is None:
        return None
    return held.answers if kept is None else held.answers[kept], held.labels


def _finalists(first: Trial, most: int) -> list[int]:
    """Numbers of the best adapted candidates, one for each view and kernel; `most` is an upper bound."""
    best: dict[Any, int] = {}
    for i in np.argsort(-first.weighed.score, kind="stable").tolist():
        s = first.settings[i]
        if s.family == "adapted":
            best.setdefault((s.view, s.kernel), i)
    return list(best.values())[:most]


def _weigh(
    tried: Sequence[tuple[Setting, Codes]], views: Sequence[View], ground: Ground, samples: Samples, **earlier: Any
) -> Trial:
    settings, labellings = tuple(s for s, _ in tried), np.array([y for _, y in tried])
    of_views = {view.name: view.facts for view in views}
    facts, n_classes = [of_views[s.view] for s in settings], len(samples.few.classes)
    weighed = weigh_candidates(labellings, [s.family for s in settings], facts, ground, n_classes, **earlier)
    return Trial(settings, labellings, ground, weighed, samples.of_few)


def make_small(plan: Plan, max_iter: int) -> Plan:
    """The plan with the coordinates of candidates, in memory, and at most `max_iter` iterations.

    Neighbours are searched exactly, unless the caller asked for an approximate search: that pays for more rows.
    """
    search = "approximate" if plan.neighbor_search == "approximate" else "exact"
    return replace(
        plan,
        settings=replace(plan.settings, search=search),
        n_coordinates=_rank(plan),
        on_disk=False,
        max_iter=min(plan.max_iter, max_iter),
    )


def _rank_of_whole(plan: Plan, samples: Samples) -> int | str | None:
    """Coordinates of the whole fit: where candidates had all of its rows, no more than theirs, if it may choose."""
    had_all = all(rows is None for rows in samples.positions)
    return _rank(plan) if had_all and plan.n_coordinates == "auto" else plan.n_coordinates


def _rank(plan: Plan) -> int:
    bound = max(CANDIDATE_COORDINATES, plan.settings.n_components)
    return min(plan.n_coordinates, bound) if isinstance(plan.n_coordinates, int) else bound


def _prepared(chosen: Setting, plan: Plan, samples: Samples, views: Sequence[View]) -> Prepared | None:
    """What the chosen candidate began with, if the whole fit would find the same once more.

    That is, if it had all rows and coordinates, and nothing was drawn: rows that a kernel compares with, and the start
    of a search for the directions of sparse rows.
    """
    kernel, everything, small = chosen.kernel or plan.kernel, samples.few.all, make_small(plan, 1)
    is_drawn = any(is_sparse(d.X) for d in everything) or (
        not kernel.is_linear and sum(d.X.shape[0] for d in everything) > kernel.max_rows
    )
    has_all = all(rows is None for rows in samples.of_few) and _rank_of_whole(plan, samples) == small.n_coordinates
    if is_drawn or not has_all or small.settings != plan.settings or plan.on_disk:
        return None
    view = next(view for view in views if view.name == chosen.view)
    if kernel not in view.problems:
        return None  # no candidate adapted
    return Prepared(view.maps[kernel], view.problems[kernel], view.shared[kernel])
