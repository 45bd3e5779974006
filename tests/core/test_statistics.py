"""Statistics of columns and rows against numpy's, in blocks and far from zero."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lpjt._threads import threads
from lpjt.core import statistics
from lpjt.core.blocks import Chunked, row_blocks


def rows(n=50, seed=0, shift=0.0):
    return np.abs(np.random.default_rng(seed).normal(size=(n, 4))) + shift


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("row_sums", [True, False])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_mean_and_deviation_of_parts_in_blocks(row_sums, shift, n_jobs, monkeypatch):
    monkeypatch.setattr(row_blocks, "__defaults__", (28,))  # seven rows at a time
    parts = [rows(shift=shift), Chunked(rows(31, 1, shift=shift))]
    both = np.vstack([parts[0], parts[1][:]])
    both = both / both.sum(axis=1, keepdims=True) if row_sums else both
    with threads(n_jobs):
        mean, deviation = statistics.column_statistics(parts, row_sums)
    assert mean.dtype == deviation.dtype == np.float64
    assert_allclose(mean, both.mean(axis=0), rtol=1e-12)
    assert_allclose(deviation, both.std(axis=0), rtol=1e-6 if shift else 1e-12)


def test_statistics_of_float32_rows_are_summed_in_float64():
    X = (1000 + np.random.default_rng(0).normal(size=(20_000, 2))).astype(np.float32)
    mean, deviation = statistics.column_statistics([X], False)
    assert_allclose(mean, X.mean(axis=0, dtype=np.float64), rtol=1e-7)
    assert_allclose(deviation, X.std(axis=0, dtype=np.float64), rtol=1e-4)


def test_a_constant_column_has_no_deviation():
    X = np.full((9, 2), 0.1)
    assert statistics.column_statistics([X], False)[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("row_sums", [True, False])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_statistics_of_sparse_parts_with_and_without_dense_blocks(row_sums, shift, monkeypatch):
    X = (rows() + shift) * (rows(seed=1) > 0.5)
    X[4], X[:, 3] = 0, 0.1 + shift
    parts = [sparse.csr_array(X[:20]), X[20:35], sparse.csr_array(X[35:])]
    mean, deviation = statistics.column_statistics([X], row_sums)
    found = statistics.column_statistics(parts, row_sums)
    assert_allclose(found, [mean, deviation], rtol=1e-12, atol=1e-12 * (1 + shift))
    monkeypatch.setattr("lpjt.core.blocks.DENSE_ENTRIES", 0)
    found = statistics.column_statistics(parts, row_sums)
    assert found[0].dtype == found[1].dtype == np.float64
    assert_allclose(found, [mean, deviation], rtol=1e-12, atol=1e-9 * (1 + shift))
    if not row_sums:
        assert found[1][3] <= 1e-14 * found[0][3]


def test_smallest_entries(monkeypatch):
    monkeypatch.setattr(row_blocks, "__defaults__", (8,))
    X = rows(9)
    X[7, 2] = -3.0
    assert statistics.smallest_entry(X) == statistics.smallest_entry(Chunked(X)) == -3.0
    assert statistics.smallest_entry(sparse.csr_array(X)) == -3.0
    assert statistics.smallest_entry(sparse.csr_array(np.eye(2))) == 0.0


def test_rows_are_divided_by_what_is_positive():
    X = np.array([[2.0, 4.0], [1.0, -1.0], [-3.0, 1.0]])
    expected = [[1 / 3, 2 / 3], [1.0, -1.0], [-3.0, 1.0]]
    assert_array_equal(statistics.row_totals(X), [6, 0, -2])
    assert_array_equal(statistics.row_totals(sparse.csr_array(X)), [6, 0, -2])
    assert_allclose(statistics.divide_rows(X, statistics.row_totals(X)), expected)
    for dtype in (np.float32, np.float64):
        held = statistics.divide_rows(sparse.csr_array(X, dtype=dtype), statistics.row_totals(X))
        assert_allclose(held.toarray(), expected, rtol=1e-6)
        assert held.dtype == statistics.divide_rows(X.astype(dtype), statistics.row_totals(X)).dtype == dtype
