"""Mutation testing: plant small faults, one at a time, and see whether the tests of the same room notice.

    python tools/mutants.py                                   # 300 faults in core, parameters and fitting
    python tools/mutants.py src/lpjt/core/graphs.py --count 40

Each fault is planted in a copy of the tree, never in the tree itself, and meets the fast tests of its room (neither
`slow` nor `data`) that run its line: those of the module's own test file first, then quickest first, until one fails.
A fault no test notices has survived: a test is missing, or the fault changes nothing that matters.
"""

import argparse
import hashlib
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutations import Defaults, Mutant, find_mutants

PATHS = ("src/lpjt/core", "src/lpjt/parameters.py", "src/lpjt/fitting")
#: Rooms of tests for modules whose own is not the folder of the same name, or not that alone.
ROOMS = {"parameters": ("estimator",), "fitting": ("fitting", "estimator")}
FAST = ("-m", "not slow and not data", "-x", "-q", "-p", "no:cacheprovider", "-p", "mutants_plugin")
LEFT_OUT = shutil.ignore_patterns(".*", "_build", "build", "dist", "__pycache__", "*.egg-info")
#: A mutant may take this much longer than its tests did without it, plus the time to start, before it counts as hung.
TIMES_SLOWER, SECONDS_TO_START = 4, 30
PASSED, USAGE_ERROR, NO_TESTS = 0, 4, 5  # pytest's exit codes

Result = dict[str, Any]  # as stored: path, line, function, kind, diff, outcome, n_tests, noticed, seconds


@dataclass(frozen=True, slots=True)
class RoomMap:
    """What the tests of some rooms do without any fault."""

    seconds: dict[str, float]  # by test
    lines: dict[str, dict[str, list[str]]]  # tests by file and line

    def tests_for(self, mutant: Mutant) -> list[str]:
        """The tests that can notice a fault, those most likely and quickest first."""
        if mutant.lines is None:
            tests = set(self.seconds)
        else:
            of_file, (first, last) = self.lines.get(mutant.path, {}), mutant.lines
            tests = {test for line in range(first, last + 1) for test in of_file.get(str(line), ())}
        own = f"/test_{Path(mutant.path).stem}.py::"
        return sorted(tests, key=lambda test: (own not in test, self.seconds[test], test))


