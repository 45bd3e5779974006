"""Nearest rows of other classes are those of a search, whatever is remembered of earlier labels."""

import numpy as np
import pytest

from lpjt.core import graphs, unlike
from lpjt.core.neighbors import Neighbors, nearest_others
from lpjt.core.unlike import nothing_known, recall, remember


def clustered_rows(n=400):
    """Rows of four clusters, each a class, but for some labels of other classes within each cluster."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 4
    X = rng.normal(size=(n, 6)) + 12 * np.eye(4, 6)[y]
    y[::25] = rng.integers(0, 4, size=len(y[::25]))
    return X, y


def graphs_of(X, y, memory=None):
    return graphs.class_graphs(X, y, n_neighbors=3, neighbors=nearest_others(X, 12), memory=memory)


def moved_labels(y, case):
    """Other labels of a few rows, among them neighbours that were remembered, and rows that had none."""
    y, rng = y.copy(), np.random.default_rng(1)
    changed = {"few": 4, "most allowed": len(y) // unlike.CHANGED, "too many": len(y) // unlike.CHANGED + 1}
    rows = rng.permutation(len(y))[: changed.get(case, 4)]
    y[rows] = -1 if case == "unlabelled" else (y[rows] + 1) % 4
    return y


@pytest.mark.parametrize("case", ["few", "most allowed", "too many", "unlabelled"])
def test_graphs_of_changed_labels_are_those_without_memory(case):
    X, y = clustered_rows()
    memory = graphs_of(X, y, nothing_known(y)).unlike
    assert len(memory.near.indices) > 100
    changed = moved_labels(y, case)
    found, fresh = graphs_of(X, changed, memory), graphs_of(X, changed)
    assert fresh.unlike is None
    assert (found.unlike is memory) == (case != "too many")  # else all rows were searched, and are remembered anew
    for name in ("within", "between"):
        difference = abs(getattr(found, name) - getattr(fresh, name))
        assert difference.max() < 1e-12


def test_what_is_recalled_is_not_searched(monkeypatch):
    X, y = clustered_rows()
    memory = graphs_of(X, y, nothing_known(y)).unlike
    asked = []
    search = graphs.nearest_unlike
    monkeypatch.setattr(
        graphs, "nearest_unlike", lambda X, y, rows, *a: asked.append(len(rows)) or search(X, y, rows, *a)
    )
    graphs_of(X, moved_labels(y, "few"), memory)
    assert sum(asked) < 20
    asked.clear()
    graphs_of(X, y, nothing_known(y))
    assert sum(asked) > 200


def two_classes(n_first):
    """Rows on a line, the first ones of class 0, and what is remembered of row 0: the three next ones of class 1."""
    X, y = np.arange(64.0)[:, None], (np.arange(64) >= n_first).astype(int)
    listed = np.array([[n_first, n_first + 1, n_first + 2]])
    return X, y.copy(), remember(y, np.array([0]), Neighbors(listed, X[listed, 0] ** 2)), np.arange(64) == 0


def test_a_list_without_enough_rows_that_are_left_is_not_trusted():
    X, y, memory, asked = two_classes(1)
    rows, found = recall(X, y, asked, 2, memory)
    assert (rows.tolist(), sorted(found.indices[0].tolist())) == ([0], [1, 2])
    y[1] = 0  # one of the listed ones joins the class of row 0: row 4, which is not listed, might be as near as row 3
    assert recall(X, y, asked, 2, memory) is None
    assert recall(X, y, asked, 1, memory)[1].indices.tolist() == [[2]]


def test_a_row_that_left_the_class_counts_if_it_is_nearer_than_the_end_of_the_list():
    X, y, memory, asked = two_classes(4)
    X[3] = 5.5
    y[[3, 4]] = 1, 0
    assert sorted(recall(X, y, asked, 2, memory)[1].squared[0].tolist()) == [25, 5.5**2]
    for farther in (6.0, 6.5):  # row 7, which is not listed, might be as near, or nearer
        X[3] = farther
        assert recall(X, y, asked, 2, memory) is None


def test_of_equally_far_rows_the_order_of_rows_decides_nothing():
    """Counts have many neighbours at one distance; what is remembered ranks them as a search does."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, size=(500, 8)) + 3.0 * np.eye(4, 8)[np.arange(500) % 4]
    X = np.unique(X, axis=0)
    y = X[:, :4].argmax(axis=1)
    changed = y.copy()
    changed[rng.permutation(len(X))[:12]] = 0
    order = rng.permutation(len(X))
    assert len(X) > 300

    def between(order):
        memory = graphs_of(X[order], y[order], nothing_known(y[order])).unlike
        found = graphs_of(X[order], changed[order], memory)
        assert found.unlike is memory
        return found.between.toarray()

    expected = graphs_of(X, changed).between.toarray()
    np.testing.assert_allclose(between(np.arange(len(X))), expected, atol=1e-12)
    np.testing.assert_allclose(between(order), expected[np.ix_(order, order)], atol=1e-12)


