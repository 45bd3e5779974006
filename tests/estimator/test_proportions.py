"""Class proportions of the target: how they are read, and what they do to labels."""

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from lpjt import LPJT, NuSVM, Propagation
from lpjt.parameters import make_plan
from lpjt.proportions import read_proportions
from problems import shifted_pair

CLASSES = np.array(["a", "b", "c"])
REMEDY = (
    "Give 3 numbers from 0 to 1 that sum to 1, in the order of classes_, a dict by class, or 'auto', "
    "'source' or 'free'."
)


def other_proportions(counts=(60, 12, 8), seed=0):
    """A balanced source and a shifted target of other class counts; classes overlap: X, y, X_target, y_target."""
    X, y, rows, codes = shifted_pair(seed, n_source=90, n_target=3 * max(counts), apart=0.8, shift=1.0)
    kept = np.concatenate([np.flatnonzero(codes == c)[:n] for c, n in enumerate(counts)])
    return X, CLASSES[y], rows[np.sort(kept)], CLASSES[codes[np.sort(kept)]]


X, y, X_target, y_target = other_proportions()
TRUE = [60 / 80, 12 / 80, 8 / 80]


def fit(proportions, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LPJT(target_proportions=proportions, **{"candidates": None, "random_state": 0, **parameters}).fit(
            X, y, X_target
        )


def plan_for(proportions, **parameters):
    given = LPJT(target_proportions=proportions, **parameters).get_params(deep=False)
    return make_plan(given, classes=CLASSES, widths=[6, 6], n_rows=90)


# --------------------------------------------------------------------------------------------------
# Reading


def test_arrays_are_in_the_order_of_the_classes():
    for given in ([0.5, 0.2, 0.3], (0.5, 0.2, 0.3), np.array([0.5, 0.2, 0.3], dtype=np.float32)):
        assert_allclose(read_proportions(given, CLASSES), [0.5, 0.2, 0.3], rtol=1e-6)
    assert_array_equal(read_proportions([1, 0, 0], CLASSES), [1, 0, 0])


def test_dicts_are_by_class_and_may_leave_classes_out():
    assert_allclose(read_proportions({"c": 0.3, "a": 0.5, "b": 0.2}, CLASSES), [0.5, 0.2, 0.3])
    assert_allclose(read_proportions({"c": 0.25, "b": 0.75}, CLASSES), [0, 0.75, 0.25])
    assert_allclose(read_proportions({7: 0.25, 3: 0.75}, np.array([3, 5, 7])), [0.75, 0, 0.25])


def test_rounding_is_forgiven():
    found = read_proportions([0.333, 0.333, 0.333], CLASSES)
    assert_allclose(found, 1 / 3, rtol=1e-12)
    assert_allclose(found.sum(), 1, rtol=1e-12)
    assert_allclose(read_proportions([0.3333, 0.3333, 0.334], CLASSES).sum(), 1, rtol=1e-12)


ERRORS = {
    "sum below": ([0.5, 0.2, 0.2], f"target_proportions sum to 0.9, not to 1. {REMEDY}"),
    "sum above": ([0.5, 0.2, 0.302], f"target_proportions sum to 1.002, not to 1. {REMEDY}"),
    "counts": ([60, 12, 8], f"target_proportions sum to 80, not to 1. {REMEDY}"),
    "negative": ([1.2, -0.2, 0.0], f"target_proportions has the value -0.2. {REMEDY}"),
    "nan": ([0.5, np.nan, 0.5], f"target_proportions has the value nan. {REMEDY}"),
    "infinite": ([0.5, 0.5, np.inf], f"target_proportions has the value inf. {REMEDY}"),
    "too few": ([0.5, 0.5], f"target_proportions has shape (2,), but there are 3 classes. {REMEDY}"),
    "a matrix": ([[0.5, 0.2, 0.3]], f"target_proportions has shape (1, 3), but there are 3 classes. {REMEDY}"),
    "no numbers": (["x", "y", "z"], f"target_proportions=['x', 'y', 'z'] are not numbers. {REMEDY}"),
    "no numbers in a dict": ({"a": "much"}, f"target_proportions=['much', 0.0, 0.0] are not numbers. {REMEDY}"),
    "unknown class": (
        {"a": 0.5, "d": 0.5},
        "target_proportions has the class 'd', which the source lacks. Its classes are 'a', 'b', 'c'.",
    ),
    "empty dict": ({}, f"target_proportions sum to 0, not to 1. {REMEDY}"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_words_of_errors(name):
    given, words = ERRORS[name]
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        read_proportions(given, CLASSES)
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        fit(given)


def test_many_classes_are_not_all_listed():
    with pytest.raises(ValueError, match=r"the class 99, .* Its classes are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\.\.$"):
        read_proportions({99: 1.0}, np.arange(12))


@pytest.mark.parametrize("given", [0.5, "equal", None])
def test_other_values_are_refused(given):
    with pytest.raises(ValueError, match="'target_proportions' parameter of LPJT"):
        fit(given)


@pytest.mark.parametrize("classifier", [NuSVM(), LogisticRegression()])
@pytest.mark.parametrize("given", ["free", TRUE, {"a": 1.0}])
def test_classifiers_without_class_masses_refuse_proportions(classifier, given):
    words = (
        f"target_proportions={given!r} needs label propagation, but classifier=",
        "does not normalise class masses. Set classifier='propagation' or target_proportions='auto'.",
    )
    with pytest.raises(ValueError, match=".*".join(map(re.escape, words))):
        fit(given, classifier=classifier)
    for harmless in ("auto", "source"):
        assert plan_for(harmless, classifier=classifier).masses == ("classifier",)


# --------------------------------------------------------------------------------------------------
# The plan


def test_masses_of_the_plan():
    assert plan_for("auto").masses == ("source", "free")
    for name in ("source", "free"):
        assert plan_for(name).masses == (name,)
        assert plan_for(name).proportions is None
    given = plan_for({"c": 1.0})
    assert given.masses == ("given",)
    assert_array_equal(given.proportions, [0, 0, 1])
    # A classifier with masses of its own keeps them, unless proportions are named.
    own = Propagation(class_mass=False)
    assert plan_for("auto", classifier=own).masses == ("classifier",)
    assert plan_for("auto", classifier=own, candidates=None).classifier.class_mass is False
    assert plan_for("source", classifier=own, candidates=None).classifier.class_mass is True
    assert own.class_mass is False


def test_without_candidates_the_classifier_has_the_masses():
    assert plan_for("auto", candidates=None).classifier.class_mass is True
    assert plan_for("source", candidates=None).classifier.class_mass is True
    assert plan_for("free", candidates=None).classifier.class_mass is False
    assert_allclose(plan_for(TRUE, candidates=None).classifier.class_mass, TRUE)


# --------------------------------------------------------------------------------------------------
# Labels


def labelled(model):
    return np.array([np.mean(model.transduction_ == c) for c in CLASSES])


def distance(p, q):
    """Total variation distance."""
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def test_true_proportions_draw_the_labels_towards_them():
    by_source, by_truth = fit("source"), fit(TRUE)
    assert distance(labelled(by_truth), TRUE) < 0.5 * distance(labelled(by_source), TRUE)
    assert np.mean(by_truth.transduction_ == y_target) > np.mean(by_source.transduction_ == y_target) + 0.05


def test_free_masses_leave_the_proportions_of_the_source():
    even = [1 / 3] * 3
    by_source, free = labelled(fit("source")), labelled(fit("free"))
    assert distance(by_source, even) < distance(free, even) - 0.05
    of_auto, of_source = (fit(value, refine=False).transduction_ for value in ("auto", "source"))
    assert_array_equal(of_auto, of_source)


def test_a_class_left_out_of_the_dict_gets_no_label():
    model = fit({"a": 0.8, "b": 0.2}, refine=False)
    assert set(model.transduction_) == {"a", "b"}
    assert_array_equal(model.label_distributions_[:, 2], 0)


@pytest.mark.parametrize("candidates", [None, "auto"])
def test_a_class_left_out_gets_no_label_from_candidates_and_regressions_either(candidates):
    rows, labels, rows_target, _ = shifted_pair()
    given = {"target_proportions": {0: 0.5, 1: 0.5}, "candidates": candidates, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert 2 not in LPJT(**given).fit(rows, labels, rows_target).transduction_


def test_a_dict_and_an_array_are_one():
    given = dict(zip(["c", "a", "b"], [TRUE[2], TRUE[0], TRUE[1]], strict=True))
    assert_array_equal(fit(given).label_distributions_, fit(TRUE).label_distributions_)
    assert_array_equal(fit(np.array(TRUE)).label_distributions_, fit(TRUE).label_distributions_)


def test_all_rows_of_a_sampled_fit_have_the_masses():
    by_source, by_truth = fit("source", sample_size=45), fit(TRUE, sample_size=45)
    assert distance(labelled(by_truth), TRUE) < 0.7 * distance(labelled(by_source), TRUE)


def test_parameters_are_left_as_they_are():
    given = {"a": 0.8, "b": 0.2}
    model = fit(given)
    assert model.target_proportions is given
    assert given == {"a": 0.8, "b": 0.2}
