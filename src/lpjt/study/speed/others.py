"""Measurements that are not one fit between passes of X'X: rows on disk, new rows, and the start of the command."""

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from lpjt.core.neighbors import choose_search, nearest_rows
from lpjt.study.machine import utc_now
from lpjt.study.meter import Peak
from lpjt.study.settings import make_variant
from lpjt.study.speed.data import Structure, even_counts, make_pair, row_slices
from lpjt.study.speed.results import Measurement, Record
from lpjt.study.store import Row

DISK, PREDICT, VERSION = "rows on disk", "new rows", "lpjt --version"

_STARTS = 7  # of Python and of the command, in turn
_NEIGHBORS = 15  # of the search beside which `predict` is measured


def measure_other(task: Measurement) -> Row:
    """Measure a task of another kind; its row. An error is told by the process that called."""
    started = utc_now()
    warnings.simplefilter("ignore")
    return task.row({"status": "ok", "message": "", **_MEASURES[task.method](task)}, started)


def _measure_disk(task: Measurement) -> Record:
    """Write rows to a temporary file, read it once, then fit from it; the caches of the system are emptied before."""
    kind, limit = task.data["kind"], task.data["memory_limit"]
    counts = even_counts(task.data["rows"], task.data["classes"])
    with tempfile.TemporaryDirectory(dir=task.data["folder"], prefix="lpjt-bench-") as name:
        folder = Path(name)
        made = [_write_domain(folder, kind, counts, task.data["width"], number) for number in (0, 1)]
        _drop_cached(folder)
        start = time.perf_counter()
        for X, _ in made:
            for rows in row_slices(*X.shape):
                np.asarray(X[rows]).max()
        read = time.perf_counter() - start
        _drop_cached(folder)
        (X, y), (X_target, y_target) = made
        peak = Peak("RssAnon")  # pages of the file itself are the system's to drop
        peak.start()
        start = time.perf_counter()
        model = make_variant(random_state=0, memory_limit=limit).fit(X, y, X_target)
        seconds = time.perf_counter() - start
        return {
            "seconds": seconds,
            "read_seconds": read,
            "reads": seconds / read,
            "peak_bytes": peak.stop(),
            "input_bytes": sum(4 * rows.shape[0] * rows.shape[1] for rows in (X, X_target)),
            "n_source": X.shape[0],
            "n_target": X_target.shape[0],
            "width": X.shape[1],
            "memory_limit": limit,
            "accuracy": 100 * float(np.mean(model.transduction_ == y_target)),
        }


def _write_domain(folder: Path, kind: str, counts: tuple[int, ...], width: int, number: int) -> tuple[Any, np.ndarray]:
    """One domain of the made rows in a file of a kind, and its labels; block by block, as `make_pair` makes them."""
    structure, rng = Structure(len(counts), width, 0), np.random.default_rng([0, number])
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = _KINDS[kind](folder / f"domain-{number}", (len(y), width))
    for rows in row_slices(len(y), width):
        X[rows] = structure.draw(y[rows], rng, shifted=bool(number))
    if hasattr(X, "flush"):
        X.flush()
    return X, y


def _memory_map(path: Path, shape: tuple[int, int]) -> Any:
    return np.memmap(path, dtype=np.float32, mode="w+", shape=shape)


def _hdf5(path: Path, shape: tuple[int, int]) -> Any:
    import h5py

    file = h5py.File(path.with_suffix(".h5"), "w")
    return file.create_dataset("X", shape, dtype="float32", chunks=(min(1024, shape[0]), shape[1]))


def _zarr(path: Path, shape: tuple[int, int]) -> Any:
    import zarr

    chunks = (min(4096, shape[0]), shape[1])
    return zarr.open(str(path.with_suffix(".zarr")), mode="w", shape=shape, chunks=chunks, dtype="float32")


_KINDS: dict[str, Callable[[Path, tuple[int, int]], Any]] = {"memmap": _memory_map, "hdf5": _hdf5, "zarr": _zarr}
KINDS = tuple(_KINDS)


def _drop_cached(folder: Path) -> None:
    """Write what is not yet on the disk, and let the system forget the contents of the files, where it can."""
    for path in (found for found in folder.rglob("*") if found.is_file()):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _measure_predict(task: Measurement) -> Record:
    """Labels of new target rows, beside their embedding and one search among the rows of the fit."""
    few, many = (even_counts(task.data[name], task.data["classes"]) for name in ("rows", "new"))
    pair = make_pair(source=few, target=few, width=task.data["width"])
    new = make_pair(source=few, target=many, width=task.data["width"])
    model = make_variant(random_state=0).fit(pair.X_source, pair.y_source, pair.X_target)
    model.predict(new.X_target[:100])
    fitted = np.vstack([model.transform(pair.X_source, "source"), model.transform(pair.X_target)])
    start = time.perf_counter()
    Z = model.transform(new.X_target)
    embedded = time.perf_counter()
    nearest_rows(Z, fitted, _NEIGHBORS, search=choose_search("auto", len(fitted)))
    searched = time.perf_counter()
    labels = model.predict(new.X_target)
    seconds = time.perf_counter() - searched
    return {
        "seconds": seconds,
        "embedding_seconds": embedded - start,
        "search_seconds": searched - embedded,
        "ratio": seconds / (searched - start),
        "n_source": len(pair.X_source),
        "n_target": len(new.X_target),
        "width": task.data["width"],
        "accuracy": 100 * float(np.mean(labels == new.y_target)),
    }


def _measure_version(task: Measurement) -> Record:
    """Seconds of ``lpjt --version``, and of Python alone, each the median of several starts in turn."""
    commands = {"python": ["-c", "pass"], "lpjt": ["-m", "lpjt", "--version"]}
    found: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(_STARTS + 1):
        for name, arguments in commands.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            if turn:  # the first one reads the files
                found[name].append(time.perf_counter() - start)
    python, whole = (median(found[name]) for name in ("python", "lpjt"))
    return {"seconds": whole, "python_seconds": python, "beyond": whole - python}


_MEASURES: dict[str, Callable[[Measurement], Record]] = {
    DISK: _measure_disk,
    PREDICT: _measure_predict,
    VERSION: _measure_version,
}
