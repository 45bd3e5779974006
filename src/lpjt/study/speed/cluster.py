"""A fit on two worker processes, of rows on disk: time, memory of a worker, recall, and the loss of a worker."""

import os
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage
from typing import Any

import numpy as np

from lpjt._threads import threads
from lpjt.core.cells import CELL_ROWS, FEWEST_CELLS, nearest_cells
from lpjt.study.machine import utc_now
from lpjt.study.settings import make_variant
from lpjt.study.speed.data import draw_block
from lpjt.study.speed.plans import N_CLASSES
from lpjt.study.speed.results import Measurement, Record
from lpjt.study.speed.workers import MEMORY, SPILL, WORKERS, open_cluster, watched
from lpjt.study.store import Row
from lpjt.study.tables.sheet import Sheet

WIDTH = 64

#: Rows per block, each of which is one chunk on disk.
BLOCK_ROWS = 50_000

#: Share of the processor time of an undisturbed fit after which a worker is killed in the second one.
KILLED_AFTER = 0.6

#: What the constants are extrapolated to.
AIM_ROWS, AIM_CORES, AIM_MINUTES = 100_000_000, 32, 20

NOTE = (
    f"LPJT(candidates=None) on {WORKERS} worker processes of one thread and {MEMORY} each, loopback alone; made rows "
    f"of {WIDTH} columns in float32, {N_CLASSES} classes, as many in the source as in the target, on disk in zarr, "
    f"{BLOCK_ROWS:,} rows to a chunk. The second fit loses a worker on the way, which is started again."
)

Tell = Callable[[str], None]


def plan_cluster(n_rows: int, folder: Path | None = None) -> Measurement:
    """The measurement with the given number of rows per domain, written below a folder for temporary files."""
    if n_rows < 10 * N_CLASSES:
        raise ValueError(f"--rows {n_rows}: the made classes need at least {10 * N_CLASSES} rows per domain.")
    _need_zarr()
    where = folder or Path(tempfile.gettempdir())
    most, free = 2 * 4 * WIDTH * n_rows + WORKERS * SPILL, disk_usage(where).free
    if most > free:
        raise ValueError(
            f"{where} has {free / 1e9:.1f} GB free; the rows and what the workers may write need {most / 1e9:.1f} GB. "
            "Give fewer --rows, or another --folder."
        )
    data = {"rows": n_rows, "width": WIDTH, "block": BLOCK_ROWS, "folder": str(where)}
    return Measurement(f"{n_rows:,} rows", "LPJT on Dask", data, size=n_rows, bench="cluster", note=NOTE)


def measure_cluster(task: Measurement, tell: Tell) -> Row:
    """Fit twice, the second time with a loss; the row of the store."""
    started = utc_now()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(dir=task.data["folder"], prefix="lpjt-bench-") as name:
        folder = Path(name)
        tell(f"writing {task.label} per domain below {folder}")
        files = write_rows(folder, task.size)
        pass_seconds = _time_pass(files)
        with open_cluster(folder) as client:
            tell("fitting undisturbed")
            first = fit_once(client, files, tell)
            tell(f"fitted in {first.seconds:.0f} s; fitting once more, with a worker killed on the way")
            second = fit_once(client, files, tell, KILLED_AFTER * first.cpu_seconds)
    record = _record(task.size, files, pass_seconds, first, second)
    return task.row(record, started)


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """A zarr array of the rows of each domain, and the labels of all rows."""

    rows: tuple[Path, ...]
    labels: tuple[np.ndarray, ...]


def write_rows(folder: Path, n_rows: int) -> Files:
    """Made rows of both domains, block by block."""
    zarr, paths, labels = _need_zarr(), [], []
    for domain in (0, 1):
        paths.append(folder / f"domain-{domain}.zarr")
        shape, chunks = (n_rows, WIDTH), (min(BLOCK_ROWS, n_rows), WIDTH)
        rows = zarr.open(str(paths[-1]), mode="w", shape=shape, chunks=chunks, dtype="float32")
        codes = np.empty(n_rows, dtype=np.int64)
        for number, start in enumerate(range(0, n_rows, BLOCK_ROWS)):
            stop = min(start + BLOCK_ROWS, n_rows)
            block = draw_block(stop - start, N_CLASSES, WIDTH, domain=domain, number=number)
            rows[start:stop], codes[start:stop] = block
        labels.append(codes)
    return Files(tuple(paths), tuple(labels))


