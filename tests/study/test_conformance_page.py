"""docs/conformance.md: made of stored rows, with or without the peers."""

import pytest

from faulty import Blind, Sound
from lpjt.conformance import describe_checks
from lpjt.study.conformance import run as runs
from lpjt.study.conformance.peers import OF_THE_ADAPTER, Subject, subjects
from lpjt.study.pages import conformance
from lpjt.study.store import Store

pytest.importorskip("pyarrow", reason="stored rows need pyarrow")

SOUND = Subject("lpjt", "Sound", Sound, adapted=False)
BLIND = Subject("POT", "Blind", Blind)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runs, "subjects", lambda: [SOUND, BLIND])
    return tmp_path


def test_every_subject_has_a_name_of_its_own():
    names = [(s.library, s.name) for s in subjects()]
    assert len(set(names)) == len(names)
    assert {library for library, _ in names} == set(conformance.PACKAGES)


def test_a_run_stores_a_row_per_check_and_the_page_says_what_failed(root, monkeypatch, capsys):
    monkeypatch.setattr(conformance, "installed", lambda library: library in ("lpjt", "POT"))
    monkeypatch.setattr(runs, "installed", lambda library: library in ("lpjt", "POT"))
    conformance.main([])
    rows = Store(root / "results/conformance", runs.CONFORMANCE).rows()
    assert sum(row["estimator"] == "Sound" for row in rows) == len(describe_checks())
    assert sum(row["estimator"] == "Blind" for row in rows) == len(describe_checks()) - len(OF_THE_ADAPTER)
    page = (root / "docs/conformance.md").read_text()
    assert "| lpjt | 1 | 1 | 25 | 0 | 0 |" in page
    assert "| ADAPT | not installed when this page was written |" in page
    assert (
        "| `label_shift` | Blind |" in page.replace("36 % right", "") or "| `labels_an_easy_target` | Blind |" in page
    )
    assert "33 % right, where the nearest source row is right for 100 %" in page
    assert "ADAPT: not installed; what is stored is kept." in capsys.readouterr().out


def test_the_page_is_written_again_without_the_peers(root, monkeypatch):
    monkeypatch.setattr(runs, "installed", lambda library: True)
    list(runs.run(["POT"]))
    monkeypatch.setattr(runs, "installed", lambda library: False)
    monkeypatch.setattr(conformance, "installed", lambda library: False)
    conformance.main([])
    first = (root / "docs/conformance.md").read_text()
    assert "Blind" in first
    conformance.main(["--page"])
    assert (root / "docs/conformance.md").read_text() == first


def test_one_library_alone_can_be_run(root, monkeypatch):
    monkeypatch.setattr(runs, "installed", lambda library: True)
    monkeypatch.setattr(conformance, "installed", lambda library: True)
    conformance.main(["--only", "lpjt"])
    rows = Store(root / "results/conformance", runs.CONFORMANCE).rows()
    assert {row["library"] for row in rows} == {"lpjt"}
