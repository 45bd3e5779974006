"""LSC against its n x n transcription and against its two energies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles_baselines_structure as naive
from lpjt.baselines import JDA, LSC
from lpjt.datasets import load_problem
from problems import masked, shifted_pair

needs_data = pytest.mark.data
SETTING = {"n_components": 4, "regularization": 0.3, "n_neighbors": 6, "smoothing": 0.9, "scaling": "none"}


def fitted_and_expected(n_iter, *, seed=1, n_given=0):
    X, y, X_target, y_target = shifted_pair(seed, apart=1.0, n_classes=4)
    known = masked(y_target, n_given)
    model = LSC(max_iter=n_iter, **SETTING).fit(X, y, X_target, known)
    oracle = {"n_target": len(X_target), "n_classes": 4, "k": 4, "weight": 0.3, "n_neighbors": 6, "sigma": 0.9}
    return model, naive.lsc(np.vstack([X, X_target]), y, n_iter=n_iter, known=known, **oracle), X_target


@pytest.mark.parametrize("n_iter", [1, 2, 4])
def test_every_iteration_is_the_dense_problem(n_iter):
    model, iterations, X_target = fitted_and_expected(n_iter)
    Z, F, labels = iterations[-1]
    Z = Z[-len(X_target) :]
    found = model.transform(X_target)
    assert_allclose(found @ found.T, Z @ Z.T, rtol=1e-6, atol=1e-8 * np.abs(Z).max() ** 2)
    assert_allclose(model.scores_, F, atol=1e-8)
    assert_array_equal(model.transduction_, labels)
    assert model.n_iter_ == n_iter  # labels still change on these rows
    if n_iter > 1:
        assert (labels != iterations[0][2]).any()


def test_given_labels_stay_and_are_spread():
    model, iterations, _ = fitted_and_expected(3, n_given=4)
    assert_allclose(model.scores_, iterations[-1][1], atol=1e-8)
    assert_array_equal(model.transduction_, iterations[-1][2])
    bare, _, _ = fitted_and_expected(3)
    assert not np.allclose(model.scores_, bare.scores_)


def test_the_scores_minimise_the_energy_of_the_docstring():
    X, y, X_target, _ = shifted_pair(2, apart=1.0)
    model = LSC(max_iter=1, **SETTING).fit(X, y, X_target)
    plain = JDA(n_components=4, regularization=0.3, max_iter=1, scaling="none")
    inferred = np.eye(3)[plain.fit_predict(X, y, X_target)]
    Z = model.transform(X_target)
    W = naive.heat_graph(Z / np.linalg.norm(Z, axis=1)[:, None], 6)
    least = naive.consistency_energy(model.scores_, inferred, W, 0.9)
    rng = np.random.default_rng(0)
    for _ in range(5):
        step = 1e-3 * rng.normal(size=model.scores_.shape)
        assert naive.consistency_energy(model.scores_ + step, inferred, W, 0.9) > least


def test_rows_inside_of_a_cluster_get_its_label():
    """Two compact groups of target rows; a nearest source row of the wrong class lies in each."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)) * 0.3 + [3, 0], rng.normal(size=(20, 2)) * 0.3 + [0, 3], [[2.9, 0.3]]])
    y = np.repeat([0, 1, 1], [20, 20, 1])
    X_target = np.vstack([rng.normal(size=(30, 2)) * 0.3 + [3, 0], rng.normal(size=(30, 2)) * 0.3 + [0, 3]])
    plain, smooth = (method(scaling="none").fit_predict(X, y, X_target) for method in (JDA, LSC))
    assert len(np.unique(plain[:30])) == 2
    assert_array_equal(smooth, np.repeat([0, 1], 30))


@needs_data
@pytest.mark.parametrize(("pair", "measured"), [("C to W", 45.1), ("W to D", 86.0)])
def test_lsc_keeps_its_figures_of_objects(pair, measured):
    """No figure is printed for these files: what was measured when LSC was written, above JDA (37.3 and 85.4)."""
    problem = load_problem("surf", pair)
    model = LSC(scaling="paper").fit(problem.X_source, problem.y_source, problem.X_target)
    assert 100 * np.mean(model.transduction_ == problem.y_target) == pytest.approx(measured, abs=1)
