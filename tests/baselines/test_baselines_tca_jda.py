"""TCA and JDA against n x n transcriptions and printed figures; what TCA, JDA, TJM, JGSA, MEDA and others share."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from sklearn.base import clone

import oracles_baselines_joint as naive
from lpjt.baselines.agecs import AGECS
from lpjt.baselines.clga import CLGA
from lpjt.baselines.jgsa import JGSA
from lpjt.baselines.lsc import LSC
from lpjt.baselines.meda import MEDA
from lpjt.baselines.punda import PUnDA
from lpjt.baselines.rtml import RTML
from lpjt.baselines.spl import SPL
from lpjt.baselines.tca_jda import JDA, TCA
from lpjt.baselines.tjm import TJM
from lpjt.datasets import load_problem
from lpjt.study.tables.published import published
from problems import masked, shifted_pair

needs_data = pytest.mark.data
METHODS = (TCA, JDA, LSC, TJM, JGSA, MEDA, SPL, RTML, PUnDA, CLGA, AGECS)
GAMMA = 0.02


def hard_pair(seed=0, **changes):
    """Domains in which pseudo labels change from iteration to iteration."""
    return shifted_pair(seed, **({"apart": 1.0, "shift": 1.0} | changes))


def oracle_kernel(kernel, X):
    if kernel == "primal":
        return None
    return X @ X.T if kernel == "linear" else naive.rbf(X, X, GAMMA)


def embedded(model, X, X_target):
    return np.vstack([model.transform(X, "source"), model.transform(X_target, "target")])


def assert_same_embedding(Z, expected):
    assert subspace_angles(Z, expected).max() < 1e-6
    assert_allclose(Z @ Z.T, expected @ expected.T, rtol=1e-6, atol=1e-6 * np.abs(expected).max() ** 2)


@pytest.mark.parametrize("kernel", ["primal", "linear", "rbf"])
@pytest.mark.parametrize("weight", [0.1, 5.0])
def test_tca_is_the_dense_problem(kernel, weight):
    X, y, X_target, _ = hard_pair()
    model = TCA(n_components=4, regularization=weight, kernel=kernel, gamma=GAMMA, scaling="none").fit(X, y, X_target)
    rows, nothing = np.vstack([X, X_target]), np.full(len(X_target), -1)
    K = oracle_kernel(kernel, rows)
    Z, _ = naive.joint_embedding(rows, y, nothing, n_classes=3, kernel=K, k=4, weight=weight)
    assert_same_embedding(embedded(model, X, X_target), Z)
    assert_array_equal(model.transduction_, naive.joint_labels(Z, y))


@pytest.mark.parametrize("kernel", ["primal", "linear", "rbf"])
@pytest.mark.parametrize("n_iter", [1, 4])
def test_jda_is_the_dense_problem_in_every_iteration(kernel, n_iter):
    X, y, X_target, _ = hard_pair(2, n_classes=4)
    parameters = {"n_components": 4, "regularization": 1.0, "kernel": kernel, "gamma": GAMMA, "scaling": "none"}
    model = JDA(max_iter=n_iter, **parameters).fit(X, y, X_target)
    rows = np.vstack([X, X_target])
    K = oracle_kernel(kernel, rows)
    iterations = naive.jda(rows, y, n_target=len(X_target), n_classes=4, kernel=K, k=4, weight=1.0, n_iter=n_iter)
    Z, labels = iterations[-1]
    assert_same_embedding(embedded(model, X, X_target), Z)
    assert_array_equal(model.transduction_, labels)
    if n_iter > 1:
        assert not np.array_equal(iterations[0][1], iterations[1][1])  # the second iteration had something to do


def test_jda_in_a_span_narrower_than_the_rows_is_the_dense_problem():
    X, y, X_target, _ = hard_pair(n_source=24, n_target=18, width=60)
    model = JDA(n_components=4, max_iter=3, scaling="none").fit(X, y, X_target)
    rows = np.vstack([X, X_target])
    Z, labels = naive.jda(rows, y, n_target=18, n_classes=3, kernel=None, k=4, weight=0.1, n_iter=3)[-1]
    assert_same_embedding(embedded(model, X, X_target), Z)
    assert_array_equal(model.transduction_, labels)


def test_a_linear_kernel_of_rows_with_empty_columns_is_the_dense_problem():
    X, y, X_target, _ = hard_pair()
    X, X_target = (np.column_stack([Z, np.zeros(len(Z)), Z[:, 0]]) for Z in (X, X_target))
    model = TCA(n_components=4, kernel="linear", scaling="none").fit(X, y, X_target)
    rows = np.vstack([X, X_target])
    Z, _ = naive.joint_embedding(rows, y, -np.ones(75), n_classes=3, kernel=rows @ rows.T, k=4, weight=0.1)
    assert_same_embedding(embedded(model, X, X_target), Z)


def test_tca_is_the_first_iteration_of_jda_and_jda_without_conditions():
    X, y, X_target, _ = hard_pair()
    first = TCA(n_components=4).fit(X, y, X_target).transform(X_target)
    assert_allclose(JDA(n_components=4, max_iter=1).fit(X, y, X_target).transform(X_target), first)
    without = JDA(n_components=4, conditional=False).fit(X, y, X_target)
    assert_allclose(without.transform(X_target), first)
    assert without.n_iter_ == 1


def test_given_labels_of_the_target_take_part_in_conditions_and_as_neighbours():
    X, y, X_target, y_target = hard_pair(4)
    known = masked(y_target, 3)
    model = JDA(n_components=3, max_iter=4, scaling="none").fit(X, y, X_target, known)
    rows = np.vstack([X, X_target])
    arguments = {"n_target": 75, "n_classes": 3, "kernel": None, "k": 3, "weight": 0.1, "n_iter": 4}
    Z, labels = naive.jda(rows, y, known=known, **arguments)[-1]
    assert_same_embedding(embedded(model, X, X_target), Z)
    assert_array_equal(model.transduction_, labels)
    assert (labels != naive.jda(rows, y, **arguments)[-1][1]).any()
    assert_array_equal(model.transduction_[known >= 0], y_target[known >= 0])


def test_a_class_without_pseudo_labels_is_left_out():
    X, y, X_target, y_target = shifted_pair(n_classes=4, apart=3.0, shift=0.5)
    X_target = X_target[y_target != 2]
    model = JDA(n_components=3, max_iter=3, scaling="none").fit(X, y, X_target)
    rows = np.vstack([X, X_target])
    iterations = naive.jda(rows, y, n_target=len(X_target), n_classes=4, kernel=None, k=3, weight=0.1, n_iter=3)
    assert 2 not in iterations[0][1]
    assert_same_embedding(embedded(model, X, X_target), iterations[-1][0])
    assert_array_equal(model.transduction_, iterations[-1][1])


def test_jda_stops_when_no_label_changes_and_more_iterations_would_change_nothing():
    X, y, X_target, _ = hard_pair(5, apart=2.0)
    model = JDA(n_components=3, max_iter=50).fit(X, y, X_target)
    assert 2 < model.n_iter_ < 50
    again = JDA(n_components=3, max_iter=model.n_iter_ + 5).fit(X, y, X_target)
    assert again.n_iter_ == model.n_iter_
    shorter = JDA(n_components=3, max_iter=model.n_iter_ - 1).fit(X, y, X_target)
    assert_array_equal(shorter.transduction_, model.transduction_)


def test_a_sampled_kernel_is_near_the_exact_one():
    X, y, X_target, _ = shifted_pair(shift=0.5)
    exact = JDA(n_components=3, kernel="rbf", gamma=GAMMA).fit(X, y, X_target)
    sampled = JDA(n_components=3, kernel="rbf", gamma=GAMMA, kernel_rows=60, random_state=0).fit(X, y, X_target)
    assert np.mean(exact.transduction_ == sampled.transduction_) > 0.95
    again = JDA(n_components=3, kernel="rbf", gamma=GAMMA, kernel_rows=60, random_state=0).fit(X, y, X_target)
    assert_array_equal(again.transform(X_target), sampled.transform(X_target))


# What all share.


@pytest.mark.parametrize(
    "model",
    [
        *(TCA(kernel="linear"), TCA(), JDA(kernel="linear"), JDA(), TJM(), JGSA(), SPL(), LSC(), RTML(), PUnDA()),
        *(CLGA(), AGECS(kernel_rows=500, n_neighbors=10)),
    ],
    ids=lambda model: repr(model),
)
def test_nothing_is_allocated_that_grows_with_the_square_of_the_rows(model):
    n, width = 3000, 20
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, size=n)
    X, X_target = rng.normal(size=(n, width)) + y[:, None], rng.normal(size=(n, width)) * 1.5
    model.set_params(n_components=10, max_iter=3) if hasattr(model, "max_iter") else model.set_params(n_components=10)
    tracemalloc.start()
    try:
        model.fit(X, y, X_target).predict(X_target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * (2 * n) ** 2 / 15  # a matrix of all rows by all rows has 288 MB


@pytest.mark.parametrize("method", METHODS)
def test_labels_of_any_dtype_come_back(method):
    X, y, X_target, y_target = shifted_pair(shift=0.5)
    plain = method(n_components=3).fit(X, y, X_target).transduction_
    assert np.mean(plain == y_target) > 0.9
    for classes in (np.array(["ash", "beech", "cedar"]), np.array([-3, 0, 12]), np.array([1.0, 2.0, 7.0])):
        model = method(n_components=3).fit(X, classes[y], X_target)
        assert_array_equal(model.transduction_, classes[plain])
        assert model.transduction_.dtype == classes.dtype
        assert_array_equal(model.predict(X_target[:9]), classes[plain[:9]])


@pytest.mark.parametrize("method", METHODS)
def test_rows_never_seen_are_labelled_like_those_of_fit(method):
    X, y, X_target, y_target = shifted_pair(n_target=150, shift=0.5)
    model = method(n_components=3).fit(X, y, X_target[:75])
    assert_array_equal(model.predict(X_target[:75]), model.transduction_)
    assert np.mean(model.predict(X_target[75:]) == y_target[75:]) > 0.9
    assert_allclose(model.transform(X_target[:75][::-1])[::-1], model.transform(X_target[:75]))


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_gives_the_labels_of_double(method):
    X, y, X_target, _ = shifted_pair(shift=0.5)
    double = method(n_components=3).fit(X, y, X_target)
    single = method(n_components=3).fit(X.astype(np.float32), y, X_target.astype(np.float32))
    assert np.mean(single.transduction_ == double.transduction_) > 0.98
    assert single.transform(X_target.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("method", METHODS)
def test_a_class_that_the_target_lacks_does_no_harm(method):
    X, y, X_target, y_target = shifted_pair(n_classes=4, apart=3.0, shift=0.5)
    kept = y_target != 2
    model = method(n_components=3).fit(X, y, X_target[kept])
    assert np.mean(model.transduction_ == y_target[kept]) > 0.8
    assert np.isfinite(model.transform(X_target)).all()


@pytest.mark.parametrize("method", METHODS)
def test_given_labels_stay_and_fit_is_repeatable(method):
    X, y, X_target, y_target = hard_pair(5)
    known = masked(y_target, 4)
    model = method(n_components=3).fit(X, y, X_target, known)
    assert_array_equal(model.transduction_[known >= 0], y_target[known >= 0])
    again = clone(model).fit(X, y, X_target, known)
    assert_array_equal(again.transform(X_target), model.transform(X_target))


@pytest.mark.parametrize("method", [TCA, JDA, LSC, TJM, MEDA, SPL, RTML, PUnDA, CLGA, AGECS])
def test_domains_of_two_widths_are_refused(method):
    X, y, X_target, _ = shifted_pair()
    with pytest.raises(ValueError, match=r"needs domains of one width, but the source has 8 columns and the target 7"):
        method().fit(X, y, X_target[:, :7])


@pytest.mark.parametrize("method", METHODS)
def test_a_parameter_out_of_range_is_named(method):
    X, y, X_target, _ = shifted_pair()
    with pytest.raises(ValueError, match="'n_components' parameter"):
        method(n_components=0).fit(X, y, X_target)


@pytest.mark.parametrize("method", METHODS)
def test_more_components_than_columns_are_as_many_as_there_are(method):
    X, y, X_target, y_target = shifted_pair(shift=0.5)
    model = method(n_components=500).fit(X, y, X_target)
    assert model.transform(X_target).shape[1] <= 2 * X.shape[1]
    assert np.mean(model.transduction_ == y_target) > 0.8


# Figures printed for the same files.


def accuracy(problem, model):
    model.fit(problem.X_source, problem.y_source, problem.X_target)
    return 100 * np.mean(model.transduction_ == problem.y_target)


def printed(table, method, source):
    return {f.pair: f.value for f in published(table) if f.method == method and f.source == source}


@needs_data
@pytest.mark.parametrize("pair", ["MNIST to USPS", "USPS to MNIST"])
def test_jda_gives_the_printed_figures_of_digits(pair):
    problem = load_problem("digits", pair)
    assert accuracy(problem, JDA()) == pytest.approx(printed("digits", "JDA", "jda")[pair], abs=0.2)
    assert accuracy(problem, TCA()) == pytest.approx(printed("digits", "TCA", "jda")[pair], abs=3)


@needs_data
@pytest.mark.parametrize("pair", ["W to D", "D to W"])
def test_jda_gives_the_printed_figures_of_objects(pair):
    model = JDA(kernel="linear", regularization=1.0, scaling="paper")
    assert accuracy(load_problem("surf", pair), model) == pytest.approx(printed("surf", "JDA", "jda")[pair], abs=0.7)
