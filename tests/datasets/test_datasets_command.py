"""The commands ``lpjt data list | fetch | check | path``."""

import hashlib
from pathlib import Path

import pytest

import web
from datasets_small import empty_directories, with_file
from lpjt.datasets import SETS

pytest.importorskip("typer")
pytest.importorskip("pooch")

CONTENT = b"0123456789" * 5000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NAME = "amazon_SURF_L10.mat"


@pytest.fixture
def root(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    return empty_directories(monkeypatch, tmp_path)


def run(*arguments, code=0):
    from typer.testing import CliRunner

    from lpjt.commands.data import data_app

    result = CliRunner().invoke(data_app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_list_names_every_set_and_how_much_is_here(root, monkeypatch):
    with_file(monkeypatch, "surf", "A")
    (root / NAME).write_bytes(CONTENT)
    (root / "PIE05.mat").write_bytes(CONTENT)
    lines = {line.split("│")[1].strip(): line for line in run("list").splitlines() if line.startswith("│")}
    assert list(lines) == list(SETS)
    here = {name: line.split("│")[-2].strip() for name, line in lines.items()}
    assert here.pop("surf") == "yes"
    assert here.pop("pie") == "some"
    assert set(here.values()) == {"no"}


def test_fetch_downloads_then_finds(root, monkeypatch, tmp_path):
    with web.serve() as site:
        with_file(monkeypatch, "surf", "A", mirrors=(site.at("/good", web.well(CONTENT)),), sha256=SHA256)
        assert f"Fetched: {tmp_path / 'cache'}" in run("fetch", "surf")
        assert f"Already there: {tmp_path / 'cache'}" in run("fetch", "surf")
        assert run("fetch", "surf", "--quiet") == ""


def test_an_unknown_name_stops_before_the_first_download(root, monkeypatch):
    with web.serve() as site:
        with_file(monkeypatch, "surf", "A", mirrors=(site.at("/good", web.well(CONTENT)),), sha256=SHA256)
        output = run("fetch", "surf", "office-hom", code=2)
        assert output == "lpjt: 'office-hom' is not a data set (nearest: 'office-home').\n"
        assert site.requests == []


def test_check_exits_with_1_where_a_checksum_differs(root, monkeypatch):
    with_file(monkeypatch, "surf", "A", sha256=SHA256)
    (root / NAME).write_bytes(CONTENT)
    assert "ok" in run("check", "surf")
    (root / NAME).write_bytes(CONTENT[:-1])
    found = hashlib.sha256(CONTENT[:-1]).hexdigest()
    for output in (run("check", "surf", code=1), run("check", code=1)):
        assert f"{root / NAME}: found {found}, expected {SHA256}." in output


def test_check_of_a_named_set_wants_all_its_files(root):
    output = run("check", "vgg", code=1)
    assert output.count("missing") == 4
    assert "missing" not in run("check")  # of all sets, those that are not here are left out


def test_path_says_where_files_are_and_where_they_go(root, monkeypatch, tmp_path):
    assert run("path") == f"LPJT_DATA: {root}\ncache: {tmp_path / 'cache'}\n"
    folder = root / "office_caltech10_surf"
    folder.mkdir()
    (folder / "caltech_SURF_L10.mat").write_bytes(CONTENT)
    lines = run("path", "surf").splitlines()
    assert lines[0] == str(folder / "caltech_SURF_L10.mat")
    assert lines[1] == f"{folder / NAME} (missing)"
    assert run("path", "office-images").splitlines()[0] == str(root / "office_caltech10_images" / "amazon")
    monkeypatch.delenv("LPJT_DATA")
    assert run("path").splitlines()[0] == "LPJT_DATA: not set"


def test_a_data_directory_that_is_not_there_is_one_line(root, monkeypatch):
    monkeypatch.setenv("LPJT_DATA", str(root / "nowhere"))
    for command in ("list", "check", "path"):
        output = run(command, code=2)
        assert (
            output
            == f"lpjt: LPJT_DATA names {root / 'nowhere'}, which is not a directory. Create it, or unset LPJT_DATA.\n"
        )


def test_the_page_of_the_documentation_names_every_set_and_folder():
    page = Path(__file__).parents[2] / "docs" / "data.md"
    if not page.is_file():
        pytest.skip("the documentation is not beside the tests")
    text = page.read_text(encoding="utf-8")
    for data in SETS.values():
        (line,) = [line for line in text.splitlines() if line.startswith(f"| `{data.name}` | `{data.folder}` |")]
        assert f"| {data.n_classes} |" in line
        assert ("fetch" in line) == any(file.mirrors for file in data.files)
