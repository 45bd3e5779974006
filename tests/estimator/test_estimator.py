"""Every mode of the estimator, on domains small enough to read."""

import pickle
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from lpjt import LPJT, Kernel, Propagation
from problems import masked, one_setting, shifted_pair, widened


@pytest.fixture
def pair():
    return shifted_pair()


def fit(*args, sample_domain=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make = parameters.pop("make", one_setting)
        return make(**{"random_state": 0, **parameters}).fit(*args, sample_domain=sample_domain)


MODES = {
    "default": {"make": LPJT},
    "one setting": {},
    "landmarks": {"landmark_ratio": 0.5},
    "binary graphs": {"graph_weights": "binary"},
    "fixed bandwidth": {"graph_weights": 0.3},
    "no coupling": {"coupling_weight": 0.0},
    "harmonic": {"classifier": "harmonic"},
    "nearest neighbour": {"classifier": "nn"},
    "nu-SVM": {"classifier": "svm", "landmark_ratio": 0.5},
    "logistic regression": {"classifier": LogisticRegression()},
    "rbf": {"kernel": "rbf"},
    "laplacian": {"kernel": "laplacian"},
    "cosine": {"kernel": "cosine", "scaling": "unit"},
    "poly, Nystroem": {"kernel": Kernel("poly", max_rows=60)},
    "no scaling": {"scaling": None},
    "paper's scaling": {"scaling": "paper"},
    "paper": {"make": LPJT.paper},
    "authors": {"make": LPJT.authors},
    "three components": {"n_components": 3},
    "no safeguard": {"safeguard": False},
    "sample": {"sample_size": 30},
}


@pytest.mark.parametrize("parameters", MODES.values(), ids=MODES)
def test_every_mode_adapts(parameters):
    """On a shift by which the nearest source row is wrong for a third of the target."""
    X, y, X_target, y_target = shifted_pair(apart=1.5)
    unadapted = KNeighborsClassifier(1).fit(X, y).score(X_target, y_target)
    model = fit(X, y, X_target, **parameters)
    assert model.adapted_
    assert unadapted < 0.7
    assert np.mean(model.transduction_ == y_target) > 0.9
    assert np.mean(model.predict(X_target) == y_target) > 0.9
    assert model.score(X_target, y_target) == np.mean(model.predict(X_target) == y_target)
    assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert_allclose(model.predict_proba(X_target[:5]).sum(axis=1), 1)
    assert model.transform(X, domain="source").shape == (len(X), model.get_feature_names_out().size)
    assert all(row["residual"] < 1e-8 for row in model.history_)


def test_chi2_kernel_takes_rows_that_are_not_negative(pair):
    X, y, X_target, y_target = pair
    model = fit(X - X.min(), y, X_target - X_target.min(), kernel="chi2")
    assert model.scaling_ == "unit"
    assert np.mean(model.transduction_ == y_target) > 0.7


def test_a_callable_kernel_is_the_named_one(pair):
    X, y, X_target, _ = pair
    named = fit(X, y, X_target, kernel="cosine", scaling="standard")
    called = fit(X, y, X_target, kernel=lambda a, b: a @ b / np.sqrt((a @ a) * (b @ b)), scaling="standard")
    assert_allclose(named.label_distributions_, called.label_distributions_, atol=1e-6)


def test_a_linear_kernel_is_the_linear_version(pair):
    X, y, X_target, _ = pair
    linear = fit(X, y, X_target, scaling="standard")
    kernel = fit(X, y, X_target, scaling="standard", kernel=Kernel("poly", degree=1, coef0=0, gamma=1.0))
    assert_allclose(linear.label_distributions_, kernel.label_distributions_, atol=1e-6)


def test_different_widths_with_a_few_labels(pair):
    X, y, X_target, y_target = pair
    wide = widened(X_target, 20)
    model = fit(X, y, wide, masked(y_target, 2))
    assert model.n_features_in_ == 20
    assert np.mean(model.transduction_ == y_target) > 0.9
    assert model.transform(X[:4], domain="source").shape == model.transform(wide[:4]).shape
    given = masked(y_target, 2) >= 0
    assert_array_equal(model.transduction_[given], y_target[given])


@pytest.mark.parametrize("start", ["spectral", "gromov"])
def test_different_widths_without_labels_is_a_guess_and_says_so(pair, start):
    if start == "gromov":
        pytest.importorskip("ot", reason="POT is needed for Gromov-Wasserstein")
    X, y, X_target, _ = pair
    with pytest.warns(UserWarning, match="which is a guess"):
        model = one_setting(random_state=0, start=start).fit(X, y, widened(X_target, 12))
    assert set(model.transduction_) <= set(y)


def test_labelled_target_rows_are_clamped_even_where_they_are_odd(pair):
    X, y, X_target, y_target = pair
    given = masked(y_target, 3)
    odd = np.flatnonzero(given == 0)[0]
    given[odd] = 1
    model = fit(X, y, X_target, given)
    assert model.transduction_[odd] == 1
    assert_array_equal(model.label_distributions_[odd], [0, 1, 0])


def test_several_sources_and_targets_of_different_widths(pair):
    X, y, X_target, y_target = pair
    sources, labels = {"photo": X, "sketch": widened(X, 5, 1)}, {"photo": y, "sketch": y}
    targets = {"new": X_target, "other": widened(X_target, 12, 2)}
    model = fit(sources, labels, targets, {"other": masked(y_target, 3)})
    assert set(model.transduction_) == set(targets)
    for name in targets:
        assert np.mean(model.transduction_[name] == y_target) > 0.8
        assert model.predict(targets[name], domain=name).shape == y_target.shape
    assert model.transform(sources["sketch"], domain="sketch").shape[0] == len(X)
    with pytest.raises(ValueError, match=r"domain='target' is not one of the domains of fit\. Give one of 'photo'"):
        model.predict(X_target)


def test_one_source_given_twice_counts_as_one(pair):
    X, y, X_target, _ = pair
    once = fit(X, y, X_target, coupling_weight=100.0, scaling="standard")
    twice = fit({"a": X, "b": X}, {"a": y, "b": y}, X_target, coupling_weight=100.0, scaling="standard")
    assert np.mean(once.transduction_ == twice.transduction_) > 0.98


def test_a_stack_gives_the_rows_back_in_the_callers_order(pair):
    X, y, X_target, y_target = pair
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X) + len(X_target))
    stacked, domain = np.vstack([X, X_target])[order], np.r_[np.ones(len(X)), -np.ones(len(X_target))][order]
    labels = np.r_[y, np.full(len(X_target), -1)][order]
    model = fit(stacked, labels, sample_domain=domain.astype(int))
    truth = np.r_[y, y_target][order][domain < 0]
    assert np.mean(model.transduction_ == truth) > 0.9
    assert_array_equal(model.predict(stacked[domain < 0]), model.predict(stacked[domain < 0], domain="target_-1"))


