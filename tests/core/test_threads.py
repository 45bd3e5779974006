"""Threads: how many there are, what they run first, and that nothing is left behind."""

import threading

import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from lpjt import _threads
from lpjt._threads import map_threads, n_threads, threads


def test_outside_of_a_context_there_is_one_thread():
    assert n_threads() == 1
    here = {threading.get_ident()}
    assert set(map_threads(lambda _: threading.get_ident(), range(4))) == here


def test_a_context_has_its_threads_and_ends():
    with threads(3):
        assert n_threads() == 3
        with threads(2):
            assert n_threads() == 2
        assert n_threads() == 3
    assert n_threads() == 1


def rendezvous(n):
    """A function that returns only once n threads run it at the same time."""
    barrier = threading.Barrier(n, timeout=20)
    return lambda _: barrier.wait() >= 0


def test_two_items_run_at_the_same_time():
    with threads(2):
        assert map_threads(rendezvous(2), range(2)) == [True, True]
        assert map_threads(rendezvous(2), range(2), first=lambda: None) == [True, True]


def test_one_item_needs_no_thread():
    with threads(4):
        assert map_threads(lambda _: threading.get_ident(), [0]) == [threading.get_ident()]
        assert map_threads(lambda item: item, []) == []


def test_each_thread_started_for_some_items_calls_first():
    begun, seen = [], []

    def look(item):
        assert threading.get_ident() in begun
        seen.append(threading.get_ident())
        return -item

    with threads(3):
        assert map_threads(look, range(20), first=lambda: begun.append(threading.get_ident())) == [
            -i for i in range(20)
        ]
        assert 1 <= len(set(begun)) <= 3
        begun.clear()
        assert map_threads(look, range(2), first=lambda: begun.append(threading.get_ident())) == [0, -1]
        assert len(begun) <= 2
    assert not set(seen) & {thread.ident for thread in threading.enumerate()}


def test_an_error_leaves_the_context_usable_and_then_no_thread():
    before = threading.active_count()

    def fail(item):
        raise KeyError(item)

    with threads(2):
        with pytest.raises(KeyError):
            map_threads(fail, range(50))
        assert map_threads(lambda item: item + 1, range(3)) == [1, 2, 3]
    assert threading.active_count() == before


def test_an_error_cancels_what_waits():
    released, done = threading.Event(), []

    def work(item):
        if item == 0:
            raise KeyError(item)
        assert released.wait(20)
        done.append(item)

    team = _threads._Team(1)
    with pytest.raises(KeyError):
        team.map(work, range(50))
    released.set()
    team.map(work, [99])  # after what still waited, had there been anything
    team.end()
    assert done in ([1, 99], [99])


def blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_none_means_the_threads_of_blas():
    with threadpool_limits(2, "blas"):
        smallest = min(blas())
        with threads(None):
            assert n_threads() == smallest
            assert min(blas()) == 1
            with threads(None):  # not the one thread that the outer context has left to BLAS
                assert n_threads() == smallest
        assert min(blas()) == smallest


def test_without_a_blas_that_tells_none_means_one(monkeypatch):
    monkeypatch.setattr(ThreadpoolController, "info", lambda self: [{"user_api": "openmp", "num_threads": 7}])
    monkeypatch.setattr(_threads, "_SINGLE_THREADED_BLAS", _threads._SingleThreadedBlas())
    with threads(None):
        assert n_threads() == 1


def test_openmp_has_the_threads_of_the_context():
    with threadpool_limits(1, "openmp"), threads(2):
        openmp = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}
        assert openmp <= {2}
