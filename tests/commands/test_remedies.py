"""The commands name their own options where a warning names those of Python."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("rich", reason="the command line needs rich")

import lpjt as package
from lpjt.commands.remedies import _IN_PYTHON, as_options
from lpjt.selection.trust import Trust, judge
from options import CLASSES, CommandLine
from tables import pandas


@pytest.fixture
def lpjt(tmp_path, monkeypatch):
    """The command line beside source.csv and target.csv, in which all rows but one are of the first class."""
    line = CommandLine(tmp_path, monkeypatch)
    line.write("source.csv", label=CLASSES[np.arange(30) % 3])
    line.write("target.csv", classes=CLASSES[:1], seed=1)
    return line


def constants():
    """All texts in the package, but those of the commands."""
    root = Path(package.__file__).parent
    for path in root.rglob("*.py"):
        if "commands" not in path.parts:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))


def test_every_remedy_that_is_translated_is_still_said():
    texts = [text for text in constants() if isinstance(text, str)]
    assert [python for python in _IN_PYTHON if not any(python in text for text in texts)] == []


def test_no_sentence_of_the_trust_names_a_parameter_of_python():
    shares = np.array([0.5, 0.5])
    trust = Trust(0.3, 0.1, 0.5, scale_dependence=0.9, one_class=True, uninformed=True)
    verdict = judge(
        trust, adapted=True, view="standard", proportions=shares, of_source=shares, classes=np.array(["a", "b"])
    )
    assert "y_target" in verdict.summary
    for text in (verdict.summary, *verdict.alarms):
        assert "y_target" not in as_options(text)
        assert not re.search(r"\w='", as_options(text))
    assert "give --set scaling=source" in as_options(verdict.summary)
    assert "label a few target rows (--target-labels FILE)" in as_options(verdict.summary)


def test_adapt_names_its_options_in_warnings_and_in_both_summaries(lpjt):
    command = ["adapt", "source.csv", "target.csv", "-o", "labels.csv", "--force"]
    printed = lpjt(*command)
    told = json.loads(lpjt(*command, "--json").stdout)
    for text in (printed.stdout, printed.stderr, told["summary"], " ".join(told["warnings"])):
        assert "--target-labels FILE" in " ".join(text.split())
        assert "y_target" not in text


def test_info_names_the_options_of_adapt(lpjt):
    lpjt.adapt("--model", "model.lpjt", "--set", "max_iter=1")
    shown = lpjt("info", "model.lpjt").stdout
    assert "1 iteration " in shown
    assert "y_target" not in shown
    assert "--target-labels FILE" in " ".join(shown.split())


def test_the_remedies_of_a_fit_are_settings():
    said = "Not adapted. Set safeguard=False to adapt all the same. Set another landmark_ratio, or None for equal"
    assert as_options(said) == (
        "Not adapted. Give --set safeguard=false to adapt all the same. "
        "Give another --set landmark_ratio=..., or none for equal"
    )


def test_predict_sends_to_adapt(lpjt):
    lpjt.adapt("--model", "model.lpjt", "--no-candidates")
    numbers = pandas.read_csv("target.csv").select_dtypes("number")
    (numbers + 1e4).to_csv("strange.csv", index=False)
    said = lpjt("predict", "model.lpjt", "strange.csv", "-o", "new.csv").stderr
    assert "run `lpjt adapt` again with this file as TARGET" in said
