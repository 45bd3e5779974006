"""The candidates of a fit: several ways to label a sample of the target, which share coordinates and neighbours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lpjt._threads import map_threads
from lpjt._typing import Array, Codes
from lpjt.classifiers import with_masses
from lpjt.core.moments import class_proportions
from lpjt.domains import Domains
from lpjt.fitting.plan import Plan
from lpjt.fitting.sampling import draw_sample
from lpjt.fitting.views import Setting, View, iterate, join_grounds, label_view
from lpjt.selection.choice import Ground, Weighed, prior_votes, vote_shares, weigh_candidates
from lpjt.selection.evidence import reverse_agreement, separation
from lpjt.selection.scaling import Scalings
from lpjt.selection.trust import Facts

#: Upper bounds on the rows per domain that candidates label (and per class, if there are many classes) and on their
#: coordinates: enough to rank candidates, and a small share of the cost of a whole fit.
CANDIDATE_ROWS, ROWS_PER_CLASS, CANDIDATE_COORDINATES = 800, 15, 200

#: Upper bounds on the iterations of the two rounds, and on the adapted candidates of the second one.
FIRST_ITERATIONS, SECOND_ITERATIONS, FINALISTS = 2, 5, 4


#: Share of the consensus that adapted candidates must have for the fit to adapt.
ADAPTED_WEIGHT = 0.15

#: Class proportions of the consensus are those of the source if their total variation distance is below the first
#: value, and others if it is above the second one.
NEAR, FAR = 0.2, 0.3

#: Least proportion of a class in estimated masses, so that a class can return.
LEAST_PROPORTION = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The candidates' labels of the sampled target rows, and the evidence for them."""

    settings: tuple[Setting, ...]
    labellings: Codes  # (m, n)
    ground: Ground
    weighed: Weighed
    sample: tuple[Codes | None, ...]  # positions of the rows of each domain; None for all of its rows
    mixing: tuple[float, ...]  # of the view of each candidate
    first: "Trial | None" = None  # the round before

    def table(self) -> list[dict[str, Any]]:
        """One record per candidate, the best first."""
        w = self.weighed
        records = [
            {
                "candidate": s.name,
                "view": s.view,
                "masses": s.masses,
                "kernel": None if s.kernel is None else s.kernel.function,
                "separation": float(w.separation[i]),
                "reverse": float(w.reverse[i]),
                "kinship": float(w.kinship[i]),
                "agreement": float(w.agreement[i]),
                "score": float(w.score[i]),
                "weight": float(w.weight[i]),
                "chosen": False,
            }
            for i, s in enumerate(self.settings)
        ]
        records[self.chosen]["chosen"] = True
        return sorted(records, key=lambda record: -record["score"])

    def facts(self, distributions: Sequence[Array]) -> Facts:
        """What the labels of the sampled target rows rest on; `distributions`, (n_j, n_classes), of each target."""
        parts = self.consensus_of([len(F) for F in distributions])
        sampled = np.vstack([F[rows] for F, (rows, _) in zip(distributions, parts, strict=True)])
        labels, everyone = sampled.argmax(axis=1), self.first or self
        families = [s.family for s in everyone.settings]
        shares = vote_shares(everyone.labellings, prior_votes(families, everyone.mixing), sampled.shape[1])
        ground = self.ground
        rows = np.arange(len(labels))
        return Facts(
            agreement=float(shares[rows, labels].mean()),
            consensus=float(self.weighed.consensus[rows, labels].mean()),
            separation=float(np.mean([separation(labels, near) for near in ground.nearest])),
            reverse=float(
                np.mean([reverse_agreement(near, labels, ground.y_reverse) for near in ground.reverse] or [0])
            ),
            kinship=float(self.weighed.kinship.max()),
            local=ground.local,
            linear=ground.linear,
            confidence=float(sampled.max(axis=1).mean()),
        )

    @property
    def best_unadapted(self) -> Setting:
        """The best candidate that does not adapt."""
        unadapted = [i for i, s in enumerate(self.settings) if s.family != "adapted"]
        return self.settings[max(unadapted, key=lambda i: self.weighed.score[i])]

    @property
    def adapted_weight(self) -> float:
        """Weight of the adapted candidates in the consensus, from 0 to 1."""
        return float(self.weighed.weight[[s.family == "adapted" for s in self.settings]].sum())

    @property
    def adapts(self) -> bool:
        """Whether there is evidence for adaptation."""
        return self.adapted_weight >= ADAPTED_WEIGHT

    def consensus_of(self, sizes: Sequence[int]) -> tuple[tuple[Codes, Array], ...]:
        """For each target, of these numbers of rows: positions of its sampled rows, and their consensus."""
        of_targets = self.sample[len(self.sample) - len(sizes) :]
        rows = [np.arange(n) if chosen is None else chosen for n, chosen in zip(sizes, of_targets, strict=True)]
        parts = np.split(self.weighed.consensus, np.cumsum([len(part) for part in rows])[:-1])
        return tuple(zip(rows, parts, strict=True))

    @property
    def chosen(self) -> int:
        """The candidate that is fitted whole: the best of the adapted ones, or the best of all if none is adapted."""
        adapted = [i for i, s in enumerate(self.settings) if s.family == "adapted"]
        return max(adapted or range(len(self.settings)), key=lambda i: self.weighed.score[i])


