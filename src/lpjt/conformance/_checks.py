"""The checks. Each takes an estimator and the number of labelled target rows per class, and raises if it fails."""

import inspect
import pickle
from dataclasses import replace
from typing import Any, Protocol
from unittest import SkipTest

import numpy as np
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from lpjt.conformance._domains import (
    agreement,
    assert_easy,
    assert_same,
    few_labels,
    fit,
    fit_inputs,
    frozen,
    inputs_for,
    labels_of,
    make_pair,
    new,
    quiet,
    relabelled,
)


class Check(Protocol):
    """A check of an estimator."""

    __name__: str

    def __call__(self, estimator: Any, target_labels: int) -> None:
        """Raise if the estimator fails it."""


def check_labels_an_easy_target(estimator: Any, target_labels: int) -> None:
    """A target that needs no adaptation is labelled right, with one label per row."""
    pair = make_pair(target_labels)
    model = fit(estimator, pair)
    assert labels_of(model, pair.X_target).shape == (len(pair.truth),)
    assert_easy(model, pair)


def check_clone_keeps_parameters(estimator: Any, target_labels: int) -> None:
    """`clone` works, and a fit changes no parameter."""
    model = new(estimator)
    before = {name: repr(value) for name, value in clone(model).get_params(deep=False).items()}
    fitted = fit(model, make_pair(target_labels))
    after = {name: repr(value) for name, value in clone(fitted).get_params(deep=False).items()}
    assert before == after, f"changed by fit: {[name for name in before if before[name] != after.get(name)]}"


def check_not_fitted_is_said(estimator: Any, target_labels: int) -> None:
    """`predict` before `fit` raises NotFittedError."""
    try:
        labels_of(new(estimator), make_pair(target_labels).X_target)
    except NotFittedError:
        return
    except Exception as error:
        raise AssertionError(f"predict before fit raised {type(error).__name__}, not NotFittedError") from error
    raise AssertionError("predict before fit raised nothing")


def check_order_of_target_rows(estimator: Any, target_labels: int) -> None:
    """Target rows in another order get the same labels."""
    pair = make_pair(target_labels)
    order = np.random.default_rng(1).permutation(len(pair.truth))
    given = None if pair.y_target is None else pair.y_target[order]
    turned = replace(pair, X_target=pair.X_target[order], truth=pair.truth[order], y_target=given)
    first, second = (labels_of(fit(estimator, p), pair.X_target) for p in (pair, turned))
    assert_same(first, second, "target rows in another order")


def check_order_of_source_rows(estimator: Any, target_labels: int) -> None:
    """Source rows in another order give the same labels."""
    pair = make_pair(target_labels)
    order = np.random.default_rng(1).permutation(len(pair.y))
    turned = replace(pair, X=pair.X[order], y=pair.y[order])
    first, second = (labels_of(fit(estimator, p), pair.X_target) for p in (pair, turned))
    assert_same(first, second, "source rows in another order")


def check_untouched_inputs(estimator: Any, target_labels: int) -> None:
    """Neither fit nor predict writes to what it is given."""
    pair = make_pair(target_labels)
    inputs = inputs_for(estimator, pair)
    before = {name: value.copy() for name, value in inputs.items()}
    labels_of(fit_inputs(estimator, inputs), pair.X_target)
    for name, value in before.items():
        assert_array_equal(inputs[name], value, err_msg=f"{name} was changed")
    assert_array_equal(pair.X_target, make_pair(target_labels).X_target, err_msg="predict changed its rows")


def check_read_only_inputs(estimator: Any, target_labels: int) -> None:
    """Arrays that cannot be written to are accepted."""
    pair = make_pair(target_labels)
    locked = {name: frozen(value) for name, value in inputs_for(estimator, pair).items()}
    assert_easy(fit_inputs(estimator, locked), replace(pair, X_target=frozen(pair.X_target)))


def check_no_leak_of_target_labels(estimator: Any, target_labels: int) -> None:
    """Marks of unlabelled rows are no labels, and `score` teaches nothing."""
    pair = make_pair(target_labels)
    model = fit(estimator, pair)
    assert -1 not in np.asarray(getattr(model, "classes_", [])).tolist(), "-1, the mark of unlabelled rows, is a class"
    first = labels_of(model, pair.X_target)
    assert -1 not in first.tolist(), "-1, the mark of unlabelled rows, was predicted"
    if hasattr(model, "score"):
        with quiet():
            model.score(pair.X_target, (pair.truth + 1) % 3)
        assert_array_equal(labels_of(model, pair.X_target), first, err_msg="score changed the labels")
    if not target_labels and "y_target" in inspect.signature(model.fit).parameters:
        marked = fit(estimator, replace(pair, y_target=np.full(len(pair.truth), -1)))
        assert_same(labels_of(marked, pair.X_target), first, "rows marked as unlabelled, against no labels at all")


