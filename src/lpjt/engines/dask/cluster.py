"""Computing with dask: on threads of this process, or on a cluster, whose faults become errors that end the wait."""

import asyncio
import concurrent.futures
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Seconds without a worker that can compute after which a fit gives up. A worker that died is started again within
#: a few of them, and one that is paused goes on once it has written some of its memory to disk.
WORKERLESS_SECONDS = 60.0

#: Seconds between two looks at the cluster while its results are awaited, and for its scheduler to answer.
LOOK_SECONDS, ANSWER_SECONDS = 2.0, 10.0


def check_cluster() -> None:
    """Refuse a cluster without workers, on which a fit would wait forever; without a cluster, threads compute."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    try:
        client = distributed.default_client()
    except ValueError:
        return
    with cluster_errors(client):
        workers = client.scheduler_info()["workers"]
    if not workers:
        raise RuntimeError(
            f"The Dask cluster at {client.scheduler.address} has no workers, so nothing would ever be computed. "
            "Start some, e.g. cluster.scale(2), and wait for them with client.wait_for_workers(1); or close the "
            "client to compute with threads of this process."
        )


def need_dask() -> Any:
    """Import dask.array, or say how to install it."""
    try:
        import dask.array
    except ImportError as error:
        raise ImportError("dask is needed for a fit on Dask arrays. Install it: pip install 'lpjt[dask]'.") from error
    return dask.array


def compute(*collections: Any) -> tuple[Any, ...]:
    """As `dask.compute`, but a cluster that cannot go on ends it with an error."""
    import dask

    client = _client()
    if client is None:
        return tuple(dask.compute(*collections))

    def get(graph: Any, keys: Any, **options: Any) -> Any:
        return _await(client, client.get(graph, keys, sync=False, **options))

    with cluster_errors(client):
        return tuple(dask.compute(*collections, scheduler=get))


def persist(*collections: Any) -> tuple[Any, ...]:
    """As `dask.persist`, which does not wait: what fails later is told by the `compute` that needs it."""
    import dask

    client = _client()
    if client is None:
        return tuple(dask.persist(*collections))
    with cluster_errors(client):
        return tuple(dask.persist(*collections))


@contextmanager
def cluster_errors(client: Any) -> Iterator[None]:
    """Turn what a cluster raises when it cannot go on into an error that says what happened and what to do."""
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise _ClusterError(
            f"The Dask cluster at {_address(client)} gave up: its workers died while they computed "
            f"{str(error.args[0])[:60]!r}, most likely because their memory was full. The fit has changed nothing. "
            "Give workers more memory (memory_limit of a LocalCluster, --memory-limit of dask worker), or the arrays "
            "smaller blocks, e.g. X.rechunk((10_000, -1)), and fit again."
        ) from error
    except (CommClosedError, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise _lost(client) from error
    except (RuntimeError, OSError) as error:
        if client.status == "running" or isinstance(error, _ClusterError):
            raise  # an error of a task, or one of ours
        raise _lost(client) from error


class _ClusterError(RuntimeError):
    """An error about a cluster, in our words."""


def _lost(client: Any) -> RuntimeError:
    return _ClusterError(
        f"The connection to the scheduler of the Dask cluster at {_address(client)} was lost, and with it what the "
        "workers held. The fit has changed nothing. Start the cluster again, make the Dask arrays again with a new "
        "Client, and fit again; or close the client to compute with threads of this process."
    )


def _await(client: Any, futures: Any) -> Any:
    """Results of the futures; an error if the cluster cannot compute them."""
    from distributed import futures_of

    gathered = asyncio.run_coroutine_threadsafe(
        _coroutine(client.gather(futures, asynchronous=True)), client.loop.asyncio_loop
    )
    able = answered = time.monotonic()
    try:
        while True:
            try:
                return gathered.result(LOOK_SECONDS)
            except TimeoutError:
                if gathered.done():  # just now, or the error is a task's own
                    return gathered.result()
            if client.status not in ("running", "connecting", "newly-created"):
                raise _lost(client)
            workers, now = _workers(client), time.monotonic()
            if workers is not None:
                answered = now
                able = now if workers[0] else able
            if now - answered > WORKERLESS_SECONDS:
                raise _lost(client)
            if workers is not None and now - able > WORKERLESS_SECONDS:
                raise _workerless(client, workers[1])
    finally:
        for future in futures_of(futures):  # as dask does: what nobody else wants is not computed any more
            future.release()


async def _coroutine(awaitable: Any) -> Any:
    return await awaitable


def _workers(client: Any) -> tuple[int, int] | None:
    """Numbers of workers that can compute now, and of all; None if the scheduler does not answer in time."""
    try:
        running = client.sync(client.scheduler.ncores_running, callback_timeout=ANSWER_SECONDS)
        return len(running), len(client.sync(client.scheduler.ncores, callback_timeout=ANSWER_SECONDS))
    except (OSError, TimeoutError, RuntimeError):
        return None


def _workerless(client: Any, n_workers: int) -> RuntimeError:
    found = (
        f"its {n_workers} workers are paused, because their memory is nearly full" if n_workers else "no worker is left"
    )
    return _ClusterError(
        f"The Dask cluster at {_address(client)} has not been able to compute for {WORKERLESS_SECONDS:.0f} s: {found}. "
        "The fit has changed nothing. Start workers (cluster.scale(2)), with more memory if they were paused or killed "
        "(memory_limit of a LocalCluster, --memory-limit of dask worker), and fit again; smaller blocks need less."
    )


def _client() -> Any:
    """The client of the cluster that would compute now; None if threads of this process would."""
    if "distributed" not in sys.modules:
        return None
    from dask.base import get_scheduler

    owner = getattr(get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "run_on_scheduler") else None


def _address(client: Any) -> str:
    return str(getattr(client.scheduler, "address", None) or "an address that is no longer known")
