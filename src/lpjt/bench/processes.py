"""Tasks one after the other, each in a fresh process, every end a record."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from lpjt.bench.task import Record, Task, failed_record

_CHILD = (sys.executable, "-m", "lpjt.bench.child")
_GRACE = 5.0  # seconds until a process that was killed is given up

OnStart = Callable[[Task, int, int], None]  # the task, how many are done, how many there are
OnEnd = Callable[[Record], None]


def run_tasks(tasks: Iterable[Task], *, on_start: OnStart | None = None, on_end: OnEnd | None = None) -> list[Record]:
    """Measure every task; the records in their order.

    A task larger than one at which its method failed is not run: its record says so. Ctrl-C ends the process under
    way with all that it started.
    """
    tasks = list(tasks)
    records: list[Record] = []
    failed_at: dict[tuple[str, str], Record] = {}
    for number, task in enumerate(tasks):
        series = (task.method, json.dumps(task.parameters, sort_keys=True))
        before = failed_at.get(series)
        if before is not None and task.size > before["size"] > 0:
            record = failed_record(task, "not run", f"{before['status']} at {before['size']:,} rows")
        else:
            if on_start is not None:
                on_start(task, number, len(tasks))
            record = run_task(task)
            if record["status"] != "ok":
                failed_at[series] = record
        records.append(record)
        if on_end is not None:
            on_end(record)
    return records


def run_task(task: Task, *, command: tuple[str, ...] = _CHILD) -> Record:
    """Measure one task in a process of its own; a record also where it fails, dies or takes too long."""
    start = time.perf_counter()
    more: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )
    stdin = process.stdin
    assert stdin is not None
    try:
        with suppress(BrokenPipeError):
            stdin.write(json.dumps(task.as_dict()) + "\n")
            stdin.flush()
        # Out of the reach of `communicate`, which would close it: its end tells the child that this process is gone.
        process.stdin = None
        out, error = process.communicate(timeout=task.timeout)
    except subprocess.TimeoutExpired:
        return failed_record(task, "timeout", f"ended after {task.timeout:g} s", time.perf_counter() - start)
    finally:
        _kill(process)
        with suppress(BrokenPipeError):
            stdin.close()
    return _read(task, process.returncode, out, error, time.perf_counter() - start)


def _read(task: Task, code: int, out: str, error: str, seconds: float) -> Record:
    """What the child wrote, or how it died."""
    try:
        found = json.loads(out)
    except json.JSONDecodeError:
        last = error.strip().splitlines()[-1:] or [""]
        return failed_record(task, "killed", " ".join(f"{_death(code)} {last[0]}".split())[:500], seconds)
    return failed_record(task, found["status"], found["message"]) | found


def _death(code: int) -> str:
    if code >= 0:
        return f"The process ended with exit code {code} and no answer."
    names = {number.value: number.name for number in signal.Signals}
    hint = ", as when memory runs out" if names.get(-code) == "SIGKILL" else ""
    return f"The process was ended by {names.get(-code, f'signal {-code}')}{hint}."


def _kill(process: subprocess.Popen) -> None:
    """End the process and those that it started; safe to repeat, and after its end."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
