"""The tasks of the suite: every pair as it is, cut to some classes and thinned, and every domain in halves."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from math import comb
from pathlib import Path
from typing import Any

from lpjt.study.machine import machine, utc_now, versions
from lpjt.study.robust.families import FAMILIES, Family, why_missing
from lpjt.study.settings import make_variant
from lpjt.study.store import ROBUST, Row, Store
from lpjt.study.text import canonical_json, join_messages

#: Where results are kept, from the root of the repository.
DIRECTORY = Path("results/robust")

#: Maximum number of rows per domain, and draws of the classes that a cut keeps.
MAX_ROWS, DRAWS = 600, 2

#: Per cent of the classes that the target of a cut keeps, and the fewest that it keeps.
SHARES = (20, 30, 50)
FEWEST_CLASSES = 2

CUTS = {share: f"cut to {share} %" for share in SHARES}
KINDS = ("whole", *CUTS.values(), "thinned", "halves")
PARTS = ("development", "confirmation")

_LIBRARIES = ("lpjt", "numpy", "scipy", "scikit-learn", "faiss-cpu")


@dataclass(frozen=True, slots=True)
class Task:
    """One fit to judge: which domains, what is done to the target, and to which part of the suite it belongs."""

    family: str
    source: str
    target: str  # the same domain, for halves
    kind: str  # one of KINDS
    part: str  # one of PARTS
    n_classes: int  # of the source
    n_kept: int  # classes of the target
    draw: int = 0  # of the classes that a cut keeps, from 1; 0 where there is no draw
    max_rows: int = MAX_ROWS
    parameters: dict[str, Any] = field(default_factory=dict)  # of LPJT, the value of each

    @property
    def pair(self) -> str:
        """Source and target, or the domain that is halved."""
        return self.source if self.kind == "halves" else f"{self.source}-{self.target}"

    @property
    def name(self) -> str:
        """Such as "SURF C-A, 3 of 10 classes, draw 1"."""
        what = f"{self.n_kept} of {self.n_classes} classes, draw {self.draw}" if self.draw else self.kind
        return f"{self.family} {self.pair}, {what}"

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits that name the task in the store; a changed default makes another task."""
        return sha256(canonical_json((self.name, self.max_rows, self.parameters)).encode()).hexdigest()[:16]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Tasks that take about as long."""
        return (self.family,), ()

    def row_without_result(
        self, *, status: str, message: str, seconds: float | None = None, started: str | None = None
    ) -> Row:
        """The row of a task that gave no labels; `measure_task` begins with one."""
        own = {
            "key": self.key,
            "task": self.name,
            "family": self.family,
            "pair": self.pair,
            "kind": self.kind,
            "part": self.part,
            "n_classes": self.n_classes,
            "n_kept": self.n_kept,
            "draw": self.draw,
            "max_rows": self.max_rows,
            "parameters": canonical_json(self.parameters),
            "status": status,
            "message": join_messages([message]),
            "seconds": seconds,
            "started": started or utc_now(),
            **_surroundings(),
        }
        return dict.fromkeys(ROBUST.columns) | own

    def __hash__(self) -> int:
        return hash(self.key)


def plan_tasks(*, max_rows: int = MAX_ROWS, draws: int = DRAWS, only: str | None = None) -> list[Task]:
    """The tasks of the suite, family by family.

    Parameters
    ----------
    max_rows : int
        Maximum number of rows per domain, drawn by class.
    draws : int
        Draws of the classes that a cut keeps.
    only : str, optional
        A part of the names of the tasks to keep, in any case; all by default.

    Returns
    -------
    list of Task
    """
    if draws < 1:
        raise ValueError(f"--draws {draws} leaves no draw of the classes. Give 1 or more.")
    chosen = {"max_rows": max_rows, "parameters": make_variant(random_state=0).get_params(deep=False)}
    tasks = [task for family in FAMILIES.values() for task in _family_tasks(family, draws, chosen)]
    found = [task for task in tasks if only is None or only.lower() in task.name.lower()]
    if not found:
        raise ValueError(f"--only {only!r} is part of no task's name. Names are such as {tasks[0].name!r}.")
    _check_rows(found, max_rows)
    _check_draws(found)
    return found


def split_at_hand(tasks: Sequence[Task]) -> tuple[list[Task], dict[str, str]]:
    """The tasks whose data are here, and by "family domain" why other domains are not."""
    reasons = {place: why_missing(*place) for task in tasks for place in _places(task)}
    at_hand = [task for task in tasks if all(reasons[place] is None for place in _places(task))]
    return at_hand, {" ".join(place): reason for place, reason in reasons.items() if reason is not None}


def is_whole(tasks: Sequence[Task]) -> bool:
    """Whether every task of the suite is among these."""
    return {task.key for task in plan_tasks()} <= {task.key for task in tasks}


def open_store(directory: Path) -> Store:
    """The store of the suite in a directory."""
    return Store(directory, ROBUST)


def part_of(position: int) -> str:
    """Part of the suite of a pair or a domain by its position in the list of its family, from 0."""
    return PARTS[position % 2]


def cut_sizes(n_classes: int) -> dict[str, int]:
    """Kinds of cuts that take classes away from this number, and the number of classes that each keeps."""
    kept = {kind: max(FEWEST_CLASSES, round(n_classes * share / 100)) for share, kind in CUTS.items()}
    return {kind: n for kind, n in kept.items() if n < n_classes}


def _family_tasks(family: Family, draws: int, chosen: dict[str, Any]) -> Iterator[Task]:
    n = family.n_classes
    for position, (source, target) in enumerate(family.pairs):
        place = (family.name, source, target)
        part = part_of(position)
        yield Task(*place, "whole", part, n, n, **chosen)
        for kind, n_kept in cut_sizes(n).items():
            for draw in range(1, draws + 1):
                yield Task(*place, kind, part, n, n_kept, draw, **chosen)
        yield Task(*place, "thinned", part, n, n, **chosen)
    for position, domain in enumerate(family.domains):
        yield Task(family.name, domain, domain, "halves", part_of(position), n, n, **chosen)


def _check_rows(tasks: Sequence[Task], max_rows: int) -> None:
    largest = max(tasks, key=lambda task: task.n_classes)
    fewest = 4 * largest.n_classes  # two in each of two halves
    if max_rows < fewest:
        raise ValueError(
            f"--rows {max_rows} is too few for the {largest.n_classes} classes of {largest.family}. Give {fewest} or "
            "more, or choose other tasks with --only."
        )


def _check_draws(tasks: Sequence[Task]) -> None:
    """Refuse more draws than there are different ones."""
    for task in tasks:
        if task.draw > comb(task.n_classes, task.n_kept):
            raise ValueError(f"{task.name}: there are only {comb(task.n_classes, task.n_kept)} different draws.")


def _places(task: Task) -> list[tuple[str, str]]:
    return [(task.family, task.source), (task.family, task.target)]


@cache
def _surroundings() -> dict[str, str]:
    return {"machine": json.dumps(machine()), "versions": json.dumps(versions(_LIBRARIES))}
