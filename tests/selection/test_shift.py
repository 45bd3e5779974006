"""Class proportions from the labels themselves: how far they are believed, and what they do to distributions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core.propagation import normalise_rows
from lpjt.selection.shift import believe_distributions, believe_proportions, shift_factors

FLAT = np.full(10, 0.1)


def lacking(n_missing):
    """Proportions of ten classes of which the first are missing."""
    found = np.where(np.arange(10) < n_missing, 0.0, 1.0)
    return found / found.sum()


def posteriors(proportions, n=4000, spread=1.0, seed=0):
    """Exact posteriors, with equal priors, of rows from normal classes on a circle; and their true labels."""
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(len(proportions)) / len(proportions)
    centres = 3 * np.column_stack([np.cos(angles), np.sin(angles)])
    y = rng.choice(len(proportions), size=n, p=proportions)
    rows = centres[y] + spread * rng.normal(size=(n, 2))
    squared = ((rows[:, None] - centres) ** 2).sum(axis=2)
    return normalise_rows(np.exp(-(squared - squared.min(axis=1, keepdims=True)) / (2 * spread**2))), y


def test_the_proportions_of_the_source_are_left_alone():
    assert believe_proportions(FLAT, FLAT, 1.0, 1000) == 0
    F, _ = posteriors(FLAT)
    assert_array_equal(shift_factors(F, FLAT, 0.0), 1)


@pytest.mark.parametrize(("n_missing", "consent", "believed"), [(8, 0.9, 1.0), (5, 0.9, 1.0), (1, 0.6, 0.0)])
def test_missing_classes_are_believed_if_the_candidates_agree(n_missing, consent, believed):
    assert believe_proportions(lacking(n_missing), FLAT, consent, 1000) == believed


def test_belief_falls_with_doubt_and_with_few_rows():
    found = 0.8 * FLAT + 0.2 * lacking(8)  # 0.16 from the source
    beliefs = [believe_proportions(found, FLAT, consent, 10_000) for consent in (1.0, 0.75, 0.6, 0.55)]
    expected = (0.16 - 0.23 * 10**0.25 * 0.25 - 0.2 * np.sqrt(10 / 10_000)) / 0.1
    assert_allclose(beliefs, [1, expected, 0, 0], atol=1e-12)
    assert believe_proportions(found, FLAT, 0.8, 10_000) > believe_proportions(found, FLAT, 0.8, 50)


@pytest.mark.parametrize(("n_classes", "noise"), [(2, 0.4), (9, 0.4), (68, 0.23 * 68**0.25)])
def test_wrong_labels_of_many_classes_pile_up_in_a_few(n_classes, noise):
    flat = np.full(n_classes, 1 / n_classes)
    found = 0.3 * np.eye(n_classes)[0] + 0.7 * flat
    distance = 0.3 * (1 - 1 / n_classes)
    consent = 1 - (distance - 0.05) / noise  # so that wrong labels explain all but half of what is needed
    assert_allclose(believe_proportions(found, flat, consent, 10**9), 0.5, atol=1e-3)


def test_expectation_maximisation_wants_votes():
    beliefs = [believe_distributions(consent) for consent in (0.0, 0.45, 0.5, 0.55, 1.0)]
    assert_allclose(beliefs, [0, 0, 0.5, 1, 1], atol=1e-12)


def test_expectation_maximisation_comes_near_the_proportions_and_labels_better():
    true = lacking(6)
    F, y = posteriors(true, spread=1.3)
    factors = shift_factors(F, FLAT, 1.0)
    shifted = normalise_rows(F * factors)
    before, after = (np.abs(G.mean(axis=0) - true).sum() / 2 for G in (F, shifted))
    assert before > 0.15
    assert after < 0.6 * before  # three steps of the way
    assert np.mean(shifted.argmax(axis=1) == y) > np.mean(F.argmax(axis=1) == y) + 0.05


@pytest.mark.parametrize("belief", [1.0, 0.4])
def test_the_steps_are_those_of_loops(belief):
    """The update of Saerens et al.: new proportions are the mean posterior under the old ones."""
    F, _ = posteriors(lacking(3), n=60)
    expected = [1.0] * 10
    for _ in range(3):
        masses = [0.3] * 10  # rows that keep the source's proportions, per class
        for row in F:
            joint = [p * f for p, f in zip(row, expected, strict=True)]
            masses = [m + value / sum(joint) for m, value in zip(masses, joint, strict=True)]
        expected = [(m / (60 + 3) / 0.1) ** belief for m in masses]
    assert_allclose(shift_factors(F, FLAT, belief), expected, rtol=1e-10)


def test_half_a_belief_is_a_milder_correction():
    F, _ = posteriors(lacking(5))
    half, full = (np.log(shift_factors(F, FLAT, belief)) for belief in (0.5, 1.0))
    assert (np.abs(half) <= np.abs(full) + 1e-9).all()
    assert np.abs(half).max() > 0.3


def test_a_class_that_the_source_lacks_and_no_rows_are_no_error():
    of_source = np.array([0.5, 0.5, 0.0])
    F, _ = posteriors(np.array([0.2, 0.4, 0.4]), n=50)
    assert np.isfinite(shift_factors(F, of_source, 1.0)).all()
    assert_array_equal(shift_factors(np.empty((0, 3)), of_source, 1.0), 1)
