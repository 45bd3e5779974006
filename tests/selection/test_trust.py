"""How far labels are trusted: the estimate, its interval, the calibration, absent classes, and the words."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.classifiers import temper
from lpjt.selection.doubts import doubt_uninformed, widen_for_one_class, widen_for_scale
from lpjt.selection.trust import (
    Facts,
    Trust,
    estimate_accuracy,
    find_absent,
    find_temperature,
    judge,
    sampling_error,
)

MIDDLE = Facts(agreement=0.7, adapted=0.7, certainty=0.6)

#: So many rows that none of them is right by luck.
MANY = 10**9


def facts_of(values):
    return Facts(**dict(zip(MIDDLE.__slots__, values, strict=True)))


# --------------------------------------------------------------------------------------------------
# Estimate


@pytest.mark.parametrize("n_rows", [1, 20, MANY])
@pytest.mark.parametrize("n_classes", [2, 3, 40])
def test_estimates_and_intervals_are_possible_accuracies(n_classes, n_rows):
    rng = np.random.default_rng(0)
    corners = [np.zeros(5), np.ones(5), *np.ndindex(*[2] * 5), *rng.random((30, 5))]
    for values in corners:
        value, low, high = estimate_accuracy(facts_of([float(v) for v in values]), n_classes, n_rows)
        assert 1 / n_classes <= value <= 0.99
        assert 0 <= low <= value <= high <= 1
        assert low < high
        assert all(isinstance(number, float) for number in (value, low, high))


@pytest.mark.parametrize("n_classes", [2, 10])
def test_no_evidence_is_a_guess_and_all_evidence_is_not_certain(n_classes):
    assert estimate_accuracy(Facts(*[0.0] * 3), n_classes, MANY)[0] == 1 / n_classes
    value, low, high = estimate_accuracy(Facts(*[1.0] * 3), n_classes, MANY)
    assert value == 0.99
    assert low > 0.9
    assert high == 1.0


def test_the_interval_is_wider_where_candidates_agree_less():
    widths = []
    for agreement in (0.65, 0.7, 0.75):
        value, low, high = estimate_accuracy(replace(MIDDLE, adapted=agreement, certainty=agreement), 20, MANY)
        assert 0.05 < low < high < 1  # nothing is cut off
        assert_allclose(value - low, high - value, rtol=1e-10)
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2] > 0


@pytest.mark.parametrize("name", ["adapted", "certainty"])
def test_the_estimate_follows_the_evidence(name):
    values = [estimate_accuracy(replace(MIDDLE, **{name: share}), 20, MANY)[0] for share in (0.3, 0.4, 0.5)]
    assert values[0] < values[1] < values[2]
    assert_allclose(values[2] - values[1], values[1] - values[0], rtol=1e-8)


def test_a_lack_of_certainty_counts_for_less_with_many_classes():
    few, ten, many = (estimate_accuracy(MIDDLE, n, MANY)[0] for n in (3, 10, 80))
    assert few == ten
    assert_allclose(many - ten, 0.13 * (1 - MIDDLE.certainty) * np.log(8), rtol=1e-10)
    sure = replace(MIDDLE, certainty=1.0, adapted=0.5)
    assert estimate_accuracy(sure, 10, MANY)[0] == estimate_accuracy(sure, 80, MANY)[0] < 0.99


def test_labels_are_hardly_better_than_what_classifiers_reach_on_the_source():
    sure = Facts(agreement=0.9, adapted=0.95, certainty=0.95)
    clear, dim, dark = (estimate_accuracy(replace(sure, clarity=share), 3, MANY) for share in (1.0, 0.6, 0.1))
    assert clear[0] > 0.95
    assert_allclose(dim[0], 0.7)
    assert_allclose(dim[1], 0.55)
    assert dark[0] == 1 / 3  # never below a guess
    assert dim[2] == clear[2]  # the target may have the easier classes
    assert estimate_accuracy(replace(MIDDLE, clarity=0.9), 20, MANY) == estimate_accuracy(MIDDLE, 20, MANY)


def test_of_few_rows_some_are_right_by_luck():
    widths = [np.subtract(*estimate_accuracy(MIDDLE, 20, n)[:0:-1]) for n in (3, 10, 100, MANY)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[3] + 0.2
    value, low, _ = estimate_accuracy(MIDDLE, 20, 30)
    _, low_many, _ = estimate_accuracy(MIDDLE, 20, MANY)
    assert_allclose(value - low, np.hypot(value - low_many, sampling_error(value, 30)), rtol=1e-6)


def test_the_sampling_error_is_half_of_wilsons_interval():
    for share, n in ((0.5, 10), (0.9, 3), (1.0, 40)):
        z = 1.645
        ends = [
            (share + z**2 / (2 * n) + side * z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))) / (1 + z**2 / n)
            for side in (-1, 1)
        ]
        assert_allclose(sampling_error(share, n), (ends[1] - ends[0]) / 2, rtol=1e-10)


# --------------------------------------------------------------------------------------------------
# Calibration


def distributions(kind, n=200, n_classes=4, seed=0):
    """Random distributions, (n, n_classes), without exact zeros."""
    rng = np.random.default_rng(seed)
    if kind == "sharp":
        F = np.eye(n_classes)[rng.integers(0, n_classes, size=n)] + rng.uniform(1e-6, 1e-3, size=(n, n_classes))
    elif kind == "flat":
        F = 1 + 0.3 * np.eye(n_classes)[rng.integers(0, n_classes, size=n)] + rng.uniform(0, 0.05, size=(n, n_classes))
    else:
        F = rng.dirichlet(np.ones(n_classes), size=n) + 1e-6
    return F / F.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("accuracy", [0.4, 0.7, 0.95])
@pytest.mark.parametrize("kind", ["sharp", "flat", "any"])
def test_the_mean_confidence_is_the_estimated_accuracy(kind, accuracy):
    F = distributions(kind)
    temperature = find_temperature([F[:50], F[50:]], accuracy, temper)
    tempered = temper(F, temperature)
    assert_allclose(tempered.max(axis=1).mean(), accuracy, atol=1e-3)
    assert_allclose(tempered.sum(axis=1), 1, rtol=1e-10)
    assert_array_equal(tempered.argmax(axis=1), F.argmax(axis=1))


def test_distributions_that_are_right_keep_their_temperature():
    F = distributions("any")
    assert_allclose(find_temperature([F], F.max(axis=1).mean(), temper), 1, rtol=1e-3)  # but for the least share


def test_temperatures_are_above_one_for_too_sharp_and_below_for_too_flat():
    assert find_temperature([distributions("sharp")], 0.7, temper) > 1.5
    assert find_temperature([distributions("flat")], 0.7, temper) < 0.7
    assert_allclose(find_temperature([np.full((5, 2), 0.5)], 0.9, temper), 0.05, rtol=1e-4)  # the coldest there is
    certain = temper(np.eye(2), find_temperature([np.eye(2)], 0.9, temper))
    assert_allclose(certain.max(axis=1), 0.9, atol=1e-3)  # even distributions that are exactly certain


@pytest.mark.parametrize("accuracy", [0.5, 0.7, 0.9, 0.99])
def test_a_temperature_is_found_in_few_steps(accuracy):
    steps = []

    def counted(F, temperature):
        steps.append(temperature)
        return temper(F, temperature)

    F = distributions("sharp")
    found = find_temperature([F], accuracy, counted)
    assert_allclose(temper(F, found).max(axis=1).mean(), accuracy, atol=1e-8)
    assert len(steps) <= 16


def test_one_class_and_no_rows_need_no_temperature():
    assert find_temperature([np.ones((5, 1))], 0.9, temper) == 1.0
    assert find_temperature([np.empty((0, 3))], 0.9, temper) == 1.0
    assert find_temperature([np.empty((0, 3)), np.empty((0, 3))], 0.9, temper) == 1.0


def test_a_target_without_rows_does_not_count():
    F = distributions("any")
    assert find_temperature([np.empty((0, 4)), F], 0.6, temper) == find_temperature([F], 0.6, temper)


# --------------------------------------------------------------------------------------------------
# Absent classes and words


def test_absent_classes_by_hand():
    # A tenth of the share in the source is the limit.
    of_source = np.array([0.5, 0.3, 0.1, 0.1, 0.0])
    found = find_absent(np.array([0.04, 0.04, 0.0, 0.92, 0.0]), of_source)
    assert_array_equal(found, [True, False, True, False, False])  # a class that the source lacks is not absent
    assert not find_absent(of_source, of_source).any()


GOOD = Trust(0.9, 0.8, 0.95, 1.0, MIDDLE)
EVEN = np.full(4, 0.25)


def verdict_of(trust=GOOD, proportions=EVEN, of_source=None, classes=None, **given):
    proportions = np.asarray(proportions, dtype=float)
    of_source = np.full(len(proportions), 1 / len(proportions)) if of_source is None else np.asarray(of_source)
    classes = np.array([f"class {i}" for i in range(len(proportions))]) if classes is None else classes
    given = {"adapted": True, "view": "standard", **given}
    return judge(trust, proportions=proportions, of_source=of_source, classes=classes, **given)


def test_a_good_fit_has_two_sentences_and_no_alarm():
    found = verdict_of()
    assert found.alarms == ()
    assert found.summary == (
        "The labels come from adaptation; columns were scaled by each domain's own mean and deviation. "
        "Estimated accuracy: 90 %, between 80 and 95 %."
    )
    assert_array_equal(found.proportions, EVEN)
    assert not found.absent.any()


def test_words_for_a_fit_without_adaptation_and_for_each_view():
    assert verdict_of(adapted=False).summary.startswith("The labels come from the source without adaptation; ")
    words = {view: verdict_of(view=view).summary for view in ("standard", "source", "joint", "unit", "paper", "none")}
    assert len(set(words.values())) == len(words)
    assert "by the source's mean and deviation" in words["source"]
    assert "columns were not scaled." in words["none"]


def test_other_proportions_are_said_without_an_alarm():
    found = verdict_of(proportions=[0.5, 0.2, 0.2, 0.1])
    assert "other class proportions than the source: 25 % of the rows would have to change class." in found.summary
    assert found.alarms == ()
    assert "proportions" not in verdict_of(proportions=[0.4, 0.2, 0.2, 0.2]).summary  # 15 % would


def test_absent_classes_are_named_with_an_alarm():
    found = verdict_of(proportions=[0.5, 0.0, 0.5, 0.0])
    assert found.alarms == ("2 of 4 classes seem to be absent from the target: class 1, class 3.",)
    assert found.alarms[0] in found.summary
    assert_array_equal(found.absent, [False, True, False, True])


@pytest.mark.parametrize(
    ("n_absent", "names"), [(1, "9."), (5, "9, 10, 11, 12, 13."), (6, "9, 10, 11, 12, 13, ..."), (9, "12, 13, ...")]
)
def test_at_most_five_absent_classes_are_named(n_absent, names):
    proportions = np.array([0.0] * n_absent + [1 / (12 - n_absent)] * (12 - n_absent))
    (alarm,) = verdict_of(proportions=proportions, classes=np.arange(9, 21)).alarms
    assert alarm.startswith(f"{n_absent} of 12 classes ")
    assert names in alarm
    assert "14" not in alarm


def test_candidates_that_disagree_give_an_alarm():
    found = verdict_of(Trust(0.9, 0.8, 0.95, 1.0, replace(MIDDLE, agreement=0.42)))
    assert found.alarms == ("The candidates disagree: on average 42 % of them give a row its label.",)
    assert verdict_of(Trust(0.9, 0.8, 0.95, 1.0, replace(MIDDLE, agreement=0.5))).alarms == ()
    assert verdict_of(Trust(0.9, 0.6, 1.0)).alarms == ()  # no candidates were tried


def test_the_interval_reaches_down_to_what_other_proportions_would_leave():
    assert widen_for_scale(0.9, 0.8, 0.2) == 0.8  # too little to tell
    assert_allclose(widen_for_scale(0.9, 0.8, 0.51), 0.39)
    assert widen_for_scale(0.9, 0.6, 0.25) == 0.6  # wide enough already
    assert widen_for_scale(0.3, 0.2, 0.4) == 0.0


def test_class_proportions_that_depend_on_the_scaling_give_an_alarm():
    (alarm,) = verdict_of(replace(GOOD, scale_dependence=0.51)).alarms
    assert alarm.startswith("Scaled by the source's statistics, 51 % of the rows would change class: ")
    assert "scaling='source'" in alarm
    assert "y_target" in alarm
    assert verdict_of(replace(GOOD, scale_dependence=0.2)).alarms == ()


def test_the_interval_reaches_down_where_candidates_agree_on_one_class():
    source = np.array([0.5, 0.3, 0.2])
    low, alone = widen_for_one_class(0.9, np.array([0.0, 0.98, 0.02]), source)
    assert alone
    assert_allclose(low, 0.98 * 0.3 + 0.02 * 0.2 - 0.05)
    assert widen_for_one_class(0.1, np.array([0.0, 1.0, 0.0]), source) == (0.1, True)  # wide enough already
    assert widen_for_one_class(0.9, np.array([0.1, 0.9, 0.0]), source) == (0.9, False)  # two classes
    rare = np.array([0.97, 0.03])
    assert widen_for_one_class(0.9, np.array([0.98, 0.02]), rare) == (0.9, False)  # as in the source


def test_labels_that_tell_nothing_of_near_rows_are_doubted():
    rare, estimate = np.array([0.95, 0.05]), (0.9, 0.8, 1.0)
    (value, low, high), uninformed = doubt_uninformed(estimate, 0.0, np.array([1.0, 0.0]), rare)
    assert uninformed
    assert_allclose((value, low, high), (0.7, 0.45, 1.0))
    assert doubt_uninformed(estimate, 0.3, np.array([1.0, 0.0]), rare) == (estimate, False)
    assert doubt_uninformed(estimate, 0.0, np.array([0.5, 0.5]), rare) == (estimate, False)  # other proportions
    assert doubt_uninformed((0.4, 0.3, 0.6), 0.0, rare, rare) == ((0.4, 0.3, 0.6), True)  # no better than chance


def test_labels_that_tell_nothing_of_near_rows_give_an_alarm():
    (alarm,) = verdict_of(replace(GOOD, uninformed=True)).alarms
    assert alarm.startswith("Labels tell nothing of those of near rows: ")
    assert "y_target" in alarm


def test_nearly_all_rows_in_one_class_give_an_alarm():
    (alarm,) = verdict_of(replace(GOOD, one_class=True)).alarms
    assert alarm.startswith("Nearly all rows got one class")
    assert "y_target" in alarm


def test_low_trust_gives_an_alarm_and_says_what_to_do():
    (alarm,) = verdict_of(Trust(0.59, 0.5, 0.7)).alarms
    assert alarm.startswith("Trust is low: ")
    assert "y_target" in alarm
    assert verdict_of(Trust(0.6, 0.5, 0.7)).alarms == ()


def test_alarms_are_sentences_of_the_summary():
    trust = Trust(0.3, 0.1, 0.5, 1.0, replace(MIDDLE, agreement=0.2))
    found = verdict_of(trust, proportions=[0.9, 0.1, 0.0, 0.0])
    assert len(found.alarms) == 3
    assert found.summary.endswith(" ".join(found.alarms))
    assert "other class proportions" in found.summary
    assert found.summary.count(". ") == 6 - 1
