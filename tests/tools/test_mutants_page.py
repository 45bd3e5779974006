"""The page about planted faults: the score by module, and every survivor with its reason or as open."""

import json

import pytest

import mutants_page

PAGE = f"# Title\n\n{mutants_page.BEGIN}\nold\n{mutants_page.END}\nAfter.\n"


def fault(outcome, after, line=3):
    about = {"path": "src/toy/core/halves.py", "line": line, "function": "half", "kind": "constant"}
    return about | {"diff": ["-    x = 1", f"+    {after}"], "outcome": outcome}


@pytest.fixture
def files(tmp_path):
    faults = [
        fault("killed", "x = 0"),
        fault("time-out", "x = 5"),
        fault("survived", "x = 2"),
        fault("survived", "x = 3"),
    ]
    store = {"seed": 7, "n_all": 99, "mutants": dict(enumerate(faults))}
    (tmp_path / "store.json").write_text(json.dumps(store))
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path


def write_page(files, reasons):
    place = 'path = "src/toy/core/halves.py"\nfunction = "half"'
    tables = [f'[[survivor]]\n{place}\nchange = "{line}"\nreason = "{reason}"\n' for line, reason in reasons.items()]
    (files / "reasons.toml").write_text("".join(tables))
    options = {"--store": "store.json", "--reasons": "reasons.toml", "--page": "page.md"}
    code = mutants_page.main([word for name, file in options.items() for word in (name, str(files / file))])
    return code, (files / "page.md").read_text()


def test_every_survivor_has_its_reason_or_is_open(files):
    code, page = write_page(files, {"x = 2": "Two is as good."})
    assert code == 1
    assert "A draw of 4 out of 99 possible faults, seed 7." in page
    assert "| toy/core/halves.py | 1 | 1 | 2 | 50 % |" in page
    assert "| **all** | 1 | 1 | 2 | 50 % |" in page
    assert "- `toy/core/halves.py`, `half`: `` x = 2 `` (constant). Two is as good.\n" in page
    assert f"`` x = 3 `` (constant). {mutants_page.OPEN}\n" in page
    assert "x = 0" not in page
    assert "old" not in page
    assert page.startswith("# Title\n")
    assert page.endswith("\nAfter.\n")


def test_a_page_without_open_survivors_is_accepted_and_stays_as_it_is(files):
    reasons = {"x = 2": "Two is as good.", "x   =  3": "So is three."}  # spaces do not matter
    code, page = write_page(files, reasons)
    assert code == 0
    assert mutants_page.OPEN not in page
    assert write_page(files, reasons) == (0, page)


def test_what_is_missing_is_said(files):
    (files / "page.md").write_text("# Title\n")
    with pytest.raises(SystemExit, match="has no lines"):
        write_page(files, {})
    (files / "store.json").unlink()
    with pytest.raises(SystemExit, match="make mutants"):
        write_page(files, {})
