"""Mutation testing tested on a toy project: a weak test lets faults live, a strong one does not."""

import ast
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mutants
from mutations import Defaults, find_mutants

MODULE = '''"""Halves."""

def half(x, *, least=1):
    """Half of x, at least `least`."""
    if x < 0:
        raise ValueError(f"{x + 1} is negative")
    return max(x // 2, least)
'''
WEAK = """from toy.core.halves import half

def test_it_runs():
    assert half(10) is not None
"""
STRONG = """import pytest
from toy.core.halves import half

def test_values():
    assert [half(x) for x in (0, 1, 2, 3, 4, 9)] == [1, 1, 1, 1, 2, 4]

def test_negative():
    with pytest.raises(ValueError):
        half(-1)
"""


def project(root, test, module=MODULE):
    for name, text in {
        "src/toy/__init__.py": "",
        "src/toy/core/__init__.py": "",
        "src/toy/core/halves.py": module,
        "tests/core/test_halves.py": test,
        "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['slow', 'data']\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def contents(root):
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def changes_in(source):
    """Each fault as (kind, text before, text after)."""
    text = source.encode()
    found = find_mutants("toy.py", text, Defaults.of([text]))
    return {(one.kind, text[one.start : one.end].decode(), one.after) for one in found if one.changes_the_program(text)}


def run(root, store, *options):
    return mutants.main(["src/toy/core", "--root", str(root), "--store", str(store), *options])


def test_a_weak_test_lets_faults_live_and_a_strong_one_does_not(tmp_path, capsys):
    stores = {}
    for name, test in {"weak": WEAK, "strong": STRONG}.items():
        root, stores[name] = project(tmp_path / name, test), tmp_path / f"{name}.json"
        before = contents(root)
        assert run(root, stores[name], "--at-least", "99") == (1 if name == "weak" else 0)
        assert contents(root) == before  # the tree itself is never changed
    weak, strong = (json.loads(store.read_text())["mutants"] for store in stores.values())
    assert weak.keys() == strong.keys()
    assert {fault["outcome"] for fault in strong.values()} == {"killed"}
    outcomes = {tuple(fault["diff"]): fault["outcome"] for fault in weak.values()}
    assert outcomes["-    return max(x // 2, least)", "+    return min(x // 2, least)"] == "survived"
    assert outcomes["-    return max(x // 2, least)", "+    return None"] == "killed"
    printed = capsys.readouterr().out
    assert "src/toy/core/halves.py:7 in half\n    -    return max(x // 2, least)\n" in printed
    assert "src/toy/core/halves.py:6 in half, a line no test runs" in printed


def test_a_fault_that_hangs_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "SECONDS_TO_START", 8)
    module = "def count(n):\n    i = 0\n    while i < n:\n        i += 1\n    return i\n"
    test = "from toy.core.halves import count\n\ndef test_count():\n    assert count(3) == 3\n"
    root, store = project(tmp_path / "toy", test, module), tmp_path / "store.json"
    assert run(root, store) == 0
    faults = json.loads(store.read_text())["mutants"].values()
    (hung,) = [fault for fault in faults if fault["diff"][1] == "+        pass"]
    assert hung["outcome"] == "time-out"


def test_resuming_judges_only_what_is_missing(tmp_path, capsys):
    root, store = project(tmp_path / "toy", WEAK), tmp_path / "store.json"
    assert run(root, store, "--count", "3") == 0
    first = json.loads(store.read_text())["mutants"]
    assert len(first) == 3
    for fault in first.values():
        fault["seconds"] = 1234.5
    store.write_text(json.dumps({"mutants": first}))
    assert run(root, store, "--count", "4", "--resume") == 0
    assert list(json.loads(store.read_text())["mutants"].values())[:3] == list(first.values())
    assert capsys.readouterr().out.count("1234.5 s") == 3


def test_the_draw_depends_on_the_seed_alone(tmp_path):
    root = project(tmp_path, WEAK)
    (one, n_all), (same, _), (other, _) = (mutants.draw(root, ["src/toy/core"], 5, seed) for seed in (0, 0, 1))
    assert one == same != other
    assert len(one) == 5 < n_all


def test_tests_that_fail_without_a_fault_are_an_error(tmp_path):
    root = project(tmp_path / "toy", WEAK.replace("is not None", "is None"))
    with pytest.raises(SystemExit, match="tests/core fail without any fault"):
        run(root, tmp_path / "store.json")


def test_an_interrupt_leaves_a_store_to_resume_from_and_no_process(tmp_path):
    root, store = project(tmp_path / "toy", WEAK), tmp_path / "store.json"
    script = Path(mutants.__file__)
    command = [sys.executable, str(script), "src/toy/core", "--root", str(root), "--store", str(store)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while not store.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "--resume goes on from here" in output
    assert json.loads(store.read_text())["mutants"]
    assert not list(tmp_path.glob("mutants-*"))


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("a = b < c", ("comparison", "<", "<=")),
        ("a = b == 'x'", ("comparison", "==", "!=")),
        ("a = (b) * (c)", ("arithmetic", "*", "/")),
        ("a = b and c", ("boolean", "and", "or")),
        ("a = not b", ("unary", "not", "")),
        ("a = ~b", ("unary", "~", "")),
        ("a = 3", ("constant", "3", "4")),
        ("a = 0.5", ("constant", "0.5", "1.0")),
        ("a = True", ("constant", "True", "False")),
        ("a = é + 3", ("constant", "3", "4")),  # columns are counted in bytes
        ("def f():\n    return g", ("return", "g", "None")),
        ("a += b", ("statement", "a += b", "pass")),
        ("a *= b", ("arithmetic", "*", "/")),
        ("a = np.argmin(b)", ("swap", "argmin", "argmax")),
        ("a = b[:k]", ("slice", "k", "(k) - 1")),
        ("a = b[k:]", ("slice", "k", "(k) + 1")),
        ("a = 1 if b else c", ("condition", "b", "not b")),
        ("def f(a='heat'):\n    return a", ("default", "'heat'", "None")),
        ("def f(k=5):\n    return k\ndef g(n):\n    return f(k=n)", ("keyword", "n", "5")),
        ("def f(k=5):\n    return k\ndef h(*, k):\n    return k\ndef g(n):\n    return h(k=n)", ("keyword", "n", "5")),
        ("a = np.sum(b, axis=c)", ("keyword", "axis=c", "**{}")),
    ],
)
def test_faults_that_are_planted(source, change):
    ast.parse(source)
    assert change in changes_in(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring of 3 lines."""',
        "__all__ = ['a', 1 + 2]",
        "a: Annotated[int, 3]",
        "def f(a: Literal[3]) -> Literal[4]: ...",
        "if TYPE_CHECKING:\n    import a\n    b = 3",
        "a = f'{b + 3} rows'",
        "@cache(3)\ndef f():\n    '''Docstring.'''",
        "a = zip(b, c, strict=True)",
    ],
)
def test_what_no_test_should_notice_is_left_alone(source):
    assert changes_in(source) == set()
