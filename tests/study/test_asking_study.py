"""The study of asked labels: which tasks, what is measured, and the tables of what is stored."""

import json
from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="stored rows need pyarrow")

from ask_rows import make_ask_row
from lpjt.study.asking import measure as measuring
from lpjt.study.asking.measure import measure, measure_task
from lpjt.study.asking.sheets import harm_sheet, read_records, summary_sheet, tasks_sheet
from lpjt.study.asking.tasks import ASKING, AskTask, open_store, plan_tasks
from lpjt.study.pages.asking import write_page
from lpjt.study.robust.data import DomainPair
from problems import shifted_pair
from robust_rows import make_task


class StandIn:
    """Labels all rows 0, but for those whose label is given; it asks for the last rows."""

    seen: ClassVar[list] = []

    def fit(self, X, y, X_target, y_target):
        self.seen.append(np.flatnonzero(y_target >= 0))
        self.transduction_ = np.where(y_target >= 0, y_target, 0)
        self.estimated_accuracy_, self.estimated_accuracy_interval_ = 0.5, (0.4, 0.6)
        return self

    def rows_to_label(self, n):
        return np.arange(len(self.transduction_))[::-1][:n]


@pytest.fixture
def pair(monkeypatch):
    monkeypatch.setattr(measuring, "make_variant", lambda **_: StandIn())
    monkeypatch.setattr(StandIn, "seen", [])
    X, y, X_target, y_target = shifted_pair()
    return DomainPair(X, y, X_target, y_target)


def test_one_pair_of_each_family_whole_cut_and_thinned():
    tasks = plan_tasks()
    by_family = {}
    for one in tasks:
        by_family.setdefault(one.task.family, []).append(one.task)
    for family, own in by_family.items():
        assert len({task.pair for task in own}) == 1
        kinds = {"whole", "thinned"} | ({"cut to 30 %"} if family != "Amazon reviews" else set())
        assert {task.kind for task in own} == kinds
    assert len({one.key for one in tasks}) == len(tasks)
    with pytest.raises(ValueError, match="part of no task's name"):
        plan_tasks(only="nowhere")


def test_both_ways_are_judged_on_rows_that_neither_was_given(pair):
    accuracy, records = measure(pair, {}, (10, 20, 50))
    assert accuracy == pytest.approx(100 / 3)
    assert [(one["n"], one["way"]) for one in records] == [(n, w) for n in (10, 20) for w in ("asked", "random")]
    none, asked, drawn = StandIn.seen[:3]
    assert not len(none)
    assert asked.tolist() == list(range(65, 75))
    assert len(drawn) == 10
    left = np.setdiff1d(np.arange(75), np.concatenate([asked, drawn]))
    expected = 100 * (pair.y_target[left] == 0).mean()
    assert records[0]["shared"] == records[1]["shared"] == pytest.approx(expected, abs=1e-3)
    rest = np.setdiff1d(np.arange(75), asked)
    assert records[0]["rest"] == pytest.approx(100 * (pair.y_target[rest] == 0).mean(), abs=1e-3)
    assert records[0]["all"] > accuracy


def test_a_row_is_stored_whole_also_if_a_task_fails(pair, monkeypatch, tmp_path):
    task = AskTask(make_task())
    monkeypatch.setattr(measuring, "open_task", lambda task: pair)
    store = open_store(tmp_path)
    store.append(measure_task(task))
    (row,) = store.rows()
    assert set(row) == set(ASKING.columns)
    assert row["status"] == "ok"
    assert len(json.loads(row["figures"])) == 4
    monkeypatch.setattr(measuring, "open_task", lambda task: 1 / 0)
    assert measure_task(task)["message"] == "ZeroDivisionError: division by zero"


def test_tables_have_means_leads_and_harm():
    tasks = [AskTask(make_task(source=name)) for name in "CDW"]
    rows = [make_ask_row(tasks[0], lead=4.0), make_ask_row(tasks[1], lead=-1.0)]
    rows.append(make_ask_row(tasks[2], rest=57.0))
    records = read_records(rows)
    line = summary_sheet(records).rows[0]
    assert line[:7] == ("10", "3", "60.0", "61.0", "62.7", "+1.7", "2 / 1")
    harm = {row[0]: row for row in harm_sheet(records).rows}
    assert harm["10 asked"][2:4] == ("-3.0", "1")
    assert tasks_sheet(rows).rows[0][3] == "+5.0"
    assert summary_sheet([]).rows == []


def test_a_page_says_what_is_missing(tmp_path):
    tasks = [AskTask(make_task(source=name)) for name in "CD"]
    page = tmp_path / "docs" / "asking.md"
    written = write_page(tasks, [make_ask_row(tasks[0])], page)
    assert written == [page, tmp_path / "docs" / "figures" / "asking.png"]
    text = page.read_text(encoding="utf-8")
    assert "1 of 2 tasks have a result" in text
    assert "| 20 | 1 | 60.0 | 62.0 | 64.0 |" in text
    assert write_page(tasks, [], tmp_path / "none.md") == [tmp_path / "none.md"]
