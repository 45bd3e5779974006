"""The options of ``lpjt adapt`` for tables and results, and those for completion; the others are in test_options.py."""

import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("rich", reason="the command line needs rich")

from lpjt import LPJT
from options import CLASSES, Cases, CommandLine
from tables import pandas

CASES = Cases()
TRUE = CLASSES[np.arange(30) % 3]


@pytest.fixture
def lpjt(tmp_path, monkeypatch):
    """The command line beside source.csv and target.csv: three classes of ten rows, the target shifted."""
    line = CommandLine(tmp_path, monkeypatch)
    line.write("source.csv", label=TRUE)
    line.write("target.csv", shift=0.5, seed=1)
    return line


def rewrite(name, new=None, **how):
    """Change a csv file: `edit` is what becomes of its table, the rest goes to `to_csv`."""
    edit = how.pop("edit", lambda table: table)
    edit(pandas.read_csv(name)).to_csv(new or name, index=False, **how)


def names_used(model):
    return list(model.feature_names_in_)


@CASES.prove("adapt", "--target-labels")
def target_labels(lpjt):
    """Known labels, wrong on purpose, are kept, in any order; blank ones are not used."""
    wrong = np.roll(CLASSES, 1)[np.arange(30) % 3]
    for rows in ([4, 2], [7]):
        known = pandas.DataFrame({"row": [*rows, 20], "label": [*wrong[rows], ""]})
        known.to_csv(f"known{len(rows)}.csv", index=False)
        labels = lpjt.adapt("--target-labels", f"known{len(rows)}.csv")["label"]
        assert labels[rows].tolist() == wrong[rows].tolist()
        assert labels[20] == TRUE[20]


@CASES.prove("adapt", "--ask")
def ask(lpjt):
    """As many rows as asked for, in a file beside the output, with their cells and no label."""
    for number in (4, 9):
        lpjt.adapt("--ask", number)
        found = pandas.read_csv("labels-ask.csv")
        assert len(found) == number
        assert list(found.columns[:2]) == ["row", "label"]
        assert found["label"].isna().all()
        target = pandas.read_csv("target.csv")
        assert found[list(target.columns)].equals(target.iloc[found["row"]].reset_index(drop=True))


@CASES.prove("adapt", "--ask-file")
def ask_file(lpjt):
    for name in ("one.csv", "two.tsv"):
        lpjt.adapt("--ask", 3, "--ask-file", name)
        assert len(lpjt.read(name).splitlines()) == 4
    assert not (lpjt.folder / "labels-ask.csv").exists()


@CASES.prove("adapt", "--weight")
def weight(lpjt):
    """Two columns of weights: the one that is named is no feature, and reaches the estimator."""
    lpjt.write("source.csv", label=TRUE, trust=np.arange(30) / 7, care=1 + np.arange(30))
    lpjt.write("target.csv", shift=0.5, seed=1, trust=1.0, care=2)
    given = []
    takes_weights = "sample_weight" in inspect.signature(LPJT.fit).parameters
    fit = LPJT.fit

    def watched(model, *args, sample_weight=None, **kwargs):
        given.append(sample_weight)
        if takes_weights:
            kwargs["sample_weight"] = sample_weight
        return fit(model, *args, **kwargs)

    lpjt.monkeypatch.setattr(LPJT, "fit", watched)
    for name, other, weights in (("trust", "care", np.arange(30) / 7), ("care", "trust", 1 + np.arange(30))):
        lpjt.adapt("--weight", name)
        np.testing.assert_allclose(given[-1], weights)
        assert names_used(lpjt.models[-1]) == ["f0", "f1", "f2", "f3", other]


@CASES.prove("adapt", "--columns")
def columns(lpjt):
    for chosen in ("f0,f1,f2", "f3,f0"):
        lpjt.adapt("--columns", chosen)
        assert names_used(lpjt.models[-1]) == chosen.split(",")
    lpjt.adapt("--columns", "f3", "--columns", "f0")
    assert names_used(lpjt.models[-1]) == ["f3", "f0"]
    assert "nearest: 'f0'" in lpjt("adapt", "source.csv", "target.csv", "--dry-run", "--columns", "f00", code=2).stderr


@CASES.prove("adapt", "--drop")
def drop(lpjt):
    for left_out, kept in (("f0", ["f1", "f2", "f3"]), ("f1,F3", ["f0", "f2"])):
        lpjt.adapt("--drop", left_out)
        assert names_used(lpjt.models[-1]) == kept
    assert (
        "no file has such a column"
        in lpjt("adapt", "source.csv", "target.csv", "--drop", "g", "--dry-run", code=2).stderr
    )


