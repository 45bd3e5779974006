"""Ridge regressions: leave-one-out answers against refits, the kernel's minimiser against its closed form."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from lpjt._threads import threads
from lpjt.core import ridge
from toys import blobs


def overlapping(seed, n=24, width=4, n_classes=3, noise=2.5):
    """Rows whose classes overlap, so that penalties differ in accuracy: (X, Y)."""
    X, y = blobs(np.random.default_rng(seed), n, width, n_classes, noise=noise)
    return X, oracles.one_hot(y, n_classes)


def dense_linear(X, Y, penalty):
    """Coefficients of the penalised normal equations; the intercept, a column of ones, is penalised too."""
    Z = np.hstack([X, np.ones((len(X), 1))])
    return np.linalg.solve(Z.T @ Z + penalty * np.eye(Z.shape[1]), Z.T @ Y)


def mean_square(X):
    """Sum of the squares of all rows, per column: the unit of the penalties."""
    return sum(X[i, j] ** 2 for i in range(len(X)) for j in range(X.shape[1])) / X.shape[1]


def refitted_accuracy(X, Y, penalty):
    """Share of rows that a regression on all other rows classifies correctly."""
    correct = 0
    for i in range(len(X)):
        others = [j for j in range(len(X)) if j != i]
        values = np.append(X[i], 1.0) @ dense_linear(X[others], Y[others], penalty)
        correct += values.argmax() == Y[i].argmax()
    return correct / len(X)


@pytest.mark.parametrize("seed", range(8))
def test_linear_accuracy_is_that_of_refits_without_each_row(seed):
    X, Y = overlapping(seed)
    accuracies = [refitted_accuracy(X, Y, p * mean_square(X)) for p in (1e-3, 1e-2, 1e-1, 1.0)]
    assert ridge.fit_linear_ridge(X, Y).accuracy == max(accuracies)


def test_linear_penalty_is_the_first_with_the_best_accuracy():
    chosen = set()
    for seed in range(12):
        X, Y = overlapping(seed)
        penalties = [p * mean_square(X) for p in (1e-3, 1e-2, 1e-1, 1.0)]
        best = int(np.argmax([refitted_accuracy(X, Y, p) for p in penalties]))
        found = ridge.fit_linear_ridge(X, Y)
        assert_allclose(found.coefficients, dense_linear(X, Y, penalties[best]), atol=1e-9)
        chosen.add(best)
    assert len(chosen) > 2  # the data leave a choice


def test_linear_values_of_new_rows(monkeypatch):
    monkeypatch.setattr(ridge, "PENALTIES", (0.1,))
    X, Y = overlapping(0)
    new = np.random.default_rng(1).normal(size=(7, 4))
    expected = np.hstack([new, np.ones((7, 1))]) @ dense_linear(X, Y, 0.1 * mean_square(X))
    assert_allclose(ridge.fit_linear_ridge(X, Y).values_of(new), expected, atol=1e-10)
    # The unit of the penalty follows the rows' scale: with columns of another scale only the intercept's share moves.
    far, near = (ridge.fit_linear_ridge(scale * (X - X.mean(axis=0)), Y) for scale in (1e3, 1.0))
    assert_allclose(far.coefficients[:-1] * 1e3, near.coefficients[:-1], atol=1e-9)


def test_linear_fits_of_awkward_rows():
    X, Y = overlapping(0, n=6, width=9)  # fewer rows than columns
    found = ridge.fit_linear_ridge(X, Y)
    accuracies = [refitted_accuracy(X, Y, p * mean_square(X)) for p in (1e-3, 1e-2, 1e-1, 1.0)]
    assert found.accuracy == max(accuracies)
    single = ridge.fit_linear_ridge(X, np.ones((6, 1)))
    assert single.accuracy == 1.0
    assert single.values_of(X).shape == (6, 1)
    X, Y = overlapping(1, n=30, noise=0.6)
    narrow = ridge.fit_linear_ridge(X.astype(np.float32), Y)
    assert_allclose(narrow.values_of(X), ridge.fit_linear_ridge(X, Y).values_of(X), atol=1e-4)
    assert narrow.coefficients.dtype == np.float64


def test_a_linear_fit_of_rows_of_zeros_is_finite():
    Y = oracles.one_hot(np.array([0, 1, 1, 1]), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ridge.fit_linear_ridge(np.zeros((4, 3)), Y)
    assert np.isfinite(found.coefficients).all()
    assert_array_equal(found.values_of(np.zeros((2, 3))).argmax(axis=1), [1, 1])  # the more frequent class
    assert found.accuracy == 0.75


# --------------------------------------------------------------------------------------------------
# With a kernel


def smooth(seed=0, n=40, width=3, n_classes=3):
    """Rows, distributions that vary smoothly with them, and weights: (Z, Y, w)."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, width))
    Y = np.exp(2 * Z @ rng.normal(size=(width, n_classes)))
    return Z, Y / Y.sum(axis=1, keepdims=True), rng.uniform(0.2, 1.0, size=n)


