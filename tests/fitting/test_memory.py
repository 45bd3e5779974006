"""No allocation grows with the square of the rows: shown by what is allocated, not by time."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse

from lpjt import Kernel
from lpjt.core.blocks import DENSE_ENTRIES
from problems import one_setting

FEW, MANY = 1200, 4800  # rows a domain
WIDTH, N_CLASSES = 8, 3


def make_domains(n, *, shifted=True):
    """Two domains of n rows whose classes overlap, so that labels change from pass to pass."""
    rng = np.random.default_rng(0)
    centres = 1.5 * rng.normal(size=(N_CLASSES, WIDTH))
    y_source, y_target = rng.integers(0, N_CLASSES, size=(2, n))
    X_source = centres[y_source] + rng.normal(size=(n, WIDTH))
    X_target = centres[y_target] + rng.normal(size=(n, WIDTH))
    if shifted:
        X_target = 1.5 * X_target @ (np.eye(WIDTH) + 0.4 * rng.normal(size=(WIDTH, WIDTH))) + 2
    return X_source, y_source, X_target, y_target


def unsupervised(n):
    return make_domains(n)[:3]


def halves(n):
    return make_domains(n, shifted=False)[:3]


def heterogeneous(n):
    X_source, y_source, X_target, y_target = make_domains(n)
    given = np.where(np.arange(n) % (n // 30) == 0, y_target, -1)
    return X_source, y_source, X_target[:, :6], given


def two_sources(n):
    X_source, y_source, X_target, _ = make_domains(n)
    half = n // 2
    sources = {"wide": X_source[:half], "narrow": X_source[half:, :5]}
    return sources, {"wide": y_source[:half], "narrow": y_source[half:]}, X_target


CASES = {
    "default": (unsupervised, {}),
    "landmarks": (unsupervised, {"landmark_ratio": 0.5}),
    "nearest neighbour": (unsupervised, {"classifier": "nn"}),
    "kernel": (unsupervised, {"kernel": Kernel("rbf", max_rows=60)}),
    "different widths, some labels": (heterogeneous, {}),
    "two sources": (two_sources, {}),
    "no shift": (halves, {}),
}


def fit_and_predict(data, parameters):
    """The fitted model, and the most bytes that fitting it and predicting allocated at a time beyond the input."""
    arguments = {"random_state": 0, "max_iter": 2, "scaling": "standard", **parameters}
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two passes are too few to end in, which does not matter here
            model = one_setting(**arguments).fit(*data)
            model.predict(data[2])
        return model, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", CASES)
def test_memory_grows_with_the_rows_not_with_their_square(name):
    make, parameters = CASES[name]
    (_, few), (model, many) = (fit_and_predict(make(n), parameters) for n in (FEW, MANY))
    assert model.adapted_ == (name != "no shift")
    assert many / few < 1.15 * MANY / FEW  # a square would give 16, and already one of a class's rows more than 5
    assert many < 0.25 * 8 * MANY**2


def test_both_scalings_tried_need_no_more_memory_than_one_and_a_half_times_one():
    data = unsupervised(FEW)
    _, one = fit_and_predict(data, {})
    _, both = fit_and_predict(data, {"scaling": "auto"})
    assert both < 1.5 * one


def test_sparse_rows_are_never_made_dense_as_a_whole():
    rng = np.random.default_rng(0)
    n, width = 1500, 25_000
    assert 2 * n * width > DENSE_ENTRIES
    y = np.arange(n) % 2
    parts = []
    for density in (0.004, 0.006):
        noise = sparse.random_array((n, width), density=density, random_state=rng, format="csr")
        # Two words of each class: what there is to learn.
        words = sparse.csr_array((np.full(n, 3.0), (np.arange(n), y + 2 * rng.integers(0, 2, n))), shape=(n, width))
        parts.append(sparse.csr_array(noise + words))
    model, peak = fit_and_predict((parts[0], y, parts[1]), {"n_components": 10})
    assert np.mean(model.transduction_ == y) > 0.8
    assert peak < 0.5 * 8 * 2 * n * width
