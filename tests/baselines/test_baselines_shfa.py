"""HFA and SHFA: saddle points against explicit metrics and PIQP, label vectors against enumeration, real files."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from sklearn.metrics.pairwise import rbf_kernel

import oracles_baselines_hetero as naive
from lpjt.baselines import shfa
from lpjt.baselines._label_mixtures import minimise_on_orthant, mix_labels, top_labels, violated_labels
from lpjt.baselines._machines import TrainingSet, semi_supervised_machine, supervised_machine
from lpjt.baselines.shfa import SHFA
from problems import masked, shifted_pair, widened

needs_data = pytest.mark.data


def heterogeneous(seed=0, **changes):
    X, y, X_target, y_target = shifted_pair(seed, **changes)
    return X, y, widened(X_target, 5, seed), y_target


def small_problem(seed=0, n=(14, 5, 9), trace=20.0):
    """Block kernel, signs of labelled rows, and the target's kernel with new rows."""
    rng = np.random.default_rng(seed)
    X, T = rng.normal(size=(n[0], 3)), rng.normal(size=(n[1] + n[2], 2))
    signs = np.where(np.concatenate([X[:, 0], T[: n[1], 0]]) + 0.3 * rng.normal(size=n[0] + n[1]) > 0, 1.0, -1.0)
    new = rbf_kernel(rng.normal(size=(6, 2)), T)
    return naive.block_kernel(rbf_kernel(X), rbf_kernel(T)), signs, new, trace


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hfa_is_the_saddle_point_with_the_metric_written_out(seed):
    pytest.importorskip("piqp", reason="PIQP is the referee of the quadratic program")
    K, signs, new, trace = small_problem(seed, n=(14, 7, 0))
    bounds = np.repeat([1.0, 2.0], [14, 7])
    machine = supervised_machine(TrainingSet((1 + trace) * K, None, 14, 21, bounds, trace), signs)
    alpha = np.abs(machine.coefficients) / (1 + trace)
    H = naive.hfa_metric(alpha, signs, K, trace)
    # No alpha has a larger dual under H ...
    assert_allclose(machine.objective, naive.hfa_best_alpha(signs, K, H, bounds)[1], rtol=1e-5)
    assert_allclose(machine.objective, naive.hfa_dual(alpha, signs, K, H), rtol=1e-8)
    assert -1e-9 <= machine.gap < 1e-4
    # ... and no H of this trace a smaller one at alpha.
    rng = np.random.default_rng(seed)
    for rank in (1, 3, 21):
        V = rng.normal(size=(21, rank))
        other = trace * V @ V.T / np.trace(V @ V.T)
        assert naive.hfa_dual(alpha, signs, K, other) > machine.objective
    decided = naive.hfa_decision(new, alpha, signs, K, H, 14, machine.offset)
    assert_allclose(new @ machine.coefficients[14:] + machine.offset, decided, atol=1e-6)


def test_cutting_planes_descend_to_the_value_of_hfa():
    pytest.importorskip("piqp", reason="PIQP is the referee of the quadratic program")
    K, signs, _, _ = small_problem(3, n=(8, 4, 0))
    trace, bounds = 2.0, np.ones(12)
    machine = supervised_machine(TrainingSet((1 + trace) * K, None, 8, 12, bounds, trace), signs)
    values = naive.hfa_cutting_planes(signs, K, trace, bounds, 8)
    assert values[0] > 1.05 * machine.objective
    assert min(values) >= machine.objective * (1 - 1e-6)
    assert values[-1] <= 1.02 * machine.objective


@pytest.mark.parametrize("n", [3, 40, 160])
@pytest.mark.parametrize("n_start", [1, 3])
def test_minimum_on_the_orthant_is_that_of_nnls(n, n_start):
    rng = np.random.default_rng(n)
    F = rng.normal(size=(n, 5)) + 0.3
    M = F @ F.T + np.diag(rng.uniform(0.1, 2, size=n))
    beta = minimise_on_orthant(lambda rows: M[:, rows].copy(), n, np.arange(n) < n_start)
    L = np.linalg.cholesky(M)
    expected = optimize.nnls(L.T, np.linalg.solve(L, np.ones(n)), maxiter=100 * n)[0]
    assert_allclose(beta, expected, atol=1e-8 * max(1, expected.max()))
    if n > 3:
        assert (beta == 0).any()


