"""Neighbours at equal distances: the order of rows and columns, and the unit, must not decide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lpjt import LPJT
from lpjt.core import ties
from lpjt.core.neighbors import nearest_others, nearest_rows
from lpjt.core.propagation import find_neighborhoods
from lpjt.core.smallest import nearest_of_block


def count_rows(seed, n=260, width=60):
    """Different rows of small counts, of unit length: thousands of distances are equal."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.04 + rng.gamma(0.3, 0.25, size=width), size=(2 * n, width)).astype(float)
    X = X[X.any(axis=1)]
    X = np.unique((X / np.linalg.norm(X, axis=1, keepdims=True)).round(14), axis=0)
    return rng.permutation(X)[:n]


def changed(X, rng, what):
    """The rows in another order, the columns in another order, or another unit; and the order of the rows."""
    order = rng.permutation(len(X)) if what == "rows" else np.arange(len(X))
    columns = rng.permutation(X.shape[1]) if what == "columns" else slice(None)
    return X[order][:, columns] * (1e-3 if what == "unit" else 1.0), order


def share_kept(first, other):
    return np.mean([np.isin(a, b).mean() for a, b in zip(first, other, strict=True)])


def test_the_rows_of_these_tests_have_equal_distances():
    X = count_rows(0)
    D = np.sort(1 - X @ X.T, axis=1)[:, :16]
    assert np.mean(np.diff(D, axis=1) < 1e-12) > 0.05


@pytest.mark.parametrize("what", ["rows", "columns", "unit"])
@pytest.mark.parametrize("n", [120, 260])  # all distances at once, and in blocks
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_equal_distances_are_ranked_alike(what, n, seed):
    X = count_rows(seed, n)
    Y, order = changed(X, np.random.default_rng(seed), what)
    for search in (lambda Z: nearest_others(Z, 10), lambda Z: nearest_rows(Z, Z, 10)):
        assert_array_equal(order[search(Y).indices], search(X).indices[order])


@pytest.mark.parametrize("what", ["rows", "columns", "unit"])
def test_equal_distances_are_ranked_alike_in_a_block_of_the_approximate_search(what):
    X = count_rows(3)
    Y, order = changed(X, np.random.default_rng(3), what)
    assert_array_equal(order[nearest_of_block(Y, Y, 10)[1]], nearest_of_block(X, X, 10)[1][order])


@pytest.mark.parametrize(("n", "dtype"), [(ties.FEW_ROWS, np.float64), (ties.FEW_ROWS + 1, np.float32)])
def test_few_rows_are_compared_in_float64(n, dtype):
    for before in (np.float32, np.float64):
        assert ties.compared_rows(np.ones((n, 2), dtype=before)).dtype == dtype


def test_few_float32_rows_get_the_labels_of_the_same_numbers_in_float64():
    rng = np.random.default_rng(948)
    X, X_target = (rng.poisson(0.3, size=(150, 40)).astype(float) for _ in range(2))
    y = X[:, :3].argmax(axis=1)
    models = [
        LPJT(candidates=None, scaling="unit", safeguard=False, random_state=0).fit(X.astype(t), y, X_target.astype(t))
        for t in (np.float32, np.float64)
    ]
    assert_allclose(*(model.label_distributions_ for model in models), atol=1e-6)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_few_float32_rows_are_fitted_in_each_container(container):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = (rng.normal(size=(90, 6)) + 2 * y[:, None]).astype(np.float32)
    found = LPJT(random_state=0).fit(container(X), y, container(X + 1))
    assert_array_equal(found.predict(X + 1), LPJT(random_state=0).fit(X, y, X + 1).predict(X + 1))


def test_wide_rows_are_not_converted():
    assert ties.are_few(np.empty((ties.FEW_ROWS, 8), dtype=np.float32))
    assert not ties.are_few(np.empty((ties.FEW_ROWS + 1, 8), dtype=np.float32))
    wide = (1, ties.MOST_VALUES + 1)
    assert not ties.are_few(np.empty(wide, dtype=np.float32))
    assert ties.are_few(sparse.csr_array(wide, dtype=np.float32))


def test_of_equal_distances_the_one_nearest_to_the_anchor_is_first():
    # Both candidates are 1 from the query; the third one pulls the anchor to the right.
    candidates = np.array([[-1.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    assert nearest_rows(np.zeros((1, 2)), candidates, 2).indices.tolist() == [[1, 0]]
    assert nearest_rows(np.zeros((1, 2)), -candidates, 2).indices.tolist() == [[1, 0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_without_equal_distances_have_the_neighbours_of_all_distances(dtype):
    X = np.random.default_rng(0).normal(size=(300, 7)).astype(dtype)
    D = np.square(X[:, None].astype(float) - X[None]).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    near = nearest_others(X, 6)
    assert share_kept(near.indices, np.argsort(D, axis=1)[:, :6]) > (0.999 if dtype == np.float32 else 0.9999999)
    assert_allclose(
        near.squared, np.take_along_axis(D, near.indices, axis=1), rtol=1e-4 if dtype == np.float32 else 1e-9
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicates_stay_at_no_distance(dtype):
    X = np.repeat(count_rows(2, 100), 3, axis=0).astype(dtype)
    near = nearest_others(X, 4)
    assert_array_equal(
        np.sort(near.indices[:, :2] // 3, axis=1), np.repeat(np.arange(100), 3)[:, None].repeat(2, axis=1)
    )
    assert near.squared[:, :2].max() < 20 * np.finfo(dtype).eps
    assert (np.diff(near.squared, axis=1) >= 0).all()


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.zeros((4, 3)), np.ones((1, 2)), np.full((3, 2), 1e200)])
def test_equal_rows_need_no_order(X):
    with np.errstate(over="ignore", invalid="ignore"):
        assert not ties.tie_terms(X, np.einsum("ij,ij->i", X, X)).any()


def test_preferred_ones_come_first_among_equals():
    noise = 4 * np.finfo(float).eps
    squared = np.array([[1 - noise, 2 - noise], [0.0, 3.0]])
    preferred = np.array([[1.0, 2.0], [noise, 2.5]])
    order = np.argsort(ties.preferred_first(squared, preferred), axis=1)
    assert order.tolist() == [[2, 0, 3, 1], [2, 0, 3, 1]]


def test_a_labelled_row_comes_before_an_unlabelled_one_that_is_as_near():
    rng = np.random.default_rng(0)
    known, unknown = np.array([[1.0, 0.0], [9.0, 9.0]]), np.array([[0.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    for turn in (np.eye(2), np.linalg.qr(rng.normal(size=(2, 2)))[0]):  # rounding differs
        _, W_uk = find_neighborhoods(known @ turn, unknown @ turn, 1).blocks()
        assert W_uk[0, 0] > 0
        assert np.count_nonzero(W_uk[0]) == 1
