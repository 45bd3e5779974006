"""What is decided without target labels: whether to adapt, which scaling, which iteration."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from lpjt import LPJT, Propagation
from lpjt.fitting import adapt
from lpjt.selection import evidence
from problems import masked, one_setting, shifted_pair, widened


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def thinned(X, y, shares):
    """Rows of class c kept in the share of c."""
    keep = np.concatenate([np.flatnonzero(y == c)[: round((y == c).sum() * share)] for c, share in enumerate(shares)])
    return X[keep], y[keep]


@pytest.mark.parametrize("kind", ["same", "proportions", "missing"])
def test_halves_of_one_domain_are_not_adapted(digits, kind):
    X, y = digits
    X_source, y_source, X_target, y_target = X[:800], y[:800], X[800:], y[800:]
    shares = {"same": np.ones(10), "proportions": np.geomspace(1, 0.1, 10), "missing": np.r_[0, 0, np.ones(8)]}[kind]
    X_target, y_target = thinned(X_target, y_target, shares)
    with pytest.warns(UserWarning, match="No shift found"):
        model = one_setting(random_state=0).fit(X_source, y_source, X_target)
    assert not model.adapted_
    without = KNeighborsClassifier(1).fit(X_source, y_source).score(X_target, y_target)
    assert np.mean(model.transduction_ == y_target) >= without - 0.01
    assert_array_equal(model.predict(X_target), model.transduction_)


@pytest.mark.parametrize("shares", [np.geomspace(1, 0.1, 10), np.r_[0, 0, np.ones(8)]], ids=["proportions", "missing"])
def test_a_shifted_target_of_other_proportions_is_not_bent_to_the_source(digits, shares):
    X, y = digits
    X_target, y_target = thinned(X[800:], y[800:], shares)
    images = X_target.reshape(-1, 8, 8)
    moved = (images + np.roll(images, 1, axis=2)).reshape(-1, 64)  # every stroke drawn twice as broad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = one_setting(random_state=0).fit(X[:800], y[:800], moved)
    without = KNeighborsClassifier(1).fit(X[:800], y[:800]).score(moved, y_target)
    assert model.adapted_
    assert np.mean(model.transduction_ == y_target) >= without - 0.01


def test_a_shift_is_found():
    X, y, X_target, y_target = shifted_pair()
    assert evidence.domain_mixing(X, y, X_target, y_target) < 0.5
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    first, second = order[:45], order[45:]
    assert evidence.domain_mixing(X[first], y[first], X[second], y[second]) > 0.8


def test_class_proportions_cancel_in_the_mixing():
    rng = np.random.default_rng(0)
    y, y_target = rng.choice(3, 600, p=[0.6, 0.3, 0.1]), rng.choice(3, 600, p=[0.1, 0.3, 0.6])
    X, X_target = (rng.normal(size=(600, 4)) + 3 * labels[:, None] for labels in (y, y_target))
    assert_allclose(evidence.domain_mixing(X, y, X_target, y_target), 1, atol=0.15)


@pytest.mark.parametrize(
    ("locality_weight", "returned"), [(0.05, "iteration 1"), (0.5, "the start")], ids=["slowly", "at once"]
)
def test_a_collapse_is_seen_and_an_earlier_labelling_returned(locality_weight, returned):
    """Weights that collapse on real digits: a graph of three neighbours that follows the source's proportions."""
    X, y = load_digits(return_X_y=True)
    images = X[900:1200].reshape(-1, 8, 8)
    X_target, y_target = (images + np.roll(images, 1, axis=2)).reshape(-1, 64), y[900:1200]
    rule = Propagation(n_neighbors=3, anchored=False)
    given = {"locality_weight": locality_weight, "variance_weight": 1.0, "coupling_weight": 0.0, "classifier": rule}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collapsed = one_setting(20, random_state=0, safeguard=False, **given).fit(X[:300], y[:300], X_target)
    with pytest.warns(UserWarning, match=f"Adaptation got worse after {returned}"):
        guarded = one_setting(20, random_state=0, **given).fit(X[:300], y[:300], X_target)
    left = [evidence.effective_classes(model.label_distributions_) for model in (collapsed, guarded)]
    right = [np.mean(model.transduction_ == y_target) for model in (collapsed, guarded)]
    assert left[0] < 2
    assert left[1] > 6
    assert right[0] < 0.25
    assert right[1] > right[0] + 0.3


