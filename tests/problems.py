"""Small domains with a shift, for the tests of the estimator."""

import numpy as np

from lpjt import LPJT


def shifted_pair(seed=0, *, n_source=90, n_target=75, width=8, n_classes=3, shift=2.0, apart=4.0):
    """Gaussian classes and the same classes turned a little, stretched and moved: X, y, X_target, y_target."""
    rng = np.random.default_rng(seed)
    centres = apart * rng.normal(size=(n_classes, width))
    y, y_target = np.arange(n_source) % n_classes, np.arange(n_target) % n_classes
    X = centres[y] + rng.normal(size=(n_source, width))
    turn, upper = np.linalg.qr(np.eye(width) + 0.1 * rng.normal(size=(width, width)))
    turn *= np.sign(np.diag(upper))  # near the identity, not near its negative
    X_target = (centres[y_target] + rng.normal(size=(n_target, width))) @ turn * 1.3 + shift * rng.normal(size=width)
    return X, y, X_target, y_target


def widened(X, width, seed=0):
    """The rows in another feature space, (n, width), by a random linear map."""
    rng = np.random.default_rng(seed)
    return X @ rng.normal(size=(X.shape[1], width)) + 0.1 * rng.normal(size=(len(X), width))


def masked(y, n_each):
    """Labels of the first rows of each class, -1 elsewhere."""
    given = np.full(len(y), -1)
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)[:n_each]
        given[rows] = y[rows]
    return given


def one_setting(*args, **given):
    """`LPJT` without candidates and without the last regression: Algorithm 1 in one setting, to test its parts."""
    return LPJT(*args, **{"candidates": None, "refine": False, **given})
