"""One measurement, as plain values that go to a process of its own and come back: what to fit on what."""

from dataclasses import asdict, dataclass, field
from typing import Any

Record = dict[str, Any]

#: How a measurement can end.
STATUSES = ("ok", "failed", "out of memory", "killed", "timeout", "not run")


@dataclass(frozen=True, slots=True)
class Task:
    """What to measure; every value can be written as JSON."""

    label: str  # of the data, for tables
    method: str  # a name of `methods.METHODS`
    data: dict[str, Any]  # for `data.open_pair`
    parameters: dict[str, Any] = field(default_factory=dict)  # beside those of the method
    size: int = 0  # rows a domain; once a method fails at one size, larger ones are not run
    timeout: float | None = None  # seconds
    memory_cap: int | None = None  # bytes of address space
    with_labels: bool = False  # whether the record has the labels, for a comparison

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def failed_record(task: Task, status: str, message: str, seconds: float | None = None) -> Record:
    """Record of a task that gave no labels."""
    return {
        "label": task.label,
        "method": task.method,
        "size": task.size,
        "status": status,
        "message": message,
        "seconds": seconds,
    }
