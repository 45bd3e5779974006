"""Counts of an attack, and the page that is written from them."""

import json

import pytest

from attack import page
from attack.__main__ import main
from attack.part import Outcome, Part
from attack.parts import MODULES
from attack.store import Store
from attack.summary import SUMMARY, write_summary

PAGE = f"# Title\n\n{page.BEGIN}\nold\n{page.END}\nAfter.\n"


def load_toy(name):
    return Part(
        name,
        "Toy",
        cases=1000,
        slice=1,
        run=lambda n: Outcome("fine"),
        measures=lambda group, all: {"size": f"{len(all)}"},
    )


@pytest.fixture
def files(tmp_path):
    store = Store(tmp_path / "attack")
    outcomes = [Outcome("fine", group="a"), Outcome("refused", group="a"), Outcome("failed", "lost", group="b")]
    for number, outcome in enumerate(outcomes):
        store.append("numbers", number, outcome)
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path


def write(files, names=("numbers",)):
    return write_summary(Store(files / "attack"), list(names), load_toy, files / "summary.json")


def make_page(files):
    code = page.main(["--summary", str(files / "summary.json"), "--page", str(files / "page.md")])
    return code, (files / "page.md").read_text()


def test_the_page_counts_what_is_stored(files):
    assert write(files) == ["numbers"]
    code, text = make_page(files)
    assert code == 1  # a case has failed
    assert "| Toy | 3 | 1 | 1 | 1 | `make attack ARGS=numbers` |" in text
    assert "| a | 1 | 1 | 0 | 2 |" in text
    assert "| b | 0 | 0 | 1 | 1 |" in text
    assert "3 of the 1,000 cases of the long run, on 2" in text
    assert "old" not in text
    assert text.startswith("# Title\n")
    assert text.endswith("\nAfter.\n")
    assert make_page(files) == (1, text)


def test_parts_that_are_not_stored_here_keep_their_counts(files):
    write(files)
    before = json.loads((files / "summary.json").read_text())
    Store(files / "attack").forget("numbers")
    Store(files / "attack").append("distributed", 0, Outcome("fine"))
    assert write(files, ["numbers", "distributed"]) == ["distributed"]
    after = json.loads((files / "summary.json").read_text())
    assert after["numbers"] == before["numbers"]
    assert set(after) == {"numbers", "distributed"}


def test_what_is_missing_is_said(files):
    with pytest.raises(SystemExit, match="make attack"):
        make_page(files)
    write(files)
    (files / "page.md").write_text("# Title\n")
    with pytest.raises(SystemExit, match="has no lines"):
        make_page(files)


def test_a_summary_without_a_store_says_so(tmp_path, capsys):
    assert main(["--summary", "--store", str(tmp_path), "numbers"]) == 0
    assert "nothing is stored" in capsys.readouterr().out


def test_the_page_is_that_of_the_committed_counts_and_none_has_failed():
    summary = json.loads(SUMMARY.read_text(encoding="utf-8"))
    assert page.render(summary) in page.PAGE.read_text(encoding="utf-8")
    assert set(summary) <= set(MODULES)
    assert not sum(row["failed"] for part in summary.values() for row in part["groups"])