@CASES.prove("adapt", "--match")
def match(lpjt):
    rewrite("target.csv", "renamed.csv", edit=lambda table: table.rename(columns="{}_new".format))
    files = ("adapt", "source.csv", "renamed.csv", "-o", "labels.csv", "--force")
    refused = lpjt(*files, "--match", "name", code=2).stderr
    assert "share no column name" in refused
    assert "--match position" in refused
    assert "--match different" in refused
    shown = lpjt(*files, "--match", "position").stdout
    assert "matched by position: 'f0_new' for 'f0'" in " ".join(shown.split())
    assert pandas.read_csv("labels.csv")["label"].tolist() == TRUE.tolist()
    assert "different features (source 4, target 4 columns)" in lpjt(*files, "--match", "different").stdout
    assert lpjt.models[-1].n_features_in_ == 5  # a column of zeros: equal widths would be taken for equal columns
    assert "is not one of name, position, different" in lpjt(*files, "--match", "order", code=2).stderr


@CASES.prove("adapt", "--impute")
def impute(lpjt):
    """A blank cell becomes the statistic of its own file."""
    values = np.array([0.0, 0, 0, 10, 20, 100] * 5)
    lpjt.write("source.csv", label=TRUE, more=values[::-1] * 7)
    lpjt.write("target.csv", shift=0.5, seed=1, more=np.where(np.arange(30) == 4, np.nan, values))
    rest = np.delete(values, 4)
    expected = {"mean": rest.mean(), "median": np.median(rest), "most-frequent": 0.0}
    given = []
    fit = LPJT.fit

    def watched(model, X, y, X_target, *args, **kwargs):
        given.append(X_target)
        return fit(model, X, y, X_target, *args, **kwargs)

    lpjt.monkeypatch.setattr(LPJT, "fit", watched)
    for rule, value in expected.items():
        lpjt.adapt("--impute", rule)
        assert given[-1]["more"].iloc[4] == pytest.approx(value)
    refused = lpjt("adapt", "source.csv", "target.csv", "-o", "x.csv", "--impute", "none", code=2).stderr
    assert "Column 'more' has no value in row 4 (counted from 0), and impute is None" in refused


@CASES.prove("adapt", "--max-levels")
def max_levels(lpjt):
    soil = np.array(["clay", "clay", "clay", "sand", "sand", "loam"] * 5)
    lpjt.write("source.csv", label=TRUE, soil=soil)
    lpjt.write("target.csv", shift=0.5, seed=1, soil=soil)
    for limit, levels in ((3, ["soil=clay", "soil=loam", "soil=sand"]), (1, ["soil=clay"])):
        lpjt.adapt("--max-levels", limit)
        assert names_used(lpjt.models[-1])[4:] == levels


@CASES.prove("adapt", "--sep")
def sep(lpjt):
    """In a header with more commas than bars, only the option says what separates the cells."""
    for character, other in (("|", ","), ("!", ";")):
        noisy = {f"f{i}": f"f{i}{other}x{other}" for i in range(4)}
        for name in ("source", "target"):
            lpjt.write("plain.csv", seed=name == "target", label=TRUE)
            rewrite("plain.csv", f"{name}2.csv", edit=lambda t: t.rename(columns=noisy), sep=character, quoting=3)  # noqa: B023
        labels = lpjt.adapt("--sep", character, source="source2.csv", target="target2.csv")["label"]
        assert labels.tolist() == TRUE.tolist()
        assert names_used(lpjt.models[-1])[0] == noisy["f0"]


@CASES.prove("adapt", "--decimal")
def decimal(lpjt):
    """Numbers that would be read as texts, were it not for the option."""
    for mark in (",", "'"):
        for name in ("source", "target"):
            rewrite(f"{name}.csv", f"{name}2.csv", sep=";", decimal=mark)
        text = Path("target2.csv").read_text().splitlines()
        Path("target2.csv").write_text("\n".join([*text[:-1], f"0{mark}5;0.5;1{mark}5;2{mark}5"]))  # a stray point
        shown = lpjt("adapt", "source2.csv", "target2.csv", "--dry-run", "--decimal", mark, "--drop", "f1").stdout
        assert f"target2.csv: separator ';'; decimal mark {mark!r}" in shown
        assert "Columns used: 3 (3 number)" in shown


