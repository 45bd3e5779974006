"""Propagation: harmonic labels, Eq. (2)'s limit and the anchored votes against dense solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracles
from lpjt._threads import threads
from lpjt.core import propagation


def graph(seed=0, n=60, n_labelled=20, n_classes=3, k=5, bandwidth=1.0):
    """A heat graph whose first rows are labelled: (W dense, Y of the labelled rows)."""
    rng = np.random.default_rng(seed)
    W = oracles.nearest_graph(rng.normal(size=(n, 3)), k, bandwidth=bandwidth)
    return W, oracles.one_hot(np.arange(n_labelled) % n_classes, n_classes)


def harmonic(W, Y, n_labelled, **options):
    """The core's solution, with rows of rubbish below the labelled ones: they must not be read."""
    all_rows = np.vstack([Y, np.full((len(W) - n_labelled, Y.shape[1]), 7.0)])
    return propagation.harmonic_labels(sparse.csr_array(W), all_rows, np.arange(len(W)) < n_labelled, **options)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bandwidth", [0.5, 2.0])
def test_harmonic_labels_are_the_dense_solution(seed, bandwidth):
    W, Y = graph(seed, bandwidth=bandwidth)
    found = harmonic(W, Y, 20)
    assert_allclose(found, oracles.propagate_harmonic(W, Y, 20), atol=1e-7)
    assert_allclose(found.sum(axis=1), 1, atol=1e-6)


def test_harmonic_labels_of_known_rows_in_any_place():
    W, Y = graph()
    order = np.random.default_rng(5).permutation(60)
    known = (np.arange(60) < 20)[order]
    Y_all = np.vstack([Y, np.zeros((40, 3))])[order]
    found = propagation.harmonic_labels(sparse.csr_array(W[np.ix_(order, order)]), Y_all, known)
    assert_allclose(found, oracles.propagate_harmonic(W, Y, 20)[order[~known] - 20], atol=1e-7)


def test_known_distributions_need_not_be_one_hot():
    W, _ = graph()
    Y = np.random.default_rng(1).dirichlet(np.ones(3), size=20)
    assert_allclose(harmonic(W, Y, 20), oracles.propagate_harmonic(W, Y, 20), atol=1e-7)


def test_components_without_labels_are_zero_rows():
    W, Y = graph(n=40)
    apart, _ = graph(seed=9, n=12)
    joined = np.block([[W, np.zeros((40, 12))], [np.zeros((12, 40)), apart]])
    joined = np.block([[joined, np.zeros((52, 1))], [np.zeros((1, 53))]])  # and a row without edges
    found = harmonic(joined, Y, 20)
    assert_array_equal(found[20:], 0)
    assert_allclose(found[:20], oracles.propagate_harmonic(W, Y, 20), atol=1e-7)
    assert (found[:20].sum(axis=1) > 0.9).all()


def test_no_label_reaches_anything():
    found = harmonic(np.zeros((5, 5)), np.eye(2), 2)
    assert_array_equal(found, np.zeros((3, 2)))


@pytest.mark.parametrize("distance", [10.0, 30.0, 1e6])
def test_an_outlier_neither_stops_nor_spoils_the_others(distance):
    rng = np.random.default_rng(0)
    Z = np.vstack([rng.normal(size=(1600, 2)), [[distance, 0.0]]])
    W = propagation.neighbor_graph(Z, 4)
    Y = np.eye(2)[(Z[:, 0] > 0).astype(int)]
    found = propagation.harmonic_labels(W, Y, np.arange(len(Z)) < 400)
    assert np.isfinite(found).all()
    sums = found.sum(axis=1)
    assert_allclose(sums[sums > 0], 1, atol=1e-5)
    assert (sums[:-1] > 0).mean() > 0.99


@pytest.mark.parametrize("sigma", [0.2, 0.9, 0.99])
def test_spreading_is_the_limit_of_eq_2(sigma):
    W, Y = graph()
    Y0 = np.vstack([Y, np.zeros((40, 3))])
    found = propagation.spread_labels(sparse.csr_array(W), Y0, sigma)
    assert_allclose(found, oracles.propagate_spreading(W, Y0, sigma), atol=1e-9)


def test_spreading_leaves_a_row_without_edges_what_it_has():
    W, Y = graph()
    W = np.block([[W, np.zeros((60, 1))], [np.zeros((1, 61))]])
    Y0 = np.vstack([Y, np.zeros((40, 3)), [[0, 1, 0]]])
    found = propagation.spread_labels(sparse.csr_array(W), Y0, 0.7)
    assert_allclose(found[-1], [0, 0.3, 0], atol=1e-12)


def heat(squared, bandwidth=None):
    """Heat weights; the squared bandwidth is the mean of the squared lengths unless given."""
    return np.exp(-squared / (2 * (bandwidth or squared.mean())))


