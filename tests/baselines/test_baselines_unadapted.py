"""Methods without adaptation against their definitions, and figures printed for NN and PCA."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC, NuSVC

import oracles
import oracles_baselines_subspace as naive
from lpjt.baselines._classifiers import C_GRID, _two_folds, choose_C, fit_classifier
from lpjt.baselines._directions import principal_directions
from lpjt.baselines.unadapted import (
    PCASVM,
    LinearSVM,
    NearestNeighbor,
    TargetPropagation,
    TargetSVM,
)
from problems import masked, shifted_pair, widened

needs_data = pytest.mark.data


def test_principal_directions_are_the_leading_eigenvectors_of_the_covariance():
    rng = np.random.default_rng(0)
    for shape in ((40, 7), (5, 12)):
        X = rng.normal(size=shape) * np.linspace(1, 3, shape[1])
        directions, variances = principal_directions(X, 3)
        expected, values = naive.principal(X, 3)
        assert_allclose(variances, values, rtol=1e-10)
        assert_allclose(np.abs(np.sum(directions * expected, axis=0)), 1, rtol=1e-10)
        assert_allclose(directions.T @ directions, np.eye(3), atol=1e-12)
        assert (directions[np.abs(directions).argmax(axis=0), range(3)] > 0).all()


def test_principal_directions_stop_at_the_rank():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 9))
    assert principal_directions(flat, 6)[0].shape == (9, 2)
    assert principal_directions(flat[:4].T @ flat[:4])[0].shape[1] <= 2
    constant, variances = principal_directions(np.ones((5, 4)), 3)
    assert constant.shape == (4, 1)
    assert variances[0] == 0


def test_nearest_neighbour_is_the_row_at_the_least_distance():
    X, y, X_target, _ = shifted_pair(apart=1.0)
    found = NearestNeighbor(scaling="none").fit(X, y, X_target).transduction_
    assert_array_equal(found, oracles.nearest_labels(X, y, X_target))


def test_svm_minimises_its_objective_on_the_source_alone():
    X, y, X_target, _ = shifted_pair(n_classes=2, apart=0.7)
    signs = 2.0 * y - 1
    model = LinearSVM(C=0.5, form="svm", scaling="none").fit(X, y, X_target)

    def objective(w, b):
        return w @ w / 2 + 0.5 * np.maximum(0, 1 - signs * (X @ w + b)).sum()

    w, b = model._classifier.coef_.ravel(), float(model._classifier.intercept_[0])
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2):
        for _ in range(100):
            assert objective(w, b) <= objective(w + size * rng.normal(size=8), b + size * rng.normal()) + 1e-4
    elsewhere = LinearSVM(C=0.5, form="svm", scaling="none").fit(X, y, X_target + 5.0)
    assert_allclose(elsewhere._classifier.coef_, model._classifier.coef_)  # the target has no say


def test_one_against_the_rest_minimises_its_objective_for_every_class():
    X, y, X_target, _ = shifted_pair(n_classes=3, apart=0.7)
    rule = LinearSVM(C=0.5, scaling="none").fit(X, y, X_target)._classifier
    rng = np.random.default_rng(0)
    for c in range(3):
        signs = np.where(y == c, 1.0, -1.0)

        def objective(w, b, signs=signs):  # LIBLINEAR's: the offset is a weight as any other
            return (w @ w + b * b) / 2 + 0.5 * (np.maximum(0, 1 - signs * (X @ w + b)) ** 2).sum()

        w, b = rule.coef_[c], float(rule.intercept_[c])
        for _ in range(100):
            assert objective(w, b) <= objective(w + 0.01 * rng.normal(size=8), b + 0.01 * rng.normal()) + 1e-4


def test_the_nu_form_bounds_the_share_of_rows_within_the_margin():
    X, y, X_target, _ = shifted_pair(n_classes=2, apart=0.7)
    rule = LinearSVM(form="nu-svm", scaling="none").fit(X, y, X_target)._classifier
    outside = np.abs(rule.dual_coef_).ravel() >= np.abs(rule.dual_coef_).max() * (1 - 1e-6)
    assert outside.sum() <= 0.5 * len(X) <= len(rule.support_) + 1  # nu is a bound on errors, and one on vectors


def test_the_nu_form_lowers_nu_where_the_smaller_class_allows_just_so_much():
    rng = np.random.default_rng(18)
    X, y = rng.normal(size=(24, 10)), np.repeat([0, 1], [6, 18])  # 0.5 * 24 / 2 rows of each class are bounded: all six
    X[:6] += 2 * rng.normal(size=10)
    with pytest.raises(ValueError, match="not finite"):
        NuSVC(nu=0.5, kernel="linear").fit(X, y)
    rule = fit_classifier("nu-svm", X, y)
    assert_allclose(rule.coef_, NuSVC(nu=0.35, kernel="linear").fit(X, y).coef_)
    assert rule.score(X, y) > 0.8


def test_svmt_sees_the_labelled_target_rows_alone():
    X, y, X_target, y_target = shifted_pair()
    given = masked(y_target, 4)
    model = TargetSVM(scaling="none").fit(X, y, X_target, given)
    expected = SVC(kernel="linear", C=1.0).fit(X_target[given >= 0], given[given >= 0])
    assert_array_equal(model.predict(X_target), expected.predict(X_target))
    without = TargetSVM(scaling="none").fit(np.zeros((6, 2)), [0, 1, 2, 0, 1, 2], X_target, given)
    assert_array_equal(without.transduction_, model.transduction_)


def test_svmt_with_one_class_answers_it():
    X, y, X_target, _ = shifted_pair()
    given = np.full(len(X_target), -1)
    given[5] = 2
    assert_array_equal(TargetSVM().fit(X, y, X_target, given).transduction_, 2)


@pytest.mark.parametrize("n_neighbors", [3, 8])
def test_target_propagation_is_the_harmonic_solution(n_neighbors):
    X, y, X_target, y_target = shifted_pair(apart=1.2, n_target=60)
    given = masked(y_target, 3)
    model = TargetPropagation(n_neighbors=n_neighbors, scaling="none").fit(X, y, X_target, given)
    assert_array_equal(model.transduction_, naive.propagate(X_target, given, 3, n_neighbors))


def test_target_propagation_never_answers_a_class_without_a_labelled_row():
    X, y, X_target, y_target = shifted_pair()
    given = masked(y_target, 3)
    given[given == 0] = -1
    assert set(TargetPropagation().fit(X, y, X_target, given).transduction_) == {1, 2}
    assert_array_equal(TargetPropagation().fit(X, y, X_target, y_target).transduction_, y_target)


def test_joint_pca_has_one_basis_and_separate_pca_two():
    X, y, X_target, _ = shifted_pair()
    both = PCASVM(n_components=3, scaling="none").fit(X, y, X_target)
    P, _ = naive.principal(np.vstack([X, X_target]), 3)
    for domain, rows in (("source", X), ("target", X_target)):
        assert_allclose(np.abs(both.transform(rows, domain)), np.abs(rows @ P), atol=1e-8)
    apart = PCASVM(n_components=3, joint=False, scaling="none").fit(X, y, X_target)
    for domain, rows in (("source", X), ("target", X_target)):
        P, _ = naive.principal(rows, 3)
        assert_allclose(np.abs(apart.transform(rows, domain)), np.abs(rows @ P), atol=1e-8)


def test_joint_pca_of_other_widths_is_refused_in_words():
    X, y, X_target, _ = shifted_pair()
    with pytest.raises(ValueError, match=r"joint=True needs domains of one width, but the source has 8 columns"):
        PCASVM(joint=True).fit(X, y, widened(X_target, 11))


def test_the_weight_of_errors_is_that_of_best_cross_validation():
    X, y, X_target, _ = shifted_pair(apart=0.6)
    scores = []
    for C in (0.01, 0.1, 1.0, 10.0, 100.0):
        folds = StratifiedKFold(2).split(X, y)
        scores.append(np.mean([SVC(kernel="linear", C=C).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]))
    assert len(set(scores)) > 1
    expected = (0.01, 0.1, 1.0, 10.0, 100.0)[int(np.argmax(scores))]
    chosen = LinearSVM(form="svm", scaling="none").fit(X, y, X_target)._classifier.C
    assert chosen == expected
    assert choose_C(X[:3], np.arange(3)) == 1.0  # nothing to validate by
    assert choose_C(X[:4], np.array([0, 1, 1, 1])) == 1.0


def test_a_rare_class_does_not_stop_the_choice():
    X, y, X_target, _ = shifted_pair()
    y = np.where(np.arange(90) == 0, 3, y)
    with pytest.warns(UserWarning, match="Only one source row") as caught:
        LinearSVM(form="svm").fit(X, y, X_target)
    assert len(caught) == 1


def test_a_rule_of_one_class_answers_it():
    assert_array_equal(fit_classifier("svm", np.eye(3), np.array([4, 4, 4])).predict(np.zeros((2, 3))), [4, 4])


# Published figures, on the same files: see the columns NN and PCA of Table 2 of Long et al., ICCV 2013.

SURF = {
    "C to A": (23.70, 36.95),
    "C to W": (25.76, 32.54),
    "C to D": (25.48, 38.22),
    "A to C": (26.00, 34.73),
    "A to W": (29.83, 35.59),
    "A to D": (25.48, 27.39),
    "W to C": (19.86, 26.36),
    "W to A": (22.96, 31.00),
    "W to D": (59.24, 77.07),
    "D to C": (26.27, 29.65),
    "D to A": (28.50, 32.05),
    "D to W": (63.39, 75.93),
}


def accuracy(model, table, pair):
    from lpjt.datasets import load_problem

    problem = load_problem(table, pair)
    found = model.fit(problem.X_source, problem.y_source, problem.X_target).transduction_
    return 100 * np.mean(found == problem.y_target)


@needs_data
@pytest.mark.parametrize("pair", SURF)
def test_nearest_neighbour_and_pca_on_surf_are_as_published(pair):
    nn, pca = SURF[pair]
    assert accuracy(NearestNeighbor(scaling="sum-zscore"), "surf", pair) == pytest.approx(nn, abs=0.01)
    found = accuracy(PCASVM(classifier="nn", scaling="sum-zscore"), "surf", pair)
    assert found == pytest.approx(pca, abs=0.01)


@needs_data
@pytest.mark.parametrize(("pair", "nn", "pca"), [("MNIST to USPS", 65.94, 66.22), ("USPS to MNIST", 44.70, 44.95)])
def test_nearest_neighbour_and_pca_on_digits_are_as_published(pair, nn, pca):
    assert accuracy(NearestNeighbor(), "digits", pair) == pytest.approx(nn, abs=0.01)
    assert accuracy(PCASVM(classifier="nn"), "digits", pair) == pytest.approx(pca, abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_the_costs_are_those_of_a_grid_search(seed):
    """The folds and the choice are scikit-learn's, whose search changes the filters of warnings of all threads."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([2, 0, 3, 1], [4, 2, 1, 1] * rng.integers(1, 9, size=4)))
    X = rng.normal(size=(len(y), 6)) + np.eye(4, 6)[y]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        folds = list(StratifiedKFold(2).split(X, y))
        search = GridSearchCV(SVC(kernel="linear"), {"C": C_GRID}, cv=StratifiedKFold(2)).fit(X, y)
    assert all((np.flatnonzero(_two_folds(y) == i) == test).all() for i, (_, test) in enumerate(folds))
    assert choose_C(X, y) == search.best_params_["C"]