def check_given_target_labels_are_kept(estimator: Any, target_labels: int) -> None:
    """Labelled target rows keep their label in `transduction_`, even an odd one."""
    if "y_target" not in inspect.signature(estimator.fit).parameters:
        raise SkipTest("fit takes no labels of target rows")
    pair = make_pair()
    given = few_labels(pair.truth, max(target_labels, 3))
    assert given is not None
    odd = int(np.flatnonzero(given == 0)[0])
    given[odd] = 1
    model = fit(estimator, replace(pair, y_target=given))
    if not hasattr(model, "transduction_"):
        raise SkipTest("there is no `transduction_`")
    assert_array_equal(model.transduction_[given >= 0], given[given >= 0])


def check_dtypes(estimator: Any, target_labels: int) -> None:
    """float32, float64 and integer rows are accepted, and of the same numbers get the same labels."""
    pair = make_pair(target_labels)
    whole = replace(pair, X=np.round(pair.X), X_target=np.round(pair.X_target))
    expected = labels_of(fit(estimator, whole), whole.X_target)
    for dtype in (np.float32, np.int64, np.int32):
        other = replace(whole, X=whole.X.astype(dtype), X_target=whole.X_target.astype(dtype))
        found = labels_of(fit(estimator, other), other.X_target)
        assert_same(found, expected, f"{np.dtype(dtype).name} rows")


def check_memory_layouts(estimator: Any, target_labels: int) -> None:
    """Fortran order and strided rows get the same labels."""
    pair = make_pair(target_labels)
    expected = labels_of(fit(estimator, pair), pair.X_target)
    strided = np.repeat(pair.X_target, 2, axis=0)[::2]
    other = replace(pair, X=np.asfortranarray(pair.X), X_target=strided)
    assert_same(labels_of(fit(estimator, other), strided), expected, "rows in another memory layout")


def check_sparse(estimator: Any, target_labels: int) -> None:
    """Sparse rows get the labels of dense ones, or are refused by an error that says "sparse"."""
    pair = make_pair(target_labels)
    rows = replace(pair, X=sparse.csr_array(pair.X), X_target=sparse.csr_array(pair.X_target))
    try:
        found = labels_of(fit(estimator, rows), rows.X_target)
    except (TypeError, ValueError) as error:
        if "sparse" in str(error).lower():
            return
        raise AssertionError(f"sparse rows were refused by another error: {error}") from error
    assert_same(found, labels_of(fit(estimator, pair), pair.X_target), "sparse rows")


def check_frames(estimator: Any, target_labels: int) -> None:
    """Frames, of pandas, are accepted, with the labels that arrays get."""
    try:
        import pandas as pd
    except ImportError:
        raise SkipTest("pandas is not installed") from None
    if "X_target" not in inspect.signature(estimator.fit).parameters:
        raise SkipTest("the rows of all domains are given as one stack")
    pair = make_pair(target_labels)
    names = [f"column{i}" for i in range(6)]
    framed = replace(pair, X=pd.DataFrame(pair.X, columns=names), X_target=pd.DataFrame(pair.X_target, columns=names))
    found = labels_of(fit(estimator, framed), framed.X_target)
    assert_same(found, labels_of(fit(estimator, pair), pair.X_target), "pandas frames")


def check_string_labels(estimator: Any, target_labels: int) -> None:
    """Labels that are strings are returned as strings, and row by row those of integers."""
    _compare_names(estimator, target_labels, np.array(["ant", "bee", "cat"]))


def check_any_integers_as_labels(estimator: Any, target_labels: int) -> None:
    """Labels need not be 0, 1, 2."""
    _compare_names(estimator, target_labels, np.array([3, 7, 40]))


def _compare_names(estimator: Any, target_labels: int, names: Any) -> None:
    pair = make_pair(target_labels)
    named = relabelled(pair, names)
    found = labels_of(fit(estimator, named), pair.X_target)
    assert set(found.tolist()) <= set(names.tolist()), f"labels that were never given: {sorted(set(found.tolist()))}"
    assert_same(found, names[labels_of(fit(estimator, pair), pair.X_target)], "labels of other names")


