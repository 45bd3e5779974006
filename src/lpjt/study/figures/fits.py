"""The fits behind the figures: what was asked for, and running many of them with progress and in processes."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from lpjt._warnings import readable_warnings
from lpjt.datasets import Problem, find_table, load_problem
from lpjt.estimator import LPJT
from lpjt.study.settings import make_variant

#: Called with the number of steps done, the number of all, and what was done last.
Progress = Callable[[int, int, str], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What a figure is made of."""

    table: str
    pairs: tuple[str, ...]
    seed: int = 0
    n_jobs: int = 1  # below 1: one for each core
    on_progress: Progress | None = None

    @property
    def title(self) -> str:
        """The table's title."""
        return find_table(self.table).title

    def problems(self) -> list[Problem]:
        """Load the pairs' rows, in the order of the pairs."""
        return [load_problem(self.table, pair, self.seed) for pair in self.pairs]

    def report(self, done: int, total: int, what: str) -> None:
        """Tell the caller how far the figure is."""
        if self.on_progress is not None:
            self.on_progress(done, total, what)


@dataclass(frozen=True, slots=True, eq=False)
class FitTask:
    """One fit to be made."""

    problem: Problem
    parameters: Mapping[str, Any]  # of LPJT, where they are not the default
    name: str  # for progress
    tags: dict[str, Any] = field(default_factory=dict)  # the caller's; they come back with the answer


def fit_problem(problem: Problem, seed: int = 0, **parameters: Any) -> LPJT:
    """Fit LPJT with the labels that a method may see; its warnings are the figure's matter, not the terminal's."""
    with readable_warnings():
        model = make_variant(random_state=seed, **parameters)
        return model.fit(problem.X_source, problem.y_source, problem.X_target, problem.y_given)


def accuracy(model: LPJT, problem: Problem) -> float:
    """Per cent of the scored target rows that have their true label."""
    scored = problem.scored
    return 100 * float(np.mean(model.transduction_[scored] == problem.y_target[scored]))


def fit_tasks(tasks: Sequence[FitTask], read: Callable[[LPJT, Problem], Any], request: Request) -> list[Any]:
    """Fit every task and return what `read` takes from each model, in the order of the tasks.

    With several jobs the fits run in processes, a few at a time so that progress can be reported; `read` must then be a
    function of a module.
    """
    answers: list[Any] = []
    workers = request.n_jobs if request.n_jobs > 0 else os.cpu_count() or 1
    step = 1 if workers == 1 else 3 * workers
    with Parallel(n_jobs=workers) as pool:
        for start in range(0, len(tasks), step):
            batch = tasks[start : start + step]
            answers += pool(delayed(_fit_and_read)(task, read, request.seed) for task in batch)
            request.report(len(answers), len(tasks), batch[-1].name)
    return answers


def _fit_and_read(task: FitTask, read: Callable[[LPJT, Problem], Any], seed: int) -> Any:
    return read(fit_problem(task.problem, seed, **task.parameters), task.problem)


def protocol_words(problem: Problem) -> str:
    """The labels that a fit saw, in words."""
    if problem.given is None:
        return "no target label seen"
    return f"{len(problem.given)} target labels seen"
