"""The door, label by label: every dtype, every mark, and the words of the refusals."""

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

from door import X, Y, refusal
from lpjt.domains import open_domains


@pytest.mark.parametrize(
    ("y", "classes", "dtype"),
    [
        (Y, [0, 1], np.int64),
        (Y.astype(np.uint8), [0, 1], np.uint8),
        (Y.astype(np.float32), [0, 1], np.float32),
        (Y == 1, [False, True], bool),
        (Y * 2 - 1, [-1, 1], np.int64),
        (np.array(list("bbbaaa")), ["a", "b"], "U1"),
        (np.array(list("bbbaaa"), dtype=object), ["a", "b"], object),
        (list("bbbaaa"), ["a", "b"], "U1"),
        ([3, 3, 3, 7, 7, 7], [3, 7], np.int64),
        (Y.astype(object), [0, 1], np.int64),
    ],
)
def test_labels_of_any_dtype_come_back_as_they_were(y, classes, dtype):
    domains = open_domains(X, y)
    assert domains.classes.dtype == dtype
    assert domains.classes.tolist() == classes
    assert domains.sources[0].y.dtype == np.int64
    assert_array_equal(domains.classes[domains.sources[0].y], np.asarray(y))


def test_labels_of_frames():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    words = list("bbbaaa")
    for y in (
        pd.Series(words),
        pd.Series(words, dtype="string"),
        pd.Categorical(words),
        pd.Series(words, dtype="category"),
        pd.Index(words),
        pl.Series(words),
        pl.Series(words, dtype=pl.Categorical),
    ):
        domains = open_domains(X, y)
        assert domains.classes.tolist() == ["a", "b"]
        assert domains.sources[0].y.tolist() == [1, 1, 1, 0, 0, 0]
    for y in (pd.array(Y, dtype="Int64"), pd.Series(Y, dtype="category"), pl.Series(Y)):
        assert open_domains(X, y).classes.dtype == np.int64
    target = pd.array([True, None, False, None, None, None], dtype="boolean")
    assert open_domains(X, Y == 1, X, target).targets[0].y.tolist() == [1, -1, 0, -1, -1, -1]


def test_column_of_labels_is_raveled_with_a_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert_array_equal(open_domains(X, Y[:, None]).sources[0].y, Y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (Y[:4], "y has 4 labels, but X has 6 rows"),
        (np.ones(6), "y holds only one class, 1.0. A classifier cannot be trained with one class"),
        (["a"] * 6, "y holds only one class, 'a'"),
        (
            [0, 1, None, 1, np.nan, 0],
            r"y has no label \(None, NaN or ''\) at row 2, 4. Every source row needs one",
        ),
        ([0.0, np.nan] * 3, "y has no label .* at row 1, 3, 5"),
        (["a", "", "b", "a", "b", "b"], "y has no label .* at row 1"),
        (np.ma.masked_equal(Y, 0), "y has no label .* at row 0, 1, 2"),
        ([None] * 6, r"at row 0, 1, 2, 3, 4 \(and 1 more\)"),
        ([0, 0.5, 1, 1, 0, 0], "Unknown label type: continuous. y holds 0.5 at row 1.*bins"),
        ([0, 1, np.inf, 0, 0, 0], "Unknown label type: continuous. y holds inf at row 2"),
        (Y + 1j, "Complex data not supported"),
        (np.eye(6), r"y should be a 1d array, got an array of shape \(6, 6\).*argmax"),
        (["a", "b", 1, 2, "a", "b"], "Unknown label type: y holds labels of type int, str"),
        (np.array([b"a", b"b"] * 3), "Unknown label type: y holds labels of type bytes"),
        ("labels", r"y should be a 1d array, got an array of shape \(\)"),
    ],
)
def test_source_labels_refused(y, words):
    assert re.search(words, refusal(X, y))
    assert re.search(words, refusal(X, y, X))


