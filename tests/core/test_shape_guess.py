"""Matching: the shapes of two domains name the clusters of the one without labels."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core.shape_guess import guess_gromov, guess_spectral

# A shape without symmetry: the distances among the centres tell the classes apart.
CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 4.0], [-3.0, 17.0]])


def clusters(seed, n, width, *, noise=0.2, missing=()):
    """Rows around the centres, turned into another space of the given width."""
    rng = np.random.default_rng(seed)
    y = np.array([c for c in range(4) if c not in missing])[np.arange(n) % (4 - len(missing))]
    turn, _ = np.linalg.qr(rng.normal(size=(width, width)))
    X = CENTRES[y] @ turn[:2] + noise * rng.normal(size=(n, width)) + 5 * rng.normal(size=width)
    return X, y


def test_clusters_take_the_names_of_the_classes_they_look_like():
    X_source, y = clusters(0, 60, 5)
    X_target, truth = clusters(1, 50, 8)
    F = guess_spectral(X_source, y, X_target, n_classes=4, random_state=np.random.RandomState(0))
    assert F.shape == (50, 4)
    assert (F >= 0).all()
    assert_allclose(F.sum(axis=1), 1, rtol=1e-12)
    assert_array_equal(F.argmax(axis=1), truth)


def test_the_scale_of_a_domain_is_of_no_matter():
    X_source, y = clusters(0, 60, 5)
    X_target, truth = clusters(1, 50, 8)
    F = guess_spectral(X_source, y, 1e-3 * X_target, n_classes=4, random_state=np.random.RandomState(0))
    assert_array_equal(F.argmax(axis=1), truth)


def test_the_same_state_gives_the_same_labels():
    X_source, y = clusters(0, 60, 5)
    X_target, _ = clusters(1, 50, 8, noise=3.0)
    first, second = (
        guess_spectral(X_source, y, X_target, n_classes=4, random_state=np.random.RandomState(3)) for _ in range(2)
    )
    assert_array_equal(first, second)


def test_a_class_that_the_source_lacks_gets_nothing():
    X_source, y = clusters(0, 60, 5, missing=(1,))
    X_target, truth = clusters(1, 51, 8, missing=(1,))
    F = guess_spectral(X_source, y, X_target, n_classes=5, random_state=np.random.RandomState(0))
    assert_array_equal(F[:, [1, 4]], 0)
    assert_array_equal(F.argmax(axis=1), truth)


def test_unlabelled_source_rows_are_left_out():
    X_source, y = clusters(0, 60, 5)
    X_target, truth = clusters(1, 50, 8)
    far = np.vstack([X_source, np.full((5, 5), 1e3)])
    codes = np.concatenate([y, np.full(5, -1)])
    F = guess_spectral(far, codes, X_target, n_classes=4, random_state=np.random.RandomState(0))
    assert_array_equal(F.argmax(axis=1), truth)


def test_fewer_rows_than_classes():
    X_source, y = clusters(0, 60, 5)
    X_target, _ = clusters(1, 3, 8)
    F = guess_spectral(X_source, y, X_target, n_classes=4, random_state=np.random.RandomState(0))
    assert F.shape == (3, 4)
    assert_allclose(F.sum(axis=1), 1, rtol=1e-12)
    assert len(set(F.argmax(axis=1))) == 3


def test_two_classes_and_identical_rows_give_distributions():
    X_source, y = clusters(0, 20, 5)
    F = guess_spectral(X_source, y % 2, np.ones((6, 3)), n_classes=2, random_state=np.random.RandomState(0))
    assert_allclose(F.sum(axis=1), 1, rtol=1e-12)


def test_gromov_plan_carries_the_labels():
    pytest.importorskip("ot", reason="POT solves the Gromov-Wasserstein problem")
    X_source, y = clusters(0, 30, 5, noise=1.0)
    X_target, truth = clusters(1, 40, 8, noise=1.0)
    F = guess_gromov(X_source, y, X_target, n_classes=4, random_state=np.random.RandomState(0))
    assert_allclose(F.sum(axis=1), 1, rtol=1e-8)
    assert (F.argmax(axis=1) == truth).mean() > 0.9


def test_gromov_matches_a_sample_and_names_the_rest_by_their_neighbours(monkeypatch):
    shapes = []

    def plan(C_source, C_target, **options):
        shapes.append((C_source.shape, C_target.shape))
        return np.eye(16) / 16  # the first of the one with the first of the other

    gromov = SimpleNamespace(gromov_wasserstein=plan)
    monkeypatch.setitem(sys.modules, "ot", SimpleNamespace(gromov=gromov))
    X_source, y = clusters(0, 30, 5)
    X_target, _ = clusters(1, 40, 8)
    F = guess_gromov(X_source, y, X_target, n_classes=4, random_state=np.random.RandomState(0), max_rows=16)
    assert shapes == [((16, 16), (16, 16))]
    state = np.random.RandomState(0)
    source, target = np.sort(state.permutation(30)[:16]), np.sort(state.permutation(40)[:16])
    assert_array_equal(F[target], np.eye(4)[y[source]])
    for row in set(range(40)) - set(target):
        nearest = np.linalg.norm(X_target[target] - X_target[row], axis=1).argmin()
        assert_array_equal(F[row], F[target[nearest]])


def test_without_pot_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    X, y = clusters(0, 20, 5)
    with pytest.raises(ImportError, match=r"`POT` is needed.*pip install 'lpjt\[ot\]'"):
        guess_gromov(X, y, X, n_classes=4, random_state=np.random.RandomState(0))
