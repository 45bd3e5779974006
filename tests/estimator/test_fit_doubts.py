"""Labels on which candidates agree and that may be wrong: the interval reaches down, and a warning says why."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from lpjt import LPJT, TransferWarning

MEANS = np.array([[0.0, 0.0, 0.0], [2.5, -2.5, 0.0], [5.0, -5.0, 0.0]])


def fit(*given, **parameters):
    """A fit, and the texts of its warnings about labels."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LPJT(**{"random_state": 0, **parameters}).fit(*given)
    return model, [str(w.message) for w in caught if issubclass(w.category, TransferWarning)]


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_a_target_out_of_reach_that_gets_one_class_is_not_trusted(seed):
    """The columns of the target are exchanged and stretched, which no row shows; all candidates say the same class."""
    rng = np.random.default_rng(seed)
    y, y_target = rng.choice(3, 120, p=[0.5, 0.3, 0.2]), rng.choice(2, 80)
    means = np.array([[0.0, 0.0, 0.0], [2.5, -2.5, 0.0], [5.0, -5.0, 0.0]])
    X = means[y] + rng.normal(size=(120, 3))
    X_target = 2 * (means[y_target] + rng.normal(size=(80, 3)))[:, [1, 2, 0]] + 3
    model, caught = fit(X, y, X_target)
    proportions = np.bincount(model.transduction_, minlength=3) / 80
    assert proportions.max() > 0.95
    low, high = model.estimated_accuracy_interval_
    assert low <= np.mean(model.transduction_ == y_target) <= high
    assert any(text.startswith("Nearly all rows got one class") for text in caught)


@pytest.mark.parametrize("rare", [3, 5])
def test_labels_of_a_source_with_a_rare_class_are_not_trusted(rare):
    """Most of the target is of the class that the source hardly has, and all candidates follow the source."""
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    chosen = np.r_[np.flatnonzero(y == 0)[:100], np.flatnonzero(y == 1)[:rare]]
    target = np.setdiff1d(np.arange(len(y)), chosen)[:250]
    model, caught = fit(X[chosen], y[chosen], X[target])
    right = np.mean(model.transduction_ == y[target])
    assert right < 0.5
    assert model.estimated_accuracy_interval_[0] < 0.5
    assert model.estimated_accuracy_ < 0.8
    assert any(text.startswith("Labels tell nothing of those of near rows") for text in caught)


@pytest.mark.parametrize("given", [[100, 101], []], ids=["of the rare class", "none"])
def test_given_labels_of_one_class_do_not_tell_of_the_others(given):
    rng = np.random.default_rng(0)
    y, y_target = rng.choice(3, 200), np.repeat([0, 1], [100, 3])
    X = np.column_stack([MEANS[y] + rng.normal(size=(200, 3)), rng.normal(size=200)])
    X_target = (MEANS[y_target] + rng.normal(size=(103, 3)))[:, [2, 0, 1]]
    labels = np.full(103, -1)
    labels[given] = 1
    model, caught = fit(X, y, X_target, labels)
    assert np.bincount(model.transduction_).max() > 0.95 * 103
    assert any(text.startswith("Nearly all rows got one class") for text in caught)


def test_where_classes_overlap_the_estimate_is_no_better_than_the_source():
    """Three thirds of a measured quantity, which no classifier tells apart, and a target without any shift."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    classes = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    order, held, off = np.random.default_rng(0).permutation(len(X)), [], []
    for source, target in ((order[::2], order[1::2]), (order[1::2], order[::2])):
        model, _ = fit(X[source], classes[source], X[target])
        right = np.mean(model.transduction_ == classes[target])
        low, high = model.estimated_accuracy_interval_
        held.append(low <= right <= high)
        off.append(model.estimated_accuracy_ - right)
    assert all(held)
    assert max(off) < 0.2


@pytest.mark.parametrize("n", [3, 8])
def test_the_interval_of_few_rows_is_wide(n):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X, X_target = MEANS[y] + rng.normal(size=(90, 3)), MEANS[y] + rng.normal(size=(90, 3)) + 0.3
    few, _ = fit(X, y, X_target[:n])
    many, _ = fit(X, y, X_target)
    assert np.subtract(*few.estimated_accuracy_interval_[::-1]) > 0.1 + np.subtract(
        *many.estimated_accuracy_interval_[::-1]
    )
