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
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mutants_trees import Record, Tree, note_interrupts, plant, run_all, verdict
from mutations import Defaults, Mutant, find_mutants

PATHS = ("src/lpjt/core", "src/lpjt/parameters.py", "src/lpjt/fitting")
#: Rooms of tests for modules whose own is not the folder of the same name, or not that alone.
ROOMS = {"parameters": ("estimator", "fitting"), "fitting": ("fitting", "estimator")}

Result = dict[str, Any]  # as stored: path, line, function, kind, diff, n_tests, outcome, noticed, seconds


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


class Store:
    """Results by the key of their fault, in a file that is always whole."""

    def __init__(self, path: Path, *, resume: bool, again: bool, **about: int) -> None:
        self.path, self.about = path, about
        known = json.loads(path.read_text(encoding="utf-8"))["mutants"] if (resume or again) and path.exists() else {}
        self.known = {key: result for key, result in known.items() if not (again and result["outcome"] == "survived")}
        self.results: dict[str, Result] = {}

    def add(self, key: str, result: Result) -> Result:
        """Keep a result, and write all of them."""
        self.results[key] = result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        half = self.path.with_suffix(".part")
        half.write_text(json.dumps(self.about | {"mutants": self.results}, indent=1) + "\n", encoding="utf-8")
        half.replace(self.path)
        return result


def judge(root: Path, mutants: list[Mutant], store: Store, jobs: int) -> Iterator[Result]:
    """Judge the faults, `jobs` at a time; what is stored already is taken from there."""
    sources = {mutant.path: (root / mutant.path).read_bytes() for mutant in mutants}
    keys = {key_of(mutant, sources[mutant.path]): mutant for mutant in mutants}
    for key in keys.keys() & store.known.keys():
        yield store.add(key, store.known[key])
    todo = {key: mutant for key, mutant in keys.items() if key not in store.known}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees = [Tree(root, Path(folder) / f"tree-{number}") for number in range(jobs)]
        try:
            for key, found in _outcomes(root, trees, todo, sources):
                mutant = keys[key]
                about = {"path": mutant.path, "line": mutant.line, "function": mutant.function, "kind": mutant.kind}
                yield store.add(key, about | {"diff": mutant.diff(sources[mutant.path])} | found)
        finally:
            for tree in trees:
                tree.stop()


def _outcomes(
    root: Path, trees: Sequence[Tree], todo: dict[str, Mutant], sources: dict[str, bytes]
) -> Iterator[tuple[str, Result]]:
    rooms = {mutant.path: rooms_of(mutant.path, root) for mutant in todo.values()}
    record = Record(trees, sorted({folder for folders in rooms.values() for folder in folders}))
    tests = {key: record.tests_for(mutant, rooms[mutant.path]) for key, mutant in todo.items()}
    runs = []
    for key, mutant in todo.items():
        if tests[key]:
            runs.append((key, partial(plant, mutant, sources[mutant.path], tests[key])))
        else:
            yield key, {"n_tests": 0, "outcome": "survived", "noticed": "", "seconds": 0.0}
    for key, tree, code in run_all(trees, runs):
        (tree.place / todo[key].path).write_bytes(sources[todo[key].path])
        yield key, {"n_tests": len(tests[key])} | verdict(code, tree)


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
    parser.add_argument("--again", action="store_true", help="like --resume, but judge the survivors again")
    parser.add_argument("--at-least", type=float, default=0.0, help="fail below this percentage of faults noticed")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    mutants, n_all = draw(root, options.paths, options.count, options.seed)
    print(f"{len(mutants)} of {n_all} faults, seed {options.seed}. First the tests without any.", flush=True)
    kept = {"resume": options.resume, "again": options.again}
    store = Store(options.store, **kept, seed=options.seed, n_all=n_all)
    results: list[Result] = []
    try:
        for result in judge(root, mutants, store, options.jobs):
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
    note_interrupts()
    sys.exit(main())
