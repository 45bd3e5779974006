"""One candidate setting of the domains: its coordinates, first labels, iterations of Algorithm 1 and their evidence."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.classifiers import Classifier, Propagation, classify_each
from lpjt.core import alternation, coordinates
from lpjt.core.alternation import Clock, State
from lpjt.core.blocks import DENSE_ENTRIES, AnyRows, disk_array, is_sparse, stack_rows, stays_sparse
from lpjt.core.coordinates import Coordinates
from lpjt.core.objective import Problem, list_neighbors
from lpjt.core.scaling import Scaling, scale_rows, scores_of_zeros
from lpjt.domains import Domain, Domains
from lpjt.fitting.plan import Plan, Prepared
from lpjt.fitting.start import later_labels
from lpjt.selection import evidence
from lpjt.selection.evidence import every_few

#: Upper bound on the source rows compared with the target for the evidence of an iteration.
COMPARED_ROWS = 2000


@dataclass(slots=True, eq=False)
class Candidate:
    """A setting under trial. It keeps the records of all iterations, and only the best and the last iteration whole."""

    scaling: str
    maps: tuple[Coordinates, ...]
    problem: Problem
    widths: tuple[int, ...]  # columns of each domain before any reduction; equal widths share one feature space
    find_start: Callable[[], list[Array]]  # see `start`
    guessed: bool
    y_source: Codes  # (n_compared,) labels of the source rows of `nearest`
    nearest: Codes | None = None  # nearest target row of each compared source row; None if widths differ
    iterations: Iterator[State] = field(default_factory=lambda: iter(()))
    records: list[dict[str, Any]] = field(default_factory=list)  # of each iteration, for `history_`
    totals: list[float] = field(default_factory=list)  # evidence of each iteration
    last: State | None = None
    best: State | None = None
    _start: list[Array] | None = None

    @property
    def start(self) -> list[Array]:
        """First distributions of each target; found when asked for, since iterations may begin with other labels."""
        if self._start is None:
            self._start = self.find_start()
        return self._start

    def advance(self) -> State:
        """Run one more iteration and weigh its labels."""
        state = next(self.iterations)
        weighed = self._weigh(state)
        if self.best is None or weighed.total > max(self.totals):
            self.best = state
        self.last = state
        self.totals.append(weighed.total)
        names = "n_iter objective marginal_mmd conditional_mmd n_changed weight_change landmark_gap residual seconds"
        record = {name: getattr(state, name) for name in names.split()}
        self.records.append({**record, "n_classes": count_classes(state), "evidence": weighed.total, **asdict(weighed)})
        return state

    def _weigh(self, state: State) -> evidence.Evidence:
        F = np.vstack(state.distributions)
        reverse = 0.0
        if self.nearest is not None:
            reverse = evidence.reverse_agreement(self.nearest, F.argmax(axis=1), self.y_source)
        return evidence.Evidence(evidence.mutual_information(F), reverse)


def count_classes(state: State) -> int:
    """Number of classes among the target's labels."""
    return len(np.unique(np.concatenate([F.argmax(axis=1) for F in state.distributions])))


def begin_candidate(
    domains: Domains,
    plan: Plan,
    kind: str,
    scalings: Sequence[Scaling],
    clock: Clock,
    begun: Sequence[tuple[Codes, Array]] | None = None,
) -> Candidate:
    """Prepare the iterations of a plan under one kind of scaling, whose statistics are given for each domain.

    The iterations begin with the first labels, or with distributions of rows of each target and their positions, if
    these are given.
    """
    found = plan.prepared or _prepare(domains, plan, scalings, clock)
    problem, n_sources = found.problem, len(domains.sources)
    widths = tuple(d.X.shape[1] for d in domains.all)
    y_source = np.concatenate([every_few(d.y, COMPARED_ROWS) for d in domains.sources])
    candidate = Candidate(
        kind, found.maps, problem, widths, *later_labels(problem, widths, plan, needed=begun is None), y_source
    )
    settings = plan.settings
    if len(set(widths)) > 1:
        settings = replace(settings, coupling_weight=0.0)
    else:
        some = stack_rows([every_few(X, COMPARED_ROWS) for X in problem.rows[:n_sources]])
        candidate.nearest = evidence.nearest_targets(some, stack_rows(problem.rows[n_sources:]))
    clock.lap("start")
    candidate.problem = replace(problem, neighbors=None)  # the lists of the sources are not needed for long
    classify = on_domains(plan.classifier, candidate.problem, settings.search)
    first = candidate.start if begun is None else _among_zeros(begun, [len(X) for X in problem.rows[n_sources:]])
    candidate.iterations = alternation.alternate(
        problem, settings, classify, first, max_iter=plan.max_iter, shared=found.shared
    )
    return candidate


