"""RTML against its energy, summed over every corruption of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles_baselines_metric as naive
from lpjt import TransferWarning
from lpjt.baselines import RTML
from lpjt.datasets import load_problem
from problems import masked, shifted_pair

needs_data = pytest.mark.data
SETTING = {"n_components": 3, "denoising_weight": 0.7, "rank_weight": 0.2, "corruption": 0.3}
ORACLE = {"k": 3, "alpha": 0.7, "rank_weight": 0.2, "p": 0.3}


def fitted_and_expected(n_iter, *, n_given=0, absent=None, **changes):
    X, y, X_target, y_target = shifted_pair(2, width=5, n_classes=4, **{"apart": 1.0, "shift": 1.0, **changes})
    X_target, y_target = X_target[y_target != absent], y_target[y_target != absent]
    known = masked(y_target, n_given)
    model = RTML(max_iter=n_iter, scaling="none", **SETTING).fit(X, y, X_target, known)
    expected = naive.rtml(X, y, X_target, n_classes=4, n_iter=n_iter, known=known, **ORACLE)
    return model, expected, np.vstack([model.transform(X, "source"), model.transform(X_target)])


def assert_last_iteration(model, iterations, Z):
    M, expected, labels = iterations[-1]
    assert_allclose(model.metric_, M, atol=1e-9)
    assert_allclose(Z @ Z.T, expected @ expected.T, atol=1e-7 * np.abs(expected).max() ** 2)
    assert_array_equal(model.transduction_, labels)


@pytest.mark.parametrize("n_iter", [1, 2, 4])
def test_every_iteration_has_the_least_energy(n_iter):
    model, iterations, Z = fitted_and_expected(n_iter)
    assert_last_iteration(model, iterations, Z)
    assert model.n_iter_ == n_iter  # labels still change on these rows
    if n_iter > 1:
        assert (iterations[-1][2] != iterations[0][2]).any()


def test_given_labels_count_in_the_gaps_and_as_neighbours():
    model, iterations, Z = fitted_and_expected(3, n_given=4)
    assert_last_iteration(model, iterations, Z)
    assert not np.allclose(model.metric_, fitted_and_expected(3)[0].metric_)


def test_a_class_that_the_target_lacks_is_left_out():
    model, iterations, Z = fitted_and_expected(2, absent=2, apart=4.0, shift=0.3)
    assert 2 not in iterations[0][2]
    assert_last_iteration(model, iterations, Z)


def test_negative_directions_are_projected_away():
    """A strong gap makes the symmetric minimiser indefinite; the metric is its positive part."""
    model, iterations, Z = fitted_and_expected(2, shift=8.0)
    assert_last_iteration(model, iterations, Z)
    values = np.linalg.eigvalsh(model.metric_)
    assert values[0] > -1e-12
    assert (values < 1e-12).any()


def test_units_do_not_matter():
    X, y, X_target, _ = shifted_pair(1, apart=1.0)
    small, large = (RTML(scaling="none").fit(c * X, y, c * X_target) for c in (1.0, 1000.0))
    assert_allclose(small.metric_, large.metric_, rtol=1e-9, atol=1e-12)
    assert_array_equal(small.transduction_, large.transduction_)


def test_columns_without_entries_have_no_weight():
    X, y, X_target, _ = shifted_pair(1, apart=1.0)
    bare = RTML(n_components=4).fit(X, y, X_target)
    wide = RTML(n_components=4).fit(
        *(np.column_stack([Z, np.zeros((len(Z), 3))]) if Z.ndim > 1 else Z for Z in (X, y, X_target))
    )
    assert_allclose(wide.metric_[:8, :8], bare.metric_, atol=1e-10)
    assert not wide.metric_[8:].any()


def test_a_metric_of_zero_is_reported():
    """One column, and domains on opposite sides of 0."""
    X, X_target = np.linspace(5, 6, 20)[:, None], np.linspace(-6, -5, 20)[:, None]
    with pytest.warns(TransferWarning, match=r"The metric is 0: .* Set a larger denoising_weight than 0.1"):
        model = RTML(denoising_weight=0.1, scaling="none").fit(X, np.arange(20) % 2, X_target)
    assert not model.metric_.any()


@needs_data
@pytest.mark.parametrize(("pair", "measured"), [("MNIST to USPS", 72.6), ("USPS to MNIST", 59.7)])
def test_rtml_keeps_its_figures_of_digits(pair, measured):
    """No figure for these files could be checked: what was measured when RTML was written."""
    problem = load_problem("digits", pair)
    model = RTML().fit(problem.X_source, problem.y_source, problem.X_target)
    assert 100 * np.mean(model.transduction_ == problem.y_target) == pytest.approx(measured, abs=1)