def test_a_row_of_another_class_than_before_is_searched():
    X, y, memory, asked = two_classes(2)
    y[0] = 2  # row 1, of its class until now, is the nearest
    assert recall(X, y, asked, 1, memory) is None


def test_a_row_that_had_no_label_needs_a_search():
    X, y, memory, asked = two_classes(4)
    y[1] = 1
    assert recall(X, y, asked, 1, memory)[1].indices.tolist() == [[1]]
    memory.y[1] = -1  # of no class until now, it may be in no list whatever its distance
    assert recall(X, y, asked, 1, memory) is None


def test_a_listed_row_that_lost_its_label_is_left_out():
    X, y, memory, asked = two_classes(4)
    y[4] = -1
    assert recall(X, y, asked, 1, memory)[1].indices.tolist() == [[5]]


def test_a_row_that_left_the_class_is_compared():
    X, y = np.arange(64.0)[:, None], np.ones(64, dtype=int)
    y[:8] = 0
    near = Neighbors(np.array([[8, 9, 10]]), np.array([[64.0, 81.0, 100.0]]))
    memory = remember(y, np.array([0]), near)
    changed = y.copy()
    changed[2], changed[9] = 1, -1
    _, found = recall(X, changed, np.arange(64) == 0, 2, memory)
    assert dict(zip(found.indices[0].tolist(), found.squared[0].tolist(), strict=True)) == {2: 4.0, 8: 64.0}


@pytest.mark.parametrize("share", [0.4, 0.6])  # from one half on, a class is searched by itself
def test_one_search_of_all_classes_is_one_of_each(share, monkeypatch):
    X, y = clustered_rows()
    y[: int(share * len(y))] = 0
    together = graphs_of(X, y)
    monkeypatch.setattr(graphs, "MANY_OTHERS", len(y) - 1)  # each class by itself, among the same rows
    monkeypatch.setattr(graphs, "nearest_unlike", None)
    monkeypatch.setattr(graphs, "MAX_CONFINED", len(y))
    assert abs(together.between - graphs_of(X, y).between).max() < 1e-12


def test_fewer_rows_of_other_classes_than_neighbours():
    X, y = np.random.default_rng(0).normal(size=(128, 2)), np.zeros(128, dtype=int)
    y[:2] = 1
    memory = graphs_of(X, y, nothing_known(y)).unlike
    found, fresh = graphs_of(X, y, memory), graphs_of(X, y)
    assert found.unlike is memory
    assert abs(found.between - fresh.between).max() < 1e-12


@pytest.mark.parametrize(("search", "most"), [("exact", 399), ("approximate", 400)])
def test_nothing_is_remembered_where_some_of_the_others_are_searched(search, most, monkeypatch):
    X, y = clustered_rows()
    assert graphs_of(X, y, nothing_known(y)).unlike is not None
    monkeypatch.setattr(graphs, "MANY_OTHERS", most)
    near = nearest_others(X, 12)
    arguments = {"n_neighbors": 3, "neighbors": near, "search": search, "memory": nothing_known(y)}
    assert graphs.class_graphs(X, y, **arguments).unlike is None
