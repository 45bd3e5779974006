"""Cases of the parameters that all deep methods share: the network and its training."""

import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import torch
from deep_cases import case, differ, weights
from deep_toys import moved_clusters
from numpy.testing import assert_array_equal


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
