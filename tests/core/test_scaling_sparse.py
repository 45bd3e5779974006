"""Sparse rows, scaled without a dense copy, against the dense rows of the same numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lpjt.core import blocks
from lpjt.core.coordinates import Coordinates, principal_basis, second_moment, to_coordinates
from lpjt.core.scaling import Scaling, fit_scaling, joint_scaling, scale_rows, scale_sparse, scores_of_zeros
from toys import plain_scaling

KINDS = ["standard", "paper", "sum-zscore", "unit", "none"]
RNG = np.random.default_rng(3)


def thin_rows(seed=0, n=40, width=12, constant=True):
    """Counts, most of them zero, one of them far out; a column of zeros and one of a constant."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.3, size=(n, width)).astype(float)
    X[0, 0] = 50
    if constant:
        X[7] = 0
        X[:, 2], X[:, 5] = 0, 3
    return X


@pytest.fixture
def stay_sparse(monkeypatch):
    """No sparse matrix is small enough to be made dense."""
    monkeypatch.setattr(blocks, "DENSE_ENTRIES", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_sparse_rows_are_scaled_as_dense_ones(kind):
    X = thin_rows()
    held = sparse.csr_array(X)
    scaling, same = fit_scaling(X, kind), fit_scaling(held, kind)
    for name in ("row_sums", "mean", "deviation", "clip", "unit_rows"):
        assert_array_equal(getattr(same, name), getattr(scaling, name))
    assert_array_equal(scale_rows(held, same), scale_rows(X, scaling))
    assert_array_equal(held.toarray(), X)


@pytest.mark.parametrize("kind", ["standard", "paper", "unit"])
def test_sparse_rows_against_plain_numpy(kind):
    X = np.delete(thin_rows(constant=False), 7, axis=0)
    X = X[X.any(axis=1)]
    held = sparse.csr_array(X)
    assert_allclose(scale_rows(held, fit_scaling(held, kind)), plain_scaling(X, kind), rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("stay_sparse")
@pytest.mark.parametrize("kind", KINDS)
def test_products_lengths_and_moments_without_a_dense_copy(kind):
    X, new = thin_rows(), thin_rows(seed=1, n=25)
    new[7] = 0
    scaling = fit_scaling(X, kind)
    same = fit_scaling(sparse.csr_array(X), kind)
    if scaling.mean is not None:
        assert_allclose(same.mean, scaling.mean, rtol=1e-12)
        assert_allclose(same.deviation, scaling.deviation, rtol=1e-12)
    left, right = RNG.normal(size=(12, 4)), RNG.normal(size=(25, 3))
    expected = scale_rows(new, scaling)
    held = sparse.csr_array(new)
    found = scale_sparse(held, same)
    assert found.stored.nnz == held.nnz
    assert_array_equal(held.toarray(), new)
    assert_allclose(found.times(np.eye(12)), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(found.times(left), expected @ left, rtol=1e-12, atol=1e-12)
    assert_allclose(found.times(left, found.constant @ left), expected @ left, rtol=1e-12, atol=1e-12)
    assert_allclose(found.transposed_times(right), expected.T @ right, rtol=1e-12, atol=1e-12)
    assert_allclose(found.transposed_times(found.times(np.eye(12))) / 25, second_moment(new, scaling), atol=1e-12)
    assert_allclose(found.factors**2 * found.squares, (expected**2).sum(axis=1), rtol=1e-12, atol=1e-12)
    assert_allclose(scores_of_zeros(same, 12), found.constant, rtol=1e-12, atol=0)


def test_explicit_zeros_are_zeros():
    X = thin_rows()
    held = sparse.csr_array(X)
    held.data[::3] = 0
    scaling = fit_scaling(X, "standard")
    expected = scale_rows(held.toarray(), scaling)
    assert_allclose(scale_sparse(held, scaling).times(np.eye(12)), expected, atol=1e-12)


def test_rows_at_the_mean_have_no_length():
    X = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 0.0]])
    scaling = fit_scaling(X, "standard")
    found = scale_sparse(sparse.csr_array(X), scaling)
    assert_array_equal(found.squares == 0, [False, False, True])
    assert_allclose(found.times(np.eye(2)), scale_rows(X, scaling), atol=1e-15)


