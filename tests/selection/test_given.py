"""Evidence from given target labels: what candidates find of labels that are hidden from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_choice import random_case

from lpjt.selection.choice import weigh_candidates
from lpjt.selection.given import evidence_of_given, given_noise, given_weight, split_given, update_estimate


def test_every_given_label_is_hidden_once_and_halves_share_the_classes():
    y = np.array([-1, 0, 0, 1, -1, 1, 2, 0, 0, 2])
    halves = split_given(y)
    assert_array_equal(np.sort(np.concatenate(halves)), np.flatnonzero(y >= 0))
    assert [np.bincount(y[half], minlength=3).tolist() for half in halves] == [[2, 1, 1], [2, 1, 1]]
    assert split_given(np.full(4, -1)) == ()
    assert [half.tolist() for half in split_given(np.array([-1, 1]))] == [[1]]


def test_labels_that_are_found_raise_the_score():
    labellings, *rest = random_case()
    labels = np.arange(40) % 3
    answers = np.tile(labels, (len(labellings), 1))
    answers[0] = (labels + 1) % 3
    plain, weighed = (weigh_candidates(labellings, *rest, given=given) for given in (None, (answers, labels)))
    assert plain.found is None
    assert weighed.found.tolist() == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert_allclose(weighed.score - plain.score, given_weight(40) * weighed.found)
    assert weighed.weight[0] < plain.weight[0]


def test_the_weight_grows_with_the_number_of_labels():
    weights = [given_weight(n) for n in (0, 1, 10, 20, 50, 1000)]
    assert weights == sorted(weights)
    assert_allclose([weights[0], weights[3], weights[5]], [0, 0.5, 1], atol=1e-3)
    assert_allclose(evidence_of_given(np.array([[0, 1], [1, 1]]), np.array([0, 1]))[0], [1, 0.5])
    assert given_noise(0) == 0
    assert given_noise(1000) < given_noise(100)


def test_the_estimate_moves_by_what_is_found_beyond_the_claim():
    before = (0.6, 0.5, 0.7)
    right = np.arange(40) < 32
    value, low, high = update_estimate(before, right, np.full(40, 0.6))
    assert 0.6 < value < 0.8
    assert high - low == pytest.approx(0.2)
    worth = 0.24 * (1.645 / 0.1) ** 2 - 1
    share = 0.4 * 40 / (0.4 * 40 + worth)
    assert value == pytest.approx(0.6 + share * 0.2)
    # Rows in doubt that are found as often as they claim say nothing against the estimate.
    assert update_estimate(before, np.arange(40) < 12, np.full(40, 0.3))[0] == pytest.approx(0.6)


def test_more_labels_move_the_estimate_further_and_leave_the_width_of_its_interval():
    found = [update_estimate((0.6, 0.4, 0.8), np.ones(n, dtype=bool), np.full(n, 0.6)) for n in (1, 10, 100)]
    assert [value for value, _, _ in found] == sorted(value for value, _, _ in found)
    assert all(high - value == pytest.approx(min(0.2, 1 - value)) for value, _, high in found)
    value, low, high = update_estimate((0.99, 0.99, 0.99), np.ones(5, dtype=bool), np.zeros(5))
    assert 0 <= low <= value <= high <= 1
