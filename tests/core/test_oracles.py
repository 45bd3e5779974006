"""The oracles agree among themselves: each sum against a second way to write it."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize

import oracles


@pytest.fixture
def problem():
    """Two small domains of unequal width: class 2 is in the source only, two target rows are unlabelled."""
    rng = np.random.default_rng(7)
    X_source, X_target = rng.normal(size=(13, 5)), rng.normal(size=(10, 4))
    y_source = np.array([0, 1, 2, 0, 1, 2, 0, 1, 0, 1, 2, 0, 3])
    y_target = np.array([0, 1, 1, -1, 0, 3, 3, -1, 1, 0])
    A, B = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    alpha, beta = rng.uniform(size=13), rng.uniform(size=10)
    return X_source, X_target, y_source, y_target, A, B, alpha, beta


def graphs(X, y):
    return oracles.within_graph(X, y, 2, "heat"), oracles.between_graph(X, y, 2, "heat")


def test_mmd_by_hand():
    Z_source, Z_target = np.array([[1.0], [3.0]]), np.array([[2.0], [6.0]])
    weights = np.array([1.0, 0.5])
    arguments = (Z_source, Z_target, [0, 1], [0, -1], weights, weights, 0.5)
    # Marginal means: (1 + 1.5) / (0.5 * 2) = 2.5 and (2 + 3) / 1 = 5.
    # Class 0: means 1 / 0.5 = 2 and 2 / 0.5 = 4; its one pair, (1 - 2)^2 / 0.5^2 = 4.
    assert_allclose(oracles.marginal_energy(*arguments), 6.25)
    assert_allclose(oracles.conditional_energy(*arguments), 4.0 + 4.0)
    assert_allclose(oracles.mmd_energy(*arguments), 14.25)


def test_objective_matrices_are_the_energies(problem):
    X_source, X_target, y_source, y_target, A, B, alpha, beta = problem
    graphs_source, graphs_target = graphs(X_source, y_source), graphs(X_target, y_target)
    S_min, S_max = oracles.objective_matrices(
        X_source,
        X_target,
        y_source,
        y_target,
        alpha,
        beta,
        0.4,
        *graphs_source,
        *graphs_target,
        0.3,
        0.7,
        5.0,
    )
    numerator, denominator = oracles.multi_objective_energy(
        ([A], [B]),
        [X_source],
        [X_target],
        [y_source],
        [y_target],
        [alpha],
        [beta],
        0.4,
        [graphs_source],
        [graphs_target],
        0.3,
        0.7,
        5.0,
    )
    P = np.vstack([A, B])
    assert_allclose(np.trace(P.T @ S_min @ P), numerator, rtol=1e-12)
    assert_allclose(np.trace(P.T @ S_max @ P), denominator, rtol=1e-12)


def test_coupling_is_the_distance_of_the_projections(problem):
    X_source, _, y_source, _, A, _, alpha, _ = problem
    B = A[::-1]
    both = graphs(X_source, y_source)
    arguments = (X_source, X_source, y_source, y_source, alpha, alpha, 0.5, *both, *both, 0.1, 0.2)
    P = np.vstack([A, B])
    difference = oracles.objective_matrices(*arguments, 3.0)[0] - oracles.objective_matrices(*arguments, 0)[0]
    assert_allclose(np.trace(P.T @ difference @ P), 3.0 * np.sum((A - B) ** 2), rtol=1e-12)


def test_several_equal_domains_weigh_as_one(problem):
    X_source, X_target, y_source, y_target, A, B, alpha, beta = problem
    graphs_source, graphs_target = graphs(X_source, y_source), graphs(X_target, y_target)

    def energy(m, n):
        return oracles.multi_objective_energy(
            ([A] * m, [B] * n),
            [X_source] * m,
            [X_target] * n,
            [y_source] * m,
            [y_target] * n,
            [alpha] * m,
            [beta] * n,
            0.5,
            [graphs_source] * m,
            [graphs_target] * n,
            0.1,
            0.2,
            0.0,
        )

    assert_allclose(energy(3, 2), energy(1, 1), rtol=1e-12)


def test_qp_matrix_is_the_energy(problem):
    X_source, X_target, y_source, y_target, A, B, alpha, beta = problem
    Z_source, Z_target = X_source @ A, X_target @ B
    matrix = oracles.qp_matrix(Z_source, Z_target, y_source, y_target, 0.5)
    w = np.concatenate([alpha, beta])
    expected = oracles.mmd_energy(Z_source, Z_target, y_source, y_target, alpha, beta, 0.5)
    assert_allclose(w @ matrix @ w, expected, rtol=1e-12)
    assert_allclose(matrix, matrix.T)


def test_qp_matrix_code_differs_by_one_class_term(problem):
    X_source, X_target, y_source, y_target, A, B, _, _ = problem
    arguments = (X_source @ A, X_target @ B, y_source, y_target, 0.5)
    gap = oracles.qp_matrix_code(*arguments) - oracles.qp_matrix(*arguments)
    assert not gap[:13, :13].any()
    assert not gap[13:, 13:].any()
    z = arguments[0][0] @ arguments[1][0]
    assert_allclose(gap[0, 13], z / (0.5**2 * 5 * 3), rtol=1e-12)
    # A sum of squares, as the energy is.
    assert np.linalg.eigvalsh(oracles.qp_matrix_code(*arguments)).min() > -1e-10


def test_graph_energy_is_the_trace(problem):
    X, _, y, _, A, _, _, _ = problem
    for W in graphs(X, y):
        assert_array_equal(W, W.T)
        L = oracles.laplacian(W)
        assert_allclose(L.sum(axis=1), 0, atol=1e-12)
        assert_allclose(np.trace((X @ A).T @ L @ X @ A), oracles.graph_energy(X @ A, W), rtol=1e-12)


def test_graphs_join_the_right_rows():
    X = np.array([[0.0], [1.0], [2.5], [4.5], [7.0], [7.1]])
    y = np.array([0, 0, 1, 1, 0, -1])
    within = oracles.within_graph(X, y, 1, "binary")
    between = oracles.between_graph(X, y, 1, "binary")
    assert [tuple(p) for p in np.argwhere(np.triu(within))] == [(0, 1), (1, 4), (2, 3)]
    assert [tuple(p) for p in np.argwhere(np.triu(between))] == [(0, 2), (1, 2), (3, 4)]
    # Couples by distance: (1, 2) 1.5, then (0, 2) and (3, 4) 2.5, a tie that column order breaks.
    pairs = oracles.between_pairs_graph(X, y, 4)
    assert [tuple(p) for p in np.argwhere(np.triu(pairs))][-1] == (1, 2)
    assert oracles.between_pairs_graph(X, y, 2).sum() == 2
    heat = oracles.within_graph(X, y, 1, "heat", bandwidth=2.0)
    assert_allclose(heat[2, 3], np.exp(-4.0 / 8.0))


def test_total_scatter_is_the_centring_matrix_of_eq_17(problem):
    X = problem[0]
    n = len(X)
    assert_allclose(oracles.total_scatter(X), X.T @ (np.eye(n) - np.ones((n, n)) / n) @ X, atol=1e-12)


def test_eigenpairs(problem):
    rng = np.random.default_rng(0)
    F, G = rng.normal(size=(2, 9, 9))
    S_max, S_min = F @ F.T, G @ G.T + np.eye(9)
    values, vectors = oracles.solve_projection(S_max, S_min, 4)
    assert (np.diff(values) <= 0).all()
    assert_allclose(vectors.T @ S_min @ vectors, np.eye(4), atol=1e-10)
    assert oracles.eigen_residual(S_max, S_min, vectors, values) < 1e-10
    assert oracles.eigen_residual(S_max, S_min, vectors, values * 1.1) > 0.01


@pytest.mark.parametrize("delta", [0.3, 0.5, 1.0])
def test_qp_referee_is_feasible_and_optimal(problem, delta):
    pytest.importorskip("piqp")
    X_source, X_target, y_source, y_target, A, B, _, _ = problem
    matrix = oracles.qp_matrix(X_source @ A, X_target @ B, y_source, y_target, delta)
    w, objective = oracles.qp_referee(matrix, y_source, y_target, delta, 4)
    assert w.min() >= 0
    assert w.max() <= 1
    assert_allclose(w[[13 + 3, 13 + 7]], delta)
    for rows in oracles.qp_groups(y_source, y_target, 4):
        assert_allclose(w[rows].sum(), delta * len(rows), atol=1e-8)
    assert abs(oracles.qp_gap(matrix, w, y_source, y_target, delta, 4)) < 1e-7 * objective


def test_qp_referee_agrees_with_a_second_solver(problem):
    pytest.importorskip("piqp")
    X_source, X_target, y_source, y_target, A, B, _, _ = problem
    matrix = oracles.qp_matrix(X_source @ A, X_target @ B, y_source, y_target, 0.5)
    _, objective = oracles.qp_referee(matrix, y_source, y_target, 0.5, 4)
    equalities = [
        {"type": "eq", "fun": lambda w, rows=rows: w[rows].sum() - 0.5 * len(rows)}
        for rows in [*oracles.qp_groups(y_source, y_target, 4), [16], [20]]
    ]
    other = optimize.minimize(
        lambda w: 0.5 * w @ matrix @ w,
        np.full(len(matrix), 0.5),
        jac=lambda w: matrix @ w,
        bounds=[(0, 1)] * len(matrix),
        constraints=equalities,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert_allclose(objective, other.fun, rtol=1e-6)


def test_propagation_is_the_limit_of_its_iteration(problem):
    X, _, y, _, _, _, _, _ = problem
    W = oracles.nearest_graph(X, 4)
    Y = oracles.one_hot(y[:6], 4)
    F = np.vstack([Y, np.zeros((7, 4))])
    G, Y0 = F.copy(), F.copy()
    S = W / np.sqrt(np.outer(W.sum(1), W.sum(1)))
    for _ in range(5000):
        F = W @ F / W.sum(1, keepdims=True)
        F[:6] = Y
        G = 0.9 * S @ G + 0.1 * Y0
    assert_allclose(oracles.propagate_harmonic(W, Y, 6), F[6:], atol=1e-10)
    assert_allclose(oracles.propagate_spreading(W, Y0, 0.9), G, atol=1e-10)


def test_rows_out_of_reach_stay_zero():
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = 1.0
    assert_allclose(oracles.propagate_harmonic(W, np.array([[0.0, 1.0]]), 1), [[0, 1], [0, 0], [0, 0]])


def test_class_mass_normalisation():
    F = np.array([[0.9, 0.1, 0.0], [0.7, 0.3, 0.0], [0.0, 0.0, 0.0]])
    expected = np.array([[0.9 / 1.6 * 0.25, 0.1 / 0.4 * 0.5], [0.7 / 1.6 * 0.25, 0.3 / 0.4 * 0.5]])
    expected = expected / expected.sum(axis=1, keepdims=True)
    result = oracles.class_mass_normalise(F, [0.25, 0.5, 0.25])
    assert_allclose(result[:2, :2], expected)
    assert not result[2].any()


def toy(width_target=8):
    rng = np.random.default_rng(3)
    y = np.arange(40) % 3
    means = rng.normal(scale=1.5, size=(3, 8))
    X_source = means[y] + 0.5 * rng.normal(size=(40, 8))
    X_target = (means[y] + 0.7 + 0.5 * rng.normal(size=(40, 8)))[:, :width_target]
    return X_source, y, X_target


def check_records(records, y, n_classes=3, delta=0.5, ridge=0.0):
    for record in records:
        P = np.vstack([record["A"], record["B"]])
        added = ridge * np.trace(record["S_min"]) / len(record["S_min"])
        S_min = record["S_min"] + added * np.eye(len(P))
        residual = oracles.eigen_residual(record["S_max"], S_min, P, record["eigenvalues"])
        assert residual < 1e-6
        for c in range(n_classes):
            assert_allclose(record["alpha"][y == c].mean(), delta, atol=1e-7)
    for before, after in pairwise(records):
        assert_array_equal(before["labels"], after["labels_before"])


def test_naive_lpjt_runs():
    pytest.importorskip("piqp")
    X_source, y, X_target = toy()
    records = oracles.naive_lpjt(X_source, y, X_target, n_components=4, gamma=0.01, mu=0.1, coupling=1.0, n_iter=3)
    assert len(records) == 3
    check_records(records, y, ridge=1e-10)
    assert np.mean(records[-1]["labels"] == y) > 0.8


def test_naive_lpjt_of_unequal_widths_clamps_known_labels():
    pytest.importorskip("piqp")
    X_source, y, X_target = toy(width_target=6)
    known = np.where(np.arange(40) < 6, y, -1)
    records = oracles.naive_lpjt(
        X_source, y, X_target, n_components=4, gamma=0.05, mu=0.1, n_iter=2, y_target=known, class_mass="code"
    )
    check_records(records, y, ridge=1e-10)
    assert_array_equal(records[-1]["labels"][:6], y[:6])
    assert_array_equal(records[-1]["scores"][:6], oracles.one_hot(y[:6], 3))


def test_naive_lpjt_code_runs():
    pytest.importorskip("piqp")
    X_source, y, X_target = toy()
    records = oracles.naive_lpjt_code(X_source, y, X_target, n_components=4, n_iter=3)
    check_records(records, y)
    assert_array_equal(records[-1]["beta"], 1.0)
    assert np.mean(records[-1]["labels"] == y) > 0.8
