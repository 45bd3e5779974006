"""Tables from last year's labels to labels of new rows: the model that is kept holds the preprocessing."""

import json
import subprocess
import sys

import numpy as np
import pytest

import lpjt
from lpjt import LPJT, TableAdapter

pandas = pytest.importorskip("pandas")


def trees(n, shift, seed, first="2024-01-01"):
    """A table with numbers, missing cells, a category and a date that says nothing; and the species of each row."""
    rng = np.random.default_rng(seed)
    species = rng.choice(["oak", "elm", "ash"], n)
    sizes = np.array([{"oak": 20, "elm": 8, "ash": 14}[one] for one in species])[:, None]
    table = pandas.DataFrame(
        sizes + rng.normal(scale=2.5, size=(n, 4)) + shift, columns=["height", "crown", "girth", "age"]
    )
    table["soil"] = rng.choice(["clay", "sand", "loam"], n)
    table["seen"] = pandas.date_range(first, periods=n).astype(str)
    table.loc[rng.integers(0, n, 9), "crown"] = np.nan
    return table, species


@pytest.fixture(scope="module")
def fitted():
    (last, species), (this, _) = trees(300, 0, 0), trees(250, 3, 1, "2025-01-01")
    return TableAdapter(LPJT(random_state=0)).fit(last, species, this.assign(note="x"))


def test_labels_are_right_though_a_date_dominates_every_length(fitted):
    _, truth = trees(250, 3, 1, "2025-01-01")
    assert np.mean(fitted.transduction_ == truth) > 0.9


def test_a_kept_adapter_predicts_bit_by_bit(fitted, tmp_path):
    new, truth = trees(60, 3, 2, "2025-03-01")
    fitted.save(tmp_path / "trees.lpjt")
    again = lpjt.load(tmp_path / "trees.lpjt")
    mixed_up = new[["soil", "age", "girth", "seen", "crown", "height"]].assign(extra=1)
    assert np.array_equal(again.predict_proba(mixed_up), fitted.predict_proba(new))
    assert np.mean(again.predict(new) == truth) > 0.8
    with pytest.raises(lpjt.ModelFileError, match="exists"):
        fitted.save(tmp_path / "trees.lpjt")


def test_a_report_takes_tables(fitted):
    last, this = trees(300, 0, 0)[0], trees(250, 3, 1, "2025-01-01")[0]
    page = fitted.report(X=last, X_target=this)
    assert "soil=clay" in page
    assert len(fitted.report()) < len(page)


def test_adapt_predict_and_info_on_the_command_line(tmp_path):
    (last, species), (this, truth), (new, _) = trees(120, 0, 0), trees(100, 3, 1), trees(30, 3, 2)
    last.assign(species=species).to_csv(tmp_path / "last.csv", index=False)
    this.to_csv(tmp_path / "this.csv", index=False)
    new.assign(extra=1).to_csv(tmp_path / "new.csv", index=False)

    def call(*words):
        command = [sys.executable, "-m", "lpjt", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)

    def run(*words):
        done = call(*words)
        assert done.returncode == 0, done.stderr
        return " ".join(done.stdout.split())

    files = ["--label", "species", "--model", "trees.lpjt", "--report", "page.html"]
    said = run("adapt", "last.csv", "this.csv", "-o", "labels.csv", *files)
    assert "Written: labels.csv, trees.lpjt, page.html" in said
    assert np.mean(pandas.read_csv(tmp_path / "labels.csv").label == truth) > 0.8
    said = run("predict", "trees.lpjt", "new.csv", "-o", "new-labels.csv", "--proba")
    assert "left out: 'extra'" in said
    found = pandas.read_csv(tmp_path / "new-labels.csv")
    assert list(found.columns) == ["row", "label", "confidence", "p_ash", "p_elm", "p_oak"]
    expected = lpjt.load(tmp_path / "trees.lpjt").predict(new)
    assert list(found.label) == list(expected)
    about = json.loads(run("info", "trees.lpjt", "--json"))
    assert about["classes"] == ["ash", "elm", "oak"]
    refused = call("adapt", "last.csv", "this.csv", "-o", "other.csv", *files)
    assert refused.returncode == 2
    assert "trees.lpjt" in refused.stderr
    assert not (tmp_path / "other.csv").exists()
