"""Batches, seeds, early stopping without labels, and checkpoints that resume bit by bit."""

import numpy as np
import pytest
from deep_toys import accuracy, moved_clusters, quick
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch", reason="the deep methods need torch")

from lpjt import deep  # noqa: E402
from lpjt.deep import _training  # noqa: E402
from lpjt.deep._batches import MIN_BATCHES, Rows, any_order, balanced_order, draw_batches  # noqa: E402
from lpjt.deep._network import drop  # noqa: E402
from lpjt.deep._training import Training  # noqa: E402

every = pytest.mark.parametrize("name", deep.__all__)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def rows(n_source=50, n_target=30, known=0):
    y_target = torch.full((n_target,), -1)
    y_target[:known] = 1
    numbers = torch.arange(n_source)[:, None].float(), torch.arange(n_target)[:, None].float()
    return Rows(numbers[0], torch.arange(n_source) % 4, numbers[1], y_target)


def weights(model):
    return {name: tensor.numpy() for name, tensor in model.network_.state_dict().items()}


def assert_same_weights(one, other):
    assert weights(one).keys() == weights(other).keys()
    for name, found in weights(one).items():
        assert_array_equal(found, weights(other)[name], err_msg=name)


# Batches.


def test_an_epoch_shows_every_row_and_repeats_the_smaller_domain():
    batches = list(draw_batches(rows(900, 30, known=5), 16, generator(), balanced=False))
    assert len(batches) == 57  # 900 over 16, rounded up
    assert {int(x) for batch in batches for x in batch.X_source[:, 0]} == set(range(900))
    assert {int(x) for batch in batches for x in batch.X_target[:, 0]} == set(range(30))
    assert {len(batch.X_target) for batch in batches} == {16}
    assert {len(batch.y_known) for batch in batches} == {5}
    assert all((batch.y_known == 1).all() for batch in batches)


def test_a_batch_larger_than_a_domain_has_all_its_rows_once():
    batches = list(draw_batches(rows(50, 1), 4096, generator(), balanced=False))
    assert len(batches) == MIN_BATCHES
    for batch in batches:
        assert sorted(batch.X_source[:, 0].tolist()) == list(range(50))
        assert batch.X_target.shape == (1, 1)
        assert batch.X_known.shape == (0, 1)


def test_classes_take_turns_in_balanced_batches():
    y = torch.tensor([0] * 90 + [1] * 9 + [2])
    order = balanced_order(y, 60, generator())
    assert_array_equal(np.bincount(y[order].numpy()), [20, 20, 20])
    assert set(order[y[order] == 1].tolist()) == set(range(90, 99))
    eight = balanced_order(torch.arange(8), 24, generator()).reshape(3, 8)  # more classes than a small batch has rows
    assert_array_equal(np.sort(eight), np.tile(np.arange(8), (3, 1)))
    assert (eight[0] != eight[1]).any()
    assert sorted(any_order(5, 10, generator()).tolist()) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_dropout_keeps_the_mean():
    found = drop(torch.ones(400, 50), 0.25, generator())
    assert_allclose(np.unique(found.numpy()), [0, 1 / 0.75], rtol=1e-6)
    assert found.mean().item() == pytest.approx(1, abs=0.02)
    assert drop(found, 0.0, generator()) is found


# Seeds.


@every
@pytest.mark.usefixtures("few_batches")
def test_two_fits_with_one_seed_are_equal_and_torchs_own_generator_is_left_alone(name):
    X, y, X_target, _ = moved_clusters()
    before = torch.get_rng_state()
    first, second, other = (
        quick(name, max_epochs=2, dropout=0.2, random_state=s).fit(X, y, X_target) for s in (3, 3, 4)
    )
    assert_same_weights(first, second)
    assert_array_equal(first.history_["loss"], second.history_["loss"])
    assert (first.predict_proba(X_target) != other.predict_proba(X_target)).any()
    assert_array_equal(torch.get_rng_state(), before)


# Checkpoints.


class Stopped(Exception):
    """Stands for a kill."""


@pytest.fixture
def stop_after(monkeypatch):
    """Ends training after some epochs, when their checkpoint is written."""

    def stop(n_epochs):
        tell = deep.SourceOnly._tell

        def tell_or_stop(self, training):
            if training.epoch == n_epochs:
                raise Stopped
            tell(self, training)

        monkeypatch.setattr("lpjt.deep._base.DeepClassifier._tell", tell_or_stop)

    return stop


@every
@pytest.mark.usefixtures("few_batches")
def test_a_fit_that_is_stopped_halfway_goes_on_bit_by_bit(name, tmp_path, stop_after, monkeypatch):
    X, y, X_target, _ = moved_clusters()
    given = {"max_epochs": 4, "dropout": 0.2}
    whole = quick(name, **given).fit(X, y, X_target)
    path = tmp_path / "half.pt"
    stop_after(2)
    with pytest.raises(Stopped):
        quick(name, **given, checkpoint=path, verbose=1).fit(X, y, X_target)
    monkeypatch.undo()
    made = []
    record = Training.record
    monkeypatch.setattr(Training, "record", lambda self, *args: (made.append(1), record(self, *args)))
    resumed = quick(name, **given, checkpoint=path).fit(X, y, X_target)
    assert len(made) == 2  # epochs 3 and 4 alone
    assert_same_weights(resumed, whole)
    assert_array_equal(resumed.history_["evidence"], whole.history_["evidence"])
    assert_array_equal(resumed.transduction_, whole.transduction_)
    again = quick(name, **given, checkpoint=path).fit(X, y, X_target)
    assert len(made) == 2  # finished: nothing is trained
    assert_same_weights(again, whole)


