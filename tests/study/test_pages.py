"""docs/results.md: made of stored rows, in the root of the repository."""

import json
import sys
from pathlib import Path

import pytest

from lpjt.study.pages import results
from lpjt.study.pages.selection import FREE, PUBLISHED, TABLES, jobs_of, page_jobs

pytest.importorskip("pyarrow", reason="stored rows need pyarrow")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A directory with all that the page is written into."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("Before\n{}\nold\n{}\nAfter\n".format(*results.README_MARKERS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(table, accuracies, protocol=FREE):
    """Rows of a table as if run: one accuracy per method, on all its pairs."""
    for job in jobs_of(table, protocol):
        if job.method in accuracies:
            row = job.row_without_result(status="ok", message="", seconds=1.5)
            yield row | {"accuracy": accuracies[job.method], "peak_bytes": 2**20, "checksum": "c0ffee"}


def test_the_page_and_the_readme_have_the_means_of_the_rows(root):
    said = results.write_page(list(rows_of("digits", {"1-NN": 55.25, "JDA": 70.0, "LPJT": 80.5})))
    page, readme = (root / "docs/results.md").read_text(), (root / "README.md").read_text()
    assert said[0] == "Written: docs/results.md, README.md."
    assert "| JDA | 70.0 |" in page
    assert "| LPJT | **80.5** |" in page
    assert "LPJT: 1.5 s per run (median), at most 1 MiB beyond the data." in page
    assert "| 55.2 | 70.0 (JDA) | 68.5 | **80.5** |" in readme
    assert (readme.startswith("Before\n"), readme.endswith("\nAfter\n"), "old" in readme) == (True, True, False)
    assert "pie (label-free)" in said[-1]
    assert "digits (label-free)" not in said[-1]


def test_the_best_of_a_row_of_the_readme_is_bold_whoever_it_is(root):
    results.write_page(list(rows_of("surf", {"1-NN": 30.0, "AGE-CS": 56.31, "LPJT": 54.0, "LPJT (default)": 56.29})))
    assert "| 30.0 | **56.3** (AGE-CS) | not printed | 54.0 | **56.3** |" in (root / "README.md").read_text()


def test_a_deviation_without_a_reason_is_said(root):
    said = results.write_page(list(rows_of("digits", {"TCA": 90.0}, PUBLISHED)))
    assert any(line.startswith("Not explained: digits, TCA (+36.2") for line in said)
    assert "not explained." in (root / "docs/results.md").read_text()


def test_the_authors_program_stands_beside_its_own_run_and_beside_the_paper(root):
    results.write_page(list(rows_of("digits", {"LPJT (code)": 65.2}, PUBLISHED)))
    page = (root / "docs/results.md").read_text()
    assert "| digits | LPJT (code) | 2 | 65.2 | 65.2 | -0.0 |" in page
    assert "| digits | LPJT (code) | 2 | 65.2 | 68.5 | -3.3 | 4.9 | Li et al. 2019 |" in page


def test_lpjt_is_held_against_the_better_of_those_that_do_not_adapt(root):
    results.write_page(list(rows_of("halves-same", {"1-NN": 80.0, "SVM": 90.0, "LPJT": 89.0})))
    words = "LPJT less the better of 1-NN and SVM on each domain: -1.0 on average"
    assert words in (root / "docs/results.md").read_text()


def test_a_method_with_the_same_parameters_under_two_protocols_is_run_once():
    jobs = page_jobs(["digits"])
    runs = [
        (job.pair, job.method, job.seed, json.dumps(job.parameters, sort_keys=True)) for job in jobs if not job.grid
    ]
    assert len(runs) == len(set(runs))
    assert {job.protocol for job in jobs} == set(TABLES["digits"].protocols)


@pytest.mark.parametrize(
    ("arguments", "words"), [(("pies",), "no table pies"), (("--page",), "run this in the root of the repository")]
)
def test_what_cannot_be_done_is_said_before_anything_runs(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["results", *arguments])
    with pytest.raises(SystemExit) as ended:
        results.main()
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_rows_of_methods_that_are_not_installed_stay_on_the_page(monkeypatch):
    monkeypatch.setattr("lpjt.study.runs.methods.Method.is_installed", lambda self: not self.extra)
    job = results.page_jobs(["digits"])[0]
    kept = {"key": job.key, "method": job.method}
    deep, stale = {"key": "other", "method": "DANN"}, {"key": "old", "method": "JDA"}
    assert results.rows_of_page([kept, deep, stale]) == [kept, deep]
