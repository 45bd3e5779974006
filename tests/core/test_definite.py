"""Small systems are solved directly, others and doubtful ones by conjugate gradients."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from lpjt.core import definite, propagation


def laplacian(n, weights=1.0):
    """A path whose first row is held, and a right-hand side."""
    W = sparse.diags_array([np.full(n - 1, weights)] * 2, offsets=[-1, 1])
    degree = np.asarray(W.sum(axis=1)).ravel()
    degree[0] += 1
    return (sparse.diags_array(degree) - W).tocsr(), np.random.default_rng(0).normal(size=(n, 3))


@pytest.fixture
def steps(monkeypatch):
    """Numbers of unknowns of the systems that conjugate gradients were asked to solve."""
    asked, solve = [], definite.conjugate_gradients

    def spy(A, B, *, tol):
        asked.append(A.shape[0])
        return solve(A, B, tol=tol)

    monkeypatch.setattr(definite, "conjugate_gradients", spy)
    return asked


@pytest.mark.parametrize("dense", [True, False])
def test_a_small_system_is_solved_directly(steps, dense):
    A, B = laplacian(40)
    found = definite.solve_definite(A.toarray() if dense else A, B)
    assert_allclose(found.values, np.linalg.solve(A.toarray(), B), rtol=1e-9)
    assert found.residual < 1e-12
    assert not steps


def test_a_large_system_is_solved_by_steps(steps, monkeypatch):
    monkeypatch.setattr(definite, "DIRECT_UP_TO", 39)
    monkeypatch.setattr(definite, "DIRECT_PER_COLUMN", 500)
    A, B = laplacian(40)  # three columns, and 1600 > 3 * 500
    found = definite.solve_definite(A, B, tol=1e-10)
    assert_allclose(found.values, np.linalg.solve(A.toarray(), B), rtol=1e-6)
    assert steps == [40]
    definite.solve_definite(A, np.hstack([B, B]), tol=1e-10)  # many columns pay for a factor
    assert steps == [40]


def test_weights_of_all_magnitudes_do_not_spoil_a_solution():
    A, B = laplacian(40)
    scale = sparse.diags_array(np.logspace(-100, 100, 40))
    found = definite.solve_definite((scale @ A @ scale).tocsr(), scale @ B)
    assert_allclose(scale @ found.values, np.linalg.solve(A.toarray(), B), rtol=1e-8)


def test_what_cannot_be_factorised_or_is_not_accurate_is_left_to_steps(steps):
    A, B = laplacian(40)
    singular = (A - sparse.diags_array([1.0] + [0.0] * 39)).tocsr()  # nothing is held
    definite.solve_definite(singular, singular @ B, tol=1e-6)
    definite.solve_definite(A, B, tol=1e-30)
    assert steps == [40, 40]


@pytest.mark.parametrize("n", [1, 6, 30])
def test_rows_without_a_path_are_found_in_both_forms(n):
    rng = np.random.default_rng(n)
    W = np.where(rng.random((n, n)) < 1.2 / n, rng.random((n, n)), 0)
    W = np.maximum(W, W.T)
    seeds = rng.random(n) < 0.2
    step = np.linalg.matrix_power(W + np.eye(n) > 0, n)
    expected = step[:, seeds].any(axis=1)
    for form in (W, sparse.csr_array(W)):
        np.testing.assert_array_equal(propagation._reached(form, seeds), expected)


def test_large_systems_of_few_digits_are_solved_in_single_precision(monkeypatch):
    monkeypatch.setattr(definite, "DIRECT_UP_TO", 0)
    monkeypatch.setattr(definite, "DIRECT_PER_COLUMN", 0)
    monkeypatch.setattr(definite, "MANY_ENTRIES", 40 * 4)
    types, short, solve = [], [], definite._solve_together

    def spy(A, inverse, B, tol, max_iter):
        types.extend([A.dtype, inverse.dtype, B.dtype])
        short.append(A.indices.dtype == A.indptr.dtype == np.int32)
        return solve(A, inverse, B, tol, max_iter)

    monkeypatch.setattr(definite, "_solve_together", spy)
    A, B = laplacian(40)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    B = np.hstack([B, np.zeros((40, 1))])  # a class that no row has
    expected = np.linalg.solve(A.toarray(), B)
    found = definite.solve_definite(A, B, tol=1e-4)
    assert found.values.dtype == np.float64
    assert found.residual < 1e-4
    assert_allclose(found.values, expected, atol=1e-2 * np.abs(expected).max())
    assert set(types) == {np.dtype(np.float32)}
    assert all(short), "long indices are a third of what each product reads"
    types.clear()
    definite.solve_definite(A, B, tol=0.9e-4)
    definite.solve_definite(A, B[:, :3], tol=1e-4)  # not large
    weak = (1e-21 * A).tocsr()
    assert_allclose(definite.solve_definite(weak, 1e-21 * B, tol=1e-4).values, expected, atol=1e-2)
    assert set(types) == {np.dtype(np.float64)}
