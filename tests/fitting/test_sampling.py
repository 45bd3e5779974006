"""Learn on a sample, label everything: which rows are drawn, and what the labels of all rows are worth."""

import gc
import warnings
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lpjt import Propagation
from lpjt.core.propagation import unit_rows
from lpjt.domains import open_domains
from lpjt.fitting import graph, whole
from lpjt.fitting.adapt import adapt
from lpjt.fitting.memory import within_memory
from lpjt.fitting.sampling import draw_by_class, draw_sample, share_out
from lpjt.parameters import make_plan
from problems import masked, one_setting, shifted_pair, widened


def rng():
    return np.random.RandomState(0)


@given(counts=st.lists(st.integers(1, 1000), min_size=1, max_size=20), share=st.floats(0.01, 1))
def test_places_are_shared_out_in_proportion(counts, share):
    counts = np.array(counts)
    n = max(len(counts), int(share * counts.sum()))
    quota = share_out(n, counts)
    assert quota.sum() == n
    assert (quota >= 1).all()
    assert (quota <= counts).all()
    over_one = quota > 1
    assert (np.abs(quota - n * counts / counts.sum())[over_one] < len(counts)).all()


def test_a_sample_is_stratified_and_ascending():
    y = np.repeat([0, 1, 2], [9000, 900, 100])
    chosen = draw_sample(y, 1000, rng())
    assert_array_equal(chosen, np.unique(chosen))
    assert_array_equal(np.bincount(y[chosen]), [900, 90, 10])
    assert draw_sample(y, 10_000, rng()) is None


def test_labelled_rows_of_the_target_are_kept():
    y = np.full(1000, -1)
    y[::100] = np.arange(10) % 3
    chosen = draw_sample(y, 200, rng())
    assert len(chosen) == 200
    assert set(np.flatnonzero(y >= 0)) <= set(chosen)
    mostly = np.where(np.arange(1000) < 30, -1, np.arange(1000) % 3)  # few unlabelled rows: all of them
    chosen = draw_sample(mostly, 200, rng())
    assert len(chosen) == 200
    assert set(range(30)) <= set(chosen)


def test_a_class_of_one_row_is_drawn():
    y = np.r_[np.zeros(999, dtype=int), 1]
    assert 999 in draw_by_class(np.arange(1000), y, 50, rng())


def test_small_domains_are_fitted_on_all_their_rows():
    X, y, X_target, _ = shifted_pair(apart=1.5)
    one, other = (one_setting(random_state=0, sample_size=size).fit(X, y, X_target) for size in ("auto", None))
    assert_array_equal(one.label_distributions_, other.label_distributions_)


def quiet(model, *domains):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*domains)


OVERLAPPING = shifted_pair(n_source=3000, n_target=2500, width=12, n_classes=4, apart=1.2, shift=1.0)


def test_a_sample_is_as_accurate_as_every_row():
    """Within half a point, and far above the votes of the sample alone."""
    X, y, X_target, y_target = OVERLAPPING
    whole = quiet(one_setting(random_state=0), X, y, X_target)
    sampled = quiet(one_setting(random_state=0, sample_size=800), X, y, X_target)
    accuracy = [100 * np.mean(model.transduction_ == y_target) for model in (whole, sampled)]
    assert accuracy[0] > 85
    assert abs(accuracy[0] - accuracy[1]) <= 0.5
    assert sampled.sample_["source"].shape == (800,)


def test_labels_come_from_one_propagation_over_all_rows():
    """The rows of the sample have no part in the last labelling beyond the projections."""
    X, y, X_target, _ = OVERLAPPING
    model = quiet(one_setting(random_state=0, sample_size=800), X, y, X_target)
    Z = np.vstack([model.transform(X, "source"), model.transform(X_target)]).astype(np.float32)
    labels = np.concatenate([y, np.full(len(X_target), -1)])
    F = Propagation().classify(Z, labels, None, 4)
    np.testing.assert_allclose(model.label_distributions_, F, atol=1e-4)


