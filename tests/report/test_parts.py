"""The numbers of a report, against numbers that are known."""

from copy import copy

import numpy as np
import pytest
from pages import plain, shapes
from scipy.stats import ks_2samp
from sklearn.metrics import accuracy_score, confusion_matrix

from lpjt.report.checks import check_labels
from lpjt.report.doubt import rows_worth_a_look, weigh_confidence
from lpjt.report.layout import draw_domains
from lpjt.report.rows import Given, collect_rows
from lpjt.report.shift import compare_columns, find_far_rows
from lpjt.report.story import explain_choice, find_worries, give_verdict
from lpjt.report.text import clean, count, listing, short


def domains(**given):
    return collect_rows(plain()[0], Given(**given))


def test_the_column_that_moved_is_the_first():
    X = plain()[1]
    moved = np.array(X)
    moved[:, 2] += 50
    found = compare_columns(domains(X=X, X_target=moved[: len(plain()[3])]))
    assert found.columns[0].name == "column 2"
    assert found.columns[0].distance == 1
    same = next((c for c in found.columns if c.name == "column 1"), None)
    assert same is None or same.distance < found.by_chance
    assert found.n_shifted >= 1


def test_distances_are_those_of_kolmogorov_and_smirnov():
    _, X, _, X_target, _ = plain()
    found = compare_columns(domains(X=X, X_target=X_target))
    for column in found.columns:
        j = int(column.name.split()[1])
        assert column.distance == pytest.approx(ks_2samp(X[:, j], X_target[:, j]).statistic)
        assert column.means == pytest.approx((X[:, j].mean(), X_target[:, j].mean()))
        assert [part.sum() for part in column.histograms] == pytest.approx([1, 1])


def test_few_columns_of_equal_domains_shift():
    rng = np.random.default_rng(0)
    _, X, _, X_target, _ = plain()
    pool = rng.normal(size=(len(X) + len(X_target), X.shape[1]))
    found = compare_columns(domains(X=pool[: len(X)], X_target=pool[len(X) :]))
    assert found.n_shifted == 0


def test_widths_that_differ_have_no_columns_to_compare():
    model, rows = shapes()["widths"]
    assert compare_columns(collect_rows(model, Given(X=rows["X"], X_target=rows["X_target"]))) is None


def test_rows_far_away_are_found():
    model, X, _, X_target, _ = plain()
    far = find_far_rows(model, domains(X=X, X_target=X_target))
    assert far.n_rows == len(X_target)
    assert all(multiple > 1 for _, _, multiple in far.rows)
    multiples = [multiple for _, _, multiple in far.rows]
    assert multiples == sorted(multiples, reverse=True)


def test_checks_agree_with_scikit_learn():
    model, _, _, _, y_target = plain()
    some = np.array(y_target, dtype=object)
    some[::3] = None
    known = np.array([value is not None for value in some])
    found = check_labels(domains(y_true=some), model.classes_)
    true, predicted = y_target[known], model.transduction_[known]
    assert found.accuracy == accuracy_score(true, predicted)
    np.testing.assert_array_equal(found.matrix, confusion_matrix(true, predicted, labels=model.classes_))
    assert found.low < found.accuracy < found.high or found.accuracy == 1
    assert all(found.matrix[i, j] == n for i, j, n in found.mixed_up)


def test_classes_that_no_source_has_count_as_wrong():
    model, _, _, _, y_target = plain()
    other = np.array(y_target)
    other[:5] = 99
    found = check_labels(domains(y_true=other), model.classes_)
    assert found.n_foreign == 5
    assert found.n_rows == len(y_target)


def test_confidence_counts_every_row_and_keeps_fewer_at_higher_thresholds():
    model, _, _, _, y_target = plain()
    found = weigh_confidence(domains(y_true=y_target), model.classes_)
    assert found.counts.sum() == found.n_rows == len(y_target)
    assert found.mean == pytest.approx(model.label_distributions_.max(axis=1).mean())
    kept = [line.n_rows for line in found.kept]
    assert kept == sorted(kept, reverse=True)
    sure = model.label_distributions_.max(axis=1) >= 0.9
    if sure.any():
        assert found.kept[3].measured == np.mean((model.transduction_ == y_target)[sure])


