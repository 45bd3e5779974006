"""What a fit costs: its time in passes of X'X over the data, and its peak of resident memory."""

import ctypes
import gc
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

_MIN_PASSES, _MAX_PASSES, _ENOUGH_SECONDS = 3, 51, 1.0  # timed before a fit, and again after it
_PAUSE = 0.002  # seconds between two samples of the memory


def time_passes(parts: Iterable[np.ndarray]) -> list[float]:
    """Seconds of several passes, each ``X.T @ X`` of all parts (numpy's symmetric product, half a general one)."""
    parts = list(parts)
    found: list[float] = []
    while len(found) < _MIN_PASSES or (len(found) < _MAX_PASSES and sum(found) < _ENOUGH_SECONDS):
        start = time.perf_counter()
        for X in parts:
            X.T @ X
        found.append(time.perf_counter() - start)
    return found


class Peak:
    """Peak of this process's resident memory, beyond what it had, between `start` and `stop`.

    Linux keeps the peak itself and can lower it to the present. Where it cannot, a thread looks every two
    milliseconds, and may miss what was there for less. The same holds for another `field` of /proc/self/status than
    the resident memory, such as "RssAnon", which has no pages of files.
    """

    def __init__(self, field: str = "VmRSS") -> None:
        self._field = field
        self.how = "none"
        self._before: int | None = None
        self._sampler: _Sampler | None = None

    def start(self) -> None:
        """Forget the peak so far."""
        _give_back()
        self._before = _status(self._field)
        if self._before is None:
            return
        if self._field == "VmRSS" and _forget_peak() and _status("VmHWM") is not None:
            self.how = "kernel"
        else:
            self.how = "sampled"
            self._sampler = _Sampler(self._field)
            self._sampler.start()

    def stop(self) -> int | None:
        """Bytes beyond those at the start; None where the system does not tell."""
        if self._before is None:
            return None
        highest = _status("VmHWM") if self._sampler is None else self._sampler.stop()
        return None if highest is None else max(0, highest - self._before)


def resident() -> int | None:
    """Bytes of this process in memory, None where /proc does not tell."""
    return _status("VmRSS")


class _Sampler(threading.Thread):
    """Looks at the resident memory again and again."""

    def __init__(self, field: str) -> None:
        super().__init__(daemon=True)
        self._field = field
        self._highest = 0
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.is_set():
            self._look()
            self._ended.wait(_PAUSE)

    def stop(self) -> int:
        self._look()
        self._ended.set()
        self.join()
        return self._highest

    def _look(self) -> None:
        self._highest = max(self._highest, _status(self._field) or 0)


def _status(field: str) -> int | None:
    """A field of /proc/self/status in bytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)


def _forget_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _give_back() -> None:
    """Return what is freed to the system: else a fit could use it again and seem to need nothing."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # not the GNU library
        return
