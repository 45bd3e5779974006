"""Copies of the project in which faults are planted and tests run, each run in a fork that has its imports done."""

import contextlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from mutations import Mutant

FAST = ("-m", "not slow and not data", "-x", "-q", "-p", "no:cacheprovider", "-p", "mutants_plugin")
LEFT_OUT = shutil.ignore_patterns(".*", "_build", "build", "dist", "__pycache__", "*.egg-info")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
#: A mutant may take this much longer than its tests did without it, plus the time to start, before it counts as hung.
TIMES_SLOWER, SECONDS_TO_START = 4, 20
BYTES_OF_MEMORY = 6 << 30  # address space of a run: a fault in a size must not take the machine's memory
PASSED, USAGE_ERROR, NO_TESTS, HUNG = 0, 4, 5, -99  # exit codes of pytest, and ours
INTERRUPTED: list[bool] = []


class Tree:
    """A copy of the project in which faults are planted and tests run, one run at a time."""

    def __init__(self, root: Path, place: Path) -> None:
        shutil.copytree(root, place, ignore=LEFT_OUT)
        self.place, self.output = place, place / "output.txt"
        self.process: int | None = None
        self.begun = self.limit = 0.0

    def start(self, arguments: Sequence[str], environment: dict[str, str], seconds: float) -> None:
        """Run pytest in a fork of this process, which has imported what the tests need, but not the project."""
        self.begun, self.limit = time.monotonic(), seconds
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            _run_pytest(self.place, self.output, arguments, environment)

    def poll(self) -> int | None:
        """Exit code of the run, None while it goes on."""
        assert self.process is not None
        ended, status = os.waitpid(self.process, os.WNOHANG)
        if ended:
            self.process = None
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() - self.begun > self.limit:
            self.stop()
            return HUNG
        return None

    def stop(self) -> None:
        """End what runs here, with the processes it started."""
        if self.process is not None:
            for kill in (os.killpg, os.kill):  # the group exists only once the fork has begun to run
                with contextlib.suppress(ProcessLookupError):
                    kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.process = None


def _run_pytest(place: Path, output: Path, arguments: Sequence[str], environment: dict[str, str]) -> NoReturn:
    code = 70
    try:
        os.setsid()
        os.chdir(place)
        resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_MEMORY, resource.RLIM_INFINITY))
        written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(written, 1)
        os.dup2(written, 2)
        sys.path[:0] = [str(place / "src"), str(Path(__file__).parent)]
        os.environ.update(environment, PYTHONPATH=str(place / "src"))
        sys.dont_write_bytecode = True  # two versions of a file within a second would share their bytecode
        random.seed(0)
        import pytest

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
        code = int(pytest.main([*FAST, *arguments]))
        sys.stdout.flush()
    finally:
        os._exit(code)


def run_all(
    trees: Sequence[Tree], runs: Iterable[tuple[str, Callable[[Tree], None]]]
) -> Iterator[tuple[str, Tree, int]]:
    """Start each run in the next free tree; key, tree and exit code of each as it ends."""
    waiting, busy, free = iter(runs), dict[Tree, str](), list(trees)
    while True:
        while free and (following := next(waiting, None)):
            key, start = following
            start(free[-1])
            busy[free.pop()] = key
        if not busy:
            return
        for tree in list(busy):
            code = tree.poll()
            if code is not None:
                yield busy.pop(tree), tree, code
                free.append(tree)
        if INTERRUPTED:
            raise KeyboardInterrupt
        time.sleep(0.01)


def note_interrupts() -> None:
    """Take interrupts between two looks at the runs: an exception raised while Python forks would be lost."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: INTERRUPTED.append(True))


class Record:
    """What the tests of each folder do without any fault: their seconds, and the lines they run."""

    def __init__(self, trees: Sequence[Tree], folders: Sequence[str]) -> None:
        self.seconds: dict[str, dict[str, float]] = {}  # by folder and test
        self.lines: dict[str, dict[str, dict[str, list[str]]]] = {}  # tests by folder, file and line
        modules: dict[str, None] = {}
        os.environ.update(ONE_THREAD)  # before numpy is imported: runs are side by side, and forks want no threads
        for folder, tree, code in run_all(trees, [(folder, partial(self._start, folder)) for folder in folders]):
            if code != PASSED:
                raise SystemExit(f"The tests of {folder} fail without any fault:\n{tree.output.read_text()}")
            found = json.loads((tree.place / "record.json").read_text())
            if not found["lines"]:
                raise SystemExit(f"The tests of {folder} run no line below src: is the package on their path?")
            self.seconds[folder], self.lines[folder] = found["tests"], found["lines"]
            modules |= dict.fromkeys(found["modules"])
        for name in modules:  # imported once here rather than in every run
            with contextlib.suppress(Exception):
                importlib.import_module(name)

    @staticmethod
    def _start(folder: str, tree: Tree) -> None:
        paths = {"MUTANTS_RECORD": str(tree.place / "record.json"), "MUTANTS_WATCH": str(tree.place / "src")}
        tree.start([folder], paths, float("inf"))

    def tests_for(self, mutant: Mutant, folders: Sequence[str]) -> dict[str, float]:
        """The tests that can notice a fault, with their seconds: the module's own file first, then quickest first."""
        tests: dict[str, float] = {}
        for folder in folders:
            seconds, of_file = self.seconds[folder], self.lines[folder].get(mutant.path, {})
            first, last = mutant.lines or (0, -1)
            hit = {test for line in range(first, last + 1) for test in of_file.get(str(line), ())}
            tests |= {test: seconds[test] for test in (seconds if mutant.lines is None else hit)}
        own = f"/test_{Path(mutant.path).stem}.py::"
        return dict(sorted(tests.items(), key=lambda item: (own not in item[0], item[1], item[0])))


def plant(mutant: Mutant, source: bytes, tests: dict[str, float], tree: Tree) -> None:
    """Plant a fault and start the tests that can notice it."""
    chosen = tree.place / "chosen.json"
    chosen.write_text(json.dumps(list(tests)))
    (tree.place / mutant.path).write_bytes(mutant.apply(source))
    files = sorted({test.split("::")[0] for test in tests})
    tree.start(files, {"MUTANTS_SELECT": str(chosen)}, SECONDS_TO_START + TIMES_SLOWER * sum(tests.values()))


def verdict(code: int, tree: Tree) -> dict[str, Any]:
    """What became of a planted fault."""
    output = tree.output.read_text(errors="replace")
    if code == USAGE_ERROR:
        raise SystemExit(f"pytest did not understand its arguments:\n{output}")
    noticed = next((line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
    outcome = {HUNG: "time-out", PASSED: "survived", NO_TESTS: "survived"}.get(code, "killed")
    return {"outcome": outcome, "noticed": noticed[:200], "seconds": round(time.monotonic() - tree.begun, 2)}
