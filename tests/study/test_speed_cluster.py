"""The bench on a cluster: its rows on disk, its fits and its table."""

import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("psutil")
pytest.importorskip("distributed")
pytest.importorskip("pyarrow", reason="stored rows need pyarrow")

import dask.array as da
import psutil

from lpjt.study.pages import performance
from lpjt.study.speed import cluster, workers
from lpjt.study.speed.data import draw_block
from lpjt.study.speed.goals import UNMEASURED
from lpjt.study.speed.results import open_store, read_result
from speed_records import finding, result_of


@pytest.fixture
def zarr():
    return pytest.importorskip("zarr", reason="an extra")


def test_blocks_are_made_from_their_number_alone(tmp_path, monkeypatch, zarr):
    monkeypatch.setattr(cluster, "BLOCK_ROWS", 150)
    files = cluster.write_rows(tmp_path, 400)
    assert [len(y) for y in files.labels] == [400, 400]
    X, y = draw_block(100, cluster.N_CLASSES, cluster.WIDTH, domain=1, number=2)
    source, target = (da.from_zarr(str(path)) for path in files.rows)
    np.testing.assert_array_equal(target[300:].compute(), X)
    np.testing.assert_array_equal(files.labels[1][300:], y)
    assert not np.array_equal(source[:100].compute(), X)
    assert target.dtype == np.float32
    assert target.chunks == ((150, 150, 100), (cluster.WIDTH,))
    assert cluster._time_pass(files) > 0


def test_without_zarr_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r"pip install 'lpjt\[bench\]'"):
        cluster.plan_cluster(1000)


def test_rows_that_the_disk_has_no_room_for_are_refused(tmp_path, zarr):
    assert cluster.plan_cluster(1000, tmp_path).data["folder"] == str(tmp_path)
    with pytest.raises(ValueError, match=r"GB free.*--folder"):
        cluster.plan_cluster(10**12, tmp_path)
    with pytest.raises(ValueError, match="at least 100 rows"):
        cluster.plan_cluster(99)


class Nannies:
    """A client of workers that are processes of this machine."""

    def __init__(self, *pids):
        self.cluster = self
        self.scheduler = SimpleNamespace(workers={})
        self.workers = {place: SimpleNamespace(pid=pid) for place, pid in enumerate(pids)}


