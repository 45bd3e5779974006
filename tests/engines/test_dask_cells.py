"""Fits on Dask arrays whose rows are searched in cells and labelled in regions, on the threads of this process."""

import numpy as np
import pytest

pytest.importorskip("dask.array")

import dask.array as da

from lazy import agreement, lazy
from lpjt import LPJT, Propagation
from lpjt.core import cells as core_cells
from lpjt.engines.dask import cells
from lpjt.fitting import graph
from problems import masked, one_setting, shifted_pair

GIVEN = {"n_components": 6, "random_state": 0, "sample_size": 400, "max_iter": 2}


@pytest.fixture
def small(monkeypatch):
    """Cells and regions of a few hundred rows."""
    monkeypatch.setattr(graph, "REGIONS_FROM", 50)
    monkeypatch.setattr(core_cells, "CELL_ROWS", 600)
    monkeypatch.setattr(cells, "REGION_ROWS", 1400)


@pytest.fixture(scope="module")
def problem():
    return shifted_pair(n_source=900, n_target=2400, width=12, n_classes=4, apart=1.2)


@pytest.fixture(scope="module")
def in_memory(problem):
    X, y, X_target, _ = problem
    return one_setting(**GIVEN).fit(X, y, X_target)


def fit(X, y, X_target, y_target=None, *, chunks=700, **parameters):
    return one_setting(**{**GIVEN, **parameters}).fit(lazy(X, 400), y, lazy(X_target, chunks), y_target)


def regions_of(monkeypatch):
    """A list that gets the layout of each fit."""
    layouts = []
    lay_out = core_cells.lay_out
    monkeypatch.setattr(core_cells, "lay_out", lambda *given: layouts.append(lay_out(*given)) or layouts[-1])
    return layouts


@pytest.mark.usefixtures("small")
def test_labels_are_those_of_a_fit_in_memory(problem, in_memory, monkeypatch, capsys):
    layouts = regions_of(monkeypatch)
    X, y, X_target, _ = problem
    model = fit(X, y, X_target, verbose=1)
    assert len(layouts[0].members) >= 4
    assert agreement(in_memory, model) >= 0.99
    assert isinstance(model.transduction_, da.Array)
    assert model.transduction_.chunks == ((700, 700, 700, 300),)
    assert 0.95 <= model.neighbor_recall_ < 1.0
    assert in_memory.neighbor_recall_ == 1.0
    assert f"{model.neighbor_recall_:.1%} of the nearest rows found" in capsys.readouterr().out
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1.0)


@pytest.mark.usefixtures("small")
def test_guests_of_other_regions_find_as_much_as_in_one_region(problem, monkeypatch):
    X, y, X_target, _ = problem
    several = fit(X, y, X_target)
    monkeypatch.setattr(cells, "REGION_ROWS", 10_000)
    one = fit(X, y, X_target)
    assert several.neighbor_recall_ == pytest.approx(one.neighbor_recall_, abs=1e-4)
    assert agreement(one, several) >= 0.995


@pytest.mark.usefixtures("small")
def test_one_cell_is_an_exact_search(problem, in_memory, monkeypatch):
    monkeypatch.setattr(core_cells, "CELL_ROWS", 10_000)
    X, y, X_target, _ = problem
    model = fit(X, y, X_target)
    assert model.neighbor_recall_ == 1.0
    assert agreement(in_memory, model) >= 0.999
    np.testing.assert_allclose(model.label_distributions_, in_memory.label_distributions_, atol=2e-3)


@pytest.mark.usefixtures("small")
def test_order_of_the_rows_hardly_matters(problem):
    """Centres are drawn from other rows, so cells differ; the graph is nearly the same."""
    X, y, X_target, _ = problem
    order = np.argsort(X_target[:, 0])
    labels, shuffled = (fit(X, y, rows).transduction_.compute() for rows in (X_target, X_target[order]))
    assert np.mean(labels[order] == shuffled) >= 0.98


@pytest.mark.usefixtures("small")
def test_several_targets_and_given_labels(problem):
    X, y, X_target, y_target = problem
    given = masked(y_target, 5)
    targets = {"t": X_target[:1000], "u": X_target[1000:]}
    labels = {"t": given[:1000], "u": given[1000:]}
    here = one_setting(**GIVEN).fit(X, y, targets, labels)
    there = one_setting(**GIVEN).fit(lazy(X, 400), y, {k: lazy(v, 333) for k, v in targets.items()}, labels)
    assert there.neighbor_recall_ >= 0.95
    for name in targets:
        answer, known = there.transduction_[name].compute(), labels[name] >= 0
        assert np.mean(answer == here.transduction_[name]) >= 0.99
        np.testing.assert_array_equal(answer[known], labels[name][known])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("n_target", [60, 300])
