"""Neighbours: the exact search against all distances, the approximate one against it, and a machine without faiss."""

import importlib.util

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt._threads import threads
from lpjt.core import neighbors
from lpjt.core.scaling import fit_scaling, scale_rows
from lpjt.datasets.protocols import load_problem
from problems import one_setting


def clustered_rows(n=12_000, width=24, seed=0):
    """Rows of thirty overlapping groups whose spread falls from column to column."""
    rng = np.random.default_rng(seed)
    spread = np.arange(1, width + 1) ** -0.5
    centres = 3 * rng.normal(size=(30, width)) * spread
    return (centres[rng.integers(0, 30, n)] + rng.normal(size=(n, width)) * spread).astype(np.float32)


def recall(found, truth):
    """Mean share of the true neighbours that were found."""
    return np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, truth, strict=True)])


def exact(X, queries, k):
    """Places of the k nearest others of some rows, by all distances in float64."""
    X = X.astype(np.float64)
    squared = ((X[queries][:, None] - X) ** 2).sum(axis=-1) if len(X) * len(queries) < 10**6 else None
    if squared is None:
        squared = (X**2).sum(axis=1) - 2 * X[queries] @ X.T
    squared[np.arange(len(queries)), queries] = np.inf
    return np.argsort(squared, axis=1)[:, :k]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [0.0, 300.0])
def test_the_exact_search_finds_what_all_distances_say(dtype, far, n_jobs, monkeypatch):
    monkeypatch.setattr(neighbors, "CANDIDATE_BLOCK", 400)  # several parts, the last of them shorter than k
    X = clustered_rows(1213).astype(dtype) + dtype(far)
    with threads(n_jobs):
        near, among = neighbors.nearest_others(X, 20), neighbors.nearest_rows(X[:300], X[300:], 20)
    asked = np.arange(len(X))
    assert recall(near.indices, exact(X, asked, 20)) >= 0.9999
    direct = ((X[:, None] - X[near.indices]) ** 2).sum(axis=-1)
    assert_allclose(near.squared, direct, rtol=1e-4)
    assert (np.diff(near.squared, axis=1) >= 0).all()
    assert not (near.indices == asked[:, None]).any()
    squared = ((X[:300, None].astype(np.float64) - X[300:]) ** 2).sum(axis=-1)
    assert recall(among.indices, np.argsort(squared, axis=1)[:, :20]) >= 0.9999


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_rows_asked_among_themselves_are_their_own_nearest(search):
    X = clustered_rows(7000)
    near = neighbors.nearest_rows(X, X, 2, search=search)
    assert np.mean(near.indices[:, 0] == np.arange(len(X))) > 0.999


def test_a_row_given_twice_is_the_neighbour_of_its_copy():
    X = clustered_rows(600).astype(np.float64)
    near = neighbors.nearest_others(np.vstack([X, X]), 3)
    assert_array_equal(near.indices[:, 0], np.concatenate([np.arange(600, 1200), np.arange(600)]))
    assert_allclose(near.squared[:, 0], 0.0, atol=1e-12)


@pytest.mark.parametrize("k", [5, 15, 32])
def test_recall_of_the_approximate_search(k):
    X = clustered_rows()
    near = neighbors.nearest_others(X, k, search="approximate")
    asked = np.arange(0, len(X), 40)
    assert recall(near.indices[asked], exact(X, asked, k)) >= 0.95
    assert near.indices.shape == near.squared.shape == (len(X), k)
    assert (np.diff(near.squared, axis=1) >= 0).all()
    assert not (near.indices == np.arange(len(X))[:, None]).any()


def test_distances_are_those_of_the_rows_found():
    X = clustered_rows()
    near = neighbors.nearest_others(X, 5, search="approximate")
    direct = ((X[:50, None] - X[near.indices[:50]]) ** 2).sum(axis=-1)
    assert_allclose(near.squared[:50], direct, rtol=1e-3, atol=1e-4)


def test_approximate_neighbours_among_other_rows():
    X = clustered_rows()
    queries = clustered_rows(400, seed=1)
    found = neighbors.nearest_rows(queries, X, 10, search="approximate").indices
    truth = neighbors.nearest_rows(queries, X, 10).indices
    assert recall(found, truth) >= 0.95


def test_duplicates_do_not_hide_a_row_from_its_twins():
    X = np.repeat(clustered_rows(4000), 3, axis=0)
    near = neighbors.nearest_others(X, 2, search="approximate")
    twins = np.arange(len(X)) // 3
    assert np.mean(twins[near.indices] == twins[:, None]) > 0.99
    assert not (near.indices == np.arange(len(X))[:, None]).any()


