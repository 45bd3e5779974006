"""Tables with texts, dates, blank cells, other separators, decimals and encodings; workbooks; files of known labels."""

import sys

import numpy as np
import pytest

from lpjt.files import FileError, as_matrix, label_columns, open_table, read_domain, read_known_labels, write_columns
from tables import N, X, error_of, frame, pandas, y

CLASSES = np.array(["ape", "bee", "cat"])


def read(path, **options):
    return read_domain(path, as_table=True, **options)


def test_a_table_keeps_its_cells(tmp_path):
    soil = np.array(["clay", "sand"])[np.arange(N) % 2]
    frame(X, label=y, soil=soil, day="2024-03-01").assign(f1=np.nan).to_csv(tmp_path / "a.csv", index=False)
    domain = read(tmp_path / "a.csv")
    assert domain.is_table
    assert list(domain.X.columns) == list(domain.feature_names) == ["f0", "f1", "f2", "f3", "soil", "day"]
    assert domain.X["soil"].tolist() == soil.tolist()
    assert domain.X["f1"].isna().all()
    with pytest.raises(FileError, match="not numeric"):
        as_matrix(domain)


@pytest.mark.parametrize(("separator", "decimal"), [(";", ","), ("\t", ","), ("|", "."), (";", ".")])
@pytest.mark.parametrize("header", [True, False])
def test_separator_and_decimal_mark_are_recognised(tmp_path, separator, decimal, header):
    frame(X, kind=CLASSES[y]).to_csv(tmp_path / "a.csv", sep=separator, decimal=decimal, index=False, header=header)
    domain = read(tmp_path / "a.csv")
    np.testing.assert_allclose(domain.X.to_numpy(), X)
    assert domain.y.tolist() == CLASSES[y].tolist()
    assert (f"separator {separator!r}" in domain.description) == (separator != ",")
    assert ("decimal mark ','" in domain.description) == (decimal == ",")


