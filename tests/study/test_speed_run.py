"""Measurements in processes of their own: what comes back, and how they end."""

import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from lpjt.study import meter
from lpjt.study.runner import Event
from lpjt.study.speed import run as speed_run
from lpjt.study.speed.data import even_counts, make_pair
from lpjt.study.speed.loss import memory_fault
from lpjt.study.speed.methods import METHODS
from lpjt.study.speed.results import Measurement, forget_others, open_store, read_result
from lpjt.study.speed.run import run_tasks

COUNTS = even_counts(200, 4)
TASK = Measurement("200 rows", "LPJT", {"source": COUNTS, "target": COUNTS, "width": 32}, size=200, bench="trial")


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Threads that wait for a busy machine would take most of the time."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def store(tmp_path):
    return open_store(tmp_path / "speed")


def measured(store, *tasks):
    """The records of some measurements, as they come back from the store."""
    run_tasks(tasks, store)
    return read_result("trial", store)["records"]


def test_a_record_has_the_figures_and_their_ratios(store):
    (record,) = measured(store, replace(TASK, compare_with="LPJT, as printed", parameters={"max_iter": 2}))
    assert record["status"] == "ok", record["message"]
    assert (record["n_source"], record["n_target"], record["width"], record["n_classes"]) == (200, 200, 32, 4)
    assert record["passes"] == pytest.approx(record["seconds"] / record["pass_seconds"], rel=1e-4)
    assert record["input_bytes"] == 2 * 200 * 32 * 4
    assert record["n_iter"] <= 2
    assert record["parameters"] == {"max_iter": 2, "tol": 0.0}
    assert 0 < sum(record["stages"].values()) <= record["seconds"] * (1 + 1e-4)
    assert 25 < record["unadapted_accuracy"] <= 100
    pair = make_pair(**TASK.data)
    again = METHODS["LPJT"].fit(pair.X_source, pair.y_source, pair.X_target, record["parameters"])
    assert record["accuracy"] == pytest.approx(100 * np.mean(np.asarray(again.labels) == pair.y_target), abs=1e-4)
    assert {"processor", "threads", "cores"} <= set(record["machine"])
    assert record["versions"]["lpjt"]
    if sys.platform == "linux":
        assert 0 < record["peak_bytes"] < 1e9
        assert record["peak_share"] == pytest.approx(record["peak_bytes"] / record["input_bytes"], rel=1e-4)


def test_agreement_is_of_the_labels_of_two_methods_on_the_same_rows(store):
    itself, another = measured(
        store,
        replace(TASK, label="a", method="LPJT, as printed", compare_with="LPJT, as printed"),
        replace(TASK, label="b", method="lpjt.baselines JDA", compare_with="LPJT, as printed", place=1),
    )
    assert itself["agreement"] == 100.0
    assert 50 < another["agreement"] < 100
    assert "labels" not in another


def test_a_fit_that_runs_out_of_memory_is_a_record(store):
    pytest.importorskip("resource", reason="no limit to set")
    many = even_counts(20_000, 4)
    task = replace(TASK, method="dense transcription", data={"source": many, "target": many, "width": 32})
    (record,) = measured(store, replace(task, parameters={"landmarks": False}, memory_cap=3 * 10**9))
    assert record["status"] == "out of memory"
    assert "allocate" in record["message"]


def test_a_fit_that_raises_is_a_record(store):
    (record,) = measured(store, replace(TASK, parameters={"n_components": -3}))
    assert record["status"] == "failed"
    assert "n_components" in record["message"]


def test_a_run_ends_with_its_time(store):
    many = even_counts(400_000, 4)
    task = replace(TASK, data={"source": many, "target": many, "width": 32}, timeout=2.0)
    (record,) = measured(store, task)
    assert record["status"] == "timeout"
    assert 2 <= record["seconds"] < 30
    assert record["message"] == "ended after the 2 s that a run may take"


def test_larger_sizes_are_left_out_once_one_failed(monkeypatch, store):
    asked = []

    def run_jobs(jobs, store, *, on_event, **_):
        (task,) = jobs
        asked.append((task.method, task.size))
        status = "timeout" if (task.method, task.size) == ("b", 20) else "ok"
        row = task.row_without_result(status=status, message="")
        store.append(row)
        on_event(Event("end", task, row, 1, 0, 1, 0.0))

    monkeypatch.setattr(speed_run, "run_jobs", run_jobs)
    events = []
    tasks = [Measurement(f"{n}", method, {}, size=n, bench="trial") for n in (10, 20, 30) for method in "ab"]
    rows = run_tasks(tasks, store, on_event=events.append)
    assert asked == [("a", 10), ("b", 10), ("a", 20), ("b", 20), ("a", 30)]
    assert [row["key"] for row in rows] == [task.key for task in tasks]
    assert [event.kind for event in events] == ["end"] * 5 + ["skip"]
    assert rows[-1]["status"] == "not run"
    assert rows[-1]["message"] == "timeout at 20 rows"
    assert len(store.rows()) == 6


def test_what_was_not_measured_again_is_kept_or_forgotten(store):
    def append(label, size, seconds, bench="growth", place=0):
        task = Measurement(label, "LPJT", {}, size=size, bench=bench, place=place)
        store.append(task.row({"status": "ok", "message": "", "seconds": seconds}))
        return task

    for label, size in (("wide", 0), ("4,000 rows", 4000), ("1,000 rows", 1000)):
        append(label, size, 1.0)
    other = append("1,000 rows", 1000, 1.0, bench="quick")
    new = [append("4,000 rows", 4000, 99.0), append("16,000 rows", 16_000, 2.0)]
    kept = read_result("growth", store)["records"]
    assert [record["label"] for record in kept] == ["1,000 rows", "4,000 rows", "16,000 rows", "wide"]
    assert kept[1]["seconds"] == 99.0
    forget_others("growth", new, store)
    left = read_result("growth", store)["records"]
    assert [record["label"] for record in left] == ["4,000 rows", "16,000 rows"]
    assert [row["key"] for row in store.rows() if row["bench"] == "quick"] == [other.key]


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


@pytest.mark.slow
def test_a_matrix_of_all_pairs_is_found_out_by_its_memory(store):
    """The dense transcription, measured as continuous integration measures LPJT, fails; LPJT's own growth does not."""
    tasks = []
    for n in (300, 1000):
        counts = even_counts(n, 4)
        made = {"source": counts, "target": counts, "width": 32}
        given = {"landmarks": False, "max_iter": 1}
        tasks.append(Measurement(f"{n} rows", "dense transcription", made, given, size=n, bench="trial"))
    records = measured(store, *tasks)
    if records[0]["peak_bytes"] is None:
        pytest.skip("this system does not tell")
    fault = memory_fault({"records": records})
    assert fault is not None
    assert "n x n" in fault
