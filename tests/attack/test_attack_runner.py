"""The runner of the attack: crashes, hangs and errors are failures of one case, and an interrupted run goes on."""

import os
import time

from attack.__main__ import run_part
from attack.part import Outcome, Part
from attack.runner import run_case, run_cases
from attack.store import Store


def _case(number):
    if number == 1:
        raise KeyError("lost")
    if number == 2:
        os.abort()
    if number == 3:
        time.sleep(600)
    return Outcome("fine" if number % 2 == 0 else "refused", group="even" if number % 2 == 0 else "odd")


TOY = Part("toy", "Toy", cases=6, slice=2, run=_case, seconds=1.0)


def load_toy(name):
    return TOY


def test_every_case_ends_whatever_it_does():
    found = dict(run_cases(load_toy, "toy", range(6), workers=2))
    assert {number: outcome.kind for number, outcome in found.items()} == {
        0: "fine", 1: "failed", 2: "failed", 3: "failed", 4: "fine", 5: "refused",
    }  # fmt: skip
    assert "KeyError: 'lost'" in found[1].detail
    assert "code -6" in found[2].detail
    assert "more than 1 s" in found[3].detail


def test_a_run_goes_on_where_it_was(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "attack.__main__.run_cases",
        lambda load, name, numbers, workers: ((n, asked.append(n) or run_case(TOY, n)) for n in numbers),
    )
    monkeypatch.setattr("attack.__main__.load", load_toy)
    store = Store(tmp_path)
    store.append("toy", 0, Outcome("fine", group="even"))
    with store.path("toy").open("a") as file:
        file.write('\n{"n": 4, "ki')  # a kill in the middle of a line
    tally = run_part(TOY, store, cases=2, seconds=None, workers=1)
    assert asked == [1]
    assert tally.total() == {"fine": 1, "failed": 1}
    assert set(store.read("toy")) == {0, 1}
    assert [failure[:2] for failure in tally.failures] == [(1, "")]


def test_failed_cases_are_run_again_if_asked_to(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "attack.__main__.run_cases",
        lambda load, name, numbers, workers: ((n, asked.append(n) or Outcome("fine")) for n in numbers),
    )
    store = Store(tmp_path)
    for number, kind in enumerate(("fine", "failed", "refused")):
        store.append("toy", number, Outcome(kind))
    run_part(TOY, store, cases=3, seconds=None, workers=1)
    assert asked == []
    tally = run_part(TOY, store, cases=3, seconds=None, workers=1, failed=True)
    assert asked == [1]
    assert tally.total() == {"fine": 2, "refused": 1}
    assert store.read("toy")[1].kind == "fine"
