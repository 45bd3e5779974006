"""Rows of extreme size: one exact power of two for the domains of a width, or a refusal."""

import numpy as np
import pytest
from scipy import sparse

from door import refusal
from lpjt._magnitude import LEAST, MOST, shared_factors
from lpjt._matrices import open_rows
from lpjt.core.scaling import Scaling, fit_scaling, scale_rows, scale_sparse
from lpjt.core.statistics import column_statistics, largest_entry
from lpjt.domains import open_domains


def factors(*largest, widths=None):
    names = [f"domain {i}" for i in range(len(largest))]
    return shared_factors(names, widths or [3] * len(largest), largest)


def test_ordinary_rows_have_no_factor():
    assert factors(1.0, 1e15, 1e-15) == [None] * 3
    assert factors(LEAST, MOST) == [None] * 2
    assert factors(0.0, 0.0) == factors(0.0, 5.0) == [None] * 2
    assert factors(MOST * 1.01)[0] is not None
    assert factors(LEAST * 0.99)[0] is not None


def test_factors_are_powers_of_two_that_bring_the_largest_entry_below_one():
    for size in (1e16, 1e19, 1e38, 1e300, 1e-16, 1e-25, 1e-170):
        (factor,) = factors(size)
        assert np.frexp(factor)[0] == 0.5
        assert 0.5 <= size * factor < 1
    assert factors(5e-324) == [2.0**1000]  # as far as a factor can be inverted
    assert factors(1.7e308) == [2.0**-1000]


def test_domains_of_one_width_share_the_factor():
    assert factors(1e19, 1.0, widths=[3, 4])[1] is None
    one, other, narrow = factors(1e19, 1.0, 7.0, widths=[3, 3, 4])
    assert one == other == 2.0**-64
    assert narrow is None
    assert factors(1.0, 1e-20) == [0.5, 0.5]  # not None: the smaller domain needs float64


def test_domains_too_far_apart_are_refused():
    assert factors(1e200, 1e81) == [2.0**-665] * 2
    with pytest.raises(ValueError, match=r"The largest value of domain 0 is 1e\+200, and that of domain 1 is 1e-10"):
        factors(1e200, 1e-10)
    X, y = np.ones((4, 2)), [0, 1, 0, 1]
    message = refusal(X * 1e-300, y, X * 1e300, door=open_domains)
    assert message == (
        "The largest value of X_target is 1e+300, and that of X is 1e-300: no number can hold both sizes at once. "
        "Bring the domains to the same units first."
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["standard", "paper", "unit", "sum-zscore", "none"])
def test_scaled_rows_do_not_depend_on_the_size(kind, dtype):
    X = (np.random.default_rng(0).normal(size=(30, 4)) + 3).astype(dtype)
    usual = scale_rows(X, fit_scaling(X, kind))
    for exponent in (-110, 110) if dtype == np.float32 else (-900, 900):
        rows, factor = X * dtype(2.0) ** exponent, 2.0**-exponent
        scaling = fit_scaling(rows, kind, factor)
        found = scale_rows(rows, scaling)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, usual, atol=1e-6 if dtype == np.float32 else 1e-13)
        of_sparse = scale_sparse(sparse.csr_array(rows), scaling)
        dense = of_sparse.times(np.eye(4))
        np.testing.assert_allclose(dense, usual, atol=1e-6 if dtype == np.float32 else 1e-12)


def test_statistics_of_sparse_rows_know_the_factor(monkeypatch):
    monkeypatch.setattr("lpjt.core.blocks.DENSE_ENTRIES", 10)
    X = np.random.default_rng(0).normal(size=(30, 4))
    for rows in (X, sparse.csr_array(X)):
        mean, deviation = column_statistics([sparse.csr_array(X * 2.0**900), rows * 2.0**900], False, 2.0**-900)
        np.testing.assert_allclose(mean, X.mean(axis=0))
        np.testing.assert_allclose(deviation, X.std(axis=0))


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e-30), (np.float64, 1e-200), (np.float64, 5e-324)])
def test_short_rows_among_long_ones_have_unit_length_too(dtype, size):
    X = np.array([[3.0, 4.0], [3.0, 4.0], [0.0, 0.0]], dtype=dtype)
    X[1] = X[1] * dtype(size) if size > 1e-300 else [size, 0]
    unit = scale_rows(X, Scaling(unit_rows=True))
    np.testing.assert_allclose(unit, [[0.6, 0.8], [0.6, 0.8] if size > 1e-300 else [1, 0], [0, 0]], rtol=1e-6)


def test_largest_entries():
    X = np.array([[1.0, -5.0], [2.0, 0.0]])
    assert largest_entry(X) == largest_entry(sparse.csr_array(X)) == 5.0
    assert largest_entry(sparse.csr_array((2, 2))) == 0.0


def test_new_rows_beyond_comparison_are_refused_and_large_ones_kept_in_float64():
    X = np.ones((2, 2), dtype=np.float32)
    assert open_rows(X, width=2).dtype == np.float32
    assert open_rows(X * np.float32(1e20), width=2).dtype == np.float64
    assert open_rows(sparse.csr_array(X * np.float32(1e20)), width=2).dtype == np.float64
    assert open_rows(X * np.float32(1e20), width=2, factor=2.0**-66).dtype == np.float32
    message = refusal(np.ones((2, 2)) * 1e200, door=open_rows, width=2, estimator="JDA")
    assert message == (
        "X holds values up to 1e+200, which are beyond comparison with the rows that JDA was fitted on. Bring them to "
        "the units of those rows, or remove the rows that hold them."
    )
    assert open_rows(np.ones((2, 2)) * 1e200, width=2, factor=2.0**-600).max() == 1e200