def _prepare(domains: Domains, plan: Plan, scalings: Sequence[Scaling], clock: Clock) -> Prepared:
    maps = make_coordinates(domains.all, scalings, plan)
    rows = tuple(embed_rows(d.X, m, plan) for d, m in zip(domains.all, maps, strict=True))
    clock.lap("coordinates")
    neighbors = list_neighbors(rows, plan.settings)
    clock.lap("neighbors")
    is_target = tuple(i >= len(domains.sources) for i in range(len(rows)))
    labels = tuple(d.y for d in domains.all)
    return Prepared(maps, Problem(rows, labels, is_target, len(domains.classes), neighbors, domains.weights))


def _among_zeros(parts: Sequence[tuple[Codes, Array]], sizes: Sequence[int]) -> list[Array]:
    """Distributions of all rows of targets of these numbers of rows: those given, else zeros."""
    whole: list[Array] = [np.zeros((n, values.shape[1])) for n, (_, values) in zip(sizes, parts, strict=True)]
    for F, (rows, values) in zip(whole, parts, strict=True):
        F[rows] = values
    return whole


def embed_rows(X: AnyRows, coordinates_map: Coordinates, plan: Plan) -> Array:
    """Coordinates of raw rows, in memory or, if the plan says so, in a file that vanishes with them."""
    out = None
    if plan.on_disk:
        out = disk_array((X.shape[0], coordinates.rank_of(coordinates_map, X.shape[1])), X.dtype)
    return coordinates.to_coordinates(X, coordinates_map, entries=plan.block_entries, out=out)


def make_coordinates(everything: Sequence[Domain], scalings: Sequence[Scaling], plan: Plan) -> tuple[Coordinates, ...]:
    """Maps to coordinates, one per domain; domains of one width share a basis, so that A - B has a meaning."""
    maps: dict[int, Coordinates] = {}
    for width in {d.X.shape[1] for d in everything}:
        members = [i for i, d in enumerate(everything) if d.X.shape[1] == width]
        parts = [everything[i].X for i in members]
        shared = _shared_map(parts, [scalings[i] for i in members], plan)
        maps |= {i: Coordinates(scalings[i], **shared) for i in members}
        basis = shared["basis"]
        if basis is not None and plan.kernel.is_linear and stays_sparse(parts):
            maps |= {i: replace(maps[i], offset=scores_of_zeros(scalings[i], width) @ basis) for i in members}
    return tuple(maps[i] for i in range(len(everything)))


#: Share of the mean square that automatic coordinates hold, and the maximum number of them in large domains and with
#: kernels. On the sets of docs/results.md this share changed no mean accuracy by more than noise.
KEPT, MAX_RANK = 0.999, 512

#: A domain with more rows than this is large, whatever the number of rows that are learned from.
LARGE = 20_000


#: Maximum number of automatic coordinates of sparse rows that are never made dense.
SPARSE_RANK = 256


def _shared_map(parts: list[AnyRows], scalings: list[Scaling], plan: Plan) -> dict[str, Any]:
    if not plan.kernel.is_linear:
        return _kernel_map(parts, scalings, plan)
    basis = coordinates.principal_basis(
        parts,
        scalings,
        kept=_kept(plan),
        least=4 * plan.settings.n_components,
        max_rank=max_coordinates(plan, parts),
        entries=plan.block_entries,
        random_state=plan.random_state,
    )
    return {"basis": basis}


def _kept(plan: Plan) -> float:
    return KEPT if plan.n_coordinates == "auto" else 1.0


def max_coordinates(plan: Plan, parts: Sequence[AnyRows]) -> int | None:
    """Largest number of coordinates of the domains of one width; None for no bound."""
    given = None if isinstance(plan.n_coordinates, str) else plan.n_coordinates
    least = 4 * plan.settings.n_components
    if plan.kernel.is_linear and stays_sparse(parts):
        bound = max(SPARSE_RANK, least)
        return bound if given is None else min(given, bound)
    if isinstance(plan.n_coordinates, str) and (plan.n_rows > LARGE or not plan.kernel.is_linear):
        return max(MAX_RANK, least)
    return given


def bound_coordinates(everything: Sequence[Domain], plan: Plan) -> list[int]:
    """Upper bound on the columns of each domain's coordinates, before anything is computed."""
    of_kernels = [_bounds(everything, replace(plan, kernel=kernel)) for kernel in plan.kernels or (plan.kernel,)]
    return [max(bounds) for bounds in zip(*of_kernels, strict=True)]


