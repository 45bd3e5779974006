"""A child by fork: what `lpjt.isolated.process.run_child` does with a new interpreter, in a hundredth of the time."""

import os
import select
import signal
from collections.abc import Mapping
from typing import Any

# Imported before the fork, as a new interpreter has them before its limits.
import h5py  # noqa: F401
import openpyxl  # noqa: F401
import pandas  # noqa: F401
import pyarrow.parquet  # noqa: F401
import scipy.io  # noqa: F401

from lpjt.isolated.child import limit, work


def run_forked(request: Mapping[str, Any]) -> int | None:
    """Exit code of the child, None if its time was up."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            limit(request["memory"], request["seconds"])
            work(request)
            code = 0
        finally:
            os._exit(code)
    handle = os.pidfd_open(pid)
    try:
        in_time = bool(select.select([handle], [], [], request["seconds"])[0])
    finally:
        os.close(handle)
    if not in_time:
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status) if in_time else None