def test_tiny_domains_and_cells_of_few_rows(n_target, monkeypatch):
    monkeypatch.setattr(core_cells, "CELL_ROWS", 4)
    monkeypatch.setattr(cells, "REGION_ROWS", 100)
    X, y, X_target, _ = shifted_pair(n_source=200, n_target=n_target, width=12, n_classes=4, apart=2.0)
    model = fit(X, y, X_target, sample_size=50)
    assert model.neighbor_recall_ > 0.1
    here = one_setting(**{**GIVEN, "sample_size": 50}).fit(X, y, X_target)
    assert agreement(here, model) > 0.8


@pytest.mark.usefixtures("small")
def test_equal_rows_do_not_fill_a_task(problem, monkeypatch):
    layouts = regions_of(monkeypatch)
    X, y, X_target, _ = problem
    X_target = np.vstack([X_target[:400], np.repeat(X_target[:1], 4000, axis=0)])
    monkeypatch.setattr(core_cells, "CELL_ROWS", 150)
    model = fit(X, y, X_target)
    assert max(map(len, layouts[0].members)) <= cells.REGION_ROWS
    assert len(np.unique(model.transduction_[400:].compute())) == 1


@pytest.mark.usefixtures("small")
def test_cells_are_crowded_beyond_four_times_their_mean_however_many_a_row_has(problem, monkeypatch):
    asked = []
    split = core_cells.split_crowded

    def spy(of_cells, n_cells, max_rows):
        asked.append((of_cells.shape[1], max_rows))
        return split(of_cells, n_cells, max_rows)

    monkeypatch.setattr(core_cells, "split_crowded", spy)
    X, y, X_target, _ = problem
    for least in (0.0, 1.1):
        monkeypatch.setattr(core_cells, "LEAST_RECALL", least)
        fit(X, y, X_target)
    assert asked == [(2, 4 * 600), (8, 4 * 4 * 600)]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "parameters",
    [{"neighbor_search": "exact"}, {"classifier": "harmonic"}, {"classifier": "svm"}],
    ids=str,
)
def test_other_searches_and_classifiers_stay_as_they_were(problem, parameters, monkeypatch):
    layouts = regions_of(monkeypatch)
    X, y, X_target, _ = problem
    model = fit(X, y, X_target, **parameters)
    assert not layouts
    assert agreement(one_setting(**{**GIVEN, **parameters}).fit(X, y, X_target), model) >= 0.999


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "parameters",
    [
        {"classifier": Propagation(n_neighbors=4)},
        {"classifier": Propagation(unit_length=False)},
        {"classifier": Propagation(class_mass=False)},
        {"target_proportions": [0.7, 0.1, 0.1, 0.1]},
    ],
    ids=["n_neighbors", "unit_length", "class_mass", "proportions"],
)
def test_parameters_of_the_propagation_reach_the_regions(problem, parameters):
    X, y, X_target, _ = problem
    model = fit(X, y, X_target, **parameters)
    here = one_setting(**{**GIVEN, **parameters}).fit(X, y, X_target)
    assert agreement(here, model) >= 0.99
    assert np.abs(model.label_distributions_.compute() - here.label_distributions_).mean() < 0.01


@pytest.mark.usefixtures("small")
def test_regions_are_solved_until_labels_are_steady_or_a_number_of_times(problem, monkeypatch):
    X, y, X_target, _ = problem
    layouts, solved = regions_of(monkeypatch), []
    count = cells.regions.count_changed
    monkeypatch.setattr(cells.regions, "count_changed", lambda *given: solved.append(count(*given)) or solved[-1])

    def rounds(steady, max_rounds):
        monkeypatch.setattr(cells, "STEADY", steady)
        monkeypatch.setattr(cells, "MAX_ROUNDS", max_rounds)
        solved.clear()
        fit(X, y, X_target)
        return len(solved) / len(layouts[-1].members)

    assert rounds(0.0, 3) == 3
    assert rounds(1.1, 3) == 1
    assert 1 < rounds(1e-3, 30) < 30


def test_a_saved_model_keeps_its_recall(problem, in_memory, tmp_path):
    import lpjt

    in_memory.save(tmp_path / "a.lpjt")
    assert lpjt.load(tmp_path / "a.lpjt").neighbor_recall_ == 1.0


def test_an_approximate_search_in_memory_is_not_measured(problem):
    pytest.importorskip("faiss")
    X, y, X_target, _ = problem
    assert one_setting(**{**GIVEN, "neighbor_search": "approximate"}).fit(X, y, X_target).neighbor_recall_ is None


def test_without_a_target_nothing_is_measured(problem):
    X, y, _, _ = problem
    assert LPJT().fit(X, y).neighbor_recall_ is None