def dense_votes(Z_known, Y_known, Z_unknown, k, bandwidth=None):
    """Heat-weighted mean of the k nearest known rows; one bandwidth for all votes."""
    D = ((Z_unknown[:, None] - Z_known) ** 2).sum(axis=2)
    nearest = np.argsort(D, axis=1)[:, :k]
    weights = heat(np.take_along_axis(D, nearest, axis=1), bandwidth)
    F = np.array([w @ Y_known[i] for w, i in zip(weights, nearest, strict=True)])
    return F / F.sum(axis=1, keepdims=True)


def dense_graph(Z, k):
    D = ((Z[:, None] - Z) ** 2).sum(axis=2)
    nearest = np.argsort(D + np.diag(np.full(len(Z), np.inf)), axis=1)[:, :k]
    W = np.zeros_like(D)
    np.put_along_axis(W, nearest, heat(np.take_along_axis(D, nearest, axis=1)), axis=1)
    return np.maximum(W, W.T)


def embedded(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(30, 4)), oracles.one_hot(rng.integers(0, 3, size=30), 3), rng.normal(size=(25, 4))


def test_votes_of_the_nearest_known_rows():
    Z_known, Y, Z = embedded()
    for k in (1, 4, 30):
        found = propagation.vote(Z_known, Y, Z, n_neighbors=k)
        assert_allclose(found, dense_votes(Z_known, Y, Z, k), atol=1e-10)
    assert_allclose(propagation.vote(Z_known, Y, Z, n_neighbors=99), found, atol=1e-12)


def test_votes_of_a_given_bandwidth_do_not_depend_on_the_rows_at_hand():
    Z_known, Y, Z = embedded()
    found = propagation.vote(Z_known, Y, Z, n_neighbors=4, bandwidth=0.7)
    assert_allclose(found, dense_votes(Z_known, Y, Z, 4, 0.7), atol=1e-10)
    assert_allclose(propagation.vote(Z_known, Y, Z[3:5], n_neighbors=4, bandwidth=0.7), found[3:5], atol=1e-12)
    assert not np.allclose(propagation.vote(Z_known, Y, Z[3:5], n_neighbors=4), found[3:5])


def test_squared_bandwidth_is_the_mean_over_the_nearest_others():
    Z = embedded()[2]
    D = np.sort(((Z[:, None] - Z) ** 2).sum(axis=2), axis=1)
    assert_allclose(propagation.squared_bandwidth(Z, 4), D[:, 1:5].mean(), rtol=1e-10)
    assert_allclose(propagation.squared_bandwidth(Z, 99), D[:, 1:].mean(), rtol=1e-10)
    # Of 25 rows every third stands for all.
    assert_allclose(propagation.squared_bandwidth(Z, 4, max_rows=10), D[::3, 1:5].mean(), rtol=1e-10)
    assert propagation.squared_bandwidth(Z[:1], 4) == 1.0


def test_neighbour_graph_of_embedded_rows():
    Z = embedded()[2]
    assert_allclose(propagation.neighbor_graph(Z, 4).toarray(), dense_graph(Z, 4), atol=1e-10)
    assert propagation.neighbor_graph(Z[:3], 10).nnz == 6
    assert_allclose(propagation.neighbor_graph(1e5 * Z, 4).toarray(), dense_graph(Z, 4), atol=1e-8)


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 0.8, 0.99])
def test_anchored_labels_are_the_dense_solution(smoothing):
    Z_known, Y, Z = embedded()
    votes, W = dense_votes(Z_known, Y, Z, 2), dense_graph(Z, 4)
    found = propagation.anchored_labels(votes, sparse.csr_array(W), smoothing)
    S = W / W.sum(axis=1, keepdims=True)
    expected = (1 - smoothing) * np.linalg.solve(np.eye(25) - smoothing * S, votes)
    assert_allclose(found, expected, atol=1e-7)
    assert_allclose(found.sum(axis=1), 1, atol=1e-7)


def test_anchored_labels_of_a_row_without_edges_are_its_votes():
    Z_known, Y, Z = embedded()
    votes, W = dense_votes(Z_known, Y, Z, 2), dense_graph(Z, 4)
    W[3] = W[:, 3] = 0
    found = propagation.normalise_rows(propagation.anchored_labels(votes, sparse.csr_array(W), 0.8))
    assert_allclose(found[3], votes[3], atol=1e-7)


