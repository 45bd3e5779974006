"""The last section of a page of measurements: the machine and the versions that its figures hold for."""

from collections.abc import Iterable, Mapping
from typing import Any

from lpjt.study.speed.sheets import number
from lpjt.study.tables.sheet import MISSING, Sheet


def machines_section(records: Iterable[tuple[str, Mapping[str, Any]]], *, named: str = "bench") -> str:
    """A table of records by name; names of one day, machine and set of versions are in one line.

    A record has "date" (ISO 8601), "machine" and "versions"; `named` is the heading of the names.
    """
    alike: dict[tuple[str, ...], dict[str, None]] = {}
    for name, record in records:
        alike.setdefault(_machine_cells(record), {})[name] = None
    lines = [(", ".join(names), *cells) for cells, names in alike.items()]
    headings = (named, "date", "processor", "cores", "threads", "memory", "BLAS", "versions")
    table = Sheet("Machine", headings, lines).to_markdown() if lines else "Nothing is measured yet.\n"
    return f"## Machine\n\n{table}"


def _machine_cells(record: Mapping[str, Any]) -> tuple[str, ...]:
    machine = record["machine"]
    memory = machine["memory_bytes"]
    return (
        record["date"][:10],
        machine["processor"],
        str(machine["cores"]),
        str(machine["threads"]),
        MISSING if memory is None else f"{number(memory / 1e9)} GB",
        machine["blas"],
        ", ".join(f"{name} {version}" for name, version in record["versions"].items()),
    )
