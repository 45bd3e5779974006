"""Coordinates: scaling by plain numpy, and bases in which nothing of the problem is lost."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from lpjt.core import alternation, coordinates
from lpjt.core.coordinates import Coordinates, principal_basis, span_basis, to_coordinates
from lpjt.core.scaling import Scaling, fit_scaling, scale_rows
from toys import blobs, nearest_mean, plain_scaling, raw_rows, settings

KINDS = ["standard", "paper", "unit", "none"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("positive", [True, False])
def test_kinds_of_scaling(kind, positive):
    X = raw_rows(positive=positive)
    before = X.copy()
    scaling = fit_scaling(X, kind)
    assert_allclose(scale_rows(X, scaling), plain_scaling(X, kind), rtol=1e-12, atol=1e-15)
    assert_array_equal(X, before)
    assert scaling.row_sums == (kind == "paper" and positive)


def test_something_was_cut():
    X = raw_rows()
    scores = scale_rows(X, Scaling(mean=X.mean(axis=0), deviation=X.std(axis=0), clip=3.0))
    assert np.abs(scores).max() == 3.0
    assert np.abs((X - X.mean(axis=0)) / X.std(axis=0)).max() > 3.0


def test_new_rows_are_scaled_by_the_old_statistics():
    X, new = raw_rows(), raw_rows(seed=1)
    expected = np.clip((new - X.mean(axis=0)) / X.std(axis=0), -3, 3)
    expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    assert_allclose(scale_rows(new, fit_scaling(X, "standard")), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_stays(kind, container, dtype):
    X = container(raw_rows(positive=True).astype(dtype))
    found = scale_rows(X, fit_scaling(X, kind))
    assert found.dtype == dtype
    assert isinstance(found, np.ndarray)
    assert to_coordinates(X, Coordinates(fit_scaling(X, kind))).dtype == dtype
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 3)))[0]
    assert to_coordinates(X, Coordinates(fit_scaling(X, kind), basis)).dtype == dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["standard", "paper"])
@pytest.mark.parametrize("value", [0.0, 0.1, -1234.567])
def test_a_constant_column_becomes_zero_whatever_new_rows_have_there(dtype, kind, value):
    X = raw_rows().astype(dtype)
    X[:, 2] = value
    scaling = fit_scaling(X, kind)
    found = scale_rows(X, scaling)
    assert not found[:, 2].any()
    others = [0, 1, 3, 4]
    expected = plain_scaling(X[:, others].astype(float), kind)
    assert_allclose(found[:, others], expected, atol=1e-5 if dtype == np.float32 else 1e-12)
    new = raw_rows(seed=1).astype(dtype)
    assert not scale_rows(new, scaling)[:, 2].any()


def test_rows_of_nothing_stay():
    X = raw_rows(positive=True)
    X[3] = 0
    assert not scale_rows(X, fit_scaling(X, "unit"))[3].any()
    assert np.isfinite(scale_rows(X, fit_scaling(X, "paper"))).all()
    constant = np.ones((4, 3))
    assert not scale_rows(constant, fit_scaling(constant, "standard")).any()


def test_the_span_of_few_wide_rows():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(8, 40)), rng.normal(size=(6, 40))]
    parts[1][0] = parts[0][0] + parts[0][1]  # one direction fewer
    Q = span_basis(parts)
    assert Q.shape == (40, 13)
    assert_allclose(Q.T @ Q, np.eye(13), atol=1e-12)
    for part in parts:
        assert_allclose(part @ Q @ Q.T, part, atol=1e-12)
    assert span_basis([rng.normal(size=(50, 40))]) is None
    assert span_basis([np.zeros((3, 9))]).shape == (9, 1)


def last_iteration(X, y, choice, n_classes=3, max_iter=3):
    """Last state of the alternation on one source and one target, from the labels of the nearest means."""
    problem = alternation.Problem(tuple(X), (y, np.full(len(X[1]), -1)), (False, True), n_classes)
    start = [np.eye(n_classes)[np.arange(len(X[1])) % n_classes]]
    return list(alternation.alternate(problem, choice, nearest_mean(n_classes), start, max_iter=max_iter))[-1]


def assert_same_solution(found, expected, rtol=1e-6):
    """Equal up to what the ridge, a share of the mean diagonal, makes of another number of columns."""
    assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=rtol)
    scale = max(np.abs(Z).max() for Z in expected.embeddings)
    for Z, other in zip(found.embeddings, expected.embeddings, strict=True):
        assert_allclose(Z @ Z.T, other @ other.T, atol=rtol * scale**2)
    for y, other in zip(found.labels, expected.labels, strict=True):
        assert_array_equal(y, other)


def wide_pair(width=60):
    rng = np.random.default_rng(1)
    source, y = blobs(rng, 21, width, 3)
    return [source, blobs(rng, 15, width, 3, shift=0.4)[0]], y


@pytest.fixture
def no_ridge(monkeypatch):
    """The pair as it is; coupling and variance keep S_min definite here."""
    solve = partial(alternation.projection.solve_projection, ridge=0.0)
    monkeypatch.setattr(alternation.projection, "solve_projection", solve)


@pytest.mark.usefixtures("no_ridge")
@pytest.mark.parametrize("ratio", [None, 0.5])
def test_reduced_coordinates_lose_nothing(ratio):
    X, y = wide_pair()
    choice = settings(coupling_weight=0.5, bandwidth="auto", landmark_ratio=ratio)
    Q = span_basis(X)
    assert Q.shape[1] < X[0].shape[1]
    assert_same_solution(last_iteration([x @ Q for x in X], y, choice), last_iteration(X, y, choice), rtol=1e-8)


def test_reduced_coordinates_of_domains_of_unequal_width():
    X, y = wide_pair()
    X[1] = X[1][:, :50]
    choice = settings(bandwidth="auto")
    reduced = [x @ span_basis([x]) for x in X]
    assert [x.shape[1] for x in reduced] == [21, 15]
    assert_same_solution(last_iteration(reduced, y, choice), last_iteration(X, y, choice))


def kernel_coordinates(X, kernel, params=None, **options):
    """Coordinates of a kernel for unscaled rows, all domains together."""
    options = {"max_rows": 1000, "random_state": np.random.RandomState(0)} | options
    marks, basis = coordinates.kernel_basis(X, kernel, params or {}, **options)
    return Coordinates(Scaling(), basis, marks, kernel, params or {})


@pytest.mark.usefixtures("no_ridge")
@pytest.mark.parametrize("width", [4, 60])
def test_a_linear_kernel_is_the_linear_problem(width):
    X, y = wide_pair(width)
    choice = settings(bandwidth="auto", landmark_ratio=0.5)
    C = kernel_coordinates(X, "linear")
    mapped = last_iteration([to_coordinates(x, C) for x in X], y, choice)
    plain = last_iteration(X, y, choice)
    assert_same_solution(mapped, plain, rtol=1e-8)
    # Embeddings are the same up to the sign of a column.
    for Z, other in zip(mapped.embeddings, plain.embeddings, strict=True):
        assert_allclose(np.abs(Z), np.abs(other), atol=1e-7 * np.abs(other).max())


def test_exact_coordinates_reproduce_the_kernel():
    X, _ = wide_pair(4)
    C = kernel_coordinates(X, "rbf", {"gamma": 0.2})
    Z = to_coordinates(np.vstack(X), C)
    assert_allclose(Z @ Z.T, rbf_kernel(np.vstack(X), gamma=0.2), atol=1e-10)
    new = np.random.default_rng(5).normal(size=(7, 4))
    assert_allclose(to_coordinates(new, C) @ Z.T, rbf_kernel(new, np.vstack(X), gamma=0.2), atol=1e-6)


def test_kernel_coordinates_are_cut_by_energy_and_by_number():
    X, _ = wide_pair(4)
    K = rbf_kernel(np.vstack(X), gamma=0.2)
    spectrum = np.linalg.eigvalsh(K)[::-1]
    rank = 1 + int(np.argmax(np.cumsum(spectrum) >= 0.9 * np.trace(K)))
    assert 2 < rank < 20
    full = to_coordinates(np.vstack(X), kernel_coordinates(X, "rbf", {"gamma": 0.2}))
    assert full.shape[1] == len(K)
    for options, expected in (({"kept": 0.9}, rank), ({"max_rank": 2}, 2), ({"kept": 0.9, "max_rank": 2}, 2)):
        Z = to_coordinates(np.vstack(X), kernel_coordinates(X, "rbf", {"gamma": 0.2}, **options))
        assert_allclose(Z, full[:, :expected], atol=1e-10)
        assert_allclose((Z**2).sum(axis=0), spectrum[:expected], rtol=1e-10)


def test_kernel_rows_are_not_sampled_unless_asked():
    X, _ = wide_pair(4)
    rows, basis = coordinates.kernel_basis(X, "rbf", {"gamma": 0.2})
    assert_array_equal(rows, np.vstack(X))
    assert basis.shape == (36, 36)
    state = np.random.RandomState(0)
    again, _ = coordinates.kernel_basis(X, "rbf", {"gamma": 0.2}, max_rows=36, random_state=state)
    assert_array_equal(again, rows)
    assert state.rand() == np.random.RandomState(0).rand()  # nothing was drawn
    first, _ = coordinates.kernel_basis(X, "rbf", {"gamma": 0.2}, max_rows=35, random_state=3)
    second, _ = coordinates.kernel_basis(X, "rbf", {"gamma": 0.2}, max_rows=35, random_state=3)
    assert_array_equal(first, second)
    places = [int(np.flatnonzero((rows == row).all(axis=1))[0]) for row in first]
    assert places == sorted(set(places))
    assert len(places) == 35


def test_sampled_coordinates_approach_the_kernel():
    X = [np.random.default_rng(0).normal(size=(100, 3)), np.random.default_rng(1).normal(size=(80, 3))]
    K = rbf_kernel(np.vstack(X), gamma=0.1)
    errors = []
    for max_rows in (5, 20, 80):
        C = kernel_coordinates(X, "rbf", {"gamma": 0.1}, max_rows=max_rows)
        Z = to_coordinates(np.vstack(X), C)
        assert Z.shape[1] <= max_rows == len(C.kernel_rows)
        errors.append(np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3
    # The kernel among the kernel rows themselves is kept exactly.
    marks = to_coordinates(C.kernel_rows, C)
    assert_allclose(marks @ marks.T, rbf_kernel(C.kernel_rows, gamma=0.1), atol=1e-8)


def test_kernels_of_sparse_rows():
    X = sparse.random_array((30, 8), density=0.4, random_state=np.random.default_rng(0), format="csr")
    C = kernel_coordinates([X[:18].toarray(), X[18:].toarray()], "rbf", {"gamma": 0.5})
    Z = to_coordinates(X, C)
    assert_array_equal(Z, to_coordinates(X.toarray(), C))
    assert_allclose(Z @ Z.T, rbf_kernel(X.toarray(), gamma=0.5), atol=1e-8)


def test_a_kernel_without_positive_values_is_refused():
    with pytest.raises(ValueError, match=r"without a positive eigenvalue\. Choose another kernel"):
        kernel_coordinates([np.eye(4)], lambda x, z: -float(np.array_equal(x, z)))


def test_default_width_of_a_kernel():
    X = [
        np.random.default_rng(0).normal(size=(60, 3)),
        np.random.default_rng(1).normal(2.0, 1.0, size=(60, 3)),
    ]
    stacked = np.vstack(X)
    squared = ((stacked[:, None] - stacked) ** 2).sum(axis=2)
    assert_allclose(coordinates.default_kernel_width(X), 1 / squared.mean(), rtol=1e-10)


def test_the_default_width_of_rows_far_from_zero_is_that_of_their_differences():
    X = np.random.default_rng(0).integers(-8, 9, size=(60, 3)).astype(float)
    assert_allclose(coordinates.default_kernel_width([X + 2.0**47]), coordinates.default_kernel_width([X]), rtol=1e-3)


@pytest.mark.parametrize(("size", "largest"), [(2.0**20, 1e13), (2.0**40, 1.0), (2.0**-40, 1.0)])
def test_coordinates_of_a_kernel_have_a_size_whose_squares_float32_holds(size, largest):
    X = np.random.default_rng(0).normal(size=(20, 3))
    C = kernel_coordinates([X * size], lambda x, z: float(x @ z) ** 2)
    Z = to_coordinates(X * size, C)
    assert largest / 10 < np.abs(Z).max() < 10 * largest
    plain = to_coordinates(X, kernel_coordinates([X], lambda x, z: float(x @ z) ** 2))
    assert_allclose(Z @ Z.T / np.trace(Z @ Z.T), plain @ plain.T / np.trace(plain @ plain.T), atol=1e-9)


@pytest.mark.parametrize("size", [1e-13, 1e-6, 1e13])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "laplacian", "chi2"])
def test_with_its_default_width_a_kernel_does_not_depend_on_the_size_of_the_rows(kernel, size):
    X = np.random.default_rng(0).uniform(size=(30, 3))
    usual, other = (
        coordinates.kernel_values(rows, None, kernel, {"gamma": coordinates.default_kernel_width([rows], kernel)})
        for rows in (X, X * size)
    )
    assert_allclose(other, usual, rtol=1e-6)


def test_a_common_part_of_all_rows_does_not_hide_their_differences():
    rng = np.random.default_rng(0)
    rows = np.hstack([np.full((60, 1), 1000.0), rng.normal(size=(60, 5))])
    one = principal_basis([rows], [Scaling()], kept=0.999)
    assert one.shape == (6, 1)
    several = principal_basis([rows], [Scaling()], kept=0.999, least=4)
    assert several.shape == (6, 4)
    assert principal_basis([rows], [Scaling()], kept=0.999, least=9) is None  # all that there are
    flat = np.hstack([rows[:, :3], rows[:, 1:2], rows[:, 2:3]])  # two columns twice: only three directions
    assert principal_basis([flat], [Scaling()], kept=0.999, least=5).shape == (5, 3)
