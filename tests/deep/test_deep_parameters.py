"""Every parameter of every deep method does what its documentation says.

A case asserts what two values of a parameter make different in a fitted model; it never looks at the parameter itself.
`test_the_case_notices` freezes the parameter at its default, and the case must fail.
"""

from contextlib import redirect_stdout
from inspect import signature
from io import StringIO

import numpy as np
import pytest
from deep_toys import QUICK, moved_clusters
from numpy.testing import assert_array_equal

torch = pytest.importorskip("torch", reason="the deep methods need torch")
pytest.importorskip("ot", reason="DeepJDOT needs POT")

from lpjt import deep  # noqa: E402
from lpjt.deep import _losses  # noqa: E402

SHARED = list(signature(deep.SourceOnly.__init__).parameters)[1:]
CASES = {}
SHORT = {**QUICK, "max_epochs": 2, "hidden": 8}


def case(parameter, *names):
    def register(function):
        CASES.update({(name, parameter): function for name in names})
        return function

    return register


def public_parameters():
    """Shared parameters once, with the base network; the others with each method that has them."""
    shared = [("SourceOnly", parameter) for parameter in SHARED]
    own = [(name, p) for name in deep.__all__ for p in signature(getattr(deep, name).__init__).parameters]
    return shared + [pair for pair in own if pair[1] not in (*SHARED, "self")] + [("DeepJDOT", "balanced")]


class Fitter:
    """Fits one method on the toy; a frozen parameter is set back to its default behind the caller's back."""

    def __init__(self, name, frozen=None):
        self.name, self.frozen = name, frozen

    def __call__(self, data=None, **given):
        kind = getattr(deep, self.name)
        model = kind(**{**SHORT, **given})
        if self.frozen is not None:
            model.set_params(**{self.frozen: signature(kind.__init__).parameters[self.frozen].default})
        X, y, X_target, _ = data or moved_clusters(n_source=60, n_target=45)
        return model.fit(X, y, X_target)


def differ(one, other, X_target=None):
    X_target = moved_clusters(n_source=60, n_target=45)[2] if X_target is None else X_target
    return bool((one.predict_proba(X_target) != other.predict_proba(X_target)).any())


def weights(model, part="features"):
    return np.concatenate([tensor.numpy().ravel() for tensor in model.network_[part].state_dict().values()])


# The network and its training.


@case("hidden", "SourceOnly")
def hidden_is_the_width_of_the_embedding(fit):
    assert fit(hidden=5).transform(moved_clusters()[2]).shape[1] == 5


@case("dropout", "SourceOnly")
def dropout_changes_training_and_not_prediction(fit):
    model = fit(dropout=0.5)
    assert differ(model, fit(dropout=0.0))
    X_target = moved_clusters()[2]
    assert_array_equal(model.predict_proba(X_target), model.predict_proba(X_target))


@case("max_epochs", "SourceOnly")
def max_epochs_is_the_number_of_epochs(fit):
    assert [fit(max_epochs=n).n_iter_ for n in (1, 3)] == [1, 3]


@case("batch_size", "SourceOnly")
def smaller_batches_make_more_steps(fit):
    long = moved_clusters(n_source=300, n_target=60)
    one, other = (fit(long, batch_size=size, max_epochs=1, learning_rate=1e-4).history_["loss"][0] for size in (4, 300))
    assert one < other - 1e-3  # 75 steps instead of 20


@case("balanced", "SourceOnly", "DeepJDOT")
def balanced_batches_give_a_rare_class_its_turn(fit):
    X, y, X_target, y_target = moved_clusters(move=0.0, aside=0.0, n_source=120)
    rows = np.r_[np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:2]]
    data = X[rows], y[rows], X_target, y_target
    shares = [fit(data, balanced=b).predict_proba(X_target)[:, 2].mean() for b in (True, False)]
    assert shares[0] > shares[1] + 0.02


