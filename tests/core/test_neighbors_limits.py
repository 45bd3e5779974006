"""The search at its limits: which routine is used, blocks, ties, dtypes, and a row's own place."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core import neighbors
from lpjt.core.distances import pivot_of
from lpjt.core.neighbors import Neighbors


def rows(n, width=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, width))


def all_distances(queries, candidates):
    return ((queries[:, None] - candidates) ** 2).sum(axis=-1)


@pytest.fixture
def used(monkeypatch):
    """Names of the routines that were used, in their order."""
    names = []

    def watch(name):
        original = getattr(neighbors, name)
        monkeypatch.setattr(neighbors, name, lambda *a, **k: names.append(name) or original(*a, **k))

    for name in ("_nearest_of_few", "_nearest_of_all", "nearest_by_clusters"):
        watch(name)
    return names


def test_few_pairs_are_compared_at_once(used):
    X = rows(257)
    neighbors.nearest_rows(X[:128], X[:256], 2)  # 2^15 pairs
    neighbors.nearest_rows(X[:128], X, 2)
    assert used == ["_nearest_of_few", "_nearest_of_all"]


def test_the_approximate_search_is_for_more_rows_than_it_compares_with(used, monkeypatch):
    monkeypatch.setattr(neighbors, "COMPARED", 300)
    X = rows(301)
    neighbors.nearest_rows(X, X[:300], 2, search="approximate")
    neighbors.nearest_others(X[:300], 2, search="approximate")
    assert used == ["_nearest_of_all"] * 2
    used.clear()
    neighbors.nearest_rows(X, X, 2)
    neighbors.nearest_others(X, 2)
    assert used == ["_nearest_of_all"] * 2
    used.clear()
    neighbors.nearest_rows(X, X, 2, search="approximate")
    neighbors.nearest_others(X, 2, search="approximate")
    assert used == ["nearest_by_clusters"] * 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_queries", [20, 200])
@pytest.mark.parametrize("k", [1, 7, 500])
def test_both_exact_routines_find_the_nearest(dtype, n_queries, k):
    queries, candidates = rows(n_queries, seed=1).astype(dtype), rows(300).astype(dtype)
    found = neighbors.nearest_rows(queries, candidates, k)
    squared = all_distances(queries.astype(np.float64), candidates)
    k = min(k, 300)
    expected = np.argsort(squared, axis=1)[:, :k]
    assert found.indices.shape == found.squared.shape == (n_queries, k)
    if dtype == np.float64:
        assert_array_equal(found.indices, expected)
    assert_allclose(found.squared, np.take_along_axis(squared, expected, axis=1), rtol=1e-4, atol=1e-6)


def test_few_rows_far_from_the_origin_have_exact_distances():
    X = 1e8 + np.arange(6.0)[:, None] ** 2
    found = neighbors.nearest_rows(X, X, 3)
    assert found.squared[5].tolist() == [0.0, 81.0, 256.0]
    assert found.indices[5].tolist() == [5, 4, 3]
    assert neighbors.nearest_rows(X.astype(np.float32), X.astype(np.float32), 2).squared.dtype == np.float64


@pytest.mark.parametrize("n", [10, 300])
def test_of_equal_rows_the_first_is_the_nearest(n):
    X = np.repeat(rows(5), 2, axis=0)
    found = neighbors.nearest_rows(np.tile(X, (n // 10, 1)), X, 1 if n > 10 else 2)
    assert (np.sort(found.squared, axis=1) == found.squared).all()
    if n == 10:
        assert_array_equal(found.indices, np.repeat(np.arange(10).reshape(5, 2), 2, axis=0))


def test_others_in_every_block_of_queries_and_candidates(monkeypatch):
    monkeypatch.setattr(neighbors, "QUERY_BLOCK", 7)
    monkeypatch.setattr(neighbors, "CANDIDATE_BLOCK", 5)
    X = rows(33)
    found = neighbors.nearest_others(X, 4)
    squared = all_distances(X, X) + np.diag(np.full(33, np.inf))
    assert_array_equal(found.indices, np.argsort(squared, axis=1)[:, :4])
    assert_allclose(found.squared, np.sort(squared, axis=1)[:, :4], rtol=1e-10)
    everyone = neighbors.nearest_others(X, 99)
    assert_array_equal(everyone.indices, np.argsort(squared, axis=1)[:, :32])


def test_blocks_of_the_exact_search(monkeypatch):
    shapes = []
    smallest = neighbors.smallest_of_rows

    def spy(values, k):
        shapes.append(values.shape)
        return smallest(values, k)

    monkeypatch.setattr(neighbors, "smallest_of_rows", spy)
    neighbors.nearest_rows(rows(258, 2), rows(4100, 2), 1)
    assert shapes[0] == (256, 4096)
    assert (256, 4) in shapes
    assert (2, 4096) in shapes


def test_distances_are_never_negative():
    X = 1e3 + 1e-3 * rows(400)
    found = neighbors.nearest_others(X, 3)
    assert (found.squared >= 0).all()


def test_float32_rows_far_from_the_origin_are_moved():
    near, far = rows(50).astype(np.float32), (5 + rows(50)).astype(np.float32)
    assert pivot_of(near) is None
    pivot = pivot_of(far)
    assert pivot.dtype == np.float32
    assert_allclose(pivot, far.mean(axis=0), rtol=1e-5)
    assert pivot_of(far.astype(np.float64)) is None
    # Twice the square of the mean against the mean square: at +-1 about a mean of 1 they are equal.
    even = np.array([[0.0], [2.0]], dtype=np.float32)
    assert pivot_of(even) is None
    assert pivot_of(even + np.float32(0.01)) is not None


def test_float64_rows_whose_differences_are_lost_beside_their_size_are_moved():
    assert pivot_of(1e3 + rows(50)) is None
    assert_allclose(pivot_of(1e6 + rows(50)), [1e6] * 3, rtol=1e-5)
    assert pivot_of(rows(0)) is None


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 2.0**20), (np.float64, 2.0**48)])
@pytest.mark.parametrize("n", [30, 400])
def test_neighbours_of_rows_far_from_the_origin(dtype, far, n):
    X = np.random.default_rng(0).permutation(16 * n)[: 4 * n].reshape(n, 4) % 97  # exact in both dtypes
    found = neighbors.nearest_rows((X + far).astype(dtype), (X[::-1] + far).astype(dtype), 3)
    assert_array_equal(found.squared, np.sort(all_distances(X, X[::-1]), axis=1)[:, :3])


def test_a_list_without_its_row_loses_its_last_place():
    near = Neighbors(np.array([[0, 1, 2], [0, 2, 3], [3, 2, 1], [1, 2, 3]]), np.arange(12.0).reshape(4, 3))
    found = neighbors._without_self(near)
    assert found.indices.tolist() == [[1, 2], [0, 2], [3, 1], [1, 2]]
    assert found.squared.tolist() == [[1, 2], [3, 4], [6, 8], [9, 10]]


def test_the_first_of_a_list():
    near = Neighbors(np.arange(6).reshape(2, 3), np.arange(6.0).reshape(2, 3))
    assert near.first(2).indices.tolist() == [[0, 1], [3, 4]]
    assert near.first(2).squared.tolist() == [[0, 1], [3, 4]]


def test_a_confined_search_takes_evenly_spaced_candidates(monkeypatch):
    pytest.importorskip("faiss", reason="faiss compares the rows")
    monkeypatch.setattr(neighbors, "MAX_CONFINED", 10)
    X = rows(60)
    queries = np.array([3, 50])
    for n, step in ((10, 1), (11, 2), (20, 2), (21, 3)):
        candidates = np.arange(100, 100 - n, -1) - 45
        found = neighbors.nearest_among(X, queries, candidates, 4, search="approximate")
        some = candidates[::step]
        expected = some[np.argsort(all_distances(X[queries], X[some]), axis=1)[:, :4]]
        assert_array_equal(found.indices, expected)
        assert_allclose(found.squared, np.sort(all_distances(X[queries], X[some]), axis=1)[:, :4], rtol=1e-4)
    few = neighbors.nearest_among(X, queries, np.arange(40), 30, search="approximate")
    assert few.indices.shape == (2, 10)


def test_a_missing_faiss_is_named_with_the_rows(monkeypatch):
    monkeypatch.setattr(neighbors.importlib.util, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match=r"^12345 rows are searched exactly.*pip install lpjt\[faiss\]"):
        assert neighbors.choose_search("auto", 12345) == "exact"
    assert neighbors.choose_search("auto", 10_000) == "exact"
    with pytest.raises(ImportError, match="neighbors='exact'"):
        neighbors.choose_search("approximate", 5)


@pytest.mark.parametrize(("width", "k"), [(120, 1), (301, 30), (4096, 100)])
def test_the_smallest_of_many_rows(width, k):
    values = np.random.default_rng(0).normal(size=(300, width))
    places, smallest = neighbors.smallest_of_rows(values, k)
    assert_array_equal(np.sort(smallest, axis=1), np.sort(values, axis=1)[:, :k])
    assert_array_equal(np.take_along_axis(values, places, axis=1), smallest)


@pytest.mark.parametrize(("width", "k"), [(8, 1), (9, 1), (12, 1), (24, 2), (25, 2), (27, 3), (160, 5)])
def test_groups_hide_no_small_value(width, k):
    """The smallest value at each place in turn, the others of its group large or small."""
    rng = np.random.default_rng(0)
    values = rng.uniform(1, 2, size=(width, width))
    values[np.arange(width), np.arange(width)] = 0.0
    places, smallest = neighbors.smallest_of_rows(values, k)
    assert places.shape == smallest.shape == (width, k)
    assert (places == np.arange(width)[:, None]).any(axis=1).all()
    assert_array_equal(np.sort(smallest, axis=1), np.sort(values, axis=1)[:, :k])