def missing_marks():
    pd = pytest.importorskip("pandas")
    return [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT")]


def test_every_mark_means_unlabelled():
    for mark in missing_marks():
        for y, label in ((Y, 1), (Y.astype(str), "1"), (Y == 1, True), (Y.astype(float), 1)):
            for container in (list, lambda values: np.array(values, dtype=object)):
                target = container([label, mark, label, mark, mark, mark])
                assert open_domains(X, y, X, target).targets[0].y.tolist() == [1, -1, 1, -1, -1, -1]
        assert (open_domains(X, Y, X, [mark] * 6).targets[0].y == -1).all()


@pytest.mark.parametrize(
    ("y", "y_target", "codes"),
    [
        (Y, [1, -1, 0, -1, -1, -1], [1, -1, 0, -1, -1, -1]),
        (Y, np.array([1.0, np.nan, -1, 0, 0, 0]), [1, -1, -1, 0, 0, 0]),
        (Y.astype(float), [1, -1, 0, 0, 0, 0], [1, -1, 0, 0, 0, 0]),
        (Y.astype(np.uint8), [1, -1, 0, 0, 0, 0], [1, -1, 0, 0, 0, 0]),
        (Y * 2 - 1, [1, -1, np.nan, 1, 1, 1], [1, 0, -1, 1, 1, 1]),  # -1 is a class here
        (Y == 1, [1, 0, -1, 1, 1, 1], [1, 0, -1, 1, 1, 1]),
        (Y.astype(str), np.array(["1", "", "0", "", "", ""]), [1, -1, 0, -1, -1, -1]),
        (Y.astype(str).astype(object), np.array(["1", "0", "", "", "", ""]), [1, 0, -1, -1, -1, -1]),
        (Y, np.ma.masked_equal(Y, 0), [-1, -1, -1, 1, 1, 1]),
        (Y, None, [-1] * 6),
    ],
)
def test_target_labels_match_across_dtypes(y, y_target, codes):
    target = open_domains(X, y, X, y_target).targets[0]
    assert target.y.tolist() == codes
    assert target.y.dtype == np.int64


@pytest.mark.parametrize(
    ("y", "y_target", "words"),
    [
        (Y, [0, 1, 7, 9, 0, 0], "y_target holds labels unknown to the source: 7, 9. The source's classes are "
                                "0, 1. Drop those rows, or mark them as unlabelled with NaN, None or -1."),
        (Y, [2, 3, 4, 5, 6, 7], r"2, 3, 4, 5, 6 \(and 1 more\)"),
        (Y.astype(str), ["0", "x", "", "", "", ""], "unknown to the source: 'x'.* '0', '1'.*with None or ''"),
        (Y.astype(str), Y, "y_target holds numbers, e.g. 0, but the labels of the source are strings, e.g"),
        (Y.astype(str), Y == 1, "y_target holds booleans, e.g. False, but .* strings.*mark .* None or ''"),
        (Y, Y.astype(str), "y_target holds strings, e.g. '0', but the labels of the source are numbers"),
        (Y == 1, Y.astype(str), "y_target holds strings, .* but the labels of the source are booleans"),
        (Y, [0.5] * 6, "Unknown label type: continuous. y_target holds 0.5 at row 0"),
        (Y, Y[:2], "y_target has 2 labels, but X_target has 6 rows"),
        (Y, {"a": Y}, "y_target is a dict, but X_target is not"),
    ],
)  # fmt: skip
def test_target_labels_refused(y, y_target, words):
    assert re.search(words, refusal(X, y, X, y_target))


def test_minus_one_on_every_target_row_is_suspect_where_it_is_a_class():
    with pytest.warns(UserWarning, match="-1 is a class of the source, so y_target labels every target row"):
        assert (open_domains(X, Y * 2 - 1, X, [-1] * 6).targets[0].y == 0).all()


def test_minus_one_beside_labels_is_suspect_where_it_is_a_class_and_no_row_is_unlabelled():
    y = Y * 2 - 1
    with pytest.warns(UserWarning, match="-1 is a class of the source, .* those with -1 too.* NaN or None"):
        open_domains(X, y, X, [1, -1, -1, -1, -1, -1])
    for marked in ([1, -1, None, None, None, None], [1] * 6):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            open_domains(X, y, X, marked)


def test_class_of_one_row_is_allowed_with_a_warning_where_there_is_a_target():
    y = ["a", "a", "a", "b", "b", "rare"]
    with pytest.warns(UserWarning, match="Only one source row has the label 'rare'"):
        open_domains(X, y, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_domains(X, y)
        open_domains(X, Y, X)
