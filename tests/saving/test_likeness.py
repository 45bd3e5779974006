"""New rows that do not look like the fitted target are told; fresh rows of it are not."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

from lpjt import LPJT, TransferWarning
from lpjt.core.coordinates import Coordinates, to_coordinates
from lpjt.core.scaling import fit_scaling
from lpjt.likeness import LEAST_ROWS, likeness_to
from problems import shifted_pair

DRAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "heavy tails": lambda rng, shape: rng.standard_t(2, size=shape),
    "skewed": lambda rng, shape: np.exp(1.5 * rng.normal(size=shape)),
    "binary": lambda rng, shape: (rng.random(shape) < 0.3).astype(float),
    "counts": lambda rng, shape: rng.poisson(0.2, size=shape).astype(float),
    "classes": lambda rng, shape: rng.normal(size=shape) + 6 * rng.integers(3, size=(shape[0], 1)),
}


def complaints(known, coordinates, rows):
    return known.complaint_about(rows, to_coordinates(rows, coordinates))


@pytest.mark.parametrize("kind", ["none", "standard", "unit"])
@pytest.mark.parametrize("draw", DRAWS)
def test_fresh_rows_raise_no_alarm(draw, kind):
    """432 draws each, from one row to 300, against 20 to 600 rows of 2 to 40 columns."""
    rng = np.random.default_rng(7)
    for n in (20, 100, 600):
        for width in (2, 10, 40):
            X = DRAWS[draw](rng, (n, width))
            coordinates = Coordinates(fit_scaling(X, kind))
            known = likeness_to(X, coordinates)
            if known is None:  # all rows are equal
                continue
            assert complaints(known, coordinates, X) is None
            for m in (1, 2, 3, 10, 50, 300):
                for _ in range(8):
                    assert complaints(known, coordinates, DRAWS[draw](rng, (m, width))) is None, (n, width, m)


@pytest.mark.parametrize("draw", ["normal", "skewed", "classes"])
def test_shifted_rows_raise_an_alarm(draw):
    rng = np.random.default_rng(3)
    X = DRAWS[draw](rng, (300, 6))
    coordinates = Coordinates(fit_scaling(X, "standard"))
    known = likeness_to(X, coordinates)
    for m in (20, 200):
        rows = DRAWS[draw](rng, (m, 6))
        assert complaints(known, coordinates, rows) is None
        moved = rows + 3 * X.std(axis=0) * [1, -1, 1, -1, 1, -1]
        assert complaints(known, coordinates, moved) is not None


def test_one_row_raises_an_alarm_only_if_it_is_very_far():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    coordinates = Coordinates(fit_scaling(X, "none"))
    known = likeness_to(X, coordinates)
    assert complaints(known, coordinates, X[:1] + 5) is None
    assert "1 of 1 rows" in complaints(known, coordinates, X[:1] + 200)


def test_a_column_in_other_units_is_named():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(20, 5, 400), rng.random(400)])  # degrees Celsius
    coordinates = Coordinates(fit_scaling(X, "standard"))
    known = likeness_to(X, coordinates)
    rows = X[:40] + np.array([273.15, 0])
    names, Z = np.array(["warmth", "share"]), to_coordinates(X[:40], coordinates)  # in coordinates nothing is wrong
    assert known.complaint_about(X[:40], Z, names) is None
    text = known.complaint_about(rows, Z, names)
    assert "40 of 40 rows are out of the range of column 'warmth'" in text


def test_too_few_rows_are_not_compared_with():
    X = np.random.default_rng(0).normal(size=(LEAST_ROWS, 3))
    assert likeness_to(X, Coordinates(fit_scaling(X, "none"))) is not None
    assert likeness_to(X[1:], Coordinates(fit_scaling(X, "none"))) is None
    assert likeness_to(np.ones_like(X), Coordinates(fit_scaling(X, "none"))) is None


def test_predict_warns_and_labels_are_the_same():
    X, y, X_target, _ = shifted_pair(n_source=150, n_target=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(random_state=0).fit(X, y, X_target[:200])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X_target[200:])
        model.predict_proba(X_target[200:201])
        model.predict(X, domain="source")
    strange = X_target[200:] + 20
    with pytest.warns(TransferWarning, match="do not look like those of 'target' in fit") as caught:
        labels = model.predict(strange)
    assert len(caught) == 1
    with pytest.warns(TransferWarning, match="fit again"):
        distributions = model.predict_proba(strange)
    model._likeness = {}
    np.testing.assert_array_equal(model.predict(strange), labels)
    np.testing.assert_array_equal(model.predict_proba(strange), distributions)


def test_digits_of_other_writers_and_of_one_class_are_no_strangers():
    X, y = load_digits(return_X_y=True)
    turned = X.reshape(-1, 8, 8).transpose(0, 2, 1).reshape(-1, 64)
    coordinates = Coordinates(fit_scaling(X[:800], "standard"))
    known = likeness_to(X[:800], coordinates)
    assert complaints(known, coordinates, X[800:]) is None
    for label in range(10):
        assert complaints(known, coordinates, X[800:][y[800:] == label]) is None
    for strange in (turned[800:], X[800:] / 2, X[800:, ::-1], 16 - X[800:]):
        assert complaints(known, coordinates, strange) is not None
        assert complaints(known, coordinates, strange[:25]) is not None
