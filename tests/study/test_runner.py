"""Runs in processes of their own: every end is a row, none is made twice, and none outlives its parent."""

import ast
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace

import pytest

import study_runs
from lpjt.study import machine, runner
from lpjt.study.runner import Event, run_jobs
from lpjt.study.runs.measure import Job, measure
from lpjt.study.store import Store, StoreError
from study_runs import behave, is_alive, make_job, make_row, measure_toy, small_jobs, wait_until

TESTS = Path(__file__).parents[1]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def run_one(store, run=behave, *, timeout=None, **parameters):
    job = make_job(1, **parameters)
    run_jobs([job], store, run=run, timeout=timeout)
    (row,) = store.rows()
    assert row["key"] == job.key
    return row


def results(store):
    return [(row["key"], row["accuracy"], row["status"]) for row in store.rows()]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_every_job_has_its_row_in_one_file_whatever_the_number_of_processes(store, n_jobs):
    jobs = small_jobs(6)
    run_jobs(reversed([*jobs, jobs[0]]), store, n_jobs=n_jobs, run=behave)
    assert results(store) == [(job.key, float(job.seed * 7), "ok") for job in jobs]
    assert [file.name for file in store.path.iterdir()] == ["rows.parquet"]


def test_measure_runs_in_the_child_with_its_own_memory(store):
    hungry = make_job(1, method="Hungry", offset=200)
    modest = [make_job(number, method="Hungry", offset=1) for number in (0, 2)]
    run_jobs([modest[0], hungry, modest[1]], store, run=measure_toy)
    before, large, after = (row["peak_bytes"] / 2**20 for row in store.rows())
    assert all(row["accuracy"] > 70 for row in store.rows())
    assert 160 < large < 240
    assert before < 20
    assert after < 20


def test_failing_method_is_a_stored_row(store):
    row = run_one(store, measure_toy, method="Broken", offset=3)
    assert (row["status"], row["accuracy"]) == ("failed", None)
    assert row["message"] == "ValueError: offset 3 will not do"


def test_run_that_raises_is_a_failed_row(store):
    row = run_one(store, **{"raise": "no\nluck"})
    assert (row["status"], row["message"], row["accuracy"]) == ("failed", "RuntimeError: no luck", None)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"exit": 3}, "the process ended with exit code 3 and gave no row"),
        ({"exit": 0}, "the process ended with exit code 0 and gave no row"),
        ({"signal": int(signal.SIGSEGV)}, "the process was ended by signal 11 (SIGSEGV)"),
        ({"signal": int(signal.SIGKILL)}, "the process was ended by signal 9 (SIGKILL), as when memory runs out"),
    ],
)
def test_process_that_dies_is_a_crashed_row_and_the_others_go_on(store, parameters, message):
    crashing, sound = make_job(1, **parameters), make_job(2)
    run_jobs([crashing, sound], store, n_jobs=2, run=behave)
    row, other = store.rows()
    assert (row["status"], row["message"], row["accuracy"]) == ("crashed", message, None)
    assert row["seconds"] > 0
    assert other["status"] == "ok"


def test_run_beyond_its_time_is_ended_and_stored(store):
    begun = time.monotonic()
    jobs = [make_job(1, sleep=60), make_job(2), make_job(3, sleep=60)]
    run_jobs(jobs, store, n_jobs=2, timeout=1.5, run=behave)
    assert time.monotonic() - begun < 30
    assert [row["status"] for row in store.rows()] == ["timeout", "ok", "timeout"]
    row = store.rows()[0]
    assert row["message"] == "ended after the 1.5 s that a run may take"
    assert 1.5 <= row["seconds"] < 10


@pytest.mark.parametrize(("ending", "timeout"), [({"wait": True}, 2), ({}, None)], ids=["timeout", "ok"])
def test_processes_that_a_run_started_end_with_it(store, tmp_path, ending, timeout):
    row = run_one(store, child=str(tmp_path / "child.pid"), timeout=timeout, **ending)
    assert row["status"] == ("timeout" if timeout else "ok")
    pid = int((tmp_path / "child.pid").read_text())
    wait_until(lambda: not is_alive(pid))


