"""Measurements in processes of their own: what comes back, and how they end."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from lpjt.bench import meter
from lpjt.bench.data import even_counts
from lpjt.bench.processes import run_task, run_tasks
from lpjt.bench.task import Task
from lpjt.commands.bench import memory_fault

COUNTS = even_counts(200, 4)
TASK = Task("200 rows", "LPJT", {"source": COUNTS, "target": COUNTS, "width": 32}, size=200)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Threads that wait for a busy machine would take most of the time."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def python(text):
    return (sys.executable, "-c", text)


def test_a_record_has_the_figures_and_their_ratios():
    record = run_task(replace(TASK, with_labels=True, parameters={"max_iter": 2}))
    assert record["status"] == "ok", record["message"]
    assert (record["n_source"], record["n_target"], record["width"], record["n_classes"]) == (200, 200, 32, 4)
    assert record["passes"] == pytest.approx(record["seconds"] / record["pass_seconds"])
    assert record["input_bytes"] == 2 * 200 * 32 * 4
    assert record["n_iter"] <= 2
    assert record["parameters"] == {"max_iter": 2, "tol": 0.0}
    assert 0 < sum(record["stages"].values()) <= record["seconds"]
    assert len(record["labels"]) == 200
    assert 25 < record["plain_accuracy"] <= 100
    assert record["accuracy"] > 50
    if sys.platform == "linux":
        assert 0 < record["peak_bytes"] < 1e9
        assert record["peak_share"] == pytest.approx(record["peak_bytes"] / record["input_bytes"])


def test_a_fit_that_runs_out_of_memory_is_a_record():
    pytest.importorskip("resource", reason="no limit to set")
    many = even_counts(20_000, 4)
    task = replace(TASK, method="dense transcription", data={"source": many, "target": many, "width": 32})
    record = run_task(replace(task, parameters={"landmarks": False}, memory_cap=3 * 10**9))
    assert record["status"] == "out of memory"
    assert "allocate" in record["message"]


def test_a_fit_that_raises_is_a_record():
    record = run_task(replace(TASK, parameters={"n_components": -3}))
    assert record["status"] == "failed"
    assert "n_components" in record["message"]


def test_a_process_that_dies_is_a_record():
    record = run_task(TASK, command=python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    assert record["status"] == "killed"
    assert "SIGKILL" in record["message"]
    record = run_task(TASK, command=python("raise SystemExit('no such luck')"))
    assert (record["status"], "no such luck" in record["message"]) == ("killed", True)


def test_a_run_ends_with_its_time(tmp_path):
    pid = tmp_path / "pid"
    text = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    record = run_task(replace(TASK, timeout=2.0), command=python(text))
    assert record["status"] == "timeout"
    assert 2 <= record["seconds"] < 30
    assert not alive(int(pid.read_text()))


def test_larger_sizes_are_left_out_once_one_failed(monkeypatch):
    asked = []

    def run(task):
        asked.append((task.method, task.size))
        status = "timeout" if (task.method, task.size) == ("b", 20) else "ok"
        return {"label": task.label, "method": task.method, "size": task.size, "status": status}

    monkeypatch.setattr("lpjt.bench.processes.run_task", run)
    tasks = [Task(f"{n}", method, {}, size=n) for n in (10, 20, 30) for method in "ab"]
    records = run_tasks(tasks)
    assert asked == [("a", 10), ("b", 10), ("a", 20), ("b", 20), ("a", 30)]
    assert records[-1]["status"] == "not run"
    assert records[-1]["message"] == "timeout at 20 rows"


def test_ctrl_c_leaves_no_process(tmp_path):
    pid = tmp_path / "pid"
    sleeper = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    script = (
        "import sys; from lpjt.bench.task import Task; from lpjt.bench.processes import run_task; "
        f"run_task(Task('', 'LPJT', {{}}), command=(sys.executable, '-c', {sleeper!r}))"
    )
    with subprocess.Popen(python(script), stderr=subprocess.PIPE) as parent:
        wait_for(lambda: pid.exists() and pid.read_text())
        parent.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in parent.communicate(timeout=20)[1]
    assert not alive(int(pid.read_text()))


def test_a_measurement_ends_when_its_parent_is_gone():
    many = even_counts(400_000, 4)
    task = replace(TASK, data={"source": many, "target": many, "width": 32})
    command = (sys.executable, "-m", "lpjt.bench.child")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        child.stdin.write(json.dumps(task.as_dict()) + "\n")
        child.stdin.close()  # as the system does for a parent that was killed
        try:
            assert child.wait(timeout=30) != 0
            assert child.stdout.read() == ""
        finally:
            child.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep no peak")
@pytest.mark.parametrize("sampled", [False, True])
def test_the_peak_is_what_was_there_for_a_while(monkeypatch, sampled):
    if sampled:
        monkeypatch.setattr(meter, "_forget_peak", lambda: False)
    peak = meter.Peak()
    peak.start()
    large = np.ones(2**24)
    time.sleep(0.05)
    del large
    found = peak.stop()
    assert peak.how == ("sampled" if sampled else "kernel")
    assert 0.9 * 2**27 < found < 1.5 * 2**27


def test_a_matrix_of_all_pairs_is_found_out_by_its_memory():
    """The dense transcription, measured as continuous integration measures LPJT, fails; LPJT's own growth does not."""
    records = []
    for n in (300, 1000):
        counts = even_counts(n, 4)
        made = {"source": counts, "target": counts, "width": 32}
        given = {"landmarks": False, "max_iter": 1}
        records.append(run_task(Task(f"{n} rows", "dense transcription", made, given, size=n)))
    if records[0]["peak_bytes"] is None:
        pytest.skip("this system does not tell")
    fault = memory_fault({"records": records})
    assert fault is not None
    assert "n x n" in fault


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
