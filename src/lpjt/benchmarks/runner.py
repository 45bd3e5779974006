"""Many runs: each in a process of its own, several at once, every end a stored row, and none made twice."""

import multiprocessing
import os
import signal
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import connection, forkserver
from typing import Any

from lpjt.benchmarks.measure import Job, measure, one_line, unscored_row, utc_now
from lpjt.benchmarks.store import Store

Row = dict[str, Any]

#: Imported once, by the process that the runs are forked from; `ot` because methods import it while they are timed.
_PRELOADED = ("lpjt.benchmarks.methods", "lpjt.baselines", "lpjt.estimator", "lpjt.datasets", "ot", "threadpoolctl")
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_GRACE = 5.0  # seconds for a process that has sent its row to end by itself


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Something happened to a job: it started, ended, or was found in the store."""

    kind: str  # "start" | "end" | "skip"
    job: Job
    row: Row | None  # of "end" the new row, of "skip" the stored one
    done: int  # stored rows among the jobs, skipped ones too
    running: int
    total: int
    remaining: float | None  # seconds until all are done, None while nothing tells


def run_jobs(
    jobs: Iterable[Job],
    store: Store,
    *,
    n_jobs: int = 1,
    timeout: float | None = None,
    retry_failed: bool = False,
    again: bool = False,
    on_event: Callable[[Event], None] | None = None,
    run: Callable[[Job], Row] = measure,
) -> None:
    """Run every job that has no row in the store yet, and store its row.

    Parameters
    ----------
    jobs : jobs
        Equal ones are run once.
    store : Store
        Gets one row a job as soon as it ends, and is compacted in the end.
    n_jobs : int, default=1
        Processes at once. Each has its share of the processors as threads.
    timeout : float, default=None
        Seconds after which a run is ended and stored with status "timeout".
    retry_failed : bool, default=False
        Whether jobs whose stored status is not "ok" are run again; their row is replaced when they end.
    again : bool, default=False
        Whether all jobs are run, stored or not; a stored row is replaced when its job ends.
    on_event : callable, default=None
        Called with an `Event` whenever a job starts, ends or is skipped.
    run : callable, default=measure
        From a job to its row; a function of a module, as it is called in another process.

    Notes
    -----
    A run that raises is a row of status "failed"; one whose process dies, by whatever signal, of status "crashed".
    However `run_jobs` itself ends, by an error, Ctrl-C or a kill, its runs end too and the rows so far are kept.
    Runs are forked from a server that has imported the package (spawned where there is no such server), so a script
    that calls this keeps the call under ``if __name__ == "__main__":``.
    """
    if n_jobs < 1:
        raise ValueError(f"n_jobs={n_jobs} leaves no process to run in. Give 1 or more.")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout={timeout} leaves no time to run in. Give seconds above 0, or None.")
    plan = _Plan({job.key: job for job in jobs}, n_jobs=n_jobs, on_event=on_event)
    plan.skip_stored([] if again else store.rows(), retry_failed=retry_failed)
    context = _context(run)
    try:
        while plan.waiting or plan.running:
            while plan.waiting and len(plan.running) < n_jobs:
                plan.start(_Run(context, plan.waiting.popleft(), run, _threads_each(n_jobs)))
            for ended, row in _ends(plan.running, timeout):
                store.append(row)
                plan.end(ended, row)
    finally:
        with _without_ctrl_c():
            for left in plan.running:
                left.kill()
    store.compact()


@dataclass(slots=True, eq=False)
class _Plan:
    """What waits, runs and is done, and how long the rest may take."""

    jobs: dict[str, Job]
    n_jobs: int
    on_event: Callable[[Event], None] | None
    waiting: deque[Job] = field(default_factory=deque)
    running: list["_Run"] = field(default_factory=list)
    done: int = 0
    # Seconds of known runs: by method and table, by method, and of all, as methods differ more than pairs do.
    known: dict[tuple, list[float]] = field(default_factory=lambda: defaultdict(list))

    def skip_stored(self, rows: list[Row], *, retry_failed: bool) -> None:
        stored = {row["key"]: row for row in rows if not (retry_failed and row["status"] != "ok")}
        self.waiting.extend(job for key, job in self.jobs.items() if key not in stored)
        skipped = [(job, stored[key]) for key, job in self.jobs.items() if key in stored]
        for job, row in skipped:
            if row["status"] == "ok" and row["seconds"] is not None:
                self._learn(job, row["seconds"] * row["n_tried"])
        for job, row in skipped:
            self.done += 1
            self._tell("skip", job, row)

    def start(self, run: "_Run") -> None:
        self.running.append(run)  # before it starts, so that Ctrl-C in between finds it
        run.start()
        self._tell("start", run.job)

    def end(self, run: "_Run", row: Row) -> None:
        self.running.remove(run)
        self.done += 1
        if row["status"] in ("ok", "timeout"):  # how soon another fails says nothing
            self._learn(run.job, run.seconds())
        self._tell("end", run.job, row)

    def _tell(self, kind: str, job: Job, row: Row | None = None) -> None:
        if self.on_event is not None:
            self.on_event(Event(kind, job, row, self.done, len(self.running), len(self.jobs), self._remaining()))

    def _learn(self, job: Job, seconds: float) -> None:
        for group in _groups(job):
            self.known[group].append(seconds)

    def _guess(self, job: Job) -> float:
        known = next(self.known[group] for group in _groups(job) if group in self.known)
        return sum(known) / len(known)

    def _remaining(self) -> float | None:
        if not self.waiting and not self.running:
            return 0.0
        if not self.known:
            return None
        now = [max(0.0, self._guess(run.job) - run.seconds()) for run in self.running]
        shared = (sum(now) + sum(map(self._guess, self.waiting))) / self.n_jobs
        # Nothing left by the guesses, and yet runs go on: they take longer than any known.
        return max(shared, *now, 0.0) or None


def _groups(job: Job) -> tuple[tuple, ...]:
    return (job.protocol, job.method, job.table), (job.protocol, job.method), ()


class _Run:
    """A job in a process of its own."""

    def __init__(self, context: Any, job: Job, run: Callable[[Job], Row], n_threads: int) -> None:
        self.job = job
        self.receiver, self._sender = context.Pipe(duplex=False)
        # The server that runs are forked from keeps the environment of its own start.
        environment = dict(os.environ) | dict.fromkeys(_THREAD_VARIABLES, str(n_threads))
        arguments = (run, job, self._sender, n_threads, environment)
        self.process = context.Process(target=_child, args=arguments, daemon=True)
        self._began, self._started = time.monotonic(), utc_now()

    def start(self) -> None:
        with _without_ctrl_c():  # half a request would bring down the server, and with it the other runs
            self.process.start()
        self._sender.close()  # the child's copy is then the only one, and its death the end of the pipe

    def seconds(self) -> float:
        return time.monotonic() - self._began

    def row(self) -> Row:
        """The row that the process sent, or the one that tells how it died."""
        try:
            row = self.receiver.recv() if self.receiver.poll() else None
        except (EOFError, OSError):
            row = None
        self.process.join(_GRACE)
        if row is None:
            row = self.unscored("crashed", _death(self.process.exitcode))
        self.kill()
        return row

    def unscored(self, status: str, message: str) -> Row:
        return unscored_row(self.job, status=status, message=message, seconds=self.seconds(), started=self._started)

    def kill(self) -> None:
        """End the process and those that it started, and wait until it is gone; safe to repeat."""
        if self.process.pid is not None:
            if hasattr(os, "killpg"):
                # The child leads a group of its own as soon as it runs; before that there is no such group.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
            self.process.join()
        self.receiver.close()


def _ends(runs: list[_Run], timeout: float | None) -> Iterator[tuple[_Run, Row]]:
    """Wait until a run ends or its time is up; each such run and its row."""
    patience = None if timeout is None else max(0.0, timeout - max(run.seconds() for run in runs))
    # The sentinel too: a process that a dead run left behind may hold the pipe open.
    ready = connection.wait([handle for run in runs for handle in (run.receiver, run.process.sentinel)], patience)
    for run in list(runs):
        if run.receiver in ready or run.process.sentinel in ready:
            yield run, run.row()
        elif timeout is not None and run.seconds() >= timeout:
            run.kill()
            yield run, run.unscored("timeout", f"ended after the {timeout:g} s that a run may take")


def _death(exitcode: int | None) -> str:
    if exitcode is None or exitcode >= 0:
        return f"the process ended with exit code {exitcode} and gave no row"
    names = {number.value: number.name for number in signal.Signals}
    hint = ", as when memory runs out" if names.get(-exitcode) == "SIGKILL" else ""
    return f"the process was ended by signal {-exitcode} ({names.get(-exitcode, 'unnamed')}){hint}"


def _context(run: Callable) -> Any:
    """Processes that begin as a fork of one that has imported all, and of nothing that this process has in memory."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    module = getattr(run, "__module__", "__main__")
    context.set_forkserver_preload([*_PRELOADED, *([] if module == "__main__" else [module])])
    # The server and the runs inherit the mask: Ctrl-C, which a terminal sends to all, is this process's to handle.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Put Ctrl-C off until the end of a step that must not be left half done."""
    if threading.current_thread() is not threading.main_thread():
        yield  # it is never raised here
        return
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            signal.raise_signal(signal.SIGINT)


def _threads_each(n_jobs: int) -> int:
    from joblib import cpu_count  # type: ignore[import-untyped]  # knows of affinity and of containers

    share = max(1, cpu_count() // n_jobs)
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(share, int(asked)) if asked.isdigit() and int(asked) else share


def _child(run: Callable[[Job], Row], job: Job, sender: Any, n_threads: int, environment: dict[str, str]) -> None:
    """Call `run` in this process, which is its alone, and send the row."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # Ctrl-C reaches the parent only, and a kill all that this run starts
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)  # for libraries yet to be loaded; the limits are for those that are
    with threadpool_limits(limits=n_threads):
        try:
            row = run(job)
        except Exception as error:
            row = unscored_row(job, status="failed", message=one_line(error))
    sender.send(row)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        if hasattr(os, "killpg"):
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)
