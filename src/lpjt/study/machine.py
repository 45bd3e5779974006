"""What a measurement depends on: the machine, its threads, the versions, the time."""

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any


def utc_now() -> str:
    """The time in UTC, as ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions(libraries: Iterable[str]) -> dict[str, str]:
    """Versions of Python and of those libraries that are installed."""
    found = {"python": platform.python_version()}
    for name in libraries:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Processor, cores, threads, memory and linear algebra of this machine."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": threads_each(1),
        "memory_bytes": memory_bytes(),
        "blas": _blas(),
        "system": platform.system(),
    }


def threads_each(n_jobs: int) -> int:
    """Threads for each of `n_jobs` processes: its share of the processors, or fewer where OMP_NUM_THREADS says so."""
    from joblib import cpu_count  # knows of affinity and of containers

    share = max(1, cpu_count() // n_jobs)
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(share, int(asked)) if asked.isdigit() and int(asked) else share


def memory_bytes() -> int | None:
    """Memory of the machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _blas() -> str:
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "unknown"
    import numpy as np

    np.ones((2, 2)) @ np.ones((2, 2))  # loads it
    found = {f"{pool['internal_api']} {pool['version']}" for pool in threadpool_info() if pool["user_api"] == "blas"}
    return ", ".join(sorted(found)) or "unknown"
