"""Times and peak memory of LPJT, as ratios to one pass of X'X over the same data in the same run.

Seconds say more about the machine than about the program; the ratio says how often the data could have been multiplied
with themselves meanwhile. One pass is ``X.T @ X`` of the rows of both domains, same dtype, same threads, the median of
several before and after the fit. Peak memory is what Python and numpy allocate beyond the input (tracemalloc), of a
second fit, for tracing costs time. Set LPJT_DATA to the data directory to measure PIE 05 to 07 itself.
"""

import argparse
import os
import sys
import time
import tracemalloc
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from scipy.io import loadmat

from lpjt import LPJT

#: PIE 05 to 07 with 100 components and 10 passes should cost no more than so many passes of X'X.
TARGET = 150


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A labelled source and a target, of one width and dtype."""

    name: str
    X_source: np.ndarray
    y_source: np.ndarray
    X_target: np.ndarray
    y_target: np.ndarray  # for the score alone

    @property
    def n_bytes(self) -> int:
        """Size of the rows of both domains."""
        return self.X_source.nbytes + self.X_target.nbytes

    @property
    def shape(self) -> str:
        """Rows and width in words."""
        return f"{len(self.X_source)} + {len(self.X_target)} x {self.X_source.shape[1]}"


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """One fit, timed, and a second one, traced."""

    pair: Pair
    gram_seconds: float
    seconds: float
    peak: int | None  # bytes beyond the input; None where it was not traced
    stages: dict  # seconds by stage, all passes together
    n_iter: int
    adapted: bool
    accuracy: float
    load: float  # running processes before the fit, mean of a minute: others slow both sides of the ratio, not alike

    @property
    def grams(self) -> float:
        """Seconds of the fit in passes of X'X."""
        return self.seconds / self.gram_seconds


def load_pie(directory: Path) -> Pair:
    """PIE, poses 05 and 07: 3332 and 1629 faces of 32 x 32 pixels, 68 people."""
    parts = []
    for pose in ("05", "07"):
        found = loadmat(directory / "pie" / f"PIE{pose}.mat")
        parts += [found["fea"].astype(np.float64), found["gnd"].ravel().astype(int)]
    return Pair("PIE 05 to 07", *parts)


def make_pair(name, n_source, n_target, *, width, n_classes, seed=0, n_factors=20) -> Pair:
    """Two domains that show the same factors, classes that overlap, through maps that agree in part.

    A row is its class's factors and a spread about them, mapped by its domain, plus an offset and noise.
    """
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, n_factors))
    shared = rng.normal(size=(n_factors, width))
    parts = []
    for n, own in ((n_source, 0.0), (n_target, 1.2)):
        y = rng.permutation(np.arange(n) % n_classes)
        factors = centres[y] + 1.1 * rng.normal(size=(n, n_factors))
        view = shared + own * rng.normal(size=shared.shape)
        parts += [factors @ view + 2 * rng.normal(size=width) + rng.normal(size=(n, width)), y]
    return Pair(name, *parts)


def machine_load() -> float:
    """Running processes, mean of the last minute; nan where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def gram_seconds(pair: Pair, repeats: int) -> list[float]:
    """Seconds of each of several passes of X'X over both domains."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        pair.X_source.T @ pair.X_source
        pair.X_target.T @ pair.X_target
        found.append(time.perf_counter() - start)
    return found


def measure(pair: Pair, *, traced: bool = True, repeats: int = 9, **parameters) -> Measurement:
    """Fit once against the clock and, if `traced`, once more for the memory."""
    load = machine_load()
    gram_seconds(pair, 2)  # threads and caches awake
    grams = gram_seconds(pair, repeats)
    start = time.perf_counter()
    model = fit(pair, parameters)
    seconds = time.perf_counter() - start
    grams += gram_seconds(pair, repeats)
    stages: Counter = Counter()
    for record in model.history_:
        stages.update(record["seconds"])
    return Measurement(
        pair=pair,
        gram_seconds=median(grams),
        seconds=seconds,
        peak=peak_memory(pair, parameters) if traced else None,
        stages=dict(stages),
        n_iter=model.n_iter_,
        adapted=model.adapted_,
        accuracy=float(np.mean(model.transduction_ == pair.y_target)),
        load=load,
    )


