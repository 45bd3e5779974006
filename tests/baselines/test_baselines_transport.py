"""CORAL and optimal transport against their definitions, a second solver, and the figures printed for SURF."""

import builtins

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import oracles
import oracles_baselines_subspace as naive
from lpjt.baselines._base import ScaledDomain
from lpjt.baselines.coral import CORAL, recolouring
from lpjt.baselines.transport import OptimalTransport
from problems import shifted_pair

needs_data = pytest.mark.data


def mean_variance(X, X_target):
    return (np.trace(naive.covariance(X)) + np.trace(naive.covariance(X_target))) / (2 * X.shape[1])


# CORAL.


@pytest.mark.parametrize("width", [5, 40])
@pytest.mark.parametrize("regularization", [1.0, 1e-3])
def test_recolouring_is_the_product_of_two_matrix_roots(width, regularization):
    X, _, X_target, _ = shifted_pair(width=width, n_source=30, n_target=25)
    ridge = regularization * mean_variance(X, X_target)
    A = recolouring(X, X_target, regularization)
    assert_allclose(A, naive.coral(X, X_target, ridge), rtol=1e-6, atol=1e-6)
    eye = np.eye(width)
    moved = A.T @ (naive.covariance(X) + ridge * eye) @ A
    assert_allclose(moved, naive.covariance(X_target) + ridge * eye, rtol=1e-7, atol=1e-7)


def test_the_moved_source_has_the_covariance_of_the_target():
    X, y, X_target, _ = shifted_pair(n_source=200, n_target=150)
    model = CORAL(regularization=1e-10, scaling="none").fit(X, y, X_target)
    moved = model.transform(X, "source")
    assert_allclose(naive.covariance(moved), naive.covariance(X_target), rtol=1e-5, atol=1e-6)
    assert_allclose(naive.mean_row(moved), naive.mean_row(X_target), atol=1e-10)
    assert_array_equal(model.transform(X_target), X_target)


def test_the_regularisation_is_the_references_on_z_scores():
    X, _, X_target, _ = shifted_pair()
    X, X_target = ((rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1) for rows in (X, X_target))
    assert_allclose(recolouring(X, X_target, 1.0), naive.coral(X, X_target, 1.0), atol=1e-7)


def test_a_common_shift_of_the_rows_changes_nothing():
    X, y, X_target, _ = shifted_pair(apart=1.0)
    found = CORAL(scaling="none", classifier="nn").fit(X, y, X_target)
    moved = CORAL(scaling="none", classifier="nn").fit(X + 100, y, X_target + 100)
    assert_allclose(moved.transform(X + 100, "source"), found.transform(X, "source") + 100, rtol=1e-8)
    assert_array_equal(moved.transduction_, found.transduction_)


def test_its_unit_follows_the_rows():
    X, _, X_target, _ = shifted_pair()
    assert_allclose(recolouring(X / 100, X_target / 100, 1.0), recolouring(X, X_target, 1.0), rtol=1e-8, atol=1e-10)


def test_rows_without_spread_are_left_alone():
    assert_array_equal(recolouring(np.ones((4, 3)), np.ones((5, 3)), 1.0), np.eye(3))


# Optimal transport.


def sides(seed=0, **choices):
    X, y, X_target, _ = shifted_pair(seed, **{"n_source": 24, "n_target": 18, "apart": 1.0, **choices})
    cost = cdist(X, X_target, "sqeuclidean")
    return ScaledDomain(X, y), ScaledDomain(X_target, np.full(len(X_target), -1)), cost / np.median(cost)


@pytest.mark.parametrize("method", ["sinkhorn-lpl1", "sinkhorn", "emd"])
def test_the_plan_carries_all_mass_of_both_sides(method):
    source, target, _ = sides()
    plan = OptimalTransport(method=method, reg=0.5)._plan(source, target)
    assert (plan >= 0).all()
    assert_allclose(plan.sum(axis=1), 1 / 24, atol=1e-6)
    assert_allclose(plan.sum(axis=0), 1 / 18, atol=1e-6)


def test_the_exact_plan_is_the_best_assignment():
    source, target, cost = sides(n_target=24)
    plan = OptimalTransport(method="emd")._plan(source, target)
    rows, columns = linear_sum_assignment(cost)
    assert (plan * cost).sum() == pytest.approx(cost[rows, columns].mean(), rel=1e-10)


