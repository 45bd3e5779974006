"""Cases of the parameters that several baselines share: scaling, components, classifiers, seeds, iterations."""

import numpy as np
from baseline_cases import case, easy_pair, hard_pair
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

from lpjt import baselines

CLASSIFYING = ["PCASVM", "SA", "SDA", "LSSA", "GFK", "CORAL"]
PROJECTING = ["TCA", "JDA", "LSC", "TJM"]


@case("scaling", *baselines.__all__)
def scaling_undoes_the_units_of_columns_or_the_lengths_of_rows(fit):
    """ "standard" undoes a change of the units of the target's columns, and "unit" does not."""
    pair = easy_pair(apart=1.5)
    factors, shifts = 2.0 ** np.arange(-4, 4), 16.0 * np.arange(8)
    moved = pair._replace(X_target=pair.X_target * factors + shifts)
    standard = fit(pair, scaling="standard").transduction_
    assert_array_equal(fit(moved, scaling="standard").transduction_, standard)
    assert (fit(moved, scaling="unit").transduction_ != fit(pair, scaling="unit").transduction_).any()
    # "unit" undoes a factor per row.
    lengths = 2.0 ** (np.arange(len(pair.X_target)) % 5)
    longer = pair._replace(X_target=pair.X_target * lengths[:, None])
    assert_array_equal(fit(longer, scaling="unit").transduction_, fit(pair, scaling="unit").transduction_)
    assert (fit(longer, scaling="standard").transduction_ != standard).any()


@case("n_components", "PCASVM", "SA", "SDA", "LSSA", *PROJECTING, "JGSA", "CDLS", "SPL", "RTML", "PUnDA")
def components_are_the_columns_of_the_embedding(fit):
    for n_components in (2, 3):
        model = fit(easy_pair(), n_components=n_components)
        assert model.transform(easy_pair().X_target).shape[1] == n_components
        assert model.transform(easy_pair().X, "source").shape[1] == n_components


@case("n_components", "GFK", "MEDA")
def a_geodesic_embedding_has_twice_the_dimension_of_the_subspaces(fit):
    for n_components in (1, 3):
        model = fit(easy_pair(), n_components=n_components)
        assert model.transform(easy_pair().X_target).shape[1] == 2 * n_components


@case("classifier", *CLASSIFYING)
def the_classifier_labels_the_embedded_rows(fit):
    pair, found = hard_pair(), {}
    for kind, expected in {"nn": KNeighborsClassifier(1), "svm": SVC(C=1.0, kernel="linear")}.items():
        model = fit(pair, classifier=kind, C=1.0)
        expected.fit(model.transform(pair.X, "source"), pair.y)
        assert_array_equal(model.transduction_, expected.predict(model.transform(pair.X_target)))
        found[kind] = model.transduction_
    assert (found["nn"] != found["svm"]).any()


@case("C", *CLASSIFYING)
def a_larger_cost_of_errors_gives_a_smaller_margin(fit):
    low, high = (fit(hard_pair(), C=C, classifier="svm")._classifier for C in (0.01, 10.0))
    assert (np.abs(low.dual_coef_) <= 0.01 + 1e-12).all()  # each coefficient is bounded by C
    assert np.abs(high.dual_coef_).max() > 0.1
    assert np.linalg.norm(low.coef_) < 0.5 * np.linalg.norm(high.coef_)


@case("C", "LinearSVM")
def a_larger_cost_of_errors_lengthens_the_weights_of_a_linear_svm(fit):
    for form in ("one-vs-rest", "svm"):
        low, high = (fit(hard_pair(), C=C, form=form)._classifier for C in (0.001, 10.0))
        assert np.linalg.norm(low.coef_) < 0.5 * np.linalg.norm(high.coef_)


@case("C", "TargetSVM")
def the_cost_of_errors_bounds_the_coefficients_of_the_target_rows(fit):
    low, high = (fit(hard_pair(), C=C)._classifier for C in (0.5, 20.0))
    assert np.abs(low.dual_coef_).max() <= 0.5 + 1e-12
    assert 0.5 < np.abs(high.dual_coef_).max() <= 20.0 + 1e-12


