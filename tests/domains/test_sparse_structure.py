"""Sparse matrices whose parts do not fit together are refused before scipy trusts them; sound ones are read."""

import numpy as np
import pytest
from scipy import sparse

from attack.fits.containers import SPARSE
from lpjt import LPJT
from lpjt._matrices import open_matrix, open_rows

SOUND = {
    "csr", "csc", "coo", "bsr", "lil", "dok", "dia", "csr_matrix", "explicit zeros", "unsorted", "duplicates",
    "lying flags", "mixed index types",
}  # fmt: skip
BROKEN = sorted(set(SPARSE) - SOUND - {"NaN"})


def dense(n=12, width=6):
    return np.random.default_rng(0).normal(size=(n, width)) + 3


@pytest.mark.parametrize("kind", sorted(SOUND))
def test_sound_matrices_are_read_with_their_values_and_not_changed(kind):
    X, twin = SPARSE[kind](dense()), SPARSE[kind](dense())
    flags = {name: vars(X).get(name) for name in ("_has_sorted_indices", "_has_canonical_format")}
    rows, _ = open_matrix(X, "X")
    assert flags == {name: vars(X).get(name) for name in flags}
    entries = twin.tocoo()
    expected = np.zeros(X.shape)
    np.add.at(expected, (entries.row, entries.col), entries.data)
    np.testing.assert_allclose(rows.toarray(), expected, rtol=1e-15)
    for part in ("data", "indices", "indptr", "offsets"):
        if isinstance(getattr(X, part, None), np.ndarray):
            np.testing.assert_array_equal(getattr(X, part), getattr(twin, part))
            assert getattr(X, part).dtype == getattr(twin, part).dtype


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_matrices_are_refused_wherever_rows_come_in(kind):
    X, y, model = dense(), np.arange(12) % 2, LPJT(candidates=None, random_state=0)
    words = "is a sparse matrix whose parts do not fit together: .*[^.]. Build it again from its entries"
    if kind == "one dimension" and SPARSE[kind](X).ndim == 2:
        pytest.skip("scipy before 1.13 has no sparse arrays of one dimension: it is a matrix of one row")
    with pytest.raises(ValueError, match=f"^X {words}"):
        open_rows(SPARSE[kind](X), width=6)
    with pytest.raises(ValueError, match=f"^X {words}"):
        model.fit(SPARSE[kind](X), y, X)
    with pytest.raises(ValueError, match=f"^X_target {words}"):
        model.fit(X, y, SPARSE[kind](X))
    model.fit(X, y)
    for method in (model.predict, model.predict_proba, model.transform):
        with pytest.raises(ValueError, match=f"^X {words}"):
            method(SPARSE[kind](X))


def test_the_check_of_the_structure_changes_nothing():
    X = SPARSE["float indices"](dense())
    before = X.indices.dtype
    with pytest.raises(ValueError, match="indices and indptr are of type float64 and int32, not integers"):
        open_matrix(X, "X")
    assert X.indices.dtype == before


def test_pointers_that_leave_no_entry_are_checked_too():
    X = sparse.csr_array(dense())
    X.indptr[:] = 0
    X.indptr[1] = 10**6
    with pytest.raises(ValueError, match="indptr falls, but it must not decrease"):
        open_matrix(X, "X")


def test_blocks_that_do_not_fill_the_matrix_are_refused():
    X = sparse.bsr_array(np.ones((4, 6)), blocksize=(2, 3))
    X._shape = (5, 6)
    with pytest.raises(ValueError, match="blocks of 2 x 3 do not fill a matrix of 5 x 6"):
        open_matrix(X, "X")
