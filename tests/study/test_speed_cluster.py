"""The bench on a cluster: its rows on disk, its fits and its table."""

import json
from functools import partial

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("pyarrow", reason="stored rows need pyarrow")

from lpjt.study.speed import cluster
from lpjt.study.speed.data import draw_block


def test_blocks_are_made_from_their_number_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "BLOCK_ROWS", 150)
    files = cluster.write_rows(tmp_path, 400)
    assert [len(part) for part in files.blocks] == [3, 3]
    assert [len(y) for y in files.labels] == [400, 400]
    X, y = draw_block(100, cluster.N_CLASSES, cluster.WIDTH, domain=1, number=2)
    np.testing.assert_array_equal(np.load(files.blocks[1][2]), X)
    np.testing.assert_array_equal(files.labels[1][300:], y)
    assert not np.array_equal(np.load(files.blocks[0][0])[:100], X)
    assert X.dtype == np.float32
    rows = cluster._lazy(files.blocks[1])
    assert rows.chunks == ((150, 150, 100), (cluster.WIDTH,))
    np.testing.assert_array_equal(rows[300:].compute(), X)


def record(**changes):
    first = cluster.Run(np.array([0, 1, 1, 0]), 10.0, {"all rows": 8.0}, 0.97, True, 10**9, 16.0)
    second = cluster.Run(np.array([0, 1, 1, 1]), 15.0, {}, 0.97, True, 2 * 10**9, 1.0, changes.pop("killed", [7]))
    files = cluster.Files(([], []), (np.zeros(4), np.array([0, 1, 0, 0])))
    return cluster._record(4, files, 0.5, first, second)


def test_ratios_and_the_time_that_the_aim_would_take(monkeypatch):
    monkeypatch.setattr(cluster, "time_assignment", lambda: 1e-9)
    found = record()
    assert found["status"] == "ok"
    assert (found["passes"], found["killed_ratio"], found["equal_labels"], found["accuracy"]) == (20, 1.5, 75, 75)
    assert found["worker_bytes"] == 2 * 10**9
    assert found["cpu_seconds_per_row"] == 4.0
    n_cells = 2 * 10**8 / cluster.CELL_ROWS
    assert found["aimed_cpu_seconds"] == pytest.approx(10**8 * (4.0 + n_cells * 1e-9) / 32)
    sheet = cluster.cluster_sheet([found | {"size": 4}, {"size": 8, "status": "failed", "message": "why"}])
    text = sheet.to_markdown()
    assert "1.50" in text
    assert "0.970" in text
    assert "why" in text


def test_a_fit_that_ended_before_the_loss_is_a_failure(monkeypatch):
    monkeypatch.setattr(cluster, "time_assignment", lambda: 1e-9)
    found = record(killed=[])
    assert found["status"] == "failed"
    assert "before a worker was killed" in found["message"]


def test_the_assignment_is_timed():
    assert 0 < cluster.time_assignment(2000, 50) < 1e-5


@pytest.mark.slow
def test_a_killed_worker_changes_no_label(monkeypatch):
    monkeypatch.setattr(cluster, "BLOCK_ROWS", 3000)
    monkeypatch.setattr(cluster, "KILLED_AFTER", 0.3)
    few = partial(cluster.make_variant, sample_size=800, max_iter=2)
    monkeypatch.setattr(cluster, "make_variant", few)
    monkeypatch.setattr("lpjt.fitting.graph.REGIONS_FROM", 5000)
    monkeypatch.setattr("lpjt.core.cells.CELL_ROWS", 4000)
    monkeypatch.setattr("lpjt.engines.dask.cells.REGION_ROWS", 12_000)
    row = cluster.measure_cluster(cluster.plan_cluster(12_000), lambda _: None)
    figures = json.loads(row["figures"])
    assert row["status"] == "ok", row["message"]
    assert figures["equal_labels"] == 100
    assert figures["recall"] >= 0.95
    assert 0 < figures["worker_bytes"] < 2e9
