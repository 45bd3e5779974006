"""Cases of the parameters of methods for domains of one width: alignment, transport, JGSA, MEDA."""

import numpy as np
import pytest
from baseline_cases import case, easy_pair, hard_pair, squared_norm
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist, pdist
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel

import oracles_baselines_joint as naive_joint
import oracles_baselines_subspace as naive
from lpjt.baselines._base import ScaledDomain


def outside(directions, matrix):
    """Length of what the column space of a matrix lacks of orthonormal directions; 0 where they are inside."""
    U, values, _ = np.linalg.svd(matrix, full_matrices=False)
    U = U[:, values > 1e-8 * values[0]]
    return np.linalg.norm(directions - U @ (U.T @ directions))


@case("joint", "PCASVM")
def directions_are_those_of_all_rows_or_of_each_domain(fit):
    pair = easy_pair()
    parameters = {"n_components": 2, "scaling": "none"}
    together, apart = (fit(pair, joint=joint, **parameters).components_ for joint in (True, False))
    assert_array_equal(together["source"], together["target"])
    assert outside(PCA(2).fit(np.vstack([pair.X, pair.X_target])).components_.T, together["source"]) < 1e-8
    for name, rows in (("source", pair.X), ("target", pair.X_target)):
        assert outside(PCA(2).fit(rows).components_.T, apart[name]) < 1e-8
    assert not np.allclose(apart["source"], apart["target"], atol=1e-3)


@case("subspace", "GFK")
def the_sources_subspace_is_that_of_pca_or_of_pls(fit):
    pair = hard_pair()
    pca, pls = (fit(pair, subspace=subspace, n_components=2, scaling="none").root_ for subspace in ("pca", "pls"))
    principal = PCA(2).fit(pair.X).components_.T
    covarying, _ = np.linalg.qr(PLSRegression(2, scale=False).fit(pair.X, np.eye(4)[pair.y]).x_weights_)
    assert outside(principal, pca) < 1e-6 < 1e-2 < outside(principal, pls)
    assert outside(covarying, pls) < 1e-6 < 1e-2 < outside(covarying, pca)


@case("threshold", "LSSA")
def landmarks_are_the_rows_above_the_threshold(fit):
    for threshold in (0.5, 0.9):
        model = fit(hard_pair(), threshold=threshold, n_components=3)
        assert 0 < len(model.landmarks_) < len(model.overlap_)
        assert len(model.landmarks_) == (model.overlap_ > threshold).sum()


@case("n_scales", "LSSA")
def overlaps_are_the_largest_over_the_scales(fit):
    pair = hard_pair()
    distances = pdist(np.vstack([pair.X, pair.X_target]))
    for n_scales, percentiles in ((1, [50]), (3, [25, 50, 75])):
        model = fit(pair, n_scales=n_scales, n_components=3, scaling="none")
        scales = np.percentile(distances, percentiles)
        expected = [max(naive.overlap(c, pair.X, pair.X_target, s) for s in scales) for c in pair.X[:10]]
        assert_allclose(model.overlap_[:10], expected, rtol=1e-6)


@case("max_landmarks", "LSSA")
def landmarks_are_at_most_those_of_largest_overlap(fit):
    pair = hard_pair()
    rows = np.vstack([pair.X, pair.X_target])
    for max_landmarks in (5, 12):
        model = fit(pair, max_landmarks=max_landmarks, threshold=0.0, n_components=3, scaling="none")
        best = np.sort(np.argsort(-model.overlap_, kind="stable")[:max_landmarks])
        assert_array_equal(model.landmarks_, rows[best])


@case("regularization", "CORAL")
def without_regularisation_the_covariance_is_the_targets_and_with_much_the_sources(fit):
    pair = easy_pair()
    little, much = (fit(pair, regularization=r, scaling="none").transform(pair.X, "source") for r in (1e-9, 1e9))
    assert_allclose(np.cov(little.T), np.cov(pair.X_target.T), atol=1e-5)
    assert_allclose(np.cov(much.T), np.cov(pair.X.T), atol=1e-5)


def plan_of(model, pair):
    """Plan between unscaled rows, (n_source, n_target)."""
    return model._plan(ScaledDomain(pair.X, pair.y), ScaledDomain(pair.X_target, np.full(len(pair.X_target), -1)))


def class_term(plan, y):
    """Sum over target rows and classes of the root of the mass that the row receives from the class."""
    return sum(np.sqrt(plan[y == c].sum(axis=0)).sum() for c in np.unique(y))


@case("method", "OptimalTransport")
def emd_is_an_assignment_and_only_lpl1_uses_the_classes(fit):
    pair = hard_pair(n_target=60)
    rows, columns = linear_sum_assignment(cdist(pair.X, pair.X_target, "sqeuclidean"))
    exact = fit(pair, method="emd", scaling="none").transported_
    assert_allclose(exact[rows], pair.X_target[columns], atol=1e-10)
    relabelled = pair._replace(y=np.sort(pair.y))  # other rows share a class
    for method, uses_classes in (("sinkhorn", False), ("sinkhorn-lpl1", True)):
        first, second = (fit(p, method=method, scaling="none").transported_ for p in (pair, relabelled))
        assert np.allclose(first, second) != uses_classes
        assert not np.allclose(first, exact)


@case("reg", "OptimalTransport")
def more_entropy_spreads_each_row_over_the_whole_target(fit):
    pair = easy_pair()
    sharp, blurred = (fit(pair, reg=reg, method="sinkhorn", scaling="none") for reg in (0.05, 1e4))
    assert_allclose(blurred.transported_, np.tile(pair.X_target.mean(axis=0), (60, 1)), atol=1e-2)
    assert sharp.transported_.std() > 10 * blurred.transported_.std(axis=0).max()
    assert plan_of(sharp, pair).max() > 5 * plan_of(blurred, pair).max()