def test_rows_in_another_order_get_the_same_labels(pair):
    X, y, X_target, _ = pair
    order = np.random.default_rng(1).permutation(len(X_target))
    straight, shuffled = fit(X, y, X_target), fit(X, y, X_target[order])
    assert_allclose(straight.label_distributions_[order], shuffled.label_distributions_, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.float16])
def test_any_dtype_and_float32_stays(pair, dtype):
    X, y, X_target, y_target = (np.round(10 * part).astype(dtype) if part.ndim == 2 else part for part in pair)
    model = fit(X, y, X_target)
    assert np.mean(model.transduction_ == y_target) > 0.85
    assert model.transform(X_target).dtype == (np.float32 if dtype == np.float32 else np.float64)


def test_frames_names_and_strings(pair):
    X, y, X_target, y_target = pair
    names = [f"f{i}" for i in range(X.shape[1])]
    words = np.array(["cat", "dog", "owl"])
    model = fit(pd.DataFrame(X, columns=names), pd.Series(words[y]), pl.DataFrame(X_target, schema=names))
    assert set(model.transduction_) <= set(words)
    assert np.mean(model.transduction_ == words[y_target]) > 0.9
    assert_array_equal(model.feature_names_in_, names)
    embedded = model.set_output(transform="pandas").transform(pd.DataFrame(X_target, columns=names))
    assert list(embedded.columns) == list(model.get_feature_names_out())
    assert embedded.columns[0] == "lpjt0"


def test_sparse_rows_are_close_to_dense_ones():
    rng = np.random.default_rng(0)
    y, y_target = np.arange(120) % 3, np.arange(90) % 3
    rates = rng.gamma(0.3, 2.0, size=(3, 400))
    X, X_target = rng.poisson(rates[y]).astype(float), rng.poisson(1.5 * rates[y_target] + 0.05).astype(float)
    model = fit(sparse.csr_array(X), y, sparse.csc_matrix(X_target))
    assert np.mean(model.transduction_ == y_target) > 0.9
    assert model.predict(sparse.coo_array(X_target)).shape == y_target.shape


