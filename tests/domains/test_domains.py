"""The door as a whole: dicts of domains, stacks, and what it promises."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from door import X, Y, refusal, with_value
from lpjt.domains import open_domains, open_rows

STACK = [0, -1, 0, -1, 0, 0]


def test_dicts_of_domains_with_widths_of_their_own():
    domains = open_domains(
        {"photo": X, "sketch": X[:, :1]},
        {"sketch": Y, "photo": Y + 1},
        {"c": X, "d": X, "e": X},
        {"c": Y, "d": None},
    )
    assert [domain.name for domain in domains.sources] == ["photo", "sketch"]
    assert [domain.X.shape[1] for domain in domains.sources] == [2, 1]
    assert domains.classes.tolist() == [0, 1, 2]
    assert domains.sources[0].y.tolist() == [1, 1, 1, 2, 2, 2]
    assert domains.targets[0].y.tolist() == Y.tolist()
    assert all((domain.y == -1).all() for domain in domains.targets[1:])
    assert domains.join_targets([1, 2, 3]) == {"c": 1, "d": 2, "e": 3}
    assert domains.join_sources([4, 5]) == {"photo": 4, "sketch": 5}


def test_plain_arrays_come_back_plain():
    domains = open_domains(X, Y, {"c": X})
    part = np.arange(6)
    assert domains.join_sources([part]) is part
    assert domains.join_targets([part]) == {"c": part}
    alone = open_domains(X, Y)
    assert alone.targets == ()
    assert alone.join_targets([]) is None


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (({}, {}), "X is an empty dict. Give at least one source"),
        ((X, Y, {}), "X_target is an empty dict. Give at least one target"),
        (({1: X}, {1: Y}), "X has the key 1. Names of domains are strings"),
        (
            ({"a": X}, {"b": Y}),
            "The keys of X and y differ: y lacks 'a'. X lacks 'b'. Give both the same keys",
        ),
        (({"a": X}, {"a": None}), "y lacks 'a'"),
        (({"a": X}, {"a": Y, 1: Y, "b": Y}), "X lacks 'b', 1"),
        (({"a": X}, Y), "X is a dict, but y is not"),
        ((X, {"a": Y}), "y is a dict, but X is not"),
        ((X, Y, {"c": X}, Y), "X_target is a dict, but y_target is not"),
        ((X, Y, {"c": X}, {"d": Y}), "The keys of X_target and y_target differ: X_target lacks 'd'"),
        (({"a": X}, {"a": Y}, {"a": X}), "'a' is the name of a source and of a target. Names must differ"),
        ((X, Y, {"source": X}), "'source' is the name of a source and of a target"),
        (({"a": X, "b": X}, {"a": Y, "b": Y[:3]}), "y_source 'b' has 3 labels, but X_source 'b' has 6 rows"),
        (
            ({"a": X, "b": X}, {"a": Y, "b": Y.astype(str)}),
            "y_source 'b' holds strings, .* of y_source 'a' are numbers",
        ),
        (({"a": X, "b": X}, {"a": Y * 0, "b": Y * 0}), "y of all sources holds only one class, 0"),
        (({"a": X[:1]}, {"a": [0]}), r"X_source 'a': Found array with 1 sample\(s\)"),
        ((X, Y, None, Y), "y_target was given without X_target"),
    ],
)
def test_dicts_refused(args, words):
    assert re.search(words, refusal(*args))


def test_columns_are_matched_by_name():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b"])
    domains = open_domains(frame, Y, frame[["b", "a"]])
    assert_array_equal(domains.targets[0].X, X)
    assert_array_equal(domains.targets[0].feature_names, ["b", "a"])  # as the caller will give them again
    assert_array_equal(domains.targets[0].columns, [1, 0])
    assert domains.sources[0].columns is None


def test_columns_with_some_other_names_are_matched_by_position_with_a_warning():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b"])
    with pytest.warns(
        UserWarning, match="X_target has columns that X lacks, e.g. 'c', so columns are matched by position"
    ):
        domains = open_domains(frame, Y, frame.rename(columns={"a": "c"})[["b", "c"]])
    assert_array_equal(domains.targets[0].X, X[:, ::-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_domains(frame, Y, frame.rename(columns={"a": "c", "b": "d"}))  # nothing in common: another naming
        open_domains(frame, Y, frame)


def test_frames_of_different_widths_that_share_names_are_different_features_with_a_warning():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b"])
    words = "X_target has 3 columns and X has 2, .* different features, though 2 names are in both, .*TableAdapter"
    with pytest.warns(UserWarning, match=words):
        domains = open_domains(frame, Y, frame.assign(extra=1.0))
    assert domains.targets[0].X.shape[1] == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_domains(frame, Y, frame.assign(extra=1.0).set_axis(["c", "d", "e"], axis=1))


@pytest.mark.parametrize("dtype", [int, float])
def test_a_stack_without_sample_domain_is_refused(dtype):
    labels = np.array([0, 1, 2, 0, 1, 2, -1, -1, -1], dtype=dtype)
    rows = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.raises(ValueError, match=r"y holds -1, which marks unlabelled rows, .*sample_domain=\.\.\."):
        open_domains(rows, labels)
    assert_array_equal(open_domains(rows[:6], [-1, 1, -1, 1, 1, -1]).classes, [-1, 1])  # two classes, as for an SVM
    assert_array_equal(open_domains(rows, labels, rows).classes, [-1, 0, 1, 2])  # with a target, -1 is a class


@given(
    domain=st.lists(st.integers(-3, 2), min_size=0, max_size=30),
    seed=st.integers(0, 1000),
    scale=st.sampled_from([int, float, np.int8]),
)
@settings(max_examples=50, deadline=None)
def test_stack_is_split_and_joined_in_the_callers_order(domain, seed, scale):
    values = np.array([*domain, *np.unique([*domain, 0, -1]).repeat(2)], dtype=int)
    sample_domain = np.random.default_rng(seed).permutation(values)
    n = len(sample_domain)
    rows, y = np.arange(2.0 * n).reshape(n, 2), np.where(sample_domain < 0, -1, np.arange(n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        domains = open_domains(rows, y, sample_domain=sample_domain.astype(scale))
    assert_array_equal(domains.join_targets([d.X for d in domains.targets]), rows[sample_domain < 0])
    assert_array_equal(domains.join_sources([d.X for d in domains.sources]), rows[sample_domain >= 0])
    labels = domains.join_sources([domains.classes[d.y] for d in domains.sources])
    assert_array_equal(labels, y[sample_domain >= 0])
    assert all((d.y == -1).all() for d in domains.targets)
    assert {d.name for d in domains.sources} == {f"source_{v}" for v in values if v >= 0}
    assert {d.name for d in domains.targets} == {f"target_{v}" for v in values if v < 0}


def test_stack_of_contiguous_domains_is_not_copied():
    domains = open_domains(X, [0, 1, 0, 1, None, 1], sample_domain=[1, 1, 1, 1, -2, -2])
    assert np.shares_memory(domains.sources[0].X, X)
    assert np.shares_memory(domains.targets[0].X, X)
    assert domains.targets[0].y.tolist() == [-1, 1]


def test_stack_may_be_sparse_or_a_frame():
    pd = pytest.importorskip("pandas")
    y = ["a", None, "b", "", "a", "b"]
    for data in (sparse.csr_array(X), pd.DataFrame(X, columns=["a", "b"], index=list("uvwxyz"))):
        domains = open_domains(data, y, sample_domain=pd.Series(STACK))
        assert domains.sources[0].y.tolist() == [0, 1, 0, 1]
        target = domains.targets[0].X
        assert_array_equal(target.toarray() if sparse.issparse(target) else target, X[[1, 3]])
    assert domains.targets[0].feature_names.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("args", "sample_domain", "words"),
    [
        ((X, Y), [0, 1, 2] * 2, r"No target samples: `sample_domain` has no negative value. Mark target rows "
                                r"with a negative domain label, e.g. -2; got labels \[0, 1, 2\]."),
        ((X, Y), [-1] * 6, r"No source samples: .* 0 or above, e.g. 1; got labels \[-1\]"),
        ((X, Y), [0, -1], r"`sample_domain` has shape \(2,\), but X has 6 rows"),
        ((X, Y), [0, 0, 0, -1.5, -1, -1], "`sample_domain` must hold integers, .* got float64 values"),
        ((X, Y), [0, 0, 0, np.nan, -1, -1], "`sample_domain` must hold integers"),
        ((X, Y), [0, 0, 0, None, -1, -1], "`sample_domain` must hold integers"),
        ((X, Y), [0, 0, 0, 10**30, -1, -1], "`sample_domain` must hold integers"),
        ((X, Y), [0, 0, 0, np.inf, -1, -1], "`sample_domain` must hold integers"),
        ((X, Y), list("ssstTT"), "`sample_domain` must hold integers"),
        ((X, Y), [True, False] * 3, "`sample_domain` must hold integers, .* got bool values"),
        ((X, Y), [0, 0, 0, 0, 0, -1], "X where `sample_domain` is -1: found 1 sample while a minimum of 2"),
        ((X, Y), [3, 0, 0, 0, -1, -1], "X where `sample_domain` is 3: found 1 sample"),
        ((X, Y, X), STACK, "X_target and y_target cannot be given with `sample_domain`"),
        ((X, Y, None, Y), STACK, "X_target and y_target cannot be given with `sample_domain`"),
        (({"a": X}, Y), STACK, "A dict cannot be given with `sample_domain`"),
        ((X, {"a": Y}), STACK, "A dict cannot be given with `sample_domain`"),
        ((X, [0, 1, 0, 1, None, 1]), STACK, "y has no label .* at row 4"),
        ((X, [0, 5, 0, 1, 1, 1]), STACK, "y holds labels unknown to the source: 5"),
        ((X, ["a", -1, "b", -1, "a", "b"]), STACK, "labels of type int, str.*mark unlabelled .* with None"),
        ((X, Y * 0), STACK, "y holds only one class, 0"),
        ((with_value(np.nan), Y), STACK, "X holds NaN at row 3, column 1"),
    ],
)  # fmt: skip
def test_stacks_refused(args, sample_domain, words):
    assert re.search(words, refusal(*args, sample_domain=sample_domain))


@given(seed=st.integers(0, 10**6), share=st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_nothing_given_is_written_to(seed, share):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b"] * 3, dtype=object)
    y_target = np.where(rng.random(6) < share, None, y)
    data = X.copy(), y, sparse.random(6, 3, density=0.5, format="csc", random_state=seed), y_target
    before = [np.array(part.toarray() if sparse.issparse(part) else part) for part in data]
    domains = open_domains(*data)
    for part, expected in zip(data, before, strict=True):
        assert_array_equal(part.toarray() if sparse.issparse(part) else part, expected)
    assert_array_equal(domains.targets[0].y, [-1 if label is None else "ab".index(label) for label in y_target])


@given(seed=st.integers(0, 10**6), names=st.permutations(["x", "y", "z"]))
@settings(max_examples=30, deadline=None)
def test_renaming_and_permuting_rows_change_labels_only_as_they_must(seed, names):
    rng = np.random.default_rng(seed)
    codes, order = np.concatenate([np.arange(3).repeat(2), rng.integers(0, 3, 6)]), rng.permutation(12)
    rows = rng.normal(size=(12, 2))
    y = np.array(names)[codes]
    plain, mixed = (
        open_domains(rows, y, rows).sources[0],
        open_domains(rows[order], y[order], rows).sources[0],
    )
    assert_array_equal(plain.y[order], mixed.y)
    assert_array_equal(np.array(sorted(names))[plain.y], y)


class LPJT(ClassifierMixin, BaseEstimator):
    """The smallest classifier behind the door, under the name that the door uses."""

    def fit(self, X, y):
        """Fit nearest centroids."""
        domains = open_domains(X, y)
        source = domains.sources[0]
        self.n_features_in_, self.classes_ = source.X.shape[1], domains.classes
        if source.feature_names is not None:
            self.feature_names_in_ = source.feature_names
        self.model_ = NearestCentroid().fit(source.X, source.y)
        return self

    def predict(self, X):
        """Predict classes."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        rows = open_rows(X, width=self.n_features_in_, feature_names=names)
        return self.classes_[self.model_.predict(rows)]

    def __sklearn_tags__(self):
        """Sparse rows are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@parametrize_with_checks([LPJT()])
def test_door_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
