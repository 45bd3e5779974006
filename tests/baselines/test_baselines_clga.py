"""CLGA against its n x n transcription, with one source and with several."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracles_baselines_graphs as naive
from lpjt.baselines import CLGA, JDA
from lpjt.baselines._graphs import graph_scatter
from lpjt.datasets import load_problem
from problems import masked, shifted_pair

SETTING = {
    "n_components": 4,
    "regularization": 0.3,
    "compactness_weight": 0.7,
    "separation_weight": 1.5,
    "domain_weight": 0.4,
    "n_neighbors": 4,
    "scaling": "none",
}
ORACLE = {"n_classes": 4, "k": 4, "weight": 0.3, "local": (0.7, 1.5, 0.4), "n_neighbors": 4}


def problem(n_sources, seed=1):
    """Sources and labels by name, of unlike sizes and places, a target and its labels."""
    X, y, X_target, y_target = shifted_pair(seed, apart=1.0, n_classes=4)
    parts = [np.arange(len(y))] if n_sources == 1 else [np.arange(40), np.arange(40, len(y))]
    sources = {f"s{i}": X[rows] * (1 + 0.3 * i) + i for i, rows in enumerate(parts)}
    return sources, {f"s{i}": y[rows] for i, rows in enumerate(parts)}, X_target, y_target


def assert_same_embedding(model, sources, X_target, Z):
    found = np.vstack([*(model.transform(X, name) for name, X in sources.items()), model.transform(X_target)])
    assert_allclose(found @ found.T, Z @ Z.T, rtol=1e-6, atol=1e-8 * np.abs(Z).max() ** 2)


@pytest.mark.parametrize("n_sources", [1, 2])
@pytest.mark.parametrize("n_iter", [1, 2, 4])
def test_every_iteration_is_the_dense_problem(n_sources, n_iter):
    sources, labels, X_target, _ = problem(n_sources)
    model = CLGA(max_iter=n_iter, **SETTING).fit(sources, labels, X_target)
    iterations = naive.clga([*sources.values()], [*labels.values()], X_target, n_iter=n_iter, **ORACLE)
    assert_same_embedding(model, sources, X_target, iterations[-1][0])
    assert_array_equal(model.transduction_, iterations[-1][1])
    assert model.n_iter_ == n_iter  # labels still change on these rows
    if n_iter > 1:
        assert (iterations[0][1] != iterations[1][1]).any()


def test_given_labels_take_part_in_every_term():
    sources, labels, X_target, y_target = problem(2)
    known = masked(y_target, 3)
    model = CLGA(max_iter=3, **SETTING).fit(sources, labels, X_target, known)
    iterations = naive.clga([*sources.values()], [*labels.values()], X_target, n_iter=3, known=known, **ORACLE)
    assert_same_embedding(model, sources, X_target, iterations[-1][0])
    assert_array_equal(model.transduction_, iterations[-1][1])


def test_rows_fewer_than_columns_are_the_dense_problem():
    X, y, X_target, _ = shifted_pair(n_source=24, n_target=20, width=50)
    model = CLGA(max_iter=2, **SETTING).fit(X, y, X_target)
    Z, labels = naive.clga([X], [y], X_target, n_iter=2, **{**ORACLE, "n_classes": 3})[-1]
    assert_same_embedding(model, {"source": X}, X_target, Z)
    assert_array_equal(model.transduction_, labels)


def test_without_local_terms_sources_are_one_set_of_rows_and_clga_is_jda():
    sources, labels, X_target, _ = problem(2)
    nothing = {"compactness_weight": 0.0, "separation_weight": 0.0, "domain_weight": 0.0}
    model = CLGA(n_components=4, scaling="none", **nothing).fit(sources, labels, X_target)
    stacked = np.vstack([*sources.values()]), np.concatenate([*labels.values()])
    expected = JDA(n_components=4, scaling="none").fit(*stacked, X_target)
    assert_array_equal(model.transduction_, expected.transduction_)
    assert_allclose(model.transform(X_target), expected.transform(X_target), atol=1e-10)
    assert model.n_iter_ == expected.n_iter_


def test_the_domains_of_the_sources_matter():
    sources, labels, X_target, _ = problem(2)
    apart = CLGA(**SETTING).fit(sources, labels, X_target)
    stacked = np.vstack([*sources.values()]), np.concatenate([*labels.values()])
    together = CLGA(**SETTING).fit(*stacked, X_target)
    assert not np.allclose(np.abs(apart.transform(X_target)), np.abs(together.transform(X_target)))


def test_a_second_source_teaches_a_class_that_the_first_lacks():
    X, y, X_target, y_target = shifted_pair(shift=0.5)
    rows = np.arange(len(y)) % 2 == 0
    sources = {"first": X[rows & (y < 2)], "second": X[~rows & (y > 0)]}
    labels = {"first": y[rows & (y < 2)], "second": y[~rows & (y > 0)]}
    model = CLGA(n_components=3).fit(sources, labels, X_target)
    assert np.mean(model.transduction_ == y_target) > 0.9
    assert_array_equal(model.predict(X_target[::-1]), model.transduction_[::-1])


def test_the_order_of_the_sources_does_not_matter():
    sources, labels, X_target, _ = problem(2)
    model = CLGA(**SETTING).fit(sources, labels, X_target)
    turned = CLGA(**SETTING).fit(dict(reversed(sources.items())), labels, X_target)
    assert_array_equal(turned.transduction_, model.transduction_)
    assert_allclose(np.abs(turned.transform(X_target)), np.abs(model.transform(X_target)), rtol=1e-6, atol=1e-8)


def test_graph_scatter_is_the_energy_of_neighbours():
    """tr X'LX is half the sum of W_ij |x_i / sqrt d_i - x_j / sqrt d_j|^2, whatever rows without edges are."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(9, 3)), np.triu(rng.random((9, 9)) * (rng.random((9, 9)) < 0.5), 1)
    W += W.T
    W[4] = W[:, 4] = 0.0
    d = W.sum(axis=1)
    energy = sum(
        W[i, j] / 2 * ((X[i] / np.sqrt(d[i]) - X[j] / np.sqrt(d[j])) ** 2).sum()
        for i in range(9)
        for j in range(9)
        if W[i, j]
    )
    L = naive.normalised_laplacian(W)
    found = graph_scatter(X, sparse.csr_array(W))
    assert np.trace(found) * np.linalg.norm(L) == pytest.approx(energy, rel=1e-12)
    assert_allclose(found, X.T @ L @ X / np.linalg.norm(L), atol=1e-12)
    assert_array_equal(graph_scatter(X, sparse.csr_array((9, 9))), 0.0)


@pytest.mark.data
def test_clga_keeps_its_figure_of_objects():
    """What was measured when CLGA was written; JDA has 85.4."""
    problem = load_problem("surf", "W to D")
    model = CLGA(scaling="paper").fit(problem.X_source, problem.y_source, problem.X_target)
    assert 100 * np.mean(model.transduction_ == problem.y_target) == pytest.approx(86.0, abs=1)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("target", "measured"), [("C", 41.3), ("A", 46.9), ("W", 73.2), ("D", 79.0)])
def test_clga_keeps_its_figures_of_three_sources(target, measured):
    """What was measured when CLGA was written, from the other three domains of SURF."""
    problems = {name: load_problem("surf", f"{name} to {target}") for name in "CAWD" if name != target}
    X = {name: problem.X_source for name, problem in problems.items()}
    y = {name: problem.y_source for name, problem in problems.items()}
    any_problem = next(iter(problems.values()))
    model = CLGA(scaling="paper").fit(X, y, any_problem.X_target)
    assert 100 * np.mean(model.transduction_ == any_problem.y_target) == pytest.approx(measured, abs=1)
