"""Landmarks: feasible weights, PIQP's objective, and a gap that bounds what is missing."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import optimize

import oracles
from lpjt.core import landmarks
from toys import capped_reference, embedded_pair, landmark_program, solve


def assert_feasible(w, groups, mass):
    assert w.min() >= 0
    assert w.max() <= 1
    assert_allclose(np.bincount(np.concatenate(groups), w), mass, atol=1e-9)


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("cross", "matrix"), [(2.0, oracles.qp_matrix), (1.0, oracles.qp_matrix_code)])
def test_objective_of_the_interior_point_referee(ratio, cross, matrix):
    pytest.importorskip("piqp", reason="PIQP is the referee of the quadratic program")
    Z, y = embedded_pair()
    w, marks = solve(Z, y, n_classes=3, ratio=ratio, cross=cross, tol=1e-8, max_iter=5000)
    B = matrix(*Z, *y, ratio)
    expected_w, expected = oracles.qp_referee(B, *y, ratio, 3)
    assert_allclose(marks.objective, expected, rtol=1e-6)
    assert_allclose(marks.objective, 0.5 * w @ B @ w, rtol=1e-10)
    assert_allclose(w, expected_w, atol=5e-3)
    *_, groups, mass = landmark_program(Z, y, (False, True), n_classes=3, ratio=ratio)
    assert_feasible(w, groups, mass)
    # A problem that needs it: the start is not the answer.
    assert marks.n_iter > 1
    start = np.full(70, ratio)
    assert 0.5 * start @ B @ start > expected * (1 + 1e-3)


@pytest.mark.parametrize("max_iter", [1, 3, 30, 1000])
def test_the_gap_bounds_what_is_missing(max_iter):
    pytest.importorskip("piqp", reason="PIQP is the referee of the quadratic program")
    Z, y = embedded_pair(seed=1)
    w, marks = solve(Z, y, n_classes=3, ratio=0.5, tol=0.0, max_iter=max_iter)
    B = oracles.qp_matrix(*Z, *y, 0.5)
    optimum = oracles.qp_referee(B, *y, 0.5, 3)[1]
    assert_allclose(marks.gap, oracles.qp_gap(B, w, *y, 0.5, 3), rtol=1e-8, atol=1e-14)
    assert -1e-9 * optimum <= marks.objective - optimum <= marks.gap + 1e-9 * optimum
    assert marks.n_iter == max_iter


def test_objective_is_half_the_energy_of_eqs_8_and_9():
    Z, y = embedded_pair()
    _, marks = solve(Z, y, n_classes=3, ratio=0.4)
    energy = oracles.mmd_energy(*Z, *y, *marks.weights, 0.4)
    assert_allclose(marks.objective, energy / 2, rtol=1e-10)
    uniform = oracles.mmd_energy(*Z, *y, np.full(40, 0.4), np.full(30, 0.4), 0.4)
    assert energy < uniform


def test_the_tolerance_is_kept_and_the_start_does_not_matter():
    Z, y = embedded_pair()
    rng = np.random.default_rng(0)
    _, plain = solve(Z, y, n_classes=3, ratio=0.5, tol=1e-7)
    _, other = solve(Z, y, n_classes=3, ratio=0.5, tol=1e-7, start=[rng.uniform(size=40), np.ones(30)])
    for marks in (plain, other):
        assert marks.gap <= 1e-7 * marks.objective
        assert marks.n_iter < 500
    assert_allclose(other.objective, plain.objective, rtol=2e-7)


def test_ratio_one_leaves_one_point():
    Z, y = embedded_pair()
    w, marks = solve(Z, y, n_classes=3, ratio=1.0)
    assert_allclose(w, 1.0, atol=1e-12)
    assert_allclose(marks.gap, 0, atol=1e-12)


def stacked_matrix(Z, labels, sources, targets, ratio):
    """Mean of the pairs' matrices, each in its place among all rows."""
    ends = np.concatenate([[0], np.cumsum([len(z) for z in Z])])
    rows = [np.arange(a, b) for a, b in pairwise(ends)]
    B = np.zeros((ends[-1], ends[-1]))
    for s in sources:
        for t in targets:
            place = np.concatenate([rows[s], rows[t]])
            B[np.ix_(place, place)] += oracles.qp_matrix(Z[s], Z[t], labels[s], labels[t], ratio)
    return B / (len(sources) * len(targets))


