"""The attack on files: sound files are read, a slice of the damaged ones never fails, and a fault would be seen."""

import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("h5py")
pytest.importorskip("openpyxl")
pytest.importorskip("resource")

from attack import files
from attack.files import PART, models, odd, seeds
from attack.files.judge import judge
from attack.runner import run_cases
from lpjt.files import FileError

pytestmark = pytest.mark.isolated


def load(name):
    return PART


def test_no_case_of_the_slice_fails():
    found = dict(run_cases(load, "files", range(PART.slice), workers=1))
    assert {number: outcome for number, outcome in found.items() if outcome.kind == "failed"} == {}
    assert len({outcome.group for outcome in found.values()}) > 20
    assert {outcome.kind for outcome in found.values()} == {"fine", "refused"}


@pytest.mark.parametrize("form", [*seeds.FORMATS, *models.FORMATS], ids=lambda form: f"{form.group}{form.suffix}")
def test_files_are_sound_before_they_are_damaged(form, tmp_path, monkeypatch):
    monkeypatch.setenv("LPJT_READ_IN_PROCESS", "1")
    content = form.seed(np.random.default_rng(0))
    if not content:
        pytest.skip("made as a bad one")
    path = tmp_path / f"a{form.suffix}"
    path.write_bytes(content)
    (tmp_path / "temporary").mkdir()
    assert judge(form.group, form.read, path, tmp_path / "temporary").kind == "fine"


def test_a_case_is_the_same_at_any_time(tmp_path):
    def make(place):
        for function in vars(seeds).values():
            getattr(function, "cache_clear", lambda: None)()
        place.mkdir()
        found = {}
        for number in range(len(seeds.FORMATS)):  # a model file holds the seconds of its fit
            rng = np.random.default_rng(number)
            with files._one_moment():
                group, _, path = files._mutated(number, place, rng)
            found[number, group] = path.read_bytes()
        return found

    first = make(tmp_path / "a")
    time.sleep(2.1)  # zip files count in steps of two seconds
    again = make(tmp_path / "b")
    assert [key for key in first if first[key] != again[key]] == []


def test_faults_are_failures(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    (tmp_path / "temporary").mkdir()

    def outcome(read):
        return judge("csv", read, path, tmp_path / "temporary")

    def refuse(words):
        def read(_):
            raise FileError(words)

        return read

    assert outcome(refuse(f"{path}: broken. Write it again.")).kind == "refused"
    for words in ("broken. Write it again.", f"{path}: broken.", f"{path}: broken.\nWrite it again."):
        assert outcome(refuse(words)).kind == "failed"
    assert outcome(lambda _: 1 / 0).detail.startswith("ZeroDivisionError")
    assert outcome(lambda _: seeds._sparse()).kind == "fine"
    assert outcome(lambda p: p.write_text("changed")).detail == "the input was changed"
    assert "left behind" in outcome(lambda _: (tmp_path / "temporary" / "x").mkdir() or 1).detail


def test_a_planted_fault_is_seen(tmp_path, monkeypatch):
    """Without the check of sparse matrices, an invalid one comes back."""
    parts = {"data": np.ones(3), "indices": np.array([10**6, 1, 2]), "indptr": np.array([0, 1, 2, 3])}
    np.savez(tmp_path / "a.npz", format=np.array(b"csr"), shape=np.array([3, 20]), **parts)
    (tmp_path / "temporary").mkdir()
    form = next(form for form in seeds.FORMATS if form.group == "npz, sparse")
    monkeypatch.setenv("LPJT_READ_IN_PROCESS", "1")
    assert judge(form.group, form.read, tmp_path / "a.npz", tmp_path / "temporary").kind == "refused"
    monkeypatch.setattr("lpjt.files.arrays.check_structure", lambda X, where: None)
    outcome = judge(form.group, form.read, tmp_path / "a.npz", tmp_path / "temporary")
    assert outcome.kind == "failed"
    assert "must be < 20" in outcome.detail


@pytest.mark.parametrize("number", range(12))
def test_odd_files_are_made(number, tmp_path):
    group, _, path = odd.make(number, tmp_path, np.random.default_rng(number))
    assert group in ("bombs", "links", "devices and names")
    assert isinstance(path, Path)
