"""Choices inside a fit that its labels alone would not show."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.svm import LinearSVC

from lpjt import Propagation
from lpjt.domains import open_domains
from lpjt.engines import LocalEngine
from lpjt.fitting import fit_domains, whole
from lpjt.fitting.sampling import share_out
from lpjt.parameters import make_plan
from problems import masked, one_setting, shifted_pair, widened

X, y, X_target, y_target = shifted_pair(apart=1.5)


def fit(*domains, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return one_setting(**{"random_state": 0, **parameters}).fit(*domains)


def calls_of(monkeypatch, owner, name):
    real, seen = getattr(owner, name), []

    def wrapped(self, *args, **options):
        seen.append((self, args, options))
        return real(self, *args, **options)

    monkeypatch.setattr(owner, name, wrapped)
    return seen


def test_a_fit_makes_the_allocator_keep_freed_memory(monkeypatch):
    called = []
    monkeypatch.setattr(whole, "keep_freed_memory", lambda: called.append(True))
    fit(X, y, X_target)
    assert called == [True]


def test_places_that_small_classes_took_are_given_back():
    assert_array_equal(share_out(4, np.array([1000, 1, 1, 1])), [1, 1, 1, 1])
    assert_array_equal(share_out(6, np.array([1000, 1, 1, 1])), [3, 1, 1, 1])
    assert_array_equal(share_out(10, np.array([60, 25, 15])), [6, 3, 1])


@pytest.mark.parametrize("sampled", [False, True])
def test_results_are_held_by_the_engine(sampled):
    class Marking(LocalEngine):
        """Holds results as lists."""

        def hold(self, values, like):
            assert len(values) == like.shape[0]
            return values.tolist()

    domains = open_domains(X, y, X_target)
    given = one_setting(random_state=0, sample_size=30 if sampled else None).get_params(deep=False)
    plan = make_plan(given, classes=np.arange(3), widths=[X.shape[1]] * 2, n_rows=len(X))
    outcome = fit_domains(domains, plan, Marking())
    assert all(isinstance(part, list) for part in outcome.weights)
    assert all(isinstance(part, list) != sampled for part in outcome.distributions)  # a shard's answer is held there


def test_all_rows_are_searched_as_asked(monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.setattr("lpjt.core.neighbors.COMPARED", 50)
    seen = calls_of(monkeypatch, Propagation, "classify")
    big = shifted_pair(n_source=700, n_target=600, apart=1.5)[:3]
    for search in ("exact", "approximate"):
        seen.clear()
        fit(*big, sample_size=100, neighbor_search=search, max_iter=1)
        (_, learned, how), (_, whole, how_whole) = seen
        assert (len(learned[0]), len(whole[0])) == (200, 1300)
        assert {how["search"], how_whole["search"]} == {search}


def test_distributions_of_all_rows_are_double_precision():
    for classifier in ("svm", "propagation"):
        assert fit(X, y, X_target, sample_size=30, classifier=classifier).label_distributions_.dtype == np.float64


@pytest.mark.parametrize("n_classes", [2, 3])
def test_few_labels_of_another_width_are_learned_from_by_a_linear_and_a_harmonic_rule(monkeypatch, n_classes):
    rows, labels, target, truth = shifted_pair(n_classes=n_classes)
    machines = calls_of(monkeypatch, LinearSVC, "fit")
    rules = calls_of(monkeypatch, Propagation, "classify")
    fit(rows, labels, widened(target, 20), masked(truth, 3), max_iter=1)
    assert len(machines) == 1
    assert [rule.anchored for rule, *_ in rules] == [False, True]  # the first labels, then the iteration


def test_one_known_class_leaves_nothing_to_separate(monkeypatch):
    machines = calls_of(monkeypatch, LinearSVC, "fit")
    given = np.where(np.arange(len(y_target)) == 0, y_target, -1)
    fit(X, y, widened(X_target, 20), given, max_iter=1)
    assert not machines


def test_other_targets_of_the_same_width_do_not_take_the_place_of_the_source(monkeypatch):
    starts = calls_of(monkeypatch, Propagation, "start")
    fit(X, y, {"a": X_target[:40], "b": X_target[40:]}, scaling="standard", max_iter=1)
    assert len(starts) == 2


def test_the_first_labels_predict_in_coordinates(monkeypatch):
    def one_class(self, Z, labels, weights, n_classes, *, search):
        return np.tile(np.eye(n_classes)[0], ((labels < 0).sum(), 1))

    monkeypatch.setattr(Propagation, "classify", one_class)
    model = fit(X, y, X_target)
    assert not model.adapted_
    assert (model._predictors["target"].n_neighbors, model._predictors["target"].unit_length) == (15, False)
    assert len(model._predictors["target"].rows) == len(X) + len(X_target)


def test_sparse_and_dense_domains_together():
    rows = [np.where(np.abs(part) > 1, part, 0) for part in (X, X_target)]
    for source, target in ((sparse.csr_array(rows[0]), rows[1]), (rows[0], sparse.csr_array(rows[1]))):
        model = fit(source, y, target, n_components=6)
        assert np.mean(model.transduction_ == y_target) > 0.8
        assert model.transform(target).shape == (len(X_target), 6)


@pytest.mark.parametrize(("shard_rows", "expected"), [(10_000, 1), (100, 6), (99, 7)])
def test_shards_are_counted(monkeypatch, shard_rows, expected):
    monkeypatch.setattr("lpjt.fitting.graph.SHARD_ROWS", shard_rows)
    sizes = []
    real = LocalEngine.map_shards

    def counted(self, function, rows, shards, labels, n_classes):
        sizes.extend(sum(map(len, shard)) for shard in shards)
        return real(self, function, rows, shards, labels, n_classes)

    monkeypatch.setattr(LocalEngine, "map_shards", counted)
    fit(*shifted_pair(n_source=90, n_target=600, apart=1.5)[:3], sample_size=60, max_iter=1)
    assert len(sizes) == expected
    assert sum(sizes) == 600
    assert max(sizes) <= shard_rows


def test_shards_of_the_plan_are_used(monkeypatch):
    numbers = []
    real = LocalEngine.map_shards

    def counted(self, function, rows, shards, labels, n_classes):
        numbers.append(len(shards))
        return real(self, function, rows, shards, labels, n_classes)

    monkeypatch.setattr(LocalEngine, "map_shards", counted)
    monkeypatch.setattr("lpjt.fitting.memory.SHARD_ROWS", 400)
    monkeypatch.setattr("lpjt.fitting.memory.FEWEST_SHARED", 50)
    monkeypatch.setattr("lpjt.fitting.memory._labelling", lambda domains, plan: 10**9 * (plan.shard_rows or 400) / 400)
    fit(*shifted_pair(n_source=90, n_target=600, apart=1.5)[:3], sample_size=60, max_iter=1, memory_limit="300MB")
    assert numbers == [6]  # of 100 rows each: a quarter of a gigabyte


def test_two_sampled_rows_per_class_are_enough():
    assert len(fit(X, y, X_target, sample_size=6, max_iter=1, n_components=2).sample_["source"]) == 6
    with pytest.raises(ValueError, match=r"sample_size=5 is too small for 3 classes\. Set it to at least 6"):
        fit(X, y, X_target, sample_size=5)


def test_a_guess_is_told_only_where_one_was_made():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        one_setting(random_state=0).fit(X, y, X_target)
    assert not any("which is a guess" in str(warning.message) for warning in caught)
    with pytest.warns(UserWarning, match="which is a guess"):
        one_setting(random_state=0).fit(X, y, widened(X_target, 20))


def test_given_labels_of_the_first_class_are_kept():
    """Also where the rows say otherwise."""
    given = np.full(len(y_target), -1)
    given[np.flatnonzero(y_target == 2)[0]] = 0
    assert fit(X, y, X_target, given).transduction_[given == 0] == 0


def test_the_authors_start_labels_each_target_by_its_own_rows():
    from sklearn.neighbors import KNeighborsClassifier

    targets = {"a": X_target[:30], "b": X_target[30:]}
    model = fit(X, y, targets, start="pca-nn", scaling=None, n_components=8, max_iter=1, safeguard=False, tol=1.0)
    alone = KNeighborsClassifier(1).fit(X / np.linalg.norm(X, axis=1)[:, None], y)
    first = alone.predict(X_target / np.linalg.norm(X_target, axis=1)[:, None])
    moved = np.mean(np.concatenate(list(model.transduction_.values())) != first)
    assert model.history_[0]["n_changed"] == round(moved * len(first))


def test_a_kernel_of_few_directions_has_few_coordinates():
    """Rows on a line: most of the directions that a kernel of 150 rows spans hold less than a thousandth together."""
    rng = np.random.default_rng(0)
    flat = [rng.normal(size=(n, 1)) @ rng.normal(size=(1, 6)) for n in (80, 70)]
    given = {"kernel": "rbf", "n_components": 2, "scaling": None, "safeguard": False, "max_iter": 1}
    cut, whole = (
        fit(flat[0], np.arange(80) % 2, flat[1], n_coordinates=n, **given).projections_["target"].shape[0]
        for n in ("auto", None)
    )
    assert cut < whole / 2
