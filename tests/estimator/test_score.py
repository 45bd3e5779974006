"""`score` counts labelled rows alone, each as a row of its own domain, under scikit-learn's tools too."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from lpjt import LPJT
from problems import shifted_pair

X, Y, X_TARGET, Y_TARGET = shifted_pair(apart=1.5, shift=6.0)
DOMAIN = np.repeat([1, -2], [len(X), len(X_TARGET)])
STACK, Y_STACK = np.vstack([X, X_TARGET]), np.concatenate([Y, Y_TARGET])


def fit(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LPJT(random_state=0, max_iter=2).fit(*args, **kwargs)


@pytest.fixture(scope="module")
def model():
    return fit(X, Y, X_TARGET)


@pytest.fixture(scope="module")
def expected(model):
    """Accuracy on the first 30 target rows, neither 0 nor 1."""
    found = np.mean(model.predict(X_TARGET[:30]) == Y_TARGET[:30])
    assert 0.3 < found < 1
    return found


def marked(mark, dtype=object):
    y = Y_TARGET.astype(dtype)
    y[30:] = mark
    return y


MARKS = {
    "-1": marked(-1, int),
    "-1.0": marked(-1, float),
    "NaN": marked(np.nan, float),
    "None": marked(None),
    "NaN among objects": marked(np.nan),
    "list": marked(None).tolist(),
    "pandas": pd.Series(marked(pd.NA), dtype="Int64"),
}


@pytest.mark.parametrize("y", MARKS.values(), ids=MARKS)
def test_unlabelled_rows_are_left_out(y, model, expected):
    assert_allclose(model.score(X_TARGET, y), expected)


def test_every_row_counts_where_all_are_labelled(model):
    assert_allclose(model.score(X_TARGET, Y_TARGET), np.mean(model.predict(X_TARGET) == Y_TARGET))
    assert_allclose(model.score(X, Y, domain="source"), np.mean(model.predict(X, "source") == Y))


def test_a_class_unknown_to_the_source_is_wrong(model):
    assert model.score(X_TARGET, np.full(len(X_TARGET), 7)) == 0


def test_minus_one_counts_where_it_is_a_class():
    signs = np.where(Y == 0, -1, Y)
    found = fit(X, signs, X_TARGET)
    right = found.predict(X_TARGET) == np.where(Y_TARGET == 0, -1, Y_TARGET)
    assert_allclose(found.score(X_TARGET, np.where(Y_TARGET == 0, -1, Y_TARGET)), right.mean())


def test_strings_have_marks_of_their_own(expected):
    words = np.array(["a", "b", "c"])
    found = fit(X, words[Y], X_TARGET)
    for mark in (None, ""):
        y = words[Y_TARGET].astype(object)
        y[30:] = mark
        assert_allclose(found.score(X_TARGET, y), expected)


@pytest.mark.parametrize("y", [np.full(75, -1), np.full(75, np.nan), [None] * 75], ids=["-1", "NaN", "None"])
def test_nothing_to_score_is_an_error_with_a_remedy(y, model):
    with pytest.raises(ValueError, match=r"y has no label to score.*Give the labels of some rows; LPJTSearch chooses"):
        model.score(X_TARGET, y)


def test_weights_are_those_of_the_scored_rows(model):
    weights = np.random.default_rng(0).uniform(size=75)
    right = (model.predict(X_TARGET) == Y_TARGET)[:30]
    found = model.score(X_TARGET, MARKS["NaN"], sample_weight=weights)
    assert_allclose(found, np.average(right, weights=weights[:30]))
    assert_allclose(model.score(X_TARGET, MARKS["NaN"], sample_weight=weights.tolist()), found)
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\), but X has 75 rows"):
        model.score(X_TARGET, Y_TARGET, sample_weight=np.ones(3))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame, np.ndarray.tolist])
def test_rows_of_a_stack_are_scored_in_their_own_domains(container, model):
    right = np.concatenate([model.predict(X, "source") == Y, model.predict(X_TARGET) == Y_TARGET])
    all_as_target = np.mean(model.predict(STACK) == Y_STACK)
    assert abs(right.mean() - all_as_target) > 0.1  # the domains are apart
    order = np.random.default_rng(0).permutation(len(STACK))
    rows, y, domain = container(STACK[order]), Y_STACK[order], DOMAIN[order]
    assert_allclose(model.score(rows, y, sample_domain=domain), right.mean())
    y = np.where((domain < 0) & (np.arange(len(y)) % 2 == 0), -1, y)
    assert_allclose(model.score(rows, y, sample_domain=domain.tolist()), right[order][y >= 0].mean())
    of_target = model.score(rows, y, sample_domain=domain, sample_weight=domain < 0)
    assert_allclose(of_target, right[order][(y >= 0) & (domain < 0)].mean())


def test_rows_of_one_side_alone_can_be_scored(model):
    found = model.score(X, Y, sample_domain=np.ones(len(X), dtype=int))
    assert_allclose(found, model.score(X, Y, domain="source"))
    found = model.score(X_TARGET[:1], Y_TARGET[:1], sample_domain=[-2])
    assert found == float(model.predict(X_TARGET[:1])[0] == Y_TARGET[0])


def test_several_sources_of_a_stack():
    domain = DOMAIN.copy()
    domain[:45] = 4
    found = fit(STACK, np.where(domain < 0, -1, Y_STACK), sample_domain=domain)
    parts = [found.predict(STACK[domain == v], name) for v, name in ((4, "source_4"), (1, "source_1"))]
    right = np.concatenate([*parts, found.predict(X_TARGET)]) == Y_STACK
    assert_allclose(found.score(STACK, Y_STACK, sample_domain=domain), right.mean())
    domain[0] = 9
    with pytest.raises(ValueError, match="domain='source_9' is not one of the domains of fit"):
        found.score(STACK, Y_STACK, sample_domain=domain)
    with pytest.raises(ValueError, match="`sample_domain` must hold integers"):
        found.score(STACK, Y_STACK, sample_domain=domain + 0.5)


def search(y, **options):
    """Results of a search over a shuffled stack, its scores with each row's own domain."""
    order = np.random.default_rng(0).permutation(len(STACK))
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(random_state=0, max_iter=2)  # asks for sample_domain by itself
        grid = GridSearchCV(model, {"n_components": [2, 4]}, error_score="raise", **options)
        return grid.fit(STACK[order], y[order], sample_domain=DOMAIN[order]), order


