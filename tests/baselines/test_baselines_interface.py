"""What all baselines have in common: labels, dtypes, sparse rows, refusals, and fits without a target."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from lpjt import baselines
from lpjt.baselines import (
    CORAL,
    GFK,
    LSSA,
    PCASVM,
    SA,
    SDA,
    LinearSVM,
    NearestNeighbor,
    OptimalTransport,
    TargetPropagation,
    TargetSVM,
)
from problems import masked, shifted_pair, widened

EQUAL_WIDTHS = [
    NearestNeighbor(),
    LinearSVM(),
    LinearSVM(C=1.0, form="svm"),
    LinearSVM(form="nu-svm"),
    SA(n_components=4),
    SA(n_components=4, classifier="svm", C=1.0),
    SA(n_components=4, classifier="nu-svm"),
    SDA(n_components=4),
    LSSA(n_components=4, C=1.0),
    GFK(n_components=3),
    GFK(n_components=3, subspace="pls"),
    CORAL(C=1.0),
    OptimalTransport(),
]
ANY_WIDTHS = [PCASVM(n_components=4, C=1.0), PCASVM(n_components=4, joint=False, classifier="nn")]
NEEDY = [TargetSVM(), TargetPropagation(n_neighbors=5)]
ALL = [*EQUAL_WIDTHS, *ANY_WIDTHS, *NEEDY]


def words(model):
    return repr(model).replace("\n", "")


every = pytest.mark.parametrize("model", ALL, ids=words)


def few(model, y_target):
    """Labels for a model that needs some, None for the others."""
    return masked(y_target, 3) if model._needs_target_labels else None


@every
def test_labels_are_the_callers_whatever_their_dtype(model):
    X, y, X_target, y_target = shifted_pair()
    names = np.array(["cat", "dog", "yak"])
    codes = clone(model).fit(X, y, X_target, few(model, y_target))
    given = few(model, y_target)
    given = None if given is None else [None if code < 0 else names[code] for code in given]
    found = clone(model).fit(X, names[y], X_target, given)
    assert_array_equal(found.transduction_, names[codes.transduction_])
    assert_array_equal(found.classes_, names)
    assert found.predict(X_target[:5]).dtype == names.dtype


@every
def test_most_labels_are_right_where_the_shift_is_small(model):
    X, y, X_target, y_target = shifted_pair(shift=0.2)
    found = clone(model).fit_predict(X, y, X_target, few(model, y_target))
    # Components of domains that are not aligned mean nothing to each other.
    least = 0.2 if getattr(model, "joint", "auto") is False else 0.85
    assert np.mean(found == y_target) >= least


@every
def test_rows_may_come_in_any_order(model):
    X, y, X_target, y_target = shifted_pair(seed=3)
    rng = np.random.default_rng(0)
    rows, places = rng.permutation(len(X)), rng.permutation(len(X_target))
    given = few(model, y_target)
    found = clone(model).fit(X, y, X_target, given).transduction_
    again = clone(model).fit(X[rows], y[rows], X_target[places], None if given is None else given[places])
    assert_array_equal(again.transduction_, found[places])


@every
def test_rows_of_fit_are_predicted_as_they_were_labelled(model):
    X, y, X_target, y_target = shifted_pair(seed=1)
    given = few(model, y_target)
    fitted = clone(model).fit(X, y, X_target, given)
    unlabelled = slice(None) if given is None else given < 0
    assert_array_equal(fitted.predict(X_target)[unlabelled], fitted.transduction_[unlabelled])
    assert_array_equal(fitted.predict(X_target[7:9]), fitted.predict(X_target)[7:9])
    assert fitted.predict(X_target[:1] + 1e-9).shape == (1,)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X_target), fitted.predict(X_target))


@every
def test_given_labels_are_kept(model):
    X, y, X_target, y_target = shifted_pair(seed=2)
    wrong = masked((y_target + 1) % 3, 4)
    found = clone(model).fit(X, y, X_target, wrong).transduction_
    assert_array_equal(found[wrong >= 0], wrong[wrong >= 0])


@every
def test_inputs_are_not_written(model):
    X, y, X_target, y_target = shifted_pair()
    given = few(model, y_target)
    before = [X.copy(), y.copy(), X_target.copy()]
    for array in (X, y, X_target):
        array.setflags(write=False)
    fitted = clone(model).fit(X, y, X_target, given)
    fitted.predict(X_target)
    for array, copy in zip((X, y, X_target), before, strict=True):
        assert_array_equal(array, copy)


@every
def test_single_precision_gives_the_same_labels(model):
    X, y, X_target, y_target = shifted_pair(shift=0.2, apart=6.0)
    given = few(model, y_target)
    double = clone(model).fit(X, y, X_target, given)
    single = clone(model).fit(X.astype(np.float32), y, X_target.astype(np.float32), given)
    assert np.mean(single.transduction_ == double.transduction_) >= 0.98
    if hasattr(single, "transform"):
        assert single.transform(X_target.astype(np.float32)).dtype == np.float32


@every
@pytest.mark.parametrize("scaling", [None, "standard"])
def test_sparse_rows_are_taken(model, scaling):
    X, y, X_target, y_target = shifted_pair()
    given = few(model, y_target)
    model = clone(model).set_params(scaling=scaling or model.scaling)
    dense = clone(model).fit(X, y, X_target, given).transduction_
    found = clone(model).fit(sparse.csr_matrix(X), y, sparse.csr_matrix(X_target), given).transduction_
    assert_array_equal(found, dense)


@pytest.mark.parametrize("model", EQUAL_WIDTHS, ids=words)
def test_other_widths_are_refused_in_words(model):
    X, y, X_target, _ = shifted_pair()
    with pytest.raises(ValueError) as caught:
        clone(model).fit(X, y, widened(X_target, 11))
    assert f"{type(model).__name__} needs domains of one width" in str(caught.value)
    assert "source has 8 columns and the target 11" in str(caught.value)


@pytest.mark.parametrize("model", [*ANY_WIDTHS, *NEEDY], ids=words)
def test_other_widths_are_taken_where_the_method_can(model):
    X, y, X_target, y_target = shifted_pair()
    fitted = clone(model).fit(X, y, widened(X_target, 11), masked(y_target, 3))
    assert fitted.n_features_in_ == 11
    assert fitted.predict(widened(X_target, 11)).shape == y_target.shape


@pytest.mark.parametrize("model", NEEDY, ids=words)
def test_missing_target_labels_are_refused_in_words(model):
    X, y, X_target, _ = shifted_pair()
    for given in (None, np.full(len(X_target), -1)):
        with pytest.raises(ValueError) as caught:
            clone(model).fit(X, y, X_target, given)
        assert f"{type(model).__name__} learns from labelled target rows" in str(caught.value)


@pytest.mark.parametrize("model", [model for model in ALL if hasattr(model, "n_components")], ids=words)
def test_more_components_than_rows_or_columns_are_reduced(model):
    X, y, X_target, _ = shifted_pair(width=30)
    with pytest.warns(RuntimeWarning, match="half of the 30") if isinstance(model, GFK) else nullcontext():
        fitted = clone(model).set_params(n_components=500).fit(X, y, X_target[:9])
    assert np.isfinite(fitted.transform(X_target)).all()
    assert fitted.transform(X, "source").shape[1] == fitted.transform(X_target).shape[1]


# Fits without a target.

public = pytest.mark.parametrize("name", baselines.__all__)


@public
def test_without_a_target_a_baseline_is_a_classifier_of_the_source(name):
    X, y, X_new, y_new = shifted_pair(shift=0.0, apart=6.0)
    labels = np.array(["ash", "beech", "cedar"])
    model = getattr(baselines, name)()
    if name == "GFK":
        model.set_params(n_components=3)
    found = model.fit_predict(X, labels[y])
    assert np.mean(found == labels[y]) > 0.9
    assert model.transduction_ is None
    assert np.mean(model.predict(X_new) == labels[y_new]) > 0.9
    if hasattr(model, "transform"):
        assert_array_equal(model.transform(X, "source"), model.transform(X, "target"))
        assert_allclose(model.fit_transform(X, labels[y]), model.transform(X))


@pytest.mark.parametrize("name", [name for name in baselines.__all__ if hasattr(getattr(baselines, name), "transform")])
def test_fit_transform_embeds_the_source_and_columns_have_names(name):
    X, y, X_target, y_target = shifted_pair()
    model = getattr(baselines, name)()
    model.set_params(**{"n_components": 2} if "n_components" in model.get_params() else {})
    embedded = model.fit_transform(X, y, X_target, masked(y_target, 3))
    assert_allclose(embedded, model.transform(X, "source"))
    names = model.get_feature_names_out()
    assert len(names) == embedded.shape[1]
    assert names[0] == f"{name.lower()}0"
    with pytest.raises(ValueError, match=r"domain='middle' is not a domain of fit. Give 'source' or 'target'"):
        model.transform(X, "middle")


@public
def test_columns_of_a_frame_are_remembered_until_the_next_fit(name):
    pandas = pytest.importorskip("pandas")
    X, y, X_target, y_target = shifted_pair()
    columns = [f"c{i}" for i in range(8)]
    model = getattr(baselines, name)()
    if name == "GFK":
        model.set_params(n_components=3)
    given = masked(y_target, 3)
    frames = [pandas.DataFrame(rows, columns=columns) for rows in (X, X_target)]
    model.fit(frames[0], y, frames[1], given)
    assert model.feature_names_in_.tolist() == columns
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frames[1].rename(columns={"c0": "other"}))
    model.fit(X, y, X_target, given)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 8
