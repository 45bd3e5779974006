"""Tasks and rows of the robustness suite without a fit; children of the runner import them, so they are no tests."""

import numpy as np

from lpjt.study.robust.tasks import Task

N_CLASSES = 10


def make_task(kind="whole", *, family="SURF", source="C", target="A", part="development", n_kept=None, draw=0, **more):
    if kind.startswith("cut") and not draw:
        draw, n_kept = 1, n_kept or 3
    target = source if kind == "halves" else target
    return Task(family, source, target, kind, part, N_CLASSES, n_kept or N_CLASSES, draw, **more)


def make_row(task, accuracy=80.0, unadapted=75.0, **figures):
    """A whole row without a run."""
    row = task.row_without_result(status="ok", message="", seconds=1.5)
    return row | {
        "n_source": 100, "n_target": 50, "nearest_accuracy": unadapted - 3, "svm_accuracy": unadapted,
        "unadapted_accuracy": unadapted, "accuracy": accuracy, "confidence": 70.0, "calibration_error": 5.0,
        "estimated_accuracy": accuracy + 2, "interval_low": accuracy - 4, "interval_high": accuracy + 4,
        "estimate_error": 2.0, "covered": True, "adapted": True, "candidate": "unit, free, linear",
        "n_absent": N_CLASSES - task.n_kept, "n_absent_found": 0, "n_absent_right": 0, "n_warnings": 0,
        "checksum": "c0ffee", **figures,
    }  # fmt: skip


def behave(task):
    """A row that depends on the task alone, for the runner."""
    return make_row(task, accuracy=float(int(task.key, 16) % 1000) / 10)


class StandIn:
    """A model with every attribute that the suite reads: labels by the sign of the first feature, 90 % sure."""

    def __init__(self, warning=None, absent=(2,), candidates=None):
        self.warning, self.absent = warning, absent
        self.candidates = candidates or [
            {"view": "unit", "masses": "free", "kernel": "linear", "chosen": False},
            {"view": "standard", "masses": "equal", "kernel": "rbf", "evidence": 0.3, "chosen": True},
        ]

    def fit(self, X, y, X_target, y_target=None):
        import warnings

        assert y_target is None
        if self.warning is not None:
            warnings.warn("the target\nlacks classes", self.warning, stacklevel=2)
            warnings.warn("something else", UserWarning, stacklevel=2)
        self.classes_ = np.unique(y)
        self.transduction_ = np.where(X_target[:, 0] > 0, 1, 0)
        shares = np.full((len(X_target), len(self.classes_)), 0.1 / (len(self.classes_) - 1))
        shares[np.arange(len(X_target)), self.transduction_] = 0.9
        self.label_distributions_ = shares
        self.estimated_accuracy_, self.estimated_accuracy_interval_ = 0.8, (0.7, 0.85)
        self.candidates_, self.absent_classes_ = self.candidates, np.array(self.absent)
        self.adapted_ = True
        return self
