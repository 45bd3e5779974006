"""Coordinates at their limits: floors of deviations, shares and ranks of bases, blocks, dtypes and defaults."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from lpjt._threads import threads
from lpjt.core import coordinates, scaling
from lpjt.core.coordinates import Coordinates, principal_basis, to_coordinates
from lpjt.core.scaling import Scaling, fit_scaling, scale_rows
from toys import plain_scaling, raw_rows


def test_scores_of_rows_of_sum_one_are_not_cut_to_unit_length():
    X = raw_rows(positive=True)
    share = X / X.sum(axis=1, keepdims=True)
    scaling = fit_scaling(X, "sum-zscore")
    assert (scaling.row_sums, scaling.clip, scaling.unit_rows) == (True, None, False)
    found = scale_rows(X, scaling)
    assert_allclose(found, (share - share.mean(axis=0)) / share.std(axis=0), rtol=1e-10)
    negative = raw_rows()
    before = negative.copy()
    scaling = fit_scaling(negative, "sum-zscore")
    assert not scaling.row_sums
    assert_allclose(scale_rows(negative, scaling), (before - before.mean(axis=0)) / before.std(axis=0), rtol=1e-10)
    assert_array_equal(negative, before)


def test_rows_with_a_zero_and_nothing_negative_are_divided_by_their_sums():
    X = raw_rows(positive=True)
    X[0, 0] = 0.0
    assert fit_scaling(X, "paper").row_sums
    X[0, 0] = -1e-12
    assert not fit_scaling(X, "paper").row_sums


@pytest.mark.parametrize(
    ("kind", "clip", "unit"),
    [("standard", 3.0, True), ("paper", None, True), ("unit", None, True), ("none", None, False)],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_steps_of_the_kinds(kind, clip, unit, container):
    scaling = fit_scaling(container(raw_rows(positive=True)), kind)
    assert (scaling.clip, scaling.unit_rows) == (clip, unit)
    assert scaling.row_sums == (kind == "paper")
    assert (scaling.deviation is not None) == (kind in ("standard", "paper"))
    assert (scaling.mean is not None) == (kind in ("standard", "paper"))


def test_several_parts_have_the_statistics_of_their_rows_together():
    parts = [raw_rows(0, 30), raw_rows(1, 50) + 1]
    both = np.vstack(parts)
    found = scaling.joint_scaling(parts, "standard")
    assert_allclose(found.mean, both.mean(axis=0), rtol=1e-12)
    assert_allclose(found.deviation, both.std(axis=0), rtol=1e-12)
    held = scaling.joint_scaling([sparse.csr_array(part) for part in parts], "standard")
    assert_allclose(held.deviation, both.std(axis=0), rtol=1e-10)
    parts[1][3, 2] = -99
    assert not scaling.joint_scaling([np.abs(parts[0]), parts[1]], "paper").row_sums


@pytest.mark.parametrize(("dtype", "precision"), [(np.float32, 1e-7), (np.float64, 1e-14)])
def test_deviations_down_to_rounding_count(dtype, precision):
    """A deviation is rounding below a share of its column's mean, and about zero below a share of the largest one."""
    X = np.ones((64, 4), dtype=dtype)
    X[::2, 0] = -1
    assert_array_equal(np.isinf(fit_scaling(X, "standard").deviation), [False, True, True, True])
    mean, deviation = np.array([0.0, 1.0, 1.0, 0.0]), np.array([1.0, 2 * precision, 0.5 * precision, 0.5e-10])
    deviation[1] = max(deviation[1], 2e-10)
    scaling = floors(mean, deviation, dtype)
    assert_array_equal(np.isinf(scaling.deviation), [False, False, True, True])
    assert_array_equal(np.isinf(floors(mean, np.array([1.0, 1.0, 1.0, 2e-10]), dtype).deviation), False)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_beside_one_of_another_order_of_magnitude_count(dtype):
    """A time in nanoseconds varies 1e17 times as much as a measurement, which is no rounding for that."""
    X = np.random.default_rng(1).exponential(size=(64, 3)).astype(dtype)
    expected = scale_rows(X, fit_scaling(X, "standard"))
    X[:, 1] *= 1e17
    assert_allclose(scale_rows(X, fit_scaling(X, "standard")), expected, rtol=1e-3 if dtype == np.float32 else 1e-9)
    errors = np.random.default_rng(0).normal(scale=1e-16, size=64)
    X = np.column_stack([np.linspace(-1, 1, 64), errors, errors + 1e-16]).astype(dtype)
    assert_array_equal(np.isinf(fit_scaling(X, "standard").deviation), [False, True, False])


