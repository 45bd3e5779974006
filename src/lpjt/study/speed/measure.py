"""One measurement, in the process that is its alone."""

import io
import os
import time
import warnings
from collections.abc import Mapping
from contextlib import redirect_stdout
from statistics import median
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from lpjt.study.machine import utc_now
from lpjt.study.meter import Peak, time_passes
from lpjt.study.speed.data import DomainPair, even_counts, make_pair, open_pair
from lpjt.study.speed.methods import METHODS, TimedMethod
from lpjt.study.speed.results import Measurement, Record
from lpjt.study.store import Row
from lpjt.study.text import one_line

#: Target rows, and source rows, on which the nearest neighbour without adaptation is scored.
_SAMPLE, _SAMPLE_SOURCE = 2000, 20_000


def measure_task(task: Measurement) -> Row:
    """Measure a task within its memory; its row, also where it fails."""
    started = utc_now()
    _limit_memory(task.memory_cap)
    try:
        with redirect_stdout(io.StringIO()):  # what libraries print would go through the progress bar
            record = measure(task)
    except Exception as error:
        status = "out of memory" if isinstance(error, MemoryError) else "failed"
        record = {"status": status, "message": one_line(error), "seconds": None}
    return task.row(record, started)


def measure(task: Measurement) -> Record:
    """Fit once, between passes of X'X over the same rows in the same process."""
    method = METHODS[task.method]
    parameters = {**method.parameters, **task.parameters}
    warnings.simplefilter("ignore")
    fit_few_rows(method, parameters)
    pair = open_pair(task.data)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    rows = (pair.X_source, pair.X_target)
    time_passes(rows[1:])  # threads and caches awake
    passes = time_passes(rows)
    peak = Peak()
    peak.start()
    start = time.perf_counter()
    fitted = method.fit(pair.X_source, pair.y_source, pair.X_target, parameters)
    seconds = time.perf_counter() - start
    peak_bytes = peak.stop()
    passes += time_passes(rows)
    labels = np.asarray(fitted.labels)
    return {
        "status": "ok",
        "message": "",
        "n_source": len(pair.X_source),
        "n_target": len(pair.X_target),
        "width": pair.X_source.shape[1],
        "n_classes": len(np.unique(pair.y_source)),
        "dtype": str(pair.X_source.dtype),
        "input_bytes": pair.n_bytes,
        "pass_seconds": median(passes),
        "seconds": seconds,
        "passes": seconds / median(passes),
        "peak_bytes": peak_bytes,
        "peak_share": None if peak_bytes is None else peak_bytes / pair.n_bytes,
        "peak_by": peak.how,
        "accuracy": 100 * float(np.mean(labels == pair.y_target)),
        "unadapted_accuracy": unadapted_accuracy(pair),
        "load": load,
        "parameters": {name: value for name, value in parameters.items() if name != "estimator"},
        **fitted.facts,
        **({} if task.compare_with is None else {"agreement": _agreement(labels, pair, METHODS[task.compare_with])}),
    }


def unadapted_accuracy(pair: DomainPair) -> float:
    """Per cent right by the nearest source row, on evenly spaced rows as they are: no scaling, no adaptation."""

    def spread(n: int, max_rows: int) -> np.ndarray:
        return np.arange(0, n, -(-n // max_rows))

    source, target = spread(len(pair.y_source), _SAMPLE_SOURCE), spread(len(pair.y_target), _SAMPLE)
    model = KNeighborsClassifier(n_neighbors=1).fit(pair.X_source[source], pair.y_source[source])
    return 100 * float(model.score(pair.X_target[target], pair.y_target[target]))


def _agreement(labels: np.ndarray, pair: DomainPair, method: TimedMethod) -> float:
    """Per cent of the target rows that another method labels alike."""
    other = method.fit(pair.X_source, pair.y_source, pair.X_target, method.parameters)
    return 100 * float(np.mean(labels == np.asarray(other.labels)))


def fit_few_rows(method: TimedMethod, parameters: Mapping[str, Any]) -> None:
    """Fit a few rows first: what is imported on the way is not part of the measurement."""
    few = even_counts(120, 3)
    pair = make_pair(source=few, target=few, width=64)
    shortened = {name: 1 if name == "max_iter" else value for name, value in parameters.items()}
    method.fit(pair.X_source, pair.y_source, pair.X_target, shortened)


def _limit_memory(cap: int | None) -> None:
    """Let what needs more fail by itself, before the system ends some process for it."""
    if cap is None:
        return
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (cap if hard == resource.RLIM_INFINITY else min(cap, hard), hard))
