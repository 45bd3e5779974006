"""The objective's workspace: what is computed once, what again, and that reuse changes no number."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core import objective
from lpjt.core.objective import Problem, list_neighbors, objective_matrices, prepare
from toys import blobs, settings


def problem(n_sources=2):
    rng = np.random.default_rng(0)
    data = [blobs(rng, 20 + 3 * i, 4, 3, shift=0.2 * i) for i in range(n_sources + 1)]
    is_target = (False,) * n_sources + (True,)
    return Problem(tuple(X for X, _ in data), tuple(y for _, y in data), is_target, 3)


def weights_of(given, value=1.0):
    return tuple(np.full(len(X), value) for X in given.rows)


@pytest.fixture
def calls(monkeypatch):
    """Names of what is computed, in its order."""
    made = []

    def watch(module, name):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, **k: made.append(name) or original(*a, **k))

    watch(objective.graphs, "class_graphs")
    watch(objective.moments, "class_moments")
    watch(objective.moments, "weighted_gram")
    watch(objective.moments, "total_scatter")
    watch(objective, "nearest_others")
    return made


def test_sources_are_prepared_once(calls):
    given, choice = problem(), settings()
    workspace = prepare(given, choice)
    # Lists of three domains; graphs and two scatters of each source; S_h of the target.
    assert calls == ["nearest_others"] * 3 + ["class_graphs", "weighted_gram", "weighted_gram"] * 2 + ["total_scatter"]
    assert workspace.neighbors[:2] == (None, None)
    assert workspace.neighbors[2].indices.shape == (26, 25)
    assert workspace.offsets.tolist() == [0, 4, 8, 12]
    assert set(workspace.scatter) == {2}


def test_lists_that_are_given_are_not_searched_again(calls):
    given, choice = problem(), settings()
    listed = list_neighbors(given.rows, choice)
    calls.clear()
    workspace = prepare(replace(given, neighbors=listed), choice)
    assert "nearest_others" not in calls
    assert workspace.neighbors[2] is listed[2]


def test_what_did_not_change_is_not_computed_again(calls):
    given, choice = problem(), settings()
    workspace = prepare(given, choice)
    calls.clear()
    once = objective_matrices(given, choice, workspace, given.labels, weights_of(given), 1.0)
    once = [S.copy() for S in once]
    # Moments of three domains; spreads of two sources; graphs and two scatters of the target.
    assert sorted(calls) == ["class_graphs"] + ["class_moments"] * 3 + ["weighted_gram"] * 4
    calls.clear()
    again = objective_matrices(given, choice, workspace, given.labels, weights_of(given), 1.0)
    assert sorted(calls) == ["class_moments"] + ["weighted_gram"] * 2  # of the target alone
    for S, other in zip(once, again, strict=True):
        assert_array_equal(S, other)


@pytest.mark.parametrize("changed", ["labels", "weights", "weights of one source", "shared classes"])
def test_what_changed_is_as_in_a_fresh_workspace(changed):
    given, choice = problem(), settings(landmark_ratio=0.5)
    workspace = prepare(given, choice)
    labels, weights = given.labels, weights_of(given, 0.5)
    objective_matrices(given, choice, workspace, labels, weights, 0.5)
    if changed == "labels":
        labels = (*labels[:2], np.roll(labels[2], 1))
    elif changed == "weights":
        weights = weights_of(given, 0.3)
    elif changed == "weights of one source":
        weights = (weights[0], np.linspace(0, 1, 23), weights[2])
    else:
        labels = (*labels[:2], labels[2] % 2)  # class 2 is gone from the target: the sources' spread changes
    found = objective_matrices(given, choice, workspace, labels, weights, 0.5)
    fresh = objective_matrices(given, choice, prepare(given, choice), labels, weights, 0.5)
    for S, other in zip(found, fresh, strict=True):
        assert_allclose(S, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("search", "n_neighbors", "k"), [("exact", 3, 64), ("exact", 17, 68), ("approximate", 3, 32)])
def test_length_of_the_lists(search, n_neighbors, k, monkeypatch):
    asked = []

    def spy(X, k, *, search):
        asked.append((len(X), k, search))

    monkeypatch.setattr(objective, "nearest_others", spy)
    rows = np.zeros((5, 2)), np.zeros((256, 3)), np.zeros((257, 3))
    list_neighbors(rows, settings(search=search, n_neighbors=n_neighbors))
    assert asked == [(5, k, search), (256, 256, search), (257, k, search)]  # few rows: all others are listed


def test_settings_reach_the_graphs(monkeypatch):
    asked, pairs = [], []

    def class_graphs(X, y, **options):
        options["neighbors"] = options["neighbors"].indices.shape
        asked.append(options)
        return original(X, y, n_neighbors=3)

    def closest_pairs_graph(X, y, **options):
        pairs.append(options)
        return original(X, y, n_neighbors=3).between

    original = objective.graphs.class_graphs
    monkeypatch.setattr(objective.graphs, "class_graphs", class_graphs)
    monkeypatch.setattr(objective.graphs, "closest_pairs_graph", closest_pairs_graph)
    prepare(
        problem(1), settings(n_neighbors=2, graph_weights="binary", bandwidth=2.5, search="approximate", max_pairs=6)
    )
    common = {"n_neighbors": 2, "graph_weights": "binary", "bandwidth": 2.5, "search": "approximate"}
    assert asked == [common | {"neighbors": (20, 19), "memory": None}]
    assert pairs == [{"max_pairs": 6, "search": "approximate"}]


@pytest.mark.parametrize("max_pairs", [None, 6])
def test_targets_remember_searches_from_their_second_labels_on(monkeypatch, max_pairs):
    """The first labels differ too much from those that follow; sources have one set of labels."""
    memories, original = [], objective.graphs.class_graphs

    def class_graphs(X, y, **options):
        memories.append(options["memory"])
        return original(X, y, **options)

    monkeypatch.setattr(objective.graphs, "class_graphs", class_graphs)
    monkeypatch.setattr(objective, "LISTED_WHOLE", 0)
    monkeypatch.setattr(objective, "LISTED", 4)
    given, choice = problem(1), settings(n_neighbors=1, graph_weights="binary", max_pairs=max_pairs)
    far = replace(given, rows=tuple(X + 50 * np.eye(3, 4)[y] for X, y in zip(given.rows, given.labels, strict=True)))
    workspace, y = prepare(far, choice), given.labels[1]
    assert memories == [None]
    found = []
    for n_changed in (0, 2, 3):
        labels = given.labels[0], np.concatenate([(y[:n_changed] + 1) % 3, y[n_changed:]])
        objective_matrices(far, choice, workspace, labels, weights_of(far), 1.0)
        found.append(workspace.target_graphs[1][1].unlike)
    _, first, second, third = memories
    assert first is found[0] is None
    assert not len(second.near.indices)
    assert third is found[1]
    assert len(third.near.indices)


def test_shares_of_the_domains():
    rows, labels = (np.zeros((2, 2)),) * 5, (np.zeros(2, dtype=int),) * 5
    given = Problem(rows, labels, (False, False, False, True, True), 2)
    assert given.n_sources == 3
    assert [given.share(i) for i in (0, 2, 3, 4)] == [1 / 3, 1 / 3, 1 / 2, 1 / 2]


def test_every_setting_must_be_given():
    with pytest.raises(TypeError, match="n_components"):
        objective.Settings()
    defaults = settings()
    assert (defaults.max_pairs, defaults.landmark_cross) == (None, 2.0)
    assert (defaults.weigh_target, defaults.initial_weight) == (True, None)


def test_a_copy_serves_other_iterations_and_leaves_the_workspace_as_it_was(calls):
    given, choice = problem(), settings()
    workspace = prepare(given, choice)
    other = (*given.labels[:2], np.roll(given.labels[2], 1))
    for labels in (given.labels, other):
        fresh = objective_matrices(given, choice, prepare(given, choice), labels, weights_of(given), 1.0)
        calls.clear()
        found = objective_matrices(given, choice, workspace.copy(), labels, weights_of(given), 1.0)
        assert "nearest_others" not in calls  # nothing of the sources, nor a list, is computed again
        assert calls.count("class_graphs") == 1
        for S, expected in zip(found, fresh, strict=True):
            assert_array_equal(S, expected)
    assert not workspace.target_graphs
    assert not workspace.source_moments
    assert_array_equal(workspace.S_max, prepare(given, choice).S_max)