def floors(mean, deviation, dtype):
    """Scaling from statistics that are given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling.statistics, "column_statistics", lambda parts, row_sums, factor: (mean, deviation))
        return fit_scaling(np.ones((2, 4), dtype=dtype), "standard")


def test_no_scaling_is_no_copy():
    X = raw_rows()
    assert scale_rows(X, Scaling()) is X


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_scaled_to_float32(n_jobs):
    X = raw_rows(n=30_000)[::2]
    with threads(n_jobs):
        found = scaling.scale_to_compare(X, fit_scaling(X, "standard"))
    assert found.dtype == np.float32
    assert_array_equal(found, plain_scaling(X, "standard").astype(np.float32))


def test_second_moment_of_scaled_rows():
    X = raw_rows()
    S = plain_scaling(X, "standard")
    for options in ({}, {"entries": 20}):
        found = coordinates.second_moment(X, fit_scaling(X, "standard"), **options)
        assert_allclose(found, S.T @ S / 40, rtol=1e-10)


def axes_of(parts, rank):
    """Leading eigenvectors of the sum of the parts' second moments, as a projector."""
    V = np.linalg.eigh(sum(part.T @ part / len(part) for part in parts))[1][:, ::-1][:, :rank]
    return V @ V.T


@pytest.mark.parametrize("n", [40, 7])
def test_leading_directions_of_several_domains_count_alike(n):
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 20)) * np.linspace(3, 0.5, 20), rng.normal(size=(3, 20)) * np.linspace(0.5, 3, 20)]
    scalings = [Scaling(unit_rows=True), Scaling()]
    scaled = [plain_scaling(parts[0], "unit"), parts[1]]
    for max_rank in (1, 4, 6):
        Q = principal_basis(parts, scalings, max_rank=max_rank)
        assert Q.flags.c_contiguous
        assert_allclose(Q @ Q.T, axes_of(scaled, max_rank), atol=1e-9)
    values = np.linalg.eigvalsh(sum(part.T @ part / len(part) for part in scaled))[::-1]
    for kept in (0.5, 0.9):
        Q = principal_basis(parts, scalings, kept=kept, entries=60)
        rank = 1 + int(np.argmax(np.cumsum(values) >= kept * values.sum()))
        assert_allclose(Q @ Q.T, axes_of(scaled, rank), atol=1e-9)


def test_all_directions_need_no_basis():
    X = np.random.default_rng(0).normal(size=(30, 6))
    assert principal_basis([X], [Scaling()]) is None
    assert principal_basis([X], [Scaling()], max_rank=6) is None
    assert principal_basis([X], [Scaling()], max_rank=5).shape == (6, 5)
    assert principal_basis([X], [Scaling()], kept=1 - 1e-12) is None
    assert principal_basis([X[:6]], [Scaling()]) is None  # as many rows as columns
    assert principal_basis([X[:5]], [Scaling()]).shape == (6, 5)
    flat = X * [1, 1, 1, 1, 1, 0]
    assert principal_basis([flat], [Scaling()]) is None
    assert principal_basis([flat], [Scaling()], max_rank=5).shape == (6, 5)


def test_kernel_directions_that_are_rounding_are_left_out():
    X = np.random.default_rng(0).normal(size=(30, 4))
    assert coordinates.kernel_basis([X], "linear", {})[1].shape == (30, 4)
    spectrum = np.ones(30) * 1e-20
    spectrum[:3] = 1.0, 4e-13, 2e-13  # 30 rows: the floor is 3e-13
    Q, _ = np.linalg.qr(
        X @ np.random.default_rng(1).normal(size=(4, 30)) + np.random.default_rng(2).normal(size=(30, 30))
    )
    K = (Q * spectrum) @ Q.T
    places = np.arange(30.0)[:, None]
    _, basis = coordinates.kernel_basis([places], lambda a, b: K[int(a[0]), int(b[0])], {})
    assert basis.shape == (30, 2)


def test_a_kernel_that_is_not_symmetric_is_made_so(monkeypatch):
    monkeypatch.setattr(coordinates, "pairwise_kernels", lambda *a, **k: np.array([[2.0, 0.0], [1.0, 2.0]]))
    _, basis = coordinates.kernel_basis([np.eye(2)], "rbf", {})
    assert_allclose(np.linalg.inv(basis @ basis.T), [[2.0, 0.5], [0.5, 2.0]], rtol=1e-12)


