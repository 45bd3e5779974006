"""Leading directions: the eigenvectors of numpy, cut by energy, by rank and by rounding, with signs that are fixed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core import directions
from lpjt.core.directions import fix_signs, leading_directions, principal_directions


def matrix(spectrum, seed=0):
    """Symmetric matrix of given eigenvalues, and its eigenvectors with the largest entry positive."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(spectrum),) * 2))
    for column in Q.T:
        column *= 1 if column[np.abs(column).argmax()] > 0 else -1
    return (Q * spectrum) @ Q.T, Q


SPECTRUM = np.array([5.0, 3.0, 1.0, 0.6, 0.3, 0.1, 0.0, 0.0])  # the trace is 10


def test_all_directions_in_decreasing_order():
    S, Q = matrix(SPECTRUM)
    before = S.copy()
    values, vectors = leading_directions(S)
    assert_allclose(values, SPECTRUM, atol=1e-14)
    assert (values >= 0).all()
    assert_allclose(vectors[:, :6], Q[:, :6], atol=1e-13)
    assert_allclose(vectors.T @ vectors, np.eye(8), atol=1e-14)
    assert_array_equal(S, before)


@pytest.mark.parametrize(
    ("kept", "rank"), [(0.49, 1), (0.51, 2), (0.79, 2), (0.81, 3), (0.959, 4), (0.961, 5), (0.995, 6)]
)
def test_the_share_of_the_trace_that_is_kept(kept, rank):
    S, Q = matrix(SPECTRUM)
    values, vectors = leading_directions(S, kept=kept)
    assert values.shape == (rank,)
    assert_allclose(vectors, Q[:, :rank], atol=1e-13)


@pytest.mark.parametrize("max_rank", [1, 2, 3, 7, 8, 100])
def test_the_largest_number_of_directions(max_rank):
    """2 of 8 and fewer are found by the partial routine, more by the full one: the same directions."""
    S, Q = matrix(SPECTRUM)
    values, vectors = leading_directions(S, max_rank=max_rank)
    rank = min(max_rank, 8)
    assert vectors.shape == (8, rank)
    assert_allclose(values, SPECTRUM[:rank], atol=1e-14)
    seen = min(rank, 6)
    assert_allclose(vectors[:, :seen], Q[:, :seen], atol=1e-13)


def test_the_share_is_of_the_whole_trace_where_few_eigenvalues_are_computed():
    S, _ = matrix(SPECTRUM)
    assert len(leading_directions(S, kept=0.45, max_rank=2)[0]) == 1
    assert len(leading_directions(S, kept=0.55, max_rank=2)[0]) == 2
    assert len(leading_directions(S, kept=0.95, max_rank=2)[0]) == 2


def test_an_indefinite_matrix_keeps_the_share_of_its_positive_part():
    S, _ = matrix(np.array([5.0, 3.0, 2.0, -9.0]))
    assert len(leading_directions(S, kept=0.79)[0]) == 2
    values, _ = leading_directions(S)
    assert values[-1] == 0


def test_rounding_is_left_out_and_one_direction_remains():
    S, _ = matrix(np.array([1.0, 1e-3, 1e-9, 0.0]))
    assert len(leading_directions(S, floor=1e-6)[0]) == 2
    assert len(leading_directions(S, floor=1e-12)[0]) == 3
    assert len(leading_directions(S, floor=0.5, max_rank=3)[0]) == 1
    assert leading_directions(np.zeros((4, 4)), floor=1e-6)[1].shape == (4, 1)
    assert leading_directions(np.zeros((4, 4)))[1].shape == (4, 4)


def test_partial_and_full_routines_agree_at_the_limit(monkeypatch):
    S, Q = matrix(np.linspace(10, 1, 15))
    called = []
    original = directions.largest_of_matrix

    def partial(S, d, **options):
        called.append(d)
        return original(S, d, **options)

    monkeypatch.setattr(directions, "largest_of_matrix", partial)
    for max_rank in (4, 5, 6, None):
        before = S.copy()
        _, vectors = leading_directions(S, max_rank=max_rank)
        assert_allclose(vectors, Q[:, : max_rank or 15], atol=1e-12)
        assert_array_equal(S, before)
    assert called == [4, 5]


@pytest.mark.parametrize("shape", [(30, 6), (6, 6), (6, 30)])
@pytest.mark.parametrize("kept", [1.0, 0.8])
def test_directions_of_rows_are_those_of_their_gram_matrix(shape, kept):
    rows = np.random.default_rng(0).normal(size=shape) * np.linspace(1, 3, shape[1])
    before = rows.copy()
    values, vectors = principal_directions(rows, kept=kept, max_rank=5)
    expected, found = leading_directions(rows.T @ rows, kept=kept, max_rank=5)
    assert_allclose(values, expected, rtol=1e-12)
    assert_allclose(vectors, found, atol=1e-10)
    assert_array_equal(rows, before)
    if kept < 1:
        assert len(values) < 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wide_rows_have_the_directions_that_they_span(dtype):
    rng = np.random.default_rng(1)
    rows = (rng.normal(size=(9, 4)) @ rng.normal(size=(4, 40))).astype(dtype)
    values, vectors = principal_directions(rows)
    assert vectors.shape == (40, 4)
    assert values.dtype == np.float64
    assert_allclose(rows @ vectors @ vectors.T, rows, atol=1e-4 if dtype == np.float32 else 1e-12)
    assert_allclose(values, np.linalg.svd(rows, compute_uv=False)[:4] ** 2, rtol=1e-5)
    assert principal_directions(rows, floor=0.99)[1].shape == (40, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cut", [{"max_rank": 6}, {"kept": 0.9}, {"kept": 0.9, "max_rank": 3, "least": 5}])
def test_few_directions_of_wide_rows_are_those_of_the_decomposition_of_the_rows(dtype, cut):
    rng = np.random.default_rng(2)
    rows = (rng.normal(size=(20, 60)) * np.geomspace(1, 1e-3, 60)).astype(dtype)
    values, vectors = principal_directions(rows, **cut)
    _, roots, right = np.linalg.svd(rows.astype(np.float64), full_matrices=False)
    n = len(values)
    assert 1 <= n <= cut.get("max_rank", 20)
    if "kept" in cut and "max_rank" not in cut:
        held = np.cumsum(roots**2) / (roots**2).sum()
        assert n == 1 + int(np.searchsorted(held, 0.9))
    tolerance = 1e-3 if dtype == np.float32 else 1e-9
    assert vectors.dtype == dtype
    assert_allclose(values, roots[:n] ** 2, rtol=tolerance)
    assert_allclose(vectors, fix_signs(right[:n].T), atol=tolerance)
    assert_allclose(vectors.T @ vectors, np.eye(n), atol=tolerance)


def test_signs_are_fixed_and_nothing_else():
    V = np.array([[1.0, -2.0, 0.0], [-3.0, 1.0, 0.0]])
    assert_array_equal(fix_signs(V), [[-1.0, 2.0, 0.0], [3.0, -1.0, 0.0]])


def test_wide_rows_keep_directions_far_below_the_square_root_of_rounding():
    rng = np.random.default_rng(0)
    left, _ = np.linalg.qr(rng.normal(size=(5, 3)))
    right, _ = np.linalg.qr(rng.normal(size=(40, 3)))
    values, vectors = principal_directions((left * [1.0, 1e-9, 1e-16]) @ right.T)
    assert vectors.shape == (40, 2)
    assert_allclose(values, [1.0, 1e-18], rtol=1e-4)
