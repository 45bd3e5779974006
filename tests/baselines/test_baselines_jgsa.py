"""JGSA against its n x n transcription, domains of two widths, and printed figures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
import oracles_baselines_joint as naive
from lpjt.baselines.jgsa import JGSA
from lpjt.datasets import load_problem
from lpjt.study.tables.published import published
from problems import masked, shifted_pair, widened

needs_data = pytest.mark.data
WEIGHTS = {"coupling": 0.7, "variance": 0.4, "discrimination": 0.3}
PARAMETERS = {f"{name}_weight": value for name, value in WEIGHTS.items()} | {"n_components": 3, "scaling": "none"}


def assert_same_up_to_signs(found, expected):
    """Columns of A over B, each up to its sign."""
    signs = np.sign((found * expected).sum(axis=0))
    assert_allclose(found * signs, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def stacked(model):
    return np.vstack([model.projections_["source"], model.projections_["target"]])


@pytest.mark.parametrize("n_iter", [1, 2, 5])
def test_every_pass_is_the_dense_problem(n_iter):
    X, y, X_target, _ = shifted_pair(apart=1.0, shift=1.0, n_classes=4)
    model = JGSA(max_iter=n_iter, **PARAMETERS).fit(X, y, X_target)
    first = oracles.nearest_labels(X, y, X_target)
    iterations = naive.jgsa(X, y, X_target, first, n_classes=4, k=3, n_iter=n_iter, **WEIGHTS)
    A, B, labels = iterations[-1]
    assert_same_up_to_signs(stacked(model), np.vstack([A, B]))
    assert_array_equal(model.transduction_, labels)
    if n_iter > 1:
        assert not np.array_equal(iterations[0][2], iterations[1][2])


def test_rows_fewer_than_columns_are_the_dense_problem():
    X, y, X_target, _ = shifted_pair(n_source=20, n_target=16, width=50)
    model = JGSA(max_iter=2, **PARAMETERS).fit(X, y, X_target)
    first = oracles.nearest_labels(X, y, X_target)
    A, B, labels = naive.jgsa(X, y, X_target, first, n_classes=3, k=3, n_iter=2, **WEIGHTS)[-1]
    assert_same_up_to_signs(stacked(model), np.vstack([A, B]))
    assert_array_equal(model.transduction_, labels)


def test_a_class_without_pseudo_labels_is_left_out():
    X, y, X_target, y_target = shifted_pair(n_classes=4, apart=3.0, shift=0.5)
    X_target = X_target[y_target != 1]
    model = JGSA(max_iter=3, **PARAMETERS).fit(X, y, X_target)
    first = oracles.nearest_labels(X, y, X_target)
    assert 1 not in first
    A, B, labels = naive.jgsa(X, y, X_target, first, n_classes=4, k=3, n_iter=3, **WEIGHTS)[-1]
    assert_same_up_to_signs(stacked(model), np.vstack([A, B]))
    assert_array_equal(model.transduction_, labels)


def test_domains_of_two_widths_start_from_the_labelled_target_rows():
    X, y, X_target, y_target = shifted_pair(apart=1.5)
    X_target = widened(X_target, 11)
    known = masked(y_target, 3)
    model = JGSA(max_iter=4, **PARAMETERS).fit(X, y, X_target, known)
    given = known >= 0
    first = np.where(given, known, oracles.nearest_labels(X_target[given], known[given], X_target))
    iterations = naive.jgsa(X, y, X_target, first, n_classes=3, k=3, n_iter=4, known=known, **WEIGHTS)
    A, B, labels = iterations[-1]
    assert model.projections_["source"].shape == (8, 3)
    assert model.projections_["target"].shape == (11, 3)
    assert_same_up_to_signs(stacked(model), np.vstack([A, B]))
    assert_array_equal(model.transduction_, labels)
    assert_array_equal(model.predict(X_target[~given]), labels[~given])


def test_given_labels_take_part_in_every_iteration():
    X, y, X_target, y_target = shifted_pair(2, apart=1.0)
    known = masked(y_target, 3)
    given = known >= 0
    model = JGSA(max_iter=3, **PARAMETERS).fit(X, y, X_target, known)
    pool, codes = np.vstack([X, X_target[given]]), np.concatenate([y, known[given]])
    first = np.where(given, known, oracles.nearest_labels(pool, codes, X_target))
    A, B, labels = naive.jgsa(X, y, X_target, first, n_classes=3, k=3, n_iter=3, known=known, **WEIGHTS)[-1]
    assert_same_up_to_signs(stacked(model), np.vstack([A, B]))
    assert_array_equal(model.transduction_, labels)


def test_two_widths_without_a_labelled_target_row_are_refused():
    X, y, X_target, _ = shifted_pair()
    message = r"needs labelled target rows where widths differ, but the source has 8 columns, the target 5"
    with pytest.raises(ValueError, match=message):
        JGSA().fit(X, y, X_target[:, :5])


def test_strong_coupling_makes_the_projections_alike():
    X, y, X_target, _ = shifted_pair()

    def gap(weight):
        found = JGSA(n_components=2, coupling_weight=weight).fit(X, y, X_target).projections_
        return np.linalg.norm(found["source"] - found["target"]) / np.linalg.norm(found["target"])

    assert gap(1e4) < 1e-2 < gap(0.01)


def test_rows_of_the_source_are_embedded_by_their_own_projection():
    X, y, X_target, _ = shifted_pair()
    model = JGSA(n_components=2, scaling="none").fit(X, y, X_target)
    assert_allclose(model.transform(X, "source"), X @ model.projections_["source"])
    assert_allclose(model.transform(X), X @ model.projections_["target"])


# The figures printed for digits are nearest with these; the defaults, [1]'s for objects, are 5 points off on one pair.
DIGITS = {"discrimination_weight": 0.01, "n_components": 100}


@needs_data
def test_jgsa_is_near_the_printed_figures_of_digits():
    printed = {f.pair: f.value for f in published("digits") if f.method == "JGSA" and f.source == "jgsa"}
    assert len(printed) == 2
    for pair, value in printed.items():
        problem = load_problem("digits", pair)
        model = JGSA(**DIGITS).fit(problem.X_source, problem.y_source, problem.X_target)
        assert 100 * np.mean(model.transduction_ == problem.y_target) == pytest.approx(value, abs=3)


@needs_data
def test_jgsa_is_near_the_printed_figures_of_objects():
    printed = {f.pair: f.value for f in published("surf") if f.method == "JGSA" and f.source == "jgsa"}
    for pair in ("W to D", "D to W"):
        problem = load_problem("surf", pair)
        model = JGSA(scaling="paper").fit(problem.X_source, problem.y_source, problem.X_target)
        assert 100 * np.mean(model.transduction_ == problem.y_target) == pytest.approx(printed[pair], abs=3)
