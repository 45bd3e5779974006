"""Finite rows of any size, degenerate rows and tiny domains: right labels, or an error of ours."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

import lpjt
from lpjt import LPJT, baselines
from lpjt._warnings import TransferWarning

SIZES = [(np.float32, 1e19), (np.float32, 1e-25), (np.float32, 1e37), (np.float64, 1e155), (np.float64, 1e-170),
         (np.float64, 1e300), (np.float64, 1e-300)]  # fmt: skip


def clear_pair(seed=0, n=10):
    """Three classes far apart in six columns, and a small shift."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), n)
    centres = np.eye(3, 6) * 12 + 3
    return centres[y] + rng.normal(size=(len(y), 6)), y, centres[y] + rng.normal(size=(len(y), 6)) + 0.5


def in_size(dtype, size):
    X, y, X_target = clear_pair()
    return (X * size).astype(dtype), y, (X_target * size).astype(dtype)


@pytest.mark.parametrize(("dtype", "size"), SIZES)
def test_labels_do_not_depend_on_the_size_of_the_rows(dtype, size):
    X, y, X_target = in_size(dtype, size)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*encountered")
        model = LPJT(random_state=0).fit(X, y, X_target)
        np.testing.assert_array_equal(model.transduction_, y)
        np.testing.assert_array_equal(model.predict(X_target), y)
        assert np.isfinite(model.transform(X_target)).all()
        assert model.transform(X_target).dtype == dtype


@pytest.mark.parametrize("scaling", ["standard", "unit", "source", "joint", "none", "paper"])
@pytest.mark.parametrize(("dtype", "size"), SIZES[:5])
def test_every_view_labels_rows_of_extreme_size(scaling, dtype, size):
    X, y, X_target = in_size(dtype, size)
    model = LPJT(scaling=scaling, candidates=None, safeguard=False, random_state=0).fit(X, y, X_target)
    np.testing.assert_array_equal(model.transduction_, y)


@pytest.mark.parametrize("kernel", ["rbf", "chi2", "laplacian", "poly", "sigmoid"])
@pytest.mark.parametrize("size", [1e-13, 3e-7, 1e13])
def test_every_kernel_labels_rows_of_any_size(kernel, size):
    X, y, X_target = (np.abs(part) for part in in_size(np.float32, size))
    model = LPJT(kernel=kernel, scaling="none", candidates=None, safeguard=False, random_state=0).fit(X, y, X_target)
    np.testing.assert_array_equal(model.transduction_, y)


def test_a_power_of_two_changes_no_bit_of_scale_free_views():
    X, y, X_target = clear_pair()
    for scaling in ("standard", "unit", "joint"):
        one, other = (
            LPJT(scaling=scaling, candidates=None, safeguard=False, random_state=0).fit(X * f, y, X_target * f)
            for f in (1.0, 2.0**400)
        )
        np.testing.assert_array_equal(one.label_distributions_, other.label_distributions_)


def test_saved_models_and_onnx_keep_the_factor(tmp_path):
    X, y, X_target = in_size(np.float64, 1e155)
    model = LPJT(candidates=None, random_state=0).fit(X, y, X_target)
    assert model._coordinates["target"].scaling.factor is not None
    model.save(tmp_path / "model.lpjt")
    loaded = lpjt.load(tmp_path / "model.lpjt")
    np.testing.assert_array_equal(loaded.predict_proba(X_target), model.predict_proba(X_target))
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(lpjt.to_onnx(model).SerializeToString())
    labels, *_ = session.run(None, {session.get_inputs()[0].name: X_target})
    np.testing.assert_array_equal(np.asarray(labels).ravel(), y)


def test_sizes_of_domains_may_differ():
    X, y, X_target = clear_pair()
    model = LPJT(scaling="standard", candidates=None, random_state=0)
    for factor in (1e19, 1e-25):
        found = model.fit(X.astype(np.float32), y, (X_target * factor).astype(np.float32))
        np.testing.assert_array_equal(found.transduction_, y)


@pytest.mark.parametrize("name", [name for name in baselines.__all__ if name not in ("SHFA", "OptimalTransport")])
def test_baselines_label_rows_of_extreme_size(name):
    X, y, X_target = clear_pair(n=6)
    some = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    usual = getattr(baselines, name)().fit(X, y, X_target, some)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*encountered")
        rows = ((part * 1e25).astype(np.float32) for part in (X, X_target))
        model = getattr(baselines, name)().fit(next(rows), y, next(rows), some)
    assert np.mean(model.transduction_ == y) >= min(0.9, np.mean(usual.transduction_ == y))