def test_neighborhoods_give_the_votes_and_the_graph_of_the_unknown_rows():
    Z_known, Y, Z = embedded()
    near = propagation.find_neighborhoods(Z_known, Z, 5)
    assert_allclose(near.votes(Y, 3), dense_votes(Z_known, Y, Z, 3), atol=1e-10)
    assert_allclose(near.graph.toarray(), dense_graph(Z, 5), atol=1e-10)
    # More neighbours than rows: all of them.
    near = propagation.find_neighborhoods(Z_known[:4], Z[:3], 15)
    assert_allclose(near.votes(Y[:4], 15), dense_votes(Z_known[:4], Y[:4], Z[:3], 4), atol=1e-10)
    assert_allclose(near.graph.toarray(), dense_graph(Z[:3], 2), atol=1e-10)


def test_blocks_join_unknown_rows_to_their_nearest_rows_of_either_kind():
    Z_known, Y, Z = embedded()
    W_uu, W_uk = propagation.find_neighborhoods(Z_known, Z, 5).blocks()
    D = ((Z[:, None] - np.vstack([Z, Z_known])) ** 2).sum(axis=2)
    D[np.arange(25), np.arange(25)] = np.inf
    nearest = np.argsort(D, axis=1)[:, :5]
    W = np.zeros_like(D)
    np.put_along_axis(W, nearest, heat(np.take_along_axis(D, nearest, axis=1)), axis=1)
    expected = np.maximum(W[:, :25], W[:, :25].T)
    assert_allclose(W_uu.toarray(), expected, atol=1e-10)
    assert_allclose(W_uk.toarray(), W[:, 25:], atol=1e-10)
    found = propagation.harmonic_solution(W_uu, W_uk, Y)
    whole = np.block([[np.zeros((30, 30)), W[:, 25:].T], [W[:, 25:], expected]])
    assert_allclose(found, oracles.propagate_harmonic(whole, Y, 30), atol=1e-7)


def test_class_mass():
    F = np.random.default_rng(0).dirichlet([5.0, 1.0, 1.0], size=40)
    proportions = np.array([0.2, 0.3, 0.5])
    found = propagation.normalise_class_mass(F, proportions)
    assert_allclose(found, oracles.class_mass_normalise(F, proportions), rtol=1e-12)
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert_allclose(propagation.normalise_class_mass(F, proportions, power=0.0), F, rtol=1e-12)
    # Half the way twice, each time from the mass at the start, is the whole way.
    ratio = np.sqrt(proportions / F.mean(axis=0))
    half = propagation.normalise_class_mass(F, proportions, power=0.5)
    assert_allclose(half, F * ratio / (F * ratio).sum(axis=1, keepdims=True), rtol=1e-12)


def test_class_mass_of_empty_classes_and_rows():
    F = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = propagation.normalise_class_mass(F, np.array([0.3, 0.3, 0.4]))
    assert_array_equal(found[:2, 2], 0)
    assert_allclose(found[:2], oracles.class_mass_normalise(F, [0.3, 0.3, 0.4])[:2], rtol=1e-12)
    assert_allclose(found[2], 1 / 3)


def test_unit_rows():
    Z = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert_array_equal(propagation.unit_rows(Z), [[0.6, 0.8], [0.0, 0.0]])


def test_conjugate_gradients():
    rng = np.random.default_rng(0)
    C = rng.normal(size=(30, 30))
    A = C @ C.T + np.diag(np.logspace(0, 4, 30))
    B = rng.normal(size=(30, 3))
    B[:, 1] = 0
    found = propagation.conjugate_gradients(sparse.csr_array(A), B, tol=1e-12)
    assert_allclose(found.values, np.linalg.solve(A, B), atol=1e-10)
    assert found.residual < 1e-12
    rushed = propagation.conjugate_gradients(sparse.csr_array(A), B, max_iter=2)
    assert rushed.residual > 1e-6
    true = np.linalg.norm(B - A @ rushed.values, axis=0)[[0, 2]] / np.linalg.norm(B, axis=0)[[0, 2]]
    assert_allclose(rushed.residual, true.max(), rtol=1e-8)


def test_many_columns_are_solved_as_few_are(monkeypatch):
    rng = np.random.default_rng(0)
    W = sparse.random_array((400, 400), density=0.02, rng=rng)
    W = W + W.T
    A = (sparse.diags_array(1.0 + W.sum(axis=1)) - W).tocsr()
    B = rng.normal(size=(400, 37))
    together = propagation.conjugate_gradients(A, B, tol=1e-12)
    monkeypatch.setattr(propagation, "MANY_ENTRIES", 1)
    with threads(2):
        apart = propagation.conjugate_gradients(A, B, tol=1e-12)
        one = propagation.conjugate_gradients(A, B[:, :1], tol=1e-12)
    assert_allclose(apart.values, together.values, atol=1e-11)
    assert_allclose(one.values, together.values[:, :1], atol=1e-11)
    assert apart.residual < 1e-12


# Tolerances, dtypes and who shares the work


