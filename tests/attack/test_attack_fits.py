"""Adversarial fits: a slice of the attack in every run, and proof that it notices faults."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import lpjt
from attack.fits import PART
from attack.fits.cases import GROUPS, draw_case
from attack.fits.containers import SPARSE

#: Parts of the slice, so that workers share it.
SHARES = 10


@pytest.mark.parametrize("share", range(SHARES))
def test_adversarial_fits_are_valid_or_refused(share):
    @settings(
        max_examples=PART.slice // SHARES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a number is as small as any other
        suppress_health_check=list(HealthCheck),
    )
    @given(number=st.integers(0, PART.cases - 1))
    def attack(number):
        number = (number * SHARES + share) % PART.cases
        outcome = PART.run(number)
        assert outcome.kind != "failed", f"case {number}: {outcome.detail}"

    attack()


def test_a_case_is_made_from_its_number_alone():
    for number in range(len(GROUPS)):
        one, other = draw_case(number), draw_case(number)
        assert (one.group, one.words) == (other.group, other.words) == (GROUPS[number], one.words)
        assert repr(one.model) == repr(other.model)


def fine_case(group):
    """Number of a case of this group that is fitted, by a plain `LPJT`."""
    for number in range(GROUPS.index(group), 3000, len(GROUPS)):
        case = draw_case(number)
        plain = case.words.startswith(("one candidate; ", "scaling standard; ")) and "not finite" not in case.words
        if plain and PART.run(number).kind == "fine":
            return number
    raise AssertionError(group)


def broken_predict(answer):
    return lambda self, X, *args, **options: answer(np.asarray(X).shape[0], self.classes_)


def change_input(self, X, *args, **options):
    (X["a"] if isinstance(X, dict) else X)[0] += 1
    return self


def warn_of_overflow(self, *args, **options):
    np.float32(1e30) * np.float32(1e30)
    raise ValueError("X is bad. Give another.")


def fail_raw(self, *args, **options):
    np.linalg.cholesky(-np.eye(2))


@pytest.mark.parametrize(
    ("name", "fault", "words"),
    [
        ("fit", change_input, "an input was changed"),
        ("fit", warn_of_overflow, "overflow encountered"),
        ("fit", fail_raw, "LinAlgError"),
        ("predict", broken_predict(lambda n, classes: np.full(n, classes.max() + 1)), "predict has other labels"),
        ("predict_proba", broken_predict(lambda n, classes: np.full((n, len(classes)), 0.9)), "does not sum to one"),
        ("transform", broken_predict(lambda n, classes: np.full((n, 2), np.nan)), "transform is not finite"),
    ],
)
def test_faults_are_noticed(monkeypatch, name, fault, words):
    number = fine_case("classes")
    monkeypatch.setattr(lpjt.LPJT, name, fault)
    outcome = PART.run(number)
    assert outcome.kind == "failed"
    assert words in outcome.detail


def test_wrong_labels_of_rows_of_extreme_size_are_noticed(monkeypatch):
    monkeypatch.setattr("lpjt.domains.shared_factors", lambda names, widths, largest: [None] * len(names))
    kinds = [PART.run(number).kind for number in range(GROUPS.index("sizes"), 40 * len(GROUPS), len(GROUPS))]
    assert kinds.count("failed") >= 5


def test_refusals_name_argument_and_remedy():
    from attack.fits.run import _judge

    def judged(raise_it):
        try:
            raise_it()
        except Exception as error:
            return _judge(error).kind

    assert judged(lambda: lpjt.LPJT().fit(np.array([[np.nan], [1.0]]), [0, 1])) == "refused"
    assert judged(lambda: np.linalg.cholesky(-np.eye(2))) == "failed"
    assert judged(lambda: lpjt.LPJT().transform([[1.0]])) == "failed"  # scikit-learn's NotFittedError, not ours


def test_every_defect_of_sparse_matrices_is_drawn():
    drawn = {words for n in range(2, 4000, len(GROUPS)) for words in draw_case(n).words.replace(";", ",").split(", ")}
    assert {f"target {kind}" for kind in SPARSE} <= drawn


@pytest.mark.parametrize("number", [1072, 2458])
def test_rows_without_a_common_type_are_not_stacked(number):
    case = draw_case(number)
    assert case.words.endswith("stack")
    assert "sample_domain" not in case.options
    assert PART.run(number).kind != "failed"
