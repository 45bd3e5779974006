"""The command line: what it prints, writes and refuses."""

import os
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from tables import frame, pandas, real_data

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("rich", reason="the command line needs rich")

from typer.testing import CliRunner

from lpjt import cli

CLASSES = np.array(["ape", "bee", "cat"])


@pytest.fixture
def lpjt(monkeypatch):
    """Run a command; what it prints is as wide as a terminal."""
    monkeypatch.setenv("COLUMNS", "160")
    runner, app = CliRunner(), cli.build_app()
    return lambda *arguments: runner.invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def blobs(tmp_path):
    """source.csv and target.csv: three well parted classes, the target shifted; the labels of the target."""
    X, y = make_blobs(n_samples=240, n_features=6, centers=3, cluster_std=1.0, random_state=3)
    frame(X[:120], label=CLASSES[y[:120]]).to_csv(tmp_path / "source.csv", index=False)
    frame(X[120:] + 1.5, id=[f"r{i:03d}" for i in range(120)]).to_csv(tmp_path / "target.csv", index=False)
    return tmp_path, CLASSES[y[120:]]


def one_line(result):
    """The one line of an error: no traceback, exit status 2."""
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("lpjt: ")
    return result.stderr


def test_adapt_writes_id_label_confidence(lpjt, blobs):
    folder, y = blobs
    result = lpjt("adapt", folder / "source.csv", folder / "target.csv", "-o", folder / "labels.csv")
    assert result.exit_code == 0, result.output
    written = pandas.read_csv(folder / "labels.csv")
    assert list(written.columns) == ["id", "label", "confidence"]
    assert written["id"].tolist() == [f"r{i:03d}" for i in range(120)]
    assert np.mean(written["label"] == y) > 0.95
    assert written["confidence"].between(0, 1).all()
    for words in ("source.csv", "target.csv", "120", "3: ape, bee, cat", "Mean confidence", "labels.csv"):
        assert words in result.stdout


def test_adapt_scores_by_labels_found_in_the_target_and_does_not_learn_from_them(lpjt, blobs):
    folder, y = blobs
    table = pandas.read_csv(folder / "target.csv")
    table.assign(label=y).to_csv(folder / "scored.csv", index=False)
    table.assign(label=np.roll(y, 1)).to_csv(folder / "wrong.csv", index=False)
    command = ("adapt", folder / "source.csv")
    right = lpjt(*command, folder / "scored.csv", "-o", folder / "right.csv", "--seed", 0)
    wrong = lpjt(*command, folder / "wrong.csv", "-o", folder / "wrong-out.csv", "--seed", 0)
    assert "used for this score only" in right.stdout
    assert right.stdout != wrong.stdout
    assert (folder / "right.csv").read_text() == (folder / "wrong-out.csv").read_text()


def test_adapt_learns_from_a_named_target_label(lpjt, blobs):
    folder, y = blobs
    given = np.where(np.arange(120) % 10 == 0, np.roll(CLASSES, 1)[np.searchsorted(CLASSES, y)], "")
    pandas.read_csv(folder / "target.csv").assign(known=given).to_csv(folder / "partly.csv", index=False)
    command = ("adapt", folder / "source.csv", folder / "partly.csv", "-o", folder / "labels.csv")
    result = lpjt(*command, "--target-label", "known")
    assert result.exit_code == 0, result.output
    written = pandas.read_csv(folder / "labels.csv")["label"].to_numpy()
    np.testing.assert_array_equal(written[given != ""], given[given != ""])  # wrong on purpose, and kept


def test_adapt_takes_several_sources(lpjt, blobs):
    folder, y = blobs
    source = pandas.read_csv(folder / "source.csv")
    source[:60].to_csv(folder / "one.csv", index=False)
    source[60:].iloc[:, ::-1].to_csv(folder / "two.tsv", index=False, sep="\t")
    result = lpjt(
        "adapt",
        folder / "one.csv",
        folder / "target.csv",
        "--source",
        folder / "two.tsv",
        "-o",
        folder / "o.tsv",
    )
    assert result.exit_code == 0, result.output
    assert np.mean(pandas.read_table(folder / "o.tsv")["label"] == y) > 0.95
    assert "two.tsv" in result.stdout