@pytest.fixture
def tolerances(monkeypatch):
    """Tolerances that the linear solver is asked for, in their order."""
    asked = []
    solve = propagation.conjugate_gradients

    def spy(A, B, *, tol=1e-8, max_iter=2000):
        asked.append(tol)
        return solve(A, B, tol=tol, max_iter=max_iter)

    monkeypatch.setattr(propagation, "conjugate_gradients", spy)
    return asked


def test_tolerances_reach_the_solver(tolerances):
    W, Y = graph()
    held, known = sparse.csr_array(W), np.arange(60) < 20
    all_rows = np.vstack([Y, np.zeros((40, 3))])
    for options in ({}, {"tol": 1e-3}):
        propagation.harmonic_labels(held, all_rows, known, **options)
        propagation.harmonic_solution(held[20:][:, 20:], held[20:][:, :20], Y, **options)
        propagation.anchored_labels(all_rows, held, 0.5, **options)
        propagation.spread_labels(held, all_rows, 0.5, **options)
    assert tolerances == [1e-8, 1e-8, 1e-8, 1e-10, 1e-3, 1e-3, 1e-3, 1e-3]


def test_the_solver_stops_at_its_tolerance():
    W, _ = graph()
    A = sparse.csr_array(np.diag(W.sum(axis=1) + 1) - W)
    B = np.random.default_rng(0).normal(size=(60, 2))
    residuals = [propagation.conjugate_gradients(A, B, tol=tol).residual for tol in (1e-2, 1e-5)]
    assert 1e-5 < residuals[0] < 1e-2
    assert 1e-8 < residuals[1] < 1e-5
    assert 1e-12 < propagation.conjugate_gradients(A, B).residual < 1e-8


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

    found = propagation.conjugate_gradients(Counted(), B, tol=0.0, max_iter=7)
    assert len(products) == 7
    assert found.residual > 0
    products.clear()
    propagation.conjugate_gradients(Counted(), B, tol=0.0)
    assert len(products) == 2000


def test_no_steps_leave_zeros():
    found = propagation.conjugate_gradients(sparse.eye_array(3).tocsr(), np.ones((3, 1)), max_iter=0)
    assert not found.values.any()
    assert found.residual == np.inf


def test_systems_are_shared_from_half_a_million_unknowns_on():
    assert propagation.is_shared(2**19, 1)
    assert propagation.is_shared(2**16, 8)
    assert not propagation.is_shared(2**19 - 1, 1)


@pytest.mark.parametrize(
    ("n_columns", "sizes"), [(1, [1]), (2, [1, 1]), (16, [8, 8]), (32, [16, 16]), (33, [11, 11, 11])]
)
def test_columns_are_shared_in_equal_parts_of_at_most_sixteen(n_columns, sizes, monkeypatch):
    monkeypatch.setattr(propagation, "MANY_ENTRIES", 1)
    solved = []
    together = propagation._solve_together

    def spy(A, inverse, B, tol, max_iter):
        assert B.flags.c_contiguous
        solved.append(B.shape[1])
        return together(A, inverse, B, tol, max_iter)

    monkeypatch.setattr(propagation, "_solve_together", spy)
    B = np.random.default_rng(0).normal(size=(5, n_columns))
    found = propagation.conjugate_gradients(sparse.diags_array(np.arange(1.0, 6.0)).tocsr(), B)
    assert solved == sizes
    assert_allclose(found.values, B / np.arange(1.0, 6.0)[:, None], rtol=1e-7)


def test_the_residual_is_that_of_the_worst_part(monkeypatch):
    monkeypatch.setattr(propagation, "MANY_ENTRIES", 1)
    A = sparse.diags_array(np.arange(1.0, 41.0)).tocsr() + sparse.csr_array(np.full((40, 40), 0.1))
    B = np.random.default_rng(0).normal(size=(40, 2))
    B[:, 1] = (A @ np.ones((40, 1)))[:, 0] * 1e-3
    found = propagation.conjugate_gradients(A, B, max_iter=3)
    each = [np.linalg.norm(B[:, c] - A @ found.values[:, c]) / np.linalg.norm(B[:, c]) for c in (0, 1)]
    assert_allclose(found.residual, max(each), rtol=1e-8)
    assert min(each) < 0.97 * max(each)


def test_float32_votes_and_weights_are_solved_in_float64():
    W, Y = graph()
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
    W, Y = graph()
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


def test_the_bandwidth_is_taken_from_a_thousand_rows():
    Z = np.cumsum(np.linspace(0.1, 2.0, 1001))[:, None]
    D = np.sort((Z - Z.T) ** 2, axis=1)
    assert_allclose(
        propagation.squared_bandwidth(Z[:1000], 2), np.sort((Z[:1000] - Z[:1000].T) ** 2, axis=1)[:, 1:3].mean()
    )
    assert_allclose(propagation.squared_bandwidth(Z, 2), D[::2, 1:3].mean())
