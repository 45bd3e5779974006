"""Threads of a fit: blocks of rows on threads of our own, and one thread of BLAS in each.

numpy, scipy and faiss come with a BLAS each, whose idle threads go on spinning for a tenth of a second: with three such
pools on the same processors each stage runs against the threads of the stage before. Ours sleep when they have nothing
to do, and what is no product of matrices runs on them too.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import threadpool_info, threadpool_limits


class _Team:
    """Threads of one context, started with the first work for them: to start them takes as long as a small product."""

    def __init__(self, size):
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function, items):
        """Results in the items' order; an error, or an interrupt, leaves nothing waiting."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size)
        futures = [self._pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def end(self):
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


#: Threads that `map_threads` may use; within them there is one each, so that maps within maps do not multiply.
_TEAM: ContextVar[_Team] = ContextVar("lpjt_threads")


class _Quiet:
    """One thread of BLAS for as long as anyone wants it so: the setting is the process's own, and fits may overlap."""

    def __init__(self):
        self._lock, self._users = Lock(), 0
        self._limits: Any = None
        self._before: int | None = None

    def enter(self):
        """Begin, and return how many threads BLAS has otherwise, or None where it does not tell."""
        with self._lock:
            if not self._users:
                known = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
                self._before = min(known, default=None)
                self._limits = threadpool_limits(1, "blas")
            self._users += 1
            return self._before

    def leave(self):
        """End; the last to leave gives BLAS its threads back."""
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limits.restore_original_limits()


_QUIET = _Quiet()


@contextmanager
def threads(n_jobs):
    """Context in which `map_threads` has so many threads, as scikit-learn counts them (-1: all processors), BLAS one.

    None is as many as BLAS has outside, which joblib and the environment may have lowered.
    """
    n_blas = _QUIET.enter()
    n_threads = effective_n_jobs(n_jobs) if n_jobs is not None or n_blas is None else n_blas
    team = _Team(n_threads)
    token = _TEAM.set(team)
    try:
        with threadpool_limits(n_threads, "openmp"):  # after BLAS, some builds of which set OpenMP's as their own
            yield
    finally:
        _TEAM.reset(token)
        team.end()
        _QUIET.leave()


def n_threads():
    """Threads that `map_threads` would use for many items here and now."""
    team = _TEAM.get(None)
    return 1 if team is None else team.size


def map_threads(function, items, *, first=None):
    """List of the results of a function that releases the interpreter's lock, item by item, in the items' order.

    With `first`, threads are started for these items alone, and each calls it before anything else.
    """
    n_workers = min(n_threads(), len(items))
    if n_workers < 2:
        return [function(item) for item in items]
    if first is None:
        return _TEAM.get().map(function, items)
    with ThreadPoolExecutor(n_workers, initializer=first) as pool:
        return list(pool.map(function, items))
