"""Cholesky factors and their solves against LAPACK's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt._threads import threads
from lpjt.core import triangles
from lpjt.core.triangles import LEAF, factorise


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("width", [1, LEAF, LEAF + 1, 3 * LEAF, 403])
def test_solves(width, n_jobs):
    rng = np.random.default_rng(width)
    X = rng.normal(size=(2 * width + 3, width))
    S = X.T @ X
    B, few = rng.normal(size=(width, 600)), rng.normal(size=(width, 3))
    given = B.copy()
    with threads(n_jobs):
        L = factorise(S)
        assert_allclose(L.lower @ L.lower.T, S, rtol=1e-10, atol=1e-10 * width)
        assert_array_equal(L.lower, np.tril(L.lower))
        assert_allclose(L.lower @ L.solve_left(B), B, atol=1e-9)
        assert_allclose(L.solve_right(B.T) @ L.lower.T, B.T, atol=1e-9)
        assert_allclose(L.lower.T @ L.solve_transposed(few), few, atol=1e-9)
    assert_array_equal(B, given)


def test_what_is_not_positive_has_no_factor():
    with pytest.raises(np.linalg.LinAlgError):
        factorise(np.diag([1.0, -1.0]))


def test_threads_share_equal_parts_that_are_not_too_small():
    def ends(size):
        return [(part.start, part.stop) for part in triangles._shares(size)]

    assert ends(200) == [(0, 256)]
    assert ends(1000) == [(0, 256), (256, 512), (512, 768), (768, 1024)]
    assert ends(2000) == [(0, 500), (500, 1000), (1000, 1500), (1500, 2000)]
    assert ends(2001) == [(0, 501), (501, 1002), (1002, 1503), (1503, 2004)]
    assert ends(0) == []


def test_only_the_blocks_on_the_diagonal_are_inverted():
    L = factorise(np.diag(np.arange(1.0, 131.0)))
    assert list(L.ends) == [0, 64, 128, 130]
    assert [part.shape for part in L.inverses] == [(64, 64), (64, 64), (2, 2)]
    assert_allclose(L.inverses[2], np.diag(np.arange(129.0, 131.0) ** -0.5))
