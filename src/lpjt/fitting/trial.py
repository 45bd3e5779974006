"""One scaling of the domains: its coordinates, its first labels, its passes of Algorithm 1 and their evidence."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from scipy import sparse

from lpjt.core import alternation, coordinates
from lpjt.core.alternation import State
from lpjt.core.blocks import disk_array, stack_rows
from lpjt.core.coordinates import scale_rows
from lpjt.core.objective import Problem, list_neighbors
from lpjt.fitting.start import first_labels
from lpjt.selection import evidence
from lpjt.selection.evidence import every_few


@dataclass(slots=True, eq=False)
class Trial:
    """A scaling under way. Of the passes behind it, it keeps the records, and whole the best and the last alone."""

    scaling: str
    maps: tuple  # Coordinates of each domain
    problem: Problem
    start: list  # first distributions of each target
    guessed: bool
    y_source: np.ndarray  # (n_compared,) labels of the source rows of `nearest`
    nearest: np.ndarray | None = None  # nearest target row of a spread of source rows; None where widths differ
    passes: Iterator[State] = field(default_factory=lambda: iter(()))
    records: list = field(default_factory=list)  # of each pass, for `history_`
    totals: list = field(default_factory=list)  # evidence of each pass
    last: State | None = None
    best: State | None = None

    def advance(self):
        """Take one more pass and weigh it."""
        state = next(self.passes)
        weighed = self._weigh(state)
        if self.best is None or weighed.total > max(self.totals):
            self.best = state
        self.last = state
        self.totals.append(weighed.total)
        names = "n_iter objective marginal_mmd conditional_mmd n_changed weight_change landmark_gap residual seconds"
        record = {name: getattr(state, name) for name in names.split()}
        self.records.append(
            {**record, "n_classes": n_classes_left(state), "evidence": weighed.total, **asdict(weighed)}
        )
        return state

    def _weigh(self, state):
        F = np.vstack(state.distributions)
        reverse = 0.0
        if self.nearest is not None:
            reverse = evidence.reverse_agreement(self.nearest, F.argmax(axis=1), self.y_source)
        return evidence.Evidence(evidence.mutual_information(F), reverse)


def n_classes_left(state):
    """Classes that the target's labels have."""
    return len(np.unique(np.concatenate([F.argmax(axis=1) for F in state.distributions])))


#: So many source rows are compared with the target for the evidence of a pass.
COMPARED_ROWS = 2000


def begin_trial(domains, plan, kind, scalings, clock):
    """Prepare the passes of a plan under one kind of scaling, whose statistics are given for each domain."""
    everything = [*domains.sources, *domains.targets]
    n_sources = len(domains.sources)
    maps = make_coordinates(everything, scalings, plan)
    rows = tuple(embed_rows(d.X, m, plan) for d, m in zip(everything, maps, strict=True))
    clock.lap("coordinates")
    is_target = tuple(i >= n_sources for i in range(len(everything)))
    neighbors = list_neighbors(rows, plan.settings)
    clock.lap("neighbors")
    problem = Problem(rows, tuple(d.y for d in everything), is_target, len(domains.classes), neighbors)
    widths = [d.X.shape[1] for d in everything]
    start, guessed = first_labels(problem, widths, plan)
    y_source = np.concatenate([every_few(d.y, COMPARED_ROWS) for d in domains.sources])
    trial = Trial(kind, maps, problem, start, guessed, y_source)
    settings = plan.settings
    if len(set(widths)) > 1:
        settings = replace(settings, coupling_weight=0.0)
    else:
        some = stack_rows([every_few(X, COMPARED_ROWS) for X in rows[:n_sources]])
        trial.nearest = evidence.nearest_targets(some, stack_rows(rows[n_sources:]))
    clock.lap("start")
    classify = _stacked(plan.classifier, replace(problem, neighbors=None))
    trial.passes = alternation.alternate(problem, settings, classify, start, max_iter=plan.max_iter)
    trial.problem = replace(problem, neighbors=None)  # lists of the sources are not needed for long
    return trial


def embed_rows(X, coordinates_map, plan):
    """Coordinates of raw rows, in memory or, where the plan says so, in a file that vanishes with them."""
    out = None
    if plan.on_disk:
        out = disk_array((X.shape[0], coordinates.rank_of(coordinates_map, X.shape[1])), X.dtype)
    return coordinates.to_coordinates(X, coordinates_map, entries=plan.block_entries, out=out)


