"""The attack on clusters: its slice passes, and each kind of failure is noticed."""

import time

import numpy as np
import pytest

pytest.importorskip("distributed")

from attack import distributed
from attack.distributed import FAULTS, PART
from attack.runner import run_case
from lpjt.engines.dask import cluster


@pytest.mark.slow
@pytest.mark.parametrize("number", range(PART.slice), ids=[fault.title for fault in FAULTS])
def test_a_fault_ends_in_the_same_labels_or_in_an_error_of_ours(number):
    outcome = run_case(PART, number)
    assert outcome.kind in ("fine", "refused"), outcome.detail
    assert outcome.group == FAULTS[number].title


@pytest.mark.slow
def test_without_our_watch_a_fit_without_workers_hangs(monkeypatch):
    """The same case, with the waiting as dask does it."""
    monkeypatch.setattr(cluster, "_workers", lambda client: (1, 1))
    monkeypatch.setattr(distributed, "FIT_SECONDS", 15.0)
    outcome = run_case(PART, [fault.plan for fault in FAULTS].index(distributed.kill_all))
    assert outcome.kind == "failed"
    assert "had not ended after 15 s" in outcome.detail


class Model:
    """An estimator without attributes."""


OURS = RuntimeError("The Dask cluster at tcp://127.0.0.1:1 gave up: ... Give workers more memory, and fit again.")


@pytest.mark.parametrize(
    ("must_finish", "labels", "error", "expected"),
    [
        (True, [1, 2], None, "fine"),
        (False, [1, 1], None, "failed"),
        (False, None, OURS, "refused"),
        (True, None, OURS, "failed"),
        (False, None, RuntimeError("Client is closed"), "failed"),
        (False, None, TimeoutError("the fit had not ended"), "failed"),
    ],
)
def test_outcomes_are_judged(must_finish, labels, error, expected):
    fault = distributed.Fault("a fault", distributed.nothing, must_finish=must_finish)
    assert distributed.judge(fault, Model(), labels, error, np.array([1, 2])).kind == expected


def test_a_model_that_was_half_fitted_is_a_failure():
    model = Model()
    model.transduction_ = [1]
    fault = distributed.Fault("a fault", distributed.nothing, must_finish=False)
    assert "left attributes" in distributed.judge(fault, model, None, OURS, None).detail


def test_a_fit_that_does_not_end_is_given_up(monkeypatch):
    monkeypatch.setattr(distributed, "FIT_SECONDS", 0.05)
    _, error, _ = distributed.attempt(lambda: time.sleep(1))
    assert isinstance(error, TimeoutError)
