"""Propagation: harmonic labels, Eq. (2)'s limit and the anchored votes against dense solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracles
from lpjt._threads import threads
from lpjt.core import definite, propagation
from toys import embedded, harmonic, heat_graph


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bandwidth", [0.5, 2.0])
def test_harmonic_labels_are_the_dense_solution(seed, bandwidth):
    W, Y = heat_graph(seed, bandwidth=bandwidth)
    found = harmonic(W, Y, 20)
    assert_allclose(found, oracles.propagate_harmonic(W, Y, 20), atol=1e-7)
    assert_allclose(found.sum(axis=1), 1, atol=1e-6)


def test_harmonic_labels_of_known_rows_in_any_place():
    W, Y = heat_graph()
    order = np.random.default_rng(5).permutation(60)
    known = (np.arange(60) < 20)[order]
    Y_all = np.vstack([Y, np.zeros((40, 3))])[order]
    found = propagation.harmonic_labels(sparse.csr_array(W[np.ix_(order, order)]), Y_all, known)
    assert_allclose(found, oracles.propagate_harmonic(W, Y, 20)[order[~known] - 20], atol=1e-7)


def test_known_distributions_need_not_be_one_hot():
    W, _ = heat_graph()
    Y = np.random.default_rng(1).dirichlet(np.ones(3), size=20)
    assert_allclose(harmonic(W, Y, 20), oracles.propagate_harmonic(W, Y, 20), atol=1e-7)


def test_components_without_labels_are_zero_rows():
    W, Y = heat_graph(n=40)
    apart, _ = heat_graph(seed=9, n=12)
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
    W, Y = heat_graph()
    Y0 = np.vstack([Y, np.zeros((40, 3))])
    found = propagation.spread_labels(sparse.csr_array(W), Y0, sigma)
    assert_allclose(found, oracles.propagate_spreading(W, Y0, sigma), atol=1e-9)


def test_spreading_leaves_a_row_without_edges_what_it_has():
    W, Y = heat_graph()
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


@pytest.fixture(params=["dense", "sparse"])
def form(request, monkeypatch):
    """Both forms of a graph: small ones are dense."""
    monkeypatch.setattr("lpjt.core.edges.SMALL_GRAPH", 2**19 if request.param == "dense" else 0)
    return np.ndarray if request.param == "dense" else sparse.csr_array


def as_dense(W, form):
    assert isinstance(W, form)
    return W if form is np.ndarray else W.toarray()


def test_neighborhoods_give_the_votes_and_the_graph_of_the_unknown_rows(form):
    Z_known, Y, Z = embedded()
    near = propagation.find_neighborhoods(Z_known, Z, 5)
    assert_allclose(near.votes(Y, 3), dense_votes(Z_known, Y, Z, 3), atol=1e-10)
    assert_allclose(as_dense(near.graph, form), dense_graph(Z, 5), atol=1e-10)
    # More neighbours than rows: all of them.
    near = propagation.find_neighborhoods(Z_known[:4], Z[:3], 15)
    assert_allclose(near.votes(Y[:4], 15), dense_votes(Z_known[:4], Y[:4], Z[:3], 4), atol=1e-10)
    assert_allclose(as_dense(near.graph, form), dense_graph(Z[:3], 2), atol=1e-10)


def test_blocks_join_unknown_rows_to_their_nearest_rows_of_either_kind(form):
    Z_known, Y, Z = embedded()
    W_uu, W_uk = propagation.find_neighborhoods(Z_known, Z, 5).blocks()
    D = ((Z[:, None] - np.vstack([Z, Z_known])) ** 2).sum(axis=2)
    D[np.arange(25), np.arange(25)] = np.inf
    nearest = np.argsort(D, axis=1)[:, :5]
    W = np.zeros_like(D)
    np.put_along_axis(W, nearest, heat(np.take_along_axis(D, nearest, axis=1)), axis=1)
    expected = np.maximum(W[:, :25], W[:, :25].T)
    assert_allclose(as_dense(W_uu, form), expected, atol=1e-10)
    assert_allclose(as_dense(W_uk, form), W[:, 25:], atol=1e-10)
    found = propagation.harmonic_solution(W_uu, W_uk, Y)
    whole = np.block([[np.zeros((30, 30)), W[:, 25:].T], [W[:, 25:], expected]])
    assert_allclose(found, oracles.propagate_harmonic(whole, Y, 30), atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_indicators_of_labelled_rows_are_dense_or_sparse(form, weighted):
    Z_known, Y, Z = embedded()
    y = Y.argmax(axis=1)
    weights = np.linspace(0.5, 2.0, len(y)) if weighted else None
    found = propagation.one_hot(y, weights, Y.shape[1])
    expected = np.eye(Y.shape[1])[y] * (1.0 if weights is None else weights[:, None])
    assert_array_equal(as_dense(found, form), expected)
    near = propagation.find_neighborhoods(Z_known, Z, 5)
    assert_allclose(near.votes(found, 3), near.votes(expected, 3), rtol=1e-12)
    assert_allclose(
        propagation.harmonic_solution(*near.blocks(), found), propagation.harmonic_solution(*near.blocks(), expected)
    )
    assert_allclose(
        propagation.vote(Z_known, found, Z, n_neighbors=4), propagation.vote(Z_known, expected, Z, n_neighbors=4)
    )


def test_normalising_rows_leaves_the_argument_as_it_is():
    F = np.array([[1.0, 3.0], [0.0, 0.0]])
    assert_allclose(propagation.normalise_rows(F), [[0.25, 0.75], [0.5, 0.5]])
    assert_array_equal(F, [[1.0, 3.0], [0.0, 0.0]])


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
    found = definite.conjugate_gradients(sparse.csr_array(A), B, tol=1e-12)
    assert_allclose(found.values, np.linalg.solve(A, B), atol=1e-10)
    assert found.residual < 1e-12
    rushed = definite.conjugate_gradients(sparse.csr_array(A), B, max_iter=2)
    assert rushed.residual > 1e-6
    true = np.linalg.norm(B - A @ rushed.values, axis=0)[[0, 2]] / np.linalg.norm(B, axis=0)[[0, 2]]
    assert_allclose(rushed.residual, true.max(), rtol=1e-8)


def test_many_columns_are_solved_as_few_are(monkeypatch):
    rng = np.random.default_rng(0)
    W = sparse.random_array((400, 400), density=0.02, random_state=rng)
    W = W + W.T
    A = (sparse.diags_array(1.0 + W.sum(axis=1)) - W).tocsr()
    B = rng.normal(size=(400, 37))
    together = definite.conjugate_gradients(A, B, tol=1e-12)
    monkeypatch.setattr(definite, "MANY_ENTRIES", 1)
    with threads(2):
        apart = definite.conjugate_gradients(A, B, tol=1e-12)
        one = definite.conjugate_gradients(A, B[:, :1], tol=1e-12)
    assert_allclose(apart.values, together.values, atol=1e-11)
    assert_allclose(one.values, together.values[:, :1], atol=1e-11)
    assert apart.residual < 1e-12
