"""Threads of a fit: our own threads share blocks of rows, and BLAS uses one thread in each.

numpy, scipy and faiss each come with a BLAS of their own, whose idle threads keep spinning for a tenth of a second:
with three such pools on the same processors, each stage competes with the threads of the stage before. Our threads
sleep when idle, and they also run what is not a matrix product.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from lpjt._products import sound_products

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Team:
    """Threads of one context, started with their first work: starting them takes as long as a small product."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Results in the order of the items; an error, or an interrupt, cancels the items that still wait."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size)
        futures = [self._pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def end(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


#: Threads that `map_threads` may use. Inside one of them there is no team, so that nested maps do not multiply.
_TEAM: ContextVar[_Team] = ContextVar("lpjt_threads")


class _Pools:
    """Thread pools of the libraries that are loaded. To look for them takes 10 ms, a tenth of a small fit.

    They are looked for again once a module was imported: faiss comes with the first approximate search.
    """

    def __init__(self) -> None:
        self._n_modules = -1
        self._found: ThreadpoolController | None = None

    def __call__(self) -> ThreadpoolController:
        if self._found is None or len(sys.modules) != self._n_modules:
            self._n_modules, self._found = len(sys.modules), ThreadpoolController()
        return self._found


_pools = _Pools()


class _SingleThreadedBlas:
    """Limits BLAS to one thread while at least one fit runs: the limit is the process's own, and fits may overlap."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limits: Any = None
        self._before: int | None = None

    def enter(self) -> int | None:
        """Begin; returns the number of threads that BLAS has otherwise, or None if it does not tell."""
        with self._lock:
            if not self._users:
                known = [pool["num_threads"] for pool in _pools().info() if pool["user_api"] == "blas"]
                self._before = min(known, default=None)
                self._limits = _pools().limit(limits=1, user_api="blas")
            self._users += 1
            return self._before

    def leave(self) -> None:
        """End; the last user to leave gives BLAS its threads back."""
        with self._lock:
            self._users -= 1
            if not self._users and self._limits is not None:
                self._limits.restore_original_limits()


_SINGLE_THREADED_BLAS = _SingleThreadedBlas()


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Context in which `map_threads` has `n_jobs` threads, counted as in scikit-learn (-1: all processors), BLAS one.

    None stands for as many as BLAS has outside the context, which joblib and the environment may have lowered. Products
    do not warn of invalid values, see `sound_products`.
    """
    n_blas = _SINGLE_THREADED_BLAS.enter()
    size = effective_n_jobs(n_jobs) if n_jobs is not None or n_blas is None else n_blas
    team = _Team(size)
    token = _TEAM.set(team)
    try:
        # After BLAS: some builds of it set OpenMP's number as their own.
        with sound_products(), _pools().limit(limits=size, user_api="openmp"):
            yield
    finally:
        _TEAM.reset(token)
        team.end()
        _SINGLE_THREADED_BLAS.leave()


def n_threads() -> int:
    """Number of threads that `map_threads` would use for many items here."""
    team = _TEAM.get(None)
    return 1 if team is None else team.size


def map_threads(
    function: Callable[[Item], Result], items: Sequence[Item], *, first: Callable[[], object] | None = None
) -> list[Result]:
    """Results of a function that releases the interpreter's lock, in the order of the items.

    What numpy does about floating-point errors is a setting of each thread, and here that of the caller. Filters of
    warnings are the process's: a function must not change them, or it changes them for the others.

    With `first`, threads are started for these items only, and each calls it before anything else.
    """
    team = _TEAM.get(None)
    n_workers = min(1 if team is None else team.size, len(items))
    if team is None or n_workers < 2:
        return [function(item) for item in items]
    call: Any = np.geterrcall()
    errors = partial(np.errstate, **np.geterr(), call=call)

    def as_here(item: Item) -> Result:
        with errors():
            return function(item)

    if first is None:
        return team.map(as_here, items)
    with ThreadPoolExecutor(n_workers, initializer=first) as pool:
        return list(pool.map(as_here, items))