def test_the_estimator_refuses_in_one_line(lpjt, blobs):
    folder, _ = blobs
    command = ("adapt", folder / "source.csv", folder / "target.csv", "-o", folder / "labels.csv")
    assert "'kernel' parameter" in one_line(lpjt(*command, "--kernel", "no-such-kernel"))
    assert "'n_components' parameter" in one_line(lpjt(*command, "--n-components", 0))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none.csv", "target.csv"), "no such file"),
        (("source.csv", "none.csv"), "no such file"),
        (("source.csv", "."), "is a directory"),
        (("source.csv", "notes.docx"), "not a known file format"),
        (("target.csv", "source.csv"), "no labels found. Name the label column with --label"),
        (("measured.csv", "target.csv"), "'label' was taken for a measured feature: it holds fractions, or hardly any"),
        (("source.csv", "broken.npz"), "cannot be read as npz"),
        (("source.csv", "target.csv", "--label", "labell"), "nearest: 'label'"),
        (("source.csv", "target.csv", "--target-label", "known"), "no column named 'known'"),
        (("source.csv", "target.csv", "--id", "name"), "no id column named 'name'"),
        (("gaps.csv", "target.csv"), "3 rows have no label in 'label', the first is row 0"),
    ],
)
def test_what_cannot_be_used_gets_one_line_and_no_file(lpjt, blobs, monkeypatch, arguments, words):
    folder, _ = blobs
    monkeypatch.chdir(folder)
    Path("notes.docx").write_text("x")
    Path("broken.npz").write_bytes(b"PK\x03\x04 and no more")
    gaps = pandas.read_csv("source.csv")
    gaps["label"] = gaps["label"].astype(object).where(gaps.index > 2, "")
    gaps.to_csv("gaps.csv", index=False)
    gaps.assign(label=gaps.index / 7).to_csv("measured.csv", index=False)
    before = sorted(os.listdir())
    assert words in one_line(lpjt("adapt", *arguments, "-o", "labels.csv"))
    assert sorted(os.listdir()) == before


def test_a_lack_of_memory_gets_one_line(lpjt, blobs, monkeypatch):
    folder, _ = blobs

    def exhaust(*args, **kwargs):
        raise MemoryError("Unable to allocate 6.9 GiB")

    monkeypatch.setattr("lpjt.commands.adapt.read_inputs", exhaust)
    result = lpjt("adapt", folder / "source.csv", folder / "target.csv", "-o", folder / "labels.csv")
    assert "lpjt: not enough memory (Unable to allocate 6.9 GiB). Give fewer rows" in one_line(result)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("nowhere/labels.csv", "does not exist"),
        ("labels.xlsx", "Name it .csv"),
        ("target.csv", "overwrite an input"),
    ],
)
def test_output_that_cannot_be_written_is_refused_first(lpjt, blobs, monkeypatch, output, words):
    folder, _ = blobs
    monkeypatch.chdir(folder)
    before = Path("target.csv").read_bytes()
    assert words in one_line(lpjt("adapt", "source.csv", "target.csv", "-o", output))
    assert Path("target.csv").read_bytes() == before


def test_warnings_are_readable_lines(lpjt, blobs):
    # Other features and not one target label: the estimator warns that its first labels are a guess.
    folder, _ = blobs
    pandas.read_csv(folder / "target.csv").drop(columns="f0").to_csv(folder / "narrow.csv", index=False)
    files = folder / "source.csv", folder / "narrow.csv"
    result = lpjt("adapt", *files, "-o", folder / "labels.csv", "--match", "different")
    assert result.exit_code == 0, result.output
    assert "different features (source 6, target 5 columns)" in result.stdout
    lines = result.stderr.splitlines()
    assert lines
    assert all(line.startswith("warning: ") for line in lines)


@pytest.mark.parametrize("kind", [dict, lambda **values: SimpleNamespace(**values)])
def test_progress_is_one_line(kind):
    from lpjt.commands._adapt_fit import describe

    assert describe(kind(n_iter=3, n_changed=12)) == "Adapting: iteration 3, labels changed: 12"
    assert describe(kind(objective=0.5)) == "Adapting: ..."


def test_version(monkeypatch, capsys):
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text())["project"]
    monkeypatch.setattr(sys, "argv", ["lpjt", "--version"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert not stopped.value.code
    assert capsys.readouterr().out == f"lpjt {project['version']}\n"


def test_without_typer_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err == "lpjt: `typer` is needed here. Install it with `pip install 'lpjt[cli]'`.\n"


@pytest.mark.data
def test_adapt_on_a_real_file_of_both_domains(lpjt, tmp_path):
    path = real_data() / "coil20/COIL_1.mat"
    result = lpjt("adapt", path, path, "-o", tmp_path / "labels.csv", "--n-components", 20)
    assert result.exit_code == 0, result.output
    assert "its columns are the samples" in result.stdout
    assert len(pandas.read_csv(tmp_path / "labels.csv")) == 720
