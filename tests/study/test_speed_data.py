"""The made pairs of ``lpjt bench``, and the dense transcription of the paper."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.neighbors import KNeighborsClassifier

import oracles
from lpjt import LPJT
from lpjt.baselines import JDA
from lpjt.study.settings import AS_TRANSCRIBED, NEIGHBOR_SEARCHES
from lpjt.study.speed import data
from lpjt.study.speed.dense import Setting, class_laplacians, fit_dense, landmark_weights, mmd_matrix
from lpjt.study.speed.dense_jda import fit_dense_jda
from lpjt.study.speed.methods import counted_searches, fit_lpjt


def small_pair(n=300, width=64, n_classes=10, **more):
    counts = data.even_counts(n, n_classes)
    return data.make_pair(source=counts, target=counts, width=width, **more)


def nearest_accuracy(X, y, X_new, y_new):
    return KNeighborsClassifier(n_neighbors=1).fit(X, y).score(X_new, y_new)


def test_a_pair_has_the_rows_that_were_asked_for():
    pair = data.make_pair(source=[5, 3, 9], target=[4, 4, 1], width=17)
    assert pair.X_source.shape == (17, 17)
    assert pair.X_target.shape == (9, 17)
    assert pair.X_source.dtype == pair.X_target.dtype == np.float32
    assert np.bincount(pair.y_source).tolist() == [5, 3, 9]
    assert np.bincount(pair.y_target).tolist() == [4, 4, 1]
    assert pair.n_bytes == (17 + 9) * 17 * 4


def test_the_seed_decides():
    first, again, other = small_pair(), small_pair(), small_pair(seed=1)
    assert np.array_equal(first.X_target, again.X_target)
    assert not np.array_equal(first.X_target, other.X_target)


def test_visda_has_its_rows_and_proportions():
    shape = data.visda_shape()
    assert (sum(shape["source"]), sum(shape["target"]), len(shape["source"])) == (152_397, 55_388, 12)
    assert shape["width"] == 2048
    assert sum(data.visda_shape(0.1)["source"]) == pytest.approx(15_240, abs=12)


def test_a_nearest_neighbour_loses_by_the_shift_and_adaptation_wins_it_back():
    pair = small_pair(600, width=256)
    half = slice(None, None, 2), slice(1, None, 2)
    within = nearest_accuracy(*(part[rows] for rows in half for part in (pair.X_source, pair.y_source)))
    across = nearest_accuracy(pair.X_source, pair.y_source, pair.X_target, pair.y_target)
    adapted = np.mean(
        LPJT(random_state=0).fit(pair.X_source, pair.y_source, pair.X_target).transduction_ == pair.y_target
    )
    assert across < within - 0.08
    assert adapted > across + 0.1


def test_the_spectrum_within_classes_falls_as_that_of_deep_features():
    pair = small_pair(6000, width=64)
    centred = np.concatenate(
        [rows - rows.mean(axis=0) for rows in (pair.X_source[pair.y_source == c] for c in range(10))]
    )
    found = np.linalg.eigvalsh(np.cov(centred.T))[::-1]
    assert_allclose(found, 9 / (np.arange(64) + 9), rtol=0.15)


def test_making_rows_needs_no_second_copy():
    counts = data.even_counts(20_000, 10)
    tracemalloc.start()
    pair = data.make_pair(source=counts, target=counts, width=512)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.8 * pair.n_bytes


def test_the_matrix_gives_the_energy_of_eqs_8_and_9():
    rng = np.random.default_rng(0)
    y_source, y_target = np.arange(12) % 3, np.arange(9) % 2  # the target lacks a class
    weights = rng.uniform(size=21)
    Z = rng.normal(size=(21, 4))
    M = mmd_matrix(np.concatenate([y_source, y_target]), 12, 0.4) * np.outer(weights, weights)
    expected = oracles.mmd_energy(Z[:12], Z[12:], y_source, y_target, weights[:12], weights[12:], 0.4)
    assert_allclose(np.trace(Z.T @ M @ Z), expected, rtol=1e-12)


def test_laplacians_join_the_nearest_of_the_same_and_of_other_classes():
    X, y = np.array([[0.0], [1.0], [3.0], [3.5]]), np.array([0, 0, 1, 1])
    within, between = class_laplacians(X, y, 1)
    joined = [set(zip(*np.nonzero(L < 0), strict=True)) for L in (within, between)]
    assert joined[0] == {(0, 1), (1, 0), (2, 3), (3, 2)}
    assert joined[1] == {(0, 2), (2, 0), (1, 2), (2, 1), (1, 3), (3, 1)}
    assert_allclose(within.sum(axis=1), 0, atol=1e-15)
    # Edges of length 1, 1, 0.5, 0.5: the bandwidth is their mean square, 0.625.
    assert_allclose(-within[0, 1], np.exp(-1 / 1.25))


def test_landmark_weights_are_feasible_and_better_than_equal_ones():
    pytest.importorskip("piqp", reason="PIQP solves Eq. (23)")
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(30) % 3, np.arange(24) % 3])
    Z = rng.normal(size=(54, 5)) + y[:, None]
    weights = landmark_weights(Z, y, 30, 0.5)
    assert weights.min() >= 0
    assert weights.max() <= 1
    for c in range(3):
        assert_allclose([weights[:30][y[:30] == c].mean(), weights[30:][y[30:] == c].mean()], 0.5, atol=1e-5)
    B = mmd_matrix(y, 30, 0.5) * (Z @ Z.T)
    assert weights @ B @ weights < 0.25 * B.sum() * (1 - 1e-3)


@pytest.mark.filterwarnings("ignore:Labels still changed")
@pytest.mark.parametrize("landmarks", [False, True])
def test_the_transcription_labels_rows_as_lpjt_does(landmarks):
    pytest.importorskip("piqp", reason="PIQP solves Eq. (23)")
    pair = small_pair()
    given = {**AS_TRANSCRIBED, "landmark_ratio": 0.5 if landmarks else None, "max_iter": 3}
    ours = fit_lpjt(pair.X_source, pair.y_source, pair.X_target, given)
    theirs = fit_dense(pair.X_source, pair.y_source, pair.X_target, Setting(landmarks=landmarks, max_iter=3))
    assert ours.facts["n_iter"] == theirs.n_iter > 1
    assert np.mean(ours.labels == theirs.labels) >= 0.99
    # Not because labels hardly depend on anything: without the first iteration they differ.
    first = fit_dense(pair.X_source, pair.y_source, pair.X_target, replace(Setting(), max_iter=0))
    assert np.mean(first.labels == theirs.labels) < 0.95


def test_approximate_searches_are_counted_and_the_count_ends():
    faiss = pytest.importorskip("faiss", reason="faiss makes the approximate searches")
    rows, search = np.eye(8, dtype=np.float32), faiss.knn
    with counted_searches() as found:
        faiss.knn(rows, rows, 2)
        faiss.knn(rows[:3], rows, 2)
    assert found == [8, 3]
    assert faiss.knn is search


def test_a_small_fit_makes_no_approximate_search():
    """No comparison, then: asked for approximate neighbours, few rows are searched exactly."""
    pytest.importorskip("faiss", reason="faiss makes the approximate searches")
    pair = small_pair()
    found = fit_lpjt(pair.X_source, pair.y_source, pair.X_target, NEIGHBOR_SEARCHES["approximate"])
    assert found.facts["searches"] == 0


def test_the_common_jda_labels_rows_as_that_of_the_baselines_does():
    pair = data.make_pair(source=data.even_counts(240, 4), target=data.even_counts(200, 4), width=24)
    common = fit_dense_jda(pair.X_source, pair.y_source, pair.X_target, n_components=8)
    own = JDA(n_components=8).fit(pair.X_source, pair.y_source, pair.X_target)
    assert np.mean(common == own.transduction_) > 0.95