@pytest.mark.parametrize("with_rows", [True, False])
def test_rows_worth_a_look_are_in_doubt_and_different(with_rows):
    model, _, _, X_target, _ = plain()
    target = domains(X_target=X_target if with_rows else None)[-1]
    rows = rows_worth_a_look(model, target, 6)
    assert 1 <= len(rows) <= 6
    assert len(set(rows.tolist())) == len(rows)
    assert rows.tolist() == model.rows_to_label(6).tolist()
    confidence = model.label_distributions_.max(axis=1)
    assert confidence[rows].mean() < confidence.mean()


def test_rows_that_were_given_a_label_are_not_asked_for():
    model, rows = shapes()["widths"]
    target = collect_rows(model, Given(X_target=rows["X_target"], y_target=rows["y_target"]))[-1]
    chosen = rows_worth_a_look(model, target, 10)
    assert (rows["y_target"][chosen] == -1).all()


def test_places_are_in_the_unit_square_and_near_rows_stay_near():
    model, X, y, X_target, _ = plain()
    drawn = draw_domains(model, domains(X=X, y=y, X_target=X_target), max_rows=10_000)
    for panel in drawn.panels:
        assert ((panel.places >= -0.03) & (panel.places <= 1.03)).all()
    after = drawn.panels[-1].places[: len(X)]
    distance = np.linalg.norm(after[:, None] - after[None], axis=2)
    same = y[:, None] == y[None]
    assert distance[same].mean() < distance[~same].mean()


def test_the_verdict_follows_the_estimate():
    class Model:
        estimated_accuracy_ = None

    model, levels = Model(), []
    for value in (None, 0.3, 0.7, 0.95):
        model.estimated_accuracy_ = value
        levels.append(give_verdict(model).level)
    assert levels == ["none", "stop", "check", "good"]


def test_worries_are_sorted_and_speak_of_what_is_there():
    model, X, _, X_target, _ = plain()
    moved = np.array(X_target)
    moved[:, 0] += 1000
    rows = domains(X=X, X_target=moved)
    titles = [worry.title for worry in find_worries(model, rows, shifts=compare_columns(rows))]
    assert "Columns far apart" in titles
    levels = [["stop", "check", "note"].index(worry.level) for worry in find_worries(model, rows)]
    assert levels == sorted(levels)
    none, _ = shapes()["no target"]
    assert find_worries(none, []) == []


@pytest.mark.parametrize(("n_changed", "told"), [(0, False), (5, True)])
def test_labels_that_still_moved_are_a_worry_after_any_number_of_iterations(n_changed, told):
    model = copy(plain()[0])
    model.adapted_, model.history_ = True, [{"n_changed": n_changed}]  # fewer than max_iter: a candidate had the others
    assert ("Still moving" in [worry.title for worry in find_worries(model, [])]) == told


def test_the_choice_is_explained():
    model = plain()[0]
    words = explain_choice(model.candidates_)
    assert f"out of {len(model.candidates_)}" in words
    assert "as it is" in explain_choice(model.candidates_, adapted=False)
    assert explain_choice([]) == ""


def test_words():
    assert clean("a\x00b\n c‮") == "a\N{REPLACEMENT CHARACTER}b c\N{REPLACEMENT CHARACTER}"
    assert len(clean("y" * 1000, 20)) == 20
    assert clean("") == "(blank)"
    assert clean("\ud800") == "\N{REPLACEMENT CHARACTER}"
    assert count(1, "row") == "1 row"
    assert count(1234, "class", "classes") == "1,234 classes"
    assert listing(list("abcdef"), 2) == "a, b and 4 more"
    assert short(0.00001) == "1.00e-05"
