"""Pairs of fits that should agree, each with the bound below which a case has failed, and the reason for the bound.

The bounds were set before the first run. Two were changed afterwards: see `DRAWN`; and "one and two threads" was asked
to agree bit by bit, until a pair of real domains, of 256 pixels, differed by 7e-16: each thread sums its own share.
"""

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from attack.numbers.tasks import Generator, Task, pair
from lpjt import LPJT
from lpjt._typing import Array, Values
from lpjt.fitting.memory import within_memory

#: Rows of a domain from which an approximate search is approximate: with fewer it compares all of them.
MANY = 6200

#: Entries of a block of rows, instead of a million: a domain of this attack has several blocks.
FEW_ENTRIES = 512

#: Seeds that a fit which draws is tried with, and the least share of equal labels with one of them. The folds of the
#: test for a shift and of the evidence are drawn by the place of a row and by its class, so that another order of rows,
#: or of names, is another draw, and may turn a decision that is a close one. First written as 99 % with one seed, and
#: for candidates alone: the attack then found a fit in which the test for a shift, drawn on other folds, said that
#: there is none. What must hold is that some seed decides alike in the first order.
SEEDS, DRAWN = 16, 0.99

Parameters = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Labels and class distributions of the target rows of a fit, then of new rows."""

    labels: Values
    distributions: Array


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two fits that should agree."""

    title: str
    run: Callable[[Task, Parameters, Generator], tuple[Answer, Answer]]
    labels: float  # least share of equal labels
    reason: str
    difference: float | None = None  # largest difference of a distribution's entry; None if any
    drawn: float | None = None  # least share where something is drawn; None for `labels`
    task: Callable[[Generator], Task] | None = None  # instead of those of every kind


