"""``lpjt reproduce``: what it runs, shows, writes and refuses."""

import csv
import hashlib
import os
import shutil
from pathlib import Path

import pytest
from scipy.io import loadmat, savemat

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("pyarrow", reason="stored rows need pyarrow")

from typer.testing import CliRunner

from lpjt import cli
from lpjt.study.runs.plan import expand_tables, plan_jobs
from lpjt.study.store import Store

needs_data = pytest.mark.data


@pytest.fixture
def lpjt(monkeypatch):
    """Run a command; what it prints is as wide as a terminal."""
    monkeypatch.setenv("COLUMNS", "120")
    runner, app = CliRunner(), cli.build_app()
    return lambda *arguments: runner.invoke(app, [str(argument) for argument in arguments])


def stored(path, table, accuracies, monkeypatch):
    """A store with rows of a table, as if run: accuracies by method."""
    monkeypatch.setattr("lpjt.datasets.locate", lambda table, pair: [])
    store = Store(path)
    for job in plan_jobs(expand_tables([table]), methods=list(accuracies)):
        value = accuracies[job.method]
        row = job.row_without_result(
            status="failed" if value is None else "ok", message="no luck" if value is None else ""
        )
        scores = {"accuracy": value, "balanced_accuracy": value, "checksum": "c0ffee"}
        store.append(row | (scores if value is not None else {}))
    return store


def test_stored_rows_are_shown_beside_the_papers_and_written(lpjt, tmp_path, monkeypatch):
    stored(tmp_path / "rows", "digits", {"1-NN": 55.0, "JDA": 70.0}, monkeypatch)
    command = ("reproduce", "digits", "--methods", "1-NN,JDA", "--store", tmp_path / "rows", "--show")
    for suffix in ("md", "csv", "html"):
        result = lpjt(*command, "-o", tmp_path / f"table.{suffix}")
        assert result.exit_code == 0, result.output
        assert (tmp_path / f"table.{suffix}").is_file()
    for words in ("protocol label-free", "70.0 / 67.3", "MNIST to USPS", "4 rows in"):
        assert words in result.stdout
    with (tmp_path / "table.csv").open() as file:
        table = {line["method"]: line for line in csv.DictReader(file)}
    assert float(table["JDA"]["MNIST to USPS"]) == 70.0
    assert float(table["JDA"]["MNIST to USPS published"]) == 67.28


def test_a_failed_run_is_shown_with_its_message(lpjt, tmp_path, monkeypatch):
    stored(tmp_path / "rows", "digits", {"1-NN": 55.0, "JDA": None}, monkeypatch)
    result = lpjt("reproduce", "digits", "--methods", "1-NN,JDA", "--store", tmp_path / "rows", "--show")
    assert "failed" in result.stdout
    assert "no luck" in result.stdout
    assert "2 of them failed; --retry-failed" in " ".join(result.stdout.split())  # lines break where the path is long
    assert result.exit_code == 1


