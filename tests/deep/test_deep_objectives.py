"""The loss of each method on one batch is the sum of its terms: scores from its modules, terms from loops in numpy."""

import deep_oracles as oracles
import numpy as np
import pytest
from numpy.testing import assert_allclose

torch = pytest.importorskip("torch", reason="the deep methods need torch")
ot = pytest.importorskip("ot", reason="DeepJDOT needs POT")

from lpjt import deep  # noqa: E402
from lpjt.deep._base import Sizes, Step  # noqa: E402
from lpjt.deep._batches import Rows  # noqa: E402

HIDDEN, N_CLASSES, PROGRESS = 4, 3, 0.2
STRENGTH = 2 / (1 + np.exp(-10 * PROGRESS)) - 1
Y, Y_KNOWN = np.array([0, 1, 2, 0, 1, 1]), np.array([2, 0])


def set_up(name, **given):
    """A method with its network and one batch, all in double precision."""
    draw = torch.Generator().manual_seed(1)
    rng = np.random.default_rng(2)
    model = getattr(deep, name)(hidden=HIDDEN, **given)
    model.classes_, model._adapts = np.arange(N_CLASSES), True
    X, X_target = (torch.tensor(rng.normal(size=(n, 5)), dtype=torch.float32) for n in (6, 5))
    rows = Rows(X, torch.tensor(Y), X_target, torch.full((5,), -1))
    network = model._build(Sizes(5, HIDDEN, N_CLASSES), rows, draw)
    model._refreshed(network, rows)
    Z = [torch.tensor(np.abs(rng.normal(size=(n, HIDDEN)))) for n in (6, 5, 2)]
    step = Step(Z[0], torch.tensor(Y), Z[1], Z[2], torch.tensor(Y_KNOWN), PROGRESS)
    return model, network.double(), step


def number(tensor):
    return tensor.detach().numpy()


def scores(model, network, step):
    return [number(model._scores(network, Z)) for Z in (step.Z_source, step.Z_target, step.Z_known)]


def cross_entropy(found, y):
    return np.mean([-np.log(oracles.softmax(row)[c]) for row, c in zip(found, y, strict=True)])


def ddc(model, network, step):
    return 0.7 * oracles.linear_mmd(number(step.Z_source), number(step.Z_target))


def ddc_rbf(model, network, step):
    return 0.7 * oracles.kernel_mmd(number(step.Z_source), number(step.Z_target), n_kernels=1)


def dan(model, network, step):
    of_source, of_target, _ = scores(model, network, step)
    features = oracles.kernel_mmd(number(step.Z_source), number(step.Z_target), n_kernels=3)
    return 0.7 * (features + oracles.kernel_mmd(of_source, of_target, n_kernels=3))


def dann(model, network, step):
    return oracles.domain_loss(*(number(network["discriminator"](Z))[:, 0] for Z in (step.Z_source, step.Z_target)))


def cdan(model, network, step):
    judged, weights = [], []
    for Z, found in zip((step.Z_source, step.Z_target), scores(model, network, step)[:2], strict=True):
        outer = [np.outer(oracles.softmax(row), z).ravel() for z, row in zip(number(Z), found, strict=True)]
        judged.append(number(network["discriminator"](torch.tensor(np.array(outer))))[:, 0])
        weights.append(oracles.certainty(found))
    return oracles.domain_loss(*judged, *weights)


def mcd(model, network, step):
    return 0.7 * oracles.discrepancy(*(number(network[part](step.Z_target)) for part in ("classifier", "second")))


def wdan(model, network, step):
    of_source, of_target, _ = scores(model, network, step)
    found = np.bincount(number(network["shares"].target * 8).round().astype(int), minlength=1)
    assert found.sum() == N_CLASSES  # five target rows, and one added to each class
    shares = (1 - STRENGTH) * np.bincount(Y) / 6 + STRENGTH * number(network["shares"].target)
    weights = (shares / np.bincount(Y))[Y]
    apart = oracles.kernel_mmd(number(step.Z_source), number(step.Z_target), weights)
    apart += oracles.kernel_mmd(of_source, of_target, weights)
    return 0.7 * apart + 0.4 * STRENGTH * cross_entropy(of_target, of_target.argmax(axis=1))


def dhn(model, network, step):
    U, U_target = (np.tanh(number(network["classifier"](Z))) / 8**0.25 for Z in (step.Z_source, step.Z_target))
    similar = oracles.class_similarity(U_target, U, Y, N_CLASSES)
    entropy = np.mean([oracles.entropy(oracles.softmax(row)) for row in similar])
    apart = oracles.kernel_mmd(number(step.Z_source), number(step.Z_target)) + oracles.kernel_mmd(U, U_target)
    return 0.7 * apart + 0.4 * entropy


