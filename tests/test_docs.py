"""The examples of the documentation, run as they stand."""

import doctest
import importlib
import importlib.util
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import lpjt
from problems import shifted_pair

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = Path(lpjt.__file__).parent
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = [
    path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    if "```python" in path.read_text("utf-8")
]
EXAMPLES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text("utf-8")]

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not beside the tests")


def domains():
    """What a reader is taken to have: rows of two domains, labels, and a second source."""
    X, y, X_target, y_hidden = shifted_pair()
    y_target = np.where(np.arange(len(y_hidden)) < 9, y_hidden, -1)
    names = {"X_source": X, "y_source": y, "X_target": X_target, "y_target": y_target, "X_new": X_target[:7]}
    return names | {"X1": X, "y1": y, "X2": X[::2, :5], "y2": y[::2], "model": lpjt.LPJT()}


def blocks_of_rows(monkeypatch):
    """Rows of a cluster, without the cluster: the page's addresses and files are the reader's."""
    dask_array, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    X, y, X_target, _ = shifted_pair(n_source=800, n_target=600)
    rows = {"source.zarr": X, "target.zarr": X_target}
    monkeypatch.setattr(distributed, "Client", lambda address: address)
    monkeypatch.setattr(dask_array, "from_zarr", lambda name: dask_array.from_array(rows[name]))
    monkeypatch.setattr(dask_array.Array, "to_zarr", lambda self, name: self.compute())
    return {"y": y, "more_rows": X_target[:7]}


def given_names(page, monkeypatch):
    if page.stem == "scaling":
        return blocks_of_rows(monkeypatch)
    return {} if page.stem in ("index", "guide") else domains()


def run_python(text, page, line, names):
    if ">>> " not in text:
        exec(compile("\n" * line + text, str(page), "exec"), names)  # a traceback then shows the page's line
        return
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
    lines = []
    failed, _ = doctest.DocTestRunner(verbose=False).run(test, out=lines.append, clear_globs=False)
    names.update(test.globs)  # get_doctest copied them
    assert not failed, "".join(lines)


def run_commands(text):
    from typer.testing import CliRunner

    from lpjt.cli import build_app

    for command in re.findall(r"^\$ lpjt (.*)$", text, re.MULTILINE):
        files = [Path(word) for word in shlex.split(command, comments=True) if word.endswith(".csv")]
        if files and files[0].exists():  # elsewhere the command is shown with files of the reader
            result = CliRunner().invoke(build_app(), shlex.split(command, comments=True))
            assert result.exit_code == 0, result.output


def with_marks(page):
    """The page of the data sets reads them."""
    return pytest.param(page, id=page.stem, marks=[pytest.mark.data] if page.stem == "data" else [])


@pytest.mark.parametrize("page", [with_marks(page) for page in PAGES])
def test_examples_run_as_they_stand(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas", reason="the guide shows frames")
    pytest.importorskip("typer", reason="the guide shows the command line")
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    names = given_names(page, monkeypatch)
    without_skada = importlib.util.find_spec("skada") is None  # which the oldest supported packages are too old for
    for block in BLOCK.finditer(text):
        if "from skada" in block[2] and without_skada:
            continue
        if block[1] == "python":
            run_python(block[2], page, text[: block.start()].count("\n") + 1, names)
        else:
            run_commands(block[2])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_of_docstrings_run(path):
    if path.parent.name == "deep":
        pytest.importorskip("torch", reason="the deep methods need it")
    name = ".".join(("lpjt", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed


def test_notation_names_what_is_there():
    """Every `module.function` of the core that the table names exists."""
    text = (DOCS / "notation.md").read_text(encoding="utf-8")
    stages = "alternation|coordinates|directions|graphs|landmarks|moments|projection|propagation|scaling|shape_guess"
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
