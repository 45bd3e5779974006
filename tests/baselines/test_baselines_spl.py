"""SPL against its n x n transcription, and its parts against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles_baselines_pseudo as naive
from lpjt.baselines.spl import SPL, class_probabilities, cluster_centers, select_rows
from lpjt.datasets import load_problem
from problems import masked, shifted_pair

needs_data = pytest.mark.data


def assert_same_embedding(model, X, X_target, Z):
    """Equal up to the signs of the columns."""
    found = np.vstack([model.transform(X, "source"), model.transform(X_target)])
    assert_allclose(found @ found.T, Z @ Z.T, atol=1e-8)


@pytest.mark.parametrize("n_iter", [1, 2, 5])
def test_every_iteration_is_the_dense_problem(n_iter):
    X, y, X_target, _ = shifted_pair(1, apart=1.0, n_classes=4)
    model = SPL(n_components=3, pca_components=6, max_iter=n_iter, scaling="none").fit(X, y, X_target)
    iterations = naive.spl(X, y, X_target, n_classes=4, pca=6, k=3, n_iter=n_iter)
    Z, labels, chosen = iterations[-1]
    assert_same_embedding(model, X, X_target, Z)
    assert_array_equal(model.transduction_, labels)
    assert_array_equal(np.flatnonzero(model.selected_), chosen)
    if n_iter > 1:
        assert len(chosen) > 0
        assert (labels != iterations[0][1]).any()


def test_given_labels_are_selected_and_count_in_the_prototypes():
    X, y, X_target, y_target = shifted_pair(2, apart=1.0)
    known = masked(y_target, 3)
    model = SPL(n_components=3, pca_components=6, max_iter=3, scaling="none").fit(X, y, X_target, known)
    Z, labels, chosen = naive.spl(X, y, X_target, n_classes=3, pca=6, k=3, n_iter=3, known=known)[-1]
    assert_same_embedding(model, X, X_target, Z)
    assert_array_equal(model.transduction_, labels)
    assert_array_equal(np.flatnonzero(model.selected_), chosen)
    assert model.selected_[known >= 0].all()


def test_components_that_no_labelled_row_has_are_left_out():
    X, y, X_target, _ = shifted_pair(n_source=6, n_target=60, width=30)
    model = SPL(pca_components=30, max_iter=1, scaling="none").fit(X, y, X_target)
    assert model.transform(X_target).shape[1] == 6  # as many as there are labelled rows
    assert model.prototypes_.shape == model.centers_.shape == (3, 6)


def test_a_cluster_without_rows_stays_at_its_prototype():
    Z = np.array([[0.0, 1.0], [0.0, 2.0], [5.0, 0.0]])
    start = np.array([[0.0, 0.0], [4.0, 0.0], [-50.0, 0.0]])
    assert_allclose(cluster_centers(Z, start), [[0.0, 1.5], [5.0, 0.0], [-50.0, 0.0]])
    assert_allclose(cluster_centers(Z, start), naive.k_means(Z, start))


def test_clusters_are_matched_with_the_classes_one_to_one():
    """Two prototypes near one cluster: the other class gets the farther one, and not the same."""
    X, y, X_target, _ = shifted_pair(4, apart=2.0, shift=4.0)
    model = SPL(max_iter=2).fit(X, y, X_target)
    assert len(np.unique(model.centers_.round(9), axis=0)) == 3


def test_probabilities_are_shares_of_the_exponentials_of_distances():
    rng = np.random.default_rng(0)
    Z, centers = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    assert_allclose(class_probabilities(Z, centers), naive.exponentials(Z, centers))


def test_the_most_confident_share_of_each_class_is_selected():
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 2])
    confidence = np.array([0.1, 0.9, 0.5, 0.7, 0.3, 0.2, -1.0, 0.9])
    assert_array_equal(np.flatnonzero(select_rows(labels, confidence, 0.5)), [1, 3, 4])
    assert_array_equal(np.flatnonzero(select_rows(labels, confidence, 1.0)), [0, 1, 2, 3, 4, 5, 7])
    assert_array_equal(select_rows(np.zeros(10, dtype=int), np.arange(10.0), 3 / 10).sum(), 3)


def test_all_target_rows_are_selected_in_the_end_but_for_the_last_share():
    X, y, X_target, _ = shifted_pair(shift=0.5)
    model = SPL(max_iter=5).fit(X, y, X_target)
    assert model.n_iter_ == 5
    assert 0.75 <= model.selected_.mean() <= 0.8


@needs_data
@pytest.mark.parametrize(("pair", "measured"), [("C to W", 57.6), ("A to W", 54.2), ("W to D", 84.1)])
def test_spl_keeps_its_figures_of_objects(pair, measured):
    """No figure is printed for these files: what was measured when SPL was written, far above the nearest neighbour."""
    problem = load_problem("surf", pair)
    model = SPL(scaling="paper").fit(problem.X_source, problem.y_source, problem.X_target)
    assert 100 * np.mean(model.transduction_ == problem.y_target) == pytest.approx(measured, abs=3)