def make_coordinates(everything, scalings, plan):
    """Maps to coordinates, one for each domain; domains of one width share a basis, so that A - B has a meaning."""
    maps: list = [None] * len(everything)
    for width in {d.X.shape[1] for d in everything}:
        members = [i for i, d in enumerate(everything) if d.X.shape[1] == width]
        shared = _shared_map([everything[i].X for i in members], [scalings[i] for i in members], plan)
        for i in members:
            maps[i] = coordinates.Coordinates(scalings[i], **shared)
    return tuple(maps)


#: Share of the mean square that automatic coordinates hold, and how many there are at most in large domains. Compared
#: with all directions by target accuracy, on the sets of docs/results.md: the share changed no mean by more than noise.
KEPT, AT_MOST = 0.999, 512

#: Rows of a domain from which on it is large.
LARGE = 20_000


def _shared_map(parts, scalings, plan):
    n_components = plan.settings.n_components
    if plan.kernel != "linear":
        return _kernel_map(parts, scalings, plan)
    if any(sparse.issparse(X) for X in parts):
        scaled = [scale_rows(X, s) for X, s in zip(parts, scalings, strict=True)]
        return {"basis": coordinates.span_basis(scaled, n_components=n_components, random_state=plan.random_state)}
    kept = KEPT if plan.n_coordinates == "auto" else 1.0
    at_most = coordinates_at_most(plan, max(X.shape[0] for X in parts))
    basis = coordinates.principal_basis(parts, scalings, kept=kept, max_rank=at_most, entries=plan.block_entries)
    return {"basis": basis}


def coordinates_at_most(plan, n_rows):
    """Largest number of coordinates in domains of so many rows; None for no bound."""
    if plan.n_coordinates == "auto":
        return max(AT_MOST, 4 * plan.settings.n_components) if n_rows > LARGE else None
    return plan.n_coordinates


def most_coordinates(everything, plan):
    """Columns that the coordinates of each domain have at most, before anything is computed."""
    bounds = []
    for d in everything:
        alike = [e.X.shape[0] for e in everything if e.X.shape[1] == d.X.shape[1]]
        if plan.kernel != "linear":
            bounds.append(min(sum(alike), plan.kernel_rows))
        elif sparse.issparse(d.X):
            bounds.append(min(sum(alike), d.X.shape[1], max(coordinates.SPARSE_RANK, 4 * plan.settings.n_components)))
        else:
            bounds.append(min(d.X.shape[1], sum(alike), coordinates_at_most(plan, max(alike)) or d.X.shape[1]))
    return bounds


def _kernel_map(parts, scalings, plan):
    params = dict(plan.kernel_params or {})
    if plan.kernel in ("rbf", "laplacian", "chi2", "poly", "sigmoid"):
        some = [scale_rows(X[:: max(1, X.shape[0] // 500)], s) for X, s in zip(parts, scalings, strict=True)]
        params.setdefault("gamma", coordinates.default_kernel_width(some))
    chosen = _rows_that_stand_for_all(parts, plan)
    scaled = [scale_rows(X[rows], s) for X, rows, s in zip(parts, chosen, scalings, strict=True)]
    rows, basis = coordinates.kernel_basis(
        scaled, plan.kernel, params, max_rows=plan.kernel_rows, random_state=plan.random_state
    )
    return {"basis": basis, "kernel_rows": rows, "kernel": plan.kernel, "kernel_params": params}


def _rows_that_stand_for_all(parts, plan):
    """Places of at most `kernel_rows` rows, drawn from all parts together, part by part."""
    ends = np.cumsum([X.shape[0] for X in parts])
    chosen = np.arange(ends[-1])
    if ends[-1] > plan.kernel_rows:
        chosen = np.sort(plan.random_state.choice(ends[-1], plan.kernel_rows, replace=False))
    starts = np.concatenate([[0], ends[:-1]])
    return [chosen[(chosen >= a) & (chosen < b)] - a for a, b in zip(starts, ends, strict=True)]


def _stacked(classifier, problem):
    """Classifier of Algorithm 1's step 4: stacks the domains, splits the answer, clamps the labelled rows."""

    def classify(Z, labels, weights):
        y = np.concatenate(labels)
        answers = np.empty((0, problem.n_classes))
        if (y < 0).any():
            answers = classifier.classify(np.vstack(Z), y, np.concatenate(weights), problem.n_classes)
        parts, used = [], 0
        for of_domain, is_target in zip(labels, problem.is_target, strict=True):
            if not is_target:
                continue
            unknown = of_domain < 0
            F = np.eye(problem.n_classes)[of_domain * ~unknown]
            F[unknown] = answers[used : used + unknown.sum()]
            used += unknown.sum()
            parts.append(F)
        return parts

    return classify
