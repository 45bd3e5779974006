"""Ctrl-C, a lack of memory and a full disk end the command line with one line, whatever it is doing."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("rich", reason="the command line needs rich")

from typer.testing import CliRunner

from lpjt._interrupts import ctrl_c_kept, stop_at_once
from lpjt.cli import build_app
from lpjt.commands.output import one_line_errors
from lpjt.files import read_domain

pytestmark = [
    pytest.mark.isolated,
    pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX"),
]

#: A module on the path that is imported instead of the real one, and presses Ctrl-C.
PRESS = "import os, signal; os.kill(os.getpid(), signal.SIGINT)\n"


def run(*arguments, folder, before="", **options):
    """The command line in a process of its own, with `before` run in front of it."""
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n{before}\nfrom lpjt.cli import main\nmain()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], text=True, env=environment, capture_output=True, **options
    )


@pytest.mark.parametrize("module", ["numpy", "typer", "rich", "scipy", "sklearn", "pandas"])
def test_ctrl_c_while_importing_is_one_line(tmp_path, module):
    (tmp_path / f"{module}.py").write_text(PRESS + "raise ImportError('made up')\n")  # as a library would put it
    (tmp_path / "a.csv").write_text("x,label\n1,a\n2,b\n")
    result = run("adapt", tmp_path / "a.csv", tmp_path / "a.csv", "-o", tmp_path / "o.csv", folder=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "lpjt: stopped.\n")


def test_ctrl_c_stays_ignored_where_it_is(tmp_path):
    (tmp_path / "rich.py").write_text(PRESS + "raise ImportError('made up', name='rich')\n")
    ignore = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    result = run("--help", folder=tmp_path, before=ignore)
    assert (result.returncode, "`rich` is needed here" in result.stderr) == (1, True)


def press(*_, **__):
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,label\n1,a\n2,b\n")
    return path


class Interrupted:
    """A file in which Ctrl-C is pressed while pandas' parser, which is C, reads it."""

    def __init__(self, file):
        self.file = file

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __iter__(self):
        return self

    def read(self, *_):
        press()


def test_ctrl_c_during_a_csv_read_is_no_truncated_file(csv, monkeypatch):
    pandas = pytest.importorskip("pandas")
    read_csv = pandas.read_csv
    with open(csv, encoding="utf-8-sig") as file:
        monkeypatch.setattr(pandas, "read_csv", lambda path, **given: read_csv(Interrupted(file), **given))
        # What is made of it: a broken file with Python 3.11, while 3.13 passes the interrupt on.
        with pytest.raises((pandas.errors.ParserError, KeyboardInterrupt)):
            pandas.read_csv(csv)
        with pytest.raises(KeyboardInterrupt):
            read_domain(csv)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def become_another_error():
    try:
        press()
    except KeyboardInterrupt:
        raise ValueError("a library's words") from None


def be_swallowed():
    with suppress(BaseException):
        press()


class Deaf:
    """Python prints what a destructor raises, and goes on."""

    def __del__(self):
        press()


def be_lost():
    Deaf()
    time.sleep(30)


@pytest.mark.parametrize("what", [become_another_error, be_swallowed, be_lost])
def test_an_interrupt_is_raised_whatever_became_of_it(what, capfd):
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ctrl_c_kept():
        what()
    assert time.monotonic() - begin < 20
    assert capfd.readouterr().err == ""


def test_other_threads_are_left_alone():
    before, seen = signal.getsignal(signal.SIGINT), []

    def look():
        with ctrl_c_kept():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_command_stops_with_what_it_has_to_say(capsys):
    import typer

    with pytest.raises(typer.Exit) as ended, one_line_errors():
        raise KeyboardInterrupt("The rows so far are kept.")
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == "lpjt: stopped. The rows so far are kept.\n"


def test_inside_a_command_ctrl_c_is_raised_and_not_the_end(capsys, monkeypatch):
    import typer

    monkeypatch.setattr(os, "_exit", lambda code: pytest.fail("the process would be gone, and nothing tidied up"))
    before = signal.signal(signal.SIGINT, stop_at_once)
    try:
        with pytest.raises(typer.Exit) as ended, one_line_errors():
            press()
        assert signal.getsignal(signal.SIGINT) is stop_at_once
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == "lpjt: stopped.\n"


def test_a_lack_of_memory_is_one_line(csv, tmp_path, monkeypatch):
    import numpy as np

    def fail(*_, **__):
        np.empty(1 << 60, dtype=np.uint8)

    monkeypatch.setattr("lpjt.commands.adapt.fit", fail)
    result = CliRunner().invoke(build_app(), ["adapt", str(csv), str(csv), "-o", str(tmp_path / "o.csv"), "-q"])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "lpjt: not enough memory (Unable to allocate" in result.stderr
    assert "Give fewer rows or columns, or use a machine with more memory." in result.stderr


def test_a_lack_of_memory_after_the_work_is_one_line(tmp_path):
    before = "import lpjt.cli; lpjt.cli.build_app = lambda: lambda: [0] * (1 << 60)"
    result = run(folder=tmp_path, before=before)
    assert (result.returncode, result.stderr.startswith("lpjt: not enough memory"), result.stderr.count("\n")) == (
        2, True, 1,
    )  # fmt: skip


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is Linux's")
def test_standard_output_on_a_full_disk_is_one_line(tmp_path):
    with open("/dev/full", "w") as full:
        code = "from lpjt.cli import main; main()"
        result = subprocess.run([sys.executable, "-c", code, "--version"], stdout=full, stderr=-1, text=True)
    assert (result.returncode, result.stderr) == (
        2, "lpjt: standard output: [Errno 28] No space left on device\n",
    )  # fmt: skip


def test_what_can_be_written_is_written(tmp_path, csv, monkeypatch):
    """A report that fails does not take the labels and the model of a fit along, and the message has all."""
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"x": range(20), "z": [i % 2 for i in range(20)], "label": ["a", "b"] * 10})
    rows.to_csv(csv, index=False)

    def fail(path, run):
        raise OSError(f"{path} could not be written: No space left on device.")

    monkeypatch.setattr("lpjt.commands._adapt_write.write_report", fail)
    monkeypatch.chdir(tmp_path)
    arguments = ["adapt", "a.csv", "a.csv", "-o", "o.csv", "--report", "r.html", "--model", "m.lpjt", "-q"]
    result = CliRunner().invoke(build_app(), arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == (
        "lpjt: r.html could not be written: No space left on device. Written: o.csv, m.lpjt."
    )
    assert (tmp_path / "o.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "o.csv", "--model", "o.csv"], "o.csv: -o and --model name the same file"),
        (["-o", "o.csv", "--model", "r.html", "--report", "r.html"], "--model and --report name the same file"),
        (["-o", "o.csv", "--model", "a.csv"], "a.csv: the output would overwrite an input"),
    ],
)
def test_no_result_replaces_another_or_an_input(tmp_path, csv, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(build_app(), ["adapt", "a.csv", "a.csv", "--force", *arguments])
    assert (result.exit_code, words in result.stderr) == (2, True)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="/dev/stdout is a name of Linux here")
def test_messages_do_not_go_between_the_rows_of_standard_output(tmp_path, csv):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"x": range(20), "z": [i % 2 for i in range(20)], "label": ["a", "b"] * 10}).to_csv(
        csv, index=False
    )
    result = run("adapt", csv, csv, "-o", "/dev/stdout", "--no-candidates", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == "row,label,confidence"
    assert len(result.stdout.splitlines()) == 21
    assert "Predicted" in result.stderr
