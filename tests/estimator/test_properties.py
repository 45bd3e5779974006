"""Properties: what the mathematics says of permuted, renamed, split, scaled and doubled data."""

import numpy as np
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import ortho_group

from lpjt.core import alternation, graphs, landmarks, moments, propagation
from lpjt.core import objective as core_objective
from lpjt.core.blocks import as_dense
from toys import blobs, landmark_program, nearest_mean, objective, settings, solve

N_CLASSES = 3
seeds = st.integers(0, 10**6)
few = hypothesis_settings(max_examples=12, deadline=None)


def domains(seed, widths=(4, 4), sizes=(24, 18), unlabelled=0):
    """(X, labels, weights) of one domain for each width, the last ones' first rows without a label."""
    rng = np.random.default_rng(seed)
    data = [
        blobs(rng, n, width, N_CLASSES, shift=0.3 * i) for i, (n, width) in enumerate(zip(sizes, widths, strict=True))
    ]
    labels = [y.copy() for _, y in data]
    labels[-1][:unlabelled] = -1
    return [X for X, _ in data], labels, [rng.uniform(0.2, 1.0, size=n) for n in sizes]


def problem_of(X, labels, is_target=(False, True)):
    return alternation.Problem(tuple(X), tuple(labels), is_target, N_CLASSES)


def energies(Z, labels, weights, is_target=(False, True), ratio=0.5):
    return core_objective.energies(problem_of(Z, labels, is_target), Z, labels, weights, ratio)


def run(X, labels, choice, start, is_target=(False, True)):
    """Last of three passes; the targets have no labels of their own."""
    unknown = [np.full(len(y), -1) if target else y for y, target in zip(labels, is_target, strict=True)]
    problem = problem_of(X, unknown, is_target)
    return list(alternation.alternate(problem, choice, nearest_mean(N_CLASSES), start, max_iter=3))[-1]


def first_labels(seed, n):
    return np.eye(N_CLASSES)[np.random.default_rng(seed).integers(0, N_CLASSES, size=n)]


@few
@given(seed=seeds)
def test_graphs_follow_the_order_of_the_rows_and_nothing_else(seed):
    (X, _), (y, _), _ = domains(seed)
    rng = np.random.default_rng(seed)
    y[:2] = -1
    order, names, turn = (
        rng.permutation(24),
        np.append(rng.permutation(N_CLASSES), -1),
        ortho_group.rvs(4, random_state=seed),
    )
    plain = graphs.class_graphs(X, y, n_neighbors=4)
    permuted = graphs.class_graphs(X[order], y[order], n_neighbors=4)
    renamed = graphs.class_graphs(X, names[y], n_neighbors=4)
    moved = graphs.class_graphs(3.0 * X @ turn + 5.0, y, n_neighbors=4)
    for name in ("within", "between"):
        W = as_dense(getattr(plain, name))
        assert_allclose(as_dense(getattr(permuted, name)), W[np.ix_(order, order)], atol=1e-12)
        assert_allclose(as_dense(getattr(renamed, name)), W, atol=1e-12)
        assert_allclose(as_dense(getattr(moved, name)), W, atol=1e-10)


@few
@given(seed=seeds, ratio=st.sampled_from([None, 0.5]))
def test_matrices_ignore_the_order_of_the_rows_and_the_names_of_the_classes(seed, ratio):
    X, labels, weights = domains(seed, widths=(4, 5), unlabelled=3)
    rng = np.random.default_rng(seed)
    orders, names = [rng.permutation(len(x)) for x in X], np.append(rng.permutation(N_CLASSES), -1)
    choice = settings(landmark_ratio=ratio, bandwidth="auto")
    plain = objective(problem_of(X, labels), choice, labels, weights)
    X, labels, weights = ([a[o] for a, o in zip(part, orders, strict=True)] for part in (X, labels, weights))
    labels = [names[y] for y in labels]
    other = objective(problem_of(X, labels), choice, labels, weights)
    for S, same in zip(plain, other, strict=True):
        assert_allclose(same, S, rtol=1e-10, atol=1e-10 * np.abs(S).max())


@few
@given(seed=seeds, ratio=st.sampled_from([None, 0.5]))
def test_both_matrices_are_sums_of_squares(seed, ratio):
    X, labels, weights = domains(seed, widths=(4, 6), unlabelled=3)
    labels[1][labels[1] == 2] = 0
    for S in objective(problem_of(X, labels), settings(landmark_ratio=ratio), labels, weights):
        assert np.linalg.eigvalsh(S).min() > -1e-10 * np.trace(S)


@few
@given(seed=seeds)
def test_rows_given_twice_change_no_mean_and_no_spread(seed):
    Z, labels, weights = domains(seed, unlabelled=2)
    plain = energies(Z, labels, weights)
    for i in (0, 1):
        doubled = [[np.repeat(a, 2, axis=0) if j == i else a for j, a in enumerate(p)] for p in (Z, labels, weights)]
        assert_allclose(energies(*doubled), plain, rtol=1e-10)
    assert_allclose(moments.total_scatter(np.repeat(Z[0], 2, axis=0)), 2 * moments.total_scatter(Z[0]), rtol=1e-10)


