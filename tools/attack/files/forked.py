"""A child by fork: what `lpjt.isolated.process.run_child` does with a new interpreter, in a hundredth of the time.

The fork reads file after file, each as the child in use does, until one ends it or it has read `_READS`; then there is
a new one. Its limits are those of one reading, counted from the moment of the fork.
"""

import json
import os
import select
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Imported before the fork, as a new interpreter has them before its limits.
import h5py  # noqa: F401
import openpyxl  # noqa: F401
import pandas  # noqa: F401
import pyarrow.parquet  # noqa: F401
import scipy.io  # noqa: F401

from lpjt.isolated.child import limit, work

_READS = 100


@dataclass(slots=True)
class _Fork:
    pid: int
    requests: int  # descriptors of its pipes
    answers: int
    reads: int = 0


_forks: list[_Fork] = []


def run_forked(request: Mapping[str, Any]) -> int | None:
    """Exit code that a child would have, None if its time was up."""
    if not _forks:
        _forks.append(_start(request))
    fork = _forks[0]
    fork.reads += 1
    os.write(fork.requests, json.dumps(request).encode("ascii") + b"\n")
    in_time = bool(select.select([fork.answers], [], [], request["seconds"])[0])
    if in_time and os.read(fork.answers, 1):
        if fork.reads >= _READS:
            _end(fork)
        return 0
    code = _end(fork)
    return code if in_time else None


def _start(request: Mapping[str, Any]) -> _Fork:
    requests, answers = os.pipe(), os.pipe()
    pid = os.fork()
    if pid:
        os.close(requests[0])
        os.close(answers[1])
        return _Fork(pid, requests[1], answers[0])
    try:
        os.close(requests[1])
        limit(request["memory"], _READS * request["seconds"])
        with open(requests[0], encoding="ascii") as lines:
            for line in lines:
                work(json.loads(line))
                os.write(answers[1], b"1")
    finally:
        os._exit(1)


def _end(fork: _Fork) -> int:
    """End a fork, and say how it has ended; one that has crashed is given the time to do so."""
    _forks.clear()
    os.close(fork.requests)
    os.close(fork.answers)
    handle = os.pidfd_open(fork.pid)
    if not select.select([handle], [], [], 1.0)[0]:
        os.kill(fork.pid, signal.SIGKILL)
    os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(fork.pid, 0)[1])
