"""Cells, means, paired tests and agreement, against sums written out."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lpjt.study.tables.published import VISDA_CLASSES, paper_cells
from lpjt.study.tables.summary import (
    agreement,
    as_printed,
    averages,
    by_class,
    cells,
    comparable,
    data_checksum,
    holm,
    paired_tests,
)


def make_row(pair, method, accuracy, *, seed=0, table="surf", protocol="label-free", **more):
    row = {
        "table": table,
        "pair": pair,
        "method": method,
        "seed": seed,
        "protocol": protocol,
        "parameters": "{}",
        "accuracy": accuracy,
        "balanced_accuracy": accuracy,
        "per_class_accuracy": None,
        "status": "ok" if accuracy is not None else "failed",
        "message": "" if accuracy is not None else "ValueError: no rows",
        "checksum": f"{pair}{seed}",
        **more,
    }
    return {"key": f"{pair}|{method}|{seed}|{protocol}|{row['parameters']}", **row}


def make_table(values, *, seeds=1):
    """Rows from {method: [accuracy of pair 0, of pair 1, ...]}, each seed a known amount higher than the last."""
    return [
        make_row(f"P{i} to Q", method, value + seed, seed=seed)
        for method, of_pairs in values.items()
        for i, value in enumerate(of_pairs)
        for seed in range(seeds)
    ]


def signed_rank_p(differences):
    """Two-sided p of Wilcoxon's test by going through every choice of signs."""
    ranks = np.argsort(np.argsort(np.abs(differences))) + 1
    observed = min(ranks[differences > 0].sum(), ranks[differences < 0].sum())
    sums = [sum(r for r, up in zip(ranks, signs, strict=True) if up) for signs in product((0, 1), repeat=len(ranks))]
    return min(1.0, 2 * np.mean([total <= observed for total in sums]))


def test_a_cell_is_the_mean_over_seeds_with_their_deviation():
    rows = [make_row("C to A", "SA", value, seed=seed) for seed, value in enumerate((50.0, 53.0, 56.0))]
    cell = cells(rows)["C to A"]["SA"]
    assert (cell.mean, cell.deviation, cell.n_seeds, cell.failed) == (53.0, 3.0, 3, 0)


def test_one_seed_has_no_deviation():
    cell = cells([make_row("C to A", "SA", 50.0)])["C to A"]["SA"]
    assert (cell.mean, cell.deviation, cell.n_seeds) == (50.0, None, 1)


@pytest.mark.parametrize("lost", [{"status": "timeout"}, {"status": "failed"}, {"accuracy": float("nan")}])
def test_a_run_without_labels_is_counted_and_its_message_kept_and_never_averaged(lost):
    rows = [make_row("C to A", "SA", 50.0), make_row("C to A", "SA", 10.0, seed=1, message="over 600 s") | lost]
    cell = cells(rows)["C to A"]["SA"]
    assert (cell.mean, cell.n_seeds, cell.failed, cell.message) == (50.0, 1, 1, "over 600 s")


def test_a_cell_whose_runs_all_failed_has_no_mean():
    cell = cells([make_row("C to A", "SA", None)])["C to A"]["SA"]
    assert (cell.mean, cell.deviation, cell.n_seeds, cell.failed) == (None, None, 0, 1)
    assert cell.message == "ValueError: no rows"


def test_the_deviation_of_a_mean_is_that_of_the_seeds_means_not_of_the_pairs():
    # Seeds shift the pairs against each other, so that their means differ far less than the cells do.
    rows = []
    for seed, shift in enumerate((-5.0, 0.0, 5.0)):
        rows += [
            make_row("C to A", "SA", 50 + shift, seed=seed),
            make_row("A to C", "SA", 70 - shift + seed, seed=seed),
        ]
    average = averages(rows)["SA"]
    assert average.mean == 60.5
    assert_allclose(average.deviation, 0.5)  # seed means 60, 60.5, 61
    assert (average.n_pairs, average.n_seeds, average.missing) == (2, 3, ())


def test_a_method_that_lacks_a_pair_says_so_with_its_mean():
    rows = [*make_table({"SA": [50.0, 60.0], "JDA": [70.0]}), make_row("P1 to Q", "JDA", None)]
    found = averages(rows)
    assert found["SA"].missing == ()
    assert (found["JDA"].mean, found["JDA"].n_pairs, found["JDA"].missing) == (70.0, 1, ("P1 to Q",))