def test_the_rows_of_the_sample_are_let_go_before_all_rows_are_labelled(monkeypatch):
    X, y, X_target, _ = shifted_pair()
    sampled, left = [], []
    gather, label_all = whole.gather_rows, whole._label_all

    def gathered(*arguments):
        few = gather(*arguments)
        sampled.extend(weakref.ref(d.X) for d in few.all)
        return few

    def labelled(*arguments):
        gc.collect()
        left.extend(reference() for reference in sampled)
        return label_all(*arguments)

    monkeypatch.setattr(whole, "gather_rows", gathered)
    monkeypatch.setattr(whole, "_label_all", labelled)
    one_setting(random_state=0, sample_size=50).fit(X, y, X_target)
    assert left == [None, None]


def test_shards_are_spreads_of_all_rows(monkeypatch):
    """A target sorted by class: shards of neighbouring rows would hold one class each and be bent to four."""
    X, y, X_target, y_target = OVERLAPPING
    order = np.argsort(y_target, kind="stable")
    whole = quiet(one_setting(random_state=0, sample_size=800), X, y, X_target[order])
    monkeypatch.setattr("lpjt.fitting.graph.SHARD_ROWS", 700)
    shards = quiet(one_setting(random_state=0, sample_size=800), X, y, X_target[order])
    accuracy = [100 * np.mean(model.transduction_ == y_target[order]) for model in (whole, shards)]
    assert abs(accuracy[0] - accuracy[1]) <= 2
    assert not np.array_equal(whole.label_distributions_, shards.label_distributions_)


@pytest.mark.parametrize(
    "parameters", [{}, {"classifier": "svm"}, {"classifier": "harmonic"}, {"kernel": "rbf"}], ids=str
)
def test_given_labels_are_kept_beyond_the_sample(parameters):
    X, y, X_target, y_target = OVERLAPPING
    given = masked(y_target, 5)
    model = quiet(one_setting(random_state=0, sample_size=100, **parameters), X, y, X_target, given)
    known = given >= 0
    assert_array_equal(model.transduction_[known], y_target[known])
    assert_array_equal(model.label_distributions_[known].max(axis=1), 1)
    assert np.mean(model.transduction_ == y_target) > 0.8


def test_different_widths_and_several_domains():
    X, y, X_target, y_target = OVERLAPPING
    targets = {"a": widened(X_target[:1200], 20), "b": X_target[1200:]}
    given = {"a": masked(y_target[:1200], 3)}
    sources, labels = {"s": X[:1400], "r": X[1400:]}, {"s": y[:1400], "r": y[1400:]}
    model = quiet(one_setting(random_state=0, sample_size=400), sources, labels, targets, given)
    assert {name: len(rows) for name, rows in model.sample_.items()} == dict.fromkeys("srab", 400)
    assert np.mean(model.transduction_["b"] == y_target[1200:]) > 0.8
    assert np.mean(model.transduction_["a"] == y_target[:1200]) > 0.6


def test_a_domain_without_a_shift_is_labelled_whole():
    X, y, _, _ = OVERLAPPING
    order = np.random.default_rng(0).permutation(len(X))
    first, second = order[:1500], order[1500:]
    model = quiet(one_setting(random_state=0, sample_size=300), X[first], y[first], X[second])
    assert not model.adapted_
    assert_array_equal(model.transduction_, model.predict(X[second]))


