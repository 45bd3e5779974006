"""Shape guess: the shapes of two domains name the clusters of the one without labels."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core import shape_guess
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


def test_as_many_clusterings_as_asked_for_and_the_best_of_them(monkeypatch):
    seeds, costs = [], []
    kmeans, assign = shape_guess.KMeans, shape_guess._assign

    def counted(**options):
        seeds.append(options.pop("random_state"))
        assert options == {"n_clusters": 4, "n_init": 3}
        return kmeans(**options, random_state=seeds[-1])

    def costing(A, B, random_state):
        order, _ = assign(A, B, random_state)
        return np.roll(order, len(costs)), costs.pop(0)  # no two trials alike

    monkeypatch.setattr(shape_guess, "KMeans", counted)
    monkeypatch.setattr(shape_guess, "_assign", costing)
    X_source, y = clusters(0, 60, 5)
    X_target, _ = clusters(1, 50, 8)

    def guess(given, **options):
        costs[:] = given
        return guess_spectral(X_source, y, X_target, n_classes=4, random_state=np.random.RandomState(0), **options)

    F = guess([3.0, 1.0, 2.0, 1.0, *[5.0] * 6])
    assert len(seeds) == len(set(seeds)) == 10
    costs[:] = []
    assert_array_equal(guess([9.0, 1.0, *[5.0] * 8], n_trials=2), F)
    assert (guess([9.0, *[5.0] * 9], n_trials=1) != F).any()
    assert len(seeds) == 13


def test_distributions_by_the_distance_to_the_centres(monkeypatch):
    """Centres at 0 and 4 for rows at 0, 1, 4: the mean squared distance to the nearest is 1/3."""
    fitted = SimpleNamespace(cluster_centers_=np.array([[-5 / 3], [7 / 3]]))
    monkeypatch.setattr(shape_guess, "KMeans", lambda **options: SimpleNamespace(fit=lambda Z: fitted))
    monkeypatch.setattr(shape_guess, "_assign", lambda A, B, random_state: (np.array([1, 0]), 0.0))
    X = np.array([[0.0], [1.0], [4.0]])
    F = guess_spectral(np.eye(2), np.array([0, 1]), X, n_classes=2, random_state=np.random.RandomState(0), n_trials=1)
    weights = np.exp(-np.array([[16, 0], [9, 1], [0, 16]]) / (2 / 3)) + 1e-12
    assert_allclose(F, weights / weights.sum(axis=1, keepdims=True), rtol=1e-9)


def test_clusters_of_no_width_are_told_apart(monkeypatch):
    """Rows on their centres: the scale is a share of the largest distance, and no weight is zero."""
    fitted = SimpleNamespace(cluster_centers_=np.array([[-1.0], [1.0]]))
    monkeypatch.setattr(shape_guess, "KMeans", lambda **options: SimpleNamespace(fit=lambda Z: fitted))
    monkeypatch.setattr(shape_guess, "_assign", lambda A, B, random_state: (np.array([0, 1]), 0.0))
    X = np.array([[0.0], [2.0], [0.0], [2.0]])
    F = guess_spectral(np.eye(2), np.array([0, 1]), X, n_classes=2, random_state=np.random.RandomState(0), n_trials=1)
    assert_allclose(F[:2].max(axis=1), 1.0, atol=1e-11)
    assert_allclose(F.min(axis=1), 1e-12, rtol=1e-6)


def test_rows_in_their_leading_directions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)) * [5, 3, 1, 0.5, 0.1, 0] + 7
    Z = shape_guess._leading(X.astype(np.float32), 3)
    assert Z.dtype == np.float64
    assert Z.shape == (30, 3)
    centred = X - X.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    assert_allclose(np.linalg.norm(Z, axis=0), values[:3], rtol=1e-5)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-5)
    assert shape_guess._leading(X, 6).shape == (30, 5)  # a direction without spread is none
    assert not shape_guess._leading(np.ones((4, 3)), 2).any()
    tiny = X * [1, 1, 1, 1, 1e-4, 0]  # a square of 4e-12 of the largest counts
    assert shape_guess._leading(tiny, 6).shape == (30, 5)
    assert shape_guess._leading(X * [1, 1, 1, 1, 1e-6, 0], 6).shape == (30, 4)


@pytest.mark.parametrize(("n_classes", "rank"), [(1, 2), (2, 2), (4, 4)])
def test_as_many_directions_as_classes_and_two_at_least(n_classes, rank, monkeypatch):
    asked = []
    leading = shape_guess._leading
    monkeypatch.setattr(shape_guess, "_leading", lambda X, rank: asked.append(rank) or leading(X, rank))
    X, y = clusters(0, 40, 5)
    guess_spectral(X, y % n_classes, X, n_classes=4, random_state=np.random.RandomState(0), n_trials=1)
    assert asked == [rank]


def test_distances_are_relative_to_their_mean():
    assert shape_guess._relative(np.array([[0.0, 2.0], [2.0, 0.0]])).tolist() == [[0, 2], [2, 0]]
    assert shape_guess._relative(np.array([[0.0, 8.0], [8.0, 0.0]])).tolist() == [[0, 2], [2, 0]]
    assert not shape_guess._relative(np.zeros((2, 2))).any()


def test_an_assignment_finds_the_order_and_the_difference(monkeypatch):
    calls = []
    assign = shape_guess.quadratic_assignment

    def spy(A, B, *, method, options):
        calls.append((method, options.get("P0"), options["maximize"]))
        return assign(A, B, method=method, options=options)

    monkeypatch.setattr(shape_guess, "quadratic_assignment", spy)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6, 2))
    A = np.linalg.norm(points[:, None] - points, axis=2)
    shuffled = rng.permutation(6)
    order, cost = shape_guess._assign(A, A[np.ix_(shuffled, shuffled)], np.random.RandomState(0))
    assert_array_equal(shuffled[order], np.arange(6))
    assert cost < 1e-20
    starts = ["barycenter"] + ["randomized"] * 4
    assert calls == [call for start in starts for call in (("faq", start, True), ("2opt", None, True))]
    order, cost = shape_guess._assign(A, 2 * A, np.random.RandomState(0))
    assert_array_equal(order, np.arange(6))
    assert_allclose(cost, (A**2).sum(), rtol=1e-12)
    few, cost = shape_guess._assign(A, A[:4, :4], np.random.RandomState(0))
    padded = np.zeros((6, 6))
    padded[:4, :4] = A[:4, :4]
    assert_allclose(cost, ((A - padded[np.ix_(few, few)]) ** 2).sum(), rtol=1e-12)
    assert cost <= ((A - padded) ** 2).sum() + 1e-12


def test_the_gromov_problem_that_is_solved(monkeypatch):
    asked = {}

    def plan(C_source, C_target, **options):
        asked.update(options, source=C_source, target=C_target)
        P = np.zeros((600 - 100, 3))
        P[0, 0], P[1, 2] = 0.3, 0.1
        return P

    monkeypatch.setitem(sys.modules, "ot", SimpleNamespace(gromov=SimpleNamespace(gromov_wasserstein=plan)))
    X, X_target = np.random.default_rng(0).normal(size=(600, 2)), np.random.default_rng(1).normal(size=(3, 4))
    y = np.arange(600) % 2
    state = np.random.RandomState(0)
    source = np.sort(state.permutation(600)[:500])  # at most 500 rows
    F = guess_gromov(X, y, X_target, n_classes=2, random_state=np.random.RandomState(0))
    assert (asked["symmetric"], asked["max_iter"]) == (True, 200)
    distances = np.linalg.norm(X[source][:, None] - X[source], axis=2)
    assert_allclose(asked["source"], distances / distances.mean(), rtol=1e-10)
    assert_allclose(asked["target"].mean(), 1.0)
    assert_allclose(F[0], np.eye(2)[y[source[0]]])
    assert_allclose(F[1], 0.0)  # a row that the plan leaves out has no label
    assert_allclose(F[2], np.eye(2)[y[source[1]]])
