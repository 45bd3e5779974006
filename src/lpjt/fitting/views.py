"""Candidates of one view of a sample of the rows: they share scaled rows, coordinates and neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.svm import LinearSVC

from lpjt._typing import Array, Codes
from lpjt.classifiers import Classifier, with_masses
from lpjt.core import alternation
from lpjt.core.coordinates import Coordinates
from lpjt.core.neighbors import nearest_rows
from lpjt.core.objective import Problem, Settings, Workspace, list_neighbors, prepare
from lpjt.core.ridge import fit_linear_ridge
from lpjt.domains import Domains
from lpjt.fitting.candidate import classify_domains, embed_rows, make_coordinates, on_domains
from lpjt.fitting.plan import Plan
from lpjt.fitting.start import first_labels
from lpjt.kernels import Kernel
from lpjt.selection.choice import Ground, ViewFacts, view_kinship, view_mixing
from lpjt.selection.evidence import class_separation
from lpjt.selection.scaling import KEPT, Scalings

#: Maximum number of rows times classes of the linear support vector machine, which learns one class after the other.
MACHINE_ENTRIES = 200_000

#: Nearest source rows of a target row that are compared with each other.
KIN = 5


@dataclass(frozen=True, slots=True)
class Setting:
    """What tells one candidate from another."""

    family: str  # "nearest", "linear" or "adapted"
    view: str
    masses: str | None = None  # of adapted candidates: "source", "free", "given", "estimated" or "classifier"
    kernel: Kernel | None = None  # of adapted candidates

    @property
    def name(self) -> str:
        """The candidate in words."""
        return {"nearest": "1-NN", "linear": "linear"}.get(self.family, "LPJT")


@dataclass(slots=True, eq=False)
class View:
    """Candidates of one view, and what its rows tell about labels."""

    name: str
    nearest: Codes  # nearest other target row of each target row
    reverse: Codes | None  # nearest target row of each source row; None if widths differ
    plain: Problem  # in linear coordinates, for candidates that do not adapt
    maps: dict[Kernel, tuple[Coordinates, ...]]  # to the coordinates of each kernel, per domain
    problems: dict[Kernel, Problem]  # in the coordinates of each kernel
    shared: dict[Kernel, Workspace]  # what the candidates of each kernel share
    settings: list[Setting] = field(default_factory=list)
    labellings: list[Codes] = field(default_factory=list)  # (n,) each: targets in order, given labels kept
    local: float = 0.0  # as in `Ground`
    linear: float = 0.0
    errors: list[Exception] = field(default_factory=list)  # of candidates that failed
    mixing: float = 0.0  # `view_mixing` times the kinship; 0 if widths differ
    kinship: float = 0.0  # as in `view_kinship`; 0 if widths differ

    @property
    def facts(self) -> ViewFacts:
        """What the view tells before any labelling."""
        return ViewFacts(self.kinship, self.mixing, (self.local + self.linear) / 2)

    def add(self, setting: Setting, parts: Sequence[Codes]) -> None:
        """Add a candidate by its labels of each target."""
        self.settings.append(setting)
        self.labellings.append(np.concatenate(parts))


def label_view(domains: Domains, plan: Plan, view: str, scalings: Scalings) -> View:
    """Label the targets in one view: without adaptation, and by a few iterations for each kernel and class mass."""
    of_linear = make_coordinates(domains.all, scalings.of(view), replace(plan, kernel=Kernel("linear")))
    maps = {
        kernel: of_linear
        if kernel.is_linear
        else make_coordinates(domains.all, scalings.of(view), replace(plan, kernel=kernel))
        for kernel in plan.kernels
    }
    linear = map_problem(domains, plan, of_linear)
    problems = {
        kernel: linear if kernel.is_linear else map_problem(domains, plan, of_kernel)
        for kernel, of_kernel in maps.items()
    }
    settings = settings_of(plan, domains)
    shared = {kernel: prepare(problem, settings) for kernel, problem in problems.items()}
    found = View(view, _nearest_of_targets(linear), None, linear, maps, problems, shared)
    if len(set(_widths(domains))) == 1:
        _compare_domains(found, linear)
    _add_candidates(found, domains, plan)
    return found


def label_problems(view: View, domains: Domains, plan: Plan) -> View:
    """Label the rows of a view again, with its coordinates and neighbours but the labels of `domains`."""
    labels = tuple(d.y for d in domains.all)
    problems = {kernel: replace(problem, labels=labels) for kernel, problem in view.problems.items()}
    found = View(
        view.name, view.nearest, view.reverse, replace(view.plain, labels=labels), view.maps, problems, view.shared
    )
    _add_candidates(found, domains, plan)
    return found


def _add_candidates(found: View, domains: Domains, plan: Plan) -> None:
    """Add the candidates that do not adapt, and one that does for each kernel and class mass of the plan.

    Those that adapt begin with the same labels, found in linear coordinates.
    """
    _add_unadapted(found, found.plain, domains)
    if not plan.masses:
        return
    of_start = plan.masses[0] if len(plan.masses) == 1 else "free"
    rule = with_masses(plan.classifier, of_start, plan.proportions)
    start, _ = first_labels(found.plain, _widths(domains), replace(plan, classifier=rule))
    for kernel in found.problems:
        try:
            labellings = _label_by_masses(found, kernel, domains, plan, start)
        except (ValueError, np.linalg.LinAlgError) as error:  # a bandwidth for other scales, for example
            found.errors.append(error)
            continue
        for masses, labels in zip(plan.masses, labellings, strict=True):
            found.add(Setting("adapted", found.name, masses, kernel), [labels])


def _label_by_masses(found: View, kernel: Kernel, domains: Domains, plan: Plan, start: Sequence[Array]) -> list[Codes]:
    """Labels of the rows of all targets by each of the plan's class masses.

    A projection depends on the labels before it alone: masses share it for as long as their labels are equal.
    """
    problem, shared, settings = found.problems[kernel], found.shared[kernel], settings_of(plan, domains)
    rules = [with_masses(plan.classifier, masses, plan.proportions) for masses in plan.masses]
    answers: list[Sequence[Array]] = [start] * len(rules)
    for _ in range(plan.max_iter):
        for members in _with_equal_labels(answers):
            found_next = _advance(problem, settings, [rules[i] for i in members], answers[members[0]], shared)
            for i, F in zip(members, found_next, strict=True):
                answers[i] = F
    return [np.vstack(F).argmax(axis=1) for F in answers]


def _advance(
    problem: Problem, settings: Settings, rules: Sequence[Classifier], begun: Sequence[Array], shared: Workspace
) -> list[list[Array]]:
    """Distributions of each target after one iteration of Algorithm 1, by each of the rules."""
    answers: list[list[Array]] = []

    def classify(Z: tuple[Array, ...], labels: tuple[Codes, ...], weights: tuple[Array, ...]) -> list[Array]:
        answers.extend(classify_domains(rules, problem, Z, weights, settings.search))
        return answers[0]

    next(alternation.alternate(problem, settings, classify, begun, max_iter=1, shared=shared, measured=False))
    return answers


def _with_equal_labels(answers: Sequence[Sequence[Array]]) -> list[list[int]]:
    """Positions of the answers, those with the same labels together."""
    groups: dict[bytes, list[int]] = {}
    for i, F in enumerate(answers):
        groups.setdefault(np.vstack(F).argmax(axis=1).tobytes(), []).append(i)
    return list(groups.values())


def iterate(
    problem: Problem,
    plan: Plan,
    domains: Domains,
    start: Sequence[Array] | None = None,
    shared: Workspace | None = None,
) -> Array:
    """Distributions of the rows of all targets, (n, n_classes), after the plan's iterations of Algorithm 1.

    `start` are the first distributions of each target, by default those of `first_labels`; `shared` is what `prepare`
    found for the problem with `settings_of` the plan, if already computed.
    """
    if start is None:
        start, _ = first_labels(problem, _widths(domains), plan)
    settings = settings_of(plan, domains)
    classify = on_domains(plan.classifier, problem, settings.search)
    state = None
    for state in alternation.alternate(
        problem, settings, classify, start, max_iter=plan.max_iter, shared=shared, measured=False
    ):
        if state.n_changed <= plan.tol * sum(map(len, start)):
            break
    assert state is not None
    return np.vstack(state.distributions)


def settings_of(plan: Plan, domains: Domains) -> Settings:
    """Settings of the iterations of candidates: nothing couples domains of different widths."""
    return plan.settings if len(set(_widths(domains))) == 1 else replace(plan.settings, coupling_weight=0.0)


def join_grounds(domains: Domains, views: Sequence[View]) -> Ground:
    """What all candidates of all views are judged by."""
    return Ground(
        nearest=tuple(view.nearest for view in views),
        reverse=tuple(view.reverse for view in views if view.reverse is not None),
        y_reverse=np.concatenate([d.y for d in domains.sources]),
        local=max(view.local for view in views),
        linear=max(view.linear for view in views),
    )


def make_problem(domains: Domains, plan: Plan, view: str, scalings: Scalings) -> Problem:
    """Coordinates and neighbour lists of all rows in one view, for the plan's kernel."""
    return map_problem(domains, plan, make_coordinates(domains.all, scalings.of(view), plan))


