"""Fits on a cluster whose workers are killed, stopped or short of memory, or whose scheduler is lost.

Each case starts a cluster of its own on the loopback address, as processes of the command line of dask, so that every
one of them can be killed. The fit gives the labels of a fit without a cluster, or an error of ours that says what
happened and what to do; the estimator, the folder of the case and the processes are then as they were.
"""

import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from attack.numbers.tasks import Generator, pair
from attack.part import Outcome, Part
from lpjt import LPJT

#: A fit takes a second or two here; within this time it must have ended, well or with an error,
#: on a machine that does many other things too.
FIT_SECONDS = 180.0

#: Instead of a minute, so that a case is short where no worker comes back.
WORKERLESS_SECONDS = 6.0

#: Words that one of our errors about a cluster has: the place, and a remedy.
OURS = ("The Dask cluster at", "The connection to the scheduler")
REMEDIES = ("fit again", "client.wait_for_workers")


@dataclass(slots=True)
class Cluster:
    """A scheduler and two workers, all of them processes that this case has started."""

    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    def everyone(self) -> list[subprocess.Popen[bytes]]:
        """All processes."""
        return [self.scheduler, *self.workers]


def start(folder: Path, *, memory: str, nanny: bool) -> Cluster:
    """Start the processes; each has a session of its own, so that a nanny and its worker are killed together."""
    file = folder / "scheduler.json"
    words = (
        [sys.executable, "-m", "distributed.cli.dask_scheduler"],
        [sys.executable, "-m", "distributed.cli.dask_worker"],
    )
    common = ["--scheduler-file", str(file)]
    silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    scheduler = subprocess.Popen(
        [*words[0], *common, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"], cwd=folder, **silent
    )
    options = ["--nthreads", "1", "--memory-limit", memory, "--no-dashboard", "--host", "127.0.0.1"]
    options += ["--local-directory", str(folder / "scratch"), "--nanny" if nanny else "--no-nanny"]
    workers = [subprocess.Popen([*words[1], *common, *options], cwd=folder, **silent) for _ in range(2)]
    return Cluster(scheduler, workers)


def send(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process of this case and to those that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


@contextmanager
def cluster(*, memory: str = "2GB", nanny: bool = False) -> Iterator[tuple[Cluster, Any]]:
    """A cluster and its client; both are gone at the end, whatever has happened."""
    from distributed import Client

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        found = start(Path(name), memory=memory, nanny=nanny)
        client = None
        try:
            client = Client(scheduler_file=str(Path(name) / "scheduler.json"), timeout=60)
            client.wait_for_workers(2, timeout=60)
            yield found, client
        finally:
            if client is not None:
                with suppress(Exception):  # of a scheduler that is no longer there
                    client.close(timeout=2)
            for process in found.everyone():
                send(process, signal.SIGCONT)
                send(process, signal.SIGKILL)
            for process in found.everyone():
                process.wait()


@contextmanager
def quiet() -> Iterator[None]:
    """Without the log of dask, which tells of every fault that is planted here."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def worker_processes(client: Any) -> list[int]:
    """Numbers of the processes that compute, not of the nannies around them."""
    return sorted(client.run(os.getpid).values())


def kill_one(rng: Generator, found: Cluster, client: Any) -> Callable[[], None]:
    """One of two workers, at a moment that is drawn, for good."""
    return partial(send, found.workers[0], signal.SIGKILL)


def kill_restarted(rng: Generator, found: Cluster, client: Any) -> Callable[[], None]:
    """Both workers; their nannies start others."""
    victims = worker_processes(client)

    def kill() -> None:
        for victim in victims:
            os.kill(victim, signal.SIGKILL)

    return kill


def kill_all(rng: Generator, found: Cluster, client: Any) -> Callable[[], None]:
    """Both workers for good."""

    def kill() -> None:
        for worker in found.workers:
            send(worker, signal.SIGKILL)

    return kill


def stop_one(rng: Generator, found: Cluster, client: Any) -> Callable[[], None]:
    """One worker does nothing for some seconds, then goes on."""
    seconds = float(rng.uniform(1, 5))

    def stop() -> None:
        send(found.workers[0], signal.SIGSTOP)
        time.sleep(seconds)
        send(found.workers[0], signal.SIGCONT)

    return stop


def kill_scheduler(rng: Generator, found: Cluster, client: Any) -> Callable[[], None]:
    """The scheduler for good."""
    return partial(send, found.scheduler, signal.SIGKILL)


def nothing(rng: Generator, found: Cluster, client: Any) -> Callable[[], None]:
    """No fault beside what the cluster has from the start."""
    return lambda: None


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a cluster, and what is expected of the fit."""

    title: str
    plan: Callable[[Generator, Cluster, Any], Callable[[], None]]
    must_finish: bool  # whether only the same labels are right; otherwise an error of ours is, too
    memory: str = "2GB"
    nanny: bool = False
    patience: float = WORKERLESS_SECONDS


FAULTS = (
    Fault("one worker killed", kill_one, must_finish=True, patience=60.0),
    # First asked for the labels alone: a fit that begins while both are gone is refused at once, as it should be.
    Fault("both workers killed, started again", kill_restarted, must_finish=False, nanny=True, patience=60.0),
    Fault("both workers killed for good", kill_all, must_finish=False),
    Fault("a worker that does nothing for seconds", stop_one, must_finish=True, patience=60.0),
    # Below what the libraries of a task need: a worker is paused or killed in its first task.
    Fault("workers short of memory", nothing, must_finish=False, memory="170MB", nanny=True),
    Fault("scheduler killed", kill_scheduler, must_finish=False),
)


def fit_lazily(rng: Generator) -> tuple[Any, Any, Any]:
    """An estimator, the call that fits it on Dask arrays, and the labels of the fit in memory."""
    import dask.array as da

    X, y, X_target, _ = pair(rng, n=400, width=10, n_classes=4, apart=1.2)
    options: dict[str, Any] = {
        "candidates": None,
        "refine": False,
        "n_components": 6,
        "sample_size": 200,
        "random_state": 0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = LPJT(**options).fit(X, y, X_target).transduction_
    model = LPJT(**options)

    def fit() -> Any:
        rows, target = (da.from_array(part, chunks=(80, -1)) for part in (X, X_target))
        return model.fit(rows, da.from_array(y, chunks=80), target).transduction_.compute()

    return model, fit, expected


def attempt(fit: Callable[[], Any]) -> tuple[Any, BaseException | None, float]:
    """Labels or the error of a fit, and its seconds; a fit that does not end within its time has the error of it."""
    found: dict[str, Any] = {}

    def work() -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found["labels"] = fit()
        except BaseException as error:
            found["error"] = error

    begin = time.monotonic()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(FIT_SECONDS)
    if thread.is_alive():
        return None, TimeoutError(f"the fit had not ended after {FIT_SECONDS:.0f} s"), FIT_SECONDS
    return found.get("labels"), found.get("error"), time.monotonic() - begin


def judge(fault: Fault, model: Any, labels: Any, error: BaseException | None, expected: Any) -> Outcome:
    """The outcome of a case."""
    if error is None:
        same = np.array_equal(labels, expected)
        return Outcome("fine" if same else "failed", "" if same else "other labels", fault.title)
    said = " ".join(str(error).split())
    ours = isinstance(error, RuntimeError) and said.startswith(OURS) and any(remedy in said for remedy in REMEDIES)
    if not ours or fault.must_finish:
        return Outcome("failed", f"{type(error).__name__}: {said[:300]}", fault.title)
    if hasattr(model, "transduction_"):
        return Outcome("failed", "a fit that failed has left attributes behind", fault.title)
    return Outcome("refused", "", fault.title)


def run(number: int) -> Outcome:
    """One fault, at a moment that is drawn."""
    fault = FAULTS[number % len(FAULTS)]
    rng = np.random.default_rng([number, 15])
    model, fit, expected = fit_lazily(rng)
    with (
        quiet(),
        patch("lpjt.engines.dask.cluster.WORKERLESS_SECONDS", fault.patience),
        cluster(memory=fault.memory, nanny=fault.nanny) as (found, client),
    ):
        timer = threading.Timer(float(rng.uniform(0, 2.0)), fault.plan(rng, found, client))
        timer.start()
        labels, error, _ = attempt(fit)
        timer.join()
        return judge(fault, model, labels, error, expected)


# One case at a time: each has four processes.
PART = Part("distributed", "Distributed", cases=120, slice=6, run=run, seconds=400.0, workers=1)
