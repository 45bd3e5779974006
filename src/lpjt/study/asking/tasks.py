"""The tasks of the study: for each family of the robustness suite the first pair, whole, cut and thinned."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from lpjt.study.robust import tasks as suite
from lpjt.study.robust.tasks import Task
from lpjt.study.store import Format, Row, Store
from lpjt.study.text import canonical_json

#: Where results are kept, from the root of the repository.
DIRECTORY = Path("results/asking")

#: Maximum number of rows per domain, and numbers of rows whose labels are given.
MAX_ROWS, COUNTS = 300, (10, 20, 50)

#: Kinds of tasks that are run.
KINDS = ("whole", suite.CUTS[30], "thinned")

#: One task: a fit without target labels, and two for each number of labels; figures in per cent.
ASKING = Format(
    "asking-1",
    {
        "key": "string", "task": "string", "family": "string", "pair": "string", "kind": "string",
        "n_classes": "int64", "n_kept": "int64", "draw": "int64", "max_rows": "int64", "parameters": "string",
        "n_target": "int64", "accuracy": "float64", "figures": "string", "seconds": "float64", "status": "string",
        "message": "string", "checksum": "string", "machine": "string", "versions": "string", "started": "string",
    },
    ("family", "task", "max_rows", "key"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AskTask:
    """A task of the suite, and the numbers of labels that its fits are given."""

    task: Task
    counts: tuple[int, ...] = COUNTS

    @property
    def name(self) -> str:
        """The name of the task of the suite."""
        return self.task.name

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits that name the task in the store."""
        return sha256(canonical_json(("asking", self.task.key, self.counts)).encode()).hexdigest()[:16]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Tasks that take about as long."""
        return self.task.groups

    def row_without_result(
        self, *, status: str, message: str, seconds: float | None = None, started: str | None = None
    ) -> Row:
        """The row of a task that gave no figures; `measure_task` begins with one."""
        row = self.task.row_without_result(status=status, message=message, seconds=seconds, started=started)
        return {name: row.get(name) for name in ASKING.columns} | {"key": self.key}

    def __hash__(self) -> int:
        return hash(self.key)


def plan_tasks(*, max_rows: int = MAX_ROWS, only: str | None = None) -> list[AskTask]:
    """The tasks of the study, family by family; `only` is a part of the names of those to keep, in any case."""
    tasks = [task for task in suite.plan_tasks(max_rows=max_rows, draws=1) if task.kind in KINDS]
    pairs = {family: next(task.pair for task in tasks if task.family == family) for family in _families(tasks)}
    first = [task for task in tasks if task.pair == pairs[task.family]]
    found = [AskTask(task) for task in first if only is None or only.lower() in task.name.lower()]
    if not found:
        raise ValueError(f"--only {only!r} is part of no task's name. Names are such as {first[0].name!r}.")
    return found


def open_store(directory: Path) -> Store:
    """The store of the study in a directory."""
    return Store(directory, ASKING)


def _families(tasks: Sequence[Task]) -> list[str]:
    return list(dict.fromkeys(task.family for task in tasks))
