"""The parent's side: start a child that reads a file, wait for it no longer than allowed, take what it has left."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing import spawn
from pathlib import Path
from typing import Any

from lpjt.isolated.limits import MEMORY, Limits, limits_for
from lpjt.isolated.ordinary import check_ordinary
from lpjt.isolated.parts import MANIFEST, Answer, RefusedError, UnreadableError, read_answer

#: If this variable of the environment is "1", files are read in this process, without protection.
IN_PROCESS = "LPJT_READ_IN_PROCESS"

# -I: neither the current directory nor variables of the environment decide what is imported; the child's path is ours.
_BOOT = (
    "import json, sys; request = json.loads(sys.stdin.buffer.read()); sys.path[:] = request['sys_path']; "
    "from lpjt.isolated.child import main; main(request)"
)

#: Seconds that the system can wait for a process at most.
LONGEST_WAIT = 2e6

#: One thread: further ones cost address space, which is limited, and gain nothing in a parser.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


def read_isolated(path: str | os.PathLike[str], kind: str, **options: Any) -> Answer:
    """The content of a file, read by `lpjt.isolated.formats` in a process of its own.

    Parameters
    ----------
    path : path
    kind : str
        A key of `lpjt.isolated.formats.READERS`.
    **options
        Plain values for that reader.

    Returns
    -------
    Answer

    Raises
    ------
    RefusedError
        The file is no ordinary one, exceeds a limit, or crashed its reader.
    UnreadableError
        What the parser said.
    """
    limits = limits_for(check_ordinary(path))
    with tempfile.TemporaryDirectory(prefix="lpjt-") as folder:  # of mode 700
        request = {
            "kind": kind,
            "path": os.path.abspath(path),
            "folder": folder,
            "memory": limits.memory,
            "seconds": limits.seconds,
            "options": options,
        }
        code = run_child(request)
        try:
            content = json.loads((Path(folder) / MANIFEST).read_text(encoding="ascii"))
        except FileNotFoundError:
            raise _death(code, limits, Path(folder)) from None
        if content["status"] == "read":
            return read_answer(Path(folder), content)
        raise _failure(content, limits)


def run_child(request: Mapping[str, Any]) -> int | None:
    """Read in a child process; its exit code, None if its time was up."""
    if os.environ.get(IN_PROCESS) == "1":
        from lpjt.isolated.child import work

        work(request)
        return 0
    command = [spawn.get_executable() or sys.executable, "-I", "-c", _BOOT]
    sent = json.dumps({**request, "sys_path": [entry for entry in sys.path if isinstance(entry, str)]}).encode("ascii")
    with open(Path(request["folder"]) / "stderr", "wb") as errors:
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, **_ENVIRONMENT},
            )
        except OSError as error:
            raise RefusedError(
                f"not read, because no process could be started to read it in ({error}). If you trust the file, read "
                f"it in this one: {IN_PROCESS}=1 in the environment."
            ) from error
        with child:
            try:
                child.communicate(sent, timeout=min(request["seconds"], LONGEST_WAIT))
            except subprocess.TimeoutExpired:
                return None
            finally:
                child.kill()  # also after Ctrl-C; nothing happens if it has ended
                child.wait()
            return child.returncode


def _failure(content: Mapping[str, Any], limits: Limits) -> Exception:
    """The error that a child has met."""
    status, message = content["status"], str(content["message"])
    if status == "memory":
        return RefusedError(f"reading it takes more memory than {limits.memory_words}")
    if status == "refused":
        return RefusedError(message)
    if status == "missing":
        return ImportError(message)
    return UnreadableError(message)


def _death(code: int | None, limits: Limits, folder: Path) -> Exception:
    """The error for a child that left no answer."""
    if code is None or code == -getattr(signal, "SIGXCPU", 0):
        return RefusedError(f"reading it takes longer than {limits.seconds_words}")
    if code >= 0:
        lines = (folder / "stderr").read_bytes()[-2000:].decode("utf-8", "replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "no message")
        return UnreadableError(f"its reader ended with code {code}: {last}")
    names = {number.value: number.name for number in signal.Signals}
    return RefusedError(
        f"it crashed the library that reads it ({names.get(-code, -code)}), in a process of its own, so nothing else "
        "is affected. The file is damaged or made to do so: write it again, or get it from a source that you trust. If "
        f"it is sound but large, allow more memory: {MEMORY}=<GiB> in the environment."
    )