@pytest.mark.parametrize("seed", [0, 2, 3, 4, 6, 7])
def test_few_float32_rows_of_different_widths(seed):
    rng = np.random.default_rng(seed)
    X, X_target = (rng.normal(size=shape).astype(np.float32) for shape in ((6, 15), (3, 26)))
    model = LPJT(candidates=None, scaling="unit", max_iter=3, random_state=0)
    with pytest.warns(TransferWarning):
        model.fit(X, np.arange(6), X_target)
    assert np.isfinite(model.label_distributions_).all()


def test_float32_rows_far_from_the_origin_in_the_kernel_regression():
    X, y = load_wine(return_X_y=True)
    X = X.astype(np.float32)
    model = LPJT(scaling="none", candidates=None, safeguard=False, random_state=0).fit(X[::2], y[::2], X[1::2] * 1.3)
    assert np.isfinite(model.label_distributions_).all()


DEGENERATE = {
    "identical": lambda X: np.broadcast_to(X[0], X.shape),
    "repeated": lambda X: X[np.arange(len(X)) % 2],
    "rank one": lambda X: np.outer(X[:, 0], np.ones(6)),
    "zero": np.zeros_like,
}


@pytest.mark.parametrize("change", DEGENERATE)
@pytest.mark.parametrize("make", [LPJT.authors, lambda: LPJT(classifier="svm"), lambda: LPJT.paper()])
def test_degenerate_rows_are_fitted_by_every_classifier(make, change):
    X, y, X_target = clear_pair(n=5)
    model = make().set_params(random_state=0).fit(DEGENERATE[change](X), y, DEGENERATE[change](X_target))
    assert set(model.transduction_) <= {0, 1, 2}
    assert np.isfinite(model.predict_proba(X_target)).all()


@pytest.mark.parametrize("change", DEGENERATE)
@pytest.mark.parametrize("name", [name for name in baselines.__all__ if name not in ("CDLS", "OptimalTransport")])
def test_degenerate_rows_are_fitted_by_every_baseline_without_numerical_warnings(name, change):
    X, y, X_target = clear_pair(n=5)
    some = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*encountered")
        model = getattr(baselines, name)().fit(DEGENERATE[change](X), y, DEGENERATE[change](X_target), some)
    assert set(model.transduction_) <= {0, 1, 2}


def test_weights_of_the_objective_have_bounds():
    X, y, X_target = clear_pair()
    for name in ("locality_weight", "variance_weight", "coupling_weight"):
        with pytest.raises(ValueError, match=rf"The '{name}' parameter of LPJT must be .* in the range \[.*, 1e\+30\]"):
            LPJT(**{name: 1e31}).fit(X, y, X_target)
    with pytest.raises(ValueError, match="'variance_weight' parameter"):
        LPJT(variance_weight=1e-31).fit(X, y, X_target)


def test_sample_weights_have_a_largest_ratio():
    X, y, X_target = clear_pair()
    weights = np.ones(len(y))
    weights[0] = 1e31
    with pytest.raises(ValueError, match=r"sample_weight goes from 1 to 1e\+31, .* Give weights whose ratio is at"):
        LPJT(candidates=None).fit(X, y, X_target, sample_weight=weights)
    weights = np.where(np.arange(len(y)) % 2, 1e300, 3e300)
    one, other = (
        LPJT(candidates=None, random_state=0).fit(X, y, X_target, sample_weight=w).label_distributions_
        for w in (weights, weights / 1e300)
    )
    np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "scaling", "words"),
    [
        ("chi2", "none", "kernel='chi2' is for rows without negative values"),
        (lpjt.Kernel("poly", gamma=1e200), "none", "The kernel 'poly' gives values that are not finite"),
    ],
)
def test_kernels_that_do_not_suit_the_rows_are_refused(kernel, scaling, words):
    X, y, X_target = clear_pair()
    with pytest.raises(ValueError, match=words):
        LPJT(kernel=kernel, scaling=scaling, candidates=None, safeguard=False).fit(X - 10, y, X_target - 10)


def test_read_only_rows_with_compiled_kernels():
    X, y, X_target = clear_pair()
    X.flags.writeable = X_target.flags.writeable = False
    model = LPJT(kernel="laplacian", scaling="none", candidates=None, safeguard=False, random_state=0)
    np.testing.assert_array_equal(model.fit(X, y, X_target).transduction_, y)
