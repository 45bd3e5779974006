"""Load: many threads and processes with one model, a thousand fits, two writers of one store, output and model.

The first cases are short; those after them are the same for a minute, or a thousand fits.
"""

import multiprocessing
import os
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attack.part import Outcome, Part
from attack.processes import Fault, in_processes, new_folder

N_THREADS, N_PROCESSES = 8, 4
SHORT, LONG = 1.0, 60.0  # seconds
FEW_FITS, MANY_FITS = 40, 1000
GROWTH = 8 << 20  # bytes by which the memory of a process may grow after the first fits
_BATCHES = (1, 7, 300, 2500)  # rows; from 2,001 on, a prediction has threads of its own


def run_case(number: int) -> Outcome:
    """One kind of load, short or long."""
    (name, case), is_long = list(CASES.items())[number % len(CASES)], number >= len(CASES)
    with new_folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            done = case(folder, is_long)
        except Fault as fault:
            return Outcome("failed", str(fault), name)
    return Outcome("fine", done, name)


def predict_in_threads(folder: Path, is_long: bool) -> str:
    """Threads predict from one loaded model."""
    _save_model(folder / "model.lpjt")
    return f"{_predict_at_once(folder / 'model.lpjt', N_THREADS, LONG if is_long else SHORT):,} predictions"


def predict_in_processes(folder: Path, is_long: bool) -> str:
    """Processes predict from one model file, two threads in each."""
    _save_model(folder / "model.lpjt")
    counts = in_processes(_predict_at_once, [(folder / "model.lpjt", 2, LONG if is_long else SHORT)] * N_PROCESSES)
    return f"{sum(counts):,} predictions"


def fit_often(folder: Path, is_long: bool) -> str:
    """The memory of a process stays as it is over many fits, predictions, and models saved and loaded."""
    (grown,) = in_processes(_grow, [(folder, MANY_FITS if is_long else FEW_FITS)])
    if grown > GROWTH:
        raise Fault(f"memory grew by {grown / 1e6:.1f} MB over {MANY_FITS if is_long else FEW_FITS} fits")
    return f"grew by {max(grown, 0) / 1e6:.1f} MB"


def write_one_store(folder: Path, is_long: bool) -> str:
    """Two processes append to one store, compact it and read it: no row is lost, none is half."""
    rows = 150 if is_long else 6
    in_processes(_append_rows, [(folder / "rows", writer, rows) for writer in range(2)])
    from lpjt.study.store import Store

    found = {row["key"]: row["accuracy"] for row in Store(folder / "rows").rows()}
    wanted = {f"{writer}-{i}": float(writer) for writer in range(2) for i in range(rows)}
    if found != wanted:
        raise Fault(f"{len(found)} rows of {len(wanted)}")
    return f"{len(found)} rows"


def write_one_output(folder: Path, is_long: bool) -> str:
    """Two processes write one output again and again; whoever reads finds one of the two, whole."""
    path = folder / "labels.csv"
    return _write_and_read(path, _write_output, _read_output, LONG / 4 if is_long else SHORT)


def write_one_model(folder: Path, is_long: bool) -> str:
    """Two processes save one model again and again; whoever loads finds one of the two, whole."""
    path = folder / "model.lpjt"
    return _write_and_read(path, _write_model, _read_model, LONG / 4 if is_long else SHORT)


def create_one_output(folder: Path, is_long: bool) -> str:
    """Without leave to overwrite, one of two processes writes a file, and the other is told."""
    rounds = 60 if is_long else 5
    won = in_processes(_create, [(folder, writer, rounds) for writer in range(2)])
    for i in range(rounds):
        winners = [writer for writer in range(2) if i in won[writer]]
        if len(winners) != 1 or _read_output(folder / f"{i}.csv") != winners[0]:
            raise Fault(f"round {i}: written by {winners}")
    return f"{rounds} files"


#: The first are also in every test run; the others start many processes.
CASES: dict[str, Callable[[Path, bool], str]] = {
    f"{N_THREADS} threads, one model": predict_in_threads,
    "two writers, one output": write_one_output,
    "two writers, a new output": create_one_output,
    "two writers, one store": write_one_store,
    "two writers, one model": write_one_model,
    f"{N_PROCESSES} processes, one model": predict_in_processes,
    "fits, memory": fit_often,
}


