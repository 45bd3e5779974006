"""Class masses that a trial settles: the source's, those of the consensus, or those that were named."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lpjt import Propagation
from lpjt.domains import open_domains
from lpjt.fitting.candidates import settle_masses, try_candidates
from trials import X_TARGET, X, Y, calls_of_iterate, opened, plan_for

#: What half of the noise of drawing a hundred rows of two classes counts.
DRAWN = 0.2 * np.sqrt(2 / 100)


def settled(found, of_source=(0.5, 0.5), consent=0.75, **parameters):
    """Masses for a consensus of these proportions, in hundredths, whose labels have this share of the votes."""
    counts, of_classes = (np.round(100 * np.asarray(p)).astype(int) for p in (found, of_source))
    consensus = np.repeat([[0.6, 0.4], [0.4, 0.6]], counts, axis=0)
    first = SimpleNamespace(weighed=SimpleNamespace(consensus=consensus, consent=consent))
    domains = SimpleNamespace(sources=[SimpleNamespace(y=np.repeat([0, 1], of_classes))], weights=None)
    some = open_domains(X, Y % 2, X_TARGET)
    return settle_masses(plan_for(some, **parameters), first, domains)


@pytest.mark.parametrize("found", [(0.5, 0.5), (0.41, 0.59), (0.59, 0.41), (0.4, 0.6)])
def test_a_consensus_near_the_source_takes_its_proportions(found):
    assert settled(found) == ("source", None)  # with a quarter of the votes against it, a distance of 0.1 is noise


@pytest.mark.parametrize("found", [(0.25, 0.75), (0.9, 0.1), (0.27, 0.73)])
def test_a_consensus_far_from_the_source_has_its_own(found):
    name, proportions = settled(found)
    assert name == "estimated"
    assert_allclose(proportions, found, atol=1e-10)


def test_a_consensus_in_between_is_blended():
    name, proportions = settled((0.35, 0.65))  # a distance of 0.15: beyond noise, and short of certainty
    assert name == "estimated"
    share = (0.15 - 0.4 * 0.25 - DRAWN) / 0.1
    assert_allclose(proportions, [(1 - share) * 0.5 + share * 0.35, (1 - share) * 0.5 + share * 0.65], atol=1e-10)
    _, proportions = settled((0.45, 0.55), of_source=(0.63, 0.37))
    share = (0.18 - 0.4 * 0.25 - DRAWN) / 0.1
    assert_allclose(proportions, [(1 - share) * 0.63 + share * 0.45, (1 - share) * 0.37 + share * 0.55], atol=1e-10)


def test_votes_decide_what_is_noise():
    assert settled((0.3, 0.7), consent=0.5) == ("source", None)
    _, proportions = settled((0.35, 0.65), consent=1.0)
    assert_allclose(proportions, [0.35, 0.65], atol=1e-10)


def test_a_consensus_with_few_votes_wants_a_larger_distance():
    assert settled((0.9, 0.1), consent=0.05) == ("source", None)
    _, proportions = settled((0.9, 0.1), consent=0.2)
    share = (0.4 - 0.4 * 0.8 - DRAWN) / 0.1
    assert_allclose(proportions, [0.5 + 0.4 * share, 0.5 - 0.4 * share], atol=1e-10)


def test_a_class_can_return():
    _, proportions = settled((1.0, 0.0))
    assert_allclose(proportions, [1, 1e-4], atol=1e-12)


def test_named_masses_are_kept():
    assert settled((0.9, 0.1), target_proportions="source") == ("source", None)
    assert settled((0.5, 0.5), target_proportions="free") == ("free", None)
    name, proportions = settled((0.5, 0.5), target_proportions={0: 0.8, 1: 0.2})
    assert name == "given"
    assert_allclose(proportions, [0.8, 0.2])
    assert settled((0.9, 0.1), classifier=Propagation(class_mass=False)) == ("classifier", None)


@pytest.mark.parametrize(
    ("given", "mass"), [("free", False), ("source", True), ({0: 0.6, 1: 0.3, 2: 0.1}, [0.6, 0.3, 0.1])]
)
def test_every_candidate_has_the_named_masses(monkeypatch, given, mass):
    first, second = calls_of_iterate(monkeypatch)
    domains = opened()
    trial, plan = try_candidates(domains, plan_for(domains, target_proportions=given))
    for rule in [plan.classifier, *(plan.classifier for _, plan in (*first, *second))]:
        assert_allclose(rule.class_mass, mass, rtol=1e-12)
    assert len(first) == 20  # two iterations for each of five views and two kernels
    name = given if isinstance(given, str) else "given"
    assert {s.masses for s in trial.settings if s.family == "adapted"} == {name}
