"""Graphs: the same edges and weights as the oracle's, whatever the labels, the ties and the scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracles
from lpjt.core import edges, graphs, moments
from lpjt.core.blocks import as_dense
from lpjt.core.edges import degrees

WEIGHTINGS = [("heat", 1.0), ("heat", 2.5), ("binary", 1.0)]


def labelled_rows(seed=0, n=40, width=3):
    """Overlapping classes: class 3 has one row, class 4 two, and some rows have no label."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    y[:3] = 3, 4, 4
    y[5:10] = -1
    return rng.normal(size=(n, width)), y


def separated_rows(seed=0):
    """Clusters of 12 rows, 50 apart: no list of 4 k nearest rows holds a row of another class."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), 12)
    return rng.normal(size=(36, 2)) + 50.0 * np.eye(3)[y][:, :2], y


def assert_same_graph(found, expected, **tolerance):
    assert_allclose(as_dense(found), expected, **({"rtol": 1e-10, "atol": 1e-300} | tolerance))


@pytest.mark.parametrize("form", [np.ndarray, sparse.csr_array])
@pytest.mark.parametrize(("graph_weights", "bandwidth"), WEIGHTINGS)
@pytest.mark.parametrize("n_neighbors", [1, 3, 60])
@pytest.mark.parametrize("rows", [labelled_rows, separated_rows])
def test_graphs_are_the_oracles(rows, n_neighbors, graph_weights, bandwidth, form, monkeypatch):
    if form is sparse.csr_array:
        monkeypatch.setattr(edges, "SMALL_GRAPH", 0)
    X, y = rows()
    if rows is separated_rows and graph_weights == "heat":
        bandwidth = 30.0
    found = graphs.class_graphs(X, y, n_neighbors=n_neighbors, graph_weights=graph_weights, bandwidth=bandwidth)
    assert type(found.within) is type(found.between) is form
    arguments = (X, y, n_neighbors, graph_weights, bandwidth)
    assert_same_graph(found.within, oracles.within_graph(*arguments))
    assert_same_graph(found.between, oracles.between_graph(*arguments))


@pytest.mark.parametrize("n_near", [1, 4, 39])
def test_the_length_of_the_given_neighbour_lists_does_not_matter(n_near):
    X, y = labelled_rows()
    plain = graphs.class_graphs(X, y, n_neighbors=4, bandwidth=1.0)
    given = graphs.class_graphs(X, y, n_neighbors=4, bandwidth=1.0, neighbors=graphs.nearest_others(X, n_near))
    assert_same_graph(given.within, as_dense(plain.within))
    assert_same_graph(given.between, as_dense(plain.between))


def test_short_lists_are_what_separated_clusters_have():
    X, y = separated_rows()
    near = graphs.nearest_others(X, 8).indices
    assert (y[near] == y[:, None]).all()
    found = graphs.class_graphs(X, y, n_neighbors=2, graph_weights="binary")
    assert (degrees(found.between) >= 2).all()


def test_rows_of_no_class_and_classes_of_one_row():
    X, y = labelled_rows()
    found = graphs.class_graphs(X, y, n_neighbors=3, graph_weights="binary")
    silent = y < 0
    for W in (found.within, found.between):
        assert not degrees(W)[silent].any()
        assert not W.diagonal().any()
        assert_array_equal(as_dense(W), as_dense(W).T)
    assert degrees(found.within)[0] == 0  # alone in its class
    assert degrees(found.within)[1:3].tolist() == [1, 1]
    assert (degrees(found.between)[~silent] >= 3).all()


def test_one_class_has_no_penalty_graph():
    X, _ = labelled_rows()
    found = graphs.class_graphs(X, np.zeros(40, dtype=int), n_neighbors=3)
    assert np.count_nonzero(as_dense(found.between)) == 0
    assert found.between.shape == (40, 40)
    nothing = graphs.class_graphs(X, np.full(40, -1), n_neighbors=3)
    assert np.count_nonzero(as_dense(nothing.within)) == np.count_nonzero(as_dense(nothing.between)) == 0


def test_each_row_given_twice():
    # Twins take one place in the list of a row and two in those of others: k of 3 and of 4 leave no tie open.
    rng = np.random.default_rng(3)
    X, y = np.repeat(rng.normal(size=(15, 3)), 2, axis=0), np.repeat(rng.integers(0, 3, size=15), 2)
    for k, name in ((3, "within"), (4, "between")):
        found = getattr(graphs.class_graphs(X, y, n_neighbors=k, bandwidth=2.0), name)
        assert_same_graph(found, getattr(oracles, f"{name}_graph")(X, y, k, "heat", 2.0), atol=1e-7)


def test_more_twins_than_neighbours():
    rng = np.random.default_rng(4)
    X, y = np.repeat(rng.normal(size=(6, 3)), 5, axis=0), np.repeat([0, 1, 2, 0, 1, 2], 5)
    found = graphs.class_graphs(X, y, n_neighbors=3)
    group = np.repeat(np.arange(6), 5)
    rows, columns = found.within.nonzero()
    assert (group[rows] == group[columns]).all()
    assert (rows != columns).all()
    assert (found.within.astype(bool).sum(axis=1) >= 3).all()
    assert_allclose(trace_of(X, found.within), 0, atol=1e-12)


def test_twins_are_no_more_than_the_neighbours_asked_for():
    # Rows 6 to 11 find none of their class in their lists, and, searched for again, often not themselves: the place
    # kept for the row itself must not become an edge.
    found = graphs.class_graphs(np.zeros((12, 2)), np.repeat([0, 1], 6), n_neighbors=1, graph_weights="binary")
    assert 6 <= np.count_nonzero(as_dense(found.within)[6:, 6:]) <= 2 * 6


@pytest.mark.parametrize("max_pairs", [1, 2, 5, 10, 10_000])
def test_closest_pairs_of_the_domain(max_pairs):
    X, y = labelled_rows(seed=5)
    found = graphs.closest_pairs_graph(X, y, max_pairs=max_pairs)
    assert_same_graph(found, oracles.between_pairs_graph(X, y, max_pairs))


def directed_edges(X, candidates, k):
    """Squared lengths of the edges from each row to its k nearest candidates."""
    lengths = []
    for i in range(len(X)):
        lengths += sorted(((X[i] - X[j]) ** 2).sum() for j in candidates(i))[:k]
    return np.array(lengths)


def test_auto_bandwidth_is_the_root_mean_square_length_of_the_edges():
    X, y = labelled_rows()
    found = graphs.class_graphs(X, y, n_neighbors=3)
    same = directed_edges(X, lambda i: [j for j in range(40) if j != i and y[j] == y[i] >= 0], 3)
    other = directed_edges(X, lambda i: [j for j in range(40) if y[j] != y[i] and min(y[i], y[j]) >= 0], 3)
    h_within, h_between = np.sqrt(same.mean()), np.sqrt(other.mean())
    assert_same_graph(found.within, oracles.within_graph(X, y, 3, "heat", h_within))
    assert_same_graph(found.between, oracles.between_graph(X, y, 3, "heat", h_between))


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_auto_bandwidth_makes_the_scale_of_no_matter(scale):
    X, y = labelled_rows()
    plain, scaled = (graphs.class_graphs(rows, y, n_neighbors=3) for rows in (X, scale * X))
    for name in ("within", "between"):
        W = getattr(scaled, name)
        assert np.count_nonzero(as_dense(W)) > 0
        assert as_dense(W)[as_dense(W) > 0].min() > 1e-6
        assert_same_graph(W, as_dense(getattr(plain, name)), rtol=1e-8)


def test_the_papers_bandwidth_loses_the_graph_of_long_rows_and_says_so():
    # Why "auto" is the default: exp(-||x - x'||^2 / 2) is 0 from a length of 39 on.
    X, y = labelled_rows()
    with pytest.raises(ValueError, match=r"A bandwidth of 1\.0 leaves nothing of the graph"):
        graphs.class_graphs(1e4 * X, y, n_neighbors=3, bandwidth=1.0)


def test_identical_rows_have_weight_one():
    found = graphs.class_graphs(np.zeros((6, 2)), np.array([0, 0, 0, 1, 1, 1]), n_neighbors=2)
    assert set(as_dense(found.within).ravel()) == {0.0, 1.0}
    assert set(as_dense(found.between).ravel()) == {0.0, 1.0}


def trace_of(Z, W):
    """Tr(Z' L Z)."""
    return np.trace(moments.weighted_gram(Z, degrees(W), W))


def test_the_trace_with_the_laplacian_is_the_sum_over_edges():
    X, y = labelled_rows()
    A = np.random.default_rng(1).normal(size=(3, 2))
    found = graphs.class_graphs(X, y, n_neighbors=3)
    for W in (found.within, found.between):
        assert_allclose(trace_of(X @ A, W), oracles.graph_energy(X @ A, as_dense(W)), rtol=1e-12)


def test_edge_weights():
    squared = np.array([0.0, 1.0, 3.0])
    assert_array_equal(graphs.edge_weights(squared, "binary"), 1.0)
    assert_allclose(graphs.edge_weights(squared, bandwidth=2.0), np.exp(-squared / 8), rtol=1e-15)
    assert_allclose(graphs.edge_weights(squared), np.exp(-squared / (2 * 4 / 3)), rtol=1e-15)
    assert len(graphs.edge_weights(np.empty(0))) == 0
    for dtype in (np.float32, np.float64):  # numpy 1 rounds a number to the dtype of the array
        assert_array_equal(graphs.edge_weights(np.zeros(3, dtype=dtype)), 1.0)


def test_degrees_are_row_sums():
    W = sparse.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    assert degrees(W).tolist() == [2.0, 2.0]


def test_nearest_others_leaves_the_row_out():
    X, _ = labelled_rows()
    near = graphs.nearest_others(np.repeat(X, 3, axis=0), 5)
    assert (near.indices != np.arange(120)[:, None]).all()
    assert near.indices.shape == near.squared.shape == (120, 5)
    assert graphs.nearest_others(X[:4], 10).indices.shape == (4, 3)
    assert_allclose(near.squared[:, :2], 0, atol=1e-12)
    assert (np.diff(near.squared, axis=1) >= 0).all()


def test_lists_are_four_times_as_long_as_the_neighbours(monkeypatch):
    asked = []
    search_others = graphs.nearest_others

    def spy(X, k, *, search):
        asked.append((k, search))
        return search_others(X, k)

    monkeypatch.setattr(graphs, "nearest_others", spy)
    X, y = labelled_rows()
    graphs.class_graphs(X, y, n_neighbors=3)
    graphs.class_graphs(X, y, n_neighbors=5, search="approximate")
    assert asked == [(12, "exact"), (20, "approximate")]


def test_the_search_reaches_what_is_searched_by_class(monkeypatch):
    asked = set()
    among = graphs.nearest_among

    def spy(X, queries, candidates, k, *, search):
        asked.add((k, search))
        return among(X, queries, candidates, k)

    def spy_unlike(X, y, queries, candidates, k):
        asked.add((k, "exact, all classes"))
        return unlike(X, y, queries, candidates, k)

    unlike = graphs.nearest_unlike
    monkeypatch.setattr(graphs, "nearest_among", spy)
    monkeypatch.setattr(graphs, "nearest_unlike", spy_unlike)
    X, y = separated_rows()
    near = graphs.nearest_others(X, 8)
    graphs.class_graphs(X, y, n_neighbors=2, neighbors=near)
    assert asked == {(2, "exact, all classes")}  # of other classes: their own are in the lists
    asked.clear()
    graphs.class_graphs(X, y, n_neighbors=9, neighbors=near, search="approximate")
    assert asked == {(10, "approximate"), (9, "approximate")}  # one more among their own, for the row itself
    asked.clear()
    graphs.closest_pairs_graph(X, y, max_pairs=4)
    graphs.closest_pairs_graph(X, y, max_pairs=7, search="approximate")
    assert asked == {(2, "exact"), (4, "approximate")}


def test_rows_with_exactly_enough_neighbours_are_not_searched_again(monkeypatch):
    monkeypatch.setattr(graphs, "nearest_among", None)
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 1, 0, 1])
    found = graphs.class_graphs(X, y, n_neighbors=1, graph_weights="binary", neighbors=graphs.nearest_others(X, 3))
    assert as_dense(found.within).tolist() == [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]
    assert (degrees(found.between) >= 1).all()