def map_problem(domains: Domains, plan: Plan, maps: Sequence[Coordinates]) -> Problem:
    """As `make_problem`, with maps to coordinates, one per domain, that were learned from these rows or from others."""
    everything = domains.all
    rows = tuple(embed_rows(d.X, m, plan) for d, m in zip(everything, maps, strict=True))
    is_target = tuple(i >= len(domains.sources) for i in range(len(everything)))
    labels = tuple(d.y for d in everything)
    near = list_neighbors(rows, plan.settings)
    return Problem(rows, labels, is_target, len(domains.classes), near, domains.weights)


def _add_unadapted(found: View, problem: Problem, domains: Domains) -> None:
    """Add 1-NN and linear classifiers of the labelled rows of each target's width, if every target has such rows."""
    widths = _widths(domains)
    nearest, ridge, machine = [], [], []
    for j in range(problem.n_sources, len(widths)):
        alike = [i for i, width in enumerate(widths) if width == widths[j]]
        y = np.concatenate([problem.labels[i][problem.labels[i] >= 0] for i in alike])
        if len(np.unique(y)) < 2:
            return
        Z = np.vstack([problem.rows[i][problem.labels[i] >= 0] for i in alike])
        rows, given = problem.rows[j], problem.labels[j]
        weights = None
        if problem.weights is not None:
            weights = np.concatenate([problem.weights[i][problem.labels[i] >= 0] for i in alike])
        regression = fit_linear_ridge(Z, np.eye(problem.n_classes)[y], weights)
        found.local = max(found.local, class_separation(Z, y))
        found.linear = max(found.linear, regression.accuracy)
        nearest.append(_keep_given(y[nearest_rows(rows, Z, 1).indices[:, 0]], given))
        ridge.append(_keep_given(regression.values_of(rows).argmax(axis=1), given))
        if found.name.removesuffix(KEPT) == "source" and len(Z) * problem.n_classes <= MACHINE_ENTRIES:
            svm = LinearSVC(dual="auto", random_state=0).fit(Z, y, weights)
            machine.append(_keep_given(svm.predict(rows), given))
    found.add(Setting("nearest", found.name), nearest)
    found.add(Setting("linear", found.name), ridge)
    if machine:
        found.add(Setting("linear", found.name), machine)


