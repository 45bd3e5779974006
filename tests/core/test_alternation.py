"""Alternation: the matrices of Eq. (16) and whole iterations of Algorithm 1 against the naive ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from lpjt.core import alternation
from toys import blobs, nearest_mean, objective, oracle_graphs, oracle_propagation, settings

N_CLASSES = 3


def pair(seed=0, width_target=4):
    """A source of 24 rows and a target of 18: (X, y of the source, true y of the target)."""
    rng = np.random.default_rng(seed)
    source, y = blobs(rng, 24, 4, N_CLASSES)
    target, truth = blobs(rng, 18, width_target, N_CLASSES, noise=0.7, shift=0.5)
    return (source, target), y, truth


def wrong_start(truth):
    """Every third label wrong, so that the iterations have something to change."""
    return np.where(np.arange(len(truth)) % 3 == 1, (truth + 1) % N_CLASSES, truth)


def one_hot(y):
    return np.where(np.asarray(y)[:, None] >= 0, np.eye(N_CLASSES)[y], 0.0)


@pytest.mark.parametrize("graph_weights", ["heat", "binary"])
@pytest.mark.parametrize("width_target", [4, 6])
@pytest.mark.parametrize("ratio", [None, 0.4])
def test_matrices_of_eq_16(width_target, ratio, graph_weights):
    X, y, y_target = pair(width_target=width_target)
    y_target[:3] = -1
    y_target[y_target == 2] = 1  # a class without target rows
    rng = np.random.default_rng(1)
    weights = rng.uniform(size=24), rng.uniform(size=18)
    choice = settings(landmark_ratio=ratio, graph_weights=graph_weights)
    problem = alternation.Problem(X, (y, y_target), (False, True), N_CLASSES)
    S_max, S_min = objective(problem, choice, (y, y_target), weights)
    graphs = *oracle_graphs(X[0], y, choice), *oracle_graphs(X[1], y_target, choice)
    expected_min, expected_max = oracles.objective_matrices(
        *X, y, y_target, *weights, ratio or 1.0, *graphs, 0.3, 0.7, 0.5
    )
    scale = np.abs(expected_min).max()
    assert_allclose(S_min, expected_min, rtol=1e-10, atol=1e-12 * scale)
    assert_allclose(S_max, expected_max, rtol=1e-10, atol=1e-12 * scale)


def test_matrices_with_the_closest_pairs_of_the_authors_code():
    X, y, y_target = pair()
    ones = np.ones(24), np.ones(18)
    choice = settings(graph_weights="binary", max_pairs=10)
    problem = alternation.Problem(X, (y, y_target), (False, True), N_CLASSES)
    S_max, S_min = objective(problem, choice, (y, y_target), ones)
    graphs = [oracles.class_graphs(x, c, 3, "binary", 1.0, "pairs", 10) for x, c in zip(X, (y, y_target), strict=True)]
    expected_min, expected_max = oracles.objective_matrices(
        *X, y, y_target, *ones, 1.0, *graphs[0], *graphs[1], 0.3, 0.7, 0.5
    )
    assert_allclose(S_min, expected_min, rtol=1e-10, atol=1e-10)
    assert_allclose(S_max, expected_max, rtol=1e-10, atol=1e-10)


def test_energies_of_several_sources_and_targets():
    rng = np.random.default_rng(2)
    widths, is_target = (4, 5, 4, 6, 5), (False, False, True, True, True)
    data = [blobs(rng, 12 + 3 * i, width, N_CLASSES) for i, width in enumerate(widths)]
    X, y = tuple(x for x, _ in data), [c.copy() for _, c in data]
    y[1][y[1] == 0] = 2
    y[2][:4] = -1
    y[3][y[3] == 1] = 0
    weights = tuple(rng.uniform(size=len(c)) for c in y)
    P = [rng.normal(size=(width, 2)) for width in widths]
    choice = settings(landmark_ratio=0.6)
    S_max, S_min = objective(alternation.Problem(X, tuple(y), is_target, N_CLASSES), choice, tuple(y), weights)
    graphs = [oracle_graphs(x, c, choice) for x, c in zip(X, y, strict=True)]
    both = [(part[:2], part[2:]) for part in (X, y, weights, graphs)]
    (Xs, Xt), (ys, yt), (ws, wt), (gs, gt) = both
    numerator, denominator = oracles.multi_objective_energy(
        (P[:2], P[2:]), Xs, Xt, ys, yt, ws, wt, 0.6, gs, gt, 0.3, 0.7, 0.5
    )
    stacked = np.vstack(P)
    assert_allclose(np.trace(stacked.T @ S_min @ stacked), numerator, rtol=1e-12)
    assert_allclose(np.trace(stacked.T @ S_max @ stacked), denominator, rtol=1e-12)


def run(X, y, known, choice, classify, start, max_iter=3, is_target=(False, True)):
    problem = alternation.Problem(tuple(X), (*y, *known), is_target, N_CLASSES)
    return list(alternation.alternate(problem, choice, classify, start, max_iter=max_iter))


@pytest.mark.parametrize("n_known", [0, 4])
@pytest.mark.parametrize("width_target", [4, 6])
def test_three_iterations_without_landmarks_are_the_naive_ones(width_target, n_known):
    X, y, truth = pair(seed=1, width_target=width_target)
    known = np.where(np.arange(18) < n_known, truth, -1)
    start = wrong_start(truth)
    choice = settings()
    classify = oracle_propagation(N_CLASSES, n_neighbors=5, proportions=np.full(3, 1 / 3), bandwidth=2.0)
    found = run(X, [y], [known], choice, classify, [one_hot(start)])
    expected = oracles.naive_lpjt(
        *(X[0], y, X[1]),
        n_components=3,
        gamma=0.3,
        mu=0.7,
        coupling=0.5,
        delta=1.0,
        n_neighbors=3,
        n_iter=3,
        y_target=known,
        y_target_start=start,
        propagation_neighbors=5,
        propagation_bandwidth=2.0,
        class_mass=np.full(3, 1 / 3),
        landmarks=False,
        ridge=1e-9,
    )
    # Three iterations that differ, or the last two would prove nothing.
    assert found[0].n_changed > 0
    for state, record in zip(found, expected, strict=True):
        assert (record["scores"].sum(axis=1) > 0).all()  # no row fell back on its nearest neighbour
        assert_allclose(state.eigenvalues, record["eigenvalues"], rtol=1e-8)
        assert_array_equal(state.labels[1], record["labels"])
        assert_allclose(state.distributions[0], record["scores"], atol=1e-6)
        assert_allclose(state.projections[0], record["A"], rtol=1e-5, atol=1e-7)
        assert_allclose(state.projections[1], record["B"], rtol=1e-5, atol=1e-7)
        assert_allclose(state.embeddings[1], record["Z_target"], rtol=1e-5, atol=1e-7)
        assert state.residual < 1e-8


@pytest.mark.parametrize("cross", [2, 1])
def test_iterations_with_landmarks_are_the_naive_ones(cross):
    pytest.importorskip("piqp", reason="PIQP is the referee of the quadratic program")
    X, y, truth = pair(seed=2)
    start = wrong_start(truth)
    choice = settings(landmark_ratio=0.5, landmark_cross=float(cross), weigh_target=cross == 2)
    classify = oracle_propagation(N_CLASSES, n_neighbors=5, bandwidth=2.0)
    found = run(X, [y], [np.full(18, -1)], choice, classify, [one_hot(start)])
    expected = oracles.naive_lpjt(
        *(X[0], y, X[1]),
        n_components=3,
        gamma=0.3,
        mu=0.7,
        coupling=0.5,
        delta=0.5,
        n_neighbors=3,
        n_iter=3,
        y_target_start=start,
        propagation_neighbors=5,
        propagation_bandwidth=2.0,
        class_mass=None,
        qp_cross_class=cross,
        keep_beta=cross == 2,
        ridge=1e-9,
    )
    assert_allclose(found[0].eigenvalues, expected[0]["eigenvalues"], rtol=1e-8)
    assert min(state.n_changed for state in found[:2]) > 0
    for state, record in zip(found, expected, strict=True):
        assert_array_equal(state.labels[1], record["labels"])
        # The weights stop at a gap of 1e-5 of the objective, and the next iteration starts from them.
        assert_allclose(state.weights[0], record["alpha"], atol=1e-3)
        assert_allclose(state.weights[1], record["beta"], atol=1e-3)
        assert_allclose(state.eigenvalues, record["eigenvalues"], rtol=1e-4)
        assert 0 <= state.landmark_gap <= 1e-5
    assert found[-1].weights[0].std() > 0.05
    assert (found[-1].weights[1] == 0.5).all() == (cross == 1)


def test_each_iteration_starts_from_the_labels_and_weights_of_the_last():
    X, y, truth = pair(seed=3)
    choice = settings(landmark_ratio=0.5)
    labels, weights = wrong_start(truth), (np.full(24, 0.5), np.full(18, 0.5))
    for state in run(X, [y], [np.full(18, -1)], choice, nearest_mean(N_CLASSES), [one_hot(labels)]):
        graphs = *oracle_graphs(X[0], y, choice), *oracle_graphs(X[1], labels, choice)
        S_min, S_max = oracles.objective_matrices(*X, y, labels, *weights, 0.5, *graphs, 0.3, 0.7, 0.5)
        ridge = 1e-9 * np.trace(S_min) / 8
        values, _ = oracles.solve_projection(S_max, S_min, 3, ridge)
        assert_allclose(state.eigenvalues, values, rtol=1e-8)
        Z = [x @ p for x, p in zip(X, state.projections, strict=True)]
        energies = (*Z, y, labels, *weights, 0.5)
        assert_allclose(state.marginal_mmd, oracles.marginal_energy(*energies), rtol=1e-10, atol=1e-14)
        assert_allclose(state.conditional_mmd, oracles.conditional_energy(*energies), rtol=1e-10)
        P = np.vstack(state.projections)
        ratio = np.trace(P.T @ S_min @ P) / np.trace(P.T @ S_max @ P)
        assert_allclose(state.objective, ratio, rtol=1e-6)
        assert state.n_changed == (state.labels[1] != labels).sum()
        moves = [np.abs(a - b).mean() for a, b in zip(weights, state.weights, strict=True)]
        assert_allclose(state.weight_change, max(moves))
        labels, weights = state.labels[1], state.weights


def test_known_target_labels_stay_and_rows_without_a_label_wait():
    X, y, truth = pair()
    known = np.where(np.arange(18) < 3, (truth + 1) % 3, -1)  # wrong, so that no classifier would say so
    start = np.zeros((18, 3))
    classify = nearest_mean(N_CLASSES)
    problem = alternation.Problem(X, (y, known), (False, True), N_CLASSES)
    assert_array_equal(alternation._labels(problem, [start])[1], known)
    for state in alternation.alternate(problem, settings(), classify, [start], max_iter=2):
        assert_array_equal(state.labels[1][:3], known[:3])
        assert (state.labels[1] >= 0).all()
        assert_array_equal(state.labels[0], y)


def test_without_landmarks_every_weight_is_one():
    X, y, truth = pair()
    state = run(X, [y], [np.full(18, -1)], settings(), nearest_mean(3), [one_hot(truth)], max_iter=1)[0]
    for w in state.weights:
        assert_array_equal(w, 1.0)
    assert state.landmark_gap == state.weight_change == 0


def test_first_weights_of_the_authors_code():
    X, y, truth = pair()
    choice = settings(landmark_ratio=0.5, initial_weight=1.0)
    problem = alternation.Problem(X, (y, np.full(18, -1)), (False, True), N_CLASSES)
    state = next(alternation.alternate(problem, choice, nearest_mean(3), [one_hot(truth)], max_iter=1))
    S_max, S_min = objective(problem, choice, (y, truth), (np.ones(24), np.ones(18)))
    values, _ = oracles.solve_projection(S_max, S_min, 3, 1e-9 * np.trace(S_min) / 8)
    assert_allclose(state.eigenvalues, values, rtol=1e-8)


def test_float32_rows_give_float32_embeddings():
    X, y, truth = pair()
    X = tuple(x.astype(np.float32) for x in X)
    state = run(X, [y], [np.full(18, -1)], settings(landmark_ratio=0.5), nearest_mean(3), [one_hot(truth)])[-1]
    assert {z.dtype for z in state.embeddings} == {np.dtype(np.float32)}
    assert state.eigenvalues.dtype == np.float64


def test_one_source_given_twice_has_the_energies_of_one():
    X, y, y_target = pair(width_target=6)
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(4, 2)), rng.normal(size=(6, 2))
    w = rng.uniform(size=24), rng.uniform(size=18)
    once = alternation.Problem(X, (y, y_target), (False, True), N_CLASSES)
    twice = alternation.Problem((X[0], *X), (y, y, y_target), (False, False, True), N_CLASSES)
    choice = settings(landmark_ratio=0.5, coupling_weight=1.0)
    one = objective(once, choice, (y, y_target), w)
    two = objective(twice, choice, (y, y, y_target), (w[0], *w))
    for S, other in zip(one, two, strict=True):
        P, Q = np.vstack([A, B]), np.vstack([A, A, B])
        assert_allclose(np.trace(Q.T @ other @ Q), np.trace(P.T @ S @ P), rtol=1e-12)


@pytest.mark.parametrize("ratio", [None, 0.5])
def test_one_source_given_twice_under_strong_coupling_is_one(ratio):
    X, y, truth = pair()
    choice = settings(coupling_weight=100.0, landmark_ratio=ratio)
    unknown, start = [np.full(18, -1)], [one_hot(wrong_start(truth))]
    classify = nearest_mean(N_CLASSES)
    one = run(X, [y], unknown, choice, classify, start)[-1]
    two = run((X[0], *X), [y, y], unknown, choice, classify, start, is_target=(False, False, True))[-1]
    # Exact but for the ridge; landmarks stop at a gap of 1e-5.
    rtol = 1e-7 if ratio is None else 1e-4
    assert_array_equal(two.labels[2], one.labels[1])
    assert_allclose(two.eigenvalues, one.eigenvalues, rtol=rtol)
    assert_allclose(two.projections[0], two.projections[1], atol=1e-10)
    for i, j in ((0, 0), (1, 0), (2, 1)):
        Z, other = two.embeddings[i], one.embeddings[j]
        assert_allclose(Z @ Z.T, other @ other.T, atol=rtol * np.abs(other).max() ** 2)
        assert_allclose(two.weights[i], one.weights[j], atol=1e-3)


STAGES = ["objective", "projection", "embedding", "labels", "landmarks"]


@pytest.mark.parametrize("ratio", [None, 0.5])
def test_each_stage_of_each_iteration_is_timed(ratio, monkeypatch):
    """A clock that is one second later each time it is read."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(alternation, "perf_counter", lambda: next(ticks))
    X, y, truth = pair()
    found = run(X, [y], [np.full(18, -1)], settings(landmark_ratio=ratio), nearest_mean(3), [one_hot(truth)])
    assert [state.n_iter for state in found] == [1, 2, 3]
    assert found[0].seconds == dict.fromkeys(["fixed", *STAGES], 1)
    for state in found[1:]:
        assert state.seconds == dict.fromkeys(STAGES, 1)