def deepjdot(model, network, step):
    found = scores(model, network, step)[1]
    costs = oracles.joint_costs(number(step.Z_source), Y, number(step.Z_target), found, 0.7, 0.4)
    return STRENGTH * ot.emd2(np.full(6, 1 / 6), np.full(5, 1 / 5), costs)


@pytest.mark.parametrize(
    ("expected", "name", "given"),
    [
        (ddc, "DDC", {"weight": 0.7}),
        (ddc_rbf, "DDC", {"weight": 0.7, "kernel": "rbf"}),
        (dan, "DAN", {"weight": 0.7, "n_kernels": 3}),
        (dann, "DANN", {}),
        (dann, "SimNet", {}),
        (cdan, "CDAN", {}),
        (mcd, "MCD", {"weight": 0.7}),
        (wdan, "WDAN", {"weight": 0.7, "pseudo_weight": 0.4}),
        (dhn, "DHN", {"weight": 0.7, "entropy_weight": 0.4, "n_bits": 8}),
        (deepjdot, "DeepJDOT", {"distance_weight": 0.7, "label_weight": 0.4}),
    ],
)
def test_the_loss_between_domains_is_the_sum_of_its_terms(expected, name, given):
    model, network, step = set_up(name, **given)
    found = model._transfer_loss(network, step)
    assert_allclose(found.item(), expected(model, network, step), rtol=1e-6)


@pytest.mark.parametrize("name", ["DANN", "CDAN", "SimNet"])
def test_the_features_climb_where_the_discriminator_descends(name):
    model, network, step = set_up(name, weight=2.0)
    Z = step.Z_source.clone().requires_grad_()
    moved = Step(Z, step.y_source, step.Z_target, step.Z_known, step.y_known, PROGRESS)
    reversed_, *_ = torch.autograd.grad(model._transfer_loss(network, moved), Z)
    eps, plain = 1e-6, np.zeros(Z.shape)
    for i, j in np.ndindex(*Z.shape):  # the slope of the value, which reversal does not change
        sides = []
        for sign in (-1, 1):
            shifted = step.Z_source.clone()
            shifted[i, j] += sign * eps
            # CDAN's predictions count as constants; an unadapted row has them.
            other = Step(shifted, step.y_source, step.Z_target, step.Z_known, step.y_known, PROGRESS)
            with pytest.MonkeyPatch.context() as patch:
                fixed = {6: model._scores(network, step.Z_source), 5: model._scores(network, step.Z_target)}
                patch.setattr(model, "_scores", lambda network, Z, fixed=fixed: fixed[len(Z)])
                sides.append(model._transfer_loss(network, other).item())
        plain[i, j] = (sides[1] - sides[0]) / (2 * eps)
    assert_allclose(reversed_.numpy(), -2.0 * STRENGTH * plain, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("name", ["SourceOnly", "DANN", "DeepJDOT"])
def test_the_label_loss_is_the_cross_entropy_of_both_domains(name):
    model, network, step = set_up(name)
    of_source, _, of_known = scores(model, network, step)
    expected = cross_entropy(of_source, Y) + cross_entropy(of_known, Y_KNOWN)
    assert_allclose(model._label_loss(network, step).item(), expected)


def test_both_classifiers_of_mcd_learn_from_labels():
    model, network, step = set_up("MCD")
    heads = (network["classifier"], network["second"])
    expected = sum(
        cross_entropy(number(h(Z)), y) for h in heads for Z, y in ((step.Z_source, Y), (step.Z_known, Y_KNOWN))
    )
    assert_allclose(model._label_loss(network, step).item(), expected)


def test_the_label_loss_of_dhn_is_of_pairs_and_signs_of_all_labelled_rows():
    model, network, step = set_up("DHN", quantisation_weight=0.4, n_bits=8)
    U = np.tanh(number(network["classifier"](torch.cat([step.Z_source, step.Z_known]))))
    pairs = oracles.pair_loss(U / 8**0.25, np.r_[Y, Y_KNOWN])
    assert_allclose(model._label_loss(network, step).item(), pairs + 0.4 * np.mean((np.abs(U) - 1) ** 2))


def test_simnet_compares_with_the_prototypes_of_the_batch_and_of_all_rows_where_it_has_none():
    model, network, step = set_up("SimNet", orthogonality_weight=0.4)
    kept = number(network["prototypes"].means)
    batch = Step(step.Z_source[:4], step.y_source[:4].clamp(max=1), step.Z_target, step.Z_known, step.y_known, PROGRESS)
    y = np.minimum(Y[:4], 1)
    Z = number(batch.Z_source)
    means = np.array([Z[y == 0].mean(axis=0), Z[y == 1].mean(axis=0), kept[2]])
    mapped = number(network["classifier"](torch.tensor(means)))
    expected = cross_entropy(Z @ mapped.T, y) + cross_entropy(number(step.Z_known) @ mapped.T, Y_KNOWN)
    assert_allclose(model._label_loss(network, batch).item(), expected + 0.4 * oracles.orthogonality(means), rtol=1e-6)