def test_several_domains_with_missing_classes_and_labels():
    pytest.importorskip("piqp", reason="PIQP is the referee of the quadratic program")
    Z, y = embedded_pair(seed=2, n_classes=4)
    more, y_more = embedded_pair(seed=3, n_source=20, n_target=25)
    y[1][y[1] == 2] = 1
    y[1][:6] = -1
    Z, y = [Z[0], more[0], Z[1], more[1]], [y[0], y_more[0], y[1], y_more[1]]
    is_target = (False, False, True, True)
    w, marks = solve(Z, y, is_target, n_classes=4, ratio=0.5, tol=1e-8, max_iter=5000)
    *_, groups, mass = landmark_program(Z, y, is_target, n_classes=4, ratio=0.5)
    assert_feasible(w, groups, mass)
    B = stacked_matrix(Z, y, (0, 1), (2, 3), 0.5)
    group = np.concatenate(groups)
    membership = (group == np.arange(len(mass))[:, None]).astype(float)
    scale = B.diagonal().mean()
    referee = oracles.solve_with_piqp(B / scale, np.zeros(len(B)), membership, mass, 1e-10)
    assert_allclose(marks.objective, 0.5 * w @ B @ w, rtol=1e-10)
    assert_allclose(marks.objective, 0.5 * referee @ B @ referee, rtol=1e-6)


@pytest.mark.parametrize("emptiness", ["no shared class", "rows at the origin"])
def test_nothing_but_the_marginal_term_or_nothing_at_all(emptiness):
    Z, y = embedded_pair()
    if emptiness == "no shared class":
        y = [y[0], np.full(30, -1)]
    else:
        Z = [np.zeros((40, 4)), np.zeros((30, 4))]
    w, marks = solve(Z, y, n_classes=3, ratio=0.5)
    *_, groups, mass = landmark_program(Z, y, (False, True), n_classes=3, ratio=0.5)
    assert_feasible(w, groups, mass)
    assert np.isfinite(marks.objective)
    assert -1e-12 <= marks.gap <= 1e-3


@hypothesis_settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    ratio=st.sampled_from([0.05, 0.3, 0.5, 0.8]),
    d=st.integers(1, 8),
    shift=st.sampled_from([0.0, 1.0, 30.0]),
)
def test_any_program_is_solved_with_a_certificate(seed, ratio, d, shift):
    Z, y = embedded_pair(seed=seed, n_source=25, n_target=18, d=d, shift=shift)
    w, marks = solve(Z, y, n_classes=3, ratio=ratio, tol=1e-6, max_iter=3000)
    *_, groups, mass = landmark_program(Z, y, (False, True), n_classes=3, ratio=ratio)
    assert_feasible(w, groups, mass)
    B = oracles.qp_matrix(*Z, *y, ratio)
    assert_allclose(marks.objective, 0.5 * w @ B @ w, rtol=1e-8, atol=1e-12 * np.abs(B).max())
    assert oracles.qp_gap(B, w, *y, ratio, 3) <= 2e-6 * marks.objective


@hypothesis_settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_groups=st.integers(1, 5),
    ratio=st.floats(0.02, 0.98),
    spread=st.sampled_from([0.1, 1.0, 100.0]),
)
def test_projection_onto_the_capped_simplices(seed, n_groups, ratio, spread):
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, size=20)])
    v, metric = spread * rng.normal(size=len(group)), np.exp(2 * rng.normal(size=len(group)))
    mass = ratio * np.bincount(group)
    found = landmarks.project_capped(v, group, mass, metric)
    assert_feasible(found, [group], mass)
    assert_allclose(found, capped_reference(v, group, mass, metric), atol=1e-8)
    # Nearest in its metric: no feasible point lies on the other side of the tangent.
    vertex = landmarks.lowest_vertex(metric * (found - v), group, mass)
    assert (metric * (found - v)) @ (vertex - found) >= -1e-7 * spread * metric.max()


def test_projection_by_a_general_solver():
    rng = np.random.default_rng(0)
    v, metric = rng.normal(size=6), np.array([1.0, 5.0, 0.2, 2.0, 1.0, 9.0])
    result = optimize.minimize(
        lambda x: (metric * (x - v) ** 2).sum(),
        np.full(6, 0.5),
        jac=lambda x: 2 * metric * (x - v),
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 3, "jac": lambda x: np.ones(6)},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    found = landmarks.project_capped(v, np.zeros(6, dtype=int), np.array([3.0]), metric)
    assert_allclose(found, result.x, atol=1e-6)


def test_a_feasible_point_projects_onto_itself():
    group, mass = np.array([0, 0, 1, 1, 1]), np.array([1.0, 1.5])
    w = np.array([0.25, 0.75, 1.0, 0.5, 0.0])
    assert_allclose(landmarks.project_capped(w, group, mass, np.ones(5)), w, atol=1e-13)


def test_lowest_vertex():
    group, mass = np.array([1, 0, 1, 0, 1]), np.array([1.0, 1.5])
    found = landmarks.lowest_vertex(np.array([3.0, 2.0, -1.0, 1.0, 0.0]), group, mass)
    assert found.tolist() == [0, 0, 1, 1, 0.5]
