"""skada's pipelines, cross-validation and scorers on `LPJT`, with skada itself."""

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.preprocessing import StandardScaler

from lpjt import LPJT
from problems import shifted_pair

with config_context():  # importing skada turns metadata routing on for the whole process
    skada = pytest.importorskip("skada", reason="needs skada: pip install 'lpjt[skada]'")
    metrics = pytest.importorskip("skada.metrics")
    from skada.model_selection import SourceTargetShuffleSplit, StratifiedDomainShuffleSplit

X, Y, X_TARGET, Y_TARGET = shifted_pair(apart=1.5)
STACK, DOMAIN = np.vstack([X, X_TARGET]), np.repeat([1, -2], [len(X), len(X_TARGET)])
TRUTH = np.concatenate([Y, Y_TARGET])
MARKED = np.where(DOMAIN < 0, -1, TRUTH)
OF_TARGET = np.full(len(X_TARGET), -2)

#: Every scorer of skada, and the two that take no estimator but a pipeline or a network.
SCORERS = {
    name: cls
    for name, cls in vars(metrics).items()
    if inspect.isclass(cls) and cls.__module__ == metrics.__name__ and not name.startswith("_")
}
PIPELINES_ALONE = {"DeepEmbeddedValidation", "MaNoScorer"}


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def make(**parameters):
    model = LPJT(candidates=None, max_iter=2, random_state=0, **parameters)
    return model.set_score_request(sample_weight=True)  # which ImportanceWeightedScorer asks of every estimator


def scores(estimator, scorer):
    labels = {"target_labels": TRUTH} if isinstance(scorer, metrics.SupervisedScorer) else {}
    cv = SourceTargetShuffleSplit(n_splits=2, test_size=0.3, random_state=0)
    params = {"sample_domain": DOMAIN, **labels}
    found = cross_validate(estimator, STACK, MARKED, params=params, cv=cv, scoring=scorer, error_score="raise")
    return found["test_score"]


def make_scorer(name):
    seeded = "random_state" in inspect.signature(SCORERS[name]).parameters
    return SCORERS[name](**({"random_state": 0} if seeded else {}))


def test_the_scorers_are_found():
    assert len(SCORERS) >= 8
    assert set(SCORERS) > PIPELINES_ALONE


@pytest.mark.parametrize("name", SCORERS)
def test_every_scorer_works_in_a_pipeline(name):
    found = scores(skada.make_da_pipeline(StandardScaler(), make()), make_scorer(name))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("name", sorted(set(SCORERS) - PIPELINES_ALONE))
def test_scorers_work_without_a_pipeline(name):
    assert np.isfinite(scores(make(), make_scorer(name))).all()


@pytest.mark.parametrize("name", sorted(PIPELINES_ALONE))
def test_what_skada_takes_for_a_network_needs_a_pipeline(name):
    """skada asks any estimator that is no Pipeline for `module_`, the network; a pipeline of one step has none."""
    with pytest.raises(AttributeError, match="module_"):
        scores(make(), make_scorer(name))
    assert np.isfinite(scores(skada.make_da_pipeline(make()), make_scorer(name))).all()


def test_the_supervised_scorer_is_the_accuracy_on_the_target():
    pipeline = skada.make_da_pipeline(make()).fit(STACK, MARKED.copy(), sample_domain=DOMAIN)
    scorer = metrics.SupervisedScorer()
    found = scorer(pipeline, STACK, MARKED, sample_domain=DOMAIN, target_labels=TRUTH)
    assert_allclose(found, np.mean(pipeline.predict(X_TARGET, sample_domain=OF_TARGET) == Y_TARGET))
    assert found > 0.9


def test_a_pipeline_is_the_estimator_on_the_same_rows():
    pipeline = skada.make_da_pipeline(make()).fit(STACK, MARKED.copy(), sample_domain=DOMAIN)
    alone = make().fit(X, Y, X_TARGET)
    for method in ("predict", "predict_proba", "transform"):
        found = getattr(pipeline, method)(X_TARGET, sample_domain=OF_TARGET)
        assert_allclose(found, getattr(alone, method)(X_TARGET), atol=1e-6)
    found = pipeline.predict(STACK, sample_domain=DOMAIN)
    assert_array_equal(found, np.concatenate([alone.predict(X, "source"), alone.predict(X_TARGET)]))


def test_parameters_are_searched_without_target_labels():
    grid = {"lpjt__n_components": [1, 4]}
    cv = StratifiedDomainShuffleSplit(n_splits=2, random_state=0)
    search = GridSearchCV(
        skada.make_da_pipeline(StandardScaler(), make()), grid, cv=cv, scoring=metrics.PredictionEntropyScorer()
    )
    search.fit(STACK, MARKED, sample_domain=DOMAIN)
    found = search.cv_results_["mean_test_score"]
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0  # the parameter reaches the estimator
    assert search.best_params_ == {"lpjt__n_components": [1, 4][int(np.argmax(found))]}


def test_a_step_before_a_classifier_embeds_each_row_in_its_own_domain():
    pipeline = skada.make_da_pipeline(make(), LogisticRegression()).fit(STACK, MARKED.copy(), sample_domain=DOMAIN)
    assert np.mean(pipeline.predict(X_TARGET, sample_domain=OF_TARGET) == Y_TARGET) > 0.9


def test_weights_of_skadas_adapters_are_sample_weights():
    """Which are zero for target rows."""
    adapter = skada.NearestNeighborReweightAdapter()
    weighted = make().set_fit_request(sample_weight=True)
    pipeline = skada.make_da_pipeline(adapter, weighted).fit(STACK, MARKED.copy(), sample_domain=DOMAIN)
    found = pipeline.predict_proba(X_TARGET, sample_domain=OF_TARGET)
    unweighted = make().fit(X, Y, X_TARGET).predict_proba(X_TARGET)
    assert found.shape == unweighted.shape
    assert np.abs(found - unweighted).max() > 1e-3