def test_a_comma_between_cells_is_no_decimal_mark(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,label\n1,5,x\n2,25,y\n")
    assert read(tmp_path / "a.csv", decimal=",").X.to_numpy().tolist() == [[1, 5], [2, 25]]


def test_decimal_commas_in_quotes(tmp_path):
    (tmp_path / "a.csv").write_text('a,b,label\n"1,5",2,x\n"2,25",3,y\n')
    assert read(tmp_path / "a.csv").X.to_numpy().tolist() == [[1.5, 2], [2.25, 3]]


@pytest.mark.parametrize("option", [{"sep": "--"}, {"decimal": ",,"}])
def test_marks_are_single_characters(tmp_path, option):
    frame(X, label=y).to_csv(tmp_path / "a.csv", index=False)
    assert "is not one character" in error_of(tmp_path / "a.csv", **option)


def test_encodings(tmp_path):
    table = frame(X, label=y).rename(columns={"f0": "Höhe"})
    for name, code in (("a", "utf-8"), ("b", "latin-1"), ("c", "utf-16"), ("d", "utf-8-sig")):
        table.to_csv(tmp_path / f"{name}.csv", index=False, encoding=code)
        assert read(tmp_path / f"{name}.csv", encoding="latin-1").feature_names[0] == "Höhe"
    assert read(tmp_path / "c.csv").feature_names[0] == "Höhe"


def test_marks_of_missing_cells(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,label\n1,?,x\n-,2,y\nn.a.,3,x\n4,NA,y\n")
    table = read(tmp_path / "a.csv").X
    assert table.isna().to_numpy().tolist() == [[False, True], [True, False], [True, False], [False, True]]
    assert table.dtypes.tolist() == [float, float]


def test_the_only_text_column_of_a_target_is_a_feature_unless_it_has_the_classes(tmp_path):
    frame(X, kind=CLASSES[y]).to_csv(tmp_path / "s.csv", index=False)
    frame(X, place=np.array(["here", "there"])[y % 2]).to_csv(tmp_path / "t.csv", index=False)
    frame(X, truth=CLASSES[y]).to_csv(tmp_path / "u.csv", index=False)
    source = read(tmp_path / "s.csv")
    assert read(tmp_path / "t.csv", role="target", like=source).label_name is None
    assert read(tmp_path / "u.csv", role="target", like=source).label_name == "truth"


def test_dates_are_no_labels(tmp_path):
    frame(X, when=np.array(["2024-01-01", "2024-01-02"])[y % 2]).to_csv(tmp_path / "a.csv", index=False)
    assert read(tmp_path / "a.csv").y is None


def test_weights(tmp_path):
    frame(X, label=y, w=np.arange(N)).to_csv(tmp_path / "a.csv", index=False)
    domain = read(tmp_path / "a.csv", weight="W")
    assert domain.weights.tolist() == list(range(N))
    assert domain.feature_names == ("f0", "f1", "f2", "f3")
    target = read(tmp_path / "a.csv", weight="w", role="target")
    assert target.weights is None
    assert "w" not in target.feature_names
    for bad, words in ((-1.0, "-1.0 in row 3"), (np.nan, "nan in row 3"), ("much", "'much' in row 3")):
        weights = np.ones(N).astype(object)
        weights[3] = bad
        frame(X, label=y, w=weights).to_csv(tmp_path / "b.csv", index=False)
        assert words in error_of(tmp_path / "b.csv", weight="w")
    frame(X, label=y, w=0).to_csv(tmp_path / "b.csv", index=False)
    assert "nothing but zeros" in error_of(tmp_path / "b.csv", weight="w")


def test_workbooks(tmp_path):
    pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
    day = pandas.Timestamp("2024-03-01") + pandas.to_timedelta(np.arange(N), unit="D")
    table = frame(X, label=CLASSES[y], day=day, id=[f"{i:03d}" for i in range(N)])
    with pandas.ExcelWriter(tmp_path / "a.xlsx") as book:
        table.to_excel(book, sheet_name="rows", index=False)
        frame(X).to_excel(book, sheet_name="others", index=False)
    domain = read(tmp_path / "a.xlsx")
    np.testing.assert_allclose(domain.X[["f0", "f1", "f2", "f3"]].to_numpy(), X)
    assert domain.X["day"].dtype.kind == "M"
    assert (domain.y.tolist(), domain.ids[3]) == (CLASSES[y].tolist(), "003")
    assert "sheet 'rows' of 'rows', 'others'" in domain.description
    assert read(tmp_path / "a.xlsx", sheet="2").feature_names == ("f0", "f1", "f2", "f3")


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(ImportError, match=r"pip install 'lpjt\[xlsx\]'"):
        read_domain(tmp_path / "a.xlsx")


@pytest.fixture
def target(tmp_path):
    """A target of thirty rows with ids 100, 101, ..."""
    frame(X, id=100 + np.arange(N)).to_csv(tmp_path / "t.csv", index=False)
    return read(tmp_path / "t.csv", role="target")


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ({"id": [105, 103], "label": ["bee", ""]}, 5),
        ({"ID": ["105.0", "103.0"], "kind": ["bee", None]}, 5),  # as a spreadsheet writes whole numbers
        ({"row": [5, 3], "f0": [1, 2], "label": ["bee", ""]}, 5),
    ],
)
def test_known_labels_go_to_their_rows(tmp_path, target, columns, row):
    pandas.DataFrame(columns).to_csv(tmp_path / "known.csv", index=False)
    labels = read_known_labels(tmp_path / "known.csv", target, CLASSES.tolist())
    assert labels[row] == "bee"
    assert sum(label is not None for label in labels) == 1


