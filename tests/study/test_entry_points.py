"""Methods and data sets that another package adds by entry points, and what becomes of broken ones."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from lpjt.datasets import SETS, TABLES, DataSet, find_set, find_table, known_tables
from lpjt.registry import Registry
from lpjt.study.runs import METHODS, Method, find_method
from lpjt.study.store import Store
from tables import frame

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("pyarrow", reason="stored rows need pyarrow")

MODULE = '''
import numpy as np
from sklearn.base import BaseEstimator

from lpjt.datasets import DataFile, DataSet, Domain
from lpjt.study.runs import Method


class Majority(BaseEstimator):
    """The most frequent source label for every target row."""

    def __init__(self, scaling="none"):
        self.scaling = scaling

    def fit(self, X, y, X_target, y_target=None):
        labels, counts = np.unique(y, return_counts=True)
        self.transduction_ = np.full(X_target.shape[0], labels[counts.argmax()])
        return self


MAJORITY = Method("Majority", "their_methods:Majority")


def domain(name):
    return Domain(name, name, (DataFile(f"{name}.csv"),), rows=8)


FLOWERS = DataSet(
    "flowers", "Flowers of two gardens", "flowers", {name: domain(name) for name in ("north", "south")}, (2,), 2,
    "original", "nobody", "public domain", "made by the test",
)
'''
ENTRIES = """
[lpjt.methods]
majority = their_methods:MAJORITY

[lpjt.datasets]
flowers = their_methods:FLOWERS
"""
BROKEN = """
[lpjt.methods]
absent = no_such_module:METHOD
wrong = their_methods:Majority
taken = their_methods:JDA
majority = their_methods:MAJORITY

[lpjt.datasets]
lost = their_methods:LOST
flowers = their_methods:FLOWERS
"""


@pytest.fixture
def install(tmp_path):
    """Write a distribution with a module and entry points; the environment in which it is installed."""

    def write(entries, module=MODULE):
        site = tmp_path / "site"
        information = site / "their_methods-1.2.dist-info"
        information.mkdir(parents=True)
        (site / "their_methods.py").write_text(module)
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: their-methods\nVersion: 1.2\n")
        (information / "entry_points.txt").write_text(entries)
        paths = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
        data = tmp_path / "data"
        data.mkdir()
        return {**os.environ, "PYTHONPATH": paths, "LPJT_DATA": str(data), "COLUMNS": "200", "OMP_NUM_THREADS": "1"}

    return write


def lpjt(environment, *arguments):
    command = [sys.executable, "-c", "from lpjt.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, env=environment, text=True, capture_output=True, check=False)


def plant(tmp_path, shares):
    """Files of the set: eight rows per garden, of which some are of class 1."""
    folder = tmp_path / "data" / "flowers"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name, n_ones in shares.items():
        y = np.repeat([0, 1], [8 - n_ones, n_ones])
        frame(rng.normal(y[:, None], 0.1, (8, 2)), label=y).to_csv(folder / f"{name}.csv", index=False)


def test_a_method_and_a_set_of_another_package_are_listed_and_run(install, tmp_path):
    environment = install(ENTRIES)
    plant(tmp_path, {"north": 5, "south": 2})
    listed = lpjt(environment, "data", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    (line,) = [line for line in listed.stdout.splitlines() if "flowers" in line]
    assert "Flowers of two gardens" in line
    assert "yes" in line
    result = lpjt(
        environment, "reproduce", "flowers", "--methods", "majority,1-NN", "--store", tmp_path / "rows", "--jobs", 2
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "Majority" in result.stdout
    found = {(row["pair"], row["method"]): row["accuracy"] for row in Store(tmp_path / "rows").rows()}
    assert found["north to south", "Majority"] == 25.0  # two of the eight are of class 1, north's majority
    assert found["south to north", "Majority"] == 37.5
    assert len(found) == 4


def test_a_set_of_another_package_is_in_the_list_of_what_can_be_reproduced(install):
    result = lpjt(install(ENTRIES), "reproduce", "list")
    (line,) = [line for line in result.stdout.splitlines() if "flowers" in line]
    assert "homogeneous" in line


def test_broken_entry_points_are_named_once_and_nothing_else_breaks(install, tmp_path):
    environment = install(BROKEN, MODULE + '\nJDA = Method("JDA", "their_methods:Majority")\n')
    plant(tmp_path, {"north": 5, "south": 2})
    result = lpjt(environment, "reproduce", "flowers", "--methods", "Majority,JDA", "--store", tmp_path / "rows")
    assert result.returncode == 0, result.stderr
    lines = result.stderr.splitlines()
    assert all(line.startswith("warning: The entry point '") for line in lines)
    assert len(lines) == len(set(lines)) == 4
    faults = {
        "absent = no_such_module:METHOD": "cannot be loaded (ModuleNotFoundError: No module named 'no_such_module')",
        "wrong = their_methods:Majority": "not to an instance of lpjt.study.runs.methods.Method",
        "taken = their_methods:JDA": "has the name 'JDA', which is taken. It is left out. Give it another name.",
        "lost = their_methods:LOST": "cannot be loaded (AttributeError:",
    }
    for entry, fault in faults.items():
        (line,) = [line for line in lines if f"'{entry}' of their-methods 1.2" in line]
        assert fault in line
    rows = Store(tmp_path / "rows").rows()
    assert {row["method"] for row in rows} == {"Majority", "JDA"}
    assert all(row["status"] == "ok" and "entry point" not in row["message"] for row in rows)
    listed = lpjt(environment, "data", "list")
    assert listed.returncode == 0
    assert "flowers" in listed.stdout
    assert listed.stderr.count("warning: ") == listed.stderr.count("\n") == 1


def test_our_own_are_in_the_same_registries_and_cost_no_look_at_entry_points(monkeypatch):
    assert isinstance(METHODS, Registry)
    assert isinstance(SETS, Registry)
    assert (METHODS.group, SETS.group) == ("lpjt.methods", "lpjt.datasets")
    monkeypatch.setattr("lpjt.registry.entry_points", None)
    fresh = Registry("lpjt.methods", Method, [METHODS["JDA"]])
    assert "JDA" in fresh
    assert fresh["JDA"] is METHODS["JDA"] is find_method("JDA")
    with pytest.raises(TypeError):
        "JDE" in fresh  # noqa: B015


def test_a_name_that_nobody_has_is_refused_with_the_nearest():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="'flowrs' is not a table"):
            find_table("flowrs")
        with pytest.raises(ValueError, match="nearest: 'digits'"):
            find_set("digts")
    assert set(known_tables()) == set(TABLES)
    assert all(isinstance(data, DataSet) for data in SETS.values())
