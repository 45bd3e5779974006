"""A slice of the load, and proof that it sees other answers, a lost row, a half file and memory that grows."""

import os
from pathlib import Path

import numpy as np
import pytest

from attack import load
from attack.processes import Fault
from attack.runner import run_case

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read as on Linux")


@pytest.mark.parametrize("number", range(load.PART.slice))
def test_load_changes_nothing(number):
    outcome = run_case(load.PART, number)
    assert outcome.kind == "fine", outcome


@pytest.mark.slow
@pytest.mark.parametrize("number", range(load.PART.slice, len(load.CASES)))
def test_load_of_every_kind_changes_nothing(number):
    pytest.importorskip("pyarrow", reason="stored rows need pyarrow")
    outcome = run_case(load.PART, number)
    assert outcome.kind == "fine", outcome


def test_the_long_run_has_each_kind_short_and_long(monkeypatch):
    seen = []
    kinds = {name: lambda folder, is_long, name=name: seen.append((name, is_long)) or "" for name in load.CASES}
    monkeypatch.setattr(load, "CASES", kinds)
    for number in range(load.PART.cases):
        load.run_case(number)
    assert seen == [(name, is_long) for is_long in (False, True) for name in kinds]


def test_other_answers_are_seen(tmp_path, monkeypatch):
    load._save_model(tmp_path / "model.lpjt")

    class Moody:
        def __init__(self):
            self.n_calls = 0

        def predict(self, rows):
            self.n_calls += 1
            return np.full(len(rows), self.n_calls > 20)

        def predict_proba(self, rows):
            return np.ones((len(rows), 2)) / 2

    monkeypatch.setattr("lpjt.load", lambda path: Moody())
    with pytest.raises(Fault, match="other answers than in one thread"):
        load._predict_at_once(tmp_path / "model.lpjt", 2, 5.0)


def test_a_half_output_is_seen(tmp_path):
    path = tmp_path / "labels.csv"
    load._write_output(path, 1)
    assert load._read_output(path) == 1
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(Fault, match="3999 rows"):
        load._read_output(path)


def test_memory_that_grows_is_seen(monkeypatch):
    monkeypatch.setattr(load, "in_processes", lambda function, arguments: [load.GROWTH + 1])
    outcome = load.run_case(list(load.CASES).index("fits, memory"))
    assert (outcome.kind, "memory grew by 8.4 MB" in outcome.detail) == ("failed", True)


def test_a_lost_row_is_seen(monkeypatch):
    pytest.importorskip("pyarrow", reason="stored rows need pyarrow")
    monkeypatch.setattr(load, "in_processes", lambda function, arguments: [function(*arguments[0])])
    outcome = load.run_case(list(load.CASES).index("two writers, one store"))
    assert (outcome.kind, outcome.detail) == ("failed", "6 rows of 12")


def test_nothing_stays_in_the_temporary_directory(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    load.run_case(0)
    assert list(Path(tmp_path).iterdir()) == []