def test_a_class_of_two_has_one_edge():
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1])
    found = graphs.class_graphs(X, y, n_neighbors=4, graph_weights="binary")
    assert as_dense(found.within).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert as_dense(found.between).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_the_closest_of_equal_pairs_is_the_first():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    found = as_dense(graphs.closest_pairs_graph(X, y, max_pairs=2))
    assert found[0, 1] == found[1, 0] == 1
    assert found.sum() == 2
    # Rows without a label have no pair.
    assert as_dense(graphs.closest_pairs_graph(X, np.array([0, -1, 1, -1]), max_pairs=9)).nonzero()[0].tolist() == [
        0,
        2,
    ]


def test_weights_just_above_nothing_are_a_graph():
    assert graphs.edge_weights(np.array([70.0, 4000.0]), bandwidth=1.0)[0] > np.finfo(float).eps
    with pytest.raises(ValueError, match=r"edges are 8\.6 long on average.*Set graph_weights='heat'"):
        graphs.edge_weights(np.array([74.0, 74.0]), bandwidth=1.0)
    assert graphs.edge_weights(np.zeros(2)).tolist() == [1.0, 1.0]


def test_of_many_equal_pairs_the_first_are_taken():
    X, y = np.arange(200.0)[:, None], np.arange(200) % 2
    X[100:] += 0.5 * np.arange(100)[:, None]  # a hundred pairs at a distance of 1, the others farther
    found = as_dense(graphs.closest_pairs_graph(X[::-1].copy(), y, max_pairs=20))
    rows, columns = np.nonzero(np.triu(found))
    assert rows.tolist() == list(range(99, 109))
    assert columns.tolist() == list(range(100, 110))


def test_far_rows_are_compared_with_some_of_many_others(monkeypatch):
    X, y = separated_rows()
    exact = graphs.class_graphs(X, y, n_neighbors=2)
    monkeypatch.setattr(graphs, "MAX_CONFINED", 6)
    monkeypatch.setattr(graphs, "MANY_OTHERS", 24)  # as many as there are
    assert_same_graph(graphs.class_graphs(X, y, n_neighbors=2).between, as_dense(exact.between))
    pairs = as_dense(graphs.closest_pairs_graph(X, y, max_pairs=10))
    monkeypatch.setattr(graphs, "MANY_OTHERS", 23)
    found = graphs.class_graphs(X, y, n_neighbors=2)
    assert_same_graph(found.within, as_dense(exact.within))
    others = [np.flatnonzero(y != c)[::4] for c in range(3)]
    rows, columns = found.between.nonzero()
    assert all(j in others[y[i]] or i in others[y[j]] for i, j in zip(rows, columns, strict=True))
    assert np.count_nonzero(as_dense(found.between)) > 36  # as many edges per row as before, whatever they join
    assert_same_graph(graphs.closest_pairs_graph(X, y, max_pairs=10), pairs)  # of the whole domain, always
