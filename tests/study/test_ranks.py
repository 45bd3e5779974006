"""Mean ranks, Friedman's test and Nemenyi's critical difference."""

import numpy as np
import pytest

from lpjt.study.tables.ranks import Ranking, rank_methods

# Four classifiers on fourteen data sets, made so that the sums of ranks are simple.
EVEN = {f"pair {i}": {"a": 3.0 + i, "b": 2.0 + i, "c": 1.0 + i} for i in range(14)}


def test_ranks_of_methods_in_one_order():
    found = rank_methods(EVEN)
    assert found.ranks == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert found.n_pairs == 14
    assert found.p < 1e-5


def test_ties_share_their_ranks_and_the_best_comes_first():
    found = rank_methods({f"{i}": {"low": 1.0, "one": 5.0, "other": 5.0} for i in range(6)})
    assert list(found.ranks) == ["one", "other", "low"]
    assert found.ranks == {"one": 1.5, "other": 1.5, "low": 3.0}
    assert found.level_with_best == ("one", "other", "low")[: 2 + (found.difference > 1.5)]


def test_the_critical_difference_is_the_printed_one():
    # Demsar 2006, section 3.2.2: four classifiers, fourteen data sets, q = 2.569, CD = 1.25.
    rng = np.random.default_rng(0)
    found = rank_methods({f"{i}": dict(zip("abcd", rng.random(4), strict=True)) for i in range(14)})
    assert found.difference == pytest.approx(1.25, abs=0.005)


def test_methods_that_are_alike_have_no_difference():
    found = rank_methods({f"{i}": {"a": 1.0, "b": 1.0, "c": 1.0} for i in range(6)})
    assert found.p == 1.0
    assert set(found.ranks.values()) == {2.0}


def test_methods_without_a_score_everywhere_are_left_out():
    scores = {pair: dict(of_pair) for pair, of_pair in EVEN.items()}
    scores["pair 3"].pop("b")
    assert rank_methods(scores) is None  # two are left
    scores["pair 3"]["b"] = 9.0
    assert rank_methods(dict(list(scores.items())[:4])) is None
    assert rank_methods({}) is None


def test_groups_are_the_longest_runs_within_the_difference():
    found = Ranking({"a": 1.0, "b": 1.5, "c": 2.2, "d": 4.0, "e": 4.1}, 20, 0.01, 1.0)
    assert found.groups == [("a", "b"), ("b", "c"), ("d", "e")]
    assert found.level_with_best == ("a", "b")


def test_the_picture_is_drawn(tmp_path):
    from lpjt.study.figures.ranks import draw_ranks

    path = tmp_path / "ranks.png"
    draw_ranks(rank_methods(EVEN), path)
    assert path.read_bytes()[:4] == b"\x89PNG"
