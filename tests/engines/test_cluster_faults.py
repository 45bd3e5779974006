"""What a cluster raises when it cannot go on becomes an error that says what happened and what to do."""

import asyncio
import concurrent.futures
import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("distributed")

import dask
from distributed import Client, LocalCluster
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from lpjt.engines.dask import cluster

AT = SimpleNamespace(address="tcp://127.0.0.1:8786")
RUNNING, CLOSED = (SimpleNamespace(scheduler=AT, status=status) for status in ("running", "closed"))


def raised(error, client=RUNNING):
    with pytest.raises(RuntimeError) as caught, cluster.cluster_errors(client):
        raise error
    assert caught.value.__cause__ is error
    return str(caught.value)


def test_workers_that_died_are_told_with_the_remedy():
    said = raised(KilledWorker("embed_block-1", None, 3))
    assert said.startswith(
        "The Dask cluster at tcp://127.0.0.1:8786 gave up: its workers died while they computed 'emb"
    )
    assert "more memory" in said
    assert "X.rechunk" in said
    assert "changed nothing" in said


@pytest.mark.parametrize(
    "error", [asyncio.CancelledError(), concurrent.futures.CancelledError(), CommClosedError("in <TCP>")], ids=repr
)
def test_a_lost_scheduler_is_told_with_the_remedy(error):
    said = raised(error)
    assert said.startswith("The connection to the scheduler of the Dask cluster at tcp://127.0.0.1:8786 was lost")
    assert "with a new Client, and fit again" in said


def test_a_client_that_closed_is_a_lost_scheduler():
    assert "The connection to the scheduler" in raised(RuntimeError("Client not running"), CLOSED)


@pytest.mark.parametrize("error", [RuntimeError("of a task"), ValueError("of a task"), OSError("a file")], ids=repr)
def test_errors_of_tasks_stay_as_they_are(error):
    with pytest.raises(type(error), match=str(error)), cluster.cluster_errors(RUNNING):
        raise error


@pytest.fixture
def one_worker():
    with (
        dask.config.set({"distributed.worker.memory.pause": False}),
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as local,
        Client(local) as client,
    ):
        yield local, client


def test_results_errors_and_interrupted_waits(one_worker):
    @dask.delayed
    def double(x):
        return 2 * x

    @dask.delayed
    def fail():
        raise TimeoutError("of a task")

    assert cluster.compute(double(2), double(3)) == (4, 6)
    assert cluster.compute(*cluster.persist(double(4))) == (8,)
    with pytest.raises(TimeoutError, match="of a task"):
        cluster.compute(fail())


def test_a_long_task_is_waited_for(one_worker, monkeypatch):
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(cluster, "WORKERLESS_SECONDS", 0.3)
    assert cluster.compute(dask.delayed(time.sleep)(1.0)) == (None,)


def test_a_cluster_whose_workers_are_gone_is_given_up(one_worker, monkeypatch):
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(cluster, "WORKERLESS_SECONDS", 0.5)
    local, _ = one_worker
    threading.Timer(0.3, lambda: local.scale(0)).start()
    with pytest.raises(RuntimeError, match=r"not been able to compute for .* no worker is left.*cluster\.scale\(2\)"):
        cluster.compute(dask.delayed(time.sleep)(4))


def test_a_cluster_whose_workers_are_paused_is_given_up(monkeypatch):
    monkeypatch.setattr(cluster, "WORKERLESS_SECONDS", 60.0)
    said = str(cluster._workerless(RUNNING, 2))
    assert "for 60 s: its 2 workers are paused, because their memory is nearly full" in said
    assert "more memory" in said


def test_a_scheduler_that_answers_late_is_not_taken_for_one_without_workers(one_worker, monkeypatch):
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(cluster, "WORKERLESS_SECONDS", 0.5)
    answers = iter([(1, 1), None, None, (0, 1), None, *[(1, 1)] * 100])
    monkeypatch.setattr(cluster, "_workers", lambda client: next(answers))
    assert cluster.compute(dask.delayed(time.sleep)(1.0)) == (None,)
    monkeypatch.setattr(cluster, "_workers", lambda client: None)
    with pytest.raises(RuntimeError, match="The connection to the scheduler"):
        cluster.compute(dask.delayed(time.sleep)(2.0))