def _problem(seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(45) % 3
    X = 4 * np.eye(3, 6)[y] + rng.normal(size=(45, 6))
    return X, y, 4 * np.eye(3, 6)[np.arange(40) % 3] + rng.normal(size=(40, 6)) + 0.5


def _fit(seed: int = 0) -> Any:
    from lpjt import LPJT

    return LPJT(candidates=None, random_state=seed).fit(*_problem(seed))


def _save_model(path: Path) -> None:
    _fit().save(path)


def _predict_at_once(path: Path, n_threads: int, seconds: float) -> int:
    """Predict in several threads, and compare with one thread; the number of predictions."""
    from lpjt import load

    model, rng = load(path), np.random.default_rng(0)
    batches = [rng.normal(size=(size, 6)) + 2 for size in _BATCHES]
    alone = [(model.predict(rows), model.predict_proba(rows)) for rows in batches]
    faults: list[str] = []
    counts, end = [0] * n_threads, time.monotonic() + seconds

    def predict(thread: int) -> None:
        i = thread
        try:
            while time.monotonic() < end and not faults:
                k = i % len(batches)
                labels, shares = model.predict(batches[k]), model.predict_proba(batches[k])
                # BLAS may have another number of threads while another prediction runs: rounding, not labels.
                if not (np.array_equal(labels, alone[k][0]) and np.allclose(shares, alone[k][1], rtol=0, atol=1e-10)):
                    faults.append(f"{len(labels)} rows have other answers than in one thread")
                i, counts[thread] = i + 1, counts[thread] + 1
        except Exception:
            faults.append(traceback.format_exc(limit=-1))

    workers = [threading.Thread(target=predict, args=(thread,)) for thread in range(n_threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if faults:
        raise Fault(faults[0])
    return sum(counts)


def _grow(folder: Path, n_fits: int) -> int:
    """Bytes by which this process grew from the first quarter of the fits to the last."""
    from lpjt import load

    sizes = []
    for i in range(n_fits):
        model = _fit(i % 20)
        model.save(folder / "model.lpjt", overwrite=True)
        load(folder / "model.lpjt").predict(_problem(i % 20)[2])
        sizes.append(_resident_bytes())
    quarter = max(n_fits // 4, 1)
    return int(np.median(sizes[-quarter:]) - np.median(sizes[quarter : 2 * quarter]))


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _append_rows(path: Path, writer: int, n_rows: int) -> None:
    from lpjt.study.store import Store

    store = Store(path)
    for i in range(n_rows):
        row: dict[str, Any] = {name: _FILLER[kind] for name, kind in store.format.columns.items()}
        store.append({**row, "key": f"{writer}-{i}", "accuracy": float(writer)})
        if i % 10 == 5:
            store.compact()
        if f"{writer}-{i}" not in {one["key"] for one in store.rows()}:
            raise Fault(f"row {i} of writer {writer} was lost")


_FILLER = {"string": "x", "int64": 1, "float64": 1.0, "bool_": True}
_N_ROWS = 4000


def _write_output(path: Path, writer: int, overwrite: bool = True) -> None:
    from lpjt.files import write_labels

    write_labels(path, np.full(_N_ROWS, writer), np.full(_N_ROWS, 0.5), overwrite=overwrite)


def _read_output(path: Path) -> int:
    """Who wrote an output; raises where it is not whole."""
    lines = path.read_text().splitlines()
    writers = {line.split(",")[1] for line in lines[1:]}
    if len(lines) != _N_ROWS + 1 or len(writers) != 1:
        raise Fault(f"{len(lines) - 1} rows, by {writers}")
    return int(writers.pop())


def _write_model(path: Path, writer: int) -> None:
    if writer not in _MODELS:
        _MODELS[writer] = _fit(writer)
    _MODELS[writer].save(path, overwrite=True)


_MODELS: dict[int, Any] = {}


def _read_model(path: Path) -> int:
    from lpjt import load

    return int(load(path).random_state)


def _write_and_read(path: Path, write: Callable[[Path, int], None], read: Callable[[Path], int], seconds: float) -> str:
    """Let two processes write while this one reads."""
    write(path, 0)
    context = multiprocessing.get_context("spawn")
    end = context.Event()
    writers = [context.Process(target=_write_until, args=(write, path, writer, end)) for writer in range(2)]
    for process in writers:
        process.start()
    seen: set[int] = set()
    n_read, begin = 0, time.monotonic()
    try:
        # Until the time is up and both have been seen: a process needs seconds to start.
        while time.monotonic() < begin + seconds or (len(seen) < 2 and time.monotonic() < begin + 60 + seconds):
            seen.add(read(path))
            time.sleep(0.005)  # the writers need the processors, too
            n_read += 1
    finally:
        end.set()
        for process in writers:
            process.join(60)
            if process.is_alive():
                process.kill()
                process.join()
    if any(process.exitcode for process in writers) or seen != {0, 1}:
        raise Fault(f"writers ended with {[process.exitcode for process in writers]}; seen: {sorted(seen)}")
    if litter := [one.name for one in path.parent.iterdir() if one != path]:
        raise Fault(f"litter: {', '.join(litter)}")
    return f"{n_read:,} readings"


def _write_until(write: Callable[[Path, int], None], path: Path, writer: int, end: Any) -> None:
    while not end.is_set():
        write(path, writer)


def _create(folder: Path, writer: int, rounds: int) -> list[int]:
    """The files of which this process was the first writer."""
    won = []
    for i in range(rounds):
        try:
            _write_output(folder / f"{i}.csv", writer, overwrite=False)
            won.append(i)
        except FileExistsError as error:
            if "exists and was kept" not in str(error):
                raise
    return won


PART = Part("load", "Load", cases=2 * len(CASES), slice=2, run=run_case, seconds=1800.0, workers=1)
