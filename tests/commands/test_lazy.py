"""What the command line loads: names and help lines at once, everything else with the command that needs it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tables import frame

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("rich", reason="the command line needs rich")

from lpjt.commands.lazy import COMMANDS, load_command

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow")


def loaded_by(code, *arguments):
    """Names of the modules that a fresh interpreter has after some code."""
    tail = "\nimport sys; print('\\nloaded', *sys.modules)"
    command = [sys.executable, "-c", code + tail, *map(str, arguments)]
    output = subprocess.run(command, text=True, capture_output=True, check=True).stdout
    return output.rpartition("loaded ")[2].split()


def loaded_by_command(*arguments):
    code = "from lpjt.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code"
    return loaded_by(code, *arguments)


@pytest.mark.parametrize("option", ["--version", "--help", "-h"])
def test_version_and_help_load_no_library_of_numbers(option):
    found = loaded_by_command(option)
    assert "lpjt.cli" in found
    assert not [name for name in found if name.split(".")[0] in HEAVY]
    assert not [name for name in found if name.startswith(("lpjt.study", "lpjt.estimator", "lpjt.demo"))]


def test_the_version_alone_does_not_wait_for_the_parser_of_commands():
    assert "typer" not in loaded_by_command("--version")
    assert "typer" in loaded_by_command("--help")


def test_the_package_loads_its_estimator_with_the_first_use():
    assert "numpy" not in loaded_by("import lpjt; lpjt.__version__; dir(lpjt)")
    found = loaded_by("from lpjt import LPJT; LPJT()")
    assert "lpjt.estimator" in found
    assert not [name for name in found if name.startswith("lpjt.study")]


def test_adapt_does_not_load_the_study(tmp_path):
    rows = np.array([[number, number % 2] for number in range(12)], dtype=float)
    frame(rows, label=["odd" if number % 2 else "even" for number in range(12)]).to_csv(tmp_path / "source.csv")
    frame(rows).to_csv(tmp_path / "target.csv")
    files = tmp_path / "source.csv", tmp_path / "target.csv", "-o", tmp_path / "labels.csv"
    found = loaded_by_command("adapt", *files)
    assert (tmp_path / "labels.csv").is_file()
    assert "sklearn" in found
    assert not [name for name in found if name.startswith("lpjt.study")]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_of_commands_is_the_first_of_the_commands_own_help(name):
    assert load_command(name).help.splitlines()[0] == COMMANDS[name].line


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    import lpjt

    with pytest.raises(AttributeError, match="module 'lpjt' has no attribute 'LPTJ'"):
        lpjt.LPTJ  # noqa: B018
    assert {"LPJT", "__version__"} <= set(dir(lpjt))


def test_the_version_has_one_source():
    import lpjt

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert lpjt.__version__ == project["version"]
    assert f"\nversion: {project['version']}\n" in (ROOT / "CITATION.cff").read_text()
    hits = [path for path in (ROOT / "src").rglob("*.py") if f'"{project["version"]}"' in path.read_text()]
    assert hits == []
