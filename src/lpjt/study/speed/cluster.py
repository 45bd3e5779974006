"""A fit on two worker processes, of rows on disk: time, memory of a worker, recall, and the loss of a worker."""

import os
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lpjt.core.cells import CELL_ROWS, FEWEST_CELLS, nearest_cells
from lpjt.study.machine import utc_now
from lpjt.study.settings import make_variant
from lpjt.study.speed.data import draw_block
from lpjt.study.speed.plans import N_CLASSES
from lpjt.study.speed.results import Measurement, Record
from lpjt.study.store import Row
from lpjt.study.tables.sheet import Sheet

WIDTH, WORKERS, MEMORY = 64, 2, "2GB"

#: Rows per block, each of which is one file.
BLOCK_ROWS = 50_000

#: Share of the processor time of an undisturbed fit after which a worker is killed in the second one.
KILLED_AFTER = 0.6

#: What the constants are extrapolated to.
AIM_ROWS, AIM_CORES, AIM_MINUTES = 100_000_000, 32, 20

NOTE = (
    f"LPJT(candidates=None) on {WORKERS} worker processes of one thread and {MEMORY} each, loopback alone; made rows "
    f"of {WIDTH} columns in float32, {N_CLASSES} classes, as many in the source as in the target, on disk in one .npy "
    f"file per {BLOCK_ROWS:,} rows. The second fit loses a worker on the way, which is started again."
)


def plan_cluster(n_rows: int) -> Measurement:
    """The measurement with the given number of rows per domain."""
    if n_rows < 10 * N_CLASSES:
        raise ValueError(f"--rows {n_rows}: the made classes need at least {10 * N_CLASSES} rows per domain.")
    data = {"rows": n_rows, "width": WIDTH, "block": BLOCK_ROWS}
    return Measurement(f"{n_rows:,} rows", "LPJT on Dask", data, size=n_rows, bench="cluster", note=NOTE)


def measure_cluster(task: Measurement, tell: Callable[[str], None]) -> Row:
    """Fit twice, the second time with a loss; the row of the store."""
    started = utc_now()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as directory:
        tell(f"writing {task.label} per domain")
        files = write_rows(Path(directory), task.size)
        pass_seconds = _time_pass(files)
        with _cluster(directory) as client:
            tell("fitting undisturbed")
            first = fit_once(client, files)
            tell(f"fitted in {first.seconds:.0f} s; fitting once more, with a worker killed on the way")
            second = fit_once(client, files, KILLED_AFTER * first.cpu_seconds)
    record = _record(task.size, files, pass_seconds, first, second)
    return task.row(record, started)


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """Files of the blocks of each domain, and the labels of all rows."""

    blocks: tuple[list[Path], list[Path]]
    labels: tuple[np.ndarray, np.ndarray]


def write_rows(directory: Path, n_rows: int) -> Files:
    """Made rows of both domains, block by block."""
    blocks: tuple[list[Path], list[Path]] = ([], [])
    labels: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for domain in (0, 1):
        for number, start in enumerate(range(0, n_rows, BLOCK_ROWS)):
            X, y = draw_block(min(BLOCK_ROWS, n_rows - start), N_CLASSES, WIDTH, domain=domain, number=number)
            blocks[domain].append(directory / f"{domain}-{number}.npy")
            np.save(blocks[domain][-1], X)
            labels[domain].append(y)
    return Files(blocks, (np.concatenate(labels[0]), np.concatenate(labels[1])))


@dataclass(slots=True, eq=False)
class Run:
    """One fit on the cluster."""

    labels: np.ndarray
    seconds: float
    stages: dict[str, float]
    recall: float | None
    adapted: bool
    peak_bytes: int  # of the largest worker
    cpu_seconds: float  # of all workers, which other processes of the machine do not change much
    killed: list[int] = field(default_factory=list)


def fit_once(client: Any, files: Files, kill_after: float = float("inf")) -> Run:
    """Fit, and bring the labels here; one worker is killed once all have used `kill_after` seconds of their processors.

    Not seconds of a clock: other processes of the machine may take more of it in one fit than in the other.
    """
    X, X_target = (_lazy(blocks) for blocks in files.blocks)
    before = sum(client.run(time.process_time).values())
    with _peak_of(client) as peak, _killer(client, kill_after) as killed:
        start = time.perf_counter()
        model = make_variant(candidates=None, random_state=0).fit(X, files.labels[0], X_target)
        labels = model.transduction_.compute()
        seconds = time.perf_counter() - start
    cpu = sum(client.run(time.process_time).values()) - before  # without meaning if a worker was lost
    stages = {name: float(part) for name, part in model.seconds_.items()}
    return Run(labels, seconds, stages, model.neighbor_recall_, bool(model.adapted_), max(peak), cpu, killed)


@contextmanager
def _killer(client: Any, kill_after: float, every: float = 0.1) -> Any:
    """A list that gets the process of the worker that was killed."""
    import psutil

    workers = [psutil.Process(pid) for pid in sorted(client.run(os.getpid).values())]  # of this command's own cluster
    killed: list[int] = []

    def used() -> float:
        return float(sum(sum(worker.cpu_times()[:2]) for worker in workers))

    limit = used() + kill_after

    def look() -> None:
        if not killed and used() >= limit:
            killed.append(workers[0].pid)
            os.kill(workers[0].pid, signal.SIGKILL)

    with _beside(look, every):
        yield killed


def _lazy(blocks: list[Path]) -> Any:
    import dask
    import dask.array as da

    load, parts = dask.delayed(np.load, pure=True), []
    for path in blocks:
        shape = np.load(path, mmap_mode="r").shape
        parts.append(da.from_delayed(load(str(path)), shape=shape, dtype=np.float32))
    return da.concatenate(parts)


@contextmanager
def _cluster(directory: str) -> Any:
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(temporary_directory=directory),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            processes=True,
            memory_limit=MEMORY,
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def _peak_of(client: Any, every: float = 0.5) -> Any:
    """A list that gets the largest resident memory of any worker, in bytes, as the scheduler hears of it."""
    peak = [0]

    def look() -> None:
        workers = client.cluster.scheduler.workers.values()
        peak.append(max((int(w.metrics.get("memory", 0)) for w in list(workers)), default=0))

    with _beside(look, every):
        yield peak


@contextmanager
def _beside(look: Callable[[], None], every: float) -> Any:
    """Call a function every so many seconds, from a thread of its own, while the context lasts."""
    done = threading.Event()

    def repeat() -> None:
        while not done.wait(every):
            look()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _time_pass(files: Files) -> float:
    """Seconds of X'X over the rows of both domains, read from disk, on the threads of numpy."""
    start = time.perf_counter()
    for blocks in files.blocks:
        for path in blocks:
            X = np.load(path)
            X.T @ X
    return time.perf_counter() - start


def time_assignment(n_rows: int = 20_000, n_cells: int = 2000, width: int = 20) -> float:
    """Seconds of one comparison of a row with a centre, on one thread."""
    rng = np.random.default_rng(0)
    Z, centers = (rng.normal(size=(n, width)).astype(np.float32) for n in (n_rows, n_cells))
    start = time.process_time()
    nearest_cells(Z, centers)
    return (time.process_time() - start) / (n_rows * n_cells)


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
        "seconds_per_comparison": pair,
        "aimed_cpu_seconds": aimed,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def cluster_sheet(records: list[Record]) -> Sheet:
    """One line per number of rows, with ratios, and the time that the aim would take with these constants."""
    head = (
        "rows", "s", "passes", "core us per row", "recall", "accuracy", "worker GB", "killed / undisturbed",
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