def check_missing_class(estimator: Any, target_labels: int) -> None:
    """A target that lacks a class of the source is labelled all the same."""
    pair = make_pair(target_labels, target_counts=(20, 25, 0))
    assert_easy(fit(estimator, pair), pair)


def check_label_shift(estimator: Any, target_labels: int) -> None:
    """A target with other proportions of the classes than the source is labelled all the same."""
    pair = make_pair(target_labels, counts=(20, 20, 20), target_counts=(36, 5, 4))
    assert_easy(fit(estimator, pair), pair)


def check_unequal_sizes(estimator: Any, target_labels: int) -> None:
    """A target much smaller than the source, and one much larger."""
    for target_counts in ((5, 5, 5), (50, 50, 50)):
        pair = make_pair(target_labels, target_counts=target_counts)
        assert_easy(fit(estimator, pair), pair)


def check_constant_column(estimator: Any, target_labels: int) -> None:
    """A column without variance is no obstacle."""
    pair = make_pair(target_labels)
    X, X_target = pair.X.copy(), pair.X_target.copy()
    X[:, 5] = X_target[:, 5] = 3.0
    pair = replace(pair, X=X, X_target=X_target)
    assert_easy(fit(estimator, pair), pair)


def check_new_rows(estimator: Any, target_labels: int) -> None:
    """Rows of the target that were not in fit are labelled, each alone as among others."""
    pair, later = make_pair(target_labels), make_pair(seed=1)
    model = fit(estimator, pair)
    together = labels_of(model, later.X_target)
    alone = np.concatenate([labels_of(model, later.X_target[i : i + 1]) for i in range(12)])
    assert_same(alone, together[:12], "new rows one by one")
    share = agreement(together, later.truth)
    assert share >= 0.8, f"{100 * share:.0f} % of the new rows are labelled right"


def check_repeated_fits(estimator: Any, target_labels: int) -> None:
    """The same seed gives the same labels, and a second fit forgets the first."""
    pair, other = make_pair(target_labels), make_pair(target_labels, seed=3)
    expected = labels_of(fit(estimator, pair), pair.X_target)
    assert_array_equal(labels_of(fit(estimator, pair), pair.X_target), expected, err_msg="two fits of one seed differ")
    again = fit(fit(estimator, other), pair)
    assert_array_equal(labels_of(again, pair.X_target), expected, err_msg="a fit depends on the one before")


def check_pickle(estimator: Any, target_labels: int) -> None:
    """A fitted estimator can be pickled, and predicts the same afterwards."""
    pair = make_pair(target_labels)
    model = fit(estimator, pair)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(labels_of(again, pair.X_target), labels_of(model, pair.X_target))


def check_probabilities(estimator: Any, target_labels: int) -> None:
    """`predict_proba`, if there is one: rows sum to 1, and the largest is the label."""
    pair = make_pair(target_labels)
    model = fit(estimator, pair)
    if not hasattr(model, "predict_proba"):
        raise SkipTest("there is no predict_proba")
    with quiet():
        F = np.asarray(model.predict_proba(pair.X_target))
    assert F.shape == (len(pair.truth), 3), f"predict_proba has shape {F.shape}"
    assert np.all(F >= 0), "negative probabilities"
    np.testing.assert_allclose(F.sum(axis=1), 1, atol=1e-6)
    classes = np.asarray(getattr(model, "classes_", np.arange(3)))
    assert_same(classes[F.argmax(axis=1)], labels_of(model, pair.X_target), "the largest probability, against predict")


def check_missing_values_are_refused(estimator: Any, target_labels: int) -> None:
    """NaN in the target is an error that says so."""
    pair = make_pair(target_labels)
    X_target = pair.X_target.copy()
    X_target[3, 2] = np.nan
    try:
        fit(estimator, replace(pair, X_target=X_target))
    except ValueError as error:
        if any(word in str(error) for word in ("NaN", "nan", "missing")):
            return
        raise AssertionError(f"the error does not name NaN: {error}") from error
    raise AssertionError("a target with NaN was fitted without an error")


def check_other_widths_are_refused(estimator: Any, target_labels: int) -> None:
    """`predict` on rows of another width is a ValueError."""
    pair = make_pair(target_labels)
    model = fit(estimator, pair)
    try:
        labels_of(model, pair.X_target[:, :4])
    except ValueError:
        return
    raise AssertionError("rows of another width were labelled without an error")