def try_candidates(domains: Domains, plan: Plan) -> tuple[Trial, Plan]:
    """Label a sample of the target by every candidate of the plan, weigh them, and settle the plan.

    In the first round every view, kernel and class mass has few iterations. Its consensus tells the class masses. In
    the second round the best adapted candidates have more iterations, with these masses, and are weighed again beside
    the unadapted ones.

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
    n_rows = max(CANDIDATE_ROWS, ROWS_PER_CLASS * len(domains.classes))
    sample = tuple(draw_sample(d.y, n_rows, plan.random_state) for d in domains.all)
    few = take_rows(domains, sample)
    return settle_plan(few, plan, label_views(few, plan, Scalings(few)), sample)


def label_views(few: Domains, plan: Plan, scalings: Scalings) -> list[View]:
    """The first round: all rows of `few` labelled by the candidates of every view of the plan."""
    small = make_small(plan, FIRST_ITERATIONS)
    # Each view has random numbers of its own, so that the threads do not share a generator.
    seeds = plan.random_state.randint(2**31 - 1, size=len(plan.views))
    return map_threads(
        lambda job: label_view(few, replace(small, random_state=np.random.RandomState(job[1])), job[0], scalings),
        list(zip(plan.views, seeds, strict=True)),
    )


def settle_plan(
    few: Domains, plan: Plan, views: Sequence[View], sample: tuple[Codes | None, ...]
) -> tuple[Trial, Plan]:
    """The second round, and what it settles; `few` are the rows of `sample`, which the views have labelled."""
    ground = join_grounds(few, views)
    tried = [pair for view in views for pair in zip(view.settings, view.labellings, strict=True)]
    if not any(s.family == "adapted" for s, _ in tried):
        raise next(error for view in views for error in view.errors)
    of_views = {view.name: (view.kinship, view.mixing) for view in views}
    first = _weigh(tried, of_views, ground, sample, len(few.classes))
    masses, proportions = settle_masses(plan, first, few)
    rule = with_masses(plan.classifier, masses, proportions)
    longer = replace(make_small(plan, SECOND_ITERATIONS), classifier=rule)
    problems = {(view.name, kernel): problem for view in views for kernel, problem in view.problems.items()}
    finalists = _finalists(first)
    seeds = plan.random_state.randint(2**31 - 1, size=len(finalists))
    again = map_threads(
        lambda job: iterate(
            problems[job[0].view, job[0].kernel or plan.kernel],
            replace(longer, random_state=np.random.RandomState(job[1])),
            few,
        ),
        list(zip(finalists, seeds, strict=True)),
    )
    second = [pair for pair in tried if pair[0].family != "adapted"]
    second += [(replace(s, masses=masses), y) for s, y in zip(finalists, again, strict=True)]
    trial = replace(_weigh(second, of_views, ground, sample, len(few.classes)), first=first)
    chosen = trial.settings[trial.chosen]
    return trial, replace(plan, views=(chosen.view,), kernel=chosen.kernel or plan.kernel, classifier=rule)


def settle_masses(plan: Plan, first: Trial, domains: Domains) -> tuple[str, Array | None]:
    """Class masses of the second round and of the whole fit, by name, and their proportions if they are estimated.

    Where the plan leaves them open: the source's proportions if the consensus is near them, since what is left then is
    noise, and a target that has them is labelled better with them; the proportions of the consensus if it is not.
    """
    if len(plan.masses) == 1:
        return plan.masses[0], plan.proportions
    consensus = first.weighed.consensus
    found = np.bincount(consensus.argmax(axis=1), minlength=consensus.shape[1]) / len(consensus)
    of_source = class_proportions([d.y for d in domains.sources], domains.weights, consensus.shape[1])
    distance = float(np.abs(found - of_source).sum()) / 2
    share = float(np.clip((distance - NEAR) / (FAR - NEAR), 0.0, 1.0))
    if not share:
        return "source", None
    return "estimated", np.maximum((1 - share) * of_source + share * found, LEAST_PROPORTION)


def _finalists(first: Trial) -> list[Setting]:
    """The best adapted candidates, one for each view and kernel."""
    best: dict[Any, Setting] = {}
    for i in np.argsort(-first.weighed.score, kind="stable").tolist():
        s = first.settings[i]
        if s.family == "adapted":
            best.setdefault((s.view, s.kernel), s)
    return list(best.values())[:FINALISTS]


def _weigh(
    tried: Sequence[tuple[Setting, Codes]],
    of_views: Mapping[str, tuple[float, float]],
    ground: Ground,
    sample: tuple[Codes | None, ...],
    n_classes: int,
) -> Trial:
    settings, labellings = tuple(s for s, _ in tried), np.array([y for _, y in tried])
    kinship, mixing = ([of_views[s.view][part] for s in settings] for part in (0, 1))
    weighed = weigh_candidates(labellings, [s.family for s in settings], kinship, mixing, ground, n_classes)
    return Trial(settings, labellings, ground, weighed, sample, tuple(mixing))


def take_rows(domains: Domains, sample: Sequence[Codes | None]) -> Domains:
    """The domains with some of their rows."""
    n = len(domains.sources)
    few = [
        d if rows is None else d.with_rows(d.X[rows], d.y[rows], rows)
        for d, rows in zip(domains.all, sample, strict=True)
    ]
    return replace(domains, sources=tuple(few[:n]), targets=tuple(few[n:]))


def make_small(plan: Plan, max_iter: int) -> Plan:
    """The plan with the coordinates of candidates, in memory, and at most `max_iter` iterations."""
    return replace(plan, n_coordinates=_rank(plan), on_disk=False, max_iter=min(plan.max_iter, max_iter))


def _rank(plan: Plan) -> int:
    bound = max(CANDIDATE_COORDINATES, plan.settings.n_components)
    return min(plan.n_coordinates, bound) if isinstance(plan.n_coordinates, int) else bound
