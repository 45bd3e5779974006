"""Measurements and what came of them: one row per measurement in the store, one result per bench for the tables."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from lpjt.study.machine import machine, utc_now, versions
from lpjt.study.store import SPEED, Row, Store
from lpjt.study.text import canonical_json, join_messages

#: Where results are kept, from the root of the repository.
DIRECTORY = Path("results/speed")

#: The benches that the page shows.
BENCHES = (
    "growth", "visda", "pie", "peers", "neighbors", "sample", "search", "small", "floor", "predict", "disk", "cluster",
    "quick",
)  # fmt: skip

Record = dict[str, Any]  # label, method, size, status, message, seconds, then figures and what they hold for
Result = dict[str, Any]  # bench, note, records

_LIBRARIES = (
    "lpjt",
    "numpy",
    "scipy",
    "scikit-learn",
    "faiss-cpu",
    "skada",
    "POT",
    "piqp",
    "umap-learn",
    "adapt",
    "kalelinear",
)
_OWN_COLUMNS = ("status", "message", "seconds")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One fit to measure: what on what. It is run in a process of its own."""

    label: str  # of the data, for tables
    method: str  # a name of `methods.METHODS`
    data: dict[str, Any]  # for `data.open_pair`
    parameters: dict[str, Any] = field(default_factory=dict)  # beside those of the method
    size: int = 0  # rows per domain; once a method fails at one size, larger ones are not run
    timeout: float | None = None  # seconds
    memory_cap: int | None = None  # bytes of address space
    compare_with: str | None = None  # a method whose labels are compared with these, after the measurement
    bench: str = ""
    place: int = 0  # in the bench, for the order of its table
    note: str = ""  # what the bench means

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits that name the measurement in the store."""
        fields = (self.bench, self.label, self.method, self.parameters)
        return sha256(canonical_json(fields).encode()).hexdigest()[:16]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Measurements that take about as long."""
        return (self.method,), ()

    def row(self, record: Record, started: str | None = None) -> Row:
        """The row of a record: its figures with six digits (more would be noise), and what they hold for."""
        figures = {name: value for name, value in record.items() if name not in _OWN_COLUMNS}
        return {
            "key": self.key,
            "bench": self.bench,
            "place": self.place,
            "label": self.label,
            "method": self.method,
            "size": self.size,
            "status": record["status"],
            "message": join_messages([record["message"]]),
            "seconds": _rounded(record["seconds"]),
            "figures": json.dumps(_rounded(figures), allow_nan=False),
            "note": self.note,
            "machine": _machine(),
            "versions": json.dumps(versions(_LIBRARIES)),
            "started": started or utc_now(),
        }

    def row_without_result(
        self, *, status: str, message: str, seconds: float | None = None, started: str | None = None
    ) -> Row:
        """The row of a measurement that gave no labels."""
        return self.row({"status": status, "message": message, "seconds": seconds}, started)


def read_result(bench: str, store: Store) -> Result | None:
    """The stored records of a bench, small sizes first and those without a size last; None where there are none."""
    rows = [row for row in store.rows() if row["bench"] == bench]
    if not rows:
        return None
    newest = max(rows, key=lambda row: row["started"])
    rows.sort(key=lambda row: (row["size"] or float("inf"), row["place"]))
    return {"bench": bench, "note": newest["note"], "records": [_record(row) for row in rows]}


def forget_others(bench: str, tasks: Sequence[Measurement], store: Store) -> None:
    """Remove the rows of a bench that are not of these measurements."""
    kept = {task.key for task in tasks}
    store.compact(forget={row["key"] for row in store.rows() if row["bench"] == bench and row["key"] not in kept})


def open_store(directory: Path) -> Store:
    """The store of measurements in a directory."""
    return Store(directory, SPEED)


def _record(row: Row) -> Record:
    own = {name: row[name] for name in ("label", "method", "size", *_OWN_COLUMNS)}
    holds_for = {"date": row["started"], "machine": json.loads(row["machine"]), "versions": json.loads(row["versions"])}
    return own | json.loads(row["figures"]) | holds_for


@cache
def _machine() -> str:
    return json.dumps(machine())


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return value
