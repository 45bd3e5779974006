"""Checks that dask is installed, and that a cluster can compute."""

import sys
from typing import Any


def check_cluster() -> None:
    """Refuse a cluster without workers, on which a fit would wait forever; without a cluster, threads compute."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    try:
        client = distributed.default_client()
    except ValueError:
        return
    if not client.scheduler_info()["workers"]:
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