def test_several_tables_as_csv_are_several_files(lpjt, tmp_path, monkeypatch):
    stored(tmp_path / "rows", "digits", {"1-NN": 55.0}, monkeypatch)
    stored(tmp_path / "rows", "coil", {"1-NN": 80.0}, monkeypatch)
    out = tmp_path / "all.csv"
    result = lpjt("reproduce", "digits", "coil", "--methods", "1-NN", "--store", tmp_path / "rows", "--show", "-o", out)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["all-coil.csv", "all-digits.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pies",), "pie"),
        (("fig-embeding",), "fig-embedding"),
        (("digits", "--methods", "JDE"), "nearest: 'JDA'"),
        (("digits", "--pairs", "MNIST to UPS"), "MNIST to USPS"),
        (("digits", "--seeds", "few"), "a count such as 5"),
        (("digits", "--seeds", "0"), "1 or more"),
        (("digits", "--protocol", "free"), "label-free"),
        (("digits", "-o", "table.pdf"), ".html"),
        (("digits", "-o", "nowhere/table.md"), "nowhere does not exist. Create it first"),
        (("digits", "fig-embedding", "-o", "out.md"), "one kind at a time"),
        (("fig-embedding", "--show"), "figures have none"),
        (("fig-embedding", "pei"), "pie"),
    ],
)
def test_what_cannot_be_done_is_one_line(lpjt, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = lpjt("reproduce", *arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert not list(tmp_path.iterdir())


def test_missing_files_are_said_before_anything_runs(lpjt, tmp_path, monkeypatch):
    monkeypatch.setenv("LPJT_DATA", str(tmp_path))
    monkeypatch.setenv("LPJT_CACHE", str(tmp_path / "cache"))
    result = lpjt("reproduce", "surf", "--store", tmp_path / "rows")
    assert result.exit_code == 2
    assert "lpjt data fetch surf" in result.stderr
    assert not (tmp_path / "rows").exists()


def test_stored_rows_are_shown_without_the_data(lpjt, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stored(tmp_path / "rows", "digits", {"1-NN": 55.0}, patch)
    monkeypatch.setenv("LPJT_DATA", str(tmp_path))
    monkeypatch.setenv("LPJT_CACHE", str(tmp_path / "cache"))
    for more in ((), ("--show",)):
        result = lpjt("reproduce", "digits", "--methods", "1-NN", "--store", tmp_path / "rows", *more)
        assert result.exit_code == 0, result.output
        assert "55.0" in result.stdout


def test_rows_of_another_version_are_refused_and_left_alone(lpjt, tmp_path, monkeypatch):
    import pyarrow
    from pyarrow import parquet

    monkeypatch.setattr("lpjt.datasets.locate", lambda table, pair: [])
    table = pyarrow.table({"key": ["x"]}).replace_schema_metadata({"lpjt_results_format": "99"})
    (tmp_path / "rows").mkdir()
    parquet.write_table(table, tmp_path / "rows" / "rows.parquet")
    before = (tmp_path / "rows" / "rows.parquet").read_bytes()
    result = lpjt("reproduce", "digits", "--methods", "1-NN", "--store", tmp_path / "rows", "--show")
    assert result.exit_code == 2
    assert "99" in result.stderr
    assert (tmp_path / "rows" / "rows.parquet").read_bytes() == before


def test_the_list_names_tables_groups_and_figures(lpjt):
    result = lpjt("reproduce", "list")
    for name in ("digits", "surf-efficientnet", "compare", "fig-landmarks"):
        assert name in result.stdout


@needs_data
def test_real_files_are_run_and_a_second_call_runs_nothing(lpjt, tmp_path):
    command = ("reproduce", "digits", "coil", "--methods", "1-NN,PCA", "--store", tmp_path / "rows", "--jobs", 2)
    result = lpjt(*command)
    assert result.exit_code == 0, result.output
    assert "65.9 / 65.9" in result.stdout
    assert "83.6 / 83.6" in result.stdout
    rows = Store(tmp_path / "rows").rows()
    assert len(rows) == 8
    lpjt(*command)
    assert Store(tmp_path / "rows").rows() == rows
    assert lpjt(*command, "--again").exit_code == 0
    again = Store(tmp_path / "rows").rows()
    assert [(row["key"], row["accuracy"]) for row in again] == [(row["key"], row["accuracy"]) for row in rows]
    assert [row["seconds"] for row in again] != [row["seconds"] for row in rows]


@needs_data
def test_a_strange_copy_is_named_with_both_checksums_and_a_broken_one_ends_it(lpjt, tmp_path, monkeypatch):
    shutil.copytree(Path(os.environ["LPJT_DATA"]) / "coil20", tmp_path / "coil20")
    monkeypatch.setenv("LPJT_DATA", str(tmp_path))
    file = tmp_path / "coil20" / "COIL_1.mat"
    command = ("reproduce", "coil", "--methods", "1-NN", "--store", tmp_path / "rows")
    whole = file.read_bytes()
    savemat(file, {key: value for key, value in loadmat(file).items() if not key.startswith("__")})  # packed otherwise
    result = lpjt(*command)
    assert "COIL_1.mat is another copy" in result.stderr
    assert hashlib.sha256(whole).hexdigest() in result.stderr
    file.write_bytes(whole[: len(whole) // 2])
    result = lpjt(*command, "--again")
    assert result.exit_code == 2
    assert "COIL_1.mat" in result.stderr
    assert len(Store(tmp_path / "rows").rows()) == 2
