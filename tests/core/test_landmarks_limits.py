"""The landmark program step by step: a dense transcription of the method, its scale, its start and when it stops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from lpjt.core import landmarks
from toys import capped_reference, embedded_pair, landmark_program, solve

RATIO = 0.4


def dense_program(Z, y, ratio=RATIO):
    """B, group and mass of all rows stacked, and the diagonal of the method's metric, floored but not scaled."""
    *_, spread, groups, mass = landmark_program(Z, y, (False, True), n_classes=3, ratio=ratio)
    diagonal = np.concatenate(spread) * (np.vstack(Z) ** 2).sum(axis=1)
    B = oracles.qp_matrix(*Z, *y, ratio)
    return B, np.concatenate(groups), mass, np.maximum(diagonal, 1e-3 * diagonal.mean())


def dense_curvature(B, metric):
    """Fifteen steps of the power method on the scaled matrix, and a tenth more."""
    scaled = B / np.sqrt(np.outer(metric, metric))
    x = 1 + 0.1 * np.cos(np.arange(len(B)))
    for _ in range(15):
        x = scaled @ (x / np.linalg.norm(x))
    return 1.1 * np.linalg.norm(x)


def dense_steps(B, group, mass, metric, w, n_steps):
    """FISTA with restarts, each projection by bisection."""
    metric = metric * dense_curvature(B, metric)
    ahead, t, restarts = w, 1.0, 0
    for _ in range(n_steps):
        new = capped_reference(ahead - B @ ahead / metric, group, mass, metric)
        if ((ahead - new) * metric) @ (new - w) > 0:
            t, restarts = 1.0, restarts + 1
        following = (1 + np.sqrt(1 + 4 * t**2)) / 2
        ahead, w, t = new + (t - 1) / following * (new - w), new, following
    return w, restarts


@pytest.mark.parametrize("n_steps", [1, 2, 3, 8, 25])
def test_steps_are_those_of_the_dense_method(n_steps):
    Z, y = embedded_pair(seed=4, n_source=14, n_target=11)
    B, group, mass, metric = dense_program(Z, y)
    w, marks = solve(Z, y, n_classes=3, ratio=RATIO, tol=0.0, max_iter=n_steps)
    expected, restarts = dense_steps(B, group, mass, metric, np.full(25, RATIO), n_steps)
    assert_allclose(w, expected, atol=1e-9)
    assert marks.n_iter == n_steps
    assert_allclose(marks.objective, w @ B @ w / 2, rtol=1e-10)
    if n_steps == 25:
        assert restarts > 0  # or the restarts were not tested


def test_a_start_is_made_feasible_in_the_metric():
    Z, y = embedded_pair(seed=4, n_source=14, n_target=11)
    _, group, mass, metric = dense_program(Z, y)
    start = np.random.default_rng(0).uniform(-1, 2, size=25)
    w, marks = solve(Z, y, n_classes=3, ratio=RATIO, start=[start[:14], start[14:]], max_iter=0)
    assert_allclose(w, capped_reference(start, group, mass, metric), atol=1e-9)
    assert (marks.objective, marks.gap, marks.n_iter) == (np.inf, np.inf, 0)
    assert [len(part) for part in marks.weights] == [14, 11]


@pytest.mark.parametrize("at_origin", [0, 3])
def test_the_metric_has_a_floor(at_origin, monkeypatch):
    Z, y = embedded_pair(seed=4, n_source=14, n_target=11)
    Z[0][:at_origin] = 0
    B, *_, metric = dense_program(Z, y)
    seen = []
    monkeypatch.setattr(landmarks, "_accelerate", lambda program, w, metric, tol, max_iter: seen.append(metric))
    landmarks.solve_landmarks(*landmark_program(Z, y, (False, True), n_classes=3, ratio=RATIO))
    assert_allclose(seen[0], metric * dense_curvature(B, metric), rtol=1e-10)
    assert (metric == metric.min()).sum() >= at_origin


@pytest.mark.parametrize("kind", ["marginal", "nothing"])
def test_the_metric_without_a_diagonal(kind, monkeypatch):
    """Without a shared class the scale is that of the marginal term, and with rows at the origin it is 1."""
    Z, y = embedded_pair(seed=4, n_source=14, n_target=11)
    y = [y[0], np.full(11, -1)]
    Z = Z if kind == "marginal" else [np.zeros_like(part) for part in Z]
    seen = []
    original = landmarks._largest_curvature
    monkeypatch.setattr(landmarks, "_largest_curvature", lambda p, metric: seen.append(metric) or original(p, metric))
    _, marks = solve(Z, y, n_classes=3, ratio=RATIO)
    norms = (np.vstack(Z) ** 2).sum(axis=1)
    scale = norms.mean() / 25 if kind == "marginal" else 1.0
    assert_allclose(seen[0], np.full(25, 1e-3 * scale), rtol=1e-12)
    assert marks.n_iter <= 500


