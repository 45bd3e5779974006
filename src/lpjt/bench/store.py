"""Results as JSON, one file a bench: the records, the machine and the versions that they hold for."""

import json
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from lpjt.bench.task import Record

#: Where results are kept, from the root of the repository.
DIRECTORY = Path("benchmarks/speed")

BENCHES = ("growth", "visda", "pie", "peers", "neighbors", "quick")

Result = dict[str, Any]  # bench, date, machine, versions, note, records

_LIBRARIES = ("lpjt", "numpy", "scipy", "scikit-learn", "faiss-cpu", "skada", "POT", "piqp")


def make_result(bench: str, records: Iterable[Record], note: str) -> Result:
    """Records with all that their figures may depend on; labels, which were for comparisons, are left out."""
    return {
        "bench": bench,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "note": note,
        "records": [{name: value for name, value in record.items() if name != "labels"} for record in records],
    }


def write_result(result: Result, directory: Path) -> Path:
    """Write a result as ``BENCH.json``, complete or not at all."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{result['bench']}.json"
    text = json.dumps(_rounded(result), indent=1, allow_nan=False) + "\n"
    unfinished = path.with_suffix(".json.part")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def read_result(bench: str, directory: Path) -> Result | None:
    """The stored result of a bench; None where it was never measured."""
    path = directory / f"{bench}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no JSON: {error}. Remove it and run `lpjt bench {bench}` again.") from error


def keep_others(records: list[Record], stored: Result | None) -> list[Record]:
    """New records and those stored ones that none of them replaces, by size, then in the order of the new methods."""
    known = {(record["label"], record["method"]) for record in records}
    others = [r for r in (stored or {"records": []})["records"] if (r["label"], r["method"]) not in known]
    order = list(dict.fromkeys(record["method"] for record in [*records, *others]))
    # Records without a size (wide rows, many classes) stay last.
    return sorted([*records, *others], key=lambda r: (r["size"] or float("inf"), order.index(r["method"])))


def check_directory(directory: Path) -> None:
    """Refuse, before anything is measured, a place where nothing can be written afterwards."""
    if directory.exists() and not directory.is_dir():
        raise ValueError(f"{directory} is a file, and results go into a directory. Give the name of a directory.")


def machine() -> dict[str, Any]:
    """Processor, cores, threads, memory and linear algebra of this machine."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": _threads(),
        "memory_bytes": _memory(),
        "blas": _blas(),
        "system": platform.system(),
    }


def versions() -> dict[str, str]:
    """Python and the libraries, those that are installed."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _threads() -> int:
    from joblib import cpu_count  # type: ignore[import-untyped]  # knows of affinity and of containers

    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else cpu_count()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _blas() -> str:
    try:
        from threadpoolctl import threadpool_info  # type: ignore[import-untyped]
    except ImportError:
        return "unknown"
    import numpy as np

    np.ones((2, 2)) @ np.ones((2, 2))  # loads it
    found = {f"{pool['internal_api']} {pool['version']}" for pool in threadpool_info() if pool["user_api"] == "blas"}
    return ", ".join(sorted(found)) or "unknown"


def _rounded(value: Any) -> Any:
    """Floats with six digits: more would be noise, and no two files alike."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return value
