"""Cases in processes of their own: a crash, a hang or a lack of memory ends one case, not the run."""

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from attack.part import KINDS, Outcome, Part

#: Seconds that a new process has to import its part.
IMPORT_SECONDS = 180


def run_case(part: Part, number: int) -> Outcome:
    """The outcome of one case, here; an exception is a failure."""
    try:
        outcome = part.run(number)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome("failed", f"{type(error).__name__}: {error} ({os.path.basename(last.filename)}:{last.lineno})")
    if outcome.kind not in KINDS:
        raise ValueError(f"Case {number} of {part.name} ended as {outcome.kind!r}; {', '.join(KINDS)} are known.")
    return outcome


def run_cases(
    load: Callable[[str], Part], name: str, numbers: Iterable[int], workers: int = 0
) -> Iterator[tuple[int, Outcome]]:
    """Outcomes of the cases as they end, run in `workers` processes at once."""
    part = load(name)
    waiting = list(numbers)[::-1]
    pool: list[_Worker] = []
    try:
        while waiting or pool:
            while waiting and len(pool) < (workers or part.workers or os.cpu_count() or 1):
                pool.append(_Worker.start(load, name))
                pool[-1].give(waiting.pop())
            for worker in _ready(pool, part.seconds):
                outcome = worker.take(part.seconds)
                yield worker.number, outcome
                if worker.alive and waiting and worker.done < part.cases_per_process:
                    worker.give(waiting.pop())
                else:
                    worker.end()
                    pool.remove(worker)
    finally:
        for worker in pool:
            worker.end()


@dataclass(slots=True, eq=False)
class _Worker:
    process: Any
    pipe: Connection
    number: int = -1
    done: int = 0
    since: float = field(default_factory=time.monotonic)

    @classmethod
    def start(cls, load: Callable[[str], Part], name: str) -> "_Worker":
        # A fresh interpreter: a fork would share threads of BLAS with this process.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(load, name, theirs), daemon=False)
        process.start()
        theirs.close()
        if not ours.poll(IMPORT_SECONDS):  # it says when its imports are done, so that no case pays for them
            process.kill()
            raise RuntimeError(f"A process for {name} was not ready after {IMPORT_SECONDS} s.")
        ours.recv()
        return cls(process, ours)

    @property
    def alive(self) -> bool:
        return bool(self.process.is_alive())

    def give(self, number: int) -> None:
        self.number, self.since = number, time.monotonic()
        self.pipe.send(number)

    def overdue(self, seconds: float) -> bool:
        return time.monotonic() - self.since > seconds

    def take(self, seconds: float) -> Outcome:
        self.done += 1
        try:
            if self.pipe.poll(0):
                outcome: Outcome = self.pipe.recv()
                return outcome
        except (EOFError, OSError):
            pass
        if self.alive and self.overdue(seconds):
            self.process.kill()
            self.process.join()
            return Outcome("failed", f"took more than {seconds:.0f} s")
        self.process.join()
        return Outcome("failed", f"the process ended with code {self.process.exitcode}")

    def end(self) -> None:
        self.pipe.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _ready(pool: list[_Worker], seconds: float) -> list[_Worker]:
    while True:
        said = wait([worker.pipe for worker in pool], timeout=1.0)
        ready = [worker for worker in pool if worker.pipe in said or worker.overdue(seconds)]
        if ready:
            return ready


def _work(load: Callable[[str], Part], name: str, pipe: Connection) -> None:
    part = load(name)
    pipe.send("ready")
    while True:
        try:
            number = pipe.recv()
        except EOFError:
            return
        pipe.send(run_case(part, number))