class Tree:
    """A copy of the project in which faults are planted."""

    def __init__(self, root: Path, place: Path) -> None:
        shutil.copytree(root, place, ignore=LEFT_OUT)
        self.place = place
        self.running: subprocess.Popen[str] | None = None
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(place / "src"), str(Path(__file__).parent)]),
            "PYTHONDONTWRITEBYTECODE": "1",  # two versions of a file in one second would share their bytecode
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }

    def pytest(self, arguments: Sequence[str], environment: dict[str, str], timeout: float | None) -> tuple[int, str]:
        """Exit code and output of a run of pytest; `subprocess.TimeoutExpired` when it takes too long."""
        command = [sys.executable, "-m", "pytest", *FAST, *arguments]
        self.running = subprocess.Popen(
            command,
            cwd=self.place,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = self.running.communicate(timeout=timeout)
            return self.running.returncode, output
        finally:
            self.stop()

    def stop(self) -> None:
        """End what runs here, with the processes it started."""
        if self.running is not None and self.running.poll() is None:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()

    def record(self, rooms: Sequence[str]) -> RoomMap:
        """Run the rooms' fast tests without a fault and note what they do."""
        out = self.place / "record.json"
        environment = {"MUTANTS_RECORD": str(out), "MUTANTS_WATCH": str(self.place / "src")}
        code, output = self.pytest(rooms, environment, None)
        if code != PASSED:
            raise SystemExit(f"The tests of {', '.join(rooms)} fail without any fault:\n{output}")
        found = json.loads(out.read_text())
        if not found["lines"]:
            raise SystemExit(f"The tests of {', '.join(rooms)} run no line below src: is the package on their path?")
        return RoomMap(found["tests"], found["lines"])

    def judge(self, mutant: Mutant, source: bytes, room: RoomMap) -> Result:
        """Plant a fault, run the tests that can notice it, and take it out again."""
        tests, begun = room.tests_for(mutant), time.perf_counter()
        outcome, noticed = "survived", ""
        if tests:
            chosen, target = self.place / "chosen.json", self.place / mutant.path
            chosen.write_text(json.dumps(tests))
            files = sorted({test.split("::")[0] for test in tests})
            limit = SECONDS_TO_START + TIMES_SLOWER * sum(room.seconds[test] for test in tests)
            target.write_bytes(mutant.apply(source))
            try:
                code, output = self.pytest(files, {"MUTANTS_SELECT": str(chosen)}, limit)
                if code == USAGE_ERROR:
                    raise SystemExit(f"pytest did not understand its arguments:\n{output}")
                outcome = "survived" if code in (PASSED, NO_TESTS) else "killed"
                noticed = next((line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
            except subprocess.TimeoutExpired:
                outcome = "time-out"
            finally:
                target.write_bytes(source)
        seconds = round(time.perf_counter() - begun, 2)
        return {"outcome": outcome, "n_tests": len(tests), "noticed": noticed[:200], "seconds": seconds}


def rooms_of(path: str, root: Path) -> tuple[str, ...]:
    """Test folders for a file below src: those of its room, which is its folder or its own name."""
    room = Path(path).parts[2].removesuffix(".py")  # src, package, room
    folders = tuple(f"tests/{name}" for name in ROOMS.get(room, (room,)) if (root / "tests" / name).is_dir())
    if not folders:
        raise SystemExit(f"{path} has no tests: tests/{room} is not a folder. Add it, or name its rooms in ROOMS.")
    return folders


def draw(root: Path, paths: Sequence[str], count: int, seed: int) -> tuple[list[Mutant], int]:
    """A seeded draw of faults, in the order of the draw, and how many there are to draw from."""
    files = sorted({file for path in paths for file in _python_files(root / path)})
    if not files:
        raise SystemExit(f"No Python file in {', '.join(paths)} below {root}.")
    defaults = Defaults.of(file.read_bytes() for file in sorted((root / "src").rglob("*.py")))
    sources = {file.relative_to(root).as_posix(): file.read_bytes() for file in files}
    mutants = [mutant for path, source in sources.items() for mutant in find_mutants(path, source, defaults)]
    random.Random(seed).shuffle(mutants)
    chosen: list[Mutant] = []
    for mutant in mutants:
        if len(chosen) < count and mutant.changes_the_program(sources[mutant.path]):
            chosen.append(mutant)
    return chosen, len(mutants)


def _python_files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise SystemExit(f"{path} does not exist.")
    yield from path.rglob("*.py") if path.is_dir() else [path]


def key_of(mutant: Mutant, source: bytes) -> str:
    """Name of a fault in the store: it changes with the file it is planted in."""
    text = f"{mutant.path} {mutant.start} {mutant.end} {mutant.after} {hashlib.sha256(source).hexdigest()}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Trees:
    """As many copies of the project as faults are judged at once."""

    def __init__(self, root: Path, folder: Path, jobs: int) -> None:
        self.all = [Tree(root, folder / f"tree-{number}") for number in range(jobs)]
        self.free: queue.Queue[Tree] = queue.Queue()
        for tree in self.all:
            self.free.put(tree)
        self.stopped = False

    def record(self, rooms: Sequence[str]) -> RoomMap:
        """As `Tree.record`, in the next free copy."""
        with self.borrowed() as tree:
            return tree.record(rooms)

    def judge(self, mutant: Mutant, source: bytes, room: RoomMap) -> Result:
        """As `Tree.judge`, in the next free copy."""
        with self.borrowed() as tree:
            return tree.judge(mutant, source, room)

    @contextmanager
    def borrowed(self) -> Iterator[Tree]:
        """Take a copy that nobody uses, and give it back."""
        tree = self.free.get()
        try:
            if self.stopped:
                raise CancelledError
            yield tree
        finally:
            self.free.put(tree)

    def stop(self) -> None:
        """End what runs and begin nothing more."""
        self.stopped = True
        for tree in self.all:
            tree.stop()


def run(root: Path, mutants: list[Mutant], stored: dict[str, Result], store: Path, jobs: int) -> Iterator[Result]:
    """Judge the faults, `jobs` at a time; what is stored already is taken from there."""
    sources = {mutant.path: (root / mutant.path).read_bytes() for mutant in mutants}
    keys = {key_of(mutant, sources[mutant.path]): mutant for mutant in mutants}
    results = {key: stored[key] for key in keys if key in stored}
    yield from results.values()
    todo = {key: mutant for key, mutant in keys.items() if key not in results}
    rooms = {mutant.path: rooms_of(mutant.path, root) for mutant in todo.values()}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        trees = Trees(root, Path(folder), jobs)
        try:
            maps = {room: pool.submit(trees.record, room) for room in sorted(set(rooms.values()))}
            futures = {
                pool.submit(trees.judge, mutant, sources[mutant.path], maps[rooms[mutant.path]].result()): key
                for key, mutant in todo.items()
            }
            for future in as_completed(futures):
                mutant = keys[futures[future]]
                about = {"path": mutant.path, "line": mutant.line, "function": mutant.function, "kind": mutant.kind}
                results[futures[future]] = about | {"diff": mutant.diff(sources[mutant.path])} | future.result()
                _write(store, results)
                yield results[futures[future]]
        finally:
            trees.stop()


def _write(store: Path, results: dict[str, Result]) -> None:
    store.parent.mkdir(parents=True, exist_ok=True)
    half = store.with_suffix(".part")
    half.write_text(json.dumps({"mutants": results}, indent=1) + "\n", encoding="utf-8")
    half.replace(store)


def summary(results: Sequence[Result]) -> tuple[str, float]:
    """The survivors, a table by module, and the share of faults noticed, in percent."""
    lines = []
    for result in sorted(results, key=lambda result: (result["path"], result["line"])):
        if result["outcome"] == "survived":
            untested = "" if result["n_tests"] else ", a line no test runs"
            lines.append(f"{result['path']}:{result['line']} in {result['function'] or 'the module'}{untested}")
            lines.extend(f"    {line}" for line in result["diff"])
    counts: dict[str, Counter[str]] = {}
    for result in results:
        for row in (result["path"], "all"):
            counts.setdefault(row, Counter())[result["outcome"]] += 1
    lines += ["", f"{'':40}{'killed':>10}{'time-out':>10}{'survived':>10}{'noticed':>10}"]
    noticed = 0.0
    for row, count in sorted(counts.items(), key=lambda item: (item[0] == "all", item[0])):
        noticed = 100 * (1 - count["survived"] / count.total())
        cells = "".join(f"{count[outcome]:10d}" for outcome in ("killed", "time-out", "survived"))
        lines.append(f"{row:40}{cells}{noticed:9.1f}%")
    return "\n".join(lines), noticed


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, judge, report. Exit code 1 when fewer faults were noticed than asked for, 130 when interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=PATHS, help="files and folders below the root")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="of the project")
    parser.add_argument("--count", type=int, default=300, help="how many faults to draw")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    parser.add_argument("--store", type=Path, default=Path("build/mutants.json"), help="where results are written")
    parser.add_argument("--resume", action="store_true", help="keep what the store already has of the same faults")
    parser.add_argument("--at-least", type=float, default=0.0, help="fail below this percentage of faults noticed")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    mutants, n_all = draw(root, options.paths, options.count, options.seed)
    print(f"{len(mutants)} of {n_all} faults, seed {options.seed}. First the tests without any.", flush=True)
    known = options.resume and options.store.exists()
    stored = json.loads(options.store.read_text(encoding="utf-8"))["mutants"] if known else {}
    results: list[Result] = []
    try:
        for result in run(root, mutants, stored, options.store, options.jobs):
            results.append(result)
            place = f"{result['path']}:{result['line']} {result['kind']}"
            print(f"{len(results):4d} {result['outcome']:9} {place:60} {result['seconds']:6.1f} s", flush=True)
    except KeyboardInterrupt:
        print("Interrupted; --resume goes on from here.")
        return 130
    finally:
        text, noticed = summary(results) if results else ("Nothing was judged.", 0.0)
        print(f"\n{text}")
    return int(noticed < options.at_least)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    sys.exit(main())
