"""The benches of rows on disk, of new rows, of small problems and of the floor of any graph method."""

from collections.abc import Sequence
from pathlib import Path
from shutil import disk_usage

from lpjt.study.speed.data import even_counts
from lpjt.study.speed.others import DISK, KINDS, PREDICT, VERSION
from lpjt.study.speed.plans import TEN_ITERATIONS, Plan, limits, made, make_plan
from lpjt.study.speed.results import Measurement

#: Rows on disk are as wide as deep features, so that gigabytes of them are not millions of rows.
DISK_WIDTH, DISK_CLASSES = 2048, 12

#: Rows per domain of the fit, and new rows that it labels.
FITTED_ROWS, NEW_ROWS = 4000, 1_000_000

#: Rows per domain of the floor.
FLOOR_ROWS = (1_000_000,)

SMALL_LABEL, SMALL = "200 + 200 x 50", {"rows": 200, "width": 50, "classes": 4}
FLOOR = "faiss cells, 15 neighbours"


def plan_disk(gigabytes: float = 20.0, *, memory: str = "2GB", kinds: Sequence[str] = KINDS[:1], folder: Path) -> Plan:
    """One fit of rows in a file, per kind of file."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"--kinds: {unknown[0]!r} is not a kind of file. There are: {', '.join(KINDS)}.")
    rows = int(gigabytes * 1e9 / (2 * 4 * DISK_WIDTH))
    if rows < 20 * DISK_CLASSES:
        raise ValueError(f"--gigabytes {gigabytes:g} holds {rows} rows per domain; give at least 0.005.")
    free = disk_usage(folder).free
    if 1.1 * gigabytes * 1e9 > free:
        raise ValueError(f"{folder} has {free / 1e9:.1f} GB free, and {gigabytes:g} GB are to be written. Give less.")
    data = {"rows": rows, "width": DISK_WIDTH, "classes": DISK_CLASSES, "memory_limit": memory, "folder": str(folder)}
    tasks = [Measurement(f"{kind}, {gigabytes:g} GB", DISK, {**data, "kind": kind}) for kind in kinds]
    note = (
        f"LPJT with its defaults and memory_limit='{memory}', on rows in a temporary file. A read is one pass over the "
        "file in blocks; the system's cache of the file is emptied before each. Memory is that of the process without "
        "the pages of the file."
    )
    return make_plan("disk", tasks, note)


def plan_predict(new: int = NEW_ROWS) -> Plan:
    """Labels of new rows."""
    if new < 100:
        raise ValueError(f"--new {new}: give at least 100 rows.")
    data = {"rows": FITTED_ROWS, "new": new, "width": 256, "classes": 10}
    note = (
        f"`predict` of new target rows by a fit of {FITTED_ROWS:,} + {FITTED_ROWS:,} rows with defaults, beside "
        "`transform` of the same rows and one search of 15 neighbours among the rows of the fit."
    )
    return make_plan("predict", [Measurement(f"{new:,} new rows", PREDICT, data, size=new)], note)


def plan_small() -> Plan:
    """What is met most: few rows, and the command itself."""
    counts = even_counts(SMALL["rows"], SMALL["classes"])
    data = {"source": counts, "target": counts, "width": SMALL["width"]}
    tasks = [
        Measurement(SMALL_LABEL, "LPJT", data, {"max_iter": 10, "tol": 1e-3}),
        Measurement(VERSION, VERSION, {}),
    ]
    return make_plan("small", tasks, "LPJT with its defaults, candidates too; `lpjt --version` against Python alone.")


def plan_floor(rows: Sequence[int] = FLOOR_ROWS, *, timeout: float | None = None) -> Plan:
    """LPJT beside a search by cells of the same rows, which any graph method needs."""
    tasks = [made(name, n, **limits(timeout)) for n in rows for name in (FLOOR, "LPJT")]
    note = (
        "faiss makes cells by k-means (four times the root of the rows) and finds 15 neighbours of each row, source "
        f"and target together, in the eight nearest cells: the floor of a graph method. {TEN_ITERATIONS}"
    )
    return make_plan("floor", tasks, note)
