"""The rbf kernel by products of matrices, against distances computed one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lpjt.core.distances import rbf_values


@pytest.mark.parametrize("far", [0.0, 1e3])
@pytest.mark.parametrize(("dtype", "off"), [(np.float64, 1e-9), (np.float32, 2e-6)])
def test_values_are_those_of_the_distances(dtype, off, far):
    rng = np.random.default_rng(0)
    X, others = ((far + rng.normal(size=(n, 5))).astype(dtype) for n in (30, 20))
    found = rbf_values(X, others, 0.3)
    squared = ((X[:, None].astype(float) - others) ** 2).sum(axis=2)
    assert found.dtype == dtype
    assert_allclose(found, np.exp(-0.3 * squared), atol=off)


def test_float64_rows_whose_differences_are_lost_beside_their_size():
    X = np.random.default_rng(0).integers(-3, 4, size=(30, 2)).astype(float)
    assert_allclose(rbf_values(X + 2.0**48, X[:20] + 2.0**48, 0.3), rbf_values(X, X[:20], 0.3), atol=1e-12)


def test_a_row_is_no_farther_from_itself_than_nothing():
    X = 1e4 * np.random.default_rng(0).normal(size=(50, 8)).astype(np.float32)
    found = rbf_values(X, X, 1.0)
    assert found.max() <= 1
    assert_allclose(rbf_values(X / 1e4, X / 1e4, 1.0).diagonal(), 1, atol=1e-5)
