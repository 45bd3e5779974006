"""A function called in a process of its own, which ends with its time, its group and its parent; every end has a word.

Processes are forked from a server that has imported the package (spawned where there is no such server), so a script
that starts them keeps the call under ``if __name__ == "__main__":``.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, forkserver, resource_tracker
from typing import Any

from lpjt.study.machine import utc_now
from lpjt.study.text import one_line

#: Imported once, by the server that the processes are forked from; `ot` because methods import it while they are timed.
_PRELOADED = ("lpjt.study.runs.methods", "lpjt.baselines", "lpjt.estimator", "lpjt.datasets", "ot", "threadpoolctl")
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_GRACE = 5.0  # seconds for a process that has sent its answer to end by itself


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """How a call ended."""

    status: str  # "ok" | "failed" (it raised) | "crashed" (the process died) | "timeout"
    value: Any  # what the function returned, of status "ok"
    message: str  # why it did not, of any other
    seconds: float
    started: str  # UTC


class Call:
    """``function(argument)`` in a process of its own with `n_threads` threads; `start` it, then wait by `outcomes`."""

    def __init__(self, function: Callable[[Any], Any], argument: Any, *, n_threads: int) -> None:
        context = _context(function)
        self.argument = argument
        self.receiver, self._sender = context.Pipe(duplex=False)
        # The server keeps the environment of its own start.
        environment = dict(os.environ) | dict.fromkeys(_THREAD_VARIABLES, str(n_threads))
        arguments = (function, argument, self._sender, n_threads, environment)
        self.process = context.Process(target=_child, args=arguments, daemon=True)
        self._began, self._started = time.monotonic(), utc_now()

    def start(self) -> None:
        """Start the process."""
        with without_ctrl_c():  # half a request would bring down the server, and with it the other calls
            self.process.start()
        self._sender.close()  # the child's copy is then the only one, and its death the end of the pipe

    def seconds(self) -> float:
        """Seconds since the call was made."""
        return time.monotonic() - self._began

    def outcome(self) -> Outcome:
        """What the process sent, or how it died."""
        try:
            sent = self.receiver.recv() if self.receiver.poll() else None
        except (EOFError, OSError):
            sent = None
        self.process.join(_GRACE)
        status, value, message = sent or ("crashed", None, _death(self.process.exitcode))
        self.kill()
        return Outcome(status, value, message, self.seconds(), self._started)

    def end_by_timeout(self, timeout: float) -> Outcome:
        """Kill the process, and say so."""
        self.kill()
        return Outcome(
            "timeout", None, f"ended after the {timeout:g} s that a run may take", self.seconds(), self._started
        )

    def kill(self) -> None:
        """End the process and those that it started, and wait until it is gone; safe to repeat."""
        if self.process.pid is not None:
            if hasattr(os, "killpg"):
                # The child leads a group of its own as soon as it runs; before that there is no such group.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
            self.process.join()
        self.receiver.close()


def outcomes(calls: Sequence[Call], timeout: float | None) -> Iterator[tuple[Call, Outcome]]:
    """Wait until a call ends or its time is up; each such call and its outcome."""
    patience = None if timeout is None else max(0.0, timeout - max(call.seconds() for call in calls))
    # The sentinel too: a process that a dead call left behind may hold the pipe open.
    ready = connection.wait([handle for call in calls for handle in (call.receiver, call.process.sentinel)], patience)
    for call in list(calls):
        if call.receiver in ready or call.process.sentinel in ready:
            yield call, call.outcome()
        elif timeout is not None and call.seconds() >= timeout:
            yield call, call.end_by_timeout(timeout)


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Put Ctrl-C off until the end of a step that must not be left half done."""
    if threading.current_thread() is not threading.main_thread():
        yield  # it is never raised here
        return
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            signal.raise_signal(signal.SIGINT)


def _context(function: Callable[[Any], Any]) -> Any:
    """Processes that begin as a fork of one that has imported all, and of nothing that this process has in memory."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    module = getattr(function, "__module__", "__main__")
    context.set_forkserver_preload([*_PRELOADED, *([] if module == "__main__" else [module])])
    # The server starts this one first if it is not running, which ends with Ctrl-C unblocked whatever it was before.
    resource_tracker.ensure_running()
    # The server and the calls inherit the mask: Ctrl-C, which a terminal sends to all, is this process's to handle.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context


def _death(exitcode: int | None) -> str:
    if exitcode is None or exitcode >= 0:
        return f"the process ended with exit code {exitcode} and gave no row"
    names = {number.value: number.name for number in signal.Signals}
    hint = ", as when memory runs out" if names.get(-exitcode) == "SIGKILL" else ""
    return f"the process was ended by signal {-exitcode} ({names.get(-exitcode, 'unnamed')}){hint}"


def _child(
    function: Callable[[Any], Any], argument: Any, sender: Any, n_threads: int, environment: dict[str, str]
) -> None:
    """Call `function` in this process, which is its alone, and send what it returns or why it did not."""
    from threadpoolctl import threadpool_limits

    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # Ctrl-C reaches the parent only, and a kill all that this call starts
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)  # for libraries yet to be loaded; the limits are for those that are
    with threadpool_limits(limits=n_threads):
        try:
            answer = "ok", function(argument), ""
        except Exception as error:
            answer = "failed", None, one_line(error)
    sender.send(answer)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        if hasattr(os, "killpg"):
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)
