"""The process of one measurement: ``python -m lpjt.bench.child`` reads a task as a line of JSON and writes a record."""

import json
import os
import signal
import sys
import threading
import time
import warnings
from statistics import median
from typing import Any

#: Target rows, and source rows, on which the nearest neighbour without adaptation is scored.
_SAMPLE, _SAMPLE_SOURCE = 2000, 20_000


def main() -> None:
    """Measure the task on standard input."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not the answer
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit_memory(task["memory_cap"])
    try:
        record = measure(task)
    except MemoryError as error:
        record = {"status": "out of memory", "message": _one_line(error)}
    except Exception as error:
        record = {"status": "failed", "message": _one_line(error)}
    answer.write(json.dumps(record))
    answer.flush()
    os._exit(0)  # threads and the interpreter's own end have nothing more to say


def measure(task: dict[str, Any]) -> dict[str, Any]:
    """Fit once, between passes of X'X over the same rows in the same process."""
    import numpy as np

    from lpjt.bench.data import open_pair
    from lpjt.bench.meter import Peak, time_passes
    from lpjt.bench.methods import METHODS

    method = METHODS[task["method"]]
    parameters = {**method.parameters, **task["parameters"]}
    warnings.simplefilter("ignore")
    _wake(method, parameters)
    pair = open_pair(task["data"])
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
        "plain_accuracy": plain_accuracy(pair),
        "load": load,
        "parameters": {name: value for name, value in parameters.items() if name != "estimator"},
        **fitted.facts,
        **({"labels": labels.tolist()} if task["with_labels"] else {}),
    }


def plain_accuracy(pair) -> float:
    """Per cent right by the nearest source row, on a spread of rows as they are: no scaling, no adaptation."""
    import numpy as np
    from sklearn.neighbors import KNeighborsClassifier

    def spread(n, at_most):
        return np.arange(0, n, -(-n // at_most))

    source, target = spread(len(pair.y_source), _SAMPLE_SOURCE), spread(len(pair.y_target), _SAMPLE)
    model = KNeighborsClassifier(n_neighbors=1).fit(pair.X_source[source], pair.y_source[source])
    return 100 * float(model.score(pair.X_target[target], pair.y_target[target]))


def _wake(method, parameters) -> None:
    """Fit a few rows first: what is imported on the way is no part of the measurement."""
    from lpjt.bench.data import even_counts, make_pair

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


def _end_with_parent() -> None:
    """Wait for the end of standard input, which the parent holds open as long as it lives."""
    sys.stdin.read()
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".rstrip(": ").split())[:500]


if __name__ == "__main__":
    main()
