"""Clusters of the approximate search: which rows they have, and that their groups hide none of them."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt._threads import threads
from lpjt.core import clusters, neighbors

faiss = pytest.importorskip("faiss", reason="faiss makes the clusters")


def rows(n=1500, width=6, seed=0):
    rng = np.random.default_rng(seed)
    centres = 4 * rng.normal(size=(40, width))
    return (centres[rng.integers(0, 40, n)] + rng.normal(size=(n, width))).astype(np.float32)


def squared_distances(A, B):
    A, B = A.astype(np.float64), B.astype(np.float64)
    return (A**2).sum(axis=1)[:, None] - 2 * A @ B.T + (B**2).sum(axis=1)


@pytest.fixture
def small(monkeypatch):
    """Few rows make many clusters, in groups, and are compared with few."""
    for name, value in (("CLUSTER_ROWS", 16), ("FEW_CLUSTERS", 20), ("COMPARED", 600), ("COMPARED_NARROW", 400)):
        monkeypatch.setattr(clusters, name, value)


def true_neighbors(queries, candidates, k):
    return np.argsort(squared_distances(queries, candidates), axis=1, kind="stable")[:, :k]


def recall(found, truth):
    return np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, truth, strict=True)])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("width", [6, 80])
def test_groups_of_clusters_find_the_neighbours(n_jobs, width):
    X = rows(width=width)
    with threads(n_jobs):
        indices, squared = clusters.nearest_by_clusters(X, X, 8)
    assert recall(indices, true_neighbors(X, X, 8)) > 0.95
    assert_array_equal(indices[:, 0], np.arange(len(X)))
    direct = ((X[:200, None] - X[indices[:200]]) ** 2).sum(axis=-1)
    assert_allclose(squared[:200], direct, rtol=1e-3, atol=1e-3)
    assert (squared >= 0).all()
    assert indices.dtype == np.int32
    assert squared.dtype == np.float32


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("offset", [0.0, 50.0, 1000.0])
def test_distances_are_those_of_the_rows_wherever_they_are(offset):
    X = rows(width=12) + np.float32(offset)
    for queries in (X, X[:300].copy()):
        indices, squared = clusters.nearest_by_clusters(queries, X, 8)
        direct = ((queries[:, None].astype(float) - X[indices]) ** 2).sum(axis=-1)
        assert_allclose(squared, direct, rtol=1e-3, atol=1e-3 * max(1.0, offset / 100))
        assert recall(indices, true_neighbors(queries, X, 8)) > 0.95


@pytest.mark.usefixtures("small")
def test_other_rows_find_theirs():
    X, queries = rows(), rows(500, seed=1)
    indices, _ = clusters.nearest_by_clusters(queries, X, 5)
    assert recall(indices, true_neighbors(queries, X, 5)) > 0.9


@pytest.mark.usefixtures("small")
def test_rows_are_compared_with_as_many_as_said(monkeypatch):
    """A wide row with more candidates than a narrow one, and neither with much more than the number."""
    compared = []
    original = clusters.nearest_of_block

    def counted(queries, candidates, k):
        compared.append(len(candidates))
        return original(queries, candidates, k)

    monkeypatch.setattr(clusters, "nearest_of_block", counted)
    for width, expected in ((64, 400), (65, 600)):
        compared.clear()
        clusters.nearest_by_clusters(rows(width=width), rows(width=width), 3)
        assert expected <= np.median(compared) <= expected + 60


def test_more_neighbours_than_the_clusters_around_have(monkeypatch):
    monkeypatch.setattr(clusters, "COMPARED", 4)
    monkeypatch.setattr(clusters, "COMPARED_NARROW", 4)
    monkeypatch.setattr(clusters, "CLUSTER_ROWS", 2)
    X = rows(60)
    indices, _ = clusters.nearest_by_clusters(X, X, 25)
    assert_array_equal(np.sort(indices, axis=1), np.sort(true_neighbors(X, X, 25), axis=1))


def test_directions_of_the_clusters_are_the_leading_ones():
    X = np.random.default_rng(0).normal(size=(5000, 300)) * np.linspace(3, 0.01, 300)
    axes = clusters._leading_axes(X)
    assert axes.dtype == np.float32
    assert axes.shape == (300, clusters.SEARCH_WIDTH)
    spaced = X[::2]  # at most 4096 rows
    _, vectors = np.linalg.eigh(spaced.T @ spaced)
    overlap = np.abs((axes[:, :5] * vectors[:, ::-1][:, :5]).sum(axis=0))
    assert_allclose(overlap, 1.0, atol=1e-4)
    assert clusters._leading_axes(X[:, :7]).shape == (7, 7)


def test_projected_rows_in_their_order_and_in_another():
    X = rows(50)
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 3)))[0].astype(np.float32)
    assert_allclose(clusters._project(X, axes), X @ axes, rtol=1e-5, atol=1e-5)
    order = np.random.default_rng(1).permutation(50)
    found = clusters._project(X.astype(np.float64), axes, order)
    assert found.dtype == np.float32
    assert_allclose(found, X[order] @ axes, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("n", "n_groups", "n_clusters"), [(300, 1, 3), (128 * 256, 1, 256), (128 * 400, 20, 400)])
def test_number_of_clusters_and_of_groups(n, n_groups, n_clusters):
    found = clusters._find_clusters(faiss, np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32))
    assert found.groups.shape == (n_groups, 2)
    assert len(found.centers) == n_groups
    total = sum(len(part) for part in found.centers)
    assert abs(total - n_clusters) <= n_groups


def test_each_row_is_in_the_cluster_of_the_nearest_centre(monkeypatch):
    monkeypatch.setattr(clusters, "CLUSTER_ROWS", 16)
    monkeypatch.setattr(clusters, "FEW_CLUSTERS", 20)
    C = rows()
    found = clusters._find_clusters(faiss, C)
    compared = []
    knn = faiss.knn
    monkeypatch.setattr(faiss, "knn", lambda rows, centers, k: compared.append(k) or knn(rows, centers, k))
    members = clusters._by_cluster(faiss, C, found)
    assert set(compared) == {clusters.NEAR_GROUPS, 1}
    assert_array_equal(np.sort(np.concatenate(members)), np.arange(len(C)))
    centers = np.vstack(found.centers)
    assert len(members) == len(centers)
    own = np.empty(len(C), dtype=int)
    for cluster, places in enumerate(members):
        own[places] = cluster
    distances = squared_distances(C, centers)
    # In one of the three nearest groups, which seldom do not have the nearest centre of all.
    assert np.mean(own == distances.argmin(axis=1)) > 0.97
    monkeypatch.setattr(clusters, "NEAR_GROUPS", len(found.groups))
    members = clusters._by_cluster(faiss, C, found)
    own = np.concatenate([np.full(len(places), cluster) for cluster, places in enumerate(members)])
    assert np.mean(own == distances[np.concatenate(members)].argmin(axis=1)) > 0.999


def test_groups_without_rows_are_left_out(monkeypatch):
    monkeypatch.setattr(clusters, "CLUSTER_ROWS", 1)
    monkeypatch.setattr(clusters, "FEW_CLUSTERS", 2)
    C = np.repeat(np.eye(3, 2, dtype=np.float32), 30, axis=0)  # three points: nine groups, most of them without rows
    found = clusters._find_clusters(faiss, C)
    assert len(found.groups) == len(found.centers) == 3
    assert all(len(part) for part in found.centers)
    members = clusters._by_cluster(faiss, C, found)
    assert_array_equal(np.sort(np.concatenate(members)), np.arange(90))


def test_means():
    X = rows(200)
    assert_allclose(clusters._means(faiss, X, 1), X.mean(axis=0, keepdims=True))
    found = clusters._means(faiss, X, 5)
    assert found.shape == (5, 6)
    assert_array_equal(clusters._means(faiss, X, 5), found)
    nearest = squared_distances(X, found).min(axis=1).sum()
    assert nearest < 0.6 * ((X - X.mean(axis=0)) ** 2).sum()
    assert clusters._means(faiss, X[:5], 5).shape == (5, 6)  # a row is enough for a mean


def test_rows_by_their_code():
    found = clusters._split(np.array([2, 0, 2, 4, 0]), 5)
    assert [part.tolist() for part in found] == [[1, 4], [], [0, 2], [], [3]]
    assert {part.dtype for part in found} == {np.dtype(np.int32)}


def test_rows_for_faiss():
    X = np.asfortranarray(np.ones((3, 2)))
    found = clusters.as_float32(X)
    assert found.dtype == np.float32
    assert found.flags.c_contiguous


def test_without_faiss_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"needs faiss.*pip install lpjt\[faiss\]"):
        clusters.load_faiss()
    assert clusters.FAISS_MISSING is neighbors.FAISS_MISSING


@pytest.mark.usefixtures("small")
def test_clusters_around_a_cluster_are_listed_as_far_as_they_may_be_needed(monkeypatch):
    listed = []
    knn = faiss.knn

    def spy(queries, candidates, k):
        if queries is candidates:
            listed.append((len(candidates), k))
        return knn(queries, candidates, k)

    monkeypatch.setattr(faiss, "knn", spy)
    X = rows()
    clusters.nearest_by_clusters(X, X, 3)
    (n_clusters, k), *others = listed
    assert n_clusters > k == 2 * 400 // 16
    assert not others