@case("optimizer", "SourceOnly")
def adam_makes_steps_of_the_learning_rate_and_sgd_of_the_gradient(fit):
    start = weights(fit(max_epochs=1, learning_rate=1e-12, optimizer="sgd"))
    moved = {
        kind: np.abs(weights(fit(max_epochs=1, learning_rate=1e-3, optimizer=kind)) - start) for kind in ("adam", "sgd")
    }
    least, most = ({kind: np.quantile(found, q) for kind, found in moved.items()} for q in (0.1, 0.9))
    assert least["adam"] > 0.9 * most["adam"]  # every weight by about the rate in each of 20 steps
    assert least["sgd"] < 0.1 * most["sgd"]


@case("learning_rate", "SourceOnly")
def a_smaller_rate_learns_less(fit):
    losses = [fit(learning_rate=rate).history_["loss"][-1] for rate in (1e-2, 1e-5)]
    assert losses[0] < 0.7 * losses[1]


@case("weight_decay", "SourceOnly")
def weight_decay_makes_weights_small(fit):
    lengths = [np.linalg.norm(weights(fit(weight_decay=decay))) for decay in (1.0, 0.0)]
    assert lengths[0] < 0.7 * lengths[1]


@case("patience", "SourceOnly")
def patience_ends_training_and_none_makes_all_epochs(fit):
    evidence = iter([1.0, 0.5, 0.4] + 20 * [0.3])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lpjt.deep._base.information", lambda scores: next(evidence))
        model = fit(max_epochs=12, patience=2)
        assert (model.n_iter_, model.best_iter_) == (3, 1)
    model = fit(max_epochs=12, patience=None, learning_rate=0.1)
    assert (model.n_iter_, model.best_iter_) == (12, 12)


@case("checkpoint", "SourceOnly")
def the_checkpoint_is_written(fit):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept.pt"
        fit(checkpoint=path)
        assert torch.load(path, weights_only=True)["state"]["epoch"] == 2


@case("scaling", "SourceOnly")
def standard_scaling_undoes_the_units_of_columns(fit):
    X, y, X_target, y_target = moved_clusters()
    factors = 2.0 ** np.arange(6)
    moved = X * factors, y, X_target * factors, y_target
    found = [fit((X, y, X_target, y_target), scaling=s).transduction_ for s in ("none", "unit")]
    again = [fit(moved, scaling=s).transduction_ for s in ("none", "unit")]
    assert all((one != other).any() for one, other in zip(found, again, strict=True))
    assert_array_equal(*(fit(data, scaling="standard").transduction_ for data in ((X, y, X_target, y_target), moved)))


@case("verbose", "SourceOnly")
def verbose_prints_a_line_for_every_epoch(fit):
    printed = []
    for verbose in (0, 1):
        with redirect_stdout(StringIO()) as output:
            fit(verbose=verbose)
        printed.append(output.getvalue())
    assert printed[0] == ""
    lines = printed[1].splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("SourceOnly: epoch 2 of 2, loss ")
    assert lines[1].endswith(" nats")


@case("random_state", "SourceOnly")
def random_state_decides_the_fit(fit):
    assert not differ(fit(random_state=1), fit(random_state=1))
    assert differ(fit(random_state=1), fit(random_state=2))


# The methods' own.


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


every_parameter = pytest.mark.parametrize(
    ("name", "parameter"), public_parameters(), ids=[".".join(pair) for pair in public_parameters()]
)


def test_every_parameter_has_a_case():
    assert set(CASES) == set(public_parameters())


@every_parameter
def test_the_parameter_does_what_its_documentation_says(name, parameter):
    CASES[name, parameter](Fitter(name))


@every_parameter
def test_the_case_notices_a_parameter_that_is_frozen_at_its_default(name, parameter):
    with pytest.raises((AssertionError, FileNotFoundError, StopIteration)):
        CASES[name, parameter](Fitter(name, frozen=parameter))
