"""One task: accuracy without adaptation, LPJT's accuracy, and what LPJT says about it without target labels."""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import lpjt
from lpjt.study.robust.data import DomainPair, open_task
from lpjt.study.robust.tasks import Task
from lpjt.study.robust.unadapted import unadapted_accuracies
from lpjt.study.settings import make_variant
from lpjt.study.store import Row
from lpjt.study.text import join_messages, one_line

#: Bins of equal width between confidence 0 and 1.
N_BINS = 10


def measure_task(task: Task) -> Row:
    """Load, fit and score one task; a row of `lpjt.study.store.ROBUST`, also when it fails."""
    row = task.row_without_result(status="failed", message="")
    begun = time.perf_counter()
    try:
        figures = measure(open_task(task), task.parameters)
    except Exception as error:
        return row | {"message": one_line(error), "seconds": time.perf_counter() - begun}
    return row | figures | {"status": "ok"}


def measure(pair: DomainPair, parameters: Mapping[str, Any]) -> Row:
    """Figures of one fit, in per cent. The model never sees a target label."""
    model = make_variant(**parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begun = time.perf_counter()
        model.fit(pair.X_source, pair.y_source, pair.X_target)
        seconds = time.perf_counter() - begun
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the linear SVM stops at its limit of iterations on most families
        unadapted = unadapted_accuracies(pair)
    right = np.asarray(model.transduction_) == pair.y_target
    confidence = np.asarray(model.label_distributions_).max(axis=1)
    accuracy = 100 * float(right.mean())
    says = read_model(model, caught)
    absent, found = set(pair.y_source.tolist()) - set(pair.y_target.tolist()), set(says.pop("absent_classes"))
    return {
        "n_source": len(pair.y_source),
        "n_target": len(pair.y_target),
        **unadapted,
        "accuracy": accuracy,
        "confidence": 100 * float(confidence.mean()),
        "calibration_error": 100 * calibration_error(confidence, right),
        **says,
        "estimate_error": abs(says["estimated_accuracy"] - accuracy),
        "covered": says["interval_low"] <= accuracy <= says["interval_high"],
        "n_absent": len(absent),
        "n_absent_found": len(found),
        "n_absent_right": len(absent & found),
        "seconds": seconds,
        "message": join_messages(f"{warning.category.__name__}: {warning.message}" for warning in caught),
        "checksum": pair.checksum,
    }


def read_model(model: Any, caught: Sequence[warnings.WarningMessage]) -> dict[str, Any]:
    """What a fitted model says about its labels, in per cent: the only place that reads these attributes."""
    low, high = model.estimated_accuracy_interval_
    chosen = next((candidate for candidate in model.candidates_ if candidate["chosen"]), None)
    return {
        "estimated_accuracy": 100 * float(model.estimated_accuracy_),
        "interval_low": 100 * float(low),
        "interval_high": 100 * float(high),
        "adapted": bool(model.adapted_),
        "candidate": None if chosen is None else ", ".join(str(chosen[name]) for name in ("view", "masses", "kernel")),
        "absent_classes": np.asarray(model.absent_classes_).tolist(),
        "n_warnings": sum(issubclass(warning.category, lpjt.TransferWarning) for warning in caught),
    }


def calibration_error(confidence: np.ndarray, right: np.ndarray, n_bins: int = N_BINS) -> float:
    """Expected calibration error: |mean confidence - accuracy| of each bin of confidence, weighted by its rows.

    Bins are open below and closed above: 0.1 belongs to the first of ten.
    """
    bins = np.clip(np.ceil(np.asarray(confidence) * n_bins).astype(int) - 1, 0, n_bins - 1)
    # A bin's |sum of confidences - number right| / n is its share of the rows times the difference of its means.
    gaps = np.bincount(bins, weights=confidence - np.asarray(right, dtype=float))
    return float(np.abs(gaps).sum() / len(bins))
