"""The last labels: what teaches the regression, and what its answers are averaged with."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from lpjt.core.objective import Problem
from lpjt.core.ridge import fit_kernel_ridge
from lpjt.fitting import refine
from lpjt.fitting.refine import keep_known, refine_labels
from problems import masked
from toys import blobs
from trials import hand_made

N_SOURCE, N_TARGET, N_CLASSES = 24, 18, 3
FAMILIES = ("nearest", "adapted")


def small_problem(*, given=None, widths=(4, 4), seed=0):
    """One source and one or more targets, in coordinates."""
    rng = np.random.default_rng(seed)
    source, y = blobs(rng, N_SOURCE, widths[0], N_CLASSES)
    targets = [blobs(rng, N_TARGET, width, N_CLASSES, shift=0.3)[0] for width in widths[1:]]
    labels = [y, *(np.full(N_TARGET, -1) if given is None else given for _ in targets)]
    is_target = (False, *[True] * len(targets))
    return Problem((source, *targets), tuple(labels), is_target, N_CLASSES)


def random_distributions(seed, n=N_TARGET):
    return np.random.default_rng(seed).dirichlet(np.ones(N_CLASSES), size=n)


def regressed(rows, taught):
    """Answers of the regression at all rows, whose confidence is their weight; rows of zeros teach nothing."""
    teaching = taught.any(axis=1)
    return fit_kernel_ridge(rows[teaching], taught[teaching], taught[teaching].max(axis=1))


def mixed(G, F, share):
    total = G + share * F
    return total / total.sum(axis=1, keepdims=True)


def test_without_candidates_the_iterations_teach_and_count_half():
    problem, F = small_problem(), random_distributions(0)
    found = refine_labels(problem, (4, 4), [F], None)
    assert found.share == 0.5
    rows, taught = np.vstack(problem.rows), np.vstack([oracles.one_hot(problem.labels[0], N_CLASSES), F])
    model = regressed(rows, taught)
    assert_allclose(found.regressions[0].coefficients, model.coefficients, rtol=1e-10)
    G = model.distributions_of(problem.rows[1])
    assert_allclose(found.distributions[0], mixed(G, F, 0.5), rtol=1e-10)


@pytest.mark.parametrize(("shift", "most"), [(1.0, 0.5), (0.5, 0.75), (0.0, 1.0)])
@pytest.mark.parametrize("doubt", [0.05, 0.1])
def test_iterations_and_consensus_teach_by_the_credit_of_the_iterations(doubt, shift, most):
    """And by the belief that the target has other class proportions than the source."""
    problem, F, consensus = small_problem(), random_distributions(0), random_distributions(1)
    votes = np.full(consensus.shape, 0.3 - doubt)
    votes[np.arange(N_TARGET), consensus.argmax(axis=1)] = 0.3
    trial = replace(hand_made([0.5, 0.5], FAMILIES, consensus=consensus, votes=votes), shift=shift)
    found = refine_labels(problem, (4, 4), [F], trial)
    wrong = np.mean(F.argmax(axis=1) != consensus.argmax(axis=1))
    assert_allclose(found.share, most * np.exp(-wrong * doubt / 0.1))
    share = found.share  # to the last digit: the regression is close to singular
    taught = np.vstack([oracles.one_hot(problem.labels[0], N_CLASSES), share * F + (1 - share) * consensus])
    model = regressed(np.vstack(problem.rows), taught)
    assert_allclose(found.regressions[0].coefficients, model.coefficients, rtol=1e-10)
    G = model.distributions_of(problem.rows[1]) + (1 - share) * consensus
    assert_allclose(found.distributions[0], mixed(G, F, share), rtol=1e-10)


def test_a_sampled_consensus_teaches_its_own_rows():
    problem, F = small_problem(), random_distributions(0)
    rows = np.array([2, 3, 11])
    trial = hand_made(
        [0.6, 0.4],
        FAMILIES,
        consensus=random_distributions(1, 3),
        votes=np.ones((3, N_CLASSES)),
        sample=(np.array([0, 5]), rows),
    )
    found = refine_labels(problem, (4, 4), [F], trial)
    of_target = F.copy()
    of_target[rows] = 0.5 * F[rows] + 0.5 * trial.weighed.consensus
    model = regressed(np.vstack(problem.rows), np.vstack([oracles.one_hot(problem.labels[0], N_CLASSES), of_target]))
    assert_allclose(found.regressions[0].coefficients, model.coefficients, rtol=1e-10)
    assert_array_equal(F, random_distributions(0))  # the caller's array


def test_without_iterations_the_consensus_teaches_alone():
    problem = small_problem()
    rows = np.array([2, 3, 11])
    trial = hand_made([0.6, 0.4], FAMILIES, consensus=random_distributions(1, 3), sample=(None, rows))
    found = refine_labels(problem, (4, 4), None, trial)
    assert found.share == 0.0
    of_target = np.zeros((N_TARGET, N_CLASSES))
    of_target[rows] = trial.weighed.consensus
    model = regressed(np.vstack(problem.rows), np.vstack([oracles.one_hot(problem.labels[0], N_CLASSES), of_target]))
    assert_allclose(found.regressions[1].coefficients, model.coefficients, rtol=1e-10)
    G = model.distributions_of(problem.rows[1])
    G[rows] += trial.weighed.consensus
    assert_allclose(found.distributions[0], G / G.sum(axis=1, keepdims=True), rtol=1e-10)


@pytest.mark.parametrize("iterated", [False, True])
def test_given_labels_teach_and_stay(iterated):
    given = masked(np.arange(N_TARGET) % N_CLASSES, 2)
    problem, F, consensus = small_problem(given=given), random_distributions(0), random_distributions(1)
    trial = hand_made([0.6, 0.4], FAMILIES, consensus=consensus, votes=np.ones(consensus.shape))
    found = refine_labels(problem, (4, 4), [F] if iterated else None, trial)
    known = given >= 0
    assert_array_equal(found.distributions[0][known], np.eye(N_CLASSES)[given[known]])
    of_target = 0.5 * F + 0.5 * consensus if iterated else consensus.copy()
    of_target[known] = np.eye(N_CLASSES)[given[known]]
    model = regressed(np.vstack(problem.rows), np.vstack([oracles.one_hot(problem.labels[0], N_CLASSES), of_target]))
    assert_allclose(found.regressions[1].coefficients, model.coefficients, rtol=1e-10)
    assert_allclose(found.distributions[0].sum(axis=1), 1, rtol=1e-10)


def test_each_width_has_a_regression_of_its_own():
    widths = (4, 6, 4, 6)
    problem = small_problem(widths=widths)
    F = [random_distributions(seed) for seed in range(3)]
    found = refine_labels(problem, widths, F, None)
    first, second, third, fourth = found.regressions
    assert first is third
    assert second is fourth
    assert first is not second
    taught = [oracles.one_hot(problem.labels[0], N_CLASSES), *F]
    for model, members in ((first, (0, 2)), (second, (1, 3))):
        expected = regressed(np.vstack([problem.rows[i] for i in members]), np.vstack([taught[i] for i in members]))
        assert_allclose(model.coefficients, expected.coefficients, rtol=1e-10)
    for j in range(3):
        G = found.regressions[j + 1].distributions_of(problem.rows[j + 1])
        assert_allclose(found.distributions[j], mixed(G, F[j], 0.5), rtol=1e-10)


def test_widths_are_those_of_the_raw_rows():
    problem, F = small_problem(), random_distributions(0)  # as many coordinates, of other columns
    found = refine_labels(problem, (40, 60), [F], None)
    assert found.regressions[0] is not found.regressions[1]
    assert len(found.regressions[0].centres) == N_SOURCE
    assert len(found.regressions[1].centres) == N_TARGET


def test_few_rows_of_a_large_domain_teach(monkeypatch):
    monkeypatch.setattr(refine, "TAUGHT_ROWS", 10)
    problem, F = small_problem(), random_distributions(0)
    found = refine_labels(problem, (4, 4), [F], None)
    taught = np.vstack([oracles.one_hot(problem.labels[0], N_CLASSES)[::3], F[::2]])
    model = regressed(np.vstack([problem.rows[0][::3], problem.rows[1][::2]]), taught)
    assert_allclose(found.regressions[0].coefficients, model.coefficients, rtol=1e-10)


def test_keep_known():
    F = np.full((3, 2), 0.5)
    assert keep_known(F, np.array([1, -1, 0])) is F
    assert_array_equal(F, [[0, 1], [0.5, 0.5], [1, 0]])
