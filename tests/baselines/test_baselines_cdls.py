"""CDLS: the energy and its two minimisers against loops, the whole of it against a transcription, and real files."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import normalize

import oracles_baselines_hetero as naive
from lpjt.baselines._cdls_energy import cdls_energy, choose_landmarks, map_source
from lpjt.baselines._directions import principal_directions
from lpjt.baselines.cdls import CDLS
from problems import masked, shifted_pair, widened

needs_data = pytest.mark.data


def three_parts(seed=0, n_classes=3, width=6, n_components=4, n=(18, 7, 15)):
    """Source rows, projected labelled and unlabelled target rows; their labels; random weights."""
    rng = np.random.default_rng(seed)
    labels = [rng.permutation(np.arange(size) % n_classes) for size in n]
    rows = [rng.normal(size=(n[0], width)) + labels[0][:, None]]
    rows += [rng.normal(size=(size, n_components)) + y[:, None] for size, y in zip(n[1:], labels[1:], strict=True)]
    weights = [rng.uniform(0.1, 1, size=n[0]), np.ones(n[1]), rng.uniform(0.1, 1, size=n[2])]
    return rows, labels, weights


def energy_of(energy, rows, weights):
    means = [A @ (w[:, None] * Z) for A, w, Z in zip(energy.averages, weights, rows, strict=True)]
    products = sum((energy.K[i, j] * (means[i] * means[j]).sum(axis=1)).sum() for i in range(3) for j in range(3))
    squares = zip(energy.spread, weights, rows, strict=True)
    return products + sum((s * w**2) @ (Z**2).sum(axis=1) for s, w, Z in squares)


def heterogeneous(seed=0, **changes):
    X, y, X_target, y_target = shifted_pair(seed, **changes)
    return X, y, widened(X_target, 5, seed), y_target


@pytest.mark.parametrize("supervised", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_the_energy_is_that_of_the_loops(supervised, missing):
    rows, labels, weights = three_parts()
    if missing:  # no labelled row of class 2, and no pseudo-labelled one of class 1
        labels[1] = labels[1] % 2
        labels[2] = np.where(labels[2] == 1, 0, labels[2])
    rng = np.random.default_rng(5)
    A = rng.normal(size=(6, 4))
    energy = cdls_energy(labels, weights, 3, labelled_only=supervised)
    mapped = [rows[0] @ A, *rows[1:]]
    terms = naive.cdls_terms(3, *labels, weights[0], weights[2], supervised=supervised)
    assert_allclose(energy_of(energy, mapped, weights), naive.cdls_energy(terms, mapped), rtol=1e-12)


@pytest.mark.parametrize("supervised", [False, True])
def test_the_map_is_the_least_squares_solution(supervised):
    rows, labels, weights = three_parts(1)
    energy = cdls_energy(labels, weights, 3, labelled_only=supervised)
    A = map_source(rows[0], rows[1:], energy, weights, 0.3)
    terms = naive.cdls_terms(3, *labels, weights[0], weights[2], supervised=supervised)
    assert_allclose(A, naive.cdls_map(terms, *rows, 0.3), atol=1e-10)


@pytest.mark.parametrize("ratio", [0.2, 0.5, 0.9])
def test_the_weights_are_those_of_the_interior_point_referee(ratio):
    pytest.importorskip("piqp", reason="PIQP is the referee of the quadratic program")
    rows, labels, _ = three_parts(2, n=(30, 6, 24))
    rows[0] = rows[0][:, :4]
    marks = choose_landmarks(rows, labels, 3, ratio, tol=1e-9, max_iter=20000)
    B = naive.cdls_quadratic(3, labels, rows, ratio)
    alpha, beta, value = naive.cdls_weights(B, labels, ratio, 3)
    w = np.concatenate(marks.weights)
    assert_allclose(marks.objective, value, rtol=1e-7)
    assert_allclose(w @ B @ w / 2, value, rtol=1e-7)
    assert_allclose(w, np.concatenate([alpha, np.ones(6), beta]), atol=2e-3)
    assert_allclose(marks.weights[1], 1.0, atol=1e-12)
    for y, part in ((labels[0], marks.weights[0]), (labels[2], marks.weights[2])):
        assert part.min() >= 0
        assert part.max() <= 1
        assert_allclose([part[y == c].mean() for c in range(3)], ratio, atol=1e-9)
    assert np.linalg.eigvalsh(B)[0] > -1e-12  # weights within the norm: convex
    even = np.concatenate([np.full(30, ratio), np.ones(6), np.full(24, ratio)])
    assert even @ B @ even / 2 > value * 1.001


def test_principal_axes_by_either_way():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 9)) * np.arange(1, 10)
    expected = np.linalg.svd(X - X.mean(axis=0))[2][:3].T
    for rows, axes in ((X, expected), (X.T, np.linalg.svd(X.T - X.T.mean(axis=0))[2][:3].T)):
        found, _ = principal_directions(rows, 3)
        assert_allclose(np.abs(np.sum(found * axes, axis=0)), 1, atol=1e-10)
        assert (found[np.abs(found).argmax(axis=0), np.arange(3)] > 0).all()


@pytest.mark.parametrize("delta", [0.5, 1.0])
def test_fit_is_the_transcription(delta):
    pytest.importorskip("piqp", reason="PIQP is the referee of the quadratic program")
    X, y, X_target, y_target = heterogeneous(3, n_source=45, n_target=36, apart=1.0)
    given = masked(y_target, 3)
    known = given >= 0
    model = CDLS(4, landmark_ratio=delta, scaling="none", n_iter=4).fit(X, y, X_target, given)
    history, both, alpha, beta = naive.cdls(
        X, y, X_target[known], y_target[known], X_target[~known], 3, n_components=4, delta=delta, n_iter=4
    )
    assert_allclose(model.projection_ @ model.axes_.T, both, atol=2e-3 * np.abs(both).max())
    assert_allclose(model.alpha_, alpha, atol=5e-3)
    assert_allclose(model.beta_[~known], beta, atol=5e-3)
    assert_array_equal(model.transduction_[~known], history[-1])
    assert len(model.gaps_) == (3 if delta < 1 else 0)


def test_the_first_iteration_is_supervised():
    X, y, X_target, y_target = heterogeneous(4)
    model = CDLS(4, n_iter=1).fit(X, y, X_target, masked(y_target, 3))
    assert model.gaps_ == []
    assert_array_equal(model.alpha_, 1)
    assert_array_equal(model.beta_, 1)


@pytest.mark.parametrize("equal_widths", [False, True])
def test_it_learns_labels_of_any_kind_and_of_rows_never_seen(equal_widths):
    X, y, X_target, y_target = shifted_pair(0) if equal_widths else heterogeneous(0)
    names = np.array(["red", "green", "blue"], dtype=object)
    given = np.where(masked(y_target, 3) >= 0, names[y_target], None)
    model = CDLS(4).fit(X, names[y], X_target, given)
    assert np.mean(model.transduction_ == names[y_target]) > 0.9
    unlabelled = given == None  # noqa: E711 - elementwise
    assert_array_equal(model.predict(X_target[unlabelled]), model.transduction_[unlabelled])
    assert_array_equal(model.transduction_[~unlabelled], given[~unlabelled])
    X_new, y_new = X_target + 0.05, y_target
    assert np.mean(model.predict(X_new) == names[y_new]) > 0.85
    assert model.transform(X, "source").shape == (len(X), 4)
    assert model.transform(X_target).shape == (len(X_target), 4)


def test_float32_gives_the_same_labels_and_nothing_is_written():
    X, y, X_target, y_target = heterogeneous(1)
    given = masked(y_target, 3)
    copies = X.copy(), X_target.copy(), given.copy()
    for array in (X, y, X_target, given):
        array.setflags(write=False)
    model = CDLS(4).fit(X, y, X_target, given)
    for array, copy in zip((X, X_target, given), copies, strict=True):
        assert_array_equal(array, copy)
    small = CDLS(4).fit(X.astype(np.float32), y, X_target.astype(np.float32), given)
    assert np.mean(small.transduction_ == model.transduction_) > 0.97
    again = CDLS(4).fit(X, y, X_target, given)
    assert_array_equal(again.transduction_, model.transduction_)
    assert_array_equal(again.projection_, model.projection_)


def test_source_rows_fewer_than_columns_and_target_all_labelled():
    X, y, X_target, y_target = shifted_pair(0, n_source=12, width=40, n_target=30)
    model = CDLS(100).fit(X, y, widened(X_target, 60), masked(y_target, 2))
    assert model.projection_.shape == (40, 29)
    assert model.axes_.shape == (60, 29)
    complete = CDLS(5).fit(X, y, X_target, y_target)
    assert_array_equal(complete.transduction_, y_target)
    assert complete.predict(X_target).shape == y_target.shape


def test_a_class_without_a_labelled_target_row():
    X, y, X_target, y_target = heterogeneous(0)
    given = masked(y_target, 3)
    given[given == 2] = -1
    model = CDLS(4).fit(X, y, X_target, given)
    assert set(model.transduction_) <= {0, 1, 2}
    assert np.isfinite(model.projection_).all()


def test_without_target_labels_it_says_what_it_wants():
    X, y, X_target, _ = heterogeneous(0)
    with pytest.raises(ValueError, match="CDLS learns from labelled target rows, but y_target labels none"):
        CDLS().fit(X, y, X_target)
    with pytest.raises(ValueError, match="'landmark_ratio' parameter of CDLS must be a float in the range"):
        CDLS(landmark_ratio=0.0).fit(X, y, X_target, np.zeros(len(X_target), dtype=int))


def test_equal_target_rows_are_refused_with_the_remedy():
    X, y, X_target, y_target = shifted_pair()
    words = (
        r"The target rows are all equal \(n_features = 1, scaling='unit'\).*Give rows that differ, or another scaling"
    )
    with pytest.raises(ValueError, match=words):
        CDLS().fit(X, y, np.abs(X_target[:, :1]) + 1, masked(y_target, 3))


@needs_data
def test_the_demonstration_comes_within_three_points_of_the_authors_program():
    from lpjt.datasets import load_problem

    pair = load_problem("cdls-demo", "amazon DeCAF to dslr SURF")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CDLS().fit(pair.X_source, pair.y_source, pair.X_target, pair.y_given)
    right = model.transduction_ == pair.y_target
    assert max(model.gaps_) < 1e-6
    X, X_target = normalize(pair.X_source), normalize(pair.X_target)
    codes = [np.searchsorted(model.classes_, y) for y in (pair.y_source, pair.y_target)]
    given, rest = np.flatnonzero(~pair.scored), np.flatnonzero(pair.scored)
    labels, curvature = naive.cdls_program(
        X, codes[0], X_target[given], codes[1][given], X_target[rest], 10, n_components=100
    )
    theirs = 100 * np.mean(labels == codes[1][rest])
    assert theirs > 55
    assert abs(100 * right[pair.scored].mean() - theirs) <= 3
    assert max(curvature) < -0.1  # far from convex, which is why the paper's own weighting is followed