def test_few_rows_are_searched_exactly():
    X = clustered_rows(3000)
    assert_array_equal(
        neighbors.nearest_others(X, 7, search="approximate").indices, neighbors.nearest_others(X, 7).indices
    )


def test_search_among_some_takes_a_spread_of_them():
    X = clustered_rows()
    asked, allowed = np.arange(100), np.arange(50, len(X))
    near = neighbors.nearest_among(X, asked, allowed, 3, search="approximate")
    step = -(-len(allowed) // neighbors.MAX_CONFINED)
    some = allowed[::step]
    assert_array_equal(near.indices, some[neighbors.nearest_rows(X[asked], X[some], 3).indices])
    exactly = neighbors.nearest_among(X, asked, allowed, 3)
    assert_array_equal(exactly.indices, 50 + neighbors.nearest_rows(X[:100], X[50:], 3).indices)


def test_auto_is_exact_up_to_a_number_of_rows():
    assert neighbors.choose_search("auto", neighbors.EXACT_UP_TO) == "exact"
    assert neighbors.choose_search("auto", neighbors.EXACT_UP_TO + 1) == "approximate"
    assert neighbors.choose_search("approximate", 10) == "approximate"
    assert neighbors.choose_search("exact", 10**9) == "exact"


def test_without_faiss(monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "faiss" else find_spec(name))
    with pytest.raises(ImportError, match=r"pip install lpjt\[faiss\]"):
        one_setting(neighbor_search="approximate").fit(np.eye(6), [0, 0, 0, 1, 1, 1], np.eye(6))
    with pytest.warns(UserWarning, match="faiss is not installed"):
        assert neighbors.choose_search("auto", 10**6) == "exact"


@pytest.mark.slow
@pytest.mark.data
def test_recall_on_full_mnist():
    problem = load_problem("digits-full", "MNIST to USPS")
    X = np.asarray(problem.X_source, dtype=np.float32)
    X = scale_rows(X, fit_scaling(X, "standard"))
    near = neighbors.nearest_others(X, 15, search="approximate")
    asked = np.arange(0, len(X), 350)
    assert recall(near.indices[asked], exact(X, asked, 15)) >= 0.95


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("width", "k"), [(3, 5), (40, 1), (40, 9), (200, 15), (700, 5), (700, 64), (4096, 15)])
@pytest.mark.parametrize("kind", ["spread", "ties", "equal", "sorted", "infinite"])
def test_smallest_of_rows_are_those_of_a_sort(dtype, width, k, kind):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, width)).astype(dtype)
    if kind == "ties":
        values = np.round(values)
    elif kind == "equal":
        values[:] = 2
    elif kind == "sorted":  # the smallest are all in the first columns, so in different groups
        values.sort(axis=1)
    elif kind == "infinite":  # as the distance of a row to itself is
        values[np.arange(30), rng.integers(0, width, 30)] = np.inf
    places, smallest = neighbors.smallest_of_rows(values, k)
    assert_array_equal(np.sort(smallest, axis=1), np.sort(values, axis=1)[:, :k])
    assert_array_equal(np.take_along_axis(values, places, axis=1), smallest)
    assert all(len(set(row)) == len(row) for row in places.tolist())


@pytest.mark.parametrize("width", [5, 64, 65])
@pytest.mark.parametrize("far", [0.0, 300.0])
def test_norms_within_the_product_change_no_neighbour(width, far, monkeypatch):
    rng = np.random.default_rng(0)
    queries, candidates = ((rng.normal(size=(n, width)) + far).astype(np.float32) for n in (300, 500))
    together = neighbors.nearest_rows(queries, candidates, 7)
    monkeypatch.setattr(neighbors, "NARROW", 0)
    apart = neighbors.nearest_rows(queries, candidates, 7)
    assert np.mean(together.indices == apart.indices) > 0.999  # but for equal distances
    exact = ((queries[:, None].astype(float) - candidates[together.indices]) ** 2).sum(axis=2)
    assert_allclose(together.squared, exact, rtol=1e-4)
    assert_allclose(apart.squared, exact, rtol=1e-4)


def test_norms_are_within_the_product_of_narrow_float32_rows_alone(monkeypatch):
    stacked = []
    original = np.column_stack
    monkeypatch.setattr(
        neighbors.np, "column_stack", lambda parts: stacked.append(parts[0].shape[1]) or original(parts)
    )
    rows = np.random.default_rng(0).normal(size=(200, 65))
    for dtype, width in ((np.float64, 3), (np.float32, 65), (np.float32, 64)):
        neighbors.nearest_others(rows[:, :width].astype(dtype), 4)
    assert stacked == [64, 64]  # candidates and queries
