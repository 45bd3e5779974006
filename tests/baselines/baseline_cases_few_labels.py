"""Cases of the parameters of methods that learn from a few labelled target rows: propagation, CDLS, SHFA."""

import numpy as np
from baseline_cases import Pair, case, easy_pair, hard_pair
from numpy.testing import assert_allclose, assert_array_equal

import oracles_baselines_subspace as naive
from problems import masked


def few_labels(**changes):
    """Overlapping classes with three labelled target rows each."""
    pair = hard_pair(**changes)
    return pair._replace(given=masked(pair.y_target, 3))


def moved_unlabelled(pair):
    """The same pair with other unlabelled target rows."""
    rows = pair.X_target.copy()
    rows[pair.given < 0] *= -1
    return pair._replace(X_target=rows)


@case("n_neighbors", "TargetPropagation")
def labels_are_harmonic_on_the_graph_of_the_nearest_neighbours(fit):
    pair = few_labels()
    few, many = (naive.propagate(pair.X_target, pair.given, 4, n_neighbors) for n_neighbors in (2, 20))
    assert (few != many).any()
    assert_array_equal(fit(pair, n_neighbors=2).transduction_, few)
    assert_array_equal(fit(pair, n_neighbors=20).transduction_, many)


@case("landmark_ratio", "CDLS")
def weights_have_the_mean_of_the_ratio_in_each_class(fit):
    pair = few_labels()
    for ratio in (0.3, 1.0):
        model = fit(pair, landmark_ratio=ratio, n_components=4)
        assert_allclose([model.alpha_[pair.y == c].mean() for c in range(4)], ratio, atol=1e-6)
        assert_allclose(model.beta_[pair.given < 0].mean(), ratio, atol=1e-6)
        assert (model.beta_[pair.given >= 0] == 1).all()


@case("regularization", "CDLS")
def regularisation_shrinks_the_projection(fit):
    little, much = (np.linalg.norm(fit(few_labels(), regularization=r).projection_) for r in (0.01, 10.0))
    assert much < 0.2 * little


@case("n_iter", "CDLS")
def every_iteration_but_the_first_chooses_landmarks(fit):
    for n_iter in (1, 3):
        model = fit(few_labels(), n_iter=n_iter)
        assert len(model.gaps_) == n_iter - 1
        assert model.n_iter_ == n_iter
        assert (model.alpha_ == 1).all() == (n_iter == 1)


@case("nu", "CDLS")
def a_larger_nu_has_more_support_vectors(fit):
    few, many = (fit(few_labels(), nu=nu, n_iter=1)._svm for nu in (0.1, 0.9))
    assert many.n_support_.sum() > 1.2 * few.n_support_.sum()


@case("semi_supervised", "SHFA")
def only_the_semi_supervised_machine_uses_unlabelled_rows(fit):
    pair = few_labels()
    for semi_supervised in (False, True):
        machines = [fit(p, semi_supervised=semi_supervised) for p in (pair, moved_unlabelled(pair))]
        same = np.allclose(machines[0].objectives_, machines[1].objectives_, rtol=1e-9)
        assert same != semi_supervised
        assert (machines[0].n_iter_ > 1) == semi_supervised


@case("metric_trace", "SHFA")
def a_larger_metric_lowers_the_objective(fit):
    """The objective is a minimum over the metrics up to this trace; H = 0 leaves a plain SVM."""
    none, some, much = (
        fit(few_labels(), metric_trace=trace, semi_supervised=False).objectives_ for trace in (0.0, 5.0, 50.0)
    )
    assert (some < 0.9 * none).all()
    assert (much < 0.9 * some).all()


@case("C_source", "SHFA")
def a_larger_cost_of_source_errors_raises_the_objective(fit):
    """The objective is a maximum over coefficients up to C, and that of the target rows stays the same."""
    low, high = (fit(few_labels(), C_source=C, semi_supervised=False, metric_trace=1.0) for C in (0.01, 1.0))
    assert (low.objectives_ < 0.5 * high.objectives_).all()
    # All 60 source rows at their bound have at most 60 C; what is left of the dual is the target's.
    alone = fit(few_labels(), C_source=1e-9, semi_supervised=False, metric_trace=1.0)
    assert (low.objectives_ <= alone.objectives_ + 60 * 0.01 + 1e-6).all()


