"""One scaling of the domains: its coordinates, its first labels, its passes of Algorithm 1 and their evidence."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from lpjt.core import alternation, coordinates
from lpjt.core.alternation import Problem, State
from lpjt.fitting.start import first_labels
from lpjt.selection import evidence


@dataclass(slots=True, eq=False)
class Trial:
    """A scaling under way."""

    scaling: str
    maps: tuple  # Coordinates of each domain
    problem: Problem
    start: list  # first distributions of each target
    guessed: bool
    y_source: np.ndarray
    nearest: np.ndarray | None = None  # place of each source row's nearest target row; None where widths differ
    passes: Iterator[State] = field(default_factory=lambda: iter(()))
    states: list = field(default_factory=list)
    evidences: list = field(default_factory=list)

    def advance(self):
        """Take one more pass and weigh it."""
        state = next(self.passes)
        self.states.append(state)
        F = np.vstack(state.distributions)
        reverse = 0.0
        if self.nearest is not None:
            reverse = evidence.reverse_agreement(self.nearest, F.argmax(axis=1), self.y_source)
        self.evidences.append(evidence.Evidence(evidence.mutual_information(F), reverse))
        return state

    def record(self, n_iter):
        """Flat record of a pass, for `history_`, callbacks and printing."""
        state, weighed = self.states[n_iter - 1], self.evidences[n_iter - 1]
        names = "n_iter objective marginal_mmd conditional_mmd n_changed weight_change landmark_gap residual seconds"
        row = {name: getattr(state, name) for name in names.split()}
        row["n_classes"] = n_classes_left(state)
        row["evidence"] = weighed.total
        return {**row, **asdict(weighed)}


def n_classes_left(state):
    """Classes that the target's labels have."""
    return len(np.unique(np.concatenate([F.argmax(axis=1) for F in state.distributions])))


def begin_trial(domains, plan, kind):
    """Prepare the passes of a plan under one kind of scaling."""
    everything = [*domains.sources, *domains.targets]
    n_sources = len(domains.sources)
    maps = make_coordinates(everything, kind, plan)
    rows = tuple(coordinates.to_coordinates(d.X, m) for d, m in zip(everything, maps, strict=True))
    is_target = tuple(i >= n_sources for i in range(len(everything)))
    problem = Problem(rows, tuple(d.y for d in everything), is_target, len(domains.classes))
    widths = [d.X.shape[1] for d in everything]
    start, guessed = first_labels(problem, widths, plan)
    trial = Trial(kind, maps, problem, start, guessed, np.concatenate([d.y for d in domains.sources]))
    settings = plan.settings
    if len(set(widths)) > 1:
        settings = replace(settings, coupling_weight=0.0)
    else:
        trial.nearest = evidence.nearest_targets(np.vstack(rows[:n_sources]), np.vstack(rows[n_sources:]))
    classify = _stacked(plan.classifier, problem)
    trial.passes = alternation.alternate(problem, settings, classify, start, max_iter=plan.max_iter)
    return trial


def make_coordinates(everything, kind, plan):
    """Maps to coordinates, one for each domain; domains of one width share a basis, so that A - B has a meaning."""
    scalings = [coordinates.fit_scaling(d.X, kind) for d in everything]
    maps: list = [None] * len(everything)
    for width in {d.X.shape[1] for d in everything}:
        members = [i for i, d in enumerate(everything) if d.X.shape[1] == width]
        scaled = [coordinates.scale_rows(everything[i].X, scalings[i]) for i in members]
        shared = _shared_map(scaled, plan)
        for i in members:
            maps[i] = coordinates.Coordinates(scalings[i], **shared)
    return tuple(maps)


def _shared_map(scaled, plan):
    if plan.kernel == "linear":
        n_components = plan.settings.n_components
        basis = coordinates.span_basis(scaled, n_components=n_components, random_state=plan.random_state)
        return {"basis": basis}
    params = dict(plan.kernel_params or {})
    if plan.kernel in ("rbf", "laplacian", "chi2", "poly", "sigmoid"):
        params.setdefault("gamma", coordinates.default_kernel_width(scaled))
    rows, basis = coordinates.kernel_basis(
        scaled, plan.kernel, params, max_rows=plan.kernel_rows, random_state=plan.random_state
    )
    return {"basis": basis, "landmarks": rows, "kernel": plan.kernel, "kernel_params": params}


def _stacked(classifier, problem):
    """Classifier of Algorithm 1's step 4: stacks the domains, splits the answer, clamps the labelled rows."""

    def classify(Z, labels, weights):
        y = np.concatenate(labels)
        F = np.eye(problem.n_classes)[y * (y >= 0)]
        if (y < 0).any():
            F[y < 0] = classifier.classify(np.vstack(Z), y, np.concatenate(weights), problem.n_classes)
        parts = np.split(F, np.cumsum([len(part) for part in labels])[:-1])
        return [part for part, is_target in zip(parts, problem.is_target, strict=True) if is_target]

    return classify
