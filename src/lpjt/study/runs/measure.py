"""One run of a table: a method on a pair of domains, measured, as one flat row."""

import functools
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from lpjt.study.machine import utc_now, versions
from lpjt.study.meter import Peak
from lpjt.study.store import Row
from lpjt.study.text import canonical_json, join_messages, one_line

_PROTOCOLS = ("label-free", "oracle", "published")


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

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Jobs that take about as long: methods differ more than pairs do."""
        return (self.protocol, self.method, self.table), (self.protocol, self.method), ()

    def settings(self) -> list[dict[str, Any]]:
        """The parameters of every fit of the run: one, or for the oracle one per grid point."""
        return [{**self.parameters, **point} for point in self.grid or ({},)]

    def row_without_result(
        self, *, status: str, message: str, seconds: float | None = None, started: str | None = None
    ) -> Row:
        """The row of a run that gave no labels; `measure` begins with one, the runner writes those of killed runs."""
        return {
            "key": self.key,
            "table": self.table,
            "pair": self.pair,
            "method": self.method,
            "seed": self.seed,
            "protocol": self.protocol,
            "parameters": canonical_json(self.parameters),
            "accuracy": None,
            "balanced_accuracy": None,
            "per_class_accuracy": None,
            "seconds": seconds,
            "peak_bytes": None,
            "n_iter": None,
            "status": status,
            "message": join_messages([message]),
            "n_tried": len(self.settings()),
            "versions": _versions(),
            "checksum": None,
            "started": started or utc_now(),
        }

    def __hash__(self) -> int:
        return hash(self.key)


def measure(job: Job) -> Row:
    """Load, fit and score one job; a row of `lpjt.study.store.RUNS`, also when it fails.

    Under the oracle protocol every setting of the grid is fitted, and the one with the best accuracy on the scored
    target labels is kept, the first of equals. Accuracies, seconds, peak memory and iterations are of the kept fit.
    """
    begun = time.perf_counter()
    row = job.row_without_result(status="failed", message="")
    try:
        with _collected_warnings() as caught:
            problem, make = _open(job)
        row["checksum"] = problem.checksum
        kept, failures = _search(job, problem, make)
    except Exception as error:
        return row | {"message": one_line(error), "seconds": time.perf_counter() - begun}
    remarks = [] if not failures else [f"{len(failures)} of {row['n_tried']} settings failed, the first: {failures[0]}"]
    remarks += [_describe(warning) for warning in caught]
    return row | kept | {"status": "ok", "message": join_messages([*remarks, *kept["message"]])}


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


@functools.cache
def _versions() -> str:
    """What a figure may depend on, as JSON."""
    return canonical_json(
        versions(("lpjt", "numpy", "scipy", "scikit-learn", "torch")) | {"platform": platform.platform()}
    )


def _open(job: Job) -> tuple[Any, Callable[..., Any]]:
    """The problem of a job and what makes its method."""
    from lpjt.datasets import load_problem
    from lpjt.study.runs.methods import make_method

    return load_problem(job.table, job.pair, job.seed), make_method


def _search(job: Job, problem: Any, make: Callable[..., Any]) -> tuple[dict[str, Any], list[str]]:
    """The best fit over the settings of a job, and the errors of those that failed; raises when all did."""
    kept: dict[str, Any] | None = None
    failures: list[str] = []
    for parameters in job.settings():
        try:
            fit = _fit(problem, make(job.method, parameters, job.seed))
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


def _fit(problem: Any, model: Any) -> dict[str, Any]:
    """Fit one setting. The method sees `y_given` alone: the true target labels go to the scorer only."""
    peak = Peak()
    peak.start()
    with _collected_warnings() as caught:
        begun = time.perf_counter()
        model.fit(problem.X_source, problem.y_source, problem.X_target, problem.y_given)
        seconds = time.perf_counter() - begun
    peak_bytes = peak.stop()
    n_iter = getattr(model, "n_iter_", None)
    return {
        **score(problem.y_target, model.transduction_, problem.scored),
        "seconds": seconds,
        "peak_bytes": peak_bytes,
        "n_iter": None if n_iter is None else int(np.max(n_iter)),
        "message": [_describe(warning) for warning in caught],
    }


class _collected_warnings(warnings.catch_warnings):
    """Every warning in a list, however often it is repeated and whatever filters are set."""

    def __init__(self) -> None:
        super().__init__(record=True)

    def __enter__(self) -> Any:
        caught = super().__enter__()
        warnings.simplefilter("always")
        return caught


def _describe(warning: Any) -> str:
    return f"{warning.category.__name__}: {warning.message}"
