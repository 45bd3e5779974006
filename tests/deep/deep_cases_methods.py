"""Cases of the parameters of single deep methods."""

import numpy as np
import pytest
import torch
from deep_cases import case, differ
from deep_toys import moved_clusters

from lpjt.deep import _losses


def apart(model):
    """Discrepancy of the domains in the bottleneck."""
    X, _, X_target, _ = moved_clusters(n_source=60, n_target=45)
    Z = (torch.tensor(model.transform(rows, domain)) for rows, domain in ((X, "source"), (X_target, "target")))
    return float(_losses.kernel_mmd(*Z))


@case("weight", "DDC", "DAN", "DANN", "CDAN", "SimNet", "WDAN", "DHN")
def a_larger_weight_makes_the_domains_alike(fit):
    given = {"max_epochs": 6, "hidden": 16, "patience": None}
    adversarial = fit.name in ("DANN", "CDAN", "SimNet")
    # An adversary pushes them towards each other and beyond: it is enough that they are nearer than without it.
    assert apart(fit(weight=2.0 if adversarial else 10.0, **given)) < 0.7 * apart(fit(weight=0.0, **given))


@case("weight", "MCD")
def the_discrepancy_moves_the_features(fit):
    assert differ(fit(weight=0.0), fit(weight=1.5))


@case("kernel", "DDC")
def one_gaussian_kernel_takes_the_place_of_the_means(fit):
    called = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "lpjt.deep.ddc.kernel_mmd", lambda *Z, n_kernels: called.append(n_kernels) or _losses.linear_mmd(*Z)
        )
        fit(kernel="rbf")
    assert set(called) == {1}


@case("n_kernels", "DAN", "WDAN")
def the_discrepancy_has_that_many_kernels(fit):
    assert differ(fit(n_kernels=1), fit(n_kernels=5))


@case("pseudo_weight", "WDAN")
def pseudo_labels_make_predictions_surer(fit):
    X_target = moved_clusters(n_source=60, n_target=45)[2]
    given = {"max_epochs": 4, "learning_rate": 3e-3, "patience": None}
    sure = [fit(pseudo_weight=weight, **given).predict_proba(X_target).max(axis=1).mean() for weight in (5.0, 0.0)]
    assert sure[0] > sure[1] + 0.02


@case("n_bits", "DHN")
def n_bits_is_the_length_of_the_codes(fit):
    assert fit(n_bits=6).network_["references"].codes.shape[1] == 6


@case("entropy_weight", "DHN")
def the_entropy_of_the_target_falls(fit):
    X_target = moved_clusters(n_source=60, n_target=45)[2]
    given = {"n_bits": 8, "weight": 0.0, "max_epochs": 4, "patience": None}

    def entropy(model):
        return -np.mean([p @ np.log(np.maximum(p, 1e-30)) for p in model.predict_proba(X_target)])

    assert entropy(fit(entropy_weight=3.0, **given)) < entropy(fit(entropy_weight=0.0, **given))


@case("quantisation_weight", "DHN")
def codes_come_near_their_signs(fit):
    def far(model):
        codes = model.network_["references"].codes.numpy() * 8**0.25
        return np.mean((np.abs(codes) - 1) ** 2)

    given = {"n_bits": 8, "max_epochs": 4, "patience": None}
    assert far(fit(quantisation_weight=5.0, **given)) < 0.5 * far(fit(quantisation_weight=0.0, **given))


@case("orthogonality_weight", "SimNet")
def prototypes_become_orthogonal(fit):
    given = {"weight": 0.0, "max_epochs": 4, "patience": None}

    def cosines(model):
        return float(_losses.orthogonality(model.network_["prototypes"].means))

    assert cosines(fit(orthogonality_weight=10.0, **given)) < 0.7 * cosines(fit(orthogonality_weight=0.0, **given))


@case("n_steps", "MCD")
def n_steps_is_how_often_the_features_move(fit):
    moved = []
    from lpjt.deep import mcd

    def counting(training, loss, modules=None):
        moved.append(modules is not None and len(modules) == 1)
        descend(training, loss, modules)

    descend = mcd.descend
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lpjt.deep.mcd.descend", counting)
        fit(n_steps=2, max_epochs=1)
    assert sum(moved) == 2 * 20


@case("entropy", "CDAN")
def sure_rows_count_more(fit):
    assert differ(fit(entropy=False), fit(entropy=True))


@case("n_random", "CDAN")
def a_wide_map_is_replaced_by_a_random_one(fit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lpjt.deep.cdan.WIDEST_MAP", 23)
        model = fit(n_random=11, hidden=8)
    assert model.network_["discriminator"][0].in_features == 11
    assert fit(n_random=11, hidden=8).network_["discriminator"][0].in_features == 8 * 3


@case("distance_weight", "DeepJDOT")
def paired_rows_come_near(fit):
    given = {"max_epochs": 6, "hidden": 16, "patience": None, "label_weight": 0.0}
    assert apart(fit(distance_weight=10.0, **given)) < 0.7 * apart(fit(distance_weight=0.0, **given))


@case("label_weight", "DeepJDOT")
def paired_rows_have_one_label(fit):
    X_target = moved_clusters(n_source=60, n_target=45)[2]
    given = {"max_epochs": 6, "patience": None, "distance_weight": 0.0}
    models = [fit(label_weight=weight, **given) for weight in (3.0, 0.0)]
    counts = [np.bincount(model.predict(X_target), minlength=3) for model in models]
    assert counts[0].std() < counts[1].std()  # of three equal classes each gets its part
