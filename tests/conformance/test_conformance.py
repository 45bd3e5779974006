"""The suite itself: every check can fail, sound estimators pass, and results are reported as asked for."""

import pytest
from sklearn.neighbors import KNeighborsClassifier

from faulty import FAULTS, Blind, Sound, Stacked
from lpjt import LPJT, baselines, check_da_estimator
from lpjt.conformance import da_estimator_checks, describe_checks

#: Baselines that learn from labelled target rows.
FEW_LABELS = {"CDLS": 3, "SHFA": 3, "TargetPropagation": 3, "TargetSVM": 3}

_BALANCED = "balanced transport gives each class of the target the source's share of its mass"
EXPECTED = {"OptimalTransport": {"check_missing_class": _BALANCED, "check_label_shift": _BALANCED}}


@pytest.mark.parametrize(("estimator", "check"), list(da_estimator_checks(LPJT())), ids=list(describe_checks()))
def test_lpjt_passes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", baselines.__all__)
def test_baselines_pass(name):
    estimator = getattr(baselines, name)()
    expected = EXPECTED.get(name, {})
    results = check_da_estimator(estimator, target_labels=FEW_LABELS.get(name, 0), expected_failed_checks=expected)
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)


@pytest.mark.parametrize("estimator", [Sound(), Stacked()], ids=["two matrices", "stack"])
def test_a_sound_estimator_passes_with_either_interface(estimator):
    results = check_da_estimator(estimator, on_fail=None)
    assert {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"} == {}
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped == (set() if type(estimator) is Sound else {"check_given_target_labels_are_kept", "check_frames"})


def test_every_check_has_an_estimator_that_fails_it():
    assert set(FAULTS) == set(describe_checks())


@pytest.mark.parametrize("name", FAULTS)
def test_each_check_can_fail(name):
    checks = {check.func.__name__: check for _, check in da_estimator_checks(FAULTS[name]())}
    with pytest.raises(Exception, match=r".*"):
        checks[name](FAULTS[name]())


@pytest.mark.filterwarnings("ignore:Blind fails")
def test_a_failure_raises_warns_or_is_recorded():
    with pytest.raises(AssertionError, match=r"Blind fails check_labels_an_easy_target: 33 % right"):
        check_da_estimator(Blind())
    with pytest.warns(UserWarning, match="Blind fails check_labels_an_easy_target"):
        warned = check_da_estimator(Blind(), on_fail="warn")
    recorded = check_da_estimator(Blind(), on_fail=None)
    assert [r["status"] for r in warned] == [r["status"] for r in recorded]
    assert recorded[0]["status"] == "failed"
    assert isinstance(recorded[0]["exception"], AssertionError)
    with pytest.raises(ValueError, match=r"on_fail='stop' is not known\. Give 'raise', 'warn' or None"):
        check_da_estimator(Blind(), on_fail="stop")


def test_expected_failures_have_their_reason():
    failing = {r["check_name"] for r in check_da_estimator(Blind(), on_fail=None) if r["status"] == "failed"}
    results = check_da_estimator(Blind(), expected_failed_checks=dict.fromkeys(failing, "it is blind"))
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == failing
    assert {r["expected_to_fail_reason"] for r in results if r["expected_to_fail"]} == {"it is blind"}
    with pytest.raises(ValueError, match="names 'check_nothing', which is no check"):
        check_da_estimator(Blind(), expected_failed_checks={"check_nothing": ""})


def test_an_estimator_without_a_target_is_refused():
    with pytest.raises(AssertionError, match="has neither `X_target` nor `sample_domain`"):
        check_da_estimator(KNeighborsClassifier())


def test_labelled_target_rows_reach_the_estimator():
    seen = []

    class Watches(Sound):
        def fit(self, X, y, X_target, y_target=None):
            seen.append(0 if y_target is None else int((y_target != -1).sum()))
            return super().fit(X, y, X_target, y_target)

    first = next(iter(da_estimator_checks(Watches(), target_labels=2)))
    first[1](first[0])
    assert seen == [6]
