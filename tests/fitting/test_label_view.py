"""Candidates of one view, against loops over its scaled rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC

from lpjt import Kernel
from lpjt.core.ridge import fit_linear_ridge
from lpjt.core.scaling import scale_rows
from lpjt.domains import open_domains
from lpjt.fitting.candidates import try_candidates
from lpjt.fitting.views import join_grounds, label_view
from lpjt.selection.scaling import Scalings
from oracles import squared_distance
from toys import plain_scaling
from trials import X_TARGET, X, Y, opened, plan_for


def nearest(row, others):
    return min(range(len(others)), key=lambda j: squared_distance(row, others[j]))


def nearest_other(rows, i):
    return min((j for j in range(len(rows)) if j != i), key=lambda j: squared_distance(rows[i], rows[j]))


@pytest.mark.parametrize("view", ["unit", "none", "standard"])
def test_a_view_by_loops(view):
    domains = open_domains(X, Y, {"a": X_TARGET[:20], "b": X_TARGET[20:]})
    plan = plan_for(domains, n_coordinates=None, n_components=2, max_iter=1, kernel="linear")
    found = label_view(domains, plan, view, Scalings(domains))
    source, *parts = (plain_scaling(rows, view) for rows in (X, X_TARGET[:20], X_TARGET[20:]))
    target = np.vstack(parts)
    by_name = {(s.family, s.masses): y for s, y in zip(found.settings, found.labellings, strict=True)}
    assert set(by_name) == {("nearest", None), ("linear", None), ("adapted", "source"), ("adapted", "free")}
    to_source = [nearest(row, source) for row in target]
    assert_array_equal(by_name["nearest", None], Y[to_source])
    regression = fit_linear_ridge(source, np.eye(3)[Y])
    assert_array_equal(by_name["linear", None], regression.values_of(target).argmax(axis=1))
    assert found.linear == regression.accuracy
    assert_allclose(found.local, np.mean([Y[nearest_other(source, i)] == Y[i] for i in range(len(source))]))
    first, second = ([nearest_other(part, i) for i in range(len(part))] for part in parts)
    assert_array_equal(found.nearest, first + [20 + j for j in second])
    assert_array_equal(found.reverse, [nearest(row, target) for row in source])
    cycle = np.mean([Y[to_source[found.reverse[i]]] == Y[i] for i in range(len(source))])
    kin = [sorted(range(len(source)), key=lambda j: squared_distance(row, source[j]))[:5] for row in target]
    pure = np.mean([[Y[j] == Y[near[0]] for j in near] for near in kin])
    assert_allclose(found.kinship, (cycle + pure) / 2)


def test_given_labels_are_kept_against_all_others():
    """The source has a copy of each labelled target row, with another label."""
    given = np.full(len(X_TARGET), -1)
    given[:6] = np.arange(6) % 3
    domains = open_domains(
        np.vstack([X_TARGET[:6]] * 3 + [X]), np.append(np.tile((given[:6] + 1) % 3, 3), Y), X_TARGET, given
    )
    plan = plan_for(domains, max_iter=1, kernel="linear")
    found = label_view(domains, plan, "source", Scalings(domains))
    assert len(found.labellings) == 5
    for labels in found.labellings:
        assert_array_equal(labels[:6], given[:6])


def test_grounds_are_joined_over_views():
    domains = opened()
    plan = plan_for(domains, max_iter=1, kernel="linear")
    views = [label_view(domains, plan, view, Scalings(domains)) for view in ("unit", "none")]
    ground = join_grounds(domains, views)
    assert ground.local == max(view.local for view in views)
    assert ground.linear == max(view.linear for view in views)
    assert [near is view.nearest for near, view in zip(ground.nearest, views, strict=True)] == [True, True]
    assert [near is view.reverse for near, view in zip(ground.reverse, views, strict=True)] == [True, True]
    assert_array_equal(ground.y_reverse, Y)


def test_domains_of_different_widths_are_not_compared():
    domains = opened("heterogeneous")
    trial, _ = try_candidates(domains, plan_for(domains, max_iter=1))
    assert trial.ground.reverse == ()
    assert_array_equal(trial.weighed.kinship, 0)
    assert {s.family for s in trial.first.settings} == {"adapted"}  # no labelled row has the target's width
    assert {s.view for s in trial.first.settings} == {"standard", "unit"}
    assert trial.adapts


def test_a_named_kernel_is_the_only_one():
    domains = opened()
    trial, plan = try_candidates(domains, plan_for(domains, max_iter=1, kernel=Kernel("poly", degree=2)))
    assert {s.kernel.function for s in trial.first.settings if s.kernel} == {"poly"}
    assert plan.kernel.degree == 2


def test_the_view_of_the_source_has_a_second_linear_classifier():
    domains = opened()
    scalings = Scalings(domains)
    plan = plan_for(domains, max_iter=1, kernel="linear", target_proportions="source")
    found = label_view(domains, plan, "source", scalings)
    assert [s.family for s in found.settings] == ["nearest", "linear", "linear", "adapted"]
    rows, target = (scale_rows(part, scalings.of("source")[0]) for part in (X, X_TARGET))
    machine = LinearSVC(dual="auto", random_state=0).fit(rows, Y)
    margins = np.sort(machine.decision_function(target), axis=1)
    clear = (
        margins[:, -1] - margins[:, -2] > 0.01
    )  # the coordinates are turned, and the solver stops a little elsewhere
    assert clear.mean() > 0.8
    assert_array_equal(found.labellings[2][clear], machine.predict(target)[clear])