def units(Z):
    return np.array([z / np.linalg.norm(z) if z.any() else z for z in Z])


def rbf(A, B, gamma):
    return np.array([[np.exp(-gamma * oracles.squared_distance(a, b)) for b in B] for a in A])


def inverse_mean_distance(U):
    """1 over the mean squared distance of all ordered pairs of rows, a row and itself among them."""
    return 1 / np.mean([[oracles.squared_distance(a, b) for b in U] for a in U])


def exact_values(U, Y, w, new, gamma, penalty):
    """Minimiser of E(f) = sum_i w_i |y_i - f(u_i)|^2 + penalty |f|^2 at new rows.

    By the representer theorem f = sum_j c_j k(u_j, .), so E(c) = tr (Y - K c)' W (Y - K c) + penalty tr c' K c. Its
    gradient, 2 K [(W K + penalty I) c - W Y], vanishes where the bracket does.
    """
    K = rbf(U, U, gamma)
    c = np.linalg.solve(np.diag(w) @ K + penalty * np.eye(len(U)), np.diag(w) @ Y)
    return rbf(new, U, gamma) @ c


def as_distributions(values):
    cut = np.maximum(values, 0)
    return cut / cut.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("penalty", [0.1, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_kernel_regression_is_the_minimiser(seed, penalty):
    Z, Y, w = smooth(seed)
    new = smooth(seed + 50, n=15)[0]
    found = ridge.fit_kernel_ridge(Z, Y, w, penalty=penalty)
    gamma = inverse_mean_distance(units(Z))
    assert_allclose(found.gamma, gamma, rtol=1e-10)
    values = 1 / 3 + exact_values(units(Z), Y - 1 / 3, w, units(new), gamma, penalty)
    assert_allclose(found.distributions_of(new), as_distributions(values), atol=1e-4)  # its diagonal is raised by 1e-8


def test_no_other_coefficients_have_less_energy():
    Z, Y, w = smooth()
    found = ridge.fit_kernel_ridge(Z, Y, w, penalty=0.4)
    K = rbf(units(Z), found.centres, found.gamma)

    def energy(c):
        misfit = sum(w[i] * np.sum((Y[i] - 1 / 3 - K[i] @ c) ** 2) for i in range(len(Z)))
        return misfit + 0.4 * np.trace(c.T @ rbf(found.centres, found.centres, found.gamma) @ c)

    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-2 * rng.normal(size=found.coefficients.shape)
        assert energy(found.coefficients + step) > energy(found.coefficients)


def test_the_default_penalty_is_a_tenth():
    Z, Y, w = smooth()
    given = ridge.fit_kernel_ridge(Z, Y, w, penalty=0.1)
    assert_array_equal(ridge.fit_kernel_ridge(Z, Y, w).coefficients, given.coefficients)


def test_a_row_of_weight_zero_is_left_out():
    Z, Y, w = smooth()
    Y[5], w[5] = Y[5][::-1], 0.0
    new, others = smooth(9, n=12)[0], np.arange(len(Z)) != 5
    found = ridge.fit_kernel_ridge(Z, Y, w)
    values = exact_values(units(Z)[others], Y[others] - 1 / 3, w[others], units(new), found.gamma, 0.1)
    assert_allclose(found.distributions_of(new), as_distributions(1 / 3 + values), atol=1e-4)
    w[5] = 1.0
    assert not np.allclose(
        ridge.fit_kernel_ridge(Z, Y, w).distributions_of(new), found.distributions_of(new), atol=1e-3
    )


def test_few_centres_are_near_the_exact_regression():
    Z, Y, w = smooth(n=203, width=2)
    new = smooth(9, n=30, width=2)[0]
    exact, few = ridge.fit_kernel_ridge(Z, Y, w), ridge.fit_kernel_ridge(Z, Y, w, max_centres=50)
    assert_allclose(few.centres, units(Z)[::5], atol=1e-12)  # every fifth row, so that at most 50 are left
    assert len(exact.centres) == 203
    assert_allclose(few.distributions_of(new), exact.distributions_of(new), atol=0.01)
    poor = ridge.fit_kernel_ridge(Z, Y, w, max_centres=2)
    assert np.abs(poor.distributions_of(new) - exact.distributions_of(new)).max() > 0.05


@pytest.mark.parametrize("block", [1, 7, 30, 31])
def test_distributions_do_not_depend_on_blocks(monkeypatch, block):
    Z, Y, w = smooth()
    new = smooth(9, n=30)[0]
    found = ridge.fit_kernel_ridge(Z, Y, w)
    whole = found.distributions_of(new)
    monkeypatch.setattr(ridge, "BLOCK_ROWS", block)
    with threads(2):
        assert_allclose(found.distributions_of(new), whole, atol=1e-12)
    assert_allclose(whole.sum(axis=1), 1, atol=1e-12)
    assert whole.min() >= 0


def test_no_copy_of_all_rows_is_made():
    Z = np.random.default_rng(0).normal(size=(20 * ridge.BLOCK_ROWS, 64)).astype(np.float32)
    Y = np.eye(2, dtype=np.float32)[np.arange(len(Z)) % 2]
    tracemalloc.start()
    with threads(1):
        ridge.fit_kernel_ridge(Z, Y, np.ones(len(Z)), max_centres=20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < Z.nbytes / 2


def test_length_of_rows_does_not_matter():
    Z, Y, w = smooth()
    factors = np.random.default_rng(1).uniform(0.1, 9.0, size=(len(Z), 1))
    found, other = ridge.fit_kernel_ridge(Z, Y, w), ridge.fit_kernel_ridge(factors * Z, Y, w)
    assert_allclose(other.distributions_of(Z), found.distributions_of(5 * Z), atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_regression_of_awkward_rows(dtype):
    Z, Y, w = smooth(n=20)
    exact = ridge.fit_kernel_ridge(Z, Y, w).distributions_of(Z)
    assert_allclose(ridge.fit_kernel_ridge(Z.astype(dtype), Y, w).distributions_of(Z.astype(dtype)), exact, atol=1e-4)
    # A row that occurs three times is one of three times the weight.
    often = ridge.fit_kernel_ridge(np.repeat(Z, 3, axis=0).astype(dtype), np.repeat(Y, 3, axis=0), np.repeat(w, 3))
    once = ridge.fit_kernel_ridge(Z.astype(dtype), Y, 3 * w)
    assert_allclose(often.distributions_of(Z), once.distributions_of(Z), atol=1e-4)
    zeros = Z.astype(dtype)
    zeros[::2] = 0
    for rows in (zeros, np.zeros_like(zeros), np.ones_like(zeros)):
        F = ridge.fit_kernel_ridge(rows, Y, w).distributions_of(rows)
        assert np.isfinite(F).all()
        assert_allclose(F.sum(axis=1), 1, atol=1e-6)


def test_kernel_regression_of_one_class_and_of_no_rows():
    Z, Y, w = smooth(n=10)
    assert_array_equal(ridge.fit_kernel_ridge(Z, np.ones((10, 1)), w).distributions_of(Z), 1)
    assert ridge.fit_kernel_ridge(Z, Y, w).distributions_of(Z[:0]).shape == (0, 3)


def test_uniform_distributions_teach_nothing():
    Z, Y, w = smooth()
    found = ridge.fit_kernel_ridge(Z, np.full_like(Y, 1 / 3), w)
    assert_allclose(found.distributions_of(Z), 1 / 3, atol=1e-12)
