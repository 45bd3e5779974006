"""Propagation at its limits: tolerances, dtypes, bandwidths, and who shares the work."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lpjt.core import definite, propagation
from toys import embedded, harmonic, heat_graph


@pytest.fixture
def tolerances(monkeypatch):
    """Tolerances that the linear solver is asked for, in their order."""
    asked = []
    solve = propagation.solve_definite

    def spy(A, B, *, tol=1e-8):
        asked.append(tol)
        return solve(A, B, tol=tol)

    monkeypatch.setattr(propagation, "solve_definite", spy)
    return asked


def test_tolerances_reach_the_solver(tolerances):
    W, Y = heat_graph()
    held, known = sparse.csr_array(W), np.arange(60) < 20
    all_rows = np.vstack([Y, np.zeros((40, 3))])
    for options in ({}, {"tol": 1e-3}):
        propagation.harmonic_labels(held, all_rows, known, **options)
        propagation.harmonic_solution(held[20:][:, 20:], held[20:][:, :20], Y, **options)
        propagation.anchored_labels(all_rows, held, 0.5, **options)
        propagation.spread_labels(held, all_rows, 0.5, **options)
    assert tolerances == [1e-8, 1e-8, 1e-8, 1e-10, 1e-3, 1e-3, 1e-3, 1e-3]


def test_the_solver_stops_at_its_tolerance():
    W, _ = heat_graph()
    A = sparse.csr_array(np.diag(W.sum(axis=1) + 1) - W)
    B = np.random.default_rng(0).normal(size=(60, 2))
    residuals = [definite.conjugate_gradients(A, B, tol=tol).residual for tol in (1e-2, 1e-5)]
    assert 1e-5 < residuals[0] < 1e-2
    assert 1e-8 < residuals[1] < 1e-5
    assert 1e-12 < definite.conjugate_gradients(A, B).residual < 1e-8


def test_the_solver_gives_up_after_its_steps():
    A = sparse.diags_array(np.logspace(0, 12, 400)).tocsr() + sparse.csr_array(np.ones((400, 400)))
    B = np.random.default_rng(0).normal(size=(400, 1))
    products = []

    class Counted:
        def diagonal(self):
            return np.ones(400)

        def __matmul__(self, P):
            products.append(1)
            return A @ P

    found = definite.conjugate_gradients(Counted(), B, tol=0.0, max_iter=7)
    assert len(products) == 7
    assert found.residual > 0
    products.clear()
    definite.conjugate_gradients(Counted(), B, tol=0.0)
    assert len(products) == 2000


def test_no_steps_leave_zeros():
    found = definite.conjugate_gradients(sparse.eye_array(3).tocsr(), np.ones((3, 1)), max_iter=0)
    assert not found.values.any()
    assert found.residual == np.inf


def test_systems_are_shared_from_half_a_million_unknowns_on():
    assert definite.is_shared(2**19, 1)
    assert definite.is_shared(2**16, 8)
    assert not definite.is_shared(2**19 - 1, 1)


@pytest.mark.parametrize(
    ("n_columns", "sizes"), [(1, [1]), (2, [1, 1]), (32, [16, 16]), (64, [32, 32]), (66, [22, 22, 22])]
)
def test_columns_are_shared_in_equal_parts_of_at_most_thirty_two(n_columns, sizes, monkeypatch):
    monkeypatch.setattr(definite, "MANY_ENTRIES", 1)
    solved = []
    together = definite._solve_together

    def spy(A, inverse, B, tol, max_iter):
        assert B.flags.c_contiguous
        solved.append(B.shape[1])
        return together(A, inverse, B, tol, max_iter)

    monkeypatch.setattr(definite, "_solve_together", spy)
    B = np.random.default_rng(0).normal(size=(5, n_columns))
    found = definite.conjugate_gradients(sparse.diags_array(np.arange(1.0, 6.0)).tocsr(), B)
    assert solved == sizes
    assert_allclose(found.values, B / np.arange(1.0, 6.0)[:, None], rtol=1e-7)


def test_the_residual_is_that_of_the_worst_part(monkeypatch):
    monkeypatch.setattr(definite, "MANY_ENTRIES", 1)
    A = sparse.diags_array(np.arange(1.0, 41.0)).tocsr() + sparse.csr_array(np.full((40, 40), 0.1))
    B = np.random.default_rng(0).normal(size=(40, 2))
    B[:, 1] = (A @ np.ones((40, 1)))[:, 0] * 1e-3
    found = definite.conjugate_gradients(A, B, max_iter=3)
    each = [np.linalg.norm(B[:, c] - A @ found.values[:, c]) / np.linalg.norm(B[:, c]) for c in (0, 1)]
    assert_allclose(found.residual, max(each), rtol=1e-8)
    assert min(each) < 0.97 * max(each)


def test_float32_votes_and_weights_are_solved_in_float64():
    W, Y = heat_graph()
    held, known = sparse.csr_array(W.astype(np.float32)), np.arange(60) < 20
    all_rows = np.vstack([Y, np.zeros((40, 3))]).astype(np.float32)
    assert propagation.harmonic_labels(held, all_rows, known).dtype == np.float64
    assert propagation.spread_labels(held, all_rows, 0.5).dtype == np.float64
    Z_known, Y_known, Z = (part.astype(np.float32) for part in embedded())
    near = propagation.find_neighborhoods(Z_known, Z, 4)
    assert propagation.vote(Z_known, Y_known, Z, n_neighbors=3).dtype == near.votes(Y_known, 3).dtype == np.float64
    assert near.graph.dtype == propagation.neighbor_graph(Z, 3).dtype == np.float64
    assert isinstance(propagation.squared_bandwidth(Z, 3), float)
    assert propagation.unit_rows(Z).dtype == np.float32


def test_negative_rounding_is_cut_off():
    """Class 1 has no known row: what the solver leaves of it is rounding, never below zero."""
    W, Y = heat_graph()
    Y[:, 0] -= 1e-9
    found = harmonic(W, Y, 20)
    assert (found >= 0).all()
    assert (propagation.anchored_labels(found - 1e-9, sparse.csr_array(W[20:, 20:]), 0.5) >= 0).all()


def test_the_farthest_row_votes_too():
    Z_known, Y_known = np.array([[0.0], [1.0]]), np.eye(2)
    found = propagation.vote(Z_known, Y_known, np.array([[1e4]]), n_neighbors=2, bandwidth=1.0)
    assert_allclose(found, [[0.5, 0.5]])  # both weights are exp(-500), not 0
    near = propagation.vote(Z_known, Y_known, np.array([[30.0]]), n_neighbors=2, bandwidth=1.0)
    assert_allclose(near[0, 0] / near[0, 1], np.exp(-(30**2 - 29**2) / 2), rtol=1e-6)
    between = propagation.vote(Z_known, Y_known, np.array([[31.7]]), n_neighbors=2, bandwidth=1.0)
    assert_allclose(between[0, 0] / between[0, 1], np.exp(-500 + 30.7**2 / 2), rtol=1e-6)


def test_given_lists_of_neighbours_are_used_if_they_are_long_enough(monkeypatch):
    Z_known, _, Z = embedded()
    long, short = propagation.nearest_others(Z, 9), propagation.nearest_others(Z, 4)
    searched = []
    search_others, search_rows = propagation.nearest_others, propagation.nearest_rows

    def spy_others(X, k, *, search="exact"):
        searched.append(("others", k, search))
        return search_others(X, k)

    def spy_rows(queries, candidates, k, *, search="exact"):
        searched.append(("rows", k, search))
        return search_rows(queries, candidates, k)

    monkeypatch.setattr(propagation, "nearest_others", spy_others)
    monkeypatch.setattr(propagation, "nearest_rows", spy_rows)
    found = propagation.find_neighborhoods(Z_known, Z, 5, unknown=long)
    assert_array_equal(found.unknown.indices, long.indices[:, :5])
    assert_array_equal(found.unknown.squared, long.squared[:, :5])
    assert searched == [("rows", 5, "exact")]
    searched.clear()
    found = propagation.find_neighborhoods(Z_known, Z, 5, unknown=short, search="approximate")
    assert_array_equal(found.unknown.indices, long.indices[:, :5])
    assert searched == [("others", 5, "approximate"), ("rows", 5, "approximate")]
    searched.clear()
    few = propagation.find_neighborhoods(Z_known, Z[:4], 5, unknown=search_others(Z[:4], 5))
    assert few.unknown.indices.shape == (4, 3)
    assert searched == [("rows", 5, "exact")]
    searched.clear()
    propagation.vote(Z_known, np.ones((30, 1)), Z, n_neighbors=2, search="approximate")
    propagation.neighbor_graph(Z, 3, search="approximate")
    propagation.vote(Z_known, np.ones((30, 1)), Z, n_neighbors=2)
    propagation.neighbor_graph(Z, 3)
    assert searched == [
        ("rows", 2, "approximate"),
        ("others", 3, "approximate"),
        ("rows", 2, "exact"),
        ("others", 3, "exact"),
    ]


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_the_weights_is_of_no_matter(scale):
    W, Y = heat_graph()
    assert_allclose(harmonic(scale * W, Y, 20), harmonic(W, Y, 20), atol=1e-7)


def test_blocks_have_the_nearest_of_many_neighbours():
    rng = np.random.default_rng(0)
    Z_known, Z, k = rng.normal(size=(700, 3)), rng.normal(size=(650, 3)), 300
    W_uu, W_uk = propagation.find_neighborhoods(Z_known, Z, k).blocks()
    D = ((Z[:, None] - np.vstack([Z, Z_known])) ** 2).sum(axis=2)
    D[np.arange(650), np.arange(650)] = np.inf
    nearest = np.zeros(D.shape, dtype=bool)
    np.put_along_axis(nearest, np.argsort(D, axis=1)[:, :k], True, axis=1)
    assert_array_equal(W_uk.toarray() > 0, nearest[:, 650:])
    assert_array_equal(W_uu.toarray() > 0, nearest[:, :650] | nearest[:, :650].T)


def test_the_bandwidth_of_the_nearest_other_alone():
    assert propagation.squared_bandwidth(np.array([[0.0], [1.0], [4.0]]), 1) == (1 + 1 + 9) / 3
    assert propagation.squared_bandwidth(np.array([[0.0], [2.0]]), 5) == 4.0


def test_the_bandwidth_is_taken_from_a_thousand_rows():
    Z = np.cumsum(np.linspace(0.1, 2.0, 1001))[:, None]
    D = np.sort((Z - Z.T) ** 2, axis=1)
    assert_allclose(
        propagation.squared_bandwidth(Z[:1000], 2), np.sort((Z[:1000] - Z[:1000].T) ** 2, axis=1)[:, 1:3].mean()
    )
    assert_allclose(propagation.squared_bandwidth(Z, 2), D[::2, 1:3].mean())