def test_the_clock(monkeypatch):
    times = iter([10.0, 12.0, 20.0, 23.0, 24.5])
    monkeypatch.setattr(alternation, "perf_counter", lambda: next(times))
    clock = alternation.Clock()
    clock.lap("first")
    clock.skip()
    clock.lap("second")
    clock.lap("first")
    clock.add({"first": 0.5, "other": 7.0})
    assert clock.laps == {"first": 4.0, "second": 3.0, "other": 7.0}


def test_the_sources_block_is_reduced_once(monkeypatch):
    asked = []
    solve = alternation.projection.solve_projection

    def spy(S_max, S_min, d, *, n_leading, last, measured):
        asked.append((d, n_leading, last))
        return solve(S_max, S_min, d, n_leading=n_leading, last=last, measured=measured)

    monkeypatch.setattr(alternation.projection, "solve_projection", spy)
    X, y, truth = pair(width_target=6)
    run(X, [y], [np.full(18, -1)], settings(), nearest_mean(3), [one_hot(truth)], max_iter=2)
    assert [(d, n) for d, n, _ in asked] == [(3, 4), (3, 4)]
    assert asked[0][2] is None
    assert asked[1][2] is not None


def test_landmarks_start_from_the_last_weights_and_stop_at_their_gap(monkeypatch):
    asked = []
    solve = alternation.landmarks.solve_landmarks

    def spy(*arguments, start, tol):
        asked.append((start, tol))
        return solve(*arguments, start=start, tol=tol)

    monkeypatch.setattr(alternation.landmarks, "solve_landmarks", spy)
    X, y, truth = pair()
    found = run(X, [y], [np.full(18, -1)], settings(landmark_ratio=0.5), nearest_mean(3), [one_hot(truth)], max_iter=2)
    assert [tol for _, tol in asked] == [1e-5, 1e-5]
    assert_array_equal(asked[0][0][0], np.full(24, 0.5))
    assert_array_equal(asked[1][0][1], found[0].weights[1])