def test_stored_rows_are_not_run_again(store):
    jobs = small_jobs(4, sleep=0)
    store.append(make_row(jobs[1], accuracy=77.0))
    store.append(make_row(jobs[2], status="failed", accuracy=None))
    events = []
    run_jobs(jobs, store, run=behave, on_event=events.append)
    assert [(e.kind, e.job.seed) for e in events if e.kind != "start"] == [
        ("skip", 1),
        ("skip", 2),
        ("end", 0),
        ("end", 3),
    ]
    assert events[0].row["accuracy"] == 77.0
    assert [row["accuracy"] for row in store.rows()] == [0.0, 77.0, None, 21.0]


@pytest.mark.parametrize("status", ["failed", "timeout", "crashed"])
def test_what_failed_is_run_again_when_asked_for(store, status):
    jobs = small_jobs(2, sleep=0)
    store.append(make_row(jobs[0], accuracy=77.0))
    store.append(make_row(jobs[1], status=status, accuracy=None))
    store.compact()
    run_jobs(jobs, store, run=behave, retry_failed=True)
    assert [(row["status"], row["accuracy"]) for row in store.rows()] == [("ok", 77.0), ("ok", 7.0)]


def test_events_tell_what_runs_what_is_done_and_what_remains(store):
    events = []
    run_jobs(small_jobs(5, sleep=0.1), store, n_jobs=2, run=behave, on_event=events.append)
    assert all(isinstance(event, Event) for event in events)
    assert max(event.running for event in events) == 2
    assert {event.total for event in events} == {5}
    assert [event.done for event in events if event.kind == "end"] == [1, 2, 3, 4, 5]
    assert [event.row is None for event in events] == [event.kind == "start" for event in events]
    assert events[0].remaining is None
    ends = [event.remaining for event in events if event.kind == "end"]
    assert ends[0] > ends[-1] == 0.0


def test_what_remains_is_told_from_stored_rows_by_method_and_shared_among_processes():
    def seconds_left(n_jobs):
        known = [make_job(0, method="slow"), make_job(1, method="fast")]
        new = [make_job(number, method="slow") for number in range(2, 6)] + [make_job(6, method="fast")]
        rows = [make_row(known[0], seconds=20.0), make_row(known[1], seconds=2.0, n_tried=3)]
        events = []
        plan = runner._Progress({job.key: job for job in known + new}, n_jobs=n_jobs, on_event=events.append)
        plan.skip_stored(rows, retry_failed=False)
        return events[-1].remaining

    assert seconds_left(1) == 4 * 20 + 6
    assert seconds_left(2) == (4 * 20 + 6) / 2


@pytest.mark.parametrize(("status", "remaining"), [("ok", 9.0), ("timeout", 9.0), ("failed", None), ("crashed", None)])
def test_how_soon_a_run_fails_says_nothing_of_the_others(status, remaining):
    jobs, events = small_jobs(2), []
    ended = SimpleNamespace(argument=jobs[0], seconds=lambda: 9.0)
    plan = runner._Progress({job.key: job for job in jobs}, n_jobs=1, on_event=events.append)
    plan.waiting.append(jobs[1])
    plan.running.append(ended)
    plan.end(ended, make_row(jobs[0], status=status))
    assert events[-1].remaining == remaining


@pytest.mark.parametrize(("elapsed", "remaining"), [(2.0, 7.0), (11.0, None)])
def test_what_remains_is_unknown_once_a_run_takes_longer_than_any_known(elapsed, remaining):
    jobs, events = small_jobs(3), []
    plan = runner._Progress({job.key: job for job in jobs}, n_jobs=2, on_event=events.append)
    plan.running += [
        SimpleNamespace(argument=jobs[0], seconds=lambda: elapsed),
        SimpleNamespace(argument=jobs[1], seconds=lambda: 9.0),
    ]
    plan.end(plan.running[1], make_row(jobs[1]))
    assert events[-1].remaining == remaining