def test_known_labels_have_the_type_of_the_classes(tmp_path, target):
    pandas.DataFrame({"id": [101, 102], "label": ["1", ""]}).to_csv(tmp_path / "known.csv", index=False)
    assert read_known_labels(tmp_path / "known.csv", target, [0, 1])[1] == 1
    assert read_known_labels(tmp_path / "known.csv", target, ["1", "b"])[1] == "1"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"id": [999], "label": ["bee"]}, "'999' in 'id' is no row of the target"),
        ({"id": [101], "label": ["bea"]}, "'bea' is no class of the sources (e.g. 'bee')"),
        ({"id": [101, 101, 101], "label": ["bee", "bee", "cat"]}, "'101' in 'id' is 'bee' in one line, 'cat' in anoth"),
        ({"id": [101], "label": [None]}, "every cell of 'label' is blank"),
        ({"plate": [101], "label": ["bee"]}, "no column 'id', the ids of t.csv, or 'row'"),
        ({"id": [101], "a": ["bee"], "b": ["bee"]}, "no label column found"),
    ],
)
def test_known_labels_that_cannot_be_used(tmp_path, target, columns, words):
    pandas.DataFrame(columns).to_csv(tmp_path / "known.csv", index=False)
    with pytest.raises(FileError) as caught:
        read_known_labels(tmp_path / "known.csv", target, CLASSES.tolist())
    assert words in str(caught.value)


def test_ids_of_several_rows_are_refused(tmp_path):
    frame(X, id=[f"p{i // 2}" for i in range(N)]).to_csv(tmp_path / "t.csv", index=False)
    pandas.DataFrame({"id": ["p3"], "label": ["bee"]}).to_csv(tmp_path / "known.csv", index=False)
    with pytest.raises(FileError, match=r"is the id of several target rows. Use row numbers"):
        read_known_labels(tmp_path / "known.csv", read(tmp_path / "t.csv", role="target"), CLASSES.tolist())


def test_known_labels_are_in_a_table(tmp_path, target):
    np.savez(tmp_path / "known.npz", X=X)
    with pytest.raises(FileError, match="not a table with named columns"):
        open_table(tmp_path / "known.npz")


def test_unsure_rows_have_no_label_in_any_format(tmp_path):
    columns = label_columns(
        np.array([1, 2]),
        np.array([0.9, 0.4]),
        classes=[1, 2],
        distributions=np.array([[0.9, 0.1], [0.6, 0.4]]),
        trust=0.5,
    )
    for name, reader in (("a.csv", pandas.read_csv), ("a.parquet", pandas.read_parquet), ("a.json", pandas.read_json)):
        write_columns(tmp_path / name, columns)
        table = reader(tmp_path / name)
        assert list(table.columns) == ["row", "label", "confidence", "p_1", "p_2"]
        assert table["label"].isna().tolist() == [False, True]
        assert table["label"][0] == 1
    assert '"label": null' in (tmp_path / "a.json").read_text()


def test_columns_and_drop(tmp_path):
    frame(X, label=y, index=np.arange(N)).to_csv(tmp_path / "a.csv", index=False)
    assert read(tmp_path / "a.csv").id_name == "index"
    chosen = read(tmp_path / "a.csv", columns=("f2", "index"))
    assert (chosen.feature_names, chosen.id_name) == (("f2", "index"), None)  # named, so it is no id
    assert read(tmp_path / "a.csv", drop=("F1", "index")).dropped == ("f1", "index")


def test_without_a_header_the_number_of_the_label_may_be_that_of_a_feature(tmp_path):
    labelled = pandas.DataFrame(X)
    labelled.insert(0, "kind", CLASSES[y])
    labelled.to_csv(tmp_path / "s.csv", index=False, header=False)
    frame(X).to_csv(tmp_path / "t.csv", index=False, header=False)
    source = read(tmp_path / "s.csv")
    assert source.label_name == "0"
    target = read(tmp_path / "t.csv", role="target", like=source)
    assert target.y is None
    np.testing.assert_allclose(target.X.to_numpy(), X)
    assert read(tmp_path / "s.csv", role="target", like=source).y.tolist() == CLASSES[y].tolist()