@few
@given(seed=seeds, scale=st.sampled_from([1e-3, 0.5, 1e3]))
def test_energies_grow_with_the_square_of_the_scale(seed, scale):
    Z, labels, weights = domains(seed, unlabelled=2)
    plain = np.array(energies(Z, labels, weights))
    assert_allclose(energies([scale * z for z in Z], labels, weights), scale**2 * plain, rtol=1e-10)
    # Twice the weights are twice the rows.
    assert_allclose(energies(Z, labels, [2 * w for w in weights]), 4 * plain, rtol=1e-10)


@few
@given(seed=seeds)
def test_a_source_split_into_two_adds_the_variance_between_its_halves(seed):
    Z, labels, weights = domains(seed, sizes=(24, 18))
    whole = sum(energies(Z, labels, weights))
    halves = [[a[0][:12], a[0][12:], a[1]] for a in (Z, labels, weights)]  # as many rows of each class in either
    split = sum(energies(*halves, is_target=(False, False, True)))
    means = [
        moments.class_moments(*part, n_classes=N_CLASSES, landmark_ratio=0.5).means
        for part in zip(*halves, strict=True)
    ]
    middle = (means[0] + means[1]) / 2
    between = ((means[0] - middle) ** 2).sum() / 2 + ((means[1] - middle) ** 2).sum() / 2
    assert_allclose(split, whole + between, rtol=1e-10)


@few
@given(seed=seeds, cut=st.integers(1, 23))
def test_blocks_of_rows_add_up(seed, cut):
    (X, _), (y, _), (w, _) = domains(seed)
    blocks = slice(0, cut), slice(cut, None)
    assert_allclose(
        sum(moments.weighted_gram(X[b], w[b]) for b in blocks),
        moments.weighted_gram(X, w),
        rtol=1e-10,
        atol=1e-10,
    )
    parts = [moments.class_moments(X[b], y[b], w[b], n_classes=N_CLASSES) for b in blocks]
    sizes = [np.append(len(y[b]), p.counts)[:, None] for b, p in zip(blocks, parts, strict=True)]
    whole = moments.class_moments(X, y, w, n_classes=N_CLASSES)
    total = sum(size * p.means for size, p in zip(sizes, parts, strict=True))
    assert_allclose(total, np.append(24, whole.counts)[:, None] * whole.means, rtol=1e-10, atol=1e-10)


@few
@given(seed=seeds, ratio=st.sampled_from([None, 0.5]))
def test_labels_follow_permuted_rows_and_renamed_classes(seed, ratio):
    X, labels, _ = domains(seed)
    rng = np.random.default_rng(seed)
    orders, names = [rng.permutation(len(x)) for x in X], rng.permutation(N_CLASSES)
    choice = settings(landmark_ratio=ratio, bandwidth="auto")
    start = first_labels(seed, 18)
    plain = run(X, labels, choice, [start])
    X, labels = ([a[o] for a, o in zip(part, orders, strict=True)] for part in (X, labels))
    renamed = np.zeros_like(start)
    renamed[:, names] = start[orders[1]]
    other = run(X, [names[y] for y in labels], choice, [renamed])
    rtol = 1e-6 if ratio is None else 1e-3  # landmarks stop at a gap of 1e-5
    assert_allclose(other.eigenvalues, plain.eigenvalues, rtol=rtol)
    assert_array_equal(other.labels[1], names[plain.labels[1][orders[1]]])
    for Z, same, order in zip(other.embeddings, plain.embeddings, orders, strict=True):
        assert_allclose(Z @ Z.T, (same @ same.T)[np.ix_(order, order)], atol=10 * rtol * np.abs(same).max() ** 2)


@few
@given(seed=seeds)
def test_turning_the_features_turns_the_projections(seed):
    X, labels, _ = domains(seed)
    turn = ortho_group.rvs(4, random_state=seed)
    choice, start = settings(bandwidth="auto"), [first_labels(seed, 18)]
    plain, turned = run(X, labels, choice, start), run([x @ turn for x in X], labels, choice, start)
    assert_allclose(turned.eigenvalues, plain.eigenvalues, rtol=1e-7)
    assert_array_equal(turned.labels[1], plain.labels[1])
    for P, same in zip(turned.projections, plain.projections, strict=True):
        assert_allclose(np.abs(turn @ P), np.abs(same), atol=1e-5 * np.abs(same).max())


