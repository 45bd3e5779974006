"""PUnDA against its transcription with n x n matrices and against its energy, summed entry by entry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles_baselines_latent as naive
from lpjt.baselines import LinearSVM, PUnDA
from lpjt.baselines import _factors as steps
from lpjt.datasets import load_problem
from problems import masked, shifted_pair

needs_data = pytest.mark.data
SETTING = {"n_components": 3, "margin_weight": 0.8, "alignment_weight": 2.0, "scaling": "none"}
ORACLE = {"n_classes": 4, "k": 3, "eta": 0.8, "beta": 2.0}


def fitted_and_expected(n_iter, *, n_given=0, absent=None, **changes):
    parameters = {"n_source": 40, "n_target": 32, "width": 6, "n_classes": 4, "apart": 1.0, "shift": 1.0, **changes}
    X, y, X_target, y_target = shifted_pair(3, **parameters)
    X_target, y_target = X_target[y_target != absent], y_target[y_target != absent]
    known = masked(y_target, n_given)
    model = PUnDA(max_iter=n_iter, **SETTING).fit(X, y, X_target, known)
    expected = naive.punda(X, y, X_target, n_iter=n_iter, known=known, **ORACLE)
    return model, expected, np.vstack([model.transform(X, "source"), model.transform(X_target)])


def assert_last_iteration(model, iterations, found):
    Z, decisions, relevances, noises, labels = iterations[-1]
    assert_allclose(found @ found.T, Z @ Z.T, rtol=1e-7, atol=1e-9)  # columns may differ in their signs
    assert_allclose(found[-len(labels) :] @ model.coef_.T + model.intercept_, decisions, atol=1e-8)
    assert_allclose(model.relevances_, relevances, rtol=1e-8)
    assert_allclose([model.noise_["source"], model.noise_["target"]], noises, rtol=1e-8)
    assert_array_equal(model.transduction_, labels)


@pytest.mark.parametrize("n_iter", [1, 2, 6])
def test_every_iteration_is_the_dense_problem(n_iter):
    model, iterations, found = fitted_and_expected(n_iter)
    assert_last_iteration(model, iterations, found)
    if n_iter > 1:
        assert (iterations[-1][-1] != iterations[0][-1]).any()


def test_given_labels_count_in_the_class_means():
    model, iterations, found = fitted_and_expected(4, n_given=4)
    assert_last_iteration(model, iterations, found)
    assert not np.allclose(model.coef_, fitted_and_expected(4)[0].coef_)


def test_a_class_that_the_target_lacks_has_no_gap():
    model, iterations, found = fitted_and_expected(3, absent=2, apart=4.0, shift=0.3)
    assert 2 not in iterations[-2][-1]
    assert_last_iteration(model, iterations, found)


@pytest.fixture
def state():
    """A state of the alternation in the middle of its way, with fixed codes."""
    X, y, X_target, y_target = shifted_pair(3, n_source=30, n_target=24, width=6, apart=1.0, shift=1.0)
    rows, codes = [Z - Z.mean(axis=0) for Z in (X, X_target)], [y, y_target]
    factors = [steps.first_factors(*rows, 3)] * 2
    margin = steps.first_margin(len(y), 3, 3)
    for _ in range(2):
        Z = steps.latent_means(rows, codes, factors, margin, margin_weight=0.8, pull=2.0)
        columns = steps.relevances(factors)
        factors = [steps.update_factors(X, z, f, columns) for X, z, f in zip(rows, Z, factors, strict=True)]
        margin = steps.update_margin(Z[0], y, margin, 0.8)
    return rows, codes, factors, margin


def energy(rows, codes, Z, spreads, factors, columns, V, b):
    total = sum(
        naive.domain_energy(X, z, C, f.W, f.covariance, f.noise, 1 / columns)
        for X, z, C, f in zip(rows, Z, spreads, factors, strict=True)
    )
    gaps = np.trace(np.vstack(Z).T @ naive.pull_matrix(*codes, 3, 2.0) @ np.vstack(Z)) / 2
    return total + 0.8 / 2 * naive.hinge_energy(Z[0], codes[0], V, b) + (V**2).sum() / 2 + gaps


def test_no_step_increases_the_objective(state):
    rows, codes, factors, margin = state
    values, columns = [], steps.relevances(factors)
    for _ in range(4):
        spreads = [np.linalg.inv(f.precision) for f in factors]
        Z = steps.latent_means(rows, codes, factors, margin, margin_weight=0.8, pull=2.0)
        values.append(energy(rows, codes, Z, spreads, factors, columns, margin.V, margin.offset))
        columns = steps.relevances(factors)
        values.append(energy(rows, codes, Z, spreads, factors, columns, margin.V, margin.offset))
        factors = [steps.update_factors(X, z, f, columns) for X, z, f in zip(rows, Z, factors, strict=True)]
        values.append(energy(rows, codes, Z, spreads, factors, columns, margin.V, margin.offset))
        margin = steps.update_margin(Z[0], codes[0], margin, 0.8)
        values.append(energy(rows, codes, Z, spreads, factors, columns, margin.V, margin.offset))
    changes = np.diff(values)
    assert (changes <= 1e-10 * np.abs(values[0])).all()
    assert (changes < -1e-6).sum() > 10


def test_the_latent_means_have_the_least_objective_for_quadratic_losses(state):
    """With targets in the place of the hinges; a step in any direction costs."""
    rows, codes, factors, margin = state
    Z = steps.latent_means(rows, codes, factors, margin, margin_weight=0.8, pull=2.0)
    spreads, columns = [np.linalg.inv(f.precision) for f in factors], steps.relevances(factors)

    def value(Z):
        loss = ((margin.goals - Z[0] @ margin.V.T - margin.offset) ** 2).sum()
        hinges = naive.hinge_energy(Z[0], codes[0], margin.V, margin.offset)
        return energy(rows, codes, Z, spreads, factors, columns, margin.V, margin.offset) + 0.4 * (loss - hinges)

    rng = np.random.default_rng(0)
    least = value(Z)
    for size in (1e-3, 0.1):
        for _ in range(3):
            assert value([z + size * rng.normal(size=z.shape) for z in Z]) > least


def test_columns_that_the_rows_do_not_need_lose_their_variance():
    """Rows of two dimensions and noise, five components."""
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(rng.normal(size=(20, 2)))[0]
    X, X_target = (3 * rng.normal(size=(200, 2)) @ frame.T + 0.3 * rng.normal(size=(200, 20)) for _ in range(2))
    y = (X @ frame[:, 0] > 0).astype(int)
    model = PUnDA(n_components=5, max_iter=100, scaling="none").fit(X, y, X_target)
    found = np.sort(model.relevances_)[::-1]
    assert found[2] < 0.02 * found[1]
    assert_allclose(list(model.noise_.values()), 0.09, rtol=0.1)


def test_rows_that_are_all_equal_do_no_harm():
    X = np.ones((12, 3))
    model = PUnDA().fit(X, np.arange(12) % 2, X)
    assert np.isfinite(model.transform(X)).all()


def test_alignment_overcomes_a_turned_target():
    """Classes turned by 35 degrees: a linear classifier of the source alone errs."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 4
    centres = 4 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    angle = np.deg2rad(35)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    wide = np.linalg.qr(rng.normal(size=(10, 2)))[0].T
    X, X_target = (centres[y] @ T @ wide + rng.normal(size=(240, 10)) for T in (np.eye(2), turn))
    found = PUnDA(n_components=2, scaling="none").fit(X, y, X_target)
    plain = LinearSVM(scaling="none").fit(X, y, X_target)
    assert np.mean(found.transduction_ == y) > 0.95 > np.mean(plain.transduction_ == y)


@needs_data
@pytest.mark.parametrize(("pair", "measured"), [("C to A", 54.7), ("W to D", 78.3)])
def test_punda_keeps_its_figures_of_objects(pair, measured):
    """No figure is printed for these files: what was measured when PUnDA was written."""
    problem = load_problem("surf", pair)
    model = PUnDA(scaling="sum-zscore").fit(problem.X_source, problem.y_source, problem.X_target)
    assert 100 * np.mean(model.transduction_ == problem.y_target) == pytest.approx(measured, abs=1)