def _keep_given(labels: Codes, given: Codes) -> Codes:
    return np.where(given >= 0, given, labels)


def _nearest_of_targets(problem: Problem) -> Codes:
    """Nearest other row of each target row, within its target, numbered through all targets."""
    assert problem.neighbors is not None
    found, start = [], 0
    for j in range(problem.n_sources, len(problem.rows)):
        found.append(problem.neighbors[j].indices[:, 0] + start)
        start += len(problem.rows[j])
    return np.concatenate(found)


def _compare_domains(found: View, problem: Problem) -> None:
    """Find the nearest target row of each source row, and how well the domains join and mix in the view."""
    n = problem.n_sources
    sources, targets, y = np.vstack(problem.rows[:n]), np.vstack(problem.rows[n:]), np.concatenate(problem.labels[:n])
    to_target, to_source = nearest_rows(sources, targets, KIN), nearest_rows(targets, sources, KIN)
    found.reverse = to_target.indices[:, 0]
    found.kinship = view_kinship(y[to_source.indices], found.reverse, y)
    assert problem.neighbors is not None
    k = min(near.indices.shape[1] for near in (to_target, to_source, *problem.neighbors))
    own = [np.vstack([near.squared[:, :k] for near in side]) for side in (problem.neighbors[:n], problem.neighbors[n:])]
    # Rows without structure mix in every way: mixing counts as far as the view joins classes.
    found.mixing = found.kinship * view_mixing(
        (own[0], own[1]),
        (to_target.squared[:, :k], to_source.squared[:, :k]),
        y,
        y[to_source.indices[:, 0]],
        problem.n_classes,
    )


def _widths(domains: Domains) -> tuple[int, ...]:
    return tuple(d.X.shape[1] for d in domains.all)