def test_coordinates_of_blocks_are_those_of_all_rows():
    X = raw_rows(n=50)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 3)))[0]
    for C in (
        Coordinates(fit_scaling(X, "standard"), basis),
        Coordinates(Scaling(), np.eye(50)[:, :4], X, "rbf", {"gamma": 0.1}),
        Coordinates(Scaling(), np.eye(50)[:, :4], X, "cosine"),
    ):
        whole = to_coordinates(X, C)
        assert len(coordinates.row_blocks(X)) == 1
        parts = to_coordinates(X, C, entries=35)
        assert_allclose(parts, whole, rtol=1e-12, atol=1e-14)
        out = np.full_like(whole, np.nan)
        assert to_coordinates(X, C, out=out) is out
        assert_allclose(out, whole, rtol=1e-12, atol=1e-14)
        assert coordinates.rank_of(C, 5) == whole.shape[1]
        assert to_coordinates(X[:0], C).shape == (0, whole.shape[1]) if C.kernel is None else True
    assert coordinates.rank_of(Coordinates(Scaling()), 5) == 5
    held = sparse.csr_array(X)
    assert_allclose(to_coordinates(held, Coordinates(Scaling()), entries=35), X)


def test_kernel_of_float32_rows_is_float32():
    X = raw_rows().astype(np.float32)
    C = Coordinates(Scaling(), None, X, lambda a, b: float(a[0] * b[0]), {})
    found = to_coordinates(X, C)
    assert found.dtype == np.float32
    assert_allclose(found, np.outer(X[:, 0], X[:, 0]), rtol=1e-5)


def test_parameters_that_a_kernel_does_not_have_are_ignored():
    X = raw_rows()
    C = Coordinates(Scaling(), np.eye(40), X, "rbf", {"gamma": 0.1, "degree": 7})
    assert_allclose(to_coordinates(X, C), rbf_kernel(X, gamma=0.1), atol=1e-12)
    kernel_rows, basis = coordinates.kernel_basis([X], "rbf", {"gamma": 0.1, "degree": 7})
    assert_allclose(rbf_kernel(X, gamma=0.1) @ basis @ basis.T, np.eye(40), atol=1e-6)
    assert kernel_rows.shape == X.shape


def test_default_width_of_a_kernel_looks_at_evenly_spaced_rows():
    X = np.random.default_rng(0).normal(size=(1501, 2)) * np.linspace(1, 3, 1501)[:, None]
    some = X[::3]
    squared = ((some[:, None] - some) ** 2).sum(axis=2)
    assert_allclose(coordinates.default_kernel_width([X]), 1 / squared.mean(), rtol=1e-9)
    assert_allclose(coordinates.default_kernel_width([X], n_rows=1501), 1 / (2 * X.var(axis=0).sum()), rtol=1e-9)
    assert coordinates.default_kernel_width([np.ones((4, 2))]) == 1 / (2 * np.finfo(float).eps ** 2)
    assert coordinates.default_kernel_width([np.zeros((4, 2))]) == 1


def test_nothing_is_decomposed_where_all_directions_are_kept(monkeypatch):
    monkeypatch.setattr(coordinates, "leading_directions", None)
    X = np.random.default_rng(0).normal(size=(30, 6))
    assert principal_basis([X], [Scaling()], kept=1.0) is None
    assert principal_basis([X[:3], X[3:6]], [Scaling()] * 2, max_rank=6) is None


def test_kernel_values_beyond_float32_give_finite_coordinates():
    rows = np.array([[2.0, 1.0], [1.0, 3.0], [0.5, 0.5]], dtype=np.float32) * np.float32(1e20)
    kernel = np.power(rows.astype(np.float64) @ rows.T.astype(np.float64), 3)  # about 1e120
    basis = np.ones((3, 2)) / kernel.max()
    params = {"degree": 3, "gamma": 1.0, "coef0": 0.0}
    of_kernel = Coordinates(
        Scaling(), basis=basis, kernel_rows=rows.astype(np.float64), kernel="poly", kernel_params=params
    )
    found = to_coordinates(rows, of_kernel)
    assert found.dtype == np.float32
    assert_allclose(found, kernel @ basis, rtol=1e-5)
