"""A whole fit goes on where its candidate ended: what it takes over, and what it leaves out."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from lpjt.core.alternation import Clock
from lpjt.domains import open_domains
from lpjt.fitting import adapt, candidates, samples, start
from lpjt.fitting.candidate import begin_candidate
from lpjt.selection.scaling import Scalings
from trials import X_TARGET, X, Y, opened, plan_for


def settled(**parameters):
    """Domains of 42 and 36 rows, the trial of their candidates and what it settles."""
    domains = opened()
    trial, plan = candidates.try_candidates(domains, plan_for(domains, **parameters))
    return domains, trial, plan


def begun(domains, trial, plan):
    reached = trial.reached_of([d.X.shape[0] for d in domains.targets])
    return begin_candidate(domains, plan, plan.views[0], Scalings(domains).of(plan.views[0]), Clock(), reached)


@pytest.mark.parametrize("kernels", ["linear", "rbf", "auto"])
def test_what_is_taken_over_is_what_would_be_found_again(kernels):
    domains, trial, plan = settled(kernel=kernels)
    assert plan.prepared is not None
    taken = begun(domains, trial, plan)
    found = begun(domains, trial, replace(plan, prepared=None))
    for one, other in zip(taken.problem.rows, found.problem.rows, strict=True):
        assert_array_equal(one, other)
    for one, other in zip(taken.advance().distributions, found.advance().distributions, strict=True):
        assert_array_equal(one, other)


def test_nothing_is_taken_over_where_the_whole_fit_has_other_coordinates():
    assert settled(n_coordinates=None)[2].prepared is None


def test_nothing_is_taken_over_from_sparse_rows():
    domains = open_domains(csr_array(X), Y, csr_array(X_TARGET))
    assert candidates.try_candidates(domains, plan_for(domains))[1].prepared is None


def test_nothing_is_taken_over_from_a_sample(monkeypatch):
    monkeypatch.setattr(samples, "FIRST_ROWS", (30, 10, 30))
    assert settled()[2].prepared is None


def test_a_kernel_that_compares_with_some_rows_is_learned_again():
    domains = opened()
    plan = plan_for(domains, kernel="rbf")
    for kernel in plan.kernels:
        kernel.max_rows = 40
    assert candidates.try_candidates(domains, plan)[1].prepared is None


def test_first_labels_of_a_whole_fit_are_found_only_where_the_last_ones_may_have_collapsed(monkeypatch):
    calls, original = [], start.first_labels
    monkeypatch.setattr(start, "first_labels", lambda *a: calls.append(a) or original(*a))
    domains = opened()
    adapt.adapt(domains, plan_for(domains))
    assert not calls
    monkeypatch.setattr(adapt, "COLLAPSED", 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = adapt.adapt(domains, plan_for(domains))
    assert len(calls) == 1
    assert any("fell from" in message for message in outcome.messages)


def test_late_first_labels_are_those_found_at_once():
    domains, trial, plan = settled()
    late = begun(domains, trial, plan)
    at_once = begin_candidate(domains, plan, plan.views[0], Scalings(domains).of(plan.views[0]), Clock())
    for one, other in zip(late.start, at_once.start, strict=True):
        assert_array_equal(one, other)
    assert np.vstack(late.start).sum() > 0
