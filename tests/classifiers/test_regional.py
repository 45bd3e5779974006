"""Propagation region by region: what the tasks of a cluster compute."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.classifiers import NuSVM, Propagation
from lpjt.classifiers.regional import RegionalPropagation, merge_guests, search_members, works_in_regions
from lpjt.core.neighbors import Neighbors
from lpjt.core.propagation import normalise_class_mass, normalise_rows


def test_lists_of_guests_are_merged_by_row():
    own = Neighbors(np.array([[5, 7], [2, -1], [4, 9]]), np.array([[0.1, 0.4], [0.3, np.inf], [0.2, 0.5]], dtype="f4"))
    guests = [
        (np.array([0, 1]), Neighbors(np.array([[7, 8], [3, 6]]), np.array([[0.4, 0.2], [0.1, 0.9]], dtype="f4"))),
        (np.array([1]), Neighbors(np.array([[6, 1]]), np.array([[0.9, 0.05]], dtype="f4"))),
    ]
    merged = merge_guests(own, guests)
    assert_array_equal(merged.indices, [[5, 8], [1, 3], [4, 9]])
    assert_allclose(merged.squared, [[0.1, 0.2], [0.05, 0.1], [0.2, 0.5]], rtol=1e-6)


def test_members_are_found_by_their_numbers():
    Z = np.arange(4.0)[:, None]
    found = search_members(Z, np.array([[0], [0], [0], [1]]), np.array([40, 10, 30, 20]), 2)
    assert_array_equal(found.indices, [[10, 30], [40, 30], [10, 40], [-1, -1]])


@pytest.mark.parametrize("class_mass", [True, False, [0.7, 0.3]], ids=str)
def test_both_solutions_are_mixed_with_the_masses_of_all_rows(class_mass):
    rule = RegionalPropagation(Propagation(class_mass=class_mass), np.zeros((4, 2)), np.array([0, 0, 0, 1]), 2, "exact")
    F, mass = np.array([[0.2, 0.6, 0.5, 0.3], [0.9, 0.1, 0.0, 0.8]]), np.array([0.4, 0.2, 0.1, 0.6])
    if class_mass is False:
        parts = [normalise_rows(F[:, :2]), normalise_rows(F[:, 2:])]
    else:
        proportions = np.array([0.75, 0.25] if class_mass is True else class_mass)
        parts = [
            normalise_class_mass(F[:, :2], proportions, power=0.5, mass=mass[:2]),
            normalise_class_mass(F[:, 2:], proportions, power=1.0, mass=mass[2:]),
        ]
    assert_allclose(rule.mix(F, mass), 0.3 * parts[0] + 0.7 * parts[1])


def test_which_classifiers_work_in_regions():
    assert works_in_regions(Propagation())
    assert not works_in_regions(Propagation(anchored=False))
    assert not works_in_regions(NuSVM())
