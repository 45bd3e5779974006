"""Several plans compared on one sample of the rows, without a target label; they share what none of them changes."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from time import perf_counter
from typing import TypeVar

import numpy as np

from lpjt._threads import map_threads
from lpjt._typing import Codes
from lpjt.classifiers import with_masses
from lpjt.core.objective import Problem, count_listed
from lpjt.domains import Domains
from lpjt.fitting.candidates import label_views, make_small, settle_masses, settle_plan
from lpjt.fitting.plan import Plan, settle_lengths
from lpjt.fitting.samples import all_rows
from lpjt.fitting.trial import Trial
from lpjt.fitting.views import Setting, View, iterate, join_grounds, make_problem
from lpjt.kernels import Kernel
from lpjt.selection.choice import weigh_candidates
from lpjt.selection.scaling import Scalings, choose_scaling, with_lengths

#: Parts of the evidence that a plan has, fields of `selection.choice.Weighed`.
EVIDENCE = ("score", "separation", "reverse", "agreement", "kinship", "clarity", "weight")

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What came of one plan."""

    evidence: dict[str, float] = field(default_factory=lambda: dict.fromkeys(EVIDENCE, np.nan))  # by `EVIDENCE`
    seconds: float = np.nan  # to label the sample, without what plans share
    error: Exception | None = None  # why the plan failed


def compare_plans(
    domains: Domains, base: Plan, plans: Sequence[Plan | Exception], *, views: Sequence[str], max_iter: int
) -> list[Compared]:
    """Label all targets by every plan and weigh the labels against each other and against unadapted candidates.

    What plans leave open (view, kernel, class masses) is settled once, by the candidates of `base`. Plans with the
    same view, kernel, number of coordinates and neighbour lists share them.

    Parameters
    ----------
    domains : Domains
        Few rows, in memory, with at least one target.
    base : Plan
        Its random state is the seed of the comparison.
    plans : sequence of Plan or Exception
        An exception says why there is no plan, and is passed on.
    views : sequence of str
        Views by which labels are judged, beside those of the plans.
    max_iter : int
        Upper bound on the iterations of every plan.

    Returns
    -------
    list of Compared, in the order of the plans
    """
    seed = int(base.random_state.randint(2**31 - 1))
    scalings = Scalings(domains)
    base = settle_lengths(base, scalings)
    views = with_lengths(views) if base.keeps_lengths else views
    plans = [plan if isinstance(plan, Exception) else settle_lengths(plan, scalings) for plan in plans]
    seen, trial = _try_base(domains, base, plans, scalings)
    view_of = cache(lambda kinds: choose_scaling(domains, kinds, scalings))

    def settle(plan: Plan) -> Plan:
        settled = _settle(plan, trial, domains) if plan.chooses else replace(plan, views=(view_of(plan.views),))
        return replace(make_small(settled, max_iter), random_state=np.random.RandomState(seed))

    settled = [_try(settle, plan) for plan in plans]
    used = dict.fromkeys([*views, *(plan.views[0] for plan in settled if isinstance(plan, Plan))])
    others = tuple(view for view in used if view not in {found.name for found in seen})
    unadapted = replace(base, views=others, kernels=(Kernel("linear"),), masses=())
    seen += label_views(domains, unadapted, scalings)
    shared = _Shared(domains, scalings, seed)
    shared.keep(base, seen)
    shared.prepare([plan for plan in settled if isinstance(plan, Plan)])

    def label(plan: Plan) -> tuple[Codes, float]:
        start = perf_counter()
        return iterate(shared.problem_of(plan), plan, domains).argmax(axis=1), perf_counter() - start

    labelled = map_threads(lambda plan: _try(label, plan), settled)
    return _weigh(labelled, settled, seen, domains)


def _try_base(
    domains: Domains, base: Plan, plans: Sequence[Plan | Exception], scalings: Scalings
) -> tuple[list[View], Trial | None]:
    """The candidates of the base plan, with everything left open that some plan leaves open; none if none does."""
    choosing = [plan for plan in plans if isinstance(plan, Plan) and plan.chooses]
    if not choosing:
        return [], None
    widest = max([base, *choosing], key=lambda plan: (len(plan.views), len(plan.kernels)))
    freest = max([base, *choosing], key=lambda plan: len(plan.masses))
    opened = replace(
        base,
        chooses=True,
        views=widest.views,
        kernels=widest.kernels,
        masses=freest.masses,
        proportions=freest.proportions,
    )
    views = label_views(domains, opened, scalings)
    trial, _ = settle_plan(all_rows(domains), opened, views)
    return views, trial