def test_the_entropic_plan_meets_its_condition_of_optimality():
    """log plan + cost / reg is a sum of a term of the row and one of the column."""
    source, target, cost = sides()
    plan = OptimalTransport(method="sinkhorn", reg=0.3)._plan(source, target)
    potential = np.log(plan) + cost / 0.3
    spread = potential - potential.mean(axis=0) - potential.mean(axis=1, keepdims=True) + potential.mean()
    assert_allclose(spread, 0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:Sinkhorn did not converge")  # of POT's own loop
@pytest.mark.parametrize("reg_cl", [0.1, 1.0])
def test_the_plan_by_classes_is_that_of_pot_and_lowers_the_objective(reg_cl):
    ot = pytest.importorskip("ot")
    source, target, cost = sides()
    choice = {"reg": 0.2, "reg_cl": reg_cl}
    plan = OptimalTransport(**choice)._plan(source, target)
    masses = np.full(24, 1 / 24), np.full(18, 1 / 18)
    expected = ot.da.sinkhorn_lpl1_mm(masses[0], source.y, masses[1], cost, 0.2, reg_cl, numInnerItermax=200)
    assert_allclose(plan, expected, atol=1e-10)
    without = OptimalTransport(method="sinkhorn", reg=0.2)._plan(source, target)
    of_plan, of_other = (naive.transport_objective(p, cost, source.y, 0.2, reg_cl) for p in (plan, without))
    assert of_plan < of_other


def test_source_rows_go_to_the_barycentres_of_their_plan_and_the_nearest_gives_the_label():
    source, target, cost = sides()
    model = OptimalTransport(method="emd", scaling="none").fit(source.X, source.y, target.X)
    plan = model._plan(source, target)
    barycentres = [sum(24 * plan[i, j] * target.X[j] for j in range(18)) for i in range(24)]
    assert_allclose(model.transported_, barycentres, atol=1e-10)
    assert_array_equal(model.transduction_, oracles.nearest_labels(barycentres, source.y, target.X))
    new = target.X[:4] + 0.3
    assert_array_equal(model.predict(new), oracles.nearest_labels(barycentres, source.y, new))
    assert cost.shape == plan.shape


def test_reg_has_one_meaning_whatever_the_unit_of_the_rows():
    X, y, X_target, _ = shifted_pair()
    found = OptimalTransport(scaling="none").fit(X, y, X_target)
    scaled = OptimalTransport(scaling="none").fit(1000 * X, y, 1000 * X_target)
    assert_allclose(scaled.transported_, 1000 * found.transported_, rtol=1e-6)


def test_a_plan_beyond_the_limit_is_refused_before_it_is_made():
    X, y, X_target, _ = shifted_pair()
    with pytest.raises(ValueError, match=r"a plan of 90 x 75 entries, more than limit=6749. Give fewer rows, or raise"):
        OptimalTransport(limit=6749).fit(X, y, X_target)
    OptimalTransport(limit=6750, method="emd").fit(X, y, X_target)


def test_a_plan_that_underflows_is_refused_in_words():
    X, y, X_target, _ = shifted_pair(shift=20.0)
    with pytest.raises(ValueError, match=r"reg=1e-09 is lost to underflow. Give a larger reg"):
        OptimalTransport(method="sinkhorn", reg=1e-9, scaling="none").fit(X, y, X_target)


def test_a_plan_that_did_not_converge_is_a_warning_with_a_number_and_a_knob():
    X, y, X_target, _ = shifted_pair(shift=0.5)
    with pytest.warns(
        RuntimeWarning, match=r"masses of the transport plan are wrong by .* after max_iter=1. Increase max_iter or"
    ):
        OptimalTransport(method="sinkhorn", reg=0.01, max_iter=1, scaling="none").fit(X, y, X_target)


def test_without_pot_the_remedy_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "ot":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    X, y, X_target, _ = shifted_pair()
    with pytest.raises(ImportError, match=r"`POT` is needed for OptimalTransport. Install it with `pip install"):
        OptimalTransport().fit(X, y, X_target)


# Means of the twelve pairs of SURF in print: 46.7 (Sun et al., AAAI 2016) and 48.8 (Wang et al., ACM Multimedia 2018).
@needs_data
@pytest.mark.slow
def test_coral_on_surf_is_as_published_in_the_mean():
    from lpjt.datasets import TABLES, load_problem

    found = []
    for pair in TABLES["surf"].pairs:
        problem = load_problem("surf", pair)
        model = CORAL(C=1.0, scaling="sum-zscore").fit(problem.X_source, problem.y_source, problem.X_target)
        found.append(100 * np.mean(model.transduction_ == problem.y_target))
    assert abs(np.mean(found) - 48.8) <= 3
    assert abs(np.mean(found) - 46.7) <= 3
