"""The nearest rows of a block, by one product of matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core import smallest
from lpjt.core.smallest import nearest_of_block, ranked_of_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 7, 300])
def test_the_nearest_of_a_block_are_those_of_all_distances(dtype, k, monkeypatch):
    monkeypatch.setattr(smallest, "QUERY_BLOCK", 16)  # three blocks, the last of them short
    rng = np.random.default_rng(0)
    queries, candidates = (rng.normal(size=(n, 5)).astype(dtype) for n in (40, 300))
    squared, places = nearest_of_block(queries, candidates, k)
    expected = ((queries[:, None].astype(float) - candidates) ** 2).sum(axis=2)
    order = np.argsort(expected, axis=1)[:, :k]
    assert squared.dtype == dtype
    assert_array_equal(places, order)
    assert_allclose(squared, np.take_along_axis(expected, order, axis=1), rtol=1e-4 if dtype == np.float32 else 1e-12)


def test_the_distance_of_a_row_to_itself_is_not_negative():
    rows = np.random.default_rng(1).normal(size=(200, 30)).astype(np.float32)
    squared, places = nearest_of_block(rows, rows, 1)
    assert_array_equal(places[:, 0], np.arange(200))
    assert (squared >= 0).all()


@pytest.mark.parametrize("k", [1, 5, 19, 20, 39, 40, 99])  # from half of the columns on all of them are sorted
def test_ranked_values_are_those_of_a_sort(k, monkeypatch):
    chosen = []
    original = smallest.smallest_of_rows
    monkeypatch.setattr(smallest, "smallest_of_rows", lambda *a: chosen.append(a[1]) or original(*a))
    values = np.random.default_rng(0).normal(size=(30, 40))
    values[:, 3] = np.inf
    places, ranked = ranked_of_rows(values, k)
    assert_array_equal(places, np.argsort(values, axis=1, kind="stable")[:, :k])
    assert_array_equal(ranked, np.sort(values, axis=1)[:, :k])
    assert chosen == [k] * (k < 20)