@pytest.mark.parametrize("n_vectors", [1, 2, 4])
def test_the_mixture_is_a_saddle_point(n_vectors):
    pytest.importorskip("piqp", reason="PIQP is the referee of the quadratic program")
    K, signs, _, trace = small_problem(4, n=(14, 5, 20))
    rng = np.random.default_rng(0)
    n = len(K)
    # Vectors that agree with one another but for some rows, so that several take part.
    guess = np.concatenate([signs, np.where(rng.random(20) < 0.5, 1.0, -1.0)])
    flips = np.where((rng.random((n, n_vectors)) < 0.2) & (np.arange(n) >= 19)[:, None], -1.0, 1.0)
    Y, ridge = guess[:, None] * flips, np.repeat([1.0, 2.0, 5.0], [14, 5, 20])
    G = (1 + trace) * K + 1
    mixture = mix_labels(G, Y, ridge, tol=1e-8, max_iter=100)
    metrics = [naive.hfa_metric(mixture.alpha, y, K, trace) for y in Y.T]
    alpha, value = naive.simplex_minimum(naive.shfa_matrix(Y, mixture.shares, metrics, K, ridge))
    assert_allclose(mixture.alpha, alpha, atol=1e-5)
    assert_allclose(mixture.rho / 2, value, rtol=1e-7)
    assert_allclose(mixture.shares.sum(), 1)
    assert mixture.shares.min() >= 0
    # No other shares, and no other metrics, have a larger value.
    for _ in range(20):
        shares = rng.dirichlet(np.ones(n_vectors))
        minimum = naive.simplex_minimum(sum(d * np.outer(y, y) for d, y in zip(shares, Y.T, strict=True)) * G
                                        + np.diag(ridge))[1]  # fmt: skip
        assert minimum <= value * (1 + 1e-7)
    V = rng.normal(size=(n, 2))
    other = [trace * V @ V.T / np.trace(V @ V.T)] * n_vectors
    assert naive.simplex_minimum(naive.shfa_matrix(Y, mixture.shares, other, K, ridge))[1] < value
    if n_vectors == 4:
        assert (mixture.shares > 1e-3).sum() > 1
    if n_vectors > 1:
        warm = mix_labels(G, Y, ridge, start=mix_labels(G, Y[:, :1], ridge), tol=1e-8, max_iter=100)
        assert_allclose(warm.rho, mixture.rho, rtol=1e-7)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_positive", [1, 2, 5])
def test_violated_labels_are_the_best_of_all_for_one_feature(seed, n_positive):
    rng = np.random.default_rng(seed)
    features, alpha = rng.normal(size=(10, 7)), rng.dirichlet(np.ones(10))
    signs, constant = np.sign(rng.normal(size=4)), 0.3
    found = np.concatenate([signs, violated_labels(features, alpha, signs, n_positive, constant=constant)])
    # The rows outside `features`, here one, reach the constant feature alone.
    wide = np.zeros((11, 8))
    wide[1:, :7], wide[:, 7] = features, 1.0
    weights = np.concatenate([[constant], alpha])
    expected, _ = naive.best_labels_of_one_feature(wide, weights, np.concatenate([[1.0], signs]), n_positive)
    assert_array_equal(found, expected[1:])
    assert (found[4:] == 1).sum() == n_positive


def test_top_labels():
    assert_array_equal(top_labels(np.array([0.3, -1.0, 0.5, 0.3]), 2), [1, -1, 1, -1])


def test_shfa_decides_as_with_the_metrics_written_out():
    K, signs, new, trace = small_problem(5)
    n = len(K)
    bounds = np.repeat([1.0, 1.0, 0.2], [14, 5, 9])
    features = naive.root((1 + trace) * K[14:, 14:])
    training = TrainingSet((1 + trace) * K + 1, features, 14, 19, bounds, trace)
    machine = semi_supervised_machine(training, signs, 4, max_iter=1, tol=1e-6)
    # One label vector: that of a rho-SVM of the labelled target rows alone.
    own, ones = signs[14:], np.ones(5)
    first = np.outer(own, own) * (K[14:19, 14:19] + 1) + np.diag(ones)
    beta = optimize.nnls(np.linalg.cholesky(first).T, np.linalg.solve(np.linalg.cholesky(first), ones))[0]
    values = (K[19:, 14:19] + 1) @ (beta * own)
    y = np.concatenate([signs, np.where(np.argsort(np.argsort(-values)) < 4, 1.0, -1.0)])
    L = np.linalg.cholesky(np.outer(y, y) * ((1 + trace) * K + 1) + np.diag(1 / bounds))
    beta = optimize.nnls(L.T, np.linalg.solve(L, np.ones(n)))[0]
    H = naive.hfa_metric(beta, y, K, trace)
    decided = naive.hfa_decision(new, beta, y, K, H, 14, (beta * y).sum())
    assert_allclose(new @ machine.coefficients[14:] + machine.offset, decided, atol=1e-8)
    assert_allclose(machine.objective, 0.5 / beta.sum())
    more = semi_supervised_machine(training, signs, 4, max_iter=10, tol=1e-6)
    assert more.n_iter > 1
    assert more.objective >= machine.objective


