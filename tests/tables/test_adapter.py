"""`TableAdapter`: tables in, labels out, and new rows treated as those of fit."""

import inspect
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from lpjt import LPJT, LPJTSearch, TableAdapter
from lpjt.baselines import NearestNeighbor
from lpjt.tables import TableEncoder
from tables import pandas

KINDS = np.array(["ash", "elm", "oak"])


def measure(n, *, seed=0, shift=0.0, year=2023):
    """A table with numbers, a category, a date and a truth value, and the classes of its rows."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    table = pandas.DataFrame(6 * np.eye(3)[codes] + rng.normal(size=(n, 3)) + shift, columns=["a", "b", "c"])
    table["soil"] = np.array(["clay", "sand", "loam"])[np.where(rng.random(n) < 0.7, codes, rng.integers(0, 3, n))]
    table["day"] = pandas.Timestamp(f"{year}-01-01") + pandas.to_timedelta(rng.integers(0, 300, n), unit="D")
    table["wet"] = rng.random(n) < 0.5
    return table, KINDS[codes]


@pytest.fixture
def tables():
    """A source, its labels, a target that lacks nothing, and its labels."""
    return *measure(60), *measure(60, seed=1, shift=1.0, year=2024)


def quick(**parameters):
    return TableAdapter(LPJT(candidates=None, scaling="standard", random_state=0), **parameters)


def column(adapter, name):
    return next(record for record in adapter.columns_ if record["name"] == name)


def test_other_order_extra_columns_and_spelling_do_not_change_a_label(tables):
    source, y, target, y_target = tables
    plain = quick().fit(source, y, target)
    messy = target.rename(columns={"a": "A", "soil": "Soil "}).assign(operator="kim")[
        ["wet", "operator", "Soil ", "c", "A", "day", "b"]
    ]
    adapter = quick().fit(source.assign(comment=[f"no {i}" for i in range(60)]), y, messy)
    np.testing.assert_array_equal(adapter.transduction_, plain.transduction_)
    np.testing.assert_allclose(adapter.label_distributions_, plain.label_distributions_)
    assert np.mean(adapter.transduction_ == y_target) > 0.95
    assert not column(adapter, "comment")["used"]
    assert not column(adapter, "operator")["used"]
    notes = " ".join(adapter.notes_)
    for words in ("'A' of target is taken for 'a' of source", "'comment' of source", "'operator' of target"):
        assert words in notes


def test_new_rows_are_treated_as_those_of_fit(tables):
    source, y, target, y_target = tables
    target.loc[[3, 40], "a"] = np.nan
    adapter = quick().fit(source, y, target[:40])
    new = target[40:].sample(frac=1, axis=1, random_state=0).assign(other=1)
    assert np.mean(adapter.predict(new) == y_target[40:]) > 0.9
    assert adapter.predict_proba(new).shape == (20, 3)
    assert adapter.transform(new).shape[0] == 20
    assert adapter.score(new, y_target[40:]) > 0.9
    assert adapter.encode(new)["a"].iloc[0] == target["a"][:40].median()  # learned in fit, not from the new rows
    with pytest.raises(ValueError, match="The table lacks 'soil', which the table of fit has"):
        adapter.predict(new.drop(columns="soil"))


@pytest.mark.parametrize(("rule", "statistic"), [("mean", np.nanmean), ("median", np.nanmedian)])
def test_a_missing_cell_becomes_the_statistic_of_its_own_domain(tables, rule, statistic):
    source, y, target, _ = tables
    source.loc[5, "a"], target.loc[7, "a"], target.loc[8, "a"] = np.nan, np.nan, np.inf
    adapter = quick(impute=rule).fit(source, y, target)
    clean = target["a"].replace(np.inf, np.nan)
    assert adapter.encode(source, "source")["a"].iloc[5] == pytest.approx(statistic(source["a"]))
    assert adapter.encode(target)["a"].iloc[7] == pytest.approx(statistic(clean))
    assert adapter.encode(target)["a"].iloc[8] == pytest.approx(statistic(clean))
    assert column(adapter, "a")["missing"] == {"source": 1, "target": 2}
    assert any(f"replaced by the {rule} of the same table" in note for note in adapter.notes_)


def test_missing_cells_are_an_error_without_a_rule(tables):
    source, y, target, _ = tables
    target.loc[7, "a"] = np.nan
    with pytest.raises(ValueError, match=r"Column 'a' has no value in row 7 .*from 0\), and impute is None"):
        quick(impute=None).fit(source, y, target)
    target.loc[9, "a"] = np.nan
    with pytest.raises(ValueError, match=r"row 7 \(counted from 0\) \(and 1 more\), and impute is None"):
        quick(impute=None).fit(source, y, target)


def test_levels_are_those_that_both_sides_have(tables):
    source, y, target, _ = tables
    source.loc[:4, "soil"] = "rock"  # in the source alone
    target.loc[:2, "soil"] = "peat"  # in the target alone
    target.loc[3, "soil"] = None
    adapter = quick().fit(source, y, target)
    levels = ["soil=clay", "soil=loam", "soil=sand"]
    encoded = adapter.encode(target)
    assert [name for name in encoded if name.startswith("soil")] == levels
    assert (encoded[levels].iloc[:4] == 0).all(axis=None)
    assert (encoded[levels].iloc[4:].sum(axis=1) == 1).all()
    assert any("'peat', 'rock' not encoded" in note for note in adapter.notes_)
    never_seen = target[4:6].assign(soil="moon")
    assert (adapter.encode(never_seen)[levels] == 0).all(axis=None)


def test_text_is_left_out_where_it_is_free_or_shares_no_level(tables):
    source, y, target, _ = tables
    source = source.assign(remark=[f"seen {i}" for i in range(60)], site="north", empty=None)
    target = target.assign(remark=[f"seen {i}" for i in range(60)], site="south", empty=1.0)
    adapter = quick().fit(source, y, target)
    assert "free text (60 different ones in 60 cells)" in column(adapter, "remark")["treatment"]
    assert "no level in common" in column(adapter, "site")["treatment"]
    assert "no value in 'source'" in column(adapter, "empty")["treatment"]
    assert adapter.n_features_in_ == 6


def test_dates_are_days_in_whatever_form_each_table_has_them(tables):
    source, y, target, _ = tables
    plain = quick().fit(source, y, target)
    american = source.assign(day=source["day"].dt.strftime("%m/%d/%Y"))
    german = target.assign(day=target["day"].dt.strftime("%d.%m.%Y"))
    adapter = quick().fit(american, y, german)
    for X, other, domain in ((source, american, "source"), (target, german, "target")):
        np.testing.assert_array_equal(plain.encode(X, domain)["day"], adapter.encode(other, domain)["day"])
    assert plain.encode(target)["day"].iloc[0] == (target["day"][0] - pandas.Timestamp(0)).days
    assert column(adapter, "day")["treatment"] == "days since 1970 (%m/%d/%Y, %d.%m.%Y)"


def test_an_order_that_one_table_settles_is_that_of_the_other(tables):
    """Days up to 12 fit both orders; the source has later ones, which only fit with the month first."""
    source, y, target, _ = tables
    source["day"] = [f"0{1 + i % 9}/{1 + i % 28}/2023" for i in range(60)]
    target["day"] = [f"0{1 + i % 9}/0{1 + i % 9}/2024" for i in range(60)]
    target.loc[0, "day"] = "02/03/2024"
    adapter = quick().fit(source, y, target)
    assert adapter.encode(target)["day"].iloc[0] == (pandas.Timestamp("2024-02-03") - pandas.Timestamp(0)).days
    both = quick().fit(target, y, target)
    assert any("could have the day or the month first" in note for note in both.notes_)


def test_numbers_against_text_are_an_error_with_the_cell(tables):
    source, y, target, _ = tables
    target["a"] = target["a"].astype(object)
    target.loc[11, "a"] = "broken"
    with pytest.raises(ValueError, match=r"'a' holds numbers in source, text in target \(e.g. 'broken' in row 11"):
        quick().fit(source, y, target)
    target.loc[11, "a"] = "3.5"
    adapter = quick().fit(source, y, target)
    assert adapter.encode(target)["a"].iloc[11] == 3.5


def test_truth_values_with_gaps_are_numbers(tables):
    source, y, target, _ = tables
    target["wet"] = target["wet"].astype(object)
    target.loc[2, "wet"] = None
    adapter = quick().fit(source, y, target)
    assert column(adapter, "wet")["kind"] == "number"
    assert set(adapter.encode(target)["wet"]) <= {0.0, 0.5, 1.0}


def test_categories_of_numbers_stay_categories(tables):
    source, y, target, _ = tables
    for table in (source, target):
        table["zone"] = pandas.Categorical(np.arange(60) % 4)
    adapter = quick().fit(source, y, target.assign(zone=pandas.Categorical((np.arange(60) % 4).astype(float))))
    assert [name for name in adapter.encode(source, "source") if name.startswith("zone")] == [
        f"zone={i}" for i in range(4)
    ]


def test_several_sources_have_statistics_of_their_own(tables):
    source, y, target, y_target = tables
    source.loc[[2, 50], "b"] = np.nan
    sources, labels = {"north": source[:30], "south": source[30:]}, {"north": y[:30], "south": y[30:]}
    adapter = quick().fit(sources, labels, target)
    assert np.mean(adapter.transduction_ == y_target) > 0.9
    for name, row in (("north", 2), ("south", 20)):
        assert adapter.encode(sources[name], name)["b"].iloc[row] == sources[name]["b"].median()
    with pytest.raises(ValueError, match="domain='west' is not one of the domains of fit"):
        adapter.predict(target, "west")


def test_known_target_labels_are_kept(tables):
    source, y, target, _ = tables
    known = np.full(60, None, dtype=object)
    known[:2] = ["elm", "ash"]
    assert quick().fit(source, y, target, known).transduction_[:2].tolist() == ["elm", "ash"]


def test_how_far_to_trust_the_labels_is_said_without_looking_inside(tables):
    source, y, target, _ = tables
    search = LPJTSearch(quick().estimator, {"n_components": [1, 2]}, random_state=0)
    for adapter in (quick(), TableAdapter(search)):
        fitted = adapter.fit(source, y, target).estimator_
        fitted = getattr(fitted, "best_estimator_", fitted)
        assert adapter.summary_ == fitted.summary_
        assert adapter.estimated_accuracy_ == fitted.estimated_accuracy_
        assert adapter.estimated_accuracy_interval_ == fitted.estimated_accuracy_interval_
    assert not hasattr(quick(), "summary_")
    assert not hasattr(TableAdapter(NearestNeighbor()).fit(source, y, target), "summary_")


def test_other_estimators_and_a_search(tables):
    source, y, target, y_target = tables
    nearest = TableAdapter(NearestNeighbor()).fit(source[["a", "b", "c"]], y, target[["a", "b", "c"]])
    assert np.mean(nearest.transduction_ == y_target) > 0.9
    search = LPJTSearch(quick().estimator, {"n_components": [1, 2]}, random_state=0)
    adapter = TableAdapter(search).fit(source, y, target)
    assert len(adapter.predict(target)) == 60
    assert adapter.estimator_.best_params_["n_components"] in (1, 2)


def test_it_is_a_scikit_learn_estimator(tables):
    source, y, target, _ = tables
    adapter = quick(max_levels=2).fit(source, y, target)
    again = clone(adapter)
    assert not hasattr(again, "encoders_")
    assert again.get_params()["estimator__scaling"] == "standard"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(adapter)).predict(target), adapter.predict(target))
    for parameters in ({"match": "order"}, {"impute": "zero"}, {"max_levels": 0}):
        with pytest.raises(ValueError, match=f"'{next(iter(parameters))}' parameter"):
            quick(**parameters).fit(source, y, target)


def test_the_state_of_an_encoder_is_texts_and_numbers(tables):
    source, y, target, _ = tables
    target.loc[[3, 9], "a"] = np.nan
    adapter = quick().fit(source, y, target)
    for name, table in (("source", source), ("target", target)):
        encoder = adapter.encoders_[name]
        again = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
        np.testing.assert_array_equal(again.transform(table), encoder.transform(table))
        assert again.feature_names == encoder.feature_names


def test_polars_and_arrow_frames(tables):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    source, y, target, _ = tables
    plain = quick().fit(source, y, target)
    for convert in (polars.from_pandas, pyarrow.Table.from_pandas):
        adapter = quick().fit(convert(source), y, convert(target))
        np.testing.assert_array_equal(adapter.transduction_, plain.transduction_)
        np.testing.assert_array_equal(adapter.predict(convert(target)), plain.predict(target))


def test_float32_stays(tables):
    source, y, target, _ = tables
    numbers = ["a", "b", "c"]
    adapter = quick().fit(source[numbers].astype("float32"), y, target[numbers].astype("float32"))
    assert adapter.transform(target[numbers]).dtype == np.float32


def test_preparing_says_what_a_fit_would_do(tables):
    source, y, target, _ = tables
    target.loc[4, "a"] = np.nan
    prepared = quick().prepare(source, target.assign(new=1))
    adapter = quick().fit(source, y, target.assign(new=1), prepared=prepared)
    assert adapter.columns_ == prepared.columns == quick().fit(source, y, target.assign(new=1)).columns_
    assert any("'new' of target" in note for note in prepared.notes)


def test_an_estimator_without_weights_says_so(tables):
    source, y, target, _ = tables
    with pytest.raises(ValueError, match="NearestNeighbor takes no sample_weight"):
        TableAdapter(NearestNeighbor()).fit(source[["a"]], y, target[["a"]], sample_weight=np.ones(60))


@pytest.mark.skipif(
    "sample_weight" not in inspect.signature(LPJT.fit).parameters, reason="LPJT.fit takes no sample_weight yet"
)
def test_weights_reach_the_estimator(tables):
    """Rows of weight 0 do not count: wrong labels on them change nothing much."""
    source, y, target, y_target = tables
    wrong = np.arange(60) < 24
    labels = np.where(wrong, np.roll(KINDS, 1)[np.searchsorted(KINDS, y)], y)
    adapter = quick().fit(source, labels, target, sample_weight=np.where(wrong, 0.0, 1.0))
    plain = quick().fit(source, y, target)
    assert np.mean(adapter.transduction_ == y_target) >= np.mean(plain.transduction_ == y_target) - 0.1


def test_a_column_that_numbers_the_rows_is_told(tables):
    source, y, target, _ = tables
    assert not any("numbers the rows" in note for note in quick().fit(source, y, target).notes_)
    adapter = quick().fit(source.assign(case=np.arange(60)), y, target.assign(case=60 + np.arange(60)))
    assert any("'case' numbers the rows; if it is an id" in note for note in adapter.notes_)