def _bounds(everything: Sequence[Domain], plan: Plan) -> list[int]:
    bounds = []
    for d in everything:
        alike = [e.X for e in everything if e.X.shape[1] == d.X.shape[1]]
        n = sum(X.shape[0] for X in alike)
        width = min(d.X.shape[1], n) if plan.kernel.is_linear else min(n, plan.kernel.max_rows)
        limit = max_coordinates(plan, alike)
        bounds.append(width if limit is None else min(width, limit))
    return bounds


def _kernel_map(parts: list[AnyRows], scalings: list[Scaling], plan: Plan) -> dict[str, Any]:
    kernel, gamma = plan.kernel, None
    if kernel.needs_gamma:
        some = [scale_rows(X[:: max(1, X.shape[0] // 500)], s) for X, s in zip(parts, scalings, strict=True)]
        gamma = coordinates.default_kernel_width(some, kernel.function)
    chosen = _draw_rows([X.shape[0] for X in parts], _max_kernel_rows(parts, kernel.max_rows), plan.random_state)
    scaled = [scale_rows(X[rows], s) for X, rows, s in zip(parts, chosen, scalings, strict=True)]
    rows, basis = coordinates.kernel_basis(
        scaled,
        kernel.function,
        kernel.parameters(gamma),
        kept=_kept(plan),
        max_rank=max_coordinates(plan, parts),
    )
    return {"basis": basis, "kernel_rows": rows, "kernel": kernel.function, "kernel_params": kernel.parameters(gamma)}


def _max_kernel_rows(parts: list[AnyRows], max_rows: int) -> int:
    """Fewer kernel rows than asked for, if they are wide and sparse: they are kept dense."""
    if not any(map(is_sparse, parts)):
        return max_rows
    return min(max_rows, max(SPARSE_RANK, DENSE_ENTRIES // parts[0].shape[1]))


def _draw_rows(sizes: list[int], max_rows: int, random_state: np.random.RandomState) -> list[Codes]:
    """Positions of at most `max_rows` rows, drawn from all parts together, part by part."""
    ends = np.cumsum(sizes)
    chosen = np.arange(ends[-1])
    if ends[-1] > max_rows:
        chosen = np.sort(random_state.choice(ends[-1], max_rows, replace=False))
    starts = np.concatenate([[0], ends[:-1]])
    return [chosen[(chosen >= a) & (chosen < b)] - a for a, b in zip(starts, ends, strict=True)]


def row_weights(classifier: Classifier, problem: Problem, landmarks: Sequence[Array]) -> Array | None:
    """Weights of all rows as a classifier uses them: sample weights, times landmark weights but in a propagation."""
    given = None if problem.weights is None else np.concatenate(problem.weights)
    if isinstance(classifier, Propagation):
        return given
    return np.concatenate(landmarks) if given is None else given * np.concatenate(landmarks)


def on_domains(classifier: Classifier, problem: Problem, search: str) -> alternation.Classify:
    """Step 4 of Algorithm 1 as `alternate` calls it."""

    def classify(Z: tuple[Array, ...], labels: tuple[Codes, ...], weights: tuple[Array, ...]) -> list[Array]:
        del labels  # those of the problem
        return classify_domains([classifier], problem, Z, weights, search)[0]

    return classify


def classify_domains(
    classifiers: Sequence[Classifier], problem: Problem, Z: Sequence[Array], weights: Sequence[Array], search: str
) -> list[list[Array]]:
    """Distributions of each target by classifiers that differ in their class masses at most.

    Stacks the embedded rows of the domains, splits the answers, and clamps labelled rows.
    """
    y = np.concatenate(problem.labels)
    answers: list[Array] = [np.empty((0, problem.n_classes))] * len(classifiers)
    if (y < 0).any():
        counts = row_weights(classifiers[0], problem, weights)
        answers = classify_each(classifiers, np.vstack(Z), y, counts, problem.n_classes, search=search)
    return [_split_answer(answer, problem) for answer in answers]


def _split_answer(answer: Array, problem: Problem) -> list[Array]:
    """Distributions of the rows of each target, from those of all unlabelled rows."""
    parts: list[Array] = []
    used = 0
    for of_domain, is_target in zip(problem.labels, problem.is_target, strict=True):
        if not is_target:
            continue
        unknown = of_domain < 0
        F = answer[used : used + unknown.sum()]
        used += len(F)
        if not unknown.all():  # else the answer is theirs as it is: with hundreds of classes, copies take time
            given = np.eye(problem.n_classes)[of_domain * ~unknown]
            given[unknown] = F
            F = given
        parts.append(F)
    return parts
