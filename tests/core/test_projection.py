"""Projection: the leading pairs of S_max p = phi S_min p, with the residual to prove it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg

import oracles
from lpjt.core import projection
from lpjt.core.projection import coupling_blocks, solve_projection
from toys import domain_pair, random_pair, with_ridge


@pytest.mark.parametrize("n_components", [1, 5, 12])
def test_solution_is_that_of_the_dense_pair(n_components):
    S_max, S_min = random_pair()
    found = solve_projection(S_max, S_min, n_components)
    values, vectors = oracles.solve_projection(S_max, with_ridge(S_min), n_components)
    assert_allclose(found.eigenvalues, values, rtol=1e-10)
    assert_allclose(found.vectors, vectors, rtol=1e-6, atol=1e-9)
    # The same values by a road without symmetry.
    others = np.sort(np.linalg.eigvals(np.linalg.solve(S_min, S_max)).real)[::-1]
    assert_allclose(found.eigenvalues, others[:n_components], rtol=1e-7)


@pytest.mark.parametrize("n_components", [1, 50, 51, 150])
def test_some_eigenvectors_are_those_among_all(n_components, monkeypatch):
    S_max, S_min = random_pair(width=150, rank=200)
    asked = []

    def largest_of_pair(A, B, d):
        asked.append(d)
        return original(A, B, d)

    original = projection.largest_of_pair
    monkeypatch.setattr(projection, "largest_of_pair", largest_of_pair)
    found = solve_projection(S_max, S_min, n_components)
    assert asked == [n_components] * (n_components <= 50)  # all of them, from more than a third on
    monkeypatch.setattr(projection, "are_few", lambda d, size: not asked and d < size)
    other = solve_projection(S_max, S_min, n_components)
    assert_allclose(found.eigenvalues, other.eigenvalues, rtol=1e-10)
    assert_allclose(found.vectors, other.vectors, atol=1e-8)


def test_residual_is_small_and_honest():
    S_max, S_min = random_pair()
    found = solve_projection(S_max, S_min, 6)
    assert found.residual < 1e-8
    assert oracles.eigen_residual(S_max, S_min, found.vectors, found.eigenvalues) < 1e-8
    assert_allclose(
        found.residual,
        oracles.eigen_residual(S_max, with_ridge(S_min), found.vectors, found.eigenvalues),
        atol=1e-13,
    )
    # With a ridge that is a large part of S_min the residual is that of the pair that was solved.
    coarse = solve_projection(S_max, S_min, 6, ridge=0.1)
    assert coarse.residual < 1e-8
    assert oracles.eigen_residual(S_max, S_min, coarse.vectors, coarse.eigenvalues) > 1e-4


def test_columns_are_orthonormal_in_s_min_and_in_order():
    S_max, S_min = random_pair()
    found = solve_projection(S_max, S_min, 7)
    assert_allclose(found.vectors.T @ S_min @ found.vectors, np.eye(7), atol=1e-7)
    assert_allclose(found.vectors.T @ with_ridge(S_min) @ found.vectors, np.eye(7), atol=1e-11)
    assert_allclose(found.vectors.T @ S_max @ found.vectors, np.diag(found.eigenvalues), atol=1e-9)
    assert (np.diff(found.eigenvalues) < 0).all()


def test_the_largest_entry_of_a_column_is_positive():
    S_max, S_min = random_pair(seed=3)
    P = solve_projection(S_max, S_min, 12).vectors
    assert (P[np.abs(P).argmax(axis=0), range(12)] > 0).all()
    assert (P < 0).any()


def test_no_other_projection_has_a_larger_trace():
    S_max, S_min = random_pair()
    found = solve_projection(S_max, S_min, 3)
    best = np.trace(found.vectors.T @ S_max @ found.vectors)
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(S_min)
    for _ in range(50):
        Q, _ = np.linalg.qr(rng.normal(size=(12, 3)))
        P = linalg.solve_triangular(root.T, Q)  # P' S_min P = I
        assert np.trace(P.T @ S_max @ P) <= best * (1 + 1e-8)


def test_fewer_columns_than_wanted_where_s_max_has_fewer_directions():
    S_max, S_min = random_pair(rank=4)
    found = solve_projection(S_max, S_min, 10)
    assert found.vectors.shape == (12, 4)
    assert found.residual < 1e-8
    assert_allclose(found.eigenvalues, linalg.eigh(S_max, S_min, eigvals_only=True)[::-1][:4], rtol=1e-7)
    assert solve_projection(S_max, S_min, 100).vectors.shape == (12, 4)
    assert solve_projection(*random_pair(), 100).vectors.shape == (12, 12)


def test_the_ridge_makes_a_singular_s_min_definite():
    S_max, S_min = random_pair(rank_min=5)
    with pytest.raises(np.linalg.LinAlgError):
        linalg.eigh(S_max, S_min - 1e-12 * np.eye(12))
    found = solve_projection(S_max, S_min, 3)
    assert found.vectors.shape == (12, 3)
    # Rounding over the ridge, 1e-16 / 1e-9, is all that the residual can show; the backward error is smaller.
    assert found.residual < 1e-5
    left, right = S_max @ found.vectors, with_ridge(S_min) @ found.vectors * found.eigenvalues
    size = np.linalg.norm(S_min) * found.eigenvalues * np.linalg.norm(found.vectors, axis=0)
    assert (np.linalg.norm(left - right, axis=0) / size).max() < 1e-13
    # The best directions are those that S_min does not see: S_max over the ridge alone.
    assert_allclose((found.vectors.T @ S_min @ found.vectors).diagonal(), 0, atol=1e-4)


def test_the_ridge_follows_the_scale_of_s_min():
    S_max, S_min = random_pair()
    plain, scaled = solve_projection(S_max, S_min, 4), solve_projection(1e3 * S_max, 1e-7 * S_min, 4)
    assert_allclose(scaled.eigenvalues, 1e10 * plain.eigenvalues, rtol=1e-9)
    assert_allclose(scaled.vectors, np.sqrt(1e7) * plain.vectors, rtol=1e-6, atol=1e-6)


def test_directions_that_neither_matrix_sees_are_left_out():
    # Columns that depend on one another, as duplicates do: the ridge stands alone there, and rounding over it
    # is no eigenvalue.
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    X, D = rng.normal(size=(50, 6)), rng.normal(size=(50, 6))
    X[:, 4:] = D[:, 4:] = 0
    X, D = X @ turn, D @ turn
    found = solve_projection(X.T @ X, D.T @ D, 6)
    assert found.vectors.shape == (6, 4)
    assert found.residual < 1e-8


@pytest.mark.parametrize("rank", [520, 60])
def test_few_components_of_a_wide_pair(rank):
    # Wide enough that an iterative method may take the place of the dense routine.
    S_max, S_min = random_pair(width=520, rank=rank)
    found = solve_projection(S_max, S_min, 8)
    values, vectors = oracles.solve_projection(S_max, with_ridge(S_min), 8)
    assert found.residual < 1e-8
    assert oracles.eigen_residual(S_max, with_ridge(S_min), found.vectors, found.eigenvalues) < 1e-8
    assert_allclose(found.eigenvalues, values, rtol=1e-9)
    assert_allclose(found.vectors, vectors, atol=1e-6 * np.abs(vectors).max())
    assert_allclose(found.vectors.T @ with_ridge(S_min) @ found.vectors, np.eye(8), atol=1e-10)
    assert_array_equal(solve_projection(S_max, S_min, 8).vectors, found.vectors)


def test_fewer_columns_than_wanted_of_a_wide_pair():
    S_max, S_min = random_pair(width=520, rank=4)
    found = solve_projection(S_max, S_min, 10)
    assert found.vectors.shape == (520, 4)
    assert found.residual < 1e-8


def test_double_eigenvalues_of_a_wide_pair_come_twice():
    # As two equal domains without coupling have them.
    S_max, S_min = (linalg.block_diag(S, S) for S in random_pair(width=260))
    found = solve_projection(S_max, S_min, 8)
    values = linalg.eigh(S_max, with_ridge(S_min), eigvals_only=True)[::-1][:8]
    assert_allclose(values[::2], values[1::2], rtol=1e-10)
    assert_allclose(found.eigenvalues, values, rtol=1e-9)
    assert found.residual < 1e-8


def test_coupling_is_the_distance_between_projections():
    rng = np.random.default_rng(0)
    widths, is_target = [3, 4, 3, 4, 3], [False, False, True, True, True]
    C = coupling_blocks(widths, is_target, 2.0)
    P = [rng.normal(size=(width, 2)) for width in widths]
    # Pairs of equal width: (0, 2), (0, 4), (1, 3); each weighs 1 over the six pairs of the problem.
    distances = [((P[s] - P[t]) ** 2).sum() for s, t in ((0, 2), (0, 4), (1, 3))]
    stacked = np.vstack(P)
    assert_allclose(np.trace(stacked.T @ C @ stacked), 2.0 * sum(distances) / 6, rtol=1e-12)
    assert_array_equal(C, C.T)


def test_no_coupling_between_unequal_widths_or_without_weight():
    assert not coupling_blocks([3, 4], [False, True], 5.0).any()
    assert not coupling_blocks([3, 3], [False, True], 0.0).any()
    # Two sources are coupled to the target and not to each other.
    assert not coupling_blocks([2, 2, 3], [False, False, True], 1.0).any()


@pytest.mark.parametrize("leading_rank", [None, 5])
@pytest.mark.parametrize("n_leading", [260, 100])  # where domains end, and where a block ends that is not one domain
def test_a_leading_block_is_eliminated_by_itself(leading_rank, n_leading):
    S_max, S_min = domain_pair(leading_rank=leading_rank)
    if n_leading == 100:
        S_max[:100, 100:260] = S_max[100:260, :100] = 0.0
        S_max += np.eye(520)  # positive again
    found = solve_projection(S_max, S_min, 8, n_leading=n_leading)
    values, vectors = oracles.solve_projection(S_max, with_ridge(S_min), 8)
    assert found.residual < 1e-8
    assert_allclose(found.eigenvalues, values, rtol=1e-9)
    assert_allclose(found.vectors, vectors, atol=1e-6 * np.abs(vectors).max())
    assert_allclose(found.vectors.T @ with_ridge(S_min) @ found.vectors, np.eye(8), atol=1e-10)


def test_the_leading_block_serves_again_while_it_is_the_same():
    S_max, S_min = domain_pair()
    once = solve_projection(S_max, S_min, 8, n_leading=260)
    S_max[260:, 260:] *= 2.0
    S_min[260:, 260:] += np.diag(np.linspace(0.0, S_min.max(), 260))
    again = solve_projection(S_max, S_min, 8, n_leading=260, last=once)
    assert again.leading is once.leading
    afresh = solve_projection(S_max, S_min, 8)
    assert_allclose(again.eigenvalues, afresh.eigenvalues, rtol=1e-7)  # the ridges differ
    assert_allclose(again.vectors, afresh.vectors, atol=1e-6 * np.abs(afresh.vectors).max())
    for S in (S_max, S_min):
        S[3, 3] *= 1.5
        other = solve_projection(S_max, S_min, 8, n_leading=260, last=again)
        assert other.leading is not again.leading
        assert_allclose(other.vectors, solve_projection(S_max, S_min, 8).vectors, atol=1e-6)


def test_a_pair_without_a_leading_block():
    S_max, S_min = domain_pair()
    plain = solve_projection(S_max, S_min, 8)
    assert plain.leading is None
    assert_array_equal(solve_projection(S_max, S_min, 8, n_leading=520, last=plain).vectors, plain.vectors)