def test_weights_beyond_the_sample_are_those_of_the_nearest_sampled_row():
    X, y, X_target, _ = OVERLAPPING
    model = quiet(one_setting(random_state=0, sample_size=400, landmark_ratio=0.5), X, y, X_target)
    rows = model.sample_["source"]
    Z = model.transform(X, "source").astype(np.float32)
    nearest = ((Z[:50, None] - Z[rows]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_allclose(model.weights_source_[:50], model.weights_source_[rows][nearest])
    assert np.abs(model.weights_source_[rows].mean() - 0.5) < 1e-6
    assert model.weights_source_.dtype == np.float64
    assert np.linalg.norm(unit_rows(Z), axis=1).max() < 1.001


def test_rows_on_disk_are_sampled(tmp_path):
    h5py = pytest.importorskip("h5py")
    X, y, X_target, _ = OVERLAPPING
    expected = quiet(one_setting(random_state=0, sample_size=500), X, y, X_target)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        parts = [file.create_dataset(name, data=rows) for name, rows in (("s", X), ("t", X_target))]
        found = quiet(one_setting(random_state=0, sample_size=500), parts[0], y, parts[1])
    assert_array_equal(found.transduction_, expected.transduction_)


def test_a_sample_smaller_than_the_classes_is_refused():
    X, y, X_target, _ = OVERLAPPING
    with pytest.raises(ValueError, match=r"sample_size=7 is too small for 4 classes\. Set it to at least 8, two rows"):
        one_setting(sample_size=7).fit(X, y, X_target)


def test_a_small_sample_needs_less_memory_than_the_whole():
    X, y, X_target, _ = OVERLAPPING
    with pytest.raises(ValueError, match="lower sample_size, n_coordinates or n_components"):
        one_setting(memory_limit="17MB", sample_size=None, n_jobs=1).fit(X, y, X_target)
    model = quiet(one_setting(memory_limit="17MB", sample_size=300, random_state=0, n_jobs=1), X, y, X_target)
    assert len(model.sample_["target"]) == 300


def test_domains_that_are_not_sampled_keep_their_own_weights(monkeypatch):
    """No weight is looked up: equal rows of different classes have different weights."""
    X, y, X_target, _ = OVERLAPPING
    X, y = np.repeat(X[:150], 2, axis=0), np.repeat(y[:150], 2)
    y[1::10] = (y[1::10] + 1) % 4
    learned = []

    def spy(*given):
        learned.append(adapt(*given))
        return learned[-1]

    monkeypatch.setattr(whole, "adapt", spy)
    model = quiet(one_setting(random_state=0, sample_size=400, landmark_ratio=0.5), X, y, X_target)
    assert model.sample_["source"] is None
    assert_array_equal(model.weights_source_, learned[0].weights[0])


def test_a_source_alone_has_weights_for_all_rows():
    X, y, _, _ = OVERLAPPING
    model = quiet(one_setting(random_state=0, sample_size=100), X, y)
    assert model.weights_source_.shape == y.shape
    assert model.sample_["source"].shape == (100,)
    assert np.mean(model.predict(X) == y) > 0.85
    assert model.seconds_["predictor"] > 0


@pytest.mark.parametrize(
    ("n_source", "n_target", "expected"),
    [
        (40, 20, (40, 20)),  # all
        (500, 20, (80, 20)),  # the source alone is thinned
        (500, 300, (50, 50)),
        (30, 300, (30, 70)),
    ],
)
def test_labelled_rows_of_the_target_are_thinned_last(n_source, n_target, expected):
    labels = [np.arange(n_source) % 4, np.r_[np.full(50, -1), np.arange(n_target) % 4]]
    source, target = graph._choose_known(labels, 1, rng(), 100)
    assert (len(source), len(target)) == expected
    assert (labels[1][target] >= 0).all()
    assert_array_equal(np.unique(labels[0][source]), range(4))
    assert_array_equal(target, np.unique(target))


def test_a_limit_of_memory_counts_the_sample():
    """Copied rows count, whoever labels all rows afterwards."""
    X = np.random.default_rng(0).normal(size=(400, 500))
    domains = open_domains(X, np.arange(400) % 2, X + 1)
    copied = open_domains(X.copy(), np.arange(400) % 2, X + 1)
    plan = make_plan(one_setting().get_params(deep=False), classes=np.arange(2), widths=[500, 500], n_rows=400)

    def least(given):
        with pytest.raises(ValueError, match=r"needs at least (\d+)MB") as raised:
            within_memory(plan, given, "1MB", whole=domains, labels_here=False)
        return int(str(raised.value).split("at least ")[1].split("MB")[0])

    assert least(copied) - least(domains) == pytest.approx(2 * X.nbytes / 1e6, abs=1)


@pytest.mark.parametrize(("n_classes", "rows"), [(2, 10_000), (333, 10_000), (345, 10_350), (1000, 30_000)])
def test_with_hundreds_of_classes_a_fit_learns_from_thirty_rows_of_each(n_classes, rows):
    given = one_setting().get_params(deep=False)
    assert make_plan(given, classes=np.arange(n_classes), widths=[64, 64], n_rows=100_000).sample_size == rows
