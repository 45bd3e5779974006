"""The largest eigenpairs: those of `eigh`, whatever the spectrum, and by `eigh` where inverse iteration fails."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg

from lpjt.core import leading
from lpjt.core.leading import are_few, largest_of_matrix, largest_of_pair
from toys import random_pair

SPECTRA = {
    "even": np.linspace(1.0, 2.0, 60),
    "falling": np.geomspace(1e-12, 1.0, 60),
    "one far ahead": np.r_[np.linspace(1.0, 2.0, 59), 1e9],
    "low rank": np.r_[np.zeros(55), 1.0, 2.0, 3.0, 4.0, 5.0],
    "equal": np.r_[np.ones(50), np.full(10, 2.0)],
    "nearly equal": 1.0 + 1e-15 * np.arange(60),
    "zeros": np.zeros(60),
    "negative": -np.linspace(1.0, 2.0, 60),
}


def matrix(values, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))
    S = (Q * values) @ Q.T
    return (S + S.T) / 2


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("d", [1, 20])
def test_eigenpairs_whatever_the_spectrum(name, d):
    S = matrix(SPECTRA[name])
    size = np.abs(SPECTRA[name]).max() or 1.0
    values, Q = largest_of_matrix(S, d)
    assert_allclose(values, np.linalg.eigvalsh(S)[-d:], atol=1e-13 * size)
    assert_allclose(Q.T @ Q, np.eye(d), atol=1e-10)
    assert_allclose(S @ Q, Q * values, atol=1e-12 * size)


def test_blocks_that_nothing_joins():
    S = linalg.block_diag(*[matrix(np.linspace(1.0, 2.0, 20))] * 3)
    values, Q = largest_of_matrix(S, 9)
    assert_allclose(values, np.repeat(np.linspace(1.0, 2.0, 20)[-3:], 3), rtol=1e-13)
    assert_allclose(Q.T @ Q, np.eye(9), atol=1e-10)
    assert_allclose(S @ Q, Q * values, atol=1e-12)
    assert_allclose(largest_of_matrix(np.diag(np.arange(30.0)), 3)[0], [27.0, 28.0, 29.0])


@pytest.mark.parametrize("fault", ["no convergence", "not orthonormal", "no eigenvalues"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_where_inverse_iteration_fails_the_whole_routine_takes_over(monkeypatch, fault, overwrite):
    S = np.asfortranarray(matrix(SPECTRA["even"]))
    before = S.copy()
    values, Q = linalg.eigh(S, subset_by_index=(55, 59))
    original = leading.lapack

    class Faulty:
        dsytrd, dormqr = original.dsytrd, original.dormqr

        @staticmethod
        def dsterf(diagonal, beside):
            values, failed = original.dsterf(diagonal, beside)
            return values, failed or fault == "no eigenvalues"

        @staticmethod
        def dstein(*arguments):
            Q, failed = original.dstein(*arguments)
            if fault == "not orthonormal":
                Q[:, 1] = Q[:, 0]
            return Q, failed or fault == "no convergence"

    monkeypatch.setattr(leading, "lapack", Faulty)
    found, vectors = largest_of_matrix(S, 5, overwrite=overwrite)
    assert_allclose(found, values, rtol=1e-13)
    assert_allclose(np.abs(vectors.T @ Q), np.eye(5), atol=1e-12)
    assert overwrite or (before == S).all()


def test_matrices_are_kept_unless_they_may_be_destroyed():
    S = np.asfortranarray(matrix(SPECTRA["even"]))
    before = S.copy()
    expected = largest_of_matrix(S, 5)
    assert_array_equal(S, before)
    for found, wanted in zip(largest_of_matrix(S, 5, overwrite=True), expected, strict=True):
        assert_array_equal(found, wanted)
    assert not np.array_equal(S, before)


def test_float32_stays_float32():
    S = matrix(np.linspace(1.0, 2.0, 30)).astype(np.float32)
    values, Q = largest_of_matrix(S, 4)
    assert values.dtype == Q.dtype == np.float32
    assert_allclose(values, np.linspace(1.0, 2.0, 30)[-4:], rtol=1e-5)


@pytest.mark.parametrize("d", [1, 7, 20])
def test_pairs(d):
    A, B = random_pair(width=60, rank=70)
    B += np.eye(60)
    before, kept = A.copy(), B.copy()
    phi, P = largest_of_pair(A, B, d)
    values, vectors = linalg.eigh(A, kept, driver="gvd")
    assert_allclose(phi, values[-d:], rtol=1e-12)
    assert_allclose(P.T @ kept @ P, np.eye(d), atol=1e-10)
    assert_allclose(np.abs(P.T @ kept @ vectors[:, -d:]), np.eye(d), atol=1e-8)
    assert_array_equal(A, before)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        largest_of_pair(A, -kept, d)


def test_few_are_at_most_a_third():
    assert [are_few(d, 30) for d in (0, 1, 10, 11, 30)] == [False, True, True, False, False]
