"""MEDA against its n x n transcription, its parts against their definitions, and printed figures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg

import oracles
import oracles_baselines_joint as naive
import oracles_baselines_subspace as subspaces
from lpjt.baselines.meda import MEDA, domain_distance, graph_laplacian
from lpjt.datasets import load_problem
from lpjt.study.tables.published import published
from problems import masked, shifted_pair

needs_data = pytest.mark.data
WEIGHTS = {"alignment": 5.0, "laplacian": 0.6, "shrinkage": 0.2, "n_neighbors": 4}
PARAMETERS = {
    "alignment_weight": 5.0,
    "laplacian_weight": 0.6,
    "shrinkage": 0.2,
    "n_neighbors": 4,
    "n_components": 3,
    "scaling": "none",
}


def geodesic_features(X, X_target, k):
    """Rows times the symmetric root of the geodesic flow kernel."""
    G = subspaces.geodesic_kernel(subspaces.principal(X, k)[0], subspaces.principal(X_target, k)[0])
    return np.vstack([X, X_target]) @ np.real(linalg.sqrtm(G))


def transcription(X, y, X_target, n_iter, known=None):
    features = geodesic_features(X, X_target, 3)
    rows = oracles.unit_rows(features)
    given = np.full(len(X_target), -1) if known is None else known
    pool = np.concatenate([np.ones(len(y), dtype=bool), given >= 0])
    codes = np.concatenate([y, given])
    first = np.where(given >= 0, given, oracles.nearest_labels(rows[pool], codes[pool], rows[len(y) :]))
    return naive.meda(features, y, first, n_classes=y.max() + 1, n_iter=n_iter, known=known, **WEIGHTS)


@pytest.mark.parametrize("n_iter", [1, 3])
def test_every_pass_is_the_dense_problem(n_iter):
    X, y, X_target, _ = shifted_pair(1, apart=1.0, n_classes=4)
    model = MEDA(max_iter=n_iter, **PARAMETERS).fit(X, y, X_target)
    iterations = transcription(X, y, X_target, n_iter)
    F, mu, labels = iterations[-1]
    assert_allclose(model.balance_, mu, atol=1e-6)
    assert_array_equal(model.transduction_, labels)
    rows = np.vstack([model.transform(X, "source"), model.transform(X_target)])
    assert_allclose(naive.rbf(rows, model._rows, 0.5) @ model._coefficients, F, atol=1e-6)


def test_given_labels_count_as_labelled_rows():
    X, y, X_target, y_target = shifted_pair(2, apart=1.0)
    known = masked(y_target, 3)
    model = MEDA(max_iter=2, **PARAMETERS).fit(X, y, X_target, known)
    _, mu, labels = transcription(X, y, X_target, 2, known)[-1]
    assert_allclose(model.balance_, mu, atol=1e-6)
    assert_array_equal(model.transduction_, labels)
    assert (labels != transcription(X, y, X_target, 2)[-1][2]).any()


def test_a_class_without_pseudo_labels_is_left_out():
    X, y, X_target, y_target = shifted_pair(n_classes=4, apart=3.0, shift=0.5)
    X_target = X_target[y_target != 2]
    model = MEDA(max_iter=2, **PARAMETERS).fit(X, y, X_target)
    _, mu, labels = transcription(X, y, X_target, 2)[-1]
    assert 2 not in labels
    assert_allclose(model.balance_, mu, atol=1e-6)
    assert_array_equal(model.transduction_, labels)


def test_the_laplacian_is_that_of_the_cosine_graph():
    rows = oracles.unit_rows(np.random.default_rng(0).normal(size=(40, 3)) + 1.0)
    assert_allclose(graph_laplacian(rows, 5).toarray(), naive.cosine_laplacian(rows, 5), atol=1e-12)


def test_parts_that_are_apart_have_distance_two_and_parts_that_are_one_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    assert domain_distance(X, X + 20.0) == 2.0
    assert abs(domain_distance(X, X)) < 1e-12
    other = rng.normal(size=(60, 4)) + 0.5
    assert_allclose(domain_distance(X, other), naive.svm_distance(X, other), atol=1e-12)


def test_more_rows_than_allowed_are_refused():
    X, y, X_target, _ = shifted_pair()
    with pytest.raises(ValueError, match=r"165 rows are more than max_rows=100. Give fewer rows"):
        MEDA(max_rows=100).fit(X, y, X_target)


@needs_data
@pytest.mark.parametrize("pair", ["MNIST to USPS", "USPS to MNIST"])
def test_meda_is_near_the_printed_figures_of_digits(pair):
    printed = {f.pair: f.value for f in published("digits") if f.method == "MEDA"}
    problem = load_problem("digits", pair)
    model = MEDA().fit(problem.X_source, problem.y_source, problem.X_target)
    assert 100 * np.mean(model.transduction_ == problem.y_target) == pytest.approx(printed[pair], abs=3)
