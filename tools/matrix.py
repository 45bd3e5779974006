"""`make test-matrix`: the tests on the oldest and the newest supported packages, and on the oldest and newest Python.

Three environments are made in build/matrix, once each: the oldest Python with the lower bounds of pyproject.toml, the
oldest Python with the newest packages, and the newest Python on this machine for which the packages install. One that
cannot be made is reported with the reason, and the others go on. All that pytest said is in build/matrix/<cell>.log.
The exit code is 1 when tests failed, or when nothing could be run.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: What the tests of every room need beside the package; the extras decide what is skipped.
TOOLS = (
    "pytest>=8",
    "pytest-timeout>=2.3",
    "pytest-xdist>=3.6",
    "hypothesis>=6.100",
    "array-api-strict>=2",
    "piqp>=0.4",
    "skops>=0.11",
)

#: Names and versions in the table, those of the packages whose bounds matter most.
SHOWN = ("numpy", "scipy", "scikit-learn")

#: Packages of the extras that are pinned to their lower bounds too: those that read and write arrays of numpy. Newer
#: ones need a newer numpy, and do not all say so.
OLD_PACKAGES = ("faiss-cpu", "h5py", "matplotlib", "openpyxl", "pandas", "polars", "POT", "pyarrow")

#: Extras of a cell, and of that with the lower bounds: there without skada, which needs a newer pandas than we do, so
#: that its tests are skipped.
EXTRAS, OLD_EXTRAS = "test", "cli,data,dask,demo,faiss,hdf5,onnx,ot,polars,report,xlsx"

LAST_LINES = 15


@dataclass(frozen=True, slots=True)
class Cell:
    """One environment of the matrix."""

    name: str
    newest_python: bool
    lower_bounds: bool
    extras: str = EXTRAS


CELLS = (
    Cell("oldest", newest_python=False, lower_bounds=True, extras=OLD_EXTRAS),
    Cell("newest", newest_python=False, lower_bounds=False),
    Cell("newest-python", newest_python=True, lower_bounds=False),
)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one cell."""

    cell: str
    python: str
    packages: str
    outcome: str  # last line of pytest, or why it did not run
    code: int | None  # of pytest; None if the cell could not be made


def read_project() -> tuple[list[str], tuple[int, int]]:
    """Requirements of the package, those of `OLD_PACKAGES`, and the oldest Python that it supports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = re.fullmatch(r">=(\d+)\.(\d+)", project["requires-python"])
    if oldest is None:
        raise SystemExit(
            f"requires-python = {project['requires-python']!r} in pyproject.toml is not of the form >=3.11."
        )
    extras = sorted({one for requirements in project["optional-dependencies"].values() for one in requirements})
    old = [one for one in extras if re.split(r"[\[>=]", one)[0].strip() in OLD_PACKAGES]
    return [*project["dependencies"], *old], (int(oldest[1]), int(oldest[2]))


def lower_bounds(requirements: Sequence[str]) -> list[str]:
    """Each requirement pinned to its lower bound."""
    pinned = []
    for requirement in requirements:
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9.]+)", requirement.replace(" ", ""))
        if match is None:
            raise SystemExit(f"{requirement!r} in pyproject.toml has no lower bound. Write it as name>=version.")
        pinned.append(f"{match[1]}=={match[2]}")
    return pinned


def find_pythons(oldest: tuple[int, int]) -> dict[tuple[int, int], Path]:
    """Interpreters of this machine from `oldest` on, by version: on the PATH, and those that pyenv keeps."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[tuple[int, int], Path] = {}
    for minor in range(oldest[1], oldest[1] + 20):
        version = (oldest[0], minor)
        name = f"python{version[0]}.{version[1]}"
        places = [shutil.which(name), *sorted(map(str, kept.glob(f"{version[0]}.{version[1]}.*/bin/python")))]
        for place in filter(None, places):
            # Asked, not believed: pyenv has a program of this name for versions that are not in use.
            say = [place, "-c", "import sys, venv; print(sys.version_info[:2])"]
            answer = subprocess.run(say, capture_output=True, text=True, check=False)
            if answer.returncode == 0 and answer.stdout.strip() == str(version):
                found[version] = Path(place)
    return found


