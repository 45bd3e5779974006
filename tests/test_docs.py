"""The examples of the documentation, run as they stand."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

import lpjt.estimator

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / "index.md", DOCS / "guide.md"]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not beside the tests")


def run_python(text, page, line, names):
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
    lines = []
    failed, _ = doctest.DocTestRunner(verbose=False).run(test, out=lines.append, clear_globs=False)
    names.update(test.globs)  # get_doctest copied them
    assert not failed, "".join(lines)


def run_commands(text):
    from typer.testing import CliRunner

    from lpjt.cli import build_app

    for command in re.findall(r"^\$ lpjt (.*)$", text, re.MULTILINE):
        files = [Path(word) for word in shlex.split(command) if word.endswith(".csv")]
        if files[0].exists():  # the first page shows the command with files of the reader
            result = CliRunner().invoke(build_app(), shlex.split(command))
            assert result.exit_code == 0, result.output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run_as_they_stand(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas", reason="the guide shows frames")
    pytest.importorskip("typer", reason="the guide shows the command line")
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    names: dict = {}
    for block in BLOCK.finditer(text):
        if block[1] == "python":
            run_python(block[2], page, text[: block.start()].count("\n") + 1, names)
        else:
            run_commands(block[2])


def test_docstring_of_the_estimator_runs():
    assert doctest.testmod(lpjt.estimator).failed == 0


def test_notation_names_what_is_there():
    """Every `module.function` of the core that the table names exists."""
    import importlib

    text = (DOCS / "notation.md").read_text(encoding="utf-8")
    stages = "alternation|coordinates|graphs|landmarks|moments|projection|propagation|shape_guess"
    named = re.findall(rf"`({stages})\.([A-Za-z_]+)", text)
    assert len(named) > 20
    for stage, name in named:
        assert hasattr(importlib.import_module(f"lpjt.core.{stage}"), name), f"{stage}.{name}"
    for name in re.findall(r"`(lpjt(?:\.[a-z_]+)+)`", text):
        module, _, last = name.rpartition(".")
        try:
            importlib.import_module(name)
        except ImportError:
            assert hasattr(importlib.import_module(module), last), name
