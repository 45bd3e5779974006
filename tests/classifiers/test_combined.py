"""Predictors made of others, the temperature, and class masses that are given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from lpjt import NuSVM, Propagation
from lpjt.classifiers import Averaged, Projected, Tempered, temper, with_masses
from lpjt.classifiers.propagation import ANCHORED_SHARE
from toys import embedded

GIVEN = np.array([0.6, 0.3, 0.1])


class Recorded:
    """A predictor that answers with given distributions and keeps what it was asked."""

    def __init__(self, answer):
        self.answer, self.asked = np.asarray(answer), None

    def distributions_of(self, Z):
        self.asked = Z
        return self.answer


def random_distributions(seed=0, n=40, n_classes=4):
    return np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.5), size=n)


def entropy(p):
    return -sum(x * np.log(x) for x in p if x > 0)


def test_projected_rows_reach_the_predictor():
    rng = np.random.default_rng(0)
    Z, P = rng.normal(size=(5, 4)), rng.normal(size=(4, 2))
    inner = Recorded(np.full((5, 3), 1 / 3))
    assert Projected(inner, P).distributions_of(Z) is inner.answer
    assert_allclose(inner.asked, [[sum(z[k] * P[k, j] for k in range(4)) for j in range(2)] for z in Z], rtol=1e-12)


def test_projected_rows_keep_their_precision():
    inner = Recorded(np.eye(2))
    Projected(inner, np.ones((4, 2))).distributions_of(np.ones((2, 4), dtype=np.float32))
    assert inner.asked.dtype == np.float32


def test_averaged_is_the_weighted_mean():
    first, second = Recorded(random_distributions(0)), Recorded(random_distributions(1))
    Z = np.zeros((40, 2))
    found = Averaged((first, second), (0.3, 0.7)).distributions_of(Z)
    assert_allclose(found, 0.3 * first.answer + 0.7 * second.answer, rtol=1e-12)
    assert first.asked is Z
    assert second.asked is Z
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


def test_averaged_needs_a_weight_for_each_part():
    with pytest.raises(ValueError, match="shorter"):
        Averaged((Recorded(np.eye(2)), Recorded(np.eye(2))), (1.0,)).distributions_of(np.zeros((2, 2)))


@pytest.mark.parametrize("temperature", [0.3, 1.7, 20.0])
def test_temper_is_a_power_scaled_to_sum_one(temperature):
    F = random_distributions()
    least = 0.01 / F.shape[1]
    expected = [[max(p, least) ** (1 / temperature) for p in row] for row in F]
    expected = [[p / sum(row) for p in row] for row in expected]
    assert_allclose(temper(F, temperature), expected, rtol=1e-9)


def test_temper_keeps_labels_and_moves_confidence():
    F = random_distributions()
    assert_allclose(temper(F, 1.0), F, rtol=1e-12)
    vaguer, sharper = temper(F, 2.0), temper(F, 0.5)
    for found in (vaguer, sharper):
        assert_array_equal(found.argmax(axis=1), F.argmax(axis=1))
        assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    for before, vague, sharp in zip(F, vaguer, sharper, strict=True):
        assert entropy(sharp) < entropy(before) < entropy(vague)


def test_temper_makes_even_certainty_vaguer_and_leaves_ties():
    F = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]])
    assert temper(F, 1.0) is F
    hot = temper(F, 3.0)
    assert 0.5 < hot[0, 0] < 0.9
    assert_allclose(hot[1, 0], hot[1, 1])
    assert_allclose(hot[2], 1 / 3)
    assert_allclose(temper(F, 0.05)[0], [1, 0, 0], atol=1e-9)
    assert temper(np.empty((0, 3)), 2.0).shape == (0, 3)


def test_temper_leaves_its_input():
    F = random_distributions()
    before = F.copy()
    temper(F, 3.0)
    assert_array_equal(F, before)


def test_tempered_predictor():
    inner = Recorded(random_distributions())
    Z = np.zeros((40, 2))
    assert_allclose(Tempered(inner, 2.5).distributions_of(Z), temper(inner.answer, 2.5), rtol=1e-12)
    assert inner.asked is Z


# --------------------------------------------------------------------------------------------------
# Class masses


def mass_normalised(F, proportions, power=1.0):
    """Columns scaled by (proportion / mass)^power, then rows to sum 1, entry by entry."""
    mass = [sum(row[c] for row in F) / len(F) for c in range(F.shape[1])]
    scaled = np.array([[row[c] * (proportions[c] / mass[c]) ** power for c in range(F.shape[1])] for row in F])
    return scaled / scaled.sum(axis=1, keepdims=True)


def known_and_unknown():
    Z_known, Y, Z = embedded()
    return np.vstack([Z_known, Z]), np.concatenate([Y.argmax(axis=1), np.full(len(Z), -1)]), Y


def classified(class_mass, **options):
    Z, labels, _ = known_and_unknown()
    return Propagation(class_mass=class_mass, **options).classify(Z, labels, None, 3)


def test_harmonic_labels_with_given_masses():
    free = classified(False, anchored=False)
    found = classified(GIVEN, anchored=False)
    assert_allclose(found, mass_normalised(free, GIVEN), atol=1e-5)
    assert_allclose(found, oracles.class_mass_normalise(free, GIVEN), atol=1e-5)
    assert_allclose(classified(GIVEN.tolist(), anchored=False), found, rtol=1e-12)
    assert np.abs(found - free).max() > 0.05


def test_default_labels_have_given_masses_half_the_way_in_their_anchored_share():
    Z, labels, Y = known_and_unknown()
    known = labels >= 0
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    first, halfway = (
        Propagation(class_mass=mass).start(unit[known], Y, unit[~known]) for mass in (False, GIVEN)
    )  # the anchored share alone
    assert_allclose(halfway, mass_normalised(first, GIVEN, 0.5), atol=1e-5)
    harmonic = (classified(False) - ANCHORED_SHARE * first) / (1 - ANCHORED_SHARE)
    expected = (1 - ANCHORED_SHARE) * mass_normalised(harmonic, GIVEN) + ANCHORED_SHARE * halfway
    assert_allclose(classified(GIVEN), expected, atol=1e-4)


@pytest.mark.parametrize("anchored", [False, True])
def test_true_takes_the_proportions_of_the_labelled_rows(anchored):
    _, _, Y = known_and_unknown()
    assert_allclose(classified(True, anchored=anchored), classified(Y.mean(axis=0), anchored=anchored), atol=1e-12)


def test_a_class_of_no_mass_gets_no_label():
    found = classified(np.array([0.5, 0.5, 0.0]))
    assert_array_equal(found[:, 2], 0)
    assert_allclose(found.sum(axis=1), 1, atol=1e-9)


@pytest.mark.parametrize("value", [False, True])
def test_booleans_of_numpy_are_booleans(value):
    assert_array_equal(classified(np.bool_(value)), classified(value))


def test_with_masses_by_name():
    rule = Propagation(n_neighbors=7, anchored=False, class_mass=False)
    assert with_masses(rule, "source").class_mass is True
    assert with_masses(Propagation(), "free").class_mass is False
    for name in ("given", "estimated"):
        assert_array_equal(with_masses(rule, name, GIVEN).class_mass, GIVEN)
    found = with_masses(rule, "source")
    assert (found.n_neighbors, found.anchored) == (7, False)
    assert rule.class_mass is False  # the caller's object stays as it is


def test_with_masses_leaves_what_has_none():
    rule, machine = Propagation(), NuSVM()
    assert with_masses(rule, "classifier") is rule
    for name in ("source", "free", "classifier"):
        assert with_masses(machine, name) is machine
    assert with_masses(machine, "given", GIVEN) is machine
