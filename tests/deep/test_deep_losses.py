"""Every loss is its formula, written with loops, and its gradient that of finite differences."""

import deep_oracles as oracles
import numpy as np
import pytest
from numpy.testing import assert_allclose

torch = pytest.importorskip("torch", reason="the deep methods need torch")

from lpjt.deep import _losses as losses  # noqa: E402
from lpjt.deep.deepjdot import transport_plan  # noqa: E402

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4)) + 0.5
SCORES, OTHER = 2 * RNG.normal(size=(7, 3)), RNG.normal(size=(7, 3))
Y = np.array([0, 1, 2, 0, 1, 2, 2])
WEIGHTS = np.arange(1.0, 8) / 28


def t(array, grad=False):
    return torch.tensor(array, requires_grad=grad)


CASES = {
    "linear_mmd": (lambda a, b: losses.linear_mmd(a, b), (A, B), oracles.linear_mmd(A, B)),
    "kernel_mmd": (lambda a, b: losses.kernel_mmd(a, b), (A, B), oracles.kernel_mmd(A, B)),
    "one kernel": (lambda a, b: losses.kernel_mmd(a, b, n_kernels=1), (A, B), oracles.kernel_mmd(A, B, None, 1)),
    "weighted": (lambda a, b: losses.kernel_mmd(a, b, t(WEIGHTS)), (A, B), oracles.kernel_mmd(A, B, WEIGHTS)),
    "entropies": (losses.entropies, (SCORES,), [oracles.entropy(oracles.softmax(row)) for row in SCORES]),
    "information": (losses.information, (SCORES,), oracles.information(SCORES)),
    "domain_loss": (losses.domain_loss, (A[:, :1], B[:, :1]), oracles.domain_loss(A[:, 0], B[:, 0])),
    "weighted domain_loss": (
        lambda a, b: losses.domain_loss(a, b, t(7 * WEIGHTS), t(WEIGHTS[:5])),
        (A[:, :1], B[:, :1]),
        oracles.domain_loss(A[:, 0], B[:, 0], 7 * WEIGHTS, WEIGHTS[:5]),
    ),
    "multilinear_map": (
        losses.multilinear_map,
        (A, SCORES),
        [[p * z for p in row_p for z in row_z] for row_z, row_p in zip(A, SCORES, strict=True)],
    ),
    "discrepancy": (losses.discrepancy, (SCORES, OTHER), oracles.discrepancy(SCORES, OTHER)),
    "pair_loss": (lambda u: losses.pair_loss(u, t(Y)), (A,), oracles.pair_loss(A, Y)),
    "quantisation_loss": (losses.quantisation_loss, (A,), np.mean((np.abs(A) - 1) ** 2)),
    "class_similarity": (
        lambda u, v: losses.class_similarity(u, v, t(Y), 3),
        (B, A),
        oracles.class_similarity(B, A, Y, 3),
    ),
    "class_means": (
        lambda z: losses.class_means(z, t(Y), torch.zeros(3, 4, dtype=torch.float64)),
        (A,),
        [np.mean([a for a, c in zip(A, Y, strict=True) if c == k], axis=0) for k in range(3)],
    ),
    "orthogonality": (losses.orthogonality, (B,), oracles.orthogonality(B)),
    "joint_costs": (
        lambda a, b, s: losses.joint_costs(a, t(Y), b, s, distance=0.3, label=0.7),
        (A, B, SCORES[:5]),
        oracles.joint_costs(A, Y, B, SCORES[:5], 0.3, 0.7),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_loss_is_its_formula(name):
    function, arrays, expected = CASES[name]
    assert_allclose(function(*map(t, arrays)).numpy(), expected, rtol=1e-9, atol=1e-12)


#: The unit of these losses has no gradient, so that finite differences need it frozen.
FROZEN = {"linear_mmd", "kernel_mmd", "one kernel", "weighted"}


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_that_of_finite_differences(name, monkeypatch):
    function, arrays, _ = CASES[name]
    if name in FROZEN:
        monkeypatch.setattr(losses, "mean_squared_distance", lambda Z: torch.tensor(3.0, dtype=Z.dtype))
    assert torch.autograd.gradcheck(function, [t(array, grad=True) for array in arrays])


@pytest.mark.parametrize("strength", [0.0, 0.5, 2.0])
def test_the_reversed_gradient_has_the_opposite_sign_and_the_values_stay(strength):
    x = t(A, grad=True)
    same = losses.reverse_gradient(x, strength)
    assert torch.equal(same, x)
    (reversed_,) = torch.autograd.grad((same**3).sum(), x)
    assert_allclose(reversed_.numpy(), -strength * 3 * A**2, rtol=1e-12)
    assert not losses.reverse_gradient(t(A), strength).requires_grad


def test_the_schedule_rises_from_zero_to_nearly_one():
    values = [losses.reversal_strength(p) for p in (0.0, 0.1, 0.5, 1.0)]
    assert_allclose(values, [0.0, 2 / (1 + np.exp(-1)) - 1, 2 / (1 + np.exp(-5)) - 1, 2 / (1 + np.exp(-10)) - 1])


def test_rows_are_weighted_so_that_their_classes_have_the_wanted_proportions():
    wanted = np.array([0.5, 0.2, 0.3])
    weights = losses.matching_weights(t(Y), t(wanted)).numpy()
    assert_allclose([weights[c == Y].sum() for c in range(3)], wanted)
    absent = losses.matching_weights(t(np.array([1, 1, 2])), t(np.array([1.0, 0.0, 0.0]))).numpy()
    assert_allclose(absent, np.full(3, 1 / 3))
    assert_allclose(losses.certainty_weights(t(SCORES, grad=True)).numpy(), oracles.certainty(SCORES))


def test_a_discrepancy_is_zero_for_equal_domains_and_defined_for_equal_and_for_single_rows():
    assert_allclose(losses.kernel_mmd(t(A), t(A)).item(), 0, atol=1e-15)
    ones = torch.ones(3, 2)
    for found in (losses.kernel_mmd(ones, ones[:1]), losses.linear_mmd(ones[:1], ones[:1])):
        assert found.item() == pytest.approx(0, abs=1e-6)
    assert losses.kernel_mmd(t(A[:1]), t(B[:1])).item() > 0


def test_similar_codes_of_absent_classes_and_far_ones_stay_defined():
    U = torch.tensor([[60.0, 0.0]], requires_grad=True)
    scores = losses.class_similarity(U, torch.tensor([[60.0, 0.0], [-60.0, 0.0]]), torch.tensor([0, 2]), 3)
    assert torch.isneginf(scores[0, 1])
    assert scores[0, 0] > scores[0, 2]
    (gradient,) = torch.autograd.grad(scores[0, [0, 2]].sum(), U)
    assert torch.isfinite(gradient).all()


def test_the_transport_plan_is_the_cheapest_of_all_assignments():
    pytest.importorskip("ot", reason="DeepJDOT needs POT")
    from scipy.optimize import linear_sum_assignment

    costs = RNG.uniform(size=(6, 6))
    rows, columns = linear_sum_assignment(costs)
    plan = transport_plan(t(costs, grad=True))
    assert not plan.requires_grad
    assert_allclose((plan.numpy() * costs).sum(), costs[rows, columns].mean())
    assert_allclose(plan.sum(dim=0).numpy(), 1 / 6)
