"""Labels that are hidden from candidates: every given one once, with the coordinates of the first round."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lpjt.fitting import views
from lpjt.fitting.candidates import FIRST_ITERATIONS, label_views, make_small, try_candidates
from lpjt.fitting.held_out import HeldOut, hold_out
from lpjt.selection.scaling import Scalings
from trials import hand_made, opened, plan_for


def held_of(name, monkeypatch=None, seen=None):
    domains = opened(name)
    plan = make_small(plan_for(domains), FIRST_ITERATIONS)
    found = label_views(domains, plan, Scalings(domains))
    if seen is not None:
        advance = views._advance

        def record(problem, *rest):
            seen.append((problem, np.concatenate(problem.labels[problem.n_sources :])))
            return advance(problem, *rest)

        monkeypatch.setattr(views, "_advance", record)
    return domains, found, hold_out(domains, plan, found)


def test_a_label_is_hidden_from_the_candidate_that_answers(monkeypatch):
    seen = []
    domains, found, held = held_of("semi-supervised", monkeypatch, seen)
    y = domains.targets[0].y
    assert_array_equal(np.sort(held.rows), np.flatnonzero(y >= 0))
    assert_array_equal(held.labels, y[held.rows])
    assert held.answers.shape == (sum(len(view.settings) for view in found), len(held.rows))
    hidden = [np.flatnonzero((y >= 0) & (left < 0)).tolist() for _, left in seen]
    assert {tuple(rows) for rows in hidden} == {tuple(held.rows[:3]), tuple(held.rows[3:])}
    rows = {id(problem.rows) for view in found for problem in view.problems.values()}
    assert {id(problem.rows) for problem, _ in seen} <= rows  # no coordinates are made again
    assert all((problem.labels[-1] == left).all() for problem, left in seen)


def test_answers_are_not_the_given_labels_themselves():
    """Wrong labels, if they were visible, would be answered; the other labels say otherwise."""
    domains = opened("semi-supervised")
    wrong = domains.targets[0].y.copy()
    row = np.flatnonzero(wrong >= 0)[0]
    right, wrong[row] = wrong[row], (wrong[row] + 1) % 3
    domains = type(domains)(
        domains.sources, (domains.targets[0].with_rows(domains.targets[0].X, wrong, None),), domains.classes
    )
    plan = make_small(plan_for(domains), FIRST_ITERATIONS)
    held = hold_out(domains, plan, label_views(domains, plan, Scalings(domains)))
    answers = held.answers[:, held.rows.tolist().index(row)]
    assert (answers == right).mean() > (answers == wrong[row]).mean()


@pytest.mark.parametrize("name", ["one source", "several targets", "heterogeneous"])
def test_without_given_labels_nothing_is_run_again(name, monkeypatch):
    seen = []
    assert held_of(name, monkeypatch, seen)[-1] is None
    assert not seen


def test_different_widths_are_judged_too():
    held = held_of("heterogeneous, semi-supervised")[-1]
    assert held is not None
    assert held.answers.shape[1] == 6


def test_both_rounds_are_weighed_by_what_was_found():
    domains = opened("semi-supervised")
    trial, _ = try_candidates(domains, plan_for(domains))
    first = trial.first
    assert trial.held is not None
    expected = (trial.held.answers == trial.held.labels).mean(axis=1)
    assert_array_equal(first.weighed.found, expected)
    number = {s: f for s, f in zip(first.settings, expected, strict=True) if s.family != "adapted"}
    unadapted = [s for s in trial.settings if s.family != "adapted"]
    assert len(set(unadapted)) == len(number)
    assert [record["found"] for record in trial.table()] != [None] * len(trial.settings)


def test_the_estimate_follows_the_given_labels():
    domains = opened("semi-supervised")
    trial, _ = try_candidates(domains, plan_for(domains))
    facts = trial.facts([np.eye(3)[np.zeros(36, dtype=int)]])
    held = trial.held
    values = []
    for answers in (held.labels, (held.labels + 1) % 3):
        told = HeldOut(held.rows, held.labels, np.tile(answers, (len(held.answers), 1)))
        trial = replace(trial, held=told)
        values.append(trial.estimate(facts, 36)[0])
    assert values[0] > values[1]


def test_few_labels_are_no_reason_not_to_adapt():
    trial = hand_made([0.5, 0.5], ["linear", "adapted"], scores=[1.1, 1.0])
    assert not trial.adapts
    held = HeldOut(np.arange(10), np.zeros(10, dtype=int), np.zeros((2, 10), dtype=int))
    given = replace(trial, held=held)
    assert given.adapts