@CASES.prove("adapt", "--encoding")
def encoding(lpjt):
    """Each file in its own encoding; the one that is not UTF-8 is read by the option."""
    for code, word in (("latin-1", "Höhe"), ("cp1251", "Рост")):
        rewrite("source.csv", "source2.csv", edit=lambda t: t.rename(columns={"f0": word}))  # noqa: B023
        rewrite("target.csv", "target2.csv", edit=lambda t: t.rename(columns={"f0": word}), encoding=code)  # noqa: B023
        lpjt.adapt("--encoding", code, source="source2.csv", target="target2.csv")
        assert names_used(lpjt.models[-1]) == [word, "f1", "f2", "f3"]
    refused = lpjt("adapt", "source2.csv", "target2.csv", "--dry-run", "--encoding", "klingon", code=2).stderr
    assert "--encoding 'klingon' is unknown" in refused


@CASES.prove("adapt", "--sheet")
def sheet(lpjt):
    pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
    with pandas.ExcelWriter("target.xlsx") as book:
        for name, rows in (("spring", 30), ("autumn", 21)):
            lpjt.write("one.csv", rows=rows, shift=0.5, seed=1)
            pandas.read_csv("one.csv").to_excel(book, sheet_name=name, index=False)
    for name, rows in (("autumn", 21), ("spring", 30), ("2", 21)):
        labels = lpjt.adapt("--sheet", name, target="target.xlsx")["label"]
        assert labels.tolist() == TRUE[:rows].tolist()
    refused = lpjt("adapt", "source.csv", "target.xlsx", "--dry-run", "--sheet", "winter", code=2).stderr
    assert "no sheet 'winter'. Give one of 'spring', 'autumn'" in refused


@CASES.prove("adapt", "--set")
def settings(lpjt):
    """Numbers, words and parts of the classifier; unknown names are told with the nearest."""
    for value in (2, 3):
        lpjt.adapt("--set", f"max_iter={value}", "--set", "refine=false", "--set", f"classifier__n_neighbors={value}")
        model = lpjt.models[-1]
        assert (model.max_iter, model.refine, model.classifier.n_neighbors) == (value, False, value)
    files = ("adapt", "source.csv", "target.csv", "--dry-run")
    assert "nearest: max_iter" in lpjt(*files, "--set", "max_itr=3", code=2).stderr
    assert "not of the form name=value" in lpjt(*files, "--set", "max_iter", code=2).stderr
    assert "given twice" in lpjt(*files, "--set", "kernel=rbf", "--kernel", "linear", code=2).stderr
    assert (
        "Name it too"
        in lpjt("adapt", "source.csv", "target.csv", "-o", "x.csv", "--set", "kernel__gamma=1", code=2).stderr
    )


@CASES.prove("adapt", "--trust")
def trust(lpjt):
    """Rows below that confidence have no label."""
    lpjt.write("target.csv", shift=2.5, seed=1)
    every = lpjt.adapt("--trust", 0)
    assert every["label"].notna().all()
    limit = every["confidence"].median()
    shown = lpjt("adapt", "source.csv", "target.csv", "-o", "some.csv", "--trust", limit).stdout
    some = pandas.read_csv("some.csv")
    assert (some["label"].isna() == (some["confidence"] < round(limit, 6))).mean() > 0.9
    assert 0 < some["label"].isna().sum() < 30
    assert f"{some['label'].isna().sum()} rows of less confidence than" in shown


@CASES.prove("adapt", "--proba")
def proba(lpjt):
    assert list(lpjt.adapt().columns) == ["row", "label", "confidence"]
    written = lpjt.adapt("--proba")
    assert list(written.columns[3:]) == ["p_ape", "p_bee", "p_cat"]
    chances = written[["p_ape", "p_bee", "p_cat"]]
    assert np.allclose(chances.sum(axis=1), 1, atol=1e-5)
    assert chances.idxmax(axis=1).str.removeprefix("p_").tolist() == written["label"].tolist()


@CASES.prove("adapt", "--json")
def as_json(lpjt):
    files = ("adapt", "source.csv", "target.csv")
    assert "Written: one.csv" in lpjt(*files, "-o", "one.csv").stdout
    shown = lpjt(*files, "-o", "two.csv", "--json").stdout
    assert shown.startswith("{")
    found = json.loads(shown)
    assert [file["rows"] for file in found["files"]] == [30, 30]
    assert found["labels"] == {"ape": 10, "bee": 10, "cat": 10}
    assert found["parameters"]["random_state"] == 0
    assert [column["name"] for column in found["columns"]] == ["f0", "f1", "f2", "f3"]
    assert 0 <= found["estimated_accuracy"] <= 1
    dry = json.loads(lpjt(*files, "--dry-run", "--json").stdout)
    assert dry["files"] == found["files"]
    assert "both write to standard output" in lpjt(*files, "-o", "-", "--json", code=2).stderr


