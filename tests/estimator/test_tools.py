"""scikit-learn's tools around `LPJT`, and its stacks in every method."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from lpjt import LPJT
from problems import shifted_pair

X, Y, X_TARGET, Y_TARGET = shifted_pair(apart=1.5, shift=6.0)
DOMAIN = np.repeat([1, -2], [len(X), len(X_TARGET)])
ORDER = np.random.default_rng(0).permutation(len(DOMAIN))
STACK, DOMAIN = np.vstack([X, X_TARGET])[ORDER], DOMAIN[ORDER]
TRUTH = np.concatenate([Y, Y_TARGET])[ORDER]
MARKED = np.where(DOMAIN < 0, -1, TRUTH)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def make(**parameters):
    return LPJT(candidates=None, random_state=0, **parameters)


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, Y, X_TARGET)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, np.ndarray.tolist])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform"])
def test_rows_of_a_stack_are_those_of_their_domains(method, container, model):
    answer = getattr(model, method)
    found = answer(container(STACK), sample_domain=DOMAIN)
    of_source, of_target = (answer(STACK[value == DOMAIN], name) for value, name in ((1, "source"), (-2, "target")))
    assert_array_equal(found[DOMAIN == 1], of_source)
    assert_array_equal(found[DOMAIN == -2], of_target)
    assert np.any(found[DOMAIN == 1] != answer(STACK[DOMAIN == 1], "target"))
    assert found.dtype == of_target.dtype


def test_a_stack_is_embedded_as_it_is_fitted():
    fitted = make()
    Z = fitted.fit_transform(STACK, MARKED, sample_domain=DOMAIN)
    assert_array_equal(Z, fitted.transform(STACK, sample_domain=DOMAIN))
    labels = make().fit_predict(STACK, MARKED, sample_domain=DOMAIN)
    assert_array_equal(labels, fitted.transduction_)
    weights = np.where(DOMAIN < 0, 0, 1 + (MARKED == 0))
    weighted = make().fit(STACK, MARKED, sample_domain=DOMAIN, sample_weight=weights)
    found = make().fit_predict(STACK, MARKED, sample_domain=DOMAIN, sample_weight=weights)
    assert_array_equal(found, weighted.transduction_)


def test_dask_rows_are_of_one_domain(model):
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="`sample_domain` cannot be given with Dask arrays"):
        model.predict(da.from_array(STACK), sample_domain=DOMAIN)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="scikit-learn 1.7 routes nothing to a search's score",
)
def test_a_search_over_a_pipeline_passes_the_domains_on():
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), make())
        search = GridSearchCV(pipeline, {"lpjt__n_components": [1, 4]}, cv=KFold(3), error_score="raise")
        search.fit(STACK, MARKED, sample_domain=DOMAIN)
        of_target = DOMAIN < 0
        found = search.best_estimator_.predict(STACK[of_target], sample_domain=DOMAIN[of_target])
        right = search.best_estimator_.predict(STACK, sample_domain=DOMAIN) == TRUTH
        assert_allclose(search.score(STACK, TRUTH, sample_domain=DOMAIN), right.mean())
    assert search.best_params_ == {"lpjt__n_components": 4}
    assert np.mean(found == TRUTH[DOMAIN < 0]) > 0.9


def test_cross_validated_predictions():
    with config_context(enable_metadata_routing=True):
        found = cross_val_predict(make(), STACK, MARKED, cv=KFold(3), params={"sample_domain": DOMAIN})
    assert np.mean(found[DOMAIN < 0] == TRUTH[DOMAIN < 0]) > 0.8


def test_a_pipeline_without_routing_fits_as_a_classifier():
    pipeline = make_pipeline(StandardScaler(), make()).fit(X, Y)
    assert pipeline.score(X, Y) > 0.9


def test_a_clone_is_not_fitted(model):
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "classes_")


def test_a_frozen_model_keeps_its_fit(model):
    frozen = FrozenEstimator(model).fit(X[:4], Y[:4])
    assert_array_equal(frozen.predict(X_TARGET), model.predict(X_TARGET))
    assert clone(frozen) is frozen or clone(frozen).estimator is model


def test_a_fitted_model_is_calibrated_on_labelled_target_rows(model):
    few = np.arange(30)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X_TARGET[few], Y_TARGET[few])
    F = calibrated.predict_proba(X_TARGET[30:])
    assert_allclose(F.sum(axis=1), 1)
    assert np.mean(calibrated.predict(X_TARGET[30:]) == Y_TARGET[30:]) > 0.8


def test_calibration_by_cross_validation_without_a_target():
    calibrated = CalibratedClassifierCV(make(), cv=3).fit(X, Y)
    assert np.mean(calibrated.predict(X) == Y) > 0.9


def test_weights_reach_the_estimator_through_a_pipeline():
    weights = np.where(DOMAIN < 0, 1.0, np.where(MARKED == 0, 20.0, 1.0))
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), make())
        with pytest.raises(Exception, match="sample_weight"):  # nobody said whether it is meant for fit
            pipeline.fit(STACK, MARKED, sample_domain=DOMAIN, sample_weight=weights)
        pipeline[-1].set_fit_request(sample_weight=True)
        found = pipeline.fit(STACK, MARKED, sample_domain=DOMAIN, sample_weight=weights)[-1].label_distributions_
        plain = pipeline.fit(STACK, MARKED, sample_domain=DOMAIN)[-1].label_distributions_
    assert np.abs(found - plain).max() > 1e-3


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_embeddings_are_frames_where_asked_for(library, kind):
    model = make().set_output(transform=library)
    model.fit(X, Y, X_TARGET)
    for Z in (model.transform(X_TARGET), model.transform(STACK, sample_domain=DOMAIN)):
        assert isinstance(Z, kind)
        assert list(Z.columns) == list(model.get_feature_names_out())
    assert isinstance(make().set_output(transform=library).fit_transform(X, Y, X_TARGET), kind)
    stacked = make().set_output(transform=library).fit_transform(STACK, MARKED, sample_domain=DOMAIN)
    assert isinstance(stacked, kind)
    assert len(stacked) == len(STACK)


def test_an_embedding_in_front_of_a_classifier():
    with config_context(enable_metadata_routing=True):
        Z = make().fit_transform(STACK, MARKED, sample_domain=DOMAIN)
    rule = LogisticRegression().fit(Z[DOMAIN > 0], TRUTH[DOMAIN > 0])
    assert rule.score(Z[DOMAIN < 0], TRUTH[DOMAIN < 0]) > 0.9
