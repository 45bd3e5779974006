"""A row of weight 2 counts as two rows wherever rows are counted, and one of weight 0 is not there."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from lpjt import LPJT
from lpjt.core.moments import class_moments, class_proportions, row_spread
from lpjt.core.ridge import fit_linear_ridge
from lpjt.domains import open_domains
from problems import shifted_pair, widened

X, Y, X_TARGET, Y_TARGET = shifted_pair(apart=1.5)
WEIGHTS = np.random.default_rng(0).integers(0, 4, len(Y))
SETTINGS = {
    "default": {},
    "one setting": {"candidates": None, "refine": False},
    "regression": {"candidates": None},
    "harmonic": {"candidates": None, "classifier": "harmonic"},
    "landmarks": {"candidates": None, "landmark_ratio": 0.5},
    "classifier with weights": {"candidates": None, "classifier": LogisticRegression()},
    "sample": {"sample_size": 40},
    "no target": {"target": False},
}


def fit(X=X, y=Y, X_target=X_TARGET, *, sample_weight=None, sample_domain=None, target=True, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(random_state=0, **parameters)
        return model.fit(X, y, X_target if target else None, sample_weight=sample_weight, sample_domain=sample_domain)


def answers(model):
    return model.predict_proba(X_TARGET)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_equal_weights_are_no_weights(setting):
    expected = answers(fit(**setting))
    for weights in (np.ones(len(Y)), np.full(len(Y), 0.3), [7] * len(Y)):
        assert_array_equal(answers(fit(sample_weight=weights, **setting)), expected)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_a_row_of_weight_zero_is_left_out(setting):
    kept = WEIGHTS > 0
    found = fit(sample_weight=WEIGHTS, **setting)
    expected = fit(X[kept], Y[kept], sample_weight=WEIGHTS[kept], **setting)
    assert_array_equal(answers(found), answers(expected))
    ones = fit(sample_weight=kept, **setting)
    assert_array_equal(answers(ones), answers(fit(X[kept], Y[kept], **setting)))


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_weights_have_an_effect_and_only_their_ratios(setting):
    weights = 1.0 + 9 * (Y == 0)
    found = answers(fit(sample_weight=weights, **setting))
    assert np.abs(found - answers(fit(**setting))).max() > 1e-3
    assert_allclose(found, answers(fit(sample_weight=8 * weights, **setting)), atol=1e-9)


def test_moments_of_weighted_rows_are_those_of_repeated_rows():
    rng = np.random.default_rng(1)
    rows, y, times = rng.normal(size=(30, 4)), np.arange(30) % 3, rng.integers(1, 4, 30)
    landmarks = rng.uniform(size=30)
    mass = times / times.mean()
    found = class_moments(rows, y, landmarks, n_classes=3, mass=mass)
    again = [np.repeat(part, times, axis=0) for part in (rows, y, landmarks)]
    expected = class_moments(*again, n_classes=3)
    assert_allclose(found.means, expected.means, rtol=1e-12)
    assert_allclose(found.counts * times.mean(), expected.counts)
    spread = row_spread(y, landmarks, found.counts, np.ones(3), mass=mass)
    of_copies = row_spread(again[1], again[2], expected.counts, np.ones(3))
    assert_allclose((spread * (rows**2).sum(axis=1)).sum(), (of_copies * (again[0] ** 2).sum(axis=1)).sum())
    assert_allclose(class_proportions([y], [mass], 3), class_proportions([again[1]], None, 3))


def test_a_regression_of_weighted_rows_is_that_of_repeated_rows():
    rng = np.random.default_rng(1)
    rows, y, times = rng.normal(size=(40, 3)), np.arange(40) % 2, np.where(np.arange(40) < 20, 1, 3)
    found = fit_linear_ridge(rows, np.eye(2)[y], times.astype(float))
    norms = (np.repeat(rows, times, axis=0) ** 2).sum(), (rows**2).sum()
    repeated = fit_linear_ridge(np.repeat(rows, times, axis=0), np.eye(2)[np.repeat(y, times)])
    # The penalty is relative to the mean square of the rows: it is the larger of the two by this factor at most.
    assert norms[0] / norms[1] < 3
    assert_allclose(found.coefficients, repeated.coefficients, atol=5e-3)


@pytest.mark.parametrize("setting", ["one setting", "regression", "classifier with weights"])
def test_weights_are_near_repeated_rows(setting):
    """Not equal: a repeated row takes several places among the nearest rows, a weighted one takes one.

    Scaled row by row: statistics of columns count each row once.
    """
    times = 1 + 2 * (Y == 1)
    given = {**SETTINGS[setting], "scaling": "unit", "safeguard": False}
    repeated = answers(fit(np.repeat(X, times, axis=0), np.repeat(Y, times), **given))
    weighted = answers(fit(sample_weight=times, **given))
    unweighted = answers(fit(**given))
    near, far = (np.abs(other - repeated).mean() for other in (weighted, unweighted))
    assert near < 0.6 * far
    assert np.mean(weighted.argmax(axis=1) == repeated.argmax(axis=1)) > 0.9


def test_wrong_labels_of_little_weight_do_little_harm():
    wrong = np.random.default_rng(0).uniform(size=len(Y)) < 0.4
    y = np.where(wrong, (Y + 1) % 3, Y)
    setting = {"candidates": None}
    believed = fit(y=y, **setting).transduction_ == Y_TARGET
    doubted = fit(y=y, sample_weight=np.where(wrong, 1e-3, 1.0), **setting).transduction_ == Y_TARGET
    assert doubted.mean() > 0.9
    assert doubted.mean() > believed.mean() + 0.02


def test_weights_of_a_stack_are_those_of_its_source_rows():
    stack, domain = np.vstack([X_TARGET, X]), np.repeat([-2, 1], [len(X_TARGET), len(X)])
    labels = np.concatenate([np.full(len(X_TARGET), -1), Y])
    expected = answers(fit(sample_weight=WEIGHTS))
    for of_target in (0.0, 5.0):
        weights = np.concatenate([np.full(len(X_TARGET), of_target), WEIGHTS])
        found = fit(stack, labels, None, sample_domain=domain, sample_weight=weights, target=False)
        assert len(found.transduction_) == len(X_TARGET)
        assert_allclose(answers(found), expected, atol=1e-6)


def test_several_sources_have_weights_by_name():
    sources, labels = {"a": X, "b": widened(X, 5)}, {"a": Y, "b": Y}
    weights = {"a": WEIGHTS, "b": np.ones(len(Y))}
    found = fit(sources, labels, sample_weight=weights)
    kept = WEIGHTS > 0
    expected = fit(
        {"a": X[kept], "b": sources["b"]},
        {"a": Y[kept], "b": Y},
        sample_weight={"a": WEIGHTS[kept], "b": np.ones(len(Y))},
    )
    assert_array_equal(found.transduction_, expected.transduction_)
    for wrong in (WEIGHTS, {"a": WEIGHTS}):
        with pytest.raises(ValueError, match="sample_weight has another form than X"):
            fit(sources, labels, sample_weight=wrong)


def test_a_class_without_weight_is_no_class():
    model = fit(sample_weight=(Y != 2).astype(float))
    assert_array_equal(model.classes_, [0, 1])


def test_sparse_rows_have_weights_too():
    rows = [sparse.csr_array(part) for part in (X, X_TARGET)]
    found = fit(rows[0], Y, rows[1], sample_weight=WEIGHTS)
    assert np.mean(found.transduction_ == fit(sample_weight=WEIGHTS).transduction_) > 0.97


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight has shape \(3,\), but X has 90 rows"),
        (np.ones((90, 1)), r"sample_weight has shape \(90, 1\)"),
        (-np.ones(90), r"sample_weight holds -1\.0 at row 0\. Weights are 0 or above"),
        (np.full(90, np.nan), "sample_weight holds nan at row 0"),
        (np.zeros(90), "sample_weight is zero for every row"),
        (["a"] * 90, "sample_weight must hold numbers"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        open_domains(X, Y, X_TARGET, sample_weight=weights)


def test_dask_arrays_have_no_weights():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="`sample_weight` cannot be given with Dask arrays"):
        fit(da.from_array(X), Y, da.from_array(X_TARGET), sample_weight=WEIGHTS)