def test_inputs_are_left_alone_even_read_only(pair):
    copies = [part.copy() for part in pair]
    X, y, X_target, y_target = pair
    for part in pair:
        part.setflags(write=False)
    fit(X, y, X_target, masked(y_target, 2), landmark_ratio=0.5)
    for part, copy in zip(pair, copies, strict=True):
        assert_array_equal(part, copy)


def test_history_callback_and_printing(pair, capsys):
    X, y, X_target, _ = pair
    seen = []
    model = fit(X, y, X_target, callback=seen.append, verbose=1, landmark_ratio=0.5)
    assert seen == model.history_
    assert len(seen) == model.n_iter_
    expected = {"n_iter", "objective", "marginal_mmd", "conditional_mmd", "n_changed", "landmark_gap", "evidence"}
    assert expected <= set(seen[0])
    stages = {"objective", "projection", "embedding", "labels", "landmarks"}
    assert set(seen[0]["seconds"]) == stages | {"fixed"}
    assert set(seen[1]["seconds"]) == stages
    assert capsys.readouterr().out.startswith("[LPJT] iteration 1: ")


def test_not_converging_is_a_warning_with_a_number_and_a_knob(pair):
    X, y, X_target, _ = shifted_pair(apart=1.5)
    with pytest.warns(ConvergenceWarning, match=r"still changed for \d+ of 75 target rows after max_iter=1 iterations"):
        one_setting(random_state=0, max_iter=1, tol=0, safeguard=False).fit(X, y, X_target)


def test_landmark_weights_keep_their_mean_in_each_class(pair):
    X, y, X_target, _ = pair
    model = fit(X, y, X_target, landmark_ratio=0.4, safeguard=False)
    for c in range(3):
        assert_allclose(model.weights_source_[y == c].mean(), 0.4, atol=1e-9)
    assert model.weights_source_.min() >= 0
    assert model.weights_target_.max() <= 1 + 1e-12
    assert np.ptp(model.weights_source_) > 0.02


def test_a_model_is_cloned_and_pickled(pair):
    X, y, X_target, _ = pair
    model = fit(X, y, X_target)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X_target), model.predict(X_target))
    assert clone(model).get_params()["random_state"] == 0


def test_without_a_target_it_is_a_plain_classifier(pair):
    X, y, *_ = pair
    model = fit(X, y)
    assert not model.adapted_
    assert model.transduction_ is None
    assert model.score(X, y) > 0.95


