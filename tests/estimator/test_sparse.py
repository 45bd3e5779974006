"""Sparse rows get the labels that dense rows of the same numbers get."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lpjt import LPJT, Kernel
from lpjt.core import blocks
from lpjt.datasets import load_domain
from problems import one_setting


def counts(seed=0, *, n=300, width=120, n_classes=4, constant=False, shift=1.0):
    """Counts of words, a tenth of them not zero, at other rates in the target: X, y, X_target, y_target."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    rates = 0.04 + rng.gamma(0.3, 0.25, size=(n_classes, width))
    X = rng.poisson(rates[y]).astype(float)
    X_target = rng.poisson(rates[y] * rng.uniform(0.3, 2.0, size=width) ** shift).astype(float)
    if constant:
        X[:, 3] = X_target[:, 3] = 2
        X[:, 5] = X_target[:, 5] = X[:, 7] = 0
    return X, y, X_target, y


def fit(*data, make=one_setting, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(**{"random_state": 0, **parameters}).fit(*data)


def thin(X, y, X_target):
    return sparse.csr_array(X), y, sparse.csc_matrix(X_target)


def agreement(one, other):
    return np.mean(one == other)


SETTINGS = {
    "defaults": (LPJT, {}),
    "one setting": (one_setting, {}),
    "standard": (one_setting, {"scaling": "standard"}),
    "unit": (one_setting, {"scaling": "unit"}),
    "none": (one_setting, {"scaling": "none"}),
    "paper": (LPJT.paper, {"n_components": 20}),
    "authors": (LPJT.authors, {"n_components": 20}),
    "landmarks": (one_setting, {"landmark_ratio": 0.5}),
    "rbf": (one_setting, {"kernel": "rbf", "scaling": "standard"}),
    "sampled": (one_setting, {"sample_size": 110}),
}


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_labels_of_sparse_and_dense_rows_agree(name, constant):
    make, parameters = SETTINGS[name]
    X, y, X_target, _ = counts(int(constant), constant=constant)  # rows on which the default adapts
    assert 0.05 < np.mean(X > 0) < 0.2
    dense = fit(X, y, X_target, make=make, **parameters)
    found = fit(*thin(X, y, X_target), make=make, **parameters)
    assert (found.scaling_, found.adapted_) == (dense.scaling_, dense.adapted_)
    assert dense.adapted_
    assert agreement(found.transduction_, dense.transduction_) >= 0.99
    # New rows, sparse or dense, whatever those of the fit were.
    new = counts(2, constant=constant)[2]
    for rows in (new, sparse.coo_array(new)):
        assert agreement(found.predict(rows), dense.predict(new)) >= 0.99
        assert_allclose(dense.transform(rows), dense.transform(new), atol=1e-8)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("name", ["standard", "unit", "paper", "sampled"])
def test_labels_agree_where_rows_stay_sparse(name, constant, monkeypatch):
    make, parameters = SETTINGS[name]
    parameters = {"scaling": "standard", "safeguard": False} | parameters
    X, y, X_target, _ = counts(n=120, width=300, constant=constant)
    dense = fit(X, y, X_target, make=make, **parameters)
    monkeypatch.setattr(blocks, "DENSE_ENTRIES", 0)
    found = fit(*thin(X, y, X_target), make=make, **parameters)
    assert found._coordinates["target"].offset is not None
    assert agreement(found.transduction_, dense.transduction_) >= 0.99
    new = counts(1, n=120, width=300, constant=constant)[2]
    assert agreement(found.predict(sparse.csr_array(new)), dense.predict(new)) >= 0.99
    assert_allclose(found.transform(sparse.csr_array(new)), found.transform(new), atol=1e-8)


def test_rows_that_stay_sparse_have_at_most_256_coordinates(monkeypatch):
    X, y, X_target, _ = counts(width=400)
    wide = fit(*thin(X, y, X_target), max_iter=1, scaling="standard", safeguard=False)
    assert len(wide.projections_["target"]) > 256
    monkeypatch.setattr(blocks, "DENSE_ENTRIES", 0)
    options = {"max_iter": 1, "scaling": "standard", "safeguard": False}
    for given, expected in (({}, 256), ({"n_components": 70}, 280), ({"n_coordinates": 40}, 40)):
        model = fit(*thin(X, y, X_target), **options, **given)
        assert len(model.projections_["target"]) == expected


def test_no_shift_is_found_in_sparse_rows_too():
    X, y, _, _ = counts(n=600)
    dense = fit(X[:300], y[:300], X[300:])
    found = fit(*thin(X[:300], y[:300], X[300:]))
    assert found.adapted_ == dense.adapted_ is False
    assert_array_equal(found.transduction_, dense.transduction_)
    assert_array_equal(found.predict(sparse.csr_array(X)), dense.predict(X))


def test_the_shift_and_the_scaling_of_rows_that_stay_sparse_are_not_judged(monkeypatch):
    X, y, _, _ = counts(n=600)
    monkeypatch.setattr(blocks, "DENSE_ENTRIES", 0)
    found = fit(*thin(X[:300], y[:300], X[300:]))
    assert found.adapted_
    assert found.scaling_ == "standard"


def test_mixed_domains_and_several_sources_agree():
    X, y, X_target, _ = counts()
    dense = fit({"a": X[:150], "b": X[150:]}, {"a": y[:150], "b": y[150:]}, X_target)
    rows = {"a": sparse.csr_array(X[:150]), "b": X[150:]}
    found = fit(rows, {"a": y[:150], "b": y[150:]}, sparse.csr_array(X_target))
    assert agreement(found.transduction_, dense.transduction_) >= 0.99


def test_kernel_rows_of_wide_sparse_domains_are_fewer(monkeypatch):
    monkeypatch.setattr("lpjt.fitting.candidate.DENSE_ENTRIES", 120 * 280)
    X, y, X_target, _ = counts()
    assert len(fit(X, y, X_target, kernel="rbf")._coordinates["target"].kernel_rows) == 600
    assert len(fit(*thin(X, y, X_target), kernel="rbf")._coordinates["target"].kernel_rows) == 280
    few = fit(*thin(X, y, X_target), kernel=Kernel("rbf", max_rows=90))
    assert len(few._coordinates["target"].kernel_rows) == 90
    monkeypatch.setattr("lpjt.fitting.candidate.DENSE_ENTRIES", 0)
    assert len(fit(*thin(X, y, X_target), kernel="rbf")._coordinates["target"].kernel_rows) == 256


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("pair", [("B", "D"), ("K", "E")])
def test_reviews(pair):
    source, target = (load_domain("amazon-5000", name) for name in pair)
    X, X_target = (domain.X[:600] for domain in (source, target))
    dense = fit(X.toarray(), source.y[:600], X_target.toarray())
    found = fit(X, source.y[:600], X_target)
    assert found.scaling_ == dense.scaling_
    assert agreement(found.transduction_, dense.transduction_) >= 0.99
