"""Projection at its limits: which directions count, which routine is used, and what is reused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core import projection
from lpjt.core.projection import RIDGE, solve_projection
from toys import domain_pair, random_pair


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_how_much_of_a_direction_must_be_seen(scale):
    # Eigenvalues of directions that S_min sees: 1, 1e-7, 1e-11 and 1e-13 of the largest.
    s_min = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    ridge = RIDGE * s_min.mean()
    s_max = np.array([1.0, 1e-7, 1e-11, 1e-13, 2e-6 * ridge, 5e-7 * ridge])
    found = solve_projection(scale * np.diag(s_max), np.diag(s_min), 6)
    # Only in the ridge: kept from a millionth of the largest on. Seen by S_min: from a 1e-12th on.
    assert_allclose(found.eigenvalues, scale * np.array([1.0, 2e-6, 1e-7, 1e-11]), rtol=1e-6)
    assert_array_equal(np.abs(found.vectors).argmax(axis=0), [0, 4, 1, 2])


def test_a_direction_half_seen_counts():
    """S_min as large as the ridge in a direction: half of its square is the ridge's, and it is not left out."""
    ridge = RIDGE * 0.5
    found = solve_projection(np.diag([1.0, 1e-9 * ridge]), np.diag([1.0, 1.01 * ridge]), 2)
    assert found.vectors.shape == (2, 2)
    found = solve_projection(np.diag([1.0, 1e-9 * ridge]), np.diag([1.0, 0.98 * ridge]), 2)
    assert found.vectors.shape == (2, 1)


def test_matrices_of_zeros_have_one_direction():
    found = solve_projection(np.zeros((3, 3)), np.eye(3), 2)
    assert found.vectors.shape == (3, 1)
    assert found.eigenvalues.tolist() == [0.0]
    assert found.residual == 0.0


def test_the_residual_is_that_of_the_worst_column(monkeypatch):
    S_max, S_min = np.diag([4.0, 2.0, 1.0]), np.eye(3)
    wrong = np.array([4.4, 2.5]), np.eye(3)[:, :2]  # a tenth and a quarter too large
    monkeypatch.setattr(projection, "_dense", lambda *a: wrong)
    found = solve_projection(S_max, S_min, 2, ridge=0.0)
    assert_allclose(found.residual, 0.25, rtol=1e-12)


def routines(monkeypatch):
    """Names of the routines used, in their order."""
    used = []

    def watch(name):
        original = getattr(projection, name)
        monkeypatch.setattr(projection, name, lambda *arguments: used.append(name) or original(*arguments))

    watch("_dense")
    watch("_few_of_many")
    return used


def test_the_lanczos_method_is_for_few_components_of_wide_pairs(monkeypatch):
    used = routines(monkeypatch)
    for width, d in ((499, 2), (500, 2), (500, 83), (504, 84), (503, 84)):
        S = np.diag(np.linspace(1.0, 2.0, width))
        solve_projection(S, np.eye(width), d)
    assert used == ["_dense", "_few_of_many", "_few_of_many", "_few_of_many", "_dense"]


def test_where_the_lanczos_method_fails_the_dense_routine_takes_over(monkeypatch):
    S_max, S_min = random_pair(width=510)

    def fail(*arguments, **options):
        raise projection.ArpackError(3)

    expected = solve_projection(S_max, S_min, 4)
    monkeypatch.setattr(projection, "eigsh", fail)
    used = routines(monkeypatch)
    found = solve_projection(S_max, S_min, 4, n_leading=0)
    assert used == ["_few_of_many", "_dense"]
    assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-9)
    assert_allclose(found.vectors, expected.vectors, atol=1e-6)


def test_the_lanczos_method_is_asked_for_accuracy_and_is_repeatable(monkeypatch):
    asked = []
    eigsh = projection.eigsh

    def spy(operator, d, **options):
        asked.append((d, options["which"], options["ncv"], options["tol"]))
        return eigsh(operator, d, **options)

    monkeypatch.setattr(projection, "eigsh", spy)
    S_max, S_min = random_pair(width=780)
    for d in (4, 130):
        assert (np.diff(solve_projection(S_max, S_min, d).eigenvalues) < 0).all()
    assert asked == [(4, "LA", 64, 1e-11), (130, "LA", 195, 1e-11)]


def test_the_block_that_is_reused_is_a_copy():
    S_max, S_min = domain_pair()
    once = solve_projection(S_max, S_min, 8, n_leading=260)
    S_max[0, 0] *= 1.5
    again = solve_projection(S_max, S_min, 8, n_leading=260, last=once)
    assert again.leading is not once.leading
    assert_allclose(again.eigenvalues, solve_projection(S_max, S_min, 8).eigenvalues, rtol=1e-9)


def test_pairs_are_not_changed():
    for width in (20, 520):
        S_max, S_min = random_pair(width=width)
        before = S_max.copy(), S_min.copy()
        solve_projection(S_max, S_min, 3, n_leading=width // 2)
        assert_array_equal(S_max, before[0])
        assert_array_equal(S_min, before[1])


def test_a_pair_that_rounding_made_indefinite_is_solved():
    """float32 rows leave S_min negative, by their rounding, where it should be zero."""
    S_max, S_min = np.diag([3.0, 2.0, 1.0]), np.diag([1.0, 1.0, -1e-7])
    solution = solve_projection(S_max, S_min, 2)
    assert np.isfinite(solution.vectors).all()
    assert solution.residual < 1e-9
    with pytest.raises(ValueError, match=r"The objective is not finite: .* Give smaller values of locality_weight"):
        solve_projection(S_max, np.diag([1.0, np.inf, 1.0]), 2)
