"""One task: fits with labels of rows that the first fit asks for, and with as many drawn at random."""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lpjt.study.asking.tasks import AskTask
from lpjt.study.robust.data import DomainPair, open_task
from lpjt.study.settings import make_variant
from lpjt.study.store import Row
from lpjt.study.text import canonical_json, one_line

#: How the rows whose labels are given were chosen.
WAYS = ("asked", "random")

#: At most this share of the target's rows is given a label: from more, few are left to be judged by.
MOST = 0.5


def measure_task(task: AskTask) -> Row:
    """Load, fit and score one task; a row of `ASKING`, also when it fails."""
    row = task.row_without_result(status="failed", message="")
    begun = time.perf_counter()
    try:
        pair = open_task(task.task)
        accuracy, figures = measure(pair, task.task.parameters, task.counts)
    except Exception as error:
        return row | {"message": one_line(error), "seconds": time.perf_counter() - begun}
    found = {"n_target": len(pair.y_target), "accuracy": accuracy, "figures": canonical_json(figures)}
    return row | found | {"status": "ok", "checksum": pair.checksum, "seconds": time.perf_counter() - begun}


def measure(
    pair: DomainPair, parameters: Mapping[str, Any], counts: Sequence[int]
) -> tuple[float, list[dict[str, Any]]]:
    """Accuracy without target labels, and a record for each number of labels and way to choose them, in per cent.

    A record has the accuracy on the rows whose label neither way gave (`shared`), on those that this fit was not given
    (`rest`) and on all rows (`all`); the first two also of the fit without labels (`shared_before`, `rest_before`); and
    the estimated accuracy with its interval.
    """
    before = _fit(pair, parameters, np.arange(0))
    was_right = np.asarray(before.transduction_) == pair.y_target
    records = []
    for n in counts:
        if n > MOST * len(pair.y_target):
            continue
        drawn = np.random.default_rng(n).permutation(len(pair.y_target))[:n]
        chosen = {"asked": np.asarray(before.rows_to_label(n)), "random": drawn}
        shared = _without(len(pair.y_target), *chosen.values())
        for way in WAYS:
            records.append({"n": n, "way": way, **_judge(pair, parameters, chosen[way], shared, was_right)})
    return 100 * float(was_right.mean()), records


def _judge(
    pair: DomainPair, parameters: Mapping[str, Any], given: np.ndarray, shared: np.ndarray, was_right: np.ndarray
) -> dict[str, float]:
    model = _fit(pair, parameters, given)
    right = np.asarray(model.transduction_) == pair.y_target
    rest = _without(len(right), given)
    low, high = model.estimated_accuracy_interval_
    values = {"shared": right[shared].mean(), "shared_before": was_right[shared].mean()}
    values |= {"rest": right[rest].mean(), "rest_before": was_right[rest].mean(), "all": right.mean()}
    values |= {"estimate": model.estimated_accuracy_, "low": low, "high": high}
    return {name: round(100 * float(value), 4) for name, value in values.items()}


def _fit(pair: DomainPair, parameters: Mapping[str, Any], given: np.ndarray) -> Any:
    y = np.full(len(pair.y_target), -1)
    y[given] = pair.y_target[given]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_variant(**parameters).fit(pair.X_source, pair.y_source, pair.X_target, y)


def _without(n: int, *taken: np.ndarray) -> np.ndarray:
    """Mask of the rows that are in none of the lists, (n,)."""
    left = np.ones(n, dtype=bool)
    left[np.concatenate(taken)] = False
    return left
