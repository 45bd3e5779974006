"""Support vector machines end on every rows, and say where they are not done."""

import warnings

import numpy as np
import pytest

from lpjt import LPJT, NuSVM, TransferWarning
from lpjt.baselines import CORAL
from lpjt.baselines._classifiers import choose_C, fit_classifier
from lpjt.classifiers.machines import MAX_STEPS


def far_from_zero():
    """Overlapping classes whose differences are lost beside the size of the rows."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 5)
    return rng.normal(size=(15, 7)) + y[:, None] + 2e8, y


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["svm", "nu-svm"])
def test_a_machine_without_an_end_is_ended_with_a_warning(kind):
    X, y = far_from_zero()
    with pytest.warns(TransferWarning, match=rf"not converged after {MAX_STEPS:,} steps.* Choose scaling='standard'"):
        machine = fit_classifier(kind, X, y)
    assert machine.n_iter_.max() == MAX_STEPS
    assert set(machine.predict(X)) <= {0, 1, 2}


@pytest.mark.timeout(60)
def test_the_choice_of_costs_ends():
    X, y = far_from_zero()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_C(X, y) in (0.01, 0.1, 1.0, 10.0, 100.0)


@pytest.mark.timeout(60)
def test_a_fit_whose_machine_is_not_done_warns():
    X, y = far_from_zero()
    with pytest.warns(TransferWarning, match="support vector machine had not converged"):
        LPJT(classifier=NuSVM(0.9), candidates=None, scaling="none").fit(X, y)
    with pytest.warns(TransferWarning, match="support vector machine had not converged"):
        CORAL(C=1.0, scaling="none").fit(X, y, X + 0.5)


def test_rows_near_to_zero_take_few_steps():
    X, y = far_from_zero()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in ("svm", "nu-svm"):
            assert fit_classifier(kind, X - X.mean(axis=0), y).n_iter_.max() < MAX_STEPS / 100
