"""What a fit tells about its own labels: estimated accuracy, confidence, absent classes, words and warnings."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lpjt import LPJT, TransferWarning
from lpjt.domains import open_domains
from lpjt.fitting.plan import Outcome
from lpjt.selection.trust import Facts, Trust, judge
from problems import masked, shifted_pair
from trials import plan_for


def fit(*given, **parameters):
    """A fit, and the texts of its warnings about labels."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LPJT(**{"random_state": 0, **parameters}).fit(*given)
    return model, [str(w.message) for w in caught if issubclass(w.category, TransferWarning)]


def stretched(seed):
    """Two classes, and a target that is moved by a constant and stretched: X, X_target, and y of both."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 5)) + 4 * y[:, None]
    return X, 1.5 * rng.normal(size=(60, 5)) + 6 * y[:, None] + 3, y


def lacking(seed, n_classes=4, width=8):
    """A target without a shift, and without the last half of the classes: X, y, X_target, y_target."""
    rng = np.random.default_rng(seed)
    centres = 4 * rng.normal(size=(n_classes, width))
    y, y_target = np.arange(30 * n_classes) % n_classes, np.arange(60) % (n_classes // 2)
    names = np.array([f"class {i}" for i in range(n_classes)])
    rows = [centres[codes] + rng.normal(size=(len(codes), width)) for codes in (y, y_target)]
    return rows[0], names[y], rows[1], names[y_target]


def halves(seed=0):
    """One set of three classes that overlap, cut in two: X, y, X_target, y_target."""
    rng = np.random.default_rng(seed)
    y = np.arange(120) % 3
    X = 2 * rng.normal(size=(3, 8))[y] + 2 * rng.normal(size=(120, 8))
    return X[:60], y[:60], X[60:], y[60:]


def confidence(F):
    return F.max(axis=1).mean()


@pytest.fixture(scope="module")
def on_halves():
    X, y, X_target, y_target = halves()
    return *fit(X, y, X_target), X_target, y_target


@pytest.mark.parametrize("seed", range(3))
def test_a_target_moved_and_stretched_is_adapted(seed):
    X, X_target, y = stretched(seed)
    model, texts = fit(X, y, X_target)
    assert model.adapted_
    assert np.mean(model.transduction_ == y) > 0.95
    assert texts == []
    assert model.summary_.startswith("The labels come from adaptation")
    low, high = model.estimated_accuracy_interval_
    assert low <= np.mean(model.transduction_ == y) <= high


def tumours(seed, *, thinned):
    """Real rows of two classes, cut in two; the columns of the second half are moved, and few are benign if thinned."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    source, target = order[: len(y) // 2], order[len(y) // 2 :]
    if thinned:
        benign = target[y[target] == 1]
        target = np.concatenate([target[y[target] == 0], benign[: len(benign) // 20]])
    return X[source], y[source], X[target] + 0.7 * rng.normal(size=X.shape[1]) * X.std(axis=0), y[target]


@pytest.mark.parametrize("seed", range(2))
def test_columns_that_moved_are_told_from_other_proportions_or_there_is_an_alarm(seed):
    X, y, X_target, y_target = tumours(seed, thinned=False)
    model, texts = fit(X, y, X_target)
    assert np.mean(model.transduction_ == y_target) > 0.95
    assert texts == []
    X, y, X_target, y_target = tumours(seed, thinned=True)
    model, texts = fit(X, y, X_target)
    accuracy, (low, high) = np.mean(model.transduction_ == y_target), model.estimated_accuracy_interval_
    assert accuracy < model.estimated_accuracy_ - 0.2  # labels of equal proportions are sure, and wrong
    assert low <= accuracy <= high
    assert any(text.startswith("Scaled by the source's statistics, ") for text in texts)
    model, texts = fit(X, y, X_target, scaling="source")  # as the alarm says, if columns did not move much
    assert np.mean(model.transduction_ == y_target) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_classes_that_the_target_lacks_are_named(seed):
    X, y, X_target, y_target = lacking(seed)
    model, texts = fit(X, y, X_target)
    assert np.mean(model.transduction_ == y_target) > 0.95
    assert_array_equal(model.absent_classes_, ["class 2", "class 3"])
    assert texts == ["2 of 4 classes seem to be absent from the target: class 2, class 3."]
    assert texts[0] in model.summary_
    assert "other class proportions" in model.summary_
    assert_allclose(model.target_proportions_, [0.5, 0.5, 0, 0], atol=0.05)


def test_the_mean_confidence_is_the_estimated_accuracy(on_halves):
    model, _, X_target, _ = on_halves
    assert_allclose(confidence(model.label_distributions_), model.estimated_accuracy_, atol=1e-2)
    assert_allclose(confidence(model.predict_proba(X_target)), model.estimated_accuracy_, atol=0.1)


def test_halves_of_one_set_are_labelled_without_certainty_and_without_alarm(on_halves):
    model, texts, _, y_target = on_halves
    assert texts == []
    assert model.label_distributions_.max(axis=1).min() < 0.9
    assert not (model.label_distributions_.max(axis=1) == 1).all()
    assert model.estimated_accuracy_ < 1
    assert_allclose(np.mean(model.transduction_ == y_target), model.estimated_accuracy_, atol=0.15)
    assert len(model.absent_classes_) == 0


def test_attributes_are_of_their_kind(on_halves):
    model, *_ = on_halves
    assert isinstance(model.summary_, str)
    assert model.summary_.endswith(".")
    assert isinstance(model.estimated_accuracy_, float)
    low, high = model.estimated_accuracy_interval_
    assert 0 <= low < model.estimated_accuracy_ < high <= 1
    assert f"between {100 * low:.0f} and {100 * high:.0f} %" in model.summary_
    assert model.target_proportions_.shape == (3,)
    assert_allclose(model.target_proportions_.sum(), 1, rtol=1e-12)
    counts = np.unique(model.transduction_, return_counts=True)[1]
    assert_allclose(model.target_proportions_, counts / 60)
    assert len(model.candidates_) > 0


def test_given_labels_stay_certain_and_do_not_count_for_the_confidence():
    X, y, X_target, y_target = halves(1)
    given = masked(y_target, 4)
    model, _ = fit(X, y, X_target, given)
    F, known = model.label_distributions_, given >= 0
    assert_array_equal(F[known], np.eye(3)[y_target[known]])
    assert_array_equal(model.transduction_[known], y_target[known])
    assert_allclose(confidence(F[~known]), model.estimated_accuracy_, atol=1e-2)
    assert (F[~known].max(axis=1) < 1).any()


def test_all_labels_given():
    X, y, X_target, y_target = halves(2)
    model, _ = fit(X, y, X_target, y_target)
    assert_array_equal(model.label_distributions_, np.eye(3)[y_target])
    assert_array_equal(model.transduction_, y_target)
    assert 0 <= model.estimated_accuracy_ <= 1


def test_the_estimate_is_of_several_targets_together():
    X, y, X_target, _ = halves(3)
    model, _ = fit(X, y, {"a": X_target[:25], "b": X_target[25:]})
    stacked = np.vstack(list(model.label_distributions_.values()))
    assert_allclose(confidence(stacked), model.estimated_accuracy_, atol=1e-2)
    counts = np.bincount(np.concatenate(list(model.transduction_.values())), minlength=3)
    assert_allclose(model.target_proportions_, counts / 60)


@pytest.mark.parametrize("refine", [True, False])
def test_labels_of_rows_beyond_the_sample_are_calibrated_too(refine):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 3
    X = 1.2 * rng.normal(size=(3, 8))[y] + 2 * rng.normal(size=(400, 8))
    model, _ = fit(X[:200], y[:200], X[200:] + 2, sample_size=60, refine=refine)
    assert model.adapted_
    assert_allclose(confidence(model.label_distributions_), model.estimated_accuracy_, atol=0.08)


def test_without_candidates_the_interval_is_wide():
    X, y, X_target, _ = shifted_pair(n_source=60, n_target=60, apart=1.0)
    model, _ = fit(X, y, X_target, candidates=None)
    assert model.candidates_ == []
    assert_allclose(model.estimated_accuracy_, confidence(model.label_distributions_), rtol=1e-10)
    low, high = model.estimated_accuracy_interval_
    assert 0 <= low < model.estimated_accuracy_ < high <= 1
    assert high - low >= 0.3
    assert high == 1.0 or high - low >= 0.59


def test_without_a_target_there_is_nothing_to_trust():
    X, y, *_ = halves()
    model, texts = fit(X, y)
    assert model.estimated_accuracy_ is None
    assert model.estimated_accuracy_interval_ is None
    assert model.target_proportions_ is None
    assert len(model.absent_classes_) == 0
    assert model.candidates_ == []
    assert model.summary_ == "There was no target to label."
    assert texts == []


def test_the_same_seed_gives_the_same_trust(on_halves):
    X, y, X_target, _ = halves()
    again, _ = fit(X, y, X_target)
    assert again.estimated_accuracy_ == on_halves[0].estimated_accuracy_
    assert again.summary_ == on_halves[0].summary_


def warned(trust, proportions, **given):
    """Texts of the warnings of an outcome that has nothing but this trust."""
    domains = open_domains(*halves()[:3])
    verdict = judge(
        trust,
        adapted=True,
        view="standard",
        proportions=np.array(proportions),
        of_source=np.full(3, 1 / 3),
        classes=domains.classes,
    )
    nothing = Outcome((), (np.zeros((8, 2)),), (), (), (), adapted=True, scaling="standard")
    outcome = replace(nothing, trust=trust, verdict=verdict, sample=(None, None), **given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LPJT()._warn(outcome, plan_for(domains), domains)
    assert all(w.category is TransferWarning for w in caught)
    return [str(w.message) for w in caught]


def test_a_bad_fit_gives_warnings():
    bad = Facts(agreement=0.3, adapted=0.3, certainty=0.3)
    texts = warned(Trust(0.4, 0.2, 0.6, 1.0, bad), [0.5, 0.5, 0.0], messages=["Adaptation got worse."])
    assert texts == [
        "Adaptation got worse.",
        "1 of 3 classes seem to be absent from the target: 2.",
        "The candidates disagree: on average 30 % of them give a row its label.",
        "Trust is low: check some labels by hand, or label a few target rows (y_target).",
    ]
    good = replace(bad, agreement=0.9)
    assert warned(Trust(0.9, 0.8, 1.0, 1.0, good), [0.3, 0.3, 0.4]) == []


@pytest.mark.parametrize("kept", [(0, 1, 2, 3, 4), (1, 3, 5, 7, 9)])
def test_a_target_that_lacks_half_of_the_classes_is_far_above_no_adaptation(kept):
    """Digits that are smeared to the right, of which the target has five of ten; baselines scaled by the source."""
    X, y = load_digits(return_X_y=True)
    chosen = np.flatnonzero(np.isin(y[900:1700], kept)) + 900
    images = X[chosen].reshape(-1, 8, 8)
    X_target, y_target = (images + np.roll(images, 1, axis=2)).reshape(-1, 64), y[chosen]
    model, _ = fit(X[:700], y[:700], X_target)
    scaler = StandardScaler().fit(X[:700])
    rows, rows_target = scaler.transform(X[:700]), scaler.transform(X_target)
    without = [
        rule.fit(rows, y[:700]).score(rows_target, y_target)
        for rule in (KNeighborsClassifier(1), LinearSVC(tol=0.1, random_state=0))
    ]
    right = np.mean(model.transduction_ == y_target)
    assert right > max(without) + 0.2
    assert set(model.absent_classes_) <= set(range(10)) - set(kept)
    assert len(model.absent_classes_) >= 4
    low, high = model.estimated_accuracy_interval_
    assert low <= right <= high


def test_new_source_rows_keep_the_proportions_of_the_source():
    """The target lacks half of the classes; a row of the source may still be of any."""
    rng = np.random.default_rng(0)
    centres = 1.2 * rng.normal(size=(6, 12))
    y, y_target = np.arange(300) % 6, np.arange(150) % 3
    X, X_target = (centres[labels] + rng.normal(size=(len(labels), 12)) for labels in (y, y_target))
    X_new = centres[y] + rng.normal(size=X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(random_state=0).fit(X, y, X_target)
        plain = LPJT(random_state=0, target_proportions="source").fit(X, y, X_target)
        of_source, expected = (m.predict(X_new, domain="source") for m in (model, plain))
    assert np.mean(model.transduction_ < 3) > 0.9  # the target's proportions are found
    assert np.mean(of_source == y) > np.mean(expected == y) - 0.03
    assert abs(np.mean(of_source < 3) - 0.5) < 0.1
