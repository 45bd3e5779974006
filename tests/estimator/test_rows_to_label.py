"""Rows to label next: which are returned, for every shape of target, and after a file."""

import numpy as np
import pytest

import lpjt
from lpjt import LPJT, TableAdapter
from lpjt.baselines import NearestNeighbor
from problems import masked, one_setting, shifted_pair, widened

X, Y, X_TARGET, Y_TARGET = shifted_pair(apart=1.0)


def fitted(y_target=None, X_target=X_TARGET, **more):
    return one_setting(random_state=0, max_iter=2, **more).fit(X, Y, X_target, y_target)


def test_rows_are_different_and_more_of_them_include_the_rows_of_classes():
    model = fitted()
    rows = model.rows_to_label(20)
    assert len(rows) == len(set(rows.tolist())) == 20
    assert rows.dtype.kind == "i"
    assert len(model.rows_to_label()) == 20
    assert len(model.rows_to_label(5)) == 5
    confidence = model.label_distributions_.max(axis=1)
    assert confidence[rows].mean() < confidence.mean()


def test_more_than_there_are_gives_all_rows_without_a_label():
    given = masked(Y_TARGET, 5)
    rows = fitted(given).rows_to_label(200)
    assert set(rows.tolist()) == set(np.flatnonzero(given < 0).tolist())
    assert len(rows) == (given < 0).sum()


def test_no_row_is_left_if_all_are_labelled():
    assert fitted(Y_TARGET).rows_to_label(5).tolist() == []


def test_two_target_rows():
    assert sorted(fitted(X_target=X_TARGET[:2]).rows_to_label(5).tolist()) == [0, 1]


def test_targets_by_name_have_rows_of_their_own():
    rows = fitted(X_target={"a": X_TARGET[:30], "b": X_TARGET[30:]}).rows_to_label(7)
    assert {name: len(part) for name, part in rows.items()} == {"a": 7, "b": 7}
    assert rows["a"].max() < 30
    assert rows["b"].max() < 45


def test_a_stack_has_positions_among_its_target_rows():
    """Target rows first, of two domains in turn; one of them has all labels."""
    domain = np.concatenate([np.where(np.arange(75) % 2, -2, -3), np.full(90, 1)])
    y = np.concatenate([np.where(np.arange(75) % 2, Y_TARGET, -1), Y])
    model = one_setting(random_state=0, max_iter=2).fit(np.vstack([X_TARGET, X]), y, sample_domain=domain)
    rows = model.rows_to_label(200)
    assert sorted(rows.tolist()) == list(range(0, 75, 2))


def test_a_large_target_is_asked_by_a_part_of_it(monkeypatch):
    monkeypatch.setattr("lpjt.fitting.asking.COMPARED_FREE", 10)
    rows = fitted().rows_to_label(50)
    assert len(rows) == 10
    assert rows.max() > 37


@pytest.mark.parametrize(
    ("n", "words"), [(0, "at least 1"), (2.5, "at least 1"), (True, "at least 1"), (501, "500 rows that a fit")]
)
def test_a_wrong_number_is_refused(n, words):
    with pytest.raises(ValueError, match=words):
        fitted().rows_to_label(n)


def test_without_a_target_it_says_so():
    with pytest.raises(ValueError, match="no target"):
        one_setting().fit(X, Y).rows_to_label(3)


def test_a_saved_model_asks_for_the_same_rows(tmp_path):
    model = fitted()
    model.save(tmp_path / "model.lpjt")
    assert lpjt.load(tmp_path / "model.lpjt").rows_to_label(30).tolist() == model.rows_to_label(30).tolist()


def test_dask_rows_are_asked_for_as_arrays_are():
    da = pytest.importorskip("dask.array", reason="needs dask")
    lazy = fitted(X_target=da.from_array(X_TARGET, chunks=(20, -1)))
    assert len(lazy.rows_to_label(9)) == 9


def test_an_adapter_asks_as_the_model_in_it():
    pytest.importorskip("pandas", reason="needs pandas")
    adapter = TableAdapter(one_setting(random_state=0, max_iter=2)).fit(X, Y, X_TARGET)
    assert adapter.rows_to_label(4).tolist() == adapter.estimator_.rows_to_label(4).tolist()
    other = TableAdapter(NearestNeighbor()).fit(X, Y, X_TARGET)
    with pytest.raises(ValueError, match="NearestNeighbor does not say which rows"):
        other.rows_to_label(4)


def test_an_absent_class_is_asked_about():
    """The target lacks a class, but some rows lie near it."""
    model = fitted(X_target=X_TARGET[Y_TARGET < 2], target_proportions="free")
    F = model.label_distributions_
    reasons = model._to_ask["target"][:, 1]
    for k in set(reasons[reasons >= 0].tolist()):
        assert F[model.rows_to_label(10), k].max() >= F[:, k].max() / 2


def test_labels_of_asked_rows_reach_the_fit_the_choice_and_the_estimate():
    model = LPJT(random_state=0, max_iter=2).fit(X, Y, widened(X_TARGET, 8))
    rows = model.rows_to_label(12)
    given = np.full(len(Y_TARGET), -1)
    given[rows] = Y_TARGET[rows]
    again = LPJT(random_state=0, max_iter=2).fit(X, Y, widened(X_TARGET, 8), given)
    assert (again.transduction_[rows] == Y_TARGET[rows]).all()
    assert model.candidates_[0]["found"] is None
    assert all(0 <= record["found"] <= 1 for record in again.candidates_)
    assert again.estimated_accuracy_ != model.estimated_accuracy_
    assert not set(again.rows_to_label(20).tolist()) & set(rows.tolist())