@CASES.prove("adapt", "--dry-run")
def dry_run(lpjt):
    files = ("adapt", "source.csv", "target.csv")
    lpjt(*files, "-o", "labels.csv")
    assert len(lpjt.models) == 1
    shown = lpjt(*files, "--dry-run").stdout
    assert len(lpjt.models) == 1
    for words in ("source.csv", "3: ape, bee, cat", "f3", "Columns used: 4 (4 number)"):
        assert words in shown
    assert "Give -o labels.csv, -o - for standard output, or --dry-run" in lpjt(*files, code=2).stderr


@CASES.prove("adapt", "--raw-text")
def raw_text(lpjt):
    """Labels, ids and the file of --ask, which is read again either way, and a terminal that is not obeyed."""
    classes = np.char.add("=", CLASSES)
    lpjt.write("formulas.csv", kind=np.char.add(classes[np.arange(30) % 3], "\x1b[2J"))
    lpjt.write("named.csv", shift=0.5, seed=1, id=[f"@{i}" for i in range(30)])
    command = ("adapt", "formulas.csv", "named.csv", "--label", "kind", "-o", "labels.csv", "--force", "--ask", 3)
    for given, mark, escape in (((), "'", "\\u001b"), (("--raw-text",), "", "\x1b")):
        result = lpjt(*command, *given)
        rows = pandas.read_csv("labels.csv")
        assert rows["id"].tolist() == [f"{mark}@{i}" for i in range(30)]
        assert rows["label"].iloc[0] == f"{mark}=ape{escape}[2J"
        assert ("were escaped" in result.stderr) == bool(mark)
        assert "\x1b[2J" not in result.output
        asked = pandas.read_csv("labels-ask.csv")
        asked["kind"] = f"{mark}=bee{escape}[2J"
        asked.to_csv("known.csv", index=False)
        shown = lpjt(*command, "--target-labels", "known.csv").stdout
        assert "known.csv: labels of 3 target rows" in shown


@CASES.prove("adapt", "--force")
def force(lpjt):
    files = ("adapt", "source.csv", "target.csv", "-o", "labels.csv", "-q")
    Path("labels.csv").write_text("mine")
    assert "labels.csv exists and was kept" in lpjt(*files, code=2).stderr
    assert lpjt.read("labels.csv") == "mine"
    lpjt(*files, "--force")
    assert lpjt.read("labels.csv").startswith("row,label")


def no_shell(lpjt):
    """Completion for a shell that the command names: no look at the processes, nor at the user's own files."""
    lpjt.monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    lpjt.monkeypatch.setenv("HOME", str(lpjt.folder))


@CASES.prove("", "--show-completion")
def show_completion(lpjt):
    no_shell(lpjt)
    assert "complete -o" not in lpjt("data", "path").stdout
    assert "complete -o default -F _lpjt_completion lpjt" in lpjt("--show-completion", "bash").stdout


@CASES.prove("", "--install-completion")
def install_completion(lpjt):
    no_shell(lpjt)
    lpjt("data", "path")
    assert not (lpjt.folder / ".bashrc").exists()
    lpjt("--install-completion", "bash")
    assert "lpjt" in lpjt.read(".bashrc")


def test_completion_knows_the_options_of_a_command(lpjt, monkeypatch):
    """The options of a command, though it is loaded when it is called."""
    monkeypatch.setenv("_LPJT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "lpjt adapt --target-")
    monkeypatch.setenv("COMP_CWORD", "2")
    result = lpjt.runner.invoke(lpjt.app, [], prog_name="lpjt")
    assert result.stdout.split() == ["--target-label", "--target-labels", "--target-proportions"]


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_an_option_does_what_its_help_says(case, lpjt):
    CASES[case](lpjt)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_case_sees_that_its_option_is_disconnected(case, lpjt):
    lpjt.disconnect(*case)
    with pytest.raises(AssertionError):
        CASES[case](lpjt)


def test_python_m_lpjt(monkeypatch, capsys):
    import runpy

    monkeypatch.setattr(sys, "argv", ["lpjt", "--version"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("lpjt", run_name="__main__")
    assert not stopped.value.code
    assert capsys.readouterr().out.startswith("lpjt ")