def test_a_grid_search_scores_labelled_rows_alone():
    cv = KFold(3)
    y = np.where(DOMAIN < 0, -1, Y_STACK)
    grid, order = search(y, cv=cv)
    rows, labels, domain = STACK[order], y[order], DOMAIN[order]
    for fold, (train, test) in enumerate(cv.split(rows)):
        best = LPJT(random_state=0, max_iter=2, n_components=4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best.fit(rows[train], labels[train], sample_domain=domain[train])
        source = test[domain[test] > 0]
        right = best.predict(rows[source], "source") == labels[source]
        assert_allclose(grid.cv_results_[f"split{fold}_test_score"][1], right.mean())


def test_marks_that_are_not_numbers_can_be_searched():
    expected = search(np.where(DOMAIN < 0, -1, Y_STACK), cv=KFold(3))[0].cv_results_["mean_test_score"]
    for mark in (np.nan, None):
        y = np.where(DOMAIN < 0, mark, Y_STACK.astype(object))
        assert_allclose(search(y, cv=KFold(3))[0].cv_results_["mean_test_score"], expected)


def test_target_rows_alone_can_be_judged_by_weights():
    y = np.where((DOMAIN < 0) & (np.arange(len(DOMAIN)) % 3 > 0), -1, Y_STACK)
    order = np.random.default_rng(0).permutation(len(STACK))
    cv = KFold(3)
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(random_state=0, max_iter=2).set_fit_request(sample_weight=False)
        model.set_score_request(sample_weight=True)
        params = {"sample_domain": DOMAIN[order], "sample_weight": (DOMAIN[order] < 0).astype(float)}
        found = cross_validate(model, STACK[order], y[order], cv=cv, params=params, return_estimator=True)
    for fold, (_, test) in enumerate(cv.split(STACK)):
        judged = order[test][(DOMAIN[order[test]] < 0) & (y[order[test]] >= 0)]
        right = found["estimator"][fold].predict(STACK[judged]) == y[judged]
        assert_allclose(found["test_score"][fold], right.mean())