@pytest.mark.parametrize(("n_jobs", "each"), [(1, 4), (2, 2), (3, 1), (8, 1)])
def test_processors_are_shared_among_the_runs(monkeypatch, n_jobs, each):
    monkeypatch.setattr("joblib.cpu_count", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert machine.threads_each(n_jobs) == each


@pytest.mark.parametrize(("asked", "each"), [("1", 1), ("3", 2), ("", 2), ("many", 2), ("0", 2)])
def test_fewer_threads_than_the_share_are_kept(monkeypatch, asked, each):
    monkeypatch.setattr("joblib.cpu_count", lambda: 4)
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert machine.threads_each(2) == each


@pytest.mark.parametrize("n_threads", [1, 2])
def test_thread_limits_hold_inside_the_child(store, monkeypatch, n_threads):
    monkeypatch.setattr("joblib.cpu_count", lambda: n_threads)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    pools, variables = ast.literal_eval(run_one(store, threads=True)["message"])
    assert variables == [str(n_threads)]
    assert pools == [n_threads]


def test_child_has_the_environment_and_directory_of_the_moment_and_the_parent_keeps_its_own(
    store, tmp_path, monkeypatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", "17")
    for number, word in enumerate(("first", "second")):
        monkeypatch.setenv("LPJT_TEST_WORD", word)
        (tmp_path / word).mkdir()
        monkeypatch.chdir(tmp_path / word)
        run_jobs([make_job(number, surroundings=True)], store, run=behave)
    assert os.environ["OMP_NUM_THREADS"] == "17"
    seen = [row["message"].split() for row in store.rows()]
    assert [found[:2] for found in seen] == [[word, str(tmp_path / word)] for word in ("first", "second")]
    assert len({str(os.getpid()), *(found[2] for found in seen)}) == 3


def test_nothing_runs_when_the_store_cannot_be_read(store, tmp_path):
    store.path.mkdir()
    (store.path / "rows.parquet").write_text("from elsewhere")
    with pytest.raises(StoreError, match=r"rows.parquet: not a whole parquet file"):
        run_jobs([make_job(pid=str(tmp_path / "pid"))], store, run=behave)
    assert (store.path / "rows.parquet").read_text() == "from elsewhere"
    assert not (tmp_path / "pid").exists()


@pytest.mark.parametrize(
    ("value", "words"), [({"n_jobs": 0}, "n_jobs=0 leaves no"), ({"timeout": 0}, "timeout=0 leaves")]
)
def test_settings_that_leave_nothing_are_refused(store, value, words):
    with pytest.raises(ValueError, match=words):
        run_jobs([], store, run=behave, **value)


def test_error_in_the_callback_ends_the_runs_and_keeps_the_rows(store, tmp_path):
    pid_file = tmp_path / "long.pid"

    def fail(event):
        if event.kind == "end":
            wait_until(pid_file.exists)
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run_jobs([make_job(0), make_job(1, pid=str(pid_file))], store, n_jobs=2, run=behave, on_event=fail)
    assert not is_alive(int(pid_file.read_text()))
    assert [row["seed"] for row in store.rows()] == [0]


def start_program(store, n_jobs, kind):
    """A fresh interpreter at the head of a group, as a shell starts it; it and its server import the package anew."""
    command = [sys.executable, str(TESTS / "study_runs.py"), str(store.path), str(n_jobs), kind]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)], ids=["Ctrl-C", "kill"])
def test_runs_end_with_the_program(store, number, status):
    program = start_program(store, 2, "endless")
    files = [Path(f"{store.path}-{job}.pid") for job in range(2)]
    wait_until(lambda: all(file.exists() for file in files), seconds=100)
    pids = [int(file.read_text()) for file in files]
    assert all(map(is_alive, pids))
    if number == signal.SIGINT:
        os.killpg(program.pid, number)  # a terminal sends it to the whole group
    else:
        program.send_signal(number)
    output, errors = program.communicate(timeout=60)
    assert program.returncode == status
    assert ("interrupted" in output) == (number == signal.SIGINT)
    assert errors == ""
    wait_until(lambda: not any(map(is_alive, pids)))


