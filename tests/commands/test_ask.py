"""``lpjt adapt --ask``: a file that is filled in and given back, and what is refused."""

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs typer")

from lpjt.commands._adapt_ask import ask_columns
from lpjt.files import FileDomain
from options import CommandLine
from tables import pandas

IDS = np.array([f"r{i}" for i in range(30)])


@pytest.fixture
def lpjt(tmp_path, monkeypatch):
    line = CommandLine(tmp_path, monkeypatch)
    true = line.write("source.csv")
    line.write("source.csv", label=true)
    line.write("target.csv", shift=0.5, seed=1, code=IDS)
    line.true = true
    return line


def adapt(lpjt, *arguments, code=0):
    return lpjt("adapt", "source.csv", "target.csv", "--id", "code", *arguments, code=code)


def test_a_file_that_is_filled_in_is_accepted_and_another_asks_for_other_rows(lpjt):
    adapt(lpjt, "-o", "labels.csv", "--ask", 6)
    asked = pandas.read_csv("labels-ask.csv")
    assert list(asked.columns[:2]) == ["code", "label"]
    wrong = {"ape": "bee", "bee": "cat", "cat": "ape"}
    asked["label"] = [wrong[lpjt.true[int(one[1:])]] for one in asked["code"]]
    asked.loc[0, "label"] = None
    asked.iloc[::-1].to_csv("filled.csv", index=False)
    adapt(lpjt, "-o", "again.csv", "--target-labels", "filled.csv", "--ask", 5)
    labels = pandas.read_csv("again.csv").set_index("code")["label"]
    assert labels[asked["code"][1:]].tolist() == asked["label"][1:].tolist()
    second = pandas.read_csv("again-ask.csv")
    assert not set(second["code"]) & set(asked["code"][1:])
    second["label"] = "ape"
    second.to_csv("second.csv", index=False)
    adapt(lpjt, "-o", "last.csv", "--target-labels", "filled.csv", "--target-labels", "second.csv")
    labels = pandas.read_csv("last.csv").set_index("code")["label"]
    assert labels[asked["code"][1:]].tolist() == asked["label"][1:].tolist()
    assert set(labels[second["code"]]) == {"ape"}


def test_files_that_disagree_are_refused(lpjt):
    for name, label in (("one.csv", "ape"), ("two.csv", "bee")):
        pandas.DataFrame({"code": ["r3"], "label": [label]}).to_csv(name, index=False)
    result = adapt(lpjt, "-o", "labels.csv", "--target-labels", "one.csv", "--target-labels", "two.csv", code=2)
    assert "two.csv: 'r3' is 'bee' here, 'ape' in a file before." in result.stderr


def test_an_existing_file_is_kept_unless_forced(lpjt):
    (lpjt.folder / "labels-ask.csv").write_text("mine")
    assert "labels-ask.csv exists and was kept" in adapt(lpjt, "-o", "labels.csv", "--ask", 3, code=2).stderr
    assert not (lpjt.folder / "labels.csv").exists()
    assert lpjt.read("labels-ask.csv") == "mine"
    adapt(lpjt, "-o", "labels.csv", "--ask", 3, "--force")
    assert len(lpjt.read("labels-ask.csv").splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "a.csv", "--ask-file", "b.csv"), "Say how many, such as --ask 20"),
        (("-o", "-", "--ask", 3), "Name it with --ask-file"),
        (("-o", "a.csv", "--ask", 3, "--ask-file", "-"), "Name a file"),
        (("-o", "a.csv", "--ask", 3, "--ask-file", "a.csv"), "name the same file"),
        (("-o", "a.csv", "--ask", 3, "--ask-file", "target.csv"), "would overwrite an input"),
        (("-o", "a.csv", "--ask", 3, "--ask-file", "b.doc"), "unknown output format"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_fit(lpjt, arguments, words):
    assert words in adapt(lpjt, *arguments, code=2).stderr
    assert not lpjt.models


def test_more_rows_than_there_are(lpjt):
    adapt(lpjt, "-o", "labels.csv", "--ask", 500)
    assert sorted(pandas.read_csv("labels-ask.csv")["code"]) == sorted(IDS)


def test_ids_that_several_rows_have_are_replaced_by_row_numbers(tmp_path):
    target = FileDomain(tmp_path, "npy", np.arange(6.0).reshape(3, 2), ids=np.array(["a", "a", "b"]), id_name="who")
    columns = ask_columns(target, np.array([2, 0]), label="kind")
    assert list(columns) == ["row", "kind", "column 0", "column 1"]
    assert columns["row"].tolist() == [2, 0]
    assert columns["kind"].tolist() == [None, None]
    wide = FileDomain(tmp_path, "npy", np.zeros((3, 300)))
    assert list(ask_columns(wide, np.array([1]))) == ["row", "label"]