@case("reg_cl", "OptimalTransport")
def the_class_term_keeps_target_rows_to_few_classes(fit):
    pair = hard_pair()
    without, plain, much = (
        fit(pair, scaling="none", **parameters)
        for parameters in ({"reg_cl": 0.0}, {"method": "sinkhorn"}, {"reg_cl": 2.0})
    )
    assert_allclose(without.transported_, plain.transported_, atol=1e-3)
    terms = [class_term(plan_of(model, pair), pair.y) for model in (without, much)]
    assert terms[1] < 0.95 * terms[0]


@case("max_iter", "OptimalTransport")
def sinkhorn_iterations_are_counted(fit):
    pair = hard_pair()
    few, more = (fit(pair, max_iter=max_iter, method="sinkhorn", reg=0.02) for max_iter in (5, 40))
    assert (few.n_iter_, more.n_iter_) == (5, 40)
    assert not np.allclose(few.transported_, more.transported_)
    assert fit(pair, max_iter=50, reg=0.02).n_iter_ == 10 * 10  # ten outer iterations with a fifth each


@case("limit", "OptimalTransport")
def a_plan_beyond_the_limit_is_refused(fit):
    with pytest.raises(ValueError, match=r"a plan of 60 x 45 entries, more than limit=2699"):
        fit(easy_pair(), limit=2699)
    assert fit(easy_pair(), limit=2700).transported_.shape == (60, 8)


@case("coupling_weight", "JGSA")
def more_coupling_brings_the_projections_together(fit):
    ratios = []
    for weight in (1e-3, 1e3):
        A, B = fit(hard_pair(), coupling_weight=weight, n_components=3).projections_.values()
        ratios.append(squared_norm(A - B) / (squared_norm(A) + squared_norm(B)))
    assert ratios[1] < 1e-2 < 0.1 < ratios[0]


@case("variance_weight", "JGSA")
def much_weight_of_the_variance_gives_the_principal_directions_of_the_target(fit):
    pair = hard_pair()
    principal = PCA(2).fit(pair.X_target).components_.T
    little, much = (
        fit(pair, variance_weight=weight, n_components=2, scaling="none").projections_["target"]
        for weight in (0.1, 1e4)
    )
    assert outside(principal, much) < 0.05 < 0.5 < outside(principal, little)


@case("discrimination_weight", "JGSA")
def much_weight_of_the_classes_gives_the_discriminant_directions_of_the_source(fit):
    pair = hard_pair()
    _, vectors = linalg.eigh(*naive_joint.source_scatters(pair.X, pair.y, 4))
    discriminant, _ = np.linalg.qr(vectors[:, -2:])
    little, much = (
        fit(pair, discrimination_weight=weight, variance_weight=1e-3, n_components=2, scaling="none")
        for weight in (1e-4, 10.0)
    )
    assert outside(discriminant, much.projections_["source"]) < 0.05
    assert outside(discriminant, little.projections_["source"]) > 0.5


def meda_function(model):
    """Kernel matrix of the rows of fit, and f at these rows, (n, n_classes)."""
    K = rbf_kernel(model._rows, gamma=0.5)
    return K, K @ model._coefficients


@case("alignment_weight", "MEDA")
def more_alignment_brings_the_means_of_f_together(fit):
    gaps = []
    for weight in (0.0, 1e4):
        _, F = meda_function(fit(hard_pair(), alignment_weight=weight))
        gaps.append(np.linalg.norm(F[:60].mean(axis=0) - F[60:].mean(axis=0)))
    assert gaps[1] < 0.1 * gaps[0]


@case("laplacian_weight", "MEDA")
def more_weight_of_the_graph_smooths_f(fit):
    roughness = []
    for weight in (0.0, 100.0):
        model = fit(hard_pair(), laplacian_weight=weight)
        _, F = meda_function(model)
        L = naive_joint.cosine_laplacian(model._rows, 10)
        roughness.append(np.trace(F.T @ L @ F) / squared_norm(F))
    assert roughness[1] < 0.5 * roughness[0]


@case("shrinkage", "MEDA")
def shrinkage_shrinks_the_norm_of_f(fit):
    norms = []
    for shrinkage in (0.01, 10.0):
        model = fit(hard_pair(), shrinkage=shrinkage)
        K, _ = meda_function(model)
        norms.append(np.trace(model._coefficients.T @ K @ model._coefficients))
    assert norms[1] < 0.1 * norms[0]


@case("n_neighbors", "MEDA")
def neighbours_are_counted_in_the_graph(fit):
    """f solves the system of a graph in which each row has this many neighbours, counted by the oracle."""
    pair = hard_pair()
    for n_neighbors in (2, 25):
        model = fit(pair, n_neighbors=n_neighbors, max_iter=1, alignment_weight=0.0, laplacian_weight=5.0)
        K, F = meda_function(model)
        L = naive_joint.cosine_laplacian(model._rows, n_neighbors)
        labelled = np.arange(len(K)) < 60
        Y = np.eye(4)[np.concatenate([pair.y, np.zeros(45, dtype=int)])] * labelled[:, None]
        beta = np.linalg.solve((np.diag(labelled * 1.0) + 5.0 * L) @ K + 0.1 * np.eye(len(K)), Y)
        assert_allclose(F, K @ beta, atol=1e-6)


@case("max_rows", "MEDA")
def more_rows_than_the_maximum_are_refused(fit):
    with pytest.raises(ValueError, match=r"105 rows are more than max_rows=104"):
        fit(easy_pair(), max_rows=104)
    assert len(fit(easy_pair(), max_rows=105).transduction_) == 45
