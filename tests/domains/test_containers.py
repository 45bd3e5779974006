"""Frames of several libraries, and arrays of libraries other than numpy."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from lpjt import LPJT
from lpjt.domains import open_domains, open_rows
from problems import shifted_pair

X, Y, X_TARGET, Y_TARGET = shifted_pair()
NAMES = [f"f{i}" for i in range(X.shape[1])]
FRAMES = {
    "pandas": lambda rows, names: pd.DataFrame(rows, columns=names),
    "polars": lambda rows, names: pl.DataFrame(rows, schema=names),
    "pyarrow": lambda rows, names: pa.table(dict(zip(names, rows.T, strict=True))),
}
LABELS = {"pandas": pd.Series, "polars": pl.Series, "pyarrow": pa.array}


class Tensor:
    """What torch's tensors on the CPU have; `__array__` can be refused as for those with a gradient."""

    def __init__(self, values, *, fails=None):
        self.values, self.fails = values, fails
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        if self.fails:
            raise self.fails
        return np.asarray(self.values, dtype=dtype)

    def __dlpack__(self, **given):
        return self.values.__dlpack__(**given)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class Capsule:
    """An array with nothing but DLPack."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __dlpack__(self, **given):
        return self.values.__dlpack__(**given)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def foreign_arrays():
    strict = pytest.importorskip("array_api_strict")
    return {"array API": strict.asarray, "torch's": Tensor, "DLPack": Capsule}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_frames_are_read_with_their_names_and_dtype(library, dtype):
    frame = FRAMES[library](X.astype(dtype), NAMES)
    domain = open_domains(frame, LABELS[library](Y), FRAMES[library](X_TARGET, NAMES)).sources[0]
    assert domain.X.dtype == dtype
    assert domain.feature_names.tolist() == NAMES
    assert_array_equal(domain.X, X.astype(dtype))
    assert_array_equal(domain.y, Y)


@pytest.mark.parametrize("library", FRAMES)
def test_columns_are_matched_by_name_across_libraries(library):
    turned = FRAMES[library](X_TARGET[:, ::-1], NAMES[::-1])
    expected = LPJT(candidates=None, random_state=0).fit(X, Y, X_TARGET)
    model = LPJT(candidates=None, random_state=0).fit(pd.DataFrame(X, columns=NAMES), Y, turned)
    assert_array_equal(model.transduction_, expected.transduction_)
    assert_array_equal(model.predict(turned), expected.predict(X_TARGET))
    assert model.feature_names_in_.tolist() == NAMES[::-1]


@pytest.mark.parametrize("library", FRAMES)
def test_missing_values_and_dates_of_frames_are_refused(library):
    rows = X.copy()
    rows[4, 2] = np.nan
    with pytest.raises(ValueError, match="X holds NaN at row 4, column 'f2'"):
        open_domains(FRAMES[library](rows, NAMES), Y)
    when = pd.DataFrame({"a": X[:, 0], "when": pd.to_datetime(["2020-01-01"] * len(X))})
    frame = {"pandas": when, "polars": pl.from_pandas(when), "pyarrow": pa.Table.from_pandas(when)}[library]
    with pytest.raises(TypeError, match=r"X: dates, durations and records are not .* in column 'when'.* TableAdapter"):
        open_domains(frame, Y)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_empty_cells_are_missing(library):
    values = [None, *X[1:, 0].tolist()]
    frame = pl.DataFrame({"a": values}) if library == "polars" else pa.table({"a": values})
    with pytest.raises(ValueError, match="X holds NaN at row 0, column 'a'"):
        open_domains(frame, Y)


@pytest.mark.parametrize("library", FRAMES)
def test_words_in_frames_are_refused_with_a_remedy(library):
    columns = {"size": [None, *range(1, len(X))], "colour": ["red", "blue"] * (len(X) // 2)}
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](columns)
    words = r"could not convert string to float: 'red' in column 'colour'. Encode or drop .* TableAdapter"
    with pytest.raises(ValueError, match=words):
        open_domains(frame, Y)


def test_words_in_a_column_of_categories_or_missing_cells_are_found():
    frame = pd.DataFrame({"size": pd.array([None, 2, 3, 4, 5, 6], dtype="Int64"), "grade": list("ABABAB")})
    for kind in ("category", "string", "object"):
        with pytest.raises(ValueError, match=r"X: could not .* 'A' in column 'grade'"):
            open_domains(frame.astype({"grade": kind}), Y)


def test_columns_of_one_name_are_refused():
    frame = pd.DataFrame(X[:, :2], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"X: column names must differ.*'a' 2 times"):
        open_domains(frame, Y)


def test_sparse_columns_stay_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(__import__("scipy.sparse", fromlist=["csr_array"]).csr_array(X))
    domain = open_domains(frame, Y).sources[0]
    assert hasattr(domain.X, "indptr")


@pytest.mark.parametrize("kind", ["array API", "torch's", "DLPack"])
def test_arrays_of_other_libraries_are_converted_once_and_said_so(kind):
    wrap = foreign_arrays()[kind]
    with pytest.warns(UserWarning, match=r"X is a \w+ \w+: it is converted to a numpy array once") as caught:
        domains = open_domains(wrap(X), wrap(Y), wrap(X_TARGET))
    converted = [str(w.message) for w in caught if "converted" in str(w.message)]
    assert [message.split()[0] for message in converted] == ["X", "X_target"]
    assert_array_equal(domains.sources[0].X, X)
    assert_array_equal(domains.sources[0].y, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # new rows are converted without a word
        assert_array_equal(open_rows(wrap(X_TARGET), width=X.shape[1]), X_TARGET)


def test_a_fit_on_foreign_arrays_is_that_on_numpys():
    wrap = foreign_arrays()["array API"]
    expected = LPJT(candidates=None, random_state=0).fit(X, Y, X_TARGET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(candidates=None, random_state=0).fit(wrap(X), wrap(Y), wrap(X_TARGET))
    assert type(model.transduction_) is np.ndarray
    assert_array_equal(model.transduction_, expected.transduction_)
    assert_array_equal(model.predict_proba(wrap(X_TARGET)), expected.predict_proba(X_TARGET))


@pytest.mark.parametrize(
    "error", [RuntimeError("Can't call numpy() on Tensor that requires grad."), TypeError("can't convert cuda:0")]
)
def test_what_cannot_be_converted_is_refused_with_a_remedy(error):
    with (
        pytest.warns(UserWarning, match="converted"),
        pytest.raises(TypeError, match=r"X: a .* Tensor could not be read.*\.cpu\(\)"),
    ):
        open_domains(Tensor(X, fails=error), Y)