def fit(pair: Pair, parameters: dict) -> LPJT:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that all passes are used up is wanted here
        return LPJT(random_state=0, **parameters).fit(pair.X_source, pair.y_source, pair.X_target)


def peak_memory(pair: Pair, parameters: dict) -> int:
    """Most bytes allocated at one time beyond the input."""
    tracemalloc.start()
    try:
        fit(pair, parameters)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def show(title: str, headings: tuple, rows: list[tuple]) -> None:
    """Print a table, by rich where it is there."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        print(f"\n{title}")
        for line in (headings, *rows):
            print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
        return
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="right")
    for line in rows:
        table.add_row(*line)
    Console(width=None if sys.stdout.isatty() else 150).print(table)


def cells(found: Measurement) -> tuple:
    """One line of a table of measurements."""
    return (
        found.pair.name,
        found.pair.shape,
        f"{1000 * found.gram_seconds:.2f}",
        f"{found.seconds:.2f}",
        f"{found.grams:.0f}",
        "" if found.peak is None else f"{found.peak / 1e6:.0f}",
        "" if found.peak is None else f"{found.peak / found.pair.n_bytes:.1f}",
        str(found.n_iter) if found.adapted else "none",
        f"{100 * found.accuracy:.1f}",
        f"{found.load:.1f}",
    )


HEADINGS = (
    "data",
    "rows x width",
    "X'X, ms",
    "fit, s",
    "fit / X'X",
    "peak, MB",
    "peak / input",
    "passes",
    "accuracy, %",
    "load",
)


def stage_cells(found: Measurement) -> tuple:
    """Seconds by stage of all passes, and what is left: scaling, coordinates, first labels, evidence."""
    rest = found.seconds - sum(found.stages.values())
    values = {**found.stages, "outside the passes": rest}
    return (found.pair.name, *(f"{value:.2f}" for value in values.values()))


def show_all(title: str, found: list[Measurement]) -> None:
    show(title, HEADINGS, [cells(one) for one in found])
    adapted = [one for one in found if one.stages]
    if adapted:
        headings = ("data", *adapted[0].stages, "outside the passes")
        show("Seconds by stage", headings, [stage_cells(one) for one in adapted])


def measure_faces(quick: bool) -> list[Measurement]:
    """PIE where it is there, and a stand-in of its shape."""
    pairs = [make_pair("stand-in", 3332, 1629, width=1024, n_classes=68)]
    directory = os.environ.get("LPJT_DATA")
    if directory:
        pairs.insert(0, load_pie(Path(directory)))
    if quick:
        pairs = pairs[:1]
    return [measure(pair, traced=not quick, n_components=100, max_iter=10, tol=0) for pair in pairs]


def measure_growth(quick: bool) -> list[Measurement]:
    """How time and memory grow with the rows."""
    sizes = (500, 1000, 2000) if quick else (1000, 2000, 4000, 8000)
    pairs = [make_pair(f"{n} a domain", n, n, width=64, n_classes=10) for n in sizes]
    return [measure(pair, n_components=40, max_iter=3, tol=0, repeats=51) for pair in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and smaller fits, about a minute")
    quick = parser.parse_args().quick
    threads = os.environ.get("OMP_NUM_THREADS", "not limited")
    print(f"numpy {np.__version__}, {os.cpu_count()} cores, OMP_NUM_THREADS {threads}")
    print("One pass of X'X: X.T @ X of both domains. Load: running processes, mean of a minute.")
    faces = measure_faces(quick)
    show_all("68 classes, 100 components, at most 10 passes", faces)
    for one in faces:
        verdict = "within" if one.grams <= TARGET else "ABOVE"
        print(f"{one.pair.name}: {one.grams:.0f} passes of X'X, {verdict} the target of {TARGET}.")
    if any(one.load > (os.cpu_count() or 1) / 2 for one in faces):
        print("The machine was busy, and threads that wait for each other cost more: OMP_NUM_THREADS=1 is steadier.")
    show_all("Growth with the rows: 10 classes, 40 components, at most 3 passes", measure_growth(quick))


if __name__ == "__main__":
    main()