def test_weights_of_unlabelled_rows_are_a_group_of_their_own():
    X, y, truth = pair()
    labels = (y, np.where(np.arange(18) < 5, -1, truth))
    problem = alternation.Problem(X, (y, np.full(18, -1)), (False, True), N_CLASSES)
    marks = alternation.weigh_landmarks(problem, settings(landmark_ratio=0.4), X, labels, [np.ones(24), np.ones(18)])
    for c in (-1, 0, 1, 2):
        assert_allclose(marks.weights[1][labels[1] == c].mean(), 0.4, atol=1e-9)
    kept = alternation.weigh_landmarks(
        problem, settings(landmark_ratio=0.4, weigh_target=False), X, labels, [np.ones(24), np.full(18, 0.9)]
    )
    assert_array_equal(kept.weights[1], 0.9)
    assert kept.weights[0].std() > 0
    assert (kept.objective, kept.gap, kept.n_iter) > (0, 0, 0)


def test_a_row_of_zeros_has_no_label():
    _, y, _ = pair()
    problem = alternation.Problem((np.zeros((24, 1)), np.zeros((3, 1))), (y, np.array([-1, -1, 2])), (False, True), 3)
    F = np.array([[0.0, 0.0, 0.0], [0.2, 0.7, 0.1], [1.0, 0.0, 0.0]])
    found = alternation._labels(problem, [F])
    assert found[0] is y
    assert found[1].tolist() == [-1, 1, 2]


def test_iterations_from_a_shared_workspace_are_those_from_scratch():
    X, y, truth = pair()
    problem = alternation.Problem(X, (y, np.full(18, -1)), (False, True), N_CLASSES)
    start = [one_hot(wrong_start(truth))]

    def run(**options):
        return list(alternation.alternate(problem, settings(), nearest_mean(N_CLASSES), start, max_iter=3, **options))

    shared = alternation.prepare(problem, settings())
    expected = run()
    for _ in range(2):  # the first run leaves nothing behind for the second
        for state, other in zip(run(shared=shared, measured=False), expected, strict=True):
            assert_array_equal(np.vstack(state.distributions), np.vstack(other.distributions))
            assert_array_equal(state.eigenvalues, other.eigenvalues)
            assert np.isnan([state.marginal_mmd, state.conditional_mmd, state.residual]).all()
            assert np.isfinite([other.marginal_mmd, other.conditional_mmd, other.residual]).all()
