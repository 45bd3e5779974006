"""One run of a table: a method on a pair of domains, measured, as one flat row."""

import functools
import json
import platform
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

_PROTOCOLS = ("label-free", "oracle", "published")
_LONGEST_MESSAGE = 1000  # characters: a method that warns in every pass must not fill the store


@dataclass(frozen=True, slots=True)
class Job:
    """One run to be made, and all that decides its outcome; every value can be written as JSON."""

    table: str
    pair: str
    method: str
    seed: int
    protocol: str
    parameters: dict[str, Any]
    grid: tuple[dict[str, Any], ...] | None = None  # of the oracle: settings merged onto `parameters`

    def __post_init__(self) -> None:
        if self.protocol not in _PROTOCOLS:
            raise ValueError(f"protocol={self.protocol!r} is none of {', '.join(_PROTOCOLS)}. Give one of them.")
        if self.grid and self.protocol != "oracle":
            raise ValueError(
                f"A grid of {len(self.grid)} settings was given under the protocol {self.protocol!r}, and only the "
                "oracle searches. Give the protocol 'oracle', or no grid."
            )

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits that name the run: equal jobs have equal keys, in any process."""
        fields = (self.table, self.pair, self.method, self.seed, self.protocol, self.parameters, self.grid)
        return sha256(canonical_json(fields).encode()).hexdigest()[:16]

    def settings(self) -> list[dict[str, Any]]:
        """The parameters of every fit of the run: one, or for the oracle one a grid point."""
        return [{**self.parameters, **point} for point in self.grid or ({},)]

    def __hash__(self) -> int:
        return hash(self.key)


def measure(job: Job) -> dict[str, Any]:
    """Load, fit and score one job; a row of `store.COLUMNS`, also when it fails.

    Under the oracle protocol every setting of the grid is fitted, and the one with the best accuracy on the scored
    target labels is kept, the first of equals. Accuracies, seconds, peak memory and iterations are of the kept fit.
    """
    begun = time.perf_counter()
    row = unscored_row(job, status="failed", message="")
    try:
        with _collected_warnings() as caught:
            problem, make = _open(job)
        row["checksum"] = problem.checksum
        kept, failures = _search(job, problem, make)
    except Exception as error:
        return row | {"message": one_line(error), "seconds": time.perf_counter() - begun}
    remarks = [] if not failures else [f"{len(failures)} of {row['n_tried']} settings failed, the first: {failures[0]}"]
    remarks += [_worded(warning) for warning in caught]
    return row | kept | {"status": "ok", "message": _joined([*remarks, *kept["message"]])}


def unscored_row(
    job: Job, *, status: str, message: str, seconds: float | None = None, started: str | None = None
) -> dict[str, Any]:
    """The row of a run that gave no labels; `measure` begins with one, and the runner writes those of killed runs."""
    return {
        "key": job.key,
        "table": job.table,
        "pair": job.pair,
        "method": job.method,
        "seed": job.seed,
        "protocol": job.protocol,
        "parameters": canonical_json(job.parameters),
        "accuracy": None,
        "balanced_accuracy": None,
        "per_class_accuracy": None,
        "seconds": seconds,
        "peak_bytes": None,
        "n_iter": None,
        "status": status,
        "message": _joined([message]),
        "n_tried": len(job.settings()),
        "versions": versions(),
        "checksum": None,
        "started": started or utc_now(),
    }


def score(truth: Any, labels: Any, scored: Any) -> dict[str, Any]:
    """Accuracy, mean accuracy of the classes and accuracy by class, in per cent of the rows that are `scored`."""
    truth, labels, scored = np.asarray(truth), np.asarray(labels), np.asarray(scored, dtype=bool)
    if labels.shape != truth.shape:
        raise ValueError(f"The method gave labels of shape {labels.shape} for {truth.shape[0]} target rows.")
    if not scored.any():
        raise ValueError("No target row is left to score: every label is given. Give fewer target labels.")
    truth, right = truth[scored], labels[scored] == truth[scored]
    by_class = {str(name): 100 * float(right[truth == name].mean()) for name in np.unique(truth)}
    return {
        "accuracy": 100 * float(right.mean()),
        "balanced_accuracy": float(np.mean(list(by_class.values()))),
        "per_class_accuracy": canonical_json({name: round(value, 4) for name, value in by_class.items()}),
    }


def canonical_json(value: Any) -> str:
    """JSON that is the same text for the same value: sorted names, no spaces, numpy scalars as plain ones."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain_scalar
    )


