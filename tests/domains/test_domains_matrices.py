"""The door, matrix by matrix: what passes, what is refused, and the words of the refusal."""

import re
import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context

from door import X, Y, refusal, with_value
from lpjt._matrices import open_matrix
from lpjt.domains import open_domains, open_rows


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "i1", "u1", "i4", "u8", "i8", "?", "O", np.longdouble, ">f8", "U4"]
)
def test_float32_is_kept_and_the_rest_becomes_float64(dtype):
    data = X.astype(dtype)
    domain = open_domains(data, Y).sources[0]
    assert domain.X.dtype == (np.float32 if dtype == "f4" else np.float64)
    assert domain.X.dtype.isnative
    assert_array_equal(domain.X, data.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_float_arrays_pass_without_a_copy_and_cannot_be_written_to(dtype, order):
    data = np.ones((8, 6), dtype, order="F")[::2, ::2] if order == "strided" else np.ones((4, 3), dtype, order)
    domains = open_domains(data, [0, 0, 1, 1], data)
    for domain in (*domains.sources, *domains.targets):
        assert np.shares_memory(domain.X, data)
        with pytest.raises(ValueError, match="read-only"):
            domain.X[0, 0] = 5
    assert data.flags.writeable


def test_memmap_and_read_only_arrays_pass_without_a_copy(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((50, 3), np.float32))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    frozen = np.ones((50, 4))
    frozen.flags.writeable = False
    domains = open_domains(mapped, np.arange(50) % 2, frozen)
    assert np.shares_memory(domains.sources[0].X, mapped)
    assert np.shares_memory(domains.targets[0].X, frozen)
    assert domains.sources[0].X.dtype == np.float32


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_looking_for_nan_allocates_no_copy(value):
    big = np.ones((2000, 2000))
    big[-1, -1] = value
    tracemalloc.start()
    try:
        open_domains(big, np.arange(2000) % 2)
    except ValueError as error:
        assert "NaN at row 1999, column 1999." in str(error)  # noqa: PT017 - tracemalloc must be stopped anyway
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < big.size  # a boolean copy alone would take this many bytes


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dok", "lil", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
def test_sparse_stays_sparse(form, kind, dtype):
    data = kind(X.astype(dtype)).asformat(form)
    domain = open_domains(data, Y).sources[0]
    assert isinstance(domain.X, sparse.csr_array)
    assert domain.X.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert_array_equal(domain.X.toarray(), X.astype(dtype))


def test_sparse_input_is_shared_and_its_owner_may_still_write():
    data = sparse.csr_array(X)
    domain = open_domains(data, Y).sources[0]
    assert np.shares_memory(domain.X.data, data.data)
    assert data.data.flags.writeable
    assert not domain.X.data.flags.writeable


def test_unsorted_sparse_input_with_duplicates_is_left_as_it_was():
    entries = np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3, 3])
    data = sparse.csr_matrix(entries, shape=(2, 2))
    before = [part.copy() for part in (data.data, data.indices, data.indptr)]
    domain = open_domains(data, [0, 1]).sources[0]
    assert_array_equal(domain.X.toarray(), [[2, 5], [0, 0]])
    assert domain.X.has_canonical_format
    for part, expected in zip((data.data, data.indices, data.indptr), before, strict=True):
        assert_array_equal(part, expected)


def test_lists_and_tuples_are_rows():
    assert_array_equal(open_domains(X.tolist(), Y.tolist()).sources[0].X, X)
    assert_array_equal(open_domains(tuple(map(tuple, X)), tuple(Y)).sources[0].X, X)


def test_pandas_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b"])
    domain = open_domains(frame, pd.Series(Y), frame).sources[0]
    assert domain.X.dtype == np.float32
    assert np.shares_memory(domain.X, frame.to_numpy())
    assert domain.feature_names.tolist() == ["a", "b"]
    assert open_domains(pd.DataFrame(X), Y).sources[0].feature_names is None
    nullable = pd.DataFrame({"a": pd.array([1, 2, None, 4, 5, 6], dtype="Int64"), "b": X[:, 0]})
    assert "X holds NaN at row 2, column 'a'." in refusal(nullable, Y)
    assert_array_equal(open_domains(nullable.drop(2), Y[:5]).sources[0].X[:, 0], [1, 2, 4, 5, 6])
    dates = pd.DataFrame({"a": X[:, 0], "when": pd.to_datetime(["2020-01-01"] * 6)})
    assert "dates, durations and records are not numbers" in refusal(dates, Y, error=TypeError)
    mixed = pd.DataFrame({"a": X[:, 0], 2: X[:, 1]})
    assert refusal(mixed, Y, error=TypeError).startswith("X: column names are of the types ['int', 'str'].")
    sparse_frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=["a", "b"])
    assert isinstance(open_domains(sparse_frame, Y).sources[0].X, sparse.csr_array)