def test_fit_predict_and_fit_transform(pair):
    X, y, X_target, _ = pair
    model = one_setting(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_array_equal(model.fit_predict(X, y, X_target), model.transduction_)
        assert_allclose(one_setting(random_state=0).fit_transform(X, y, X_target), model.transform(X, domain="source"))


@pytest.mark.parametrize("make", [LPJT.paper, LPJT.authors])
def test_constructors_keep_what_is_given(make):
    """A value that happens to be the default's is kept too."""
    defaults = one_setting().get_params(deep=False)
    for name, value in defaults.items():
        assert make(**{name: value}).get_params(deep=False)[name] == value
    model = make(max_iter=10, random_state=0)
    assert model.max_iter == 10
    assert clone(model).get_params(deep=False).keys() == defaults.keys()


def test_the_authors_program_departs_from_the_paper_after_cloning_and_pickling():
    X, y, X_target, _ = shifted_pair(apart=1.5)
    model = LPJT.authors(random_state=0)
    expected = clone(model).fit(X, y, X_target)
    found = pickle.loads(pickle.dumps(model)).fit(X, y, X_target)
    assert_array_equal(found.label_distributions_, expected.label_distributions_)
    assert_array_equal(found.weights_target_, 1)  # the program weighs the source alone
    same_values = one_setting(**model.get_params(deep=False)).fit(X, y, X_target)
    assert same_values.weights_target_.std() > 0


def test_nested_parameters_can_be_searched():
    model = one_setting(classifier=Propagation(), kernel=Kernel("rbf"))
    model.set_params(classifier__n_neighbors=7, kernel__gamma=0.5)
    assert (model.classifier.n_neighbors, model.kernel.gamma) == (7, 0.5)
    assert clone(model).get_params()["kernel__gamma"] == 0.5
    with pytest.raises(ValueError, match="'n_neighbors' parameter of Propagation must be"):
        one_setting(classifier=Propagation(0)).fit(*shifted_pair()[:3])
    with pytest.raises(ValueError, match="'gamma' parameter of Kernel must be"):
        one_setting(kernel=Kernel("rbf", gamma=-1)).fit(*shifted_pair()[:3])


def test_a_kernel_is_cut_as_linear_coordinates_are():
    X, y, X_target, _ = shifted_pair(n_source=500, n_target=400, apart=1.5)
    cut, whole = (fit(X, y, X_target, kernel="rbf", n_coordinates=n) for n in ("auto", None))
    ranks = [model.projections_["target"].shape[0] for model in (cut, whole)]
    assert ranks[0] <= 512 < ranks[1]
    assert np.mean(cut.transduction_ == whole.transduction_) > 0.97


def test_columns_in_another_order_give_the_same_labels():
    pd = pytest.importorskip("pandas")
    X, y, X_target, _ = shifted_pair(apart=1.5)
    names = [f"c{i}" for i in range(X.shape[1])]
    source, target = (pd.DataFrame(rows, columns=names) for rows in (X, X_target))
    turned = target[names[::-1]]
    expected, found = fit(source, y, target), fit(source, y, turned)
    assert_array_equal(found.transduction_, expected.transduction_)
    assert_array_equal(found.predict(turned), expected.predict(target))
    assert_allclose(found.transform(turned), expected.transform(target))
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        found.predict(target)


def test_the_paper_is_as_printed():
    """Section IV for SURF features; what the paper does not name is the default's."""
    printed = {
        "kernel": "linear",
        "n_components": 40,
        "locality_weight": 0.001,
        "variance_weight": 0.1,
        "landmark_ratio": 0.5,
        "graph_weights": 1.0,
        "scaling": "paper",
        "max_iter": 5,
        "safeguard": False,
        "n_coordinates": None,
        "sample_size": None,
    }
    model = LPJT.paper()
    assert {**one_setting().get_params(deep=False), **printed, "classifier": model.classifier} == model.get_params(
        deep=False
    )
    assert model.classifier.get_params() == {
        "n_neighbors": 5, "unit_length": False, "anchored": False, "class_mass": True,
    }  # fmt: skip


def test_the_authors_program_is_as_published():
    """The values of its demonstration."""
    published = {
        "kernel": "linear",
        "n_components": 25,
        "locality_weight": 0.05,
        "variance_weight": 1.0,
        "landmark_ratio": 0.5,
        "graph_weights": "binary",
        "scaling": "paper",
        "start": "pca-nn",
        "max_iter": 5,
        "safeguard": False,
        "n_coordinates": None,
        "sample_size": None,
    }
    model = LPJT.authors()
    expected = {**one_setting().get_params(deep=False), **published, "classifier": model.classifier}
    assert expected == model.get_params(deep=False)
    assert model.classifier.nu == 0.5


def test_iterations_end_when_no_label_changes():
    X, y, X_target, _ = shifted_pair()
    model = fit(X, y, X_target, tol=0.0)
    assert [row["n_changed"] for row in model.history_][-1] == 0
    assert model.n_iter_ < 10


def test_every_stage_is_timed():
    X, y, X_target, _ = shifted_pair(n_source=900, n_target=750, apart=1.5)
    begun = time.perf_counter()
    model = fit(X, y, X_target, max_iter=2, tol=0.0)
    elapsed = time.perf_counter() - begun
    assert sum(model.seconds_.values()) <= elapsed  # no time is counted twice
    learning = {"sample", "shift", "scaling", "coordinates", "neighbors", "start", "fixed", "predictor", "all rows"}
    each = {"objective", "projection", "embedding", "labels", "landmarks"}
    assert set(model.seconds_) == learning | each
    assert set(model.history_[1]["seconds"]) == each
    assert all(seconds >= 0 for seconds in model.seconds_.values())
    for stage in each:
        assert model.seconds_[stage] == pytest.approx(sum(row["seconds"].get(stage, 0) for row in model.history_))


def test_different_widths_have_no_reverse_evidence():
    X, y, X_target, y_target = shifted_pair()
    model = fit(X, y, widened(X_target, 20), masked(y_target, 2))
    assert {row["reverse"] for row in model.history_} == {0.0}
    assert all(row["evidence"] == row["information"] for row in model.history_)