def test_a_checkpoint_of_another_fit_or_of_something_else_is_refused(tmp_path):
    X, y, X_target, _ = moved_clusters()
    path = tmp_path / "kept.pt"
    quick("DDC", max_epochs=1, checkpoint=path).fit(X, y, X_target)
    for model, moved in (
        (quick("DDC", max_epochs=2), 0),
        (quick("DAN", max_epochs=1), 0),
        (quick("DDC", max_epochs=1), 1),
    ):
        with pytest.raises(
            ValueError, match=r"is of a fit of other rows or parameters. Name another file, or remove it"
        ):
            model.set_params(checkpoint=path).fit(X, y, X_target + moved)
    quick("DDC", max_epochs=1, checkpoint=path, verbose=1).fit(X, y, X_target)  # what is printed does not matter
    path.write_bytes(b"no checkpoint")
    with pytest.raises(ValueError, match=r"is not a checkpoint of lpjt.deep. Name another file"):
        quick("DDC", max_epochs=1, checkpoint=path).fit(X, y, X_target)
    with pytest.raises(FileNotFoundError, match=r"does not exist. Create it first"):
        quick("DDC", checkpoint=tmp_path / "nowhere" / "kept.pt").fit(X, y, X_target)


def test_a_checkpoint_that_executes_something_is_refused(tmp_path):
    import pickle

    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harm"), "w"))

    path = tmp_path / "bad.pt"
    torch.save({"owner": Harm()}, path, pickle_module=pickle)
    X, y, X_target, _ = moved_clusters()
    with pytest.raises(ValueError, match="is not a checkpoint"):
        quick("DDC", checkpoint=path).fit(X, y, X_target)
    assert not (tmp_path / "harm").exists()


# The learning rate.


def test_the_rate_falls_with_the_share_of_training_done(monkeypatch):
    rates = []
    step = torch.optim.Adam.step
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self: (rates.append(self.param_groups[0]["lr"]), step(self)))
    X, y, X_target, _ = moved_clusters()
    quick("SourceOnly", max_epochs=2, learning_rate=0.01).fit(X, y, X_target)
    assert_allclose(rates, 0.01 / (1 + 10 * np.arange(40) / 40) ** 0.75)


# Early stopping.


def test_training_ends_where_information_falls_and_the_best_weights_are_kept(monkeypatch):
    X, y, X_target, _ = moved_clusters()
    evidence = iter([0.1, 0.5, 0.4, 0.3, 0.2, 0.9])
    monkeypatch.setattr("lpjt.deep._base.information", lambda scores: next(evidence))
    model = quick("DDC", patience=3, max_epochs=6).fit(X, y, X_target)
    assert (model.n_iter_, model.best_iter_) == (5, 2)
    assert_array_equal(model.history_["evidence"], [0.1, 0.5, 0.4, 0.3, 0.2])
    monkeypatch.undo()
    kept = {}
    record = Training.record

    def keep(self, *args):
        record(self, *args)
        kept[self.epoch] = {name: tensor.clone() for name, tensor in self.network.state_dict().items()}

    monkeypatch.setattr(Training, "record", keep)
    quick("DDC", patience=None, max_epochs=6).fit(X, y, X_target)
    for name, found in weights(model).items():
        assert_allclose(found, kept[2][name].double().numpy(), rtol=0, atol=0)


def test_of_level_epochs_the_last_is_kept():
    training = Training(torch.nn.ModuleDict(), None, generator())
    for evidence in (0.5, 0.5 - _training.LEVEL / 2, 0.5 - 2 * _training.LEVEL):
        training.record(1.0, evidence)
    assert (training.best_epoch, training.best_evidence) == (2, 0.5)


@every
@pytest.mark.usefixtures("few_batches")
def test_labels_of_the_target_change_nothing_but_the_score(name):
    X, y, X_target, y_target = moved_clusters()
    model = quick(name, max_epochs=3, patience=1).fit(X, y, X_target)
    before = weights(model)
    scores = [model.score(X_target, (y_target + turn) % 3) for turn in range(3)]  # right labels, and wrong ones
    assert sum(scores) == pytest.approx(1)
    again = quick(name, max_epochs=3, patience=1).fit(X, y, X_target, np.full(len(y_target), -1))
    for key, found in weights(again).items():
        assert_array_equal(found, before[key])


def test_a_step_that_diverges_says_what_to_change():
    X, y, X_target, _ = moved_clusters()
    with pytest.raises(
        ValueError, match=r"Training diverged in epoch 1: the loss is .* smaller learning_rate than 1e\+20"
    ):
        quick("DDC", learning_rate=1e20, optimizer="sgd").fit(X, y, X_target)


def test_training_makes_the_loss_small():
    X, y, X_target, y_target = moved_clusters()
    model = quick("SourceOnly", max_epochs=20, patience=None).fit(X, y, X_target)
    assert model.history_["loss"][-1] < 0.1 * model.history_["loss"][0]
    assert accuracy(model, y_target) < 0.9
    assert np.mean(model.predict(X) == y) > 0.95
