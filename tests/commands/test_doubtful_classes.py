"""A class that is called as a missing label often is stays a class, and `lpjt adapt` asks."""

import json

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("rich", reason="the command line needs rich")

from options import CLASSES, CommandLine

TRUE = CLASSES[np.arange(30) % 3]


@pytest.fixture
def lpjt(tmp_path, monkeypatch):
    """The command line beside a target of three classes."""
    line = CommandLine(tmp_path, monkeypatch)
    line.write("target.csv", shift=0.5, seed=1)
    return line


def notes(lpjt, *options):
    """The notes of a dry run about classes."""
    told = lpjt("adapt", "source.csv", "target.csv", "--dry-run", "--json", *options)
    return [note for note in json.loads(told.stdout)["notes"] if "a class is called" in note]


@pytest.mark.parametrize("word", ["NA", "n/a", "null", "None", "?"])
def test_a_word_for_a_missing_label_is_told(lpjt, word):
    lpjt.write("source.csv", label=np.where(TRUE == "bee", word, TRUE))
    said = f"source.csv: a class is called '{word}' (10 rows in 'label'). If it means that there is no label, remove"
    (note,) = notes(lpjt)
    assert note == f"{said} these rows."
    shown = " ".join(lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--no-candidates").stdout.split())
    assert said in shown
    assert word in shown.partition("Predicted")[2]  # it is a class all the same


def test_labels_of_the_target_may_be_blank(lpjt):
    lpjt.write("source.csv", label=TRUE)
    lpjt.write("target.csv", shift=0.5, label=["NA", *TRUE[1:29], ""])
    assert notes(lpjt) == []  # they are not learned from
    (note,) = notes(lpjt, "--target-label", "label")
    assert "'NA' (1 row in 'label')" in note
    assert note.endswith("leave these cells blank.")


def test_other_names_are_not_doubted(lpjt):
    lpjt.write("source.csv", label=np.where(TRUE == "bee", "nature", TRUE))
    assert notes(lpjt) == []