def test_polars_frames():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}).cast(pl.Float32)
    domain = open_domains(frame, pl.Series(Y)).sources[0]
    assert domain.X.dtype == np.float32
    assert domain.feature_names.tolist() == ["a", "b"]
    assert_array_equal(domain.X, X)
    holes = pl.DataFrame({"a": [1, 2, None], "b": [1.0, 2.0, 3.0]})
    assert "X holds NaN at row 2, column 'a'." in refusal(holes, [0, 1, 1])
    assert "got LazyFrame instead" in refusal(frame.lazy(), Y)


def test_pyarrow_tables():
    pa = pytest.importorskip("pyarrow", exc_type=ImportError)
    domain = open_domains(pa.table({"a": X[:, 0], "b": X[:, 1]}), pa.array(["u", "v"] * 3)).sources[0]
    assert_array_equal(domain.X, X)
    assert domain.feature_names.tolist() == ["a", "b"]


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.coo_matrix], ids=["dense", "csr", "coo"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_and_infinity_are_named_by_row_and_column(make, dtype):
    message = "X holds NaN at row 3, column 1. Remove or impute them first, e.g. with sklearn.impute.SimpleImputer."
    assert refusal(make(with_value(np.nan, dtype=dtype)), Y) == message
    message = refusal(X, Y, make(with_value(-np.inf, 5, 0, dtype=dtype)))
    assert message.startswith("X_target holds -inf at row 5, column 0. Remove these rows or replace")


def test_nan_message_counts_and_names_columns_and_domains():
    pd = pytest.importorskip("pandas")
    bad = with_value(np.nan)
    bad[4:, :] = np.nan
    assert "X_target holds NaN at row 3, column 'b' (and 4 more)." in refusal(
        X, Y, pd.DataFrame(bad, columns=["a", "b"])
    )
    assert refusal({"photo": bad}, {"photo": Y}, X).startswith("X_source 'photo' holds NaN at row 3")
    assert refusal(X, Y, {"sketch": bad}).startswith("X_target 'sketch' holds NaN at row 3")
    assert refusal(np.ma.masked_equal(X, 7.0), Y).startswith("X holds NaN at row 3, column 1.")
    assert refusal([[1, 2], [None, 3]], [0, 1]).startswith("X holds NaN at row 1, column 0.")


def test_a_finite_sum_that_overflows_is_no_infinity():
    for data in (
        np.full((4, 3), 3e38, np.float32),
        np.full((4, 3), 1e308),
        sparse.csr_array(np.full((4, 3), 1e308)),
    ):
        assert open_domains(data, [0, 0, 1, 1]).sources[0].X.shape == (4, 3)


def test_assume_finite_is_respected():
    with config_context(assume_finite=True):
        assert np.isnan(open_domains(with_value(np.nan), Y).sources[0].X[3, 1])


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (X + 1j, ValueError, "X: Complex data not supported"),
        (sparse.csr_array(X + 1j), ValueError, "X: Complex data not supported"),
        (X[0], ValueError, "X: Expected 2D array, got 1D array instead:.*Reshape your data"),
        (X[None], ValueError, r"X: got shape \(1, 6, 2\).*reshape\(len\(X\), -1\)"),
        (
            X[:0],
            ValueError,
            r"X: Found array with 0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 2 is required",
        ),
        (X[:, :0], ValueError, r"0 feature\(s\) \(shape=\(6, 0\)\) while a minimum of 1 is required."),
        (X[:1], ValueError, r"X: Found array with 1 sample\(s\) \(shape=\(1, 2\)\) .* of 2 is required. Give more"),
        (sparse.csr_array((0, 3)), ValueError, r"0 sample\(s\)"),
        ("rows.csv", ValueError, "X: Expected 2D array, got str instead"),
        (
            with_value({"a": 1}, dtype=object),
            TypeError,
            "argument must be .* string.* number.*Encode or drop",
        ),
        (
            with_value("red", dtype=object),
            ValueError,
            "could not convert string to float: 'red'. Encode or drop",
        ),
        (with_value(10**400, dtype=object), ValueError, "X: int too large to convert to float"),
        (X.astype("M8[D]"), TypeError, r"dates, durations and records are not numbers, got datetime64\[D\]"),
        ([[1, 2], [3]], ValueError, "X: .*inhomogeneous"),
        (
            [X, X[:, :1]],
            ValueError,
            "X is a list of 2 matrices, .* as a dict, e.g. {'photo': X1, 'sketch': X2}",
        ),
        ((X, X), ValueError, "X is a tuple of 2 matrices, but a tuple is read as the rows of one matrix"),
        ([sparse.csr_array(X)], ValueError, "X is a list of 1 matrices"),
    ],
)
def test_matrices_refused(data, error, words):
    assert re.search(words, refusal(data, Y, error=error), re.DOTALL)
    words = words.replace("X:", "X_target:").replace("X is", "X_target is")
    assert re.search(words, refusal(X, Y, data, error=error), re.DOTALL)