@pytest.fixture
def busy():
    """A process that computes without end."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield process
    process.kill()
    process.wait()


def test_a_worker_is_killed_once_it_has_used_the_seconds_not_for_what_it_used_before(busy):
    told = []
    while sum(psutil.Process(busy.pid).cpu_times()[:2]) < 0.3:
        time.sleep(0.05)
    watch = workers.Watch(Nannies(busy.pid, None), told.append, kill_after=0.25)
    watch.look()
    assert not watch.killed
    while not watch.killed:
        time.sleep(0.05)
        watch.look()
    assert busy.wait(5) == -signal.SIGKILL
    assert watch.killed == [busy.pid]
    watch.look()  # its process is gone, what it used stays
    assert 0.25 <= watch.cpu_seconds < 5
    assert watch.peak_bytes > 2**20
    assert "killed worker" in told[0]


def test_lines_tell_where_the_workers_are(busy, monkeypatch):
    told, client = [], Nannies(busy.pid)
    task = SimpleNamespace(key="search_region-1f2e3d4c5b6a79881f2e3d4c5b6a7988")
    client.scheduler.workers["a"] = SimpleNamespace(processing=[task])
    monkeypatch.setattr(workers, "LINE_SECONDS", 0.1)
    monkeypatch.setattr(workers, "LOOK_SECONDS", 0.02)
    with workers.watched(client, told.append):
        time.sleep(0.35)
    assert 2 <= len(told) <= 4
    assert "search_region; " in told[0]
    assert "GB in a worker" in told[0]


def record(*, killed=True):
    first = cluster.Run(np.array([0, 1, 1, 0]), 10.0, {"all rows": 8.0}, 0.97, True, 10**9, 16.0, 3.0, False)
    second = cluster.Run(np.array([0, 1, 1, 1]), 15.0, {}, 0.97, True, 2 * 10**9, 1.0, 3.0, killed)
    files = cluster.Files((), (np.zeros(4), np.array([0, 1, 0, 0])))
    return cluster._record(4, files, 0.5, first, second)


def test_ratios_and_the_time_that_the_aim_would_take(monkeypatch):
    monkeypatch.setattr(cluster, "time_assignment", lambda: 1e-9)
    found = record()
    assert found["status"] == "ok"
    assert (found["passes"], found["killed_ratio"], found["equal_labels"], found["accuracy"]) == (20, 1.5, 75, 75)
    assert found["worker_bytes"] == 2 * 10**9
    assert (found["cpu_seconds_per_row"], found["caller_seconds"]) == (4.0, 3.0)
    n_cells = 2 * 10**8 / cluster.CELL_ROWS
    assert found["aimed_cpu_seconds"] == pytest.approx(10**8 * (4.0 + n_cells * 1e-9) / 32)
    sheet = cluster.cluster_sheet([found | {"size": 4}, {"size": 8, "status": "failed", "message": "why"}])
    text = sheet.to_markdown()
    assert "1.50" in text
    assert "0.970" in text
    assert "why" in text


def test_a_fit_that_ended_before_the_loss_is_a_failure(monkeypatch):
    monkeypatch.setattr(cluster, "time_assignment", lambda: 1e-9)
    found = record(killed=False)
    assert found["status"] == "failed"
    assert "before a worker was killed" in found["message"]


def test_the_assignment_is_timed():
    assert 0 < cluster.time_assignment(2000, 50) < 1e-5


GOALS = {
    "true neighbours": ({"recall": 0.95}, {"recall": 0.9499}),
    "loss of one": ({"equal_labels": 100.0}, {"equal_labels": 99.9}),
    "the larger one": ({"worker_bytes": 2e9}, {"worker_bytes": 2.1e9}),
    "100,000,000 rows": ({"aimed_cpu_seconds": 1200.0}, {"aimed_cpu_seconds": 1201.0}),
}


@pytest.mark.parametrize("what", GOALS)
def test_goals_are_read_off_the_largest_fit_and_met_only_by_a_million_rows(monkeypatch, what):
    monkeypatch.setattr(cluster, "time_assignment", lambda: 1e-9)
    good, bad = (record() | values for values in GOALS[what])
    assert finding(what) == UNMEASURED
    assert finding(what, cluster=result_of("cluster", [bad | {"size": 1000}, good | {"size": 10**6}]))[1] is True
    assert finding(what, cluster=result_of("cluster", [good | {"size": 1000}, bad | {"size": 10**6}]))[1] is False
    assert finding(what, cluster=result_of("cluster", [good | {"size": 1000}]))[1] is None
    assert finding(what, cluster=result_of("cluster", [good | {"size": 10**6, "status": "failed"}]))[1] is False
    (sheet,) = performance.sheets_of(result_of("cluster", [good | {"size": 1000}]))
    assert sheet.rows[0][0] == "1,000"


def test_the_table_of_the_page_on_scaling_is_the_stored_one():
    root = Path(__file__).parents[2]
    result = read_result("cluster", open_store(root / "results" / "speed"))
    if result is None:
        pytest.skip("no run is stored")
    assert cluster.cluster_sheet(result["records"]).to_markdown() in (root / "docs" / "scaling.md").read_text("utf-8")


@pytest.mark.slow
def test_a_killed_worker_changes_no_label(monkeypatch, zarr, tmp_path):
    monkeypatch.setattr(cluster, "BLOCK_ROWS", 3000)
    monkeypatch.setattr(cluster, "KILLED_AFTER", 0.3)
    few = partial(cluster.make_variant, sample_size=800, max_iter=2)
    monkeypatch.setattr(cluster, "make_variant", few)
    monkeypatch.setattr("lpjt.fitting.graph.REGIONS_FROM", 5000)
    monkeypatch.setattr("lpjt.core.cells.CELL_ROWS", 4000)
    monkeypatch.setattr("lpjt.engines.dask.cells.REGION_ROWS", 12_000)
    told = []
    row = cluster.measure_cluster(cluster.plan_cluster(12_000, tmp_path), told.append)
    assert any(line.startswith("killed worker") for line in told)
    assert not list(tmp_path.iterdir())
    figures = json.loads(row["figures"])
    assert row["status"] == "ok", row["message"]
    assert figures["equal_labels"] == 100
    assert figures["recall"] >= 0.95
    assert 0 < figures["worker_bytes"] < 2e9