def answer(task: Task, parameters: Parameters) -> Answer:
    """What a fit says of the target rows and of the new rows."""
    X, y = (task.X, task.y) if len(task.X) > 1 else (task.X["source"], task.y["source"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(**{"random_state": 0, **parameters}).fit(X, y, task.X_target, task.y_target)
        F = np.asarray(model.predict_proba(task.new))
    labels = np.concatenate([np.asarray(model.transduction_), model.classes_[F.argmax(axis=1)]])
    return Answer(labels, np.vstack([np.asarray(model.label_distributions_), F]))


def draws(parameters: Parameters) -> bool:
    """Whether a fit draws on domains of this size: folds, for the evidence of iterations and of candidates."""
    return bool(parameters.get("safeguard", True) or parameters.get("candidates", "auto"))


def nearest_draw(reference: Callable[[int], Answer], other: Answer, parameters: Parameters) -> Answer:
    """The reference with the first seed whose labels agree with those of the other answer, or nearest to it."""
    best, share = reference(0), -1.0
    for seed in range(SEEDS if draws(parameters) else 1):
        found = reference(seed) if seed else best
        equal = float(np.mean(found.labels == other.labels))
        if equal > share:
            best, share = found, equal
        if share >= DRAWN:
            break
    return best


def float32(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """Rows as float64 and as float32."""
    return answer(task, parameters), answer(task.with_rows(lambda X: X.astype(np.float32)), parameters)


def jobs(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """One and two threads of ours, on blocks of few rows."""
    with _few_rows_per_block(on_disk=False):
        return tuple(answer(task, {**parameters, "n_jobs": n, "memory_limit": "1GB"}) for n in (1, 2))  # type: ignore[return-value]


def blas(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """BLAS with one and two threads outside of the fit."""
    found = []
    for n in (1, 2):
        with threadpool_limits(n, "blas"):
            found.append(answer(task, parameters))
    return found[0], found[1]


def approximate(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """Exact and approximate search of neighbours."""
    few = {"candidates": None, "refine": False, "safeguard": False, "max_iter": 1, "n_components": 6}
    return answer(task, {**few, "neighbor_search": "exact"}), answer(task, {**few, "neighbor_search": "approximate"})


def many_rows(rng: Generator) -> Task:
    """Domains that are large enough for an approximate search."""
    X, y, X_target, _ = pair(rng, n=MANY, n_target=MANY, width=8, n_classes=4, apart=1.5)
    return Task("many rows", {"source": X}, {"source": y}, X_target, X_target[:300] + 0.01)


def blocks(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """Rows at once, and in blocks with their coordinates in a temporary file, as under a memory limit."""
    whole = answer(task, parameters)
    with _few_rows_per_block(on_disk=True):
        return whole, answer(task, {**parameters, "memory_limit": "1GB"})


def disk(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """Rows in memory, and in an HDF5 file that is read in blocks."""
    import h5py

    whole = answer(task, parameters)
    with tempfile.TemporaryDirectory() as folder, h5py.File(Path(folder) / "rows.h5", "w") as file:
        stored = replace(
            task,
            X={name: file.create_dataset(f"X {name}", data=X) for name, X in task.X.items()},
            X_target=file.create_dataset("target", data=task.X_target),
        )
        with _few_rows_per_block(on_disk=True):
            return whole, answer(stored, {**parameters, "memory_limit": "1GB"})


def dask(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """Rows in memory and in Dask arrays; learned on a sample, so that the engine labels all rows."""
    import dask.array as da

    size = max(10 * len(np.unique(np.concatenate(list(task.y.values())))), len(task.X_target) // 2)
    chunks = int(rng.integers(20, 90))
    lazy = task.with_rows(lambda X: da.from_array(X, chunks=(chunks, -1)))
    options = {**parameters, "sample_size": size}
    return answer(task, options), answer(lazy, options)


def sparse_rows(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """Dense and sparse rows of the same numbers."""
    return answer(task, parameters), answer(task.with_rows(sparse.csr_array), parameters)


def scaled(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """All rows times a power of ten."""
    power = 10.0 ** (int(rng.integers(1, 7)) * (-1) ** int(rng.integers(2)))
    return answer(task, parameters), answer(task.with_rows(lambda X: X * power), parameters)


def permuted_rows(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """Rows of each domain in another order."""
    orders = {name: rng.permutation(len(X)) for name, X in task.X.items()}
    order = rng.permutation(len(task.X_target))
    other = replace(
        task,
        X={name: X[orders[name]] for name, X in task.X.items()},
        y={name: y[orders[name]] for name, y in task.y.items()},
        X_target=task.X_target[order],
        y_target=None if task.y_target is None else task.y_target[order],
    )
    found = answer(other, parameters)
    back = np.append(np.argsort(order), np.arange(len(order), len(found.labels)))
    found = Answer(found.labels[back], found.distributions[back])
    return nearest_draw(lambda seed: answer(task, {**parameters, "random_state": seed}), found, parameters), found


def permuted_columns(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """Columns in another order, the same in all domains of one width."""
    widths = {X.shape[1] for X in (*task.X.values(), task.X_target)}
    orders = {width: rng.permutation(width) for width in sorted(widths)}
    return answer(task, parameters), answer(task.with_rows(lambda X: X[:, orders[X.shape[1]]]), parameters)


def renamed(task: Task, parameters: Parameters, rng: Generator) -> tuple[Answer, Answer]:
    """Classes with other names, in another order."""
    classes = np.unique(np.concatenate(list(task.y.values())))
    order = rng.permutation(len(classes))
    names = np.array([f"class {place}" for place in order])  # of the class at each place
    new_name = partial(_rename, dict(zip(classes.tolist(), names.tolist(), strict=True)))
    other = replace(
        task,
        y={name: np.array([new_name(label) for label in y]) for name, y in task.y.items()},
        y_target=None
        if task.y_target is None
        else np.array([new_name(label) for label in task.y_target], dtype=object),
    )

    def reference(seed: int) -> Answer:
        one = answer(task, {**parameters, "random_state": seed})
        return Answer(np.array([new_name(label) for label in one.labels]), one.distributions[:, np.argsort(names)])

    found = answer(other, parameters)
    return nearest_draw(reference, found, parameters), found


def _rename(names: dict[Any, str], label: Any) -> str | None:
    return None if label is None else names[label]


@contextmanager
def _few_rows_per_block(*, on_disk: bool) -> Iterator[None]:
    """Inside, a fit with a memory limit reads blocks of few rows, and keeps its coordinates in a file if asked to.

    A limit that real domains would reach is none for a few hundred rows.
    """

    def small(*arguments: Any, **options: Any) -> Any:
        return replace(within_memory(*arguments, **options), on_disk=on_disk, block_entries=FEW_ENTRIES)

    with patch("lpjt.fitting.whole.within_memory", small):
        yield


COMPARISONS = (
    Comparison(
        "float32 and float64", float32, 0.99, "seven digits of the rows: labels in doubt may move"
    ),
    Comparison(
        "one and two threads", jobs, 1.0, "sums are split by the number of threads; labels are equal", 1e-9
    ),
    Comparison(
        "BLAS with one and two threads", blas, 0.999, "products of new rows may be summed in another order", 1e-6
    ),
    Comparison(
        "exact and approximate neighbours", approximate, 0.99, "at least 95 % of the neighbours are found",
        task=many_rows,
    ),
    Comparison("memory and blocks", blocks, 0.999, "sums of blocks: only the order of sums differs", 1e-6),
    Comparison("memory and HDF5", disk, 0.999, "sums of blocks: only the order of sums differs", 1e-6),
    Comparison("memory and Dask", dask, 0.999, "the same sample by the same code; blocks differ", 1e-5),
    Comparison("dense and sparse", sparse_rows, 0.999, "the same numbers, summed in another order"),
    Comparison("scale by a power of ten", scaled, 0.999, "views have no scale; the products are rounded"),
    Comparison("order of columns", permuted_columns, 0.999, "only the order of sums differs"),
    Comparison(
        "order of rows", permuted_rows, 0.999, "only the order of sums differs; folds are drawn by place",
        drawn=DRAWN,
    ),
    Comparison(
        "names of classes", renamed, 0.999, "only the order of sums differs; folds are drawn class by class",
        drawn=DRAWN,
    ),
)  # fmt: skip