@pytest.mark.parametrize("safeguard", [True, False])
def test_the_iteration_before_a_class_is_lost_is_returned(monkeypatch, safeguard):
    """Iterations 1 and 2 have all classes, later ones call every row of class 2 a 1: iteration 2 is returned."""
    X, y, X_target, y_target = shifted_pair()
    calls = []

    def decline(self, Z, labels, weights, n_classes, *, search):
        calls.append(1)
        answer = y_target.copy()
        if len(calls) == 1:
            answer[:6] = (answer[:6] + 1) % 3
        elif len(calls) > 2:
            answer[answer == 2] = 1
            answer[: len(calls)] = len(calls) % 2  # never steady
        return np.eye(n_classes)[answer]

    monkeypatch.setattr(Propagation, "classify", decline)
    model = one_setting(random_state=0, scaling="standard", max_iter=5, safeguard=safeguard)
    if not safeguard:
        with pytest.warns(UserWarning, match="still changed"):
            model.fit(X, y, X_target)
        assert 2 not in model.transduction_
        return
    said = (
        r"got worse after iteration 2: the evidence fell from .*, the labels fell from 3 to 2 classes.* by iteration 5"
    )
    with pytest.warns(UserWarning, match=said):
        model.fit(X, y, X_target)
    assert model.adapted_
    assert [row["n_classes"] for row in model.history_] == [3, 3, 2, 2, 2]
    assert_array_equal(model.transduction_, y_target)


def test_the_start_is_kept_if_every_iteration_loses_the_classes(monkeypatch):
    def one_class(self, Z, labels, weights, n_classes, *, search):
        return np.tile(np.eye(n_classes)[0], ((labels < 0).sum(), 1))

    X, y, X_target, y_target = shifted_pair()
    monkeypatch.setattr(Propagation, "classify", one_class)
    with pytest.warns(UserWarning, match="effective number of classes fell from 3.0 to 1.0"):
        model = one_setting(random_state=0).fit(X, y, X_target)
    assert not model.adapted_
    assert np.mean(model.transduction_ == y_target) > 0.9
    assert np.mean(model.predict(X_target) == y_target) > 0.9


def test_mutual_information_by_hand():
    F = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert_allclose(evidence.mutual_information(F), 1)
    assert_allclose(evidence.mutual_information(np.full((4, 2), 0.5)), 0, atol=1e-12)
    assert_allclose(evidence.mutual_information(np.array([[1.0, 0.0], [1.0, 0.0]])), 0, atol=1e-12)
    assert_allclose(evidence.effective_classes(F), 2)


def test_scaling_is_chosen_by_what_shows_the_classes():
    """A column in other units hides the classes from unit rows; z-scores bring them back."""
    X, y, X_target, y_target = shifted_pair()
    rng = np.random.default_rng(0)
    X, X_target = (np.column_stack([part, 1e4 * rng.normal(size=len(part))]) for part in (X, X_target))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = one_setting(random_state=0).fit(X, y, X_target)
    assert model.scaling_ == "standard"
    assert np.mean(model.transduction_ == y_target) > 0.85


def test_first_labels_of_domains_of_any_width_label_new_rows(monkeypatch):
    """If every iteration collapsed: each width has its own coordinates, even if their number is the same."""
    X, y, X_target, y_target = shifted_pair(n_source=150, n_target=120, width=10)
    targets = {"same": X_target, "wide": widened(X_target, 16), "narrow": X_target[:, :6]}
    given = {"wide": masked(y_target, 8), "narrow": masked(y_target, 8)}
    monkeypatch.setattr(adapt, "_best_iteration", lambda candidate: None)
    with pytest.warns(UserWarning, match="got worse after the start"):
        model = one_setting(random_state=0, n_coordinates=6).fit({"source": X}, {"source": y}, targets, given)
    assert not model.adapted_
    assert {P.shape[0] for P in model.projections_.values()} == {6}
    assert len({id(predictor) for predictor in model._predictors.values()}) == 3
    for name, rows in targets.items():
        assert np.mean(model.predict(rows, name) == model.transduction_[name]) > 0.8
    assert np.mean(model.predict(X, "source") == y) > 0.9


def test_sources_of_any_width_are_learned_each_by_itself():
    X, y, _, _ = shifted_pair(n_source=200, width=10)
    sources, labels = {"a": X[:100], "b": widened(X[100:], 16)}, {"a": y[:100], "b": y[100:]}
    model = one_setting(random_state=0, n_coordinates=None).fit(sources, labels)
    assert model._predictors["a"].rows.shape == (100, 10)
    assert model._predictors["b"].rows.shape == (100, 16)
    for name in sources:
        assert np.mean(model.predict(sources[name], name) == labels[name]) > 0.9


def test_after_a_collapse_of_the_whole_fit_the_consensus_is_returned(monkeypatch):
    X, y, X_target, y_target = shifted_pair()
    monkeypatch.setattr("lpjt.fitting.adapt._best_iteration", lambda candidate: None)
    with pytest.warns(UserWarning, match="labels of the consensus of the candidates are returned"):
        model = LPJT(random_state=0).fit(X, y, X_target)
    assert model.adapted_ is False
    assert model.history_
    assert model.candidates_
    assert np.mean(model.transduction_ == y_target) > 0.9