def test_rows_of_the_right_width_pass_without_a_copy():
    assert np.shares_memory(open_rows(X, width=2), X)
    assert open_rows(X[:1].astype(np.float32), width=2).dtype == np.float32
    assert isinstance(open_rows(sparse.coo_matrix(X), width=2), sparse.csr_array)


def test_rows_refused():
    assert "X: Expected 2D array, got NoneType instead" in refusal(None, door=open_rows, width=2)
    assert refusal(X, door=open_rows, width=7) == "X has 2 features, but LPJT is expecting 7 features as input."
    message = refusal(X, door=open_rows, width=7, where="X (domain 'photo')", estimator="JGSA")
    assert message == "X (domain 'photo') has 2 features, but JGSA is expecting 7 features as input."
    assert refusal(with_value(np.inf), door=open_rows, width=2).startswith("X holds inf at row 3, column 1.")
    assert "0 sample(s)" in refusal(X[:0], door=open_rows, width=2)
    assert "Reshape your data" in refusal(X[0], door=open_rows, width=2)


def test_column_names_are_compared_in_the_words_of_scikit_learn():
    pd = pytest.importorskip("pandas")
    frame, names = pd.DataFrame(X, columns=["a", "b"]), np.array(["a", "b"], dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_rows(frame, width=2, feature_names=names)
        open_rows(X, width=2)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but LPJT was fitted with feature names"):
        open_rows(X, width=2, feature_names=names)
    with pytest.warns(UserWarning, match="X has feature names, but LPJT was fitted without feature names"):
        open_rows(frame, width=2)
    swapped = refusal(frame[["b", "a"]], door=open_rows, width=2, feature_names=names)
    assert swapped.endswith("Feature names must be in the same order as they were in fit.\n")
    other = refusal(frame.rename(columns={"a": "c"}), door=open_rows, width=2, feature_names=names)
    assert "unseen at fit time:\n- c\nFeature names seen at fit time, yet now missing:\n- a\n" in other
    assert "yet now missing:\n- b\n" in refusal(frame[["a"]], door=open_rows, width=2, feature_names=names)


def broken_sparse(kind):
    """A sparse matrix, (3, 20), with an index outside of it."""
    good = sparse.random_array((3, 20), density=0.3, random_state=np.random.default_rng(0), format="csr")
    if kind == "columns":
        good.indices[0] = 10**6
    elif kind == "negative":
        good.indices[0] = -1
    elif kind == "pointers":
        good.indptr[1] = 10**6
    elif kind == "falling":
        good.indptr[1], good.indptr[2] = good.indptr[2], good.indptr[1]
    elif kind == "empty":  # scipy's own check lets it pass
        good.data, good.indices, good.indptr = good.data[:0], good.indices[:0], np.array([0, 10**6, -5, 0])
    elif kind == "csc":
        good = good.tocsc()
        good.indices[0] = 99
    elif kind == "coo":
        good = good.tocoo()
        good.col[0] = 10**6
    else:
        good = good.tolil()
        good.rows[0] = [10**6] * len(good.rows[0])
    return good


@pytest.mark.parametrize("kind", ["columns", "negative", "pointers", "falling", "empty", "csc", "coo", "lil"])
def test_a_sparse_matrix_with_indices_outside_of_it_is_refused(kind):
    with pytest.raises(ValueError, match="X is a sparse matrix whose parts do not fit together"):
        open_matrix(broken_sparse(kind), "X")


@pytest.mark.parametrize(("dtype", "words"), [("c16", "Complex data not supported"), ("M8[s]", "dates, durations and")])
def test_masked_values_that_are_no_real_numbers_are_refused(dtype, words):
    masked = np.ma.MaskedArray(np.arange(12).reshape(6, 2).astype(dtype), mask=np.eye(6, 2, dtype=bool))
    with pytest.raises((TypeError, ValueError), match=words):
        open_matrix(masked, "X")


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [3.0]], tuple(np.zeros((3, 2), dtype="V8"))])
def test_rows_that_are_no_rows_of_numbers_are_refused_with_the_remedy(rows):
    with pytest.raises(ValueError, match=r"^X: .* Give rows of numbers, all of one length\.$"):
        open_matrix(rows, "X")
