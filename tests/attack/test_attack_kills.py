"""A slice of the kills, and proof that they see a half file, a lost one and a traceback."""

import os
import signal

import pytest

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("pyarrow", reason="stored rows need pyarrow")
pytest.importorskip("pandas", reason="tables are read by pandas")
pytest.importorskip("jinja2", reason="reports need jinja2")

from attack import kills
from attack.kills import warm
from attack.kills.commands import COMMANDS, fill_in, normalized
from attack.kills.places import can_mount, place
from attack.kills.step import _is_within
from attack.processes import Fault
from attack.runner import run_case

pytestmark = [
    pytest.mark.isolated,
    pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX"),
]

PREDICT = COMMANDS[0]
WHOLE = kills.Reference({"labels.csv": b"id,label\n1,a\n"}, {}, 1.0, 3)


@pytest.mark.parametrize("number", range(kills.PART.slice))
def test_nothing_is_lost(number):
    outcome = run_case(kills.PART, number)
    assert outcome.kind == "fine", outcome


@pytest.mark.slow
@pytest.mark.parametrize("number", range(kills.PART.slice, len(COMMANDS)))
def test_nothing_is_lost_of_any_command(number):
    outcome = run_case(kills.PART, number)
    assert outcome.kind == "fine", outcome


def test_every_command_is_disturbed_in_every_way():
    n = len(COMMANDS)
    met = {(number % n, kills.WAYS[(number + number // n) % len(kills.WAYS)]) for number in range(kills.PART.cases)}
    assert len(met) == n * len(kills.WAYS)
    assert kills.PART.cases == 125 * n


@pytest.mark.parametrize("old", [False, True])
def test_a_half_file_is_seen(tmp_path, old):
    path = tmp_path / "labels.csv"
    path.write_bytes(WHOLE.files["labels.csv"])
    kills.check_left(PREDICT, tmp_path, WHOLE, old=old)
    path.write_bytes(b"id,label\n1")
    with pytest.raises(Fault, match=r"labels.csv, of 10 bytes, is not that of an undisturbed run"):
        kills.check_left(PREDICT, tmp_path, WHOLE, old=old)


def test_a_lost_file_and_litter_are_seen(tmp_path):
    kills.check_left(PREDICT, tmp_path, WHOLE, old=False)
    with pytest.raises(Fault, match=r"was there before, and is gone"):
        kills.check_left(PREDICT, tmp_path, WHOLE, old=True)
    (tmp_path / ".labels.csv.77.part").touch()
    with pytest.raises(Fault, match=r"litter: .labels.csv.77.part"):
        kills.check_left(PREDICT, tmp_path, WHOLE, old=False)


@pytest.mark.parametrize(
    ("way", "code", "errors", "words"),
    [
        ("interrupt", 130, 'Traceback\n  File "/x/lpjt/cli.py"\nKeyboardInterrupt', "a traceback"),
        ("interrupt", 130, "/lpjt/ nothing", "not one line"),
        ("interrupt", 2, "lpjt: /lpjt/out/labels.csv: it may be truncated.", "code 2"),
        ("terminate", 1, "", "code 1"),
        ("full disk", 2, "lpjt: [Errno 28] No space left on device", "without the name"),
    ],
)
def test_bad_ends_are_seen(way, code, errors, words):
    with pytest.raises(Fault, match=words):
        kills.check_end(way, kills.Ended(code, errors))


def test_good_ends_are_fine():
    kills.check_end("interrupt", kills.Ended(130, "lpjt: stopped.\n"))
    kills.check_end("interrupt", kills.Ended(-2, "Traceback in site\nKeyboardInterrupt"))  # before our first line
    kills.check_end("kill", kills.Ended(-signal.SIGKILL, ""))
    kills.check_end("full disk", kills.Ended(2, "lpjt: /t/out/labels.csv could not be written: No space left.\n"))


def test_a_small_disk_is_full_and_gets_room():
    with place(small=True, size=8192) as where:
        if not where.mounted:
            assert not can_mount()
            pytest.skip("no file system can be mounted here; a limit of the size of files stands in")
        with pytest.raises(OSError, match="No space left"):
            (where.folder / "a").write_bytes(bytes(100_000))
        where.make_room()
        (where.folder / "a").write_bytes(bytes(100_000))
    assert not where.folder.exists()


def test_steps_are_those_in_the_folder():
    assert _is_within("/a/out/labels.csv", "/a/out")
    assert _is_within("/a/out", "/a/out")
    assert not _is_within("/a/outer", "/a/out")
    assert not _is_within(3, "/a/out")


def test_a_command_that_goes_on_is_a_process_of_its_own(tmp_path):
    errors = tmp_path / "errors.txt"
    assert warm.run_warm(fill_in(PREDICT, tmp_path), errors, 120) == 0
    assert normalized(tmp_path / "labels.csv") == kills.reference(PREDICT).files["labels.csv"]
    assert warm.run_warm(["predict", "nowhere.lpjt", "nowhere.csv"], errors, 120) == 2
    assert "lpjt predict" in errors.read_text()


def test_a_server_that_is_gone_or_late_is_a_fault(tmp_path):
    server = warm._server()
    with pytest.raises(Fault, match="took more than 0 s"):
        warm.run_warm(["--help"], tmp_path / "errors.txt", 0.0)
    assert server.poll() is not None
    assert warm._server() is not server


def test_commands_hear_ctrl_c_though_the_attack_runs_in_the_background(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    monkeypatch.setattr(kills, "_RUN", "import signal; raise SystemExit(signal.getsignal(2) is signal.SIG_IGN)")
    try:
        with place(small=False) as where:
            assert kills.run(PREDICT, where).code == 0
    finally:
        signal.signal(signal.SIGINT, before)
