"""scikit-learn's contract, on every deep method."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

torch = pytest.importorskip("torch", reason="the deep methods need torch")
pytest.importorskip("ot", reason="DeepJDOT needs POT")

from lpjt import deep  # noqa: E402

#: A small network that learns in a few steps.
CHEAP = {"hidden": 16, "max_epochs": 1, "learning_rate": 0.05}
#: Checks that ask for accuracy; for the others two steps of training are enough.
LEARNING = ("check_classifiers_train", "check_classifiers_classes")
ESTIMATORS = [getattr(deep, name)(**CHEAP) for name in deep.__all__]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check, monkeypatch):
    if check.func.__name__ not in LEARNING:
        monkeypatch.setattr("lpjt.deep._batches.MIN_BATCHES", 2)
    check(estimator)