def test_a_method_that_only_failed_has_no_mean():
    found = averages([*make_table({"SA": [50.0]}), make_row("P0 to Q", "JDA", None)])["JDA"]
    assert (found.mean, found.deviation, found.n_pairs, found.missing) == (None, None, 0, ("P0 to Q",))


@given(st.lists(st.floats(0.5, 40), min_size=5, max_size=9, unique=True), st.integers(0, 2**9 - 1))
def test_the_test_is_exact_for_few_pairs(sizes, signs):
    sizes = np.unique(np.round(sizes, 3))
    if len(sizes) < 5:
        return
    differences = np.array([size if signs >> i & 1 else -size for i, size in enumerate(sizes)])
    rows = make_table({"LPJT": list(50 + differences), "SA": [50.0] * len(sizes)})
    (test,) = paired_tests(rows)
    assert_allclose(test.p, signed_rank_p(differences), rtol=1e-9)
    assert test.p_adjusted == test.p
    assert_allclose(test.difference, differences.mean(), atol=1e-9)
    assert (test.wins, test.ties, test.losses) == ((differences > 0).sum(), 0, (differences < 0).sum())


def test_equal_pairs_are_ties_and_leave_the_test():
    ours, theirs = [60.0, 61, 62, 63, 64, 50, 50], [50.0, 50, 50, 50, 50, 50, 50]
    (test,) = paired_tests(make_table({"LPJT": ours, "SA": theirs}))
    assert (test.n_pairs, test.wins, test.ties, test.losses) == (7, 5, 2, 0)
    assert_allclose(test.p, 2 / 2**5)


def test_under_five_pairs_that_differ_nothing_is_tested():
    (test,) = paired_tests(make_table({"LPJT": [60.0, 61, 62, 63, 50], "SA": [50.0] * 5}))
    assert (test.p, test.p_adjusted, test.wins, test.ties) == (None, None, 4, 1)
    assert "too few pairs to test (4 differ, 5 needed)" in test.words
    assert "+9.2 points; 4 wins, 1 ties, 0 losses" in test.words


def test_seeds_and_pairs_that_only_one_method_has_are_left_out():
    rows = make_table({"LPJT": [60.0, 61, 62, 63, 64], "SA": [50.0] * 5}, seeds=2)
    rows = [row for row in rows if not (row["method"] == "SA" and row["seed"] == 1)]
    rows.append(make_row("P5 to Q", "LPJT", 99.0))
    (test,) = paired_tests(rows)
    assert (test.n_pairs, test.difference) == (5, 12.0)


def test_holms_rule_adjusts_the_tests_together():
    # By hand: 3 x 0.01, then max(0.03, 2 x 0.02) = 0.04, then max(0.04, 0.03) = 0.04.
    assert_allclose(holm([0.03, 0.01, 0.02]), [0.04, 0.03, 0.04])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
    values = {
        "LPJT": [60.0 + i for i in range(6)],
        "SA": [50.0] * 6,
        "JDA": [59.0, 60, 61, 62, 63, 70],
        "GFK": [60.0] * 6,
    }
    by_method = {test.method: test for test in paired_tests(make_table(values))}
    assert list(by_method) == ["SA", "JDA", "GFK"]
    raw = [by_method[name].p for name in by_method]
    assert_allclose([by_method[name].p_adjusted for name in by_method], holm(raw))
    assert by_method["SA"].p_adjusted > by_method["SA"].p


def test_without_our_method_there_is_nothing_to_test():
    assert paired_tests(make_table({"SA": [50.0], "JDA": [60.0]})) == []


def test_agreement_compares_cell_by_cell_and_flags_what_is_far():
    printed = paper_cells("digits")
    rows = [make_row(pair, "JDA", row["JDA"] + 1.0, table="digits") for pair, row in printed.items()]
    rows += [make_row("MNIST to USPS", "SA", printed["MNIST to USPS"]["SA"] + 4.0, table="digits")]
    rows += [make_row("USPS to MNIST", "SA", printed["USPS to MNIST"]["SA"] - 5.0, table="digits")]
    rows += [
        make_row("MNIST to USPS", "TJM", 70.0, table="digits"),
        make_row("USPS to MNIST", "TJM", None, table="digits"),
    ]
    rows += [make_row("MNIST to USPS", "OT", 70.0, table="digits")]
    found = {entry.method: entry for entry in agreement(rows, "digits")}
    assert list(found) == ["JDA", "SA", "TJM"]  # nothing is printed for OT
    assert (found["JDA"].source, found["JDA"].n_pairs, found["JDA"].far) == ("paper", 2, ())
    assert_allclose([found["JDA"].absolute, found["JDA"].difference], [1.0, 1.0])
    assert not found["JDA"].flagged
    assert_allclose([found["SA"].absolute, found["SA"].difference], [4.5, -0.5])
    assert [pair for pair, _, _ in found["SA"].far] == ["MNIST to USPS", "USPS to MNIST"]
    assert not found["SA"].flagged  # the means agree, both cells do not
    assert (found["TJM"].n_pairs, found["TJM"].flagged) == (1, True)
    assert_allclose(found["TJM"].difference, 70.0 - 63.28)


