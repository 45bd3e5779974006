"""Propagations that differ in their class masses share their solutions on the graph, and answer as each alone."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lpjt import Propagation
from lpjt.classifiers import classify_each
from lpjt.core import propagation

MASSES = (True, False, np.array([0.7, 0.2, 0.1]))


@pytest.mark.parametrize("anchored", [True, False])
@pytest.mark.parametrize("n_unknown", [1, 25])
def test_shared_solutions_give_the_answers_of_each_classifier(n_unknown, anchored, monkeypatch):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40 + n_unknown, 5))
    labels = np.concatenate([np.arange(40) % 3, np.full(n_unknown, -1)])
    rules = [Propagation(n_neighbors=4, anchored=anchored, class_mass=mass) for mass in MASSES]
    alone = [rule.classify(Z, labels, None, 3) for rule in rules]
    searched, search = [], propagation.nearest_others
    monkeypatch.setattr(propagation, "nearest_others", lambda *a, **k: searched.append(1) or search(*a, **k))
    together = classify_each(rules, Z, labels, None, 3)
    for found, expected in zip(together, alone, strict=True):
        assert_array_equal(found, expected)
    assert len(searched) <= 1  # one graph for all of them
    together[0][:] = 0.0
    assert_array_equal(together[1], alone[1])
    if n_unknown > 1:
        assert (alone[0].argmax(axis=1) != alone[2].argmax(axis=1)).any()