def _need_zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise ImportError("zarr holds the rows of this bench. Install it: pip install 'lpjt[bench]'.") from error
    return zarr


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One fit on the cluster."""

    labels: np.ndarray
    seconds: float
    stages: dict[str, float]
    recall: float | None
    adapted: bool
    peak_bytes: int  # of the larger worker
    cpu_seconds: float  # of all workers, which other processes of the machine do not change much
    caller_seconds: float  # of the processor, by the caller and the scheduler, which is in its process
    killed: bool


def fit_once(client: Any, files: Files, tell: Tell, kill_after: float = float("inf")) -> Run:
    """Fit, and bring the labels here; one worker is killed once all have used `kill_after` seconds of processors."""
    import dask.array as da

    X, X_target = (da.from_zarr(str(path)) for path in files.rows)
    with watched(client, tell, kill_after) as watch:
        start, of_caller = time.perf_counter(), time.process_time()
        model = make_variant(candidates=None, random_state=0).fit(X, files.labels[0], X_target)
        labels = model.transduction_.compute()
        seconds, of_caller = time.perf_counter() - start, time.process_time() - of_caller
    return Run(
        labels,
        seconds,
        {name: float(part) for name, part in model.seconds_.items()},
        model.neighbor_recall_,
        bool(model.adapted_),
        watch.peak_bytes,
        watch.cpu_seconds,
        of_caller,
        bool(watch.killed),
    )


def _time_pass(files: Files) -> float:
    """Seconds of X'X over the rows of both domains, read from disk, on the threads of numpy."""
    zarr, start = _need_zarr(), time.perf_counter()
    for path in files.rows:
        rows = zarr.open(str(path), mode="r")
        for first in range(0, rows.shape[0], BLOCK_ROWS):
            X = rows[first : first + BLOCK_ROWS]
            X.T @ X
    return time.perf_counter() - start


def time_assignment(n_rows: int = 20_000, n_cells: int = 2000, width: int = 20) -> float:
    """Seconds of one comparison of a row with a centre, on one thread."""
    rng = np.random.default_rng(0)
    Z, centers = (rng.normal(size=(n, width)).astype(np.float32) for n in (n_rows, n_cells))
    seconds = []
    with threads(1):  # idle threads of BLAS would count
        for _ in range(3):
            start = time.process_time()
            nearest_cells(Z, centers)
            seconds.append(time.process_time() - start)
    return min(seconds) / (n_rows * n_cells)


def _record(n_rows: int, files: Files, pass_seconds: float, first: Run, second: Run) -> Record:
    each = first.cpu_seconds / n_rows
    pair = time_assignment()
    own = pair * FEWEST_CELLS * n_rows / CELL_ROWS  # of the assignment, which is part of `each`
    aimed = AIM_ROWS * (each - own + pair * FEWEST_CELLS * AIM_ROWS / CELL_ROWS) / AIM_CORES
    return {
        "status": "ok" if second.killed else "failed",
        "message": "" if second.killed else "The second fit was over before a worker was killed.",
        "seconds": first.seconds,
        "pass_seconds": pass_seconds,
        "passes": first.seconds / pass_seconds,
        "stages": first.stages,
        "adapted": first.adapted,
        "recall": first.recall,
        "accuracy": 100 * float(np.mean(first.labels == files.labels[1])),
        "worker_bytes": max(first.peak_bytes, second.peak_bytes),
        "killed_seconds": second.seconds,
        "killed_ratio": second.seconds / first.seconds,
        "equal_labels": 100 * float(np.mean(first.labels == second.labels)),
        "cpu_seconds_per_row": each,
        "caller_seconds": first.caller_seconds,
        "seconds_per_comparison": pair,
        "aimed_cpu_seconds": aimed,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def cluster_sheet(records: list[Record]) -> Sheet:
    """One line per number of rows, with ratios, and the time that the aim would take with these constants."""
    head = (
        "rows", "s", "passes", "core us per row", "caller s", "recall", "accuracy", "worker GB", "killed / undisturbed",
        "equal labels", f"{AIM_ROWS:,} rows, {AIM_CORES} cores (aim {AIM_MINUTES} min)", "load",
    )  # fmt: skip
    lines = []
    for r in records:
        if r["status"] != "ok":
            lines.append((f"{r['size']:,}", *([r["message"] or r["status"]] + [""] * (len(head) - 2))))
            continue
        line = (
            f"{r['size']:,}",
            f"{r['seconds']:.0f}",
            f"{r['passes']:.0f}",
            f"{1e6 * r['cpu_seconds_per_row']:.0f}",
            f"{r['caller_seconds']:.0f}",
            "-" if r["recall"] is None else f"{r['recall']:.3f}",
            f"{r['accuracy']:.1f}",
            f"{r['worker_bytes'] / 1e9:.2f}",
            f"{r['killed_ratio']:.2f}",
            f"{r['equal_labels']:.2f}",
            f"{r['aimed_cpu_seconds'] / 60:.0f} min",
            "-" if r["load"] is None else f"{r['load']:.1f}",
        )
        lines.append(line)
    return Sheet("On a cluster of two workers", head, lines)