def test_agreement_with_quoted_figures_says_that_they_are_not_confirmed():
    (found,) = agreement([make_row("C to A", "MEDA", 56.0)], "surf")
    assert (found.source, found.confirmed) == ("meda", False)


def test_agreement_asked_for_another_table_is_refused():
    with pytest.raises(ValueError, match="The rows are of the table 'surf', and 'pie' was asked for"):
        agreement([make_row("C to A", "SA", 50.0)], "pie")


@pytest.mark.parametrize("first", [0, 1])
def test_the_one_pair_of_visda_becomes_its_twelve_classes(first):
    values = {str(i + first): 10.0 + i for i in reversed(range(12))}
    row = make_row("train to validation", "JDA", 1.0, table="visda", per_class_accuracy=json.dumps(values))
    shown = as_printed([row], "visda")
    assert [one["pair"] for one in shown] == list(VISDA_CLASSES)
    assert [one["accuracy"] for one in shown] == [10.0 + i for i in range(12)]
    assert_allclose(averages(shown)["JDA"].mean, np.mean(list(values.values())))
    assert {entry.n_pairs for entry in agreement([row], "visda")} == {12}


def test_a_failed_run_by_class_is_failed_in_every_class():
    shown = by_class([make_row("train to validation", "JDA", None)], ["car", "bus"])
    assert [cell["JDA"].failed for cell in cells(shown).values()] == [1, 1]


def test_other_numbers_of_classes_are_refused():
    row = make_row("train to validation", "JDA", 1.0, per_class_accuracy='{"0": 5, "1": 6}')
    with pytest.raises(ValueError, match="the row has 2 classes, the table 3"):
        by_class([row], ["car", "bus", "truck"])


def test_rows_of_two_protocols_or_tables_are_refused():
    rows = [make_row("C to A", "SA", 50.0), make_row("C to A", "JDA", 60.0, protocol="oracle")]
    with pytest.raises(ValueError, match="several kinds of protocol were given: label-free, oracle"):
        cells(rows)
    with pytest.raises(ValueError, match="several kinds of table were given: pie, surf"):
        averages([make_row("C to A", "SA", 50.0), make_row("05 to 07", "SA", 50.0, table="pie")])


def test_rows_on_different_data_are_refused_with_both_checksums():
    rows = [make_row("C to A", "SA", 50.0, checksum="a" * 64), make_row("C to A", "JDA", 60.0, checksum="b" * 64)]
    with pytest.raises(ValueError, match="SA was run on data with checksum aaaaaaaaaaaa, JDA on bbbbbbbbbbbb"):
        paired_tests(rows)


def test_other_seeds_and_failed_loads_may_have_other_checksums():
    rows = [
        make_row("C to A", "SA", 50.0, checksum="a"),
        make_row("C to A", "SA", 50.0, seed=1, checksum="b"),
        make_row("C to A", "JDA", None, checksum=None),
    ]
    assert len(comparable(rows)) == 3


def test_two_runs_with_different_parameters_are_refused_and_of_one_key_the_last_counts():
    rows = [make_row("C to A", "SA", 50.0), make_row("C to A", "SA", 60.0, parameters='{"n_components":20}')]
    with pytest.raises(ValueError, match=r"SA on C to A, seed 0, is there twice, with parameters \{\} and"):
        cells(rows)
    assert cells([make_row("C to A", "SA", 50.0), make_row("C to A", "SA", 60.0)])["C to A"]["SA"].mean == 60.0


def test_the_datas_checksum_depends_on_the_data_alone():
    rows = make_table({"SA": [50.0, 60.0], "JDA": [55.0, 65.0]})
    assert data_checksum(rows) == data_checksum(list(reversed(rows))) == data_checksum(rows[:2])
    assert len(data_checksum(rows)) == 12
    assert data_checksum(rows) != data_checksum([rows[0] | {"checksum": "other"}, *rows[1:]])
    assert data_checksum([make_row("C to A", "SA", None, checksum=None)]) == ""
