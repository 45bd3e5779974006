"""Every package that the library imports is declared, and an optional one is not imported with the library."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "lpjt"

#: Rooms that are only loaded by those who installed their extra, and the extra.
ROOMS = {
    "commands": "cli",
    "cli.py": "cli",
    "demo.py": "cli",
    "study": "bench",
    "engines/dask": "dask",
    "datasets/download.py": "data",
    "deep": "deep",
}


@cache
def declared():
    """Distributions that [project] asks for, and those of each extra, all in lower case with hyphens."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: set(map(canonical, wanted)) for name, wanted in project["optional-dependencies"].items()}
    nested = {name: re.findall(r"lpjt\[([^]]*)\]", " ".join(w)) for name, w in project["optional-dependencies"].items()}
    for name, lists in nested.items():
        for other in [other for inner in lists for other in inner.split(",")]:
            extras[name] |= extras[other.strip()]
    return set(map(canonical, project["dependencies"])), extras


def canonical(requirement):
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def imports(tree):
    """Top-level names of imported packages, and whether the import runs when the module is loaded."""
    lazy = {
        id(inner)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        or (isinstance(outer, ast.If) and ast.unparse(outer.test).endswith("TYPE_CHECKING"))
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        else:
            continue
        for name in names:
            yield name.partition(".")[0], id(node) not in lazy


def third_party():
    """(file, package, whether it is imported when the file is) of all imports of other packages."""
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        found |= {(name, package, eager) for package, eager in imports(ast.parse(path.read_text()))}
    return sorted(f for f in found if f[1] not in sys.stdlib_module_names and f[1] != "lpjt")


def fault(file, package, eager, distributions):
    """What is wrong with an import, or an empty string."""
    needed, extras = declared()
    if needed & distributions:
        return ""
    offering = {extra for extra, offered in extras.items() if offered & distributions} - {"dev", "test", "lint", "docs"}
    if not offering:
        return f"{file} imports {package}, which pyproject.toml does not declare"
    rooms = [room for room in ROOMS if file == room or file.startswith(f"{room}/")]
    if eager and not any(ROOMS[room] in offering for room in rooms):
        return f"{file} imports {package} of the extra {sorted(offering)} when it is loaded"
    return ""


def test_every_import_is_declared():
    installed = packages_distributions()
    found = [use for use in third_party() if use[1] in installed]
    assert {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl"} <= {package for _, package, _ in found}
    faults = [fault(*use, set(map(canonical, installed[use[1]]))) for use in found]
    assert not list(filter(None, faults))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import pandas as pd", {("pandas", True)}),
        ("from scipy import sparse", {("scipy", True)}),
        ("def read():\n    import h5py.h5", {("h5py", False)}),
        ("if TYPE_CHECKING:\n    from rich.console import Console", {("rich", False)}),
        ("try:\n    import faiss\nexcept ImportError:\n    pass", {("faiss", True)}),
        ("from . import tables", set()),
    ],
)
def test_imports_are_found(source, expected):
    assert set(imports(ast.parse(source))) == expected


@pytest.mark.parametrize(
    ("file", "package", "eager", "message"),
    [
        ("core/blocks.py", "jax", False, "does not declare"),
        ("core/blocks.py", "hypothesis", True, "does not declare"),  # an extra for tests is none for users
        ("core/blocks.py", "faiss-cpu", True, "when it is loaded"),
        ("files/frames.py", "typer", True, "when it is loaded"),
    ],
)
def test_faults_are_seen(file, package, eager, message):
    assert message in fault(file, package, eager, {package})
    assert not fault("commands/adapt.py", "typer", True, {"typer"})
