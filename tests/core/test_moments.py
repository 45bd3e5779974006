"""Moments: the fast matrices give the energies of Eqs. (8)-(9), which the oracle sums pair by pair."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse

import oracles
from lpjt.core import moments
from lpjt.core.blocks import as_dense, row_blocks

N_CLASSES = 4


@pytest.fixture
def pair():
    """Unequal widths; class 2 has no target rows, class 3 no source rows, two target rows have no label."""
    rng = np.random.default_rng(7)
    X = [rng.normal(1.0, 2.0, size=(13, 5)), rng.normal(-1.0, 1.0, size=(10, 4))]
    y = [np.array([0, 1, 2, 0, 1, 2, 0, 1, 0, 1, 2, 0, 2]), np.array([0, 1, 1, -1, 0, 3, 3, -1, 1, 0])]
    weights = [rng.uniform(size=13), rng.uniform(size=10)]
    P = [rng.normal(size=(5, 3)), rng.normal(size=(4, 3))]
    return X, y, weights, P


def mmd_matrix(X, y, weights, is_target, ratio, cross=2.0, n_classes=N_CLASSES):
    """M of Eq. (13), all domains stacked, put together from the parts."""
    of_rows = [
        moments.class_moments(x, c, w, n_classes=n_classes, landmark_ratio=ratio)
        for x, c, w in zip(X, y, weights, strict=True)
    ]
    K = moments.mmd_coefficients([m.counts for m in of_rows], is_target, conditional_cross=cross)
    own = [
        moments.weighted_gram(x, moments.row_spread(c, w, m.counts, K[i, i, 1:], landmark_ratio=ratio))
        for i, (x, c, w, m) in enumerate(zip(X, y, weights, of_rows, strict=True))
    ]
    return moments.mmd_blocks([m.means for m in of_rows], K) + linalg.block_diag(*own)


def energy(M, P):
    stacked = np.vstack(P)
    return np.trace(stacked.T @ M @ stacked)


@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.3])
def test_matrix_gives_the_energy_of_eqs_8_and_9(pair, ratio):
    X, y, weights, P = pair
    M = mmd_matrix(X, y, weights, (False, True), ratio)
    expected = oracles.mmd_energy(X[0] @ P[0], X[1] @ P[1], *y, *weights, ratio)
    assert_allclose(energy(M, P), expected, rtol=1e-12)
    assert_allclose(M, M.T, rtol=1e-13, atol=1e-13)


def test_matrix_is_the_papers_with_the_sign_of_eq_12(pair):
    X, y, weights, _ = pair
    H_ss, H_uu, H_su = oracles.h_matrices(*y, *weights, 0.5)
    M_su = X[0].T @ H_su @ X[1]
    expected = np.block([[X[0].T @ H_ss @ X[0], -M_su], [-M_su.T, X[1].T @ H_uu @ X[1]]])
    assert_allclose(mmd_matrix(X, y, weights, (False, True), 0.5), expected, rtol=1e-12, atol=1e-12)


def test_without_any_target_label_the_marginal_term_is_left(pair):
    X, y, weights, P = pair
    y = [y[0], np.full(10, -1)]
    expected = oracles.marginal_energy(X[0] @ P[0], X[1] @ P[1], *y, *weights, 0.5)
    assert_allclose(energy(mmd_matrix(X, y, weights, (False, True), 0.5), P), expected, rtol=1e-12)


def test_several_sources_and_targets_average_their_pairs(pair):
    X, y, weights, P = pair
    rng = np.random.default_rng(8)
    # A second source without class 0, a second target without class 1.
    X = [X[0], rng.normal(size=(9, 3)), X[1], rng.normal(size=(7, 6))]
    y = [y[0], np.array([1, 1, 1, 2, 2, 3, 3, 3, 3]), y[1], np.array([0, 0, 2, 3, -1, 2, 0])]
    weights = [weights[0], rng.uniform(size=9), weights[1], rng.uniform(size=7)]
    P = [P[0], rng.normal(size=(3, 3)), P[1], rng.normal(size=(6, 3))]
    M = mmd_matrix(X, y, weights, (False, False, True, True), 0.4)
    Z = [x @ p for x, p in zip(X, P, strict=True)]
    pairs = [oracles.mmd_energy(Z[s], Z[t], y[s], y[t], weights[s], weights[t], 0.4) for s in (0, 1) for t in (2, 3)]
    assert_allclose(energy(M, P), np.mean(pairs), rtol=1e-12)


def test_the_cross_coefficient_of_the_authors_code(pair):
    X, y, weights, _ = pair
    X = [X[0] @ np.ones((5, 1)), X[1] @ np.ones((4, 1))]
    M = mmd_matrix(X, y, weights, (False, True), 0.5, cross=1.0)
    B = oracles.qp_matrix_code(*X, *y, 0.5)
    w = np.concatenate(weights)
    assert_allclose(M.sum(), w @ B @ w, rtol=1e-12)


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_energy_of_embedded_rows(pair, ratio):
    X, y, weights, P = pair
    Z = [x @ p for x, p in zip(X, P, strict=True)]
    of_rows = [
        moments.class_moments(z, c, w, n_classes=N_CLASSES, landmark_ratio=ratio)
        for z, c, w in zip(Z, y, weights, strict=True)
    ]
    K = moments.mmd_coefficients([m.counts for m in of_rows], (False, True))
    spread = [
        moments.row_spread(c, w, m.counts, K[i, i, 1:], landmark_ratio=ratio)
        for i, (c, w, m) in enumerate(zip(y, weights, of_rows, strict=True))
    ]
    found = moments.mmd_energy([m.means for m in of_rows], K, spread, [(z**2).sum(axis=1) for z in Z])
    arguments = (*Z, *y, *weights, ratio)
    expected = oracles.marginal_energy(*arguments), oracles.conditional_energy(*arguments)
    assert_allclose(found, expected, rtol=1e-12)


def test_moments_of_a_domain(pair):
    X, y, weights, _ = pair
    found = moments.class_moments(X[1], y[1], weights[1], n_classes=N_CLASSES, landmark_ratio=0.5)
    assert found.counts.tolist() == [3, 3, 0, 2]
    assert_allclose(found.means[0], oracles.landmark_mean(X[1], weights[1], range(10), 0.5), rtol=1e-12)
    for c in (0, 1, 3):
        rows = oracles.class_rows(y[1], c)
        assert_allclose(found.means[c + 1], oracles.landmark_mean(X[1], weights[1], rows, 0.5), rtol=1e-12)
    assert not found.means[3].any()


def test_weighted_gram_is_the_graph_scatter(pair):
    X, y, weights, _ = pair
    W = oracles.within_graph(X[0], y[0], 2, "heat", 3.0)
    degree = W.sum(axis=1)
    found = moments.weighted_gram(X[0], weights[0] + 0.3 * degree, 0.3 * sparse.csr_array(W))
    expected = X[0].T @ (np.diag(weights[0]) + 0.3 * oracles.laplacian(W)) @ X[0]
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_weighted_gram_of_more_rows_than_a_block():
    # 1024 columns: a block has at most 2^20 / 2^10 = 1024 rows, and the edges cross its borders.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4200, 1024)).astype(np.float32)
    weights = rng.uniform(size=4200)
    W = sparse.diags_array([np.ones(4100), np.ones(4100)], offsets=[-100, 100], format="csr")
    p = rng.normal(size=1024)
    found = p @ moments.weighted_gram(X, weights, W) @ p
    z = X @ p
    assert_allclose(found, weights @ z**2 - z @ (W @ z), rtol=1e-5)


def test_gram_of_float32_rows_is_summed_in_float64():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3)).astype(np.float32)
    gram = moments.weighted_gram(X, np.ones(50))
    assert gram.dtype == np.float64
    assert_allclose(gram, X.T.astype(float) @ X, rtol=1e-5)
    assert moments.total_scatter(X).dtype == np.float64


def test_total_scatter(pair):
    X = pair[0][0]
    assert_allclose(moments.total_scatter(X), oracles.total_scatter(X), rtol=1e-12, atol=1e-12)


def test_only_the_panels_from_the_diagonal_down_are_multiplied():
    rng = np.random.default_rng(0)
    for width, step in ((10, 64), (64, 64), (100, 64), (256, 64), (300, 75), (301, 76)):
        A, B = rng.normal(size=(2, 5, width))
        found = moments._lower_product(A, B)
        rows, columns = np.indices((width, width))
        computed = rows >= columns // step * step
        assert_allclose(found, np.where(computed, A.T @ B, 0.0), atol=1e-12)
        assert moments._lower_product(A.astype(np.float32), B.astype(np.float32)).dtype == np.float32


def test_a_wide_gram_is_symmetric_and_whole():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(40, 150)), rng.uniform(size=40)
    W = sparse.random_array((40, 40), density=0.2, random_state=rng, format="csr")
    W = (W + W.T).tocsr()
    found = moments.weighted_gram(X, weights, W)
    assert_allclose(found, X.T @ (np.diag(weights) - W.toarray()) @ X, atol=1e-10)
    assert_array_equal(found, found.T)
    assert_allclose(moments.weighted_gram(X, weights), X.T @ np.diag(weights) @ X, atol=1e-10)


def test_rows_and_weights_are_not_changed():
    rng = np.random.default_rng(0)
    X, weights, W = rng.normal(size=(9, 3)), rng.uniform(size=9), sparse.eye_array(9).tocsr()
    before = X.copy(), weights.copy(), W.toarray()
    moments.weighted_gram(X, weights, W)
    moments.weighted_gram(X, weights)
    moments.total_scatter(X)
    moments.class_moments(X, np.zeros(9, dtype=int), weights, n_classes=1)
    for part, old in zip((X, weights, W.toarray()), before, strict=True):
        assert_array_equal(part, old)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_blocks_of_rows_add_up(pair, ratio, monkeypatch):
    X, y, weights, _ = pair
    whole = moments.class_moments(X[0], y[0], weights[0], n_classes=N_CLASSES, landmark_ratio=ratio)
    scatter, gram = moments.total_scatter(X[0]), moments.weighted_gram(X[0], weights[0])
    monkeypatch.setattr(row_blocks, "__defaults__", (15,))  # three rows at a time
    found = moments.class_moments(X[0], y[0], weights[0], n_classes=N_CLASSES, landmark_ratio=ratio)
    assert_allclose(found.means, whole.means, rtol=1e-12)
    assert_allclose(moments.total_scatter(X[0]), scatter, rtol=1e-12, atol=1e-12)
    assert_allclose(moments.weighted_gram(X[0], weights[0]), gram, rtol=1e-12)


def test_without_a_ratio_means_are_plain():
    X, y = np.array([[1.0], [3.0], [8.0]]), np.array([0, 0, -1])
    assert moments.class_moments(X, y, np.ones(3), n_classes=2).means.tolist() == [[4.0], [2.0], [0.0]]
    A = moments.averaging_matrix(y, np.ones(3), np.array([2, 0]))
    assert_allclose(as_dense(A), [[1 / 3] * 3, [0.5, 0.5, 0.0], [0.0] * 3])
    spread = moments.row_spread(y, np.array([1.0, 2.0, 3.0]), np.array([2, 0]), np.array([1.0, 5.0]))
    assert spread.tolist() == [0.5, 2.0, 0.0]


def test_coefficients_of_one_pair_and_of_none():
    counts = [np.array([2, 0]), np.array([3, 1])]
    K = moments.mmd_coefficients(counts, (False, True))
    assert K[0, 0].tolist() == K[1, 1].tolist() == [1, 1, 0]
    assert K[0, 1].tolist() == K[1, 0].tolist() == [-1, -2, 0]
    assert not moments.mmd_coefficients(counts, (False, False)).any()


def test_scatter_far_from_the_origin_in_float32():
    X = (100 + np.random.default_rng(0).normal(size=(500, 2))).astype(np.float32)
    assert_allclose(moments.total_scatter(X), oracles.total_scatter(X.astype(np.float64)), rtol=1e-3)