@pytest.mark.parametrize("semi_supervised", [False, True])
@pytest.mark.parametrize("equal_widths", [False, True])
def test_it_learns_labels_of_any_kind_and_of_rows_never_seen(semi_supervised, equal_widths):
    X, y, X_target, y_target = shifted_pair(0) if equal_widths else heterogeneous(0)
    names = np.array(["red", "green", "blue"], dtype=object)
    given = np.where(masked(y_target, 3) >= 0, names[y_target], None)
    model = SHFA(semi_supervised).fit(X, names[y], X_target, given)
    assert np.mean(model.transduction_ == names[y_target]) > 0.85
    unlabelled = given == None  # noqa: E711 - elementwise
    assert_array_equal(model.predict(X_target[unlabelled]), model.transduction_[unlabelled])
    assert_array_equal(model.transduction_[~unlabelled], given[~unlabelled])
    assert np.mean(model.predict(X_target + 0.05) == names[y_target]) > 0.85
    assert model.gaps_.max() < 2e-3
    assert model.objectives_.shape == (3,)
    assert (model.n_iter_ > 1) == semi_supervised


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_float32_gives_the_same_labels_and_nothing_is_written(kernel):
    X, y, X_target, y_target = heterogeneous(1)
    given = masked(y_target, 3)
    copies = X.copy(), X_target.copy(), given.copy()
    for array in (X, y, X_target, given):
        array.setflags(write=False)
    model = SHFA(kernel=kernel).fit(X, y, X_target, given)
    for array, copy in zip((X, X_target, given), copies, strict=True):
        assert_array_equal(array, copy)
    small = SHFA(kernel=kernel).fit(X.astype(np.float32), y, X_target.astype(np.float32), given)
    assert np.mean(small.transduction_ == model.transduction_) > 0.97
    assert_array_equal(SHFA(kernel=kernel).fit(X, y, X_target, given).transduction_, model.transduction_)


def test_a_sample_of_unlabelled_rows_by_its_seed():
    X, y, X_target, y_target = heterogeneous(2)
    given = masked(y_target, 3)
    model = SHFA(max_unlabeled=20, random_state=3).fit(X, y, X_target, given)
    assert model._rows.shape == (9 + 20, 5)
    again = SHFA(max_unlabeled=20, random_state=3).fit(X, y, X_target, given)
    assert_array_equal(again._rows, model._rows)
    assert_array_equal(again.transduction_, model.transduction_)
    assert model.transduction_.shape == y_target.shape


def test_too_many_rows_are_told(monkeypatch):
    X, y, X_target, y_target = heterogeneous(0)
    monkeypatch.setattr(shfa, "MAX_ROWS", 100)
    with pytest.raises(ValueError, match=r"165 rows \(66 of them unlabelled\) are more than 100.*lower max_unlabeled"):
        SHFA().fit(X, y, X_target, masked(y_target, 3))
    assert SHFA(False).fit(X, y, X_target, masked(y_target, 3)).n_iter_ == 1


def test_all_target_rows_labelled_and_a_class_that_the_target_lacks():
    X, y, X_target, y_target = heterogeneous(0)
    assert_array_equal(SHFA().fit(X, y, X_target, y_target).transduction_, y_target)
    given = masked(y_target, 3)
    given[given == 2] = -1
    assert set(SHFA().fit(X, y, X_target, given).transduction_) <= {0, 1, 2}


def test_without_target_labels_it_says_what_it_wants():
    X, y, X_target, _ = heterogeneous(0)
    with pytest.raises(ValueError, match="SHFA learns from labelled target rows, but y_target labels none"):
        SHFA().fit(X, y, X_target)
    with pytest.raises(ValueError, match="'kernel' parameter of SHFA must be a str among"):
        SHFA(kernel="cubic").fit(X, y, X_target, np.zeros(len(X_target), dtype=int))


@needs_data
def test_the_demonstration_of_cdls_is_no_worse_than_the_target_alone():
    from lpjt.baselines.unadapted import TargetSVM
    from lpjt.datasets import load_problem

    pair = load_problem("cdls-demo", "amazon DeCAF to dslr SURF")
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (TargetSVM(), SHFA(random_state=0)):
            model.fit(pair.X_source, pair.y_source, pair.X_target, pair.y_given)
            scores.append(100 * (model.transduction_ == pair.y_target)[pair.scored].mean())
    assert scores[1] >= scores[0] - 1
    assert scores[1] > 50