@case("C_target", "SHFA")
def the_cost_of_target_errors_bounds_their_coefficients(fit):
    for C in (0.05, 0.5):
        model = fit(few_labels(), C_target=C, semi_supervised=False, metric_trace=1.0)
        largest = np.abs(model._coefficients).max() / (1 + 1.0)
        assert_allclose(largest, C, rtol=1e-6)  # overlapping classes have rows at the bound


@case("C_unlabeled", "SHFA")
def the_cost_of_unlabelled_errors_weighs_the_unlabelled_rows(fit):
    shares = []
    for C in (1e-6, 1.0):
        coefficients = np.abs(fit(few_labels(), C_unlabeled=C, max_iter=1)._coefficients)
        shares.append(coefficients[12:].sum() / coefficients.sum())  # 12 labelled rows come first
    assert shares[0] < 0.01
    assert shares[1] > 0.2


def crossed_pair():
    """A target whose two classes no line separates: each has two opposite corners of a square."""
    rng = np.random.default_rng(0)
    corner = np.arange(80) % 4
    X_target = np.array([[3, 3], [-3, -3], [3, -3], [-3, 3]])[corner] + rng.normal(size=(80, 2)) * 0.3
    y_target = corner // 2
    given = np.where(np.arange(80) < 24, y_target, -1)
    return Pair(X_target + 0.1, y_target, X_target, y_target, given)


@case("kernel", "SHFA")
def a_linear_kernel_separates_by_lines_and_rbf_by_curves(fit):
    pair = crossed_pair()
    accuracies = [
        np.mean(fit(pair, kernel=kernel, scaling="none", semi_supervised=False).predict(pair.X_target) == pair.y_target)
        for kernel in ("rbf", "linear")
    ]
    assert accuracies[0] == 1.0
    assert accuracies[1] <= 0.8  # a line is right on at most three corners of four


@case("gamma", "SHFA")
def gamma_is_the_coefficient_of_the_squared_distance_of_the_rbf_kernel(fit):
    """With a huge one no row resembles another, and all rows take the class of the largest offset."""
    pair = crossed_pair()
    wide, narrow = (
        fit(pair, gamma=gamma, scaling="none", semi_supervised=False).predict(pair.X_target + 0.01)
        for gamma in (0.1, 1e9)
    )
    assert_array_equal(wide, pair.y_target)
    assert len(np.unique(narrow)) == 1


@case("max_unlabeled", "SHFA")
def unlabelled_rows_of_the_training_are_counted(fit):
    for max_unlabeled in (5, 20):
        assert len(fit(few_labels(), max_unlabeled=max_unlabeled, random_state=0)._rows) == 12 + max_unlabeled


@case("max_iter", "SHFA")
def label_vectors_are_counted(fit):
    models = [fit(few_labels(), max_iter=max_iter, tol=0.0, C_unlabeled=1.0) for max_iter in (1, 3)]
    assert [model.n_iter_ for model in models] == [1, 3]
    assert (models[1].objectives_ > models[0].objectives_).any()  # more label vectors raise the maximum over them


@case("tol", "SHFA")
def label_vectors_end_when_the_objective_grows_by_less_than_the_tolerance(fit):
    loose, tight = (fit(few_labels(), tol=tol, max_iter=5, C_unlabeled=1.0) for tol in (1e3, 0.0))
    assert loose.n_iter_ == 2
    assert tight.n_iter_ > 2
    assert (tight.objectives_ >= loose.objectives_ - 1e-9).all()


@case("random_state", "SHFA")
def a_seed_repeats_its_sample_of_unlabelled_rows(fit):
    first, again, other = (fit(easy_pair(), max_unlabeled=5, random_state=seed)._rows for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)