@few
@given(seed=seeds, scale=st.sampled_from([1e-2, 3.0, 1e4]))
def test_scaled_rows_without_variance_term_have_the_same_embeddings(seed, scale):
    # Every other term grows by the square of the scale; so must the coupling.
    X, labels, _ = domains(seed)
    start = [first_labels(seed, 18)]
    plain, scaled = (
        run(
            [c * x for x in X],
            labels,
            settings(variance_weight=0, coupling_weight=c**2, bandwidth="auto"),
            start,
        )
        for c in (1.0, scale)
    )
    assert_allclose(scaled.eigenvalues, plain.eigenvalues, rtol=1e-6)
    assert_array_equal(scaled.labels[1], plain.labels[1])
    for Z, same in zip(scaled.embeddings, plain.embeddings, strict=True):
        assert_allclose(Z @ Z.T, same @ same.T, atol=1e-5 * np.abs(same).max() ** 2)


@few
@given(seed=seeds)
def test_the_order_of_sources_and_of_targets_is_of_no_matter(seed):
    X, labels, _ = domains(seed, widths=(4, 5, 4, 5), sizes=(15, 24, 18, 12))
    order, is_target = [1, 0, 3, 2], (False, False, True, True)
    starts = [first_labels(seed, 18), first_labels(seed + 1, 12)]
    choice = settings(landmark_ratio=0.5, bandwidth="auto")
    plain = run(X, labels, choice, starts, is_target)
    other = run([X[i] for i in order], [labels[i] for i in order], choice, starts[::-1], is_target)
    assert_allclose(other.eigenvalues, plain.eigenvalues, rtol=1e-3)
    for i, j in enumerate(order):
        assert_array_equal(other.labels[i], plain.labels[j])
        assert_allclose(other.weights[i], plain.weights[j], atol=1e-2)


@few
@given(seed=seeds, ratio=st.sampled_from([0.2, 0.5]))
def test_landmarks_follow_permuted_scaled_and_doubled_rows(seed, ratio):
    Z, labels, _ = domains(seed)
    options = {"n_classes": N_CLASSES, "ratio": ratio, "tol": 1e-9, "max_iter": 5000}
    w, plain = solve(Z, labels, **options)
    orders = [np.random.default_rng(seed).permutation(len(z)) for z in Z]
    permuted, other = solve(*([a[o] for a, o in zip(p, orders, strict=True)] for p in (Z, labels)), **options)
    assert_allclose(permuted, np.concatenate([w[:24][orders[0]], w[24:][orders[1]]]), atol=1e-3)
    assert_allclose(other.objective, plain.objective, rtol=1e-8)
    scaled, other = solve([1e3 * z for z in Z], labels, **options)
    assert_allclose(scaled, w, atol=1e-3)
    assert_allclose(other.objective, 1e6 * plain.objective, rtol=1e-8)
    doubled, other = solve(*([np.repeat(a, 2, axis=0) for a in p] for p in (Z, labels)), **options)
    assert_allclose(doubled, np.repeat(w, 2), atol=1e-3)
    assert_allclose(other.objective, plain.objective, rtol=1e-8)


@few
@given(seed=seeds)
def test_a_gradient_of_the_program_is_that_of_its_objective(seed):
    Z, labels, _ = domains(seed, unlabelled=2)
    *parts, groups, mass = landmark_program(Z, labels, (False, True), n_classes=N_CLASSES, ratio=0.5)
    Z, averages, K, spread = parts
    diagonal = np.concatenate(spread) * np.concatenate([(z**2).sum(axis=1) for z in Z])
    program = landmarks._Program(
        Z, averages, [A.T for A in averages], K, diagonal, np.concatenate(groups), mass, np.array([0, 24, 42])
    )
    rng = np.random.default_rng(seed)
    w, step = rng.uniform(size=42), rng.normal(size=42)
    high, low = (sum(energies(Z, labels, program.split(w + t * step))) / 2 for t in (1e-3, -1e-3))
    assert_allclose(program.gradient(w) @ step, (high - low) / 2e-3, rtol=1e-7, atol=1e-9)


@few
@given(seed=seeds)
def test_harmonic_labels_follow_the_rows_and_stay_between_the_known_ones(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(40, 3))
    W = propagation.neighbor_graph(Z, 6)
    Y, known = rng.dirichlet(np.ones(3), size=40), np.arange(40) < 12
    F = propagation.harmonic_labels(W, Y, known, tol=1e-11)
    touched = F.sum(axis=1) > 0
    assert (F[touched] >= Y[:12].min(axis=0) - 1e-8).all()
    assert (F[touched] <= Y[:12].max(axis=0) + 1e-8).all()
    order = rng.permutation(40)
    W_permuted = sparse.csr_array(W.toarray()[np.ix_(order, order)])
    permuted = propagation.harmonic_labels(W_permuted, Y[order], known[order], tol=1e-11)
    assert_allclose(permuted, F[order[~known[order]] - 12], atol=1e-7)
    # Linear in what is known, and the scale of the weights is of no matter.
    assert_allclose(propagation.harmonic_labels(7 * W, 2 * Y, known, tol=1e-11), 2 * F, atol=1e-7)
