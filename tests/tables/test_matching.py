"""Which columns of several tables belong together."""

import numpy as np
import pytest

from lpjt import LPJT, TableAdapter
from lpjt.tables.matching import match_tables
from tables import pandas

ROWS = np.arange(12.0).reshape(3, 4)


def table(*names):
    return pandas.DataFrame(ROWS[:, : len(names)], columns=list(names))


def places(matching):
    return {column.name: column.places for column in matching.columns}


def test_by_name():
    found = match_tables({"s": table("a", "b", "c"), "t": table("d", "c", "a")}, "name")
    assert places(found) == {"a": {"s": 0, "t": 2}, "c": {"s": 2, "t": 1}}
    assert found.alone == [("s", 1), ("t", 0)]
    assert "'b' of s" in found.notes[0]
    assert "'d' of t" in found.notes[1]


def test_case_spaces_and_hyphens_do_not_matter_where_only_one_is_meant():
    found = match_tables({"s": table("leaf width", "x"), "t": table("X", "Leaf-Width")}, "name")
    assert places(found) == {"leaf width": {"s": 0, "t": 1}, "x": {"s": 1, "t": 0}}
    assert "'Leaf-Width' of t is taken for 'leaf width' of s." in found.notes
    doubtful = match_tables({"s": table("x", "y"), "t": table("X ", " X", "y")}, "name")
    assert list(places(doubtful)) == ["y"]


def test_three_tables_use_what_all_have():
    tables = {"one": table("a", "b", "c"), "two": table("b", "c"), "t": table("c", "a", "b")}
    assert list(places(match_tables(tables, "name"))) == ["b", "c"]


def test_no_shared_name_is_an_error_that_says_what_to_do():
    with pytest.raises(ValueError, match=r"share no .* \(s: 'a'; t: 'b'\).*match='position'.*match='different'"):
        match_tables({"s": table("a"), "t": table("b")}, "name")


def test_by_position():
    found = match_tables({"s": table("a", "b"), "t": table("v", "B")}, "position")
    assert places(found) == {"a": {"s": 0, "t": 0}, "b": {"s": 1, "t": 1}}
    assert found.notes == ["Columns of t are matched by position: 'v' for 'a' of s."]
    with pytest.raises(ValueError, match=r"numbers differ \(2 of s, 3 of t\).*match='different'"):
        match_tables({"s": table("a", "b"), "t": table("a", "b", "c")}, "position")


def test_numbers_are_no_names():
    """Without a header the label's column counts, too: the source's columns 1 and 2 are the target's 0 and 1."""
    found = match_tables({"s": table("1", "2"), "t": table("0", "1")}, "name")
    assert places(found) == {"1": {"s": 0, "t": 0}, "2": {"s": 1, "t": 1}}
    assert places(match_tables({"s": table("a", "b"), "t": table(0, 1)}, "name"))["b"] == {"s": 1, "t": 1}


def test_twins_are_refused():
    with pytest.raises(ValueError, match="'t' has two columns named 'a'"):
        match_tables({"s": table("a"), "t": table("a", "a")}, "name")


def test_different_features_are_never_coupled():
    """Of equal widths, too: a column of zeros makes them differ, so that the fit is a heterogeneous one."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3
    source = pandas.DataFrame(6 * np.eye(3)[codes] + rng.normal(size=(60, 3)), columns=list("abc"))
    target = pandas.DataFrame(6 * np.eye(3)[codes] + rng.normal(size=(60, 3)), columns=list("abd"))
    known = np.where(np.arange(60) < 12, codes, -1)
    adapter = TableAdapter(LPJT(random_state=0), match="different").fit(source, codes, target, known)
    assert [len(encoder.feature_names) for encoder in adapter.encoders_.values()] == [3, 4]
    assert adapter.encoders_["target"].feature_names == ["a", "b", "d", "(zero 0)"]
    assert "different features (source 3, target 3 columns)" in adapter.notes_[0]
    assert np.mean(adapter.predict(target) == codes) > 0.8
