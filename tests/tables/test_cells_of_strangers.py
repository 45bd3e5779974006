"""Cells that are not like the others of their column: what is read all the same, and what the errors say."""

import numpy as np
import pytest

from lpjt import TableAdapter
from lpjt.baselines import NearestNeighbor
from tables import pandas

N = 12


def table(year, **columns):
    """Numbers in two classes, a day in January, and the given columns."""
    sizes = np.arange(N) % 2 * 5 + np.linspace(0, 1, N)
    days = pandas.Timestamp(f"{year}-01-10") + pandas.to_timedelta(np.arange(N), unit="D")
    return pandas.DataFrame({"size": sizes, "day": days}).assign(**columns)


def fit(source, target, **parameters):
    return TableAdapter(NearestNeighbor(), **parameters).fit(source, np.arange(N) % 2, target)


@pytest.fixture
def german():
    """An adapter whose target had dates such as 31.12.2024, and this target with true dates."""
    target = table(2024)
    return fit(table(2023), target.assign(day=target["day"].dt.strftime("%d.%m.%Y"))), target


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M"])
def test_new_dates_may_be_in_the_form_of_iso(german, form):
    """No other form has the year first and hyphens."""
    adapter, target = german
    old = target["day"].dt.strftime("%d.%m.%Y")
    for days in (target["day"].dt.strftime(form), [old[0], *target["day"][1:].dt.strftime(form)]):
        new = adapter.encode(target.assign(day=days))
        np.testing.assert_array_equal(new["day"], adapter.encode(target.assign(day=old))["day"])


def test_a_date_of_another_form_is_refused_with_one_of_fit(german):
    adapter, target = german
    words = r"holds '02/24' in row 1 .*, which is not a date. Write it in the form of fit, like 15.01.2024 \(%d.%m.%Y\)"
    with pytest.raises(ValueError, match=words):
        adapter.predict(target[:2].assign(day=["2024-02-01", "02/24"]))
    with pytest.raises(ValueError, match=r"'tomorrow' in row 0 .*, which is not a date. Write it like 2023-01-15\.$"):
        adapter.predict(table(2023)[:1].assign(day="tomorrow"), domain="source")


def test_a_text_for_a_number_of_new_rows_is_to_be_corrected(german):
    adapter, target = german
    with pytest.raises(ValueError, match=r"'much' in row 0 .*, which is not a number. Correct the cell.$"):
        adapter.predict(target[:1].assign(size="much"))


@pytest.mark.parametrize(
    ("cells", "footer", "words"),
    [
        ([True, False] * 6, 88, "'x' holds truth values in source, text in target (e.g. '88' in row 12"),
        (np.arange(N) / 2, "Total", "'x' holds numbers in source, text in target (e.g. 'Total' in row 12"),
        (
            pandas.date_range("2024-01-01", periods=N),
            88,
            "'x' holds dates in source, text in target (e.g. '88' in row 12",
        ),
    ],
)
def test_a_footer_is_shown_and_not_a_good_cell(cells, footer, words, tmp_path):
    source, target = table(2023, x=cells), table(2024, x=cells)
    target.to_csv(tmp_path / "target.csv", index=False)
    with open(tmp_path / "target.csv", "a", encoding="utf-8") as file:
        file.write(f",,{footer}\n")
    with pytest.raises(ValueError, match=r"'x' holds") as refused:
        fit(source, pandas.read_csv(tmp_path / "target.csv"))
    assert words in str(refused.value)
    assert "line 14 of a file with a header, the last row: a footer?)" in str(refused.value)


def test_a_strange_cell_in_the_middle_is_no_footer():
    cells = [True, False] * 6
    target = table(2024, x=[*map(str, cells[:5]), "unknown", *map(str, cells[6:])])
    with pytest.raises(ValueError, match=r"\(e.g. 'unknown' in row 5, .* line 7 of a file with a header\)"):
        fit(table(2023, x=cells), target)


def test_infinite_cells_are_told_apart_from_missing_ones():
    sizes = np.linspace(0, 1, N)
    source, target = table(2023, x=sizes, y=sizes, z=np.inf), table(2024, x=sizes, y=sizes)
    source.loc[[1, 2], "x"], source.loc[3, "x"], target.loc[[4], "y"] = np.inf, np.nan, -np.inf
    missing, infinite = fit(source, target).notes_[-2:]
    assert missing.startswith("Missing cells in 'x', 'y': 3 in source, 1 in target, replaced by")
    assert infinite == "Infinite cells in 'x', 'y' count as missing: 2 in source, 1 in target."
    assert not any("nfinite" in note for note in fit(table(2023), table(2024)).notes_)


TRUTH = np.arange(N) % 3 == 0
WORDS = {
    "yes": np.where(TRUTH, "yes", "no"),
    "Yes": np.where(TRUTH, "Yes", "NO"),
    "TRUE": np.where(TRUTH, "TRUE", "FALSE"),
    "stored": TRUTH,
    "number": TRUTH.astype(int),
    "gaps": np.where(np.arange(N) == 5, None, TRUTH),
}


@pytest.mark.parametrize(
    ("one", "other"),
    [("yes", "TRUE"), ("yes", "stored"), ("yes", "number"), ("TRUE", "stored"), ("gaps", "Yes"), ("number", "TRUE")],
)
def test_truth_values_of_two_spellings_are_read_alike(one, other):
    source, target = table(2023, x=WORDS[one]), table(2024, x=WORDS[other])
    adapter = fit(source, target, impute="most-frequent")
    expected = np.where(pandas.isna(WORDS[one]), False, TRUTH)
    np.testing.assert_array_equal(adapter.encode(source, "source")["x"], expected)
    np.testing.assert_array_equal(adapter.encode(target)["x"], TRUTH)
    np.testing.assert_array_equal(adapter.encode(target.assign(x=WORDS["yes"]))["x"], TRUTH)  # new rows
    assert "'x': yes, true and 1 are read alike, and no, false and 0." in adapter.notes_
    encoder = adapter.encoders_["target"]
    again = type(encoder).from_dict(encoder.to_dict())
    np.testing.assert_array_equal(again.transform(target), encoder.transform(target))
    words = r"'maybe' in row 0 .* is not a truth value. Write yes or no, true or false, or 1 or 0."
    with pytest.raises(ValueError, match=words):
        adapter.predict(target[:1].assign(x="maybe"))


def test_one_spelling_in_both_tables_stays_a_category():
    adapter = fit(table(2023, x=WORDS["yes"]), table(2024, x=WORDS["yes"]))
    assert adapter.columns_[-1]["kind"] == "category"


def test_truth_values_against_more_numbers_are_refused_with_the_spellings():
    words = r"'x' holds numbers in source, text in target.* one spelling of them: yes/no, true/false or 1/0"
    with pytest.raises(ValueError, match=words):
        fit(table(2023, x=np.arange(N) % 3), table(2024, x=WORDS["yes"]))


def test_two_spellings_in_one_table_are_refused():
    mixed = np.where(np.arange(N) < 4, WORDS["yes"], WORDS["TRUE"])
    with pytest.raises(ValueError, match=r"truth values in source, text in target\. .* one spelling of them"):
        fit(table(2023, x=TRUTH), table(2024, x=mixed))