def utc_now() -> str:
    """The time in UTC, as ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@functools.cache
def versions() -> str:
    """What a figure may depend on, as JSON."""
    libraries = {name: metadata.version(name) for name in ("lpjt", "numpy", "scipy", "scikit-learn")}
    return canonical_json(libraries | {"python": platform.python_version(), "platform": platform.platform()})


class PeakMemory:
    """Peak resident memory of this process beyond what it had when the meter was made.

    Linux can lower the recorded peak to the present, so that loading data is not counted. Elsewhere the peak is that of
    the process's whole life and the figure a lower bound; None where no peak is recorded.
    """

    def __init__(self) -> None:
        self.restart()
        self._before = _recorded_peak()

    def restart(self) -> None:
        """Forget the peak so far; what the process had at first stays the measure."""
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            return

    def read(self) -> int | None:
        """Bytes."""
        now = _recorded_peak()
        return None if now is None or self._before is None else max(0, now - self._before)


def one_line(error: BaseException) -> str:
    """An error as one line that begins with its kind."""
    return _joined([f"{type(error).__name__}: {error}".rstrip(": ")])


def _open(job: Job) -> tuple[Any, Any]:
    """The problem of a job and what makes its method."""
    # Here and not above: `methods` builds jobs, so it imports this module.
    from lpjt.benchmarks.methods import make_method
    from lpjt.datasets import load_problem

    return load_problem(job.table, job.pair, job.seed), make_method


def _search(job: Job, problem: Any, make: Any) -> tuple[dict[str, Any], list[str]]:
    """The best fit over the settings of a job, and the errors of those that failed; raises when all did."""
    memory = PeakMemory()
    kept: dict[str, Any] | None = None
    failures: list[str] = []
    for parameters in job.settings():
        try:
            fit = _fit(problem, make(job.method, parameters, job.seed), memory)
        except Exception as error:
            if not job.grid:
                raise
            failures.append(one_line(error))
            continue
        if kept is None or fit["accuracy"] > kept["accuracy"]:
            kept = {"parameters": canonical_json(parameters), **fit}
    if kept is None:
        raise RuntimeError(f"all {len(failures)} settings of the grid failed, the first: {failures[0]}")
    return kept, failures


def _fit(problem: Any, model: Any, memory: PeakMemory) -> dict[str, Any]:
    """Fit one setting. The method sees `y_given` alone: the true target labels go to the scorer only."""
    memory.restart()
    with _collected_warnings() as caught:
        begun = time.perf_counter()
        model.fit(problem.X_source, problem.y_source, problem.X_target, problem.y_given)
        seconds = time.perf_counter() - begun
    peak = memory.read()
    n_iter = getattr(model, "n_iter_", None)
    return {
        **score(problem.y_target, model.transduction_, problem.scored),
        "seconds": seconds,
        "peak_bytes": peak,
        "n_iter": None if n_iter is None else int(np.max(n_iter)),
        "message": [_worded(warning) for warning in caught],
    }


class _collected_warnings(warnings.catch_warnings):
    """Every warning in a list, however often it is repeated and whatever filters are set."""

    def __init__(self) -> None:
        super().__init__(record=True)

    def __enter__(self) -> Any:
        caught = super().__enter__()
        warnings.simplefilter("always")
        return caught


def _recorded_peak() -> int | None:
    # /proc comes first: getrusage's peak also remembers the program that started this one.
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be written as JSON. Give plain values.")


def _worded(warning: Any) -> str:
    return f"{warning.category.__name__}: {warning.message}"


def _joined(messages: Iterable[str]) -> str:
    """Messages on one line, each once, cut where they go on for too long."""
    text = "; ".join(dict.fromkeys(" ".join(message.split()) for message in messages if message))
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"
