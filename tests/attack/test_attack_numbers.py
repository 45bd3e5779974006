"""The attack on agreement: its slice passes, and two fits that differ are noticed."""

import numpy as np
import pytest

from attack import numbers
from attack.numbers import PART, comparisons, tasks
from attack.numbers.comparisons import COMPARISONS, Answer
from attack.part import Outcome
from attack.runner import run_case

#: Cases by the place of their comparison; the approximate search needs thousands of rows.
QUICK = [n for n in range(PART.slice) if COMPARISONS[n % len(COMPARISONS)].task is None]
LONG = sorted(set(range(PART.slice)) - set(QUICK))


@pytest.mark.parametrize("number", QUICK)
def test_fits_that_should_agree_do(number):
    outcome = run_case(PART, number)
    assert outcome.kind == "fine", outcome.detail
    assert numbers.DETAIL.fullmatch(outcome.detail)


@pytest.mark.slow
@pytest.mark.parametrize("number", LONG)
def test_searches_agree(number):
    pytest.importorskip("faiss")
    outcome = run_case(PART, number)
    assert outcome.kind == "fine", outcome.detail


def test_the_slice_has_every_comparison():
    assert PART.slice >= len(COMPARISONS)


@pytest.mark.parametrize("place", [n for n, comparison in enumerate(COMPARISONS) if comparison.task is None])
def test_a_planted_fault_is_noticed_by_every_comparison(place, monkeypatch):
    """The second of two fits calls its target rows wrongly."""
    true, calls = comparisons.answer, []

    def wrong(task, parameters):
        calls.append(task)
        found = true(task, {**parameters, "candidates": None, "refine": False})
        # The changed fit of the comparisons that try several seeds comes first.
        changed = len(calls) == (1 if COMPARISONS[place].drawn is not None else 2)
        return Answer(np.roll(found.labels, 1), found.distributions) if changed else found

    monkeypatch.setattr(comparisons, "answer", wrong)
    monkeypatch.setattr(comparisons, "SEEDS", 2)
    outcome = run_case(PART, place)
    assert outcome.kind == "failed"
    assert outcome.group == COMPARISONS[place].title


def test_a_difference_of_distributions_is_noticed_where_one_is_bounded():
    exact = next(comparison for comparison in COMPARISONS if comparison.difference == 1e-9)
    one = Answer(np.zeros(5), np.full((5, 2), 0.5))
    other = Answer(np.zeros(5), one.distributions + np.array([1e-8, -1e-8]))
    assert numbers.judge(exact, one, one, drawn=False)[0]
    assert not numbers.judge(exact, one, other, drawn=False)[0]


def test_blocks_are_of_few_rows(monkeypatch):
    """What the comparison of blocks compares with: several blocks, and coordinates in a file."""
    plans = []
    task = tasks.overlapping(np.random.default_rng(0))
    with comparisons._few_rows_per_block(on_disk=True):
        from lpjt.fitting import whole

        small = whole.within_memory
        monkeypatch.setattr(whole, "within_memory", lambda *a, **k: plans.append(small(*a, **k)) or plans[-1])
        comparisons.answer(task, {"candidates": None, "memory_limit": "1GB"})
    assert plans[0].on_disk
    assert plans[0].block_entries < task.X["source"].size // 2


def test_measures_are_those_of_all_cases():
    outcomes = [
        Outcome("fine", "labels 1.0000, distributions 1.0e-08"),
        Outcome("failed", "wide, rbf: labels 0.9000, distributions 2.0e-01"),
    ]
    found = numbers.measures("order of columns", outcomes)
    assert found["equal labels, mean"] == "95.00 %"
    assert found["least"] == "90.00 %"
    assert found["largest difference of a distribution"] == "2.0e-01"
    assert found["asked for"].startswith("99.9 %: ")


@pytest.mark.data
def test_real_pairs_are_among_the_tasks():
    assert tasks.real in tasks.kinds()
    task = tasks.real(np.random.default_rng(0))
    assert len(task.X_target) + len(task.new) <= 220
