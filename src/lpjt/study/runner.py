"""Many jobs: each in a process of its own, several at once, every end a stored row, and none run twice."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from lpjt.study.machine import threads_each
from lpjt.study.processes import Call, Outcome, outcomes, without_ctrl_c
from lpjt.study.store import Row, Store


class Runnable(Protocol):
    """What can be run: a table's run (`lpjt.study.runs`) or a measurement (`lpjt.study.speed`)."""

    @property
    def key(self) -> str:
        """Name of the job in the store."""

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of jobs that take about as long, the narrowest first and the one of all jobs last."""

    def row_without_result(self, *, status: str, message: str, seconds: float | None, started: str | None) -> Row:
        """Row of a job that gave no result."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Something happened to a job: it started, ended, or was found in the store."""

    kind: str  # "start" | "end" | "skip"
    job: Any
    row: Row | None  # of "end" the new row, of "skip" the stored one
    done: int  # stored rows among the jobs, skipped ones too
    running: int
    total: int
    remaining: float | None  # estimated seconds until all are done, None while nothing is known


def run_jobs(
    jobs: Iterable[Runnable],
    store: Store,
    *,
    run: Callable[[Any], Row],
    n_jobs: int = 1,
    timeout: float | None = None,
    retry_failed: bool = False,
    again: bool = False,
    on_event: Callable[[Event], None] | None = None,
) -> None:
    """Run every job that has no row in the store yet, and store its row.

    Parameters
    ----------
    jobs : jobs
        Equal ones are run once.
    store : Store
        Gets one row per job as soon as it ends, and is compacted in the end.
    run : callable
        From a job to its row; a function of a module, as it is called in another process.
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

    Notes
    -----
    A run that raises is a row of status "failed"; one whose process dies, by whatever signal, of status "crashed".
    However `run_jobs` itself ends, by an error, Ctrl-C or a kill, its runs end too and the rows so far are kept.
    """
    if n_jobs < 1:
        raise ValueError(f"n_jobs={n_jobs} leaves no process to run in. Give 1 or more.")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout={timeout} leaves no time to run in. Give seconds above 0, or None.")
    progress = _Progress({job.key: job for job in jobs}, n_jobs=n_jobs, on_event=on_event)
    progress.skip_stored([] if again else store.rows(), retry_failed=retry_failed)
    try:
        while progress.waiting or progress.running:
            while progress.waiting and len(progress.running) < n_jobs:
                progress.start(Call(run, progress.waiting.popleft(), n_threads=threads_each(n_jobs)))
            for call, outcome in outcomes(progress.running, timeout):
                row = _row(call.argument, outcome)
                store.append(row)
                progress.end(call, row)
    finally:
        with without_ctrl_c():
            for left in progress.running:
                left.kill()
    store.compact()


def _row(job: Runnable, outcome: Outcome) -> Row:
    if outcome.status == "ok":
        return outcome.value
    return job.row_without_result(
        status=outcome.status, message=outcome.message, seconds=outcome.seconds, started=outcome.started
    )


@dataclass(slots=True, eq=False)
class _Progress:
    """What waits, runs and is done, and how long the rest may take."""

    jobs: dict[str, Runnable]
    n_jobs: int
    on_event: Callable[[Event], None] | None
    waiting: deque[Runnable] = field(default_factory=deque)
    running: list[Call] = field(default_factory=list)
    done: int = 0
    # Seconds of known runs, by the groups of their jobs.
    known: dict[tuple[str, ...], list[float]] = field(default_factory=lambda: defaultdict(list))

    def skip_stored(self, rows: list[Row], *, retry_failed: bool) -> None:
        stored = {row["key"]: row for row in rows if not (retry_failed and row["status"] != "ok")}
        self.waiting.extend(job for key, job in self.jobs.items() if key not in stored)
        skipped = [(job, stored[key]) for key, job in self.jobs.items() if key in stored]
        for job, row in skipped:
            if row["status"] == "ok" and row["seconds"] is not None:
                self._learn(job, row["seconds"] * row.get("n_tried", 1))
        for job, row in skipped:
            self.done += 1
            self._tell("skip", job, row)

    def start(self, call: Call) -> None:
        self.running.append(call)  # before it starts, so that Ctrl-C in between finds it
        call.start()
        self._tell("start", call.argument)

    def end(self, call: Call, row: Row) -> None:
        self.running.remove(call)
        self.done += 1
        if row["status"] in ("ok", "timeout"):  # how soon another fails says nothing
            self._learn(call.argument, call.seconds())
        self._tell("end", call.argument, row)

    def _tell(self, kind: str, job: Runnable, row: Row | None = None) -> None:
        if self.on_event is not None:
            self.on_event(Event(kind, job, row, self.done, len(self.running), len(self.jobs), self._remaining()))

    def _learn(self, job: Runnable, seconds: float) -> None:
        for group in job.groups:
            self.known[group].append(seconds)

    def _guess(self, job: Runnable) -> float:
        known = next(self.known[group] for group in job.groups if group in self.known)
        return sum(known) / len(known)

    def _remaining(self) -> float | None:
        if not self.waiting and not self.running:
            return 0.0
        if not self.known:
            return None
        now = [max(0.0, self._guess(call.argument) - call.seconds()) for call in self.running]
        shared = (sum(now) + sum(map(self._guess, self.waiting))) / self.n_jobs
        # Nothing left by the guesses, and yet runs go on: they take longer than any known.
        return max(shared, *now, 0.0) or None