def _settle(plan: Plan, trial: Trial | None, domains: Domains) -> Plan:
    """The plan with the best view, kernel and class masses of the trial, where it leaves them open."""
    assert trial is not None, "a plan chooses"
    first = trial.first or trial
    ranked = [*_best_first(trial), *_best_first(first)]
    found = next((s for s in ranked if s.view in plan.views), replace(ranked[0], view=plan.views[0]))
    kernel = plan.kernel if len(plan.kernels) == 1 or found.kernel is None else found.kernel
    rule = with_masses(plan.classifier, *settle_masses(plan, first, domains))
    return replace(plan, views=(found.view,), kernel=kernel, classifier=rule)


def _best_first(trial: Trial) -> list[Setting]:
    order = np.argsort(-trial.weighed.score, kind="stable").tolist()
    return [trial.settings[i] for i in order if trial.settings[i].family == "adapted"]


class _Shared:
    """Coordinates and neighbour lists of the rows, made once for all plans that need the same ones."""

    def __init__(self, domains: Domains, scalings: Scalings, seed: int) -> None:
        self.domains, self.scalings, self.seed = domains, scalings, seed
        self._problems: dict[Hashable, Problem | Exception] = {}

    def keep(self, base: Plan, views: Sequence[View]) -> None:
        """Take over what the candidates of the base plan have."""
        for view in views:
            for kernel, problem in view.problems.items():
                plan = replace(make_small(base, base.max_iter), views=(view.name,), kernel=kernel)
                self._problems[_key(plan)] = problem

    def prepare(self, plans: Sequence[Plan]) -> None:
        """Make what is missing for these plans."""
        missing = {_key(plan): plan for plan in plans if _key(plan) not in self._problems}
        made = map_threads(lambda plan: _try(self._make, plan), list(missing.values()))
        self._problems |= dict(zip(missing, made, strict=True))

    def problem_of(self, plan: Plan) -> Problem:
        """Coordinates and neighbours for a plan, or the error of making them."""
        found = self._problems[_key(plan)]
        if isinstance(found, Exception):
            raise found
        return found

    def _make(self, plan: Plan) -> Problem:
        plan = replace(plan, random_state=np.random.RandomState(self.seed))
        return make_problem(self.domains, plan, plan.views[0], self.scalings)


def _key(plan: Plan) -> Hashable:
    """What coordinates and neighbour lists depend on."""
    k = plan.kernel
    kernel = "linear" if k.is_linear else (k.function, k.gamma, k.degree, k.coef0, k.max_rows)
    return plan.views[0], kernel, plan.n_coordinates, count_listed(plan.settings), plan.settings.search


def _weigh(
    labelled: Sequence[tuple[Codes, float] | Exception],
    plans: Sequence[Plan | Exception],
    views: Sequence[View],
    domains: Domains,
) -> list[Compared]:
    """Evidence for each plan that labelled the rows."""
    adapted = [
        (found[0], "adapted", plan.views[0], found[1])
        for found, plan in zip(labelled, plans, strict=True)
        if not (isinstance(found, Exception) or isinstance(plan, Exception))
    ]
    if not adapted:
        return [Compared(error=found) for found in labelled if isinstance(found, Exception)]
    unadapted = [
        (y, s.family, s.view, 0.0)
        for view in views
        for s, y in zip(view.settings, view.labellings, strict=True)
        if s.family != "adapted"
    ]
    labellings, families, names, seconds = zip(*adapted, *unadapted, strict=True)
    facts = {view.name: view.facts for view in views}
    weighed = weigh_candidates(
        np.array(labellings),
        families,
        [facts[name] for name in names],
        join_grounds(domains, views),
        len(domains.classes),
    )
    numbers = iter(range(len(adapted)))
    answers = []
    for found in labelled:
        if isinstance(found, Exception):
            answers.append(Compared(error=found))
            continue
        i = next(numbers)
        answers.append(Compared({name: float(getattr(weighed, name)[i]) for name in EVIDENCE}, seconds[i]))
    return answers


def _try(function: Callable[[Item], Result], item: Item | Exception) -> Result | Exception:
    """The function's result, its error if it fails, or the item if that is an error already."""
    if isinstance(item, Exception):
        return item
    try:
        return function(item)
    except Exception as error:
        return error
