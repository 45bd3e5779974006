"""Worker processes of one machine for the bench on a cluster: started, watched, and one of them killed."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WORKERS, MEMORY = 2, "2GB"

#: What a worker may write to disk of its results when its memory is nearly full, in bytes.
SPILL = 4_000_000_000

#: Seconds between two looks at the workers, and between two lines about them.
LOOK_SECONDS, LINE_SECONDS = 0.2, 30.0


@contextmanager
def open_cluster(folder: Path) -> Iterator[Any]:
    """A client of workers of one thread each, on loopback alone, which write to a folder what their memory lacks."""
    import dask
    from distributed import Client, LocalCluster

    of_dask = {"temporary_directory": str(folder), "distributed.worker.memory.max-spill": SPILL}
    with (
        dask.config.set(of_dask),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            processes=True,
            memory_limit=MEMORY,
            silence_logs=logging.ERROR,  # the warning of a loss names hundreds of tasks
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@dataclass(slots=True, eq=False)
class Watch:
    """What the workers of a cluster use; one of them is killed once all have used `kill_after` processor seconds.

    Not seconds of a clock: other processes of the machine may take more of it in one fit than in the other.
    """

    client: Any
    tell: Callable[[str], None]
    kill_after: float = float("inf")
    peak_bytes: int = 0  # resident, of the larger worker
    killed: list[int] = field(default_factory=list)  # processes
    _used: dict[int, float] = field(default_factory=dict)  # seconds of each process, lost ones too
    _before: float = 0.0
    _started: float = field(default_factory=time.monotonic)
    _lines: int = 0

    def __post_init__(self) -> None:
        self._measure()
        self._before, self.peak_bytes = sum(self._used.values()), 0

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the workers since the watch began, with that of lost ones."""
        return sum(self._used.values()) - self._before

    def look(self) -> None:
        """Look at the workers once; kill one if it is time; tell every `LINE_SECONDS` where they are."""
        pids = self._measure()
        if not self.killed and pids and self.cpu_seconds >= self.kill_after:
            self.killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)
            self.tell(f"killed worker {pids[0]} after {self.cpu_seconds:.0f} s of the processors")
        elapsed = time.monotonic() - self._started
        if elapsed >= (self._lines + 1) * LINE_SECONDS:
            self._lines += 1
            used = f"{self.cpu_seconds:.0f} s of processors, at most {self.peak_bytes / 1e9:.2f} GB in a worker"
            self.tell(f"  {elapsed:.0f} s: {self._doing()}; {used}")

    def _measure(self) -> list[int]:
        """Add up what the workers use now; the processes of those that live."""
        import psutil

        pids = [nanny.pid for nanny in list(self.client.cluster.workers.values())]  # None while one is started again
        alive = []
        for pid in filter(None, pids):
            with suppress(psutil.Error):
                process = psutil.Process(pid)
                self._used[pid] = sum(process.cpu_times()[:2])
                self.peak_bytes = max(self.peak_bytes, process.memory_info().rss)
                alive.append(pid)
        return alive

    def _doing(self) -> str:
        """What the workers compute just now, by the names of the tasks."""
        from dask.utils import key_split

        names: set[str] = set()
        with suppress(RuntimeError):  # the scheduler, in a thread of its own, may change its tables meanwhile
            for worker in list(self.client.cluster.scheduler.workers.values()):
                names |= {key_split(task.key) for task in worker.processing}
        return ", ".join(sorted(names)) or "no task"


@contextmanager
def watched(client: Any, tell: Callable[[str], None], kill_after: float = float("inf")) -> Iterator[Watch]:
    """A `Watch` that looks at the workers, from a thread of its own, while the context lasts."""
    watch, done = Watch(client, tell, kill_after), threading.Event()

    def repeat() -> None:
        while not done.wait(LOOK_SECONDS):
            watch.look()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        done.set()
        thread.join()
        watch.look()