def make_environment(python: Path, folder: Path, requirements: Sequence[str], constraints: Sequence[str]) -> str:
    """Make an environment, if it is not there yet; returns why that failed, or nothing."""
    wanted = "\n".join([str(python), *requirements, *constraints])
    stamp = folder / "made-of.txt"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return ""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pins = folder / "constraints.txt"
    pins.write_text("\n".join(constraints), encoding="utf-8")
    steps: list[list[str]] = [
        [str(python), "-m", "venv", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", str(pins)],
    ]
    steps[1] += requirements
    for step in steps:
        answer = subprocess.run(step, capture_output=True, text=True, check=False)
        if answer.returncode:
            lines = [line for line in answer.stderr.splitlines() if line.startswith("ERROR")]
            return (lines or answer.stderr.splitlines() or [f"code {answer.returncode}"])[-1]
    stamp.write_text(wanted, encoding="utf-8")
    return ""


def environment_of(cell: Cell, folder: Path, extras: str | None = None) -> tuple[str, Path | None, str]:
    """Version and interpreter of a cell's environment, or why there is none."""
    dependencies, oldest = read_project()
    extras = cell.extras if extras is None else extras
    pythons = find_pythons(oldest)
    versions = sorted(pythons, reverse=True) if cell.newest_python else [oldest]
    requirements = ["-e", f"{ROOT}[{extras}]" if extras else str(ROOT), *TOOLS]
    why = f"no Python {'.'.join(map(str, oldest))} on this machine"
    for version in versions:
        name = ".".join(map(str, version))
        if cell.newest_python and version == oldest:
            return name, None, f"no newer Python than {name} on this machine for which the packages install ({why})"
        if version not in pythons:
            break
        place = folder / f"{cell.name}-{name}"
        why = make_environment(
            pythons[version], place, requirements, lower_bounds(dependencies) if cell.lower_bounds else []
        )
        if not why:
            return name, place / "bin" / "python", ""
        if not cell.newest_python:
            break
    return ".".join(map(str, versions[0] if versions else oldest)), None, why


def run_cell(cell: Cell, folder: Path, *, extras: str | None, rooms: Sequence[str], workers: int, slow: bool) -> Result:
    """Make the environment of a cell and run the tests there."""
    version, python, why = environment_of(cell, folder, extras)
    if python is None:
        return Result(cell.name, version, "", f"not run: {why}", None)
    code = "import importlib.metadata as m, sys; print(*(f'{n} {m.version(n)}' for n in sys.argv[1:]), sep=', ')"
    packages = subprocess.run([python, "-c", code, *SHOWN], capture_output=True, text=True, check=True).stdout.strip()
    command = [str(python), "-m", "pytest", "-q", "-n", str(workers), "-p", "no:cacheprovider"]
    command += [] if slow else ["-m", "not slow"]
    print(f"{cell.name}: Python {version}, {packages}", flush=True)
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}  # what is tested is what was installed
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    tests = [str(ROOT / "tests" / room) for room in rooms] or [str(ROOT / "tests")]
    answer = subprocess.run([*command, *tests], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    (folder / f"{cell.name}.log").write_text(answer.stdout + answer.stderr, encoding="utf-8")
    lines = answer.stdout.strip().splitlines() or ["pytest said nothing"]
    if answer.returncode:
        print("\n".join([*lines[-LAST_LINES:], *answer.stderr.splitlines()[-LAST_LINES:]]), flush=True)
    return Result(cell.name, version, packages, lines[-1].strip("= "), answer.returncode)


def table(results: Sequence[Result]) -> Iterator[str]:
    """Lines of the table that is printed at the end."""
    yield f"{'cell':14} {'Python':7} {'packages':52} tests"
    for result in results:
        yield f"{result.cell:14} {result.python:7} {result.packages:52} {result.outcome}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cells that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*", help=f"some of: {', '.join(c.name for c in CELLS)} (all by default)")
    parser.add_argument(
        "--rooms", nargs="*", default=[], help="directories of tests/ instead of all, e.g. core fitting"
    )
    parser.add_argument(
        "--extras", help=f"extras of the package to install, instead of {EXTRAS} ({OLD_EXTRAS} in oldest); '' for none"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--slow", action="store_true", help="with the tests that are marked slow")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "matrix")
    given = parser.parse_args(arguments)
    unknown = set(given.cells) - {cell.name for cell in CELLS}
    if unknown:
        parser.error(f"{min(unknown)!r} is no cell. Choose from: {', '.join(cell.name for cell in CELLS)}.")
    chosen = [cell for cell in CELLS if not given.cells or cell.name in given.cells]
    options = {"extras": given.extras, "rooms": given.rooms, "workers": given.workers, "slow": given.slow}
    results = [run_cell(cell, given.folder, **options) for cell in chosen]
    print("\n".join(table(results)))
    return int(any(result.code for result in results) or all(result.code is None for result in results))


if __name__ == "__main__":
    sys.exit(main())