@pytest.mark.slow
def test_program_killed_at_any_moment_goes_on_and_ends_with_the_same_rows(store, tmp_path):
    expected = Store(tmp_path / "expected")
    run_jobs(small_jobs(), expected, run=behave)
    rng, n_before = random.Random(), 0
    for _ in range(2):
        program = start_program(store, 2, "small")
        for _ in range(rng.randint(1, 4)):
            while not program.stdout.readline().startswith("end"):
                assert program.poll() is None, program.stderr.read()
        time.sleep(rng.uniform(0, 0.05))
        program.kill()
        program.communicate()
        n_rows = len(store.rows())
        assert n_before < n_rows
        assert set(results(store)) <= set(results(expected))
        n_before = n_rows
    events = []
    run_jobs(small_jobs(), store, n_jobs=2, run=behave, on_event=events.append)
    assert [event.kind for event in events].count("skip") == n_before
    assert results(store) == results(expected)
    assert [file.name for file in store.path.iterdir()] == ["rows.parquet"]


def test_interrupted_at_any_moment_it_leaves_no_process_and_ends_with_the_same_rows(store, tmp_path):
    before = set(multiprocessing.active_children())  # of other tests in this process
    expected = Store(tmp_path / "expected")
    run_jobs(small_jobs(), expected, run=behave)
    rng, interrupted = random.Random(), 0
    for _ in range(20):
        timer = threading.Timer(rng.uniform(0.005, 0.15), os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            run_jobs(small_jobs(), store, n_jobs=2, run=behave)
            timer.join()  # done before the time: the signal comes here
        except KeyboardInterrupt:
            interrupted += 1
        timer.join()
        assert set(multiprocessing.active_children()) <= before
        assert set(results(store)) <= set(results(expected))
    assert interrupted == 20
    run_jobs(small_jobs(), store, run=behave)
    assert results(store) == results(expected)
    assert [file.name for file in store.path.iterdir()] == ["rows.parquet"]


def test_ctrl_c_while_a_process_is_asked_for_waits_until_it_is_there(store, monkeypatch, tmp_path):
    before = set(multiprocessing.active_children())  # of other tests in this process
    request, asked = forkserver.connect_to_new_process, []

    def interrupted_request(fds):
        answer = request(fds)
        signal.raise_signal(signal.SIGINT)
        asked.append(answer)
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(forkserver, "connect_to_new_process", interrupted_request)
        with pytest.raises(KeyboardInterrupt):
            run_jobs([make_job(1, pid=str(tmp_path / "pid"))], store, run=behave)
    assert len(asked) == 1
    assert set(multiprocessing.active_children()) <= before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert run_one(store)["status"] == "ok"


@pytest.mark.data
def test_real_pair_is_measured_the_same_way_each_time(tmp_path):
    job = Job("surf", "W to D", "LPJT", 0, "label-free", {})
    rows = []
    for name in ("first", "second"):
        store = Store(tmp_path / name)
        run_jobs([job], store, run=measure, n_jobs=2)
        rows += store.rows()
    first, second = rows
    assert (first["status"], second["status"]) == ("ok", "ok"), first["message"]
    assert first["accuracy"] > 80
    assert first["per_class_accuracy"] == second["per_class_accuracy"]
    assert first["checksum"] == second["checksum"]
    assert 1e6 < first["peak_bytes"] < 1e9


def test_runs_start_from_a_typer_command(store):
    typer = pytest.importorskip("typer")
    from typer.testing import CliRunner

    app = typer.Typer()

    @app.command()
    def command(n_jobs: int) -> None:
        run_jobs(small_jobs(3), store, n_jobs=n_jobs, run=study_runs.behave)
        print(len(store.rows()))

    outcome = CliRunner().invoke(app, ["2"])
    assert (outcome.exit_code, outcome.output.strip()) == (0, "3")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the signals of a process in /proc")
def test_ctrl_c_is_blocked_in_the_server_before_it_imports_anything():
    # In a program of its own: here the server may be running already, with whatever it was started with.
    program = """
import json
from multiprocessing import forkserver
from pathlib import Path
from lpjt.study.processes import _context

_context(json.dumps)
status = Path(f"/proc/{forkserver._forkserver._forkserver_pid}/status").read_text()
print(next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk")))
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert int(answer.stdout, 16) >> (signal.SIGINT - 1) & 1
