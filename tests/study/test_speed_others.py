"""Rows on disk, new rows, the start of the command and the floor of graph methods: plans, figures, goals."""

import numpy as np
import pytest

from lpjt.study.pages import performance
from lpjt.study.speed import methods, others, plans_more
from lpjt.study.speed.data import make_pair
from lpjt.study.speed.goals import GOALS, UNMEASURED
from speed_records import finding, fit_record, result_of, run


@pytest.mark.parametrize("kind", ["memmap", "hdf5"])
def test_rows_in_a_file_are_those_that_are_made_in_memory(tmp_path, kind):
    if kind == "hdf5":
        pytest.importorskip("h5py", reason="an extra")
    pair = make_pair(source=(20, 20), target=(20, 20), width=8)
    for number, (X, y) in enumerate([(pair.X_source, pair.y_source), (pair.X_target, pair.y_target)]):
        rows, labels = others._write_domain(tmp_path, kind, (20, 20), 8, number)
        assert np.array_equal(np.asarray(rows[:]), X)
        assert np.array_equal(labels, y)


def test_a_size_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ValueError, match="GB free"):
        plans_more.plan_disk(1e9, folder=tmp_path)
    with pytest.raises(ValueError, match="not a kind"):
        plans_more.plan_disk(1, kinds=["tape"], folder=tmp_path)
    assert run("disk", "--gigabytes", 0).exit_code == 2


def test_the_floor_labels_by_the_nearest_source_row():
    pair = make_pair(source=(60, 60), target=(60, 60), width=8)
    labels = methods.fit_floor(pair.X_source, pair.y_source, pair.X_source + 1e-6, {}).labels
    assert np.mean(labels == pair.y_source) > 0.95
    assert "faiss cells, 15 neighbours" not in methods.PEERS


def test_the_cells_of_the_floor_are_trained_in_few_steps_on_few_rows():
    rows = make_pair(source=(3000,), target=(2,), width=8).X_source
    index = methods._make_cells(rows)
    assert (index.nlist, index.nprobe) == (75, 8)
    assert index.cp.niter == methods.CELL_STEPS < 10
    assert index.cp.max_points_per_centroid == methods.CELL_ROWS < 50
    index.add(rows)
    assert np.mean(index.search(rows, 1)[1][:, 0] == np.arange(3000)) > 0.99


@pytest.mark.parametrize(("peak", "size", "met"), [(1.5e9, 20e9, True), (1.5e9, 2e9, None), (2.5e9, 2e9, False)])
def test_the_goal_of_rows_on_disk_is_of_twenty_gigabytes(peak, size, met):
    record = fit_record("memmap", "rows on disk", reads=9.0, peak_bytes=peak, input_bytes=size, memory_limit="2GB")
    result = result_of("disk", [record | {"read_seconds": 2.0}])
    assert finding("on disk", disk=result) == (f"{peak / 1e9:.2f} GB of {size / 1e9:.1f} GB, 9.00 reads", met)
    (sheet,) = performance.sheets_of(result)
    assert sheet.rows[0][2:7] == ("2.00", "5.00", "9.00", "2GB", f"{peak / 1e9:.2f} GB")


@pytest.mark.parametrize(("value", "met"), [(0.9, True), (1.1, False)])
def test_goals_that_are_one_figure_have_their_limits(value, met):
    small = [fit_record(plans_more.SMALL_LABEL, seconds=0.3 * value), fit_record(others.VERSION, beyond=0.15 * value)]
    assert finding("200 + 200", small=result_of("small", small))[1] is met
    assert finding("--version", small=result_of("small", small))[1] is met
    new = fit_record("new", others.PREDICT, 1_000_000, ratio=2 * value)
    assert finding("million new rows", predict=result_of("predict", [new]))[1] is met
    few = result_of("predict", [new | {"size": 1000}])
    assert finding("million new rows", predict=few) == UNMEASURED
    pair = [fit_record(size=1_000_000, seconds=30 * value), fit_record("", plans_more.FLOOR, 1_000_000, seconds=10.0)]
    assert finding("faiss's cells", floor=result_of("floor", pair)) == (f"{3 * value:.2f} times", met)
    jda = [fit_record(size=4000, seconds=value), fit_record("", "lpjt.baselines JDA", 4000, seconds=1.0)]
    assert finding("lpjt.baselines", peers=result_of("peers", jda))[1] is met


def test_every_goal_names_a_command_that_exists():
    for command in {goal.command.split()[0] for goal in GOALS}:
        assert run(command, "--help").exit_code == 0, command
