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
import mutants_trees
from mutations import Defaults, find_mutants

MODULE = '''"""Halves."""

def half(x, *, least=1):
    """Half of x, at least `least`."""
    if x < 0:
        raise ValueError(f"{x + 1} is negative")
    return max(x // 2, least)
'''
WEAK = """from toy.core.MODULE import half

def test_it_runs():
    assert half(10) is not None
"""
STRONG = """import pytest
from toy.core.MODULE import half

def test_values():
    assert [half(x) for x in (0, 1, 2, 3, 4, 9)] == [1, 1, 1, 1, 2, 4]

def test_negative():
    with pytest.raises(ValueError):
        half(-1)
"""


def project(root, *, weak=True, strong=False):
    """A package of one function, well tested in one module and hardly in the other."""
    files = {"pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['slow', 'data']\n", "src/toy/__init__.py": ""}
    for name, test, wanted in (("weak", WEAK, weak), ("strong", STRONG, strong)):
        if wanted:
            files |= {f"src/toy/core/{name}.py": MODULE, f"tests/core/test_{name}.py": test.replace("MODULE", name)}
    for name, text in files.items():
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


def start(root, store, *options):
    """The script in a process of its own, because it forks; plugins of pytest that it does not need are left out."""
    command = [sys.executable, mutants.__file__, "src/toy/core", "--root", str(root), "--store", str(store), *options]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TMPDIR": str(root.parent)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(root, store, *options):
    process = start(root, store, *options)
    output, _ = process.communicate()
    return process.returncode, output


def faults_in(store):
    return json.loads(store.read_text())["mutants"]


def test_a_weak_test_lets_faults_live_and_a_strong_one_does_not(tmp_path):
    root, store = project(tmp_path / "toy", strong=True), tmp_path / "store.json"
    before = contents(root)
    code, printed = run(root, store, "--at-least", "99")
    assert code == 1, printed
    assert contents(root) == before  # the tree itself is never changed
    outcomes = {"weak": {}, "strong": {}}
    for fault in faults_in(store).values():
        outcomes[Path(fault["path"]).stem][tuple(fault["diff"])] = fault["outcome"]
    weak, strong = outcomes.values()
    assert weak.keys() == strong.keys()
    assert set(strong.values()) == {"killed"}
    assert weak["-    return max(x // 2, least)", "+    return min(x // 2, least)"] == "survived"
    assert weak["-    return max(x // 2, least)", "+    return None"] == "killed"
    assert "src/toy/core/weak.py:7 in half\n    -    return max(x // 2, least)\n" in printed
    assert "src/toy/core/weak.py:6 in half, a line no test runs" in printed


def test_a_fault_that_hangs_is_noticed(tmp_path):
    tree = mutants_trees.Tree(project(tmp_path / "toy"), tmp_path / "tree")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutants_trees, "_run_pytest", lambda *_: time.sleep(60))
        tree.start(["tests/core"], {}, 0.2)
    ended, limit = None, time.monotonic() + 30
    while ended is None and time.monotonic() < limit:
        ended = tree.poll()
    assert ended == mutants_trees.HUNG
    tree.output.write_text("")
    assert mutants_trees.verdict(ended, tree)["outcome"] == "time-out"


def test_resuming_judges_only_what_is_missing(tmp_path):
    root, store = project(tmp_path / "toy"), tmp_path / "store.json"
    assert run(root, store, "--count", "3")[0] == 0
    first = faults_in(store)
    assert len(first) == 3
    for fault in first.values():
        fault["seconds"] = 1234.5
    store.write_text(json.dumps({"mutants": first}))
    code, printed = run(root, store, "--count", "4", "--resume")
    assert code == 0
    assert printed.count("1234.5 s") == 3
    second = faults_in(store)
    assert len(second) == 4
    assert all(second[key] == fault for key, fault in first.items())
    _, printed = run(root, store, "--count", "4", "--again")
    assert printed.count("1234.5 s") == sum(fault["outcome"] != "survived" for fault in first.values())


def test_the_draw_depends_on_the_seed_alone(tmp_path):
    root = project(tmp_path)
    (one, n_all), (same, _), (other, _) = (mutants.draw(root, ["src/toy/core"], 5, seed) for seed in (0, 0, 1))
    assert one == same != other
    assert len(one) == 5 < n_all


def test_tests_that_fail_without_a_fault_are_an_error(tmp_path):
    root = project(tmp_path / "toy")
    (root / "tests/core/test_weak.py").write_text("def test_it():\n    assert False\n")
    code, printed = run(root, tmp_path / "store.json")
    assert code == 1
    assert "The tests of tests/core fail without any fault" in printed


def test_an_interrupt_leaves_a_store_to_resume_from_and_nothing_else(tmp_path):
    root, store = project(tmp_path / "toy"), tmp_path / "store.json"
    process = start(root, store)
    limit = time.monotonic() + 60
    while not store.exists() and time.monotonic() < limit:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "--resume goes on from here" in output
    assert faults_in(store)
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
