"""TJM against its n x n transcription, and against printed figures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles

import oracles_baselines_joint as naive
from lpjt.baselines.tjm import TJM
from lpjt.datasets import load_problem
from lpjt.study.tables.published import published
from problems import masked, shifted_pair

needs_data = pytest.mark.data
GAMMA = 0.02


def fit_both(kernel, n_iter, **changes):
    """TJM and the last iteration of its transcription: (model, Z of the model, Z, lengths of coefficients, y)."""
    X, y, X_target, _ = shifted_pair(apart=1.0, shift=1.0, **changes)
    model = TJM(n_components=4, kernel=kernel, gamma=GAMMA, max_iter=n_iter, scaling="none").fit(X, y, X_target)
    rows = np.vstack([X, X_target])
    K = rows @ rows.T if kernel == "linear" else naive.rbf(rows, rows, GAMMA)
    iterations = naive.tjm(rows, y, n_target=len(X_target), kernel=K, k=4, weight=1.0, n_iter=n_iter)
    Z = np.vstack([model.transform(X, "source"), model.transform(X_target, "target")])
    return model, Z, *iterations[-1], y


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_iter", [1, 2, 6])
def test_every_pass_is_the_dense_problem(kernel, n_iter):
    model, Z, expected, lengths, y = fit_both(kernel, n_iter)
    assert subspace_angles(Z, expected).max() < 1e-6
    assert_allclose(Z @ Z.T, expected @ expected.T, rtol=1e-5, atol=1e-6 * np.abs(expected).max() ** 2)
    assert_allclose(model.relevance_, lengths, rtol=1e-5, atol=1e-7)
    assert_array_equal(model.transduction_, naive.joint_labels(expected, y))
    assert model.n_iter_ == n_iter


def test_rows_narrower_than_the_width_are_the_dense_problem():
    _, Z, expected, _, _ = fit_both("linear", 3, n_source=20, n_target=16, width=50)
    assert subspace_angles(Z, expected).max() < 1e-6


def test_reweighting_changes_the_embedding_and_lets_source_rows_drop_out():
    _, _, first, _, _ = fit_both("linear", 1)
    model, _, last, _, _ = fit_both("linear", 10)
    assert subspace_angles(first, last).max() > 0.01
    assert np.quantile(model.relevance_, 0.1) < 0.3 * np.quantile(model.relevance_, 0.9)


def test_given_labels_only_add_neighbours():
    X, y, X_target, y_target = shifted_pair(3, apart=1.0)
    known = masked(y_target, 4)
    without, given = TJM(n_components=3).fit(X, y, X_target), TJM(n_components=3).fit(X, y, X_target, known)
    assert_allclose(given.transform(X_target), without.transform(X_target))
    Z = np.vstack([given.transform(X, "source"), given.transform(X_target)])
    assert_array_equal(given.transduction_, naive.joint_labels(Z, y, known))
    assert (given.transduction_ != without.transduction_).any()


def test_there_is_no_primal_form():
    X, y, X_target, _ = shifted_pair()
    with pytest.raises(ValueError, match="'kernel' parameter of TJM"):
        TJM(kernel="primal").fit(X, y, X_target)


@needs_data
def test_tjm_is_within_three_points_of_the_printed_mean_of_digits():
    printed = {f.pair: f.value for f in published("digits") if f.method == "TJM" and f.source == "paper"}
    found = []
    for pair in printed:
        problem = load_problem("digits", pair)
        model = TJM().fit(problem.X_source, problem.y_source, problem.X_target)
        found.append(100 * np.mean(model.transduction_ == problem.y_target))
    assert len(found) == 2
    assert np.mean(found) == pytest.approx(np.mean(list(printed.values())), abs=3)
