"""Trials of candidates on small domains, and hand-made ones, for the tests of the fit."""

from types import SimpleNamespace

import numpy as np

from lpjt import LPJT, Kernel
from lpjt.domains import open_domains
from lpjt.fitting import views
from lpjt.fitting.trial import Trial
from lpjt.fitting.views import Setting
from lpjt.parameters import make_plan
from lpjt.selection.choice import Ground, Weighed
from problems import masked, shifted_pair, widened

X, Y, X_TARGET, Y_TARGET = shifted_pair(n_source=42, n_target=36, width=6, apart=1.5)

#: What a fit may be given: X, y, X_target and, of some, y_target.
INPUTS = {
    "one source": (X, Y, X_TARGET),
    "semi-supervised": (X, Y, X_TARGET, masked(Y_TARGET, 2)),
    "heterogeneous": (X, Y, widened(X_TARGET, 4)),
    "heterogeneous, semi-supervised": (X, Y, widened(X_TARGET, 4), masked(Y_TARGET, 2)),
    "several sources": ({"a": X[:24], "b": X[24:] + 1}, {"a": Y[:24], "b": Y[24:]}, X_TARGET),
    "several widths": ({"a": X, "b": widened(X, 4)}, {"a": Y, "b": Y}, {"c": X_TARGET, "d": widened(X_TARGET, 4, 1)}),
    "several targets": (X, Y, {"a": X_TARGET[:20], "b": X_TARGET[20:] - 1}),
    "one row per class": (X[:3], Y[:3], X_TARGET),
    "two target rows": (X, Y, X_TARGET[:2]),
    "single precision": (X.astype(np.float32), Y, X_TARGET.astype(np.float32)),
    "rows of zeros": (np.vstack([X, np.zeros((2, 6))]), np.append(Y, [0, 1]), np.vstack([X_TARGET, np.zeros((2, 6))])),
}


def plan_for(domains, **parameters):
    """Plan of a fit of these domains, as the estimator makes it."""
    given = LPJT(**{"random_state": 0, **parameters}).get_params(deep=False)
    widths = [d.X.shape[1] for d in domains.all]
    n_rows = max(d.X.shape[0] for d in domains.all)
    return make_plan(given, classes=domains.classes, widths=widths, n_rows=n_rows)


def opened(name="one source"):
    """Validated domains of one of the inputs."""
    return open_domains(*INPUTS[name])


LINEAR = Kernel("linear")


def hand_made(
    weights, families, *, consensus=None, sample=(None, None), scores=None, labellings=None, votes=None, **ground
):
    """A trial with given weights of its candidates; of the rest, only what a test names has a meaning."""
    m = len(families)
    weights, scores = np.asarray(weights, dtype=float), np.asarray(weights if scores is None else scores, dtype=float)
    consensus = np.full((4, 2), 0.5) if consensus is None else np.asarray(consensus, dtype=float)
    labellings = np.zeros((m, len(consensus)), dtype=int) if labellings is None else np.asarray(labellings)
    settings = tuple(
        Setting(f, f"view {i}", *(("source", LINEAR) if f == "adapted" else ())) for i, f in enumerate(families)
    )
    around = (np.arange(len(consensus)) + 1) % len(consensus)
    given = {"nearest": (around,), "reverse": (), "y_reverse": np.zeros(0, dtype=int), "local": 0.5, "linear": 0.6}
    zeros = np.zeros(m)
    votes = consensus if votes is None else np.asarray(votes, dtype=float)
    weighed = Weighed(zeros, zeros, np.arange(m) / 10, zeros, zeros, scores, weights, consensus, votes)
    return Trial(settings, labellings, Ground(**{**given, **ground}), weighed, sample, shift=1.0)


def calls_of_iterate(monkeypatch):
    """Problems with kernel and classifier of each iteration of the first round, and with plans of the second round."""
    first, second, label_by_masses = [], [], views._label_by_masses

    def answer(problem):
        return [np.eye(3)[np.arange(len(y)) % 3] for y in problem.labels[problem.n_sources :]]

    def record_kernel(found, kernel, *rest):
        def record(problem, settings, rules, begun, shared):
            first.extend((problem, SimpleNamespace(kernel=kernel, classifier=rule)) for rule in rules)
            return [answer(problem)] * len(rules)

        monkeypatch.setattr(views, "_advance", record)
        return label_by_masses(found, kernel, *rest)

    def record_plan(problem, plan, domains, start=None, shared=None):
        second.append((problem, plan))
        return np.vstack(answer(problem))

    monkeypatch.setattr(views, "_label_by_masses", record_kernel)
    monkeypatch.setattr("lpjt.fitting.candidates.iterate", record_plan)
    return first, second