@pytest.mark.usefixtures("stay_sparse")
@pytest.mark.parametrize("kind", KINDS)
def test_the_dtype_stays_without_a_dense_copy(kind):
    X = sparse.csr_array(thin_rows().astype(np.float32))
    scaling = fit_scaling(X, kind)
    basis = np.linalg.qr(RNG.normal(size=(12, 3)))[0]
    C = Coordinates(scaling, basis, offset=scores_of_zeros(scaling, 12) @ basis)
    found = to_coordinates(X, C)
    assert found.dtype == np.float32
    assert_allclose(found, to_coordinates(X.toarray(), C), rtol=1e-4, atol=1e-5)


def test_sparse_and_dense_parts_have_joint_statistics(monkeypatch):
    X = thin_rows()
    for entries in (2**26, 0):
        monkeypatch.setattr(blocks, "DENSE_ENTRIES", entries)
        found = joint_scaling([sparse.csr_array(X[:15]), X[15:]], "standard")
        assert_allclose(found.mean, X.mean(axis=0), rtol=1e-12)
        assert_allclose(found.deviation[[0, 1]], X.std(axis=0)[[0, 1]], rtol=1e-12)
        assert_array_equal(np.isinf(found.deviation), X.std(axis=0) == 0)


@pytest.mark.usefixtures("stay_sparse")
@pytest.mark.parametrize("sizes", [(40, 30), (6, 4)])
@pytest.mark.parametrize("options", [{"max_rank": 9}, {"kept": 0.8}, {"max_rank": 2}], ids=str)
def test_directions_of_sparse_parts_are_those_of_dense_ones(sizes, options):
    parts = [thin_rows(seed, n, constant=False) for seed, n in enumerate(sizes)]
    scalings = [fit_scaling(X, "standard") for X in parts]
    expected = principal_basis(parts, scalings, **options)
    for held in ([sparse.csr_array(X) for X in parts], [parts[0], sparse.csr_array(parts[1])]):
        found = principal_basis(held, scalings, random_state=0, **options)
        assert found.shape == expected.shape
        assert found.flags.c_contiguous
        assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-12)
        assert_allclose(np.abs((found * expected).sum(axis=0)), 1, atol=1e-8)


@pytest.mark.usefixtures("stay_sparse")
def test_all_that_few_sparse_rows_span():
    X = sparse.random_array((60, 300), density=0.1, random_state=np.random.default_rng(0), format="csr")
    Q = principal_basis([X[:30], X[30:]], [Scaling()] * 2, random_state=0)
    assert Q.shape == (300, 60)
    assert_allclose((X @ Q) @ Q.T, X.toarray(), atol=1e-10)
    again = principal_basis([X[:30], X[30:]], [Scaling()] * 2, random_state=0)
    assert_array_equal(Q, again)
    doubled = sparse.vstack([X, X], format="csr")
    assert principal_basis([doubled], [Scaling()], random_state=0).shape == (300, 60)


def test_which_rows_stay_sparse(monkeypatch):
    X = sparse.csr_array((100, 10))
    monkeypatch.setattr(blocks, "DENSE_ENTRIES", 1999)
    assert not blocks.stays_sparse([X])
    assert blocks.stays_sparse([X, X])
    assert not blocks.stays_sparse([X, np.zeros((100, 10))])
    assert not blocks.stays_sparse([X, X], max_rows=99)
    monkeypatch.setattr(blocks, "DENSE_ENTRIES", 2000)
    assert not blocks.stays_sparse([X, X])


def test_stacks_of_sparse_and_dense_rows():
    X = thin_rows()
    stacked = blocks.stack_rows([sparse.csr_array(X[:9]), X[9:]])
    assert isinstance(stacked, sparse.csr_array)
    assert_array_equal(stacked.toarray(), X)
    held = sparse.csr_array(X)
    assert blocks.stack_rows([held[:0], held]) is held