def test_rows_at_the_origin_have_a_curvature_of_one():
    Z, y = [np.zeros((4, 2)), np.zeros((3, 2))], [np.array([0, 0, 1, 1]), np.array([0, 1, 1])]
    Z_, averages, K, _, groups, mass = landmark_program(Z, y, (False, True), n_classes=2, ratio=RATIO)
    program = landmarks._Program(
        Z_, averages, [A.T for A in averages], K, np.zeros(7), np.concatenate(groups), mass, np.array([0, 4, 7])
    )
    assert landmarks._largest_curvature(program, np.ones(7)) == 1.0


def test_the_gap_is_looked_at_every_ten_steps():
    Z, y = embedded_pair()
    n_iter = [solve(Z, y, n_classes=3, ratio=0.5, tol=tol)[1].n_iter for tol in (np.inf, 1e-2, 1e-4)]
    assert n_iter[0] == 10
    assert all(n % 10 == 0 for n in n_iter)
    assert n_iter[0] <= n_iter[1] < n_iter[2] < 500
    last = solve(Z, y, n_classes=3, ratio=0.5, tol=0.0, max_iter=13)[1]
    assert last.n_iter == 13
    assert np.isfinite(last.objective)


def test_the_default_tolerance_and_number_of_steps():
    Z, y = embedded_pair()
    marks = solve(Z, y, n_classes=3, ratio=0.5)[1]
    assert marks.gap <= 1e-7 * marks.objective
    earlier = solve(Z, y, n_classes=3, ratio=0.5, tol=0.0, max_iter=marks.n_iter - 10)[1]
    assert earlier.gap > 1e-7 * earlier.objective
    assert solve(Z, y, n_classes=3, ratio=0.5, tol=0.0)[1].n_iter == 500


def test_float32_rows_are_weighed_in_float64():
    Z, y = embedded_pair()
    w, marks = solve([part.astype(np.float32) for part in Z], y, n_classes=3, ratio=0.5)
    assert w.dtype == np.float64
    assert marks.gap <= 1e-7 * marks.objective
    assert_allclose(marks.objective, solve(Z, y, n_classes=3, ratio=0.5)[1].objective, rtol=1e-5)


def test_groups_that_are_all_or_nothing():
    group = np.array([0, 0, 1, 1, 2, 2, 2])
    v = np.array([0.3, -5.0, 0.2, 9.0, 0.1, 0.2, 0.3])
    found = landmarks.project_capped(v, group, np.array([0.0, 2.0, 3 * 0.2]), np.ones(7))
    assert_allclose(found, [0, 0, 1, 1, 0.1, 0.2, 0.3], atol=1e-12)


def test_a_mass_beyond_all_weights_gives_all_of_them():
    found = landmarks.project_capped(np.array([0.2, 0.4]), np.array([0, 0]), np.array([3.0]), np.ones(2))
    assert_allclose(found, 1.0)


def test_projection_to_the_last_digit_whatever_the_metric():
    rng = np.random.default_rng(0)
    for _ in range(20):
        group = np.arange(60) % 4
        v, metric = 10 * rng.normal(size=60), 10.0 ** rng.uniform(-6, 6, size=60)
        mass = rng.uniform(0.05, 0.95, size=4) * 15
        found = landmarks.project_capped(v, group, mass, metric)
        assert_allclose(np.bincount(group, found), mass, rtol=2e-13)
        # One multiplier per group: equal over all entries strictly inside.
        tau = metric * (v - found)
        for g in range(4):
            inside = (group == g) & (found > 1e-9) & (found < 1 - 1e-9)
            assert_allclose(tau[inside], tau[inside][:1].repeat(inside.sum()), rtol=1e-6, atol=1e-6)


def test_the_projection_is_newtons_and_takes_few_steps(monkeypatch):
    counted = []
    bincount = np.bincount
    monkeypatch.setattr(landmarks.np, "bincount", lambda *a, **k: counted.append(1) or bincount(*a, **k))
    rng = np.random.default_rng(0)
    landmarks.project_capped(rng.normal(size=500), np.zeros(500, dtype=int), np.array([200.0]), np.ones(500))
    assert len(counted) <= 2 * 8  # two counts per step; bisection alone would take some forty steps


def test_the_lowest_vertex_is_the_lowest_point():
    rng = np.random.default_rng(0)
    group, mass, gradient = np.array([0, 2, 2, 0, 2, 1]), np.array([0.7, 0.4, 2.5]), rng.normal(size=6)
    found = landmarks.lowest_vertex(gradient, group, mass)
    assert_allclose(np.bincount(group, found), mass)
    for _ in range(200):
        other = landmarks.project_capped(3 * rng.normal(size=6), group, mass, np.ones(6))
        assert gradient @ other >= gradient @ found - 1e-12


def test_the_parts_are_those_of_the_domains():
    Z, y = embedded_pair(n_source=5, n_target=4)
    weights = solve(Z, y, n_classes=3, ratio=0.5, start=[np.arange(5.0), np.arange(4.0)], max_iter=0)[1].weights
    assert [part.shape for part in weights] == [(5,), (4,)]
    assert_array_equal(np.concatenate(weights) <= 1, True)
