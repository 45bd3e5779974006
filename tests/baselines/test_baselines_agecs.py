"""AGE-CS against its n x n transcription; its graph against the energy of a row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles_baselines_graphs as naive
from lpjt.baselines import AGECS
from lpjt.baselines._adaptive_graph import adaptive_graph, project_on_simplex
from lpjt.baselines._ridge_labels import fit_ridge_labels
from lpjt.datasets import load_problem
from problems import masked, shifted_pair

SETTING = {
    "n_components": 4,
    "regularization": 0.3,
    "graph_weight": 2.0,
    "balance": 0.4,
    "n_neighbors": 6,
    "semantic_weight": 0.01,
    "graph_step": 0.3,
    "gamma": 0.7,
    "shrinkage": 0.2,
    "scaling": "unit",
}
ORACLE = {"k": 4, "weight": 0.3, "graph": 2.0, "mu": 0.4, "n_neighbors": 6, "tau": 0.01, "step": 0.3}
REGRESSION = {"gamma": 0.7, "ridge": 0.2}


def unit(X):
    return X / np.linalg.norm(X, axis=1)[:, None]


def fitted_and_expected(n_iter, *, seed=1, n_given=0):
    X, y, X_target, y_target = shifted_pair(seed, apart=1.0, n_classes=4)
    known = masked(y_target, n_given)
    model = AGECS(max_iter=n_iter, **SETTING).fit(X, y, X_target, known)
    oracle = {**ORACLE, **REGRESSION, "n_classes": 4, "known": known}
    return model, naive.agecs(unit(X), y, unit(X_target), n_iter=n_iter, **oracle), X_target


@pytest.mark.parametrize("n_iter", [1, 2, 5])
def test_every_iteration_is_the_dense_problem(n_iter):
    model, iterations, X_target = fitted_and_expected(n_iter)
    Z, S, labels = iterations[-1]
    assert_allclose(model.similarities_.toarray(), S, atol=1e-7)
    found, Z = model.transform(X_target), Z[-len(X_target) :]
    assert_allclose(found @ found.T, Z @ Z.T, rtol=1e-5, atol=1e-7 * np.abs(Z).max() ** 2)
    assert_array_equal(model.transduction_, labels)
    assert model.n_iter_ == n_iter
    if n_iter > 1:
        assert not np.allclose(S, iterations[0][1])
        assert (labels != iterations[0][2]).any()


def test_given_labels_stay_and_take_part():
    model, iterations, _ = fitted_and_expected(3, n_given=3)
    assert_allclose(model.similarities_.toarray(), iterations[-1][1], atol=1e-7)
    assert_array_equal(model.transduction_, iterations[-1][2])
    bare, _, _ = fitted_and_expected(3)
    assert not np.allclose(bare.similarities_.toarray(), iterations[-1][1])


def test_similarities_join_no_domains_and_have_rows_of_sum_one():
    X, y, X_target, _ = shifted_pair(seed=3)
    S = AGECS(n_components=3).fit(X, y, X_target).similarities_.toarray()
    assert_allclose(S.sum(axis=1), 1.0)
    assert (S >= 0).all()
    assert not S[: len(X), len(X) :].any()
    assert not S[len(X) :, : len(X)].any()
    assert not np.diag(S).any()


@pytest.mark.parametrize("spread", [None, 3.0])
def test_a_row_of_the_graph_has_the_least_energy_on_the_simplex(spread):
    X, y, _, _ = shifted_pair(apart=0.5)
    k, rng = 5, np.random.default_rng(0)
    S = adaptive_graph(X, y, k, semantic_weight=0.05, spread=spread).S.toarray()
    for i, near in enumerate(naive.structure.nearest_others(X, k + 1)):
        d = [np.linalg.norm(X[i] - X[j]) for j in near]
        g = [float(y[i] == y[j]) for j in near]
        beta, gamma = naive.row_weights(d, g, k, 0.05)
        gamma = gamma if spread is None else spread
        assert beta + gamma > 0  # convex
        least = naive.similarity_energy(S[i, near[:k]], d, g, beta, gamma)
        for other in rng.dirichlet(np.ones(k), size=20):
            assert naive.similarity_energy(other, d, g, beta, gamma) >= least - 1e-9


def test_a_near_row_of_the_same_label_is_rewarded():
    """Two neighbours at the same distance: the one of the row's own label is the more similar."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.2], [0.0, -3.0], [4.0, 4.0], [5.0, 0.0]])
    y = np.array([0, 0, 1, 1, 1, 0, 0])
    S = adaptive_graph(X, y, 3, semantic_weight=0.1).S.toarray()
    assert S[0, 1] > S[0, 2] > 0
    blind = adaptive_graph(X, y, 3, semantic_weight=0.0).S.toarray()
    assert blind[0, 1] == pytest.approx(blind[0, 2])


def test_rows_that_are_all_alike_have_equal_similarities():
    graph = adaptive_graph(np.ones((6, 2)), np.zeros(6, dtype=int), 3, semantic_weight=0.1)
    assert_allclose(graph.S.data, 1 / 3)
    assert np.isfinite(graph.spread)
    pair = adaptive_graph(np.array([[0.0], [1.0]]), np.array([0, 1]), 3, semantic_weight=0.1)
    assert_allclose(pair.S.toarray(), [[0, 1], [1, 0]])


def test_projection_on_the_simplex_is_that_of_a_bisection():
    V = np.random.default_rng(0).normal(size=(40, 6)) * np.logspace(-2, 4, 40)[:, None]
    assert_allclose(project_on_simplex(V), [naive.nearest_on_simplex(v) for v in V], atol=1e-8)


def test_regression_at_kernel_rows_is_the_constrained_minimum():
    """Beyond the limit, coefficients minimise the same energy among functions of the kernel rows alone."""
    X, y, X_new, _ = shifted_pair(apart=1.0)
    exact = fit_ridge_labels(X, y, 3, gamma=0.1, shrinkage=0.5, max_rows=90)
    assert_array_equal(exact.codes_of(X_new), naive.ridge_labels(X, y, X_new, 3, 0.1, 0.5))
    few = fit_ridge_labels(X, y, 3, gamma=0.1, shrinkage=0.5, max_rows=20)
    assert few.rows.shape == (20, 8)
    K, K_few = naive.joint.rbf(X, few.rows, 0.1), naive.joint.rbf(few.rows, few.rows, 0.1)

    def energy(C):
        return ((K @ C - np.eye(3)[y]) ** 2).sum() + 0.5 * np.trace(C.T @ K_few @ C)

    rng = np.random.default_rng(0)
    for _ in range(10):
        assert energy(few.coefficients + 1e-3 * rng.normal(size=(20, 3))) > energy(few.coefficients)


@pytest.mark.data
@pytest.mark.parametrize(("pair", "measured"), [("W to D", 93.0), ("D to W", 93.9)])
def test_agecs_keeps_its_figures_of_objects(pair, measured):
    """What was measured when AGE-CS was written, above JDA (85.4 and 86.1)."""
    problem = load_problem("surf", pair)
    model = AGECS(scaling="paper").fit(problem.X_source, problem.y_source, problem.X_target)
    assert 100 * np.mean(model.transduction_ == problem.y_target) == pytest.approx(measured, abs=1)
