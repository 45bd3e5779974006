"""Commands killed at random moments, and on disks that are full: nothing lost, nothing half, and a second run is whole.

Each case has real processes: an undisturbed one (once per command), a disturbed one, and one that goes on, which is a
fork of a process that has imported the command line.
"""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attack.kills import step
from attack.kills.commands import COMMANDS, Command, environment, fill_in, normalized, stored_rows
from attack.kills.places import Place, place
from attack.kills.warm import run_warm
from attack.part import Outcome, Part
from attack.processes import Fault

#: The n-th case disturbs in the n-th of these ways; of five cases of a command four are kills, and one is a full disk.
WAYS = ("kill", "interrupt", "step", "terminate", "full disk")

SECONDS = 240.0  # of one process
_SIGNALS = {"kill": signal.SIGKILL, "interrupt": signal.SIGINT, "terminate": signal.SIGTERM}
_OLD = b"what was there before\n"
_RUN = "import sys; from lpjt.cli import main; sys.exit(main())"


@dataclass(frozen=True, slots=True)
class Reference:
    """An undisturbed run."""

    files: dict[str, bytes]
    rows: dict[str, tuple[object, ...]]  # of the store, without what differs from run to run
    seconds: float
    steps: int  # on the disk


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    code: int
    errors: str


def run_case(number: int) -> Outcome:
    """Disturb one command once, look at what it left, and let a second run finish."""
    command, way = COMMANDS[number % len(COMMANDS)], WAYS[(number + number // len(COMMANDS)) % len(WAYS)]
    group, rng = f"{command.name}, {'full disk' if way == 'full disk' else 'killed'}", random.Random(number)
    expected = reference(command)
    size = rng.randrange(4096, 4096 + int(1.3 * _bytes_of(expected))) if way == "full disk" else None
    try:
        with place(small=rng.random() < 0.5, size=size) as where:
            old = rng.random() < 0.5 and _write_old(command, where.folder)
            ended = disturb(command, way, where, rng, expected)
            check_end(way, ended)
            before = check_left(command, where.folder, expected, old=old)
            where.make_room()
            finish(command, where, expected, before)
    except Fault as fault:
        return Outcome("failed", f"{way}: {fault}", group)
    return Outcome("fine", way, group)


def disturb(command: Command, way: str, where: Place, rng: random.Random, expected: Reference) -> Ended:
    """Run a command and disturb it at a random moment."""
    if way == "step":
        return run(command, where, step_number=rng.randrange(1, expected.steps + 1))
    if way == "full disk":
        return run(command, where)
    return run(command, where, number=_SIGNALS[way], after=rng.uniform(0, 1.05 * expected.seconds))


def run(
    command: Command,
    where: Place,
    *,
    number: signal.Signals | None = None,
    after: float | None = None,
    step_number: int | None = None,
) -> Ended:
    """Run a command in a process of its own, with a signal `after` so many seconds or a kill at a step."""
    start = ["-c", _RUN] if step_number is None else [step.__file__, str(step_number), str(where.folder)]
    errors = where.folder.parent / "errors.txt"
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, *start, *fill_in(command, where.folder)],
            env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
            start_new_session=True, preexec_fn=where.before_start,
        )  # fmt: skip
        try:
            process.wait(SECONDS if after is None else after)
        except subprocess.TimeoutExpired:
            if number is None:
                raise Fault(f"{command.name} took more than {SECONDS:.0f} s") from None
            # Ctrl-C goes to all processes of a terminal, the others to one.
            (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        finally:
            code = _end(process, patient=number is not None)
    return Ended(code, errors.read_text(errors="replace"))


def check_end(way: str, ended: Ended) -> None:
    """Refuse an end that a user would have to puzzle over."""
    lines = ended.errors.strip().splitlines()
    allowed = {"kill": {0, -9}, "step": {0, -9}, "terminate": {0, -15}, "interrupt": {0, 130}, "full disk": {0, 2}}
    if way == "interrupt" and ended.code in (-2, 1, 130) and not _is_ours(ended.errors):
        return  # Python had not come to our first line
    if "Traceback" in ended.errors or "Exception ignored" in ended.errors:
        raise Fault(f"a traceback, code {ended.code}: ... {' | '.join(lines[-4:])}")
    if ended.code not in allowed[way]:
        raise Fault(f"code {ended.code}: {' | '.join(lines[-3:])}")
    if ended.code == 130 and sum(line.startswith("lpjt: stopped.") for line in lines) != 1:
        raise Fault(f"not one line, but {ended.errors!r}")
    if ended.code == 2 and not (lines and lines[-1].startswith("lpjt: ") and "/out" in lines[-1]):
        raise Fault(f"a full disk without the name of the file: {ended.errors!r}")


def check_left(command: Command, folder: Path, expected: Reference, *, old: bool) -> dict[str, object]:
    """Refuse half files, lost ones and litter; when each stored row was begun, by key."""
    for name in command.files:
        path = folder / name
        if not path.exists():
            if old:
                raise Fault(f"{name} was there before, and is gone")
        elif path.read_bytes() != _OLD or not old:
            _compare(path, expected)
    known = {*command.files, command.store}
    litter = [path.name for path in folder.iterdir() if path.name not in known]
    if len(litter) > 1 or not all(name.startswith(".lpjt-") for name in litter):
        raise Fault(f"litter: {', '.join(litter)}")
    if command.store is None:
        return {}
    return {key: row["started"] for key, row in stored_rows(folder / command.store).items()}


def finish(command: Command, where: Place, expected: Reference, before: dict[str, object]) -> None:
    """Run the command again, undisturbed: what it gives is what one run gives, and stored rows are not run again."""
    errors = where.folder.parent / "errors.txt"
    code = run_warm(fill_in(command, where.folder), errors, SECONDS)
    ended = Ended(code, errors.read_text(errors="replace"))
    if ended.code != 0:
        raise Fault(f"the second run ended with {ended.code}: {ended.errors.strip()[-300:]}")
    for name in command.files:
        _compare(where.folder / name, expected)
    if command.store is not None:
        rows = stored_rows(where.folder / command.store)
        if {key: _comparable(row) for key, row in rows.items()} != expected.rows:
            raise Fault("the stored rows are not those of an undisturbed run")
        if again := [key for key, started in before.items() if rows[key]["started"] != started]:
            raise Fault(f"{len(again)} stored rows were run again")


@cache
def reference(command: Command) -> Reference:
    """An undisturbed run of a command, once per process."""
    with place(small=False) as where:
        begin = time.monotonic()
        ended = run(command, where, step_number=0)
        seconds = time.monotonic() - begin
        if ended.code != 0:
            raise RuntimeError(f"{command.name} failed undisturbed: {ended.errors}")
        steps = int(ended.errors.rpartition(step.WORDS)[2])
        files = {name: normalized(where.folder / name) for name in command.files}
        stored = {} if command.store is None else stored_rows(where.folder / command.store)
        return Reference(files, {key: _comparable(row) for key, row in stored.items()}, seconds, steps)


def _comparable(row: object) -> tuple[object, ...]:
    return tuple(row[name] for name in ("table", "pair", "method", "seed", "accuracy", "status"))  # type: ignore[index]


def _compare(path: Path, expected: Reference) -> None:
    try:
        found = normalized(path)
    except ValueError as error:
        raise Fault(f"{path.name} is not whole: {error}") from error
    wanted = expected.files[path.name]
    if found != wanted:
        at = next((i for i, pair in enumerate(zip(found, wanted, strict=False)) if pair[0] != pair[1]), len(found))
        raise Fault(
            f"{path.name}, of {path.stat().st_size:,} bytes, is not that of an undisturbed run: "
            f"{found[at - 20 : at + 40]!r} instead of {wanted[at - 20 : at + 40]!r}"
        )


def _write_old(command: Command, folder: Path) -> bool:
    for name in command.files:
        try:
            (folder / name).write_bytes(_OLD)
        except OSError:  # no room even for that: as if nothing had been there
            for other in command.files:
                (folder / other).unlink(missing_ok=True)
            return False
    return True


def _bytes_of(expected: Reference) -> int:
    return sum(map(len, expected.files.values())) + 40_000 * bool(expected.rows)


def _is_ours(errors: str) -> bool:
    return f"{os.sep}lpjt{os.sep}" in errors


def _end(process: subprocess.Popen[bytes], *, patient: bool) -> int:
    """The exit code, and the end of all that the process started."""
    try:
        return process.wait(SECONDS if patient else 0.1)
    except subprocess.TimeoutExpired:
        raise Fault(f"it went on for {SECONDS:.0f} s after the signal") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


PART = Part(
    "kills",
    "Killed",
    cases=len(COMMANDS) * len(WAYS) * 25,  # of each command 100 kills and 25 full disks
    slice=1,
    run=run_case,
    seconds=4 * SECONDS,
)