@case("form", "LinearSVM")
def the_form_says_which_classes_are_separated(fit):
    pair = hard_pair()
    one, pairs = (fit(pair, form=form, C=1.0, scaling="none") for form in ("one-vs-rest", "svm"))
    assert one._classifier.coef_.shape == (4, 8)  # each class from all others
    assert pairs._classifier.coef_.shape == (6, 8)  # each pair of classes
    assert_array_equal(one.transduction_, LinearSVC(random_state=0).fit(pair.X, pair.y).predict(pair.X_target))
    assert_array_equal(pairs.transduction_, SVC(kernel="linear").fit(pair.X, pair.y).predict(pair.X_target))


@case("max_iter", "JDA", "LSC", "TJM", "JGSA", "MEDA", "SPL", "RTML", "PUnDA")
def iterations_are_counted(fit):
    models = [fit(hard_pair(seed=1), max_iter=max_iter) for max_iter in (1, 2)]
    assert [model.n_iter_ for model in models] == [1, 2]
    rows = hard_pair(seed=1).X_target
    embedded = [_scores(model, rows) for model in models]
    assert not np.allclose(*embedded)  # the second iteration was made, not only counted


def _scores(model, rows):
    """What the last iteration determines: MEDA's coefficients, the embedding of the others."""
    return model._coefficients if isinstance(model, baselines.MEDA) else np.abs(model.transform(rows))


@case("random_state", *PROJECTING)
def a_seed_repeats_its_sample_of_kernel_rows(fit):
    pair = easy_pair()
    parameters = {"kernel": "rbf", "kernel_rows": 20, "n_components": 3}
    first, again, other = (fit(pair, random_state=seed, **parameters).transform(pair.X_target) for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.allclose(np.abs(first), np.abs(other))


@case("kernel", *PROJECTING)
def a_linear_kernel_is_homogeneous_and_a_cosine_ignores_lengths(fit):
    pair = easy_pair()
    linear, cosine = (fit(pair, kernel=kernel, n_components=3, scaling="none") for kernel in ("linear", "cosine"))
    assert_allclose(linear.transform(2 * pair.X), 2 * linear.transform(pair.X), rtol=1e-8)
    assert_allclose(cosine.transform(2 * pair.X), cosine.transform(pair.X), rtol=1e-8)
    if fit.name != "TJM":  # the same rows span both, but "primal" regularises another matrix
        primal = fit(pair, kernel="primal", n_components=3, scaling="none")
        assert not np.allclose(np.abs(primal.transform(pair.X)), np.abs(linear.transform(pair.X)))


@case("gamma", *PROJECTING)
def gamma_is_the_coefficient_of_the_squared_distance(fit):
    """A row far from all others has no similarity to any of them, and is embedded at 0, where gamma is large alone."""
    pair = easy_pair()
    near, far = pair.X_target, pair.X_target + 20.0
    shares = []
    for gamma in (1.0, 1e-4):
        model = fit(pair, kernel="rbf", gamma=gamma, n_components=3, scaling="none")
        shares.append(np.linalg.norm(model.transform(far)) / np.linalg.norm(model.transform(near)))
    assert shares[0] < 1e-12
    assert shares[1] > 0.01


@case("kernel_rows", *PROJECTING)
def kernel_rows_bound_the_rank_of_a_kernel(fit):
    pair = easy_pair()
    for kernel_rows in (5, 12):
        model = fit(pair, kernel="rbf", kernel_rows=kernel_rows, n_components=50, random_state=0)
        assert model.transform(pair.X_target).shape[1] == kernel_rows


@case("regularization", *PROJECTING)
def less_regularisation_brings_the_means_closer(fit):
    """The gap of the means in units of the spread of the embedded rows, which the constraint keeps."""
    pair = hard_pair()
    gaps = []
    for regularization in (1e-6, 1e6):
        model = fit(pair, regularization=regularization, n_components=2, scaling="none")
        Z, Z_target = model.transform(pair.X, "source"), model.transform(pair.X_target)
        gaps.append(np.linalg.norm(Z.mean(axis=0) - Z_target.mean(axis=0)) / np.vstack([Z, Z_target]).std())
    assert gaps[0] < 0.1 * gaps[1]


@case("conditional", "JDA")
def without_conditions_jda_is_tca(fit):
    pair = hard_pair(seed=1)
    expected = baselines.TCA().fit(*pair[:3]).transform(pair.X_target)
    without, joint = (fit(pair, conditional=conditional) for conditional in (False, True))
    assert without.n_iter_ == 1
    assert_allclose(without.transform(pair.X_target), expected)
    assert joint.n_iter_ > 1
    assert not np.allclose(np.abs(joint.transform(pair.X_target)), np.abs(expected))
