"""Named columns: csv, tsv, parquet; and matching them between files."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file

from lpjt.files import FileError, match_columns, read_domain
from tables import WIDTH, N, X, error_of, frame, pandas, y


@pytest.mark.parametrize(
    ("name", "separator"),
    [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t"), ("a.csv.gz", ","), ("a.TSV.gz", "\t")],
)
def test_delimited_text(tmp_path, name, separator):
    frame(X, label=y).to_csv(tmp_path / name, sep=separator, index=False)
    domain = read_domain(tmp_path / name)
    assert_array_equal(domain.X, X)
    assert_array_equal(domain.y, y)
    assert domain.feature_names == ("f0", "f1", "f2", "f3")
    assert (domain.label_name, domain.id_name, domain.ids) == ("label", None, None)
    assert "30 rows x 4 columns" in domain.description
    assert "labels in 'label'" in domain.description


@pytest.mark.parametrize("name", ["Label", "CLASS", "target", "gnd", "y", "Ground Truth", "category"])
def test_label_column_is_found_by_name(tmp_path, name):
    frame(X, **{name: y}).to_csv(tmp_path / "a.csv", index=False)
    assert read_domain(tmp_path / "a.csv").label_name == name


def test_label_column_is_the_only_text_column(tmp_path):
    words = np.array(["cat", "dog", "NA"])[y]
    frame(X, kind=words).to_csv(tmp_path / "a.csv", index=False)
    domain = read_domain(tmp_path / "a.csv")
    assert domain.label_name == "kind"
    assert_array_equal(domain.y, words)  # "NA" is a word like any other


def test_named_label_column(tmp_path):
    frame(X, label=y, f9=y).to_csv(tmp_path / "a.csv", index=False)
    domain = read_domain(tmp_path / "a.csv", label="F9")
    assert domain.label_name == "f9"
    assert domain.X.shape == (N, WIDTH + 1)  # `label` was not asked for, so it is a feature


def test_measured_column_named_y_is_a_feature(tmp_path):
    frame(X, y=X[:, 0] * 2).to_csv(tmp_path / "a.csv", index=False)
    domain = read_domain(tmp_path / "a.csv")
    assert domain.y is None
    assert domain.feature_names == ("f0", "f1", "f2", "f3", "y")


def test_two_label_columns_are_ambiguous(tmp_path):
    frame(X, label=y, target=y).to_csv(tmp_path / "a.csv", index=False)
    assert "'label', 'target' all look like labels" in error_of(tmp_path / "a.csv")


def test_ids_stay_as_written(tmp_path):
    ids = [f"{i:04d}" for i in range(N)]
    frame(X, id=ids, label=y).to_csv(tmp_path / "a.csv", index=False)
    domain = read_domain(tmp_path / "a.csv")
    assert domain.id_name == "id"
    assert domain.ids.tolist() == ids
    assert domain.X.shape == (N, WIDTH)


def test_index_written_by_pandas_is_no_feature(tmp_path):
    frame(X, label=y).to_csv(tmp_path / "a.csv")
    domain = read_domain(tmp_path / "a.csv")
    assert_array_equal(domain.X, X)
    assert domain.id_name == "row"
    assert_array_equal(domain.ids.astype(int), np.arange(N))


def test_measured_column_named_index_is_a_feature(tmp_path):
    frame(X, index=X[:, 1], label=y).to_csv(tmp_path / "a.csv", index=False)
    domain = read_domain(tmp_path / "a.csv")
    assert domain.id_name is None
    assert "index" in domain.feature_names


def test_named_id_column(tmp_path):
    frame(X, plate=[f"p{i}" for i in range(N)], label=y).to_csv(tmp_path / "a.csv", index=False)
    assert read_domain(tmp_path / "a.csv", id_column="plate", role="target").ids[3] == "p3"
    frame(X, label=y).to_csv(tmp_path / "b.csv", index=False)
    assert "no id column named 'plate'" in error_of(tmp_path / "b.csv", id_column="plate", role="target")
    assert read_domain(tmp_path / "b.csv", id_column="plate", role="source").ids is None


@pytest.mark.parametrize("blank", ["", "nan", "<NA>"])
def test_partly_missing_labels(tmp_path, blank):
    # pandas writes whole numbers with gaps as 1.0; they must equal the 1 of a full column.
    texts = [blank if i % 2 else f"{label}.0" for i, label in enumerate(y)]
    frame(X, label=texts).to_csv(tmp_path / "a.csv", index=False)
    domain = read_domain(tmp_path / "a.csv")
    assert domain.y.tolist() == [None if i % 2 else int(label) for i, label in enumerate(y)]
    assert_array_equal(domain.labelled, np.arange(N) % 2 == 0)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1", "2", "10"], [1, 2, 10]),
        (["007", "2", "10"], ["007", "2", "10"]),
        (["True", "False", "True"], ["True", "False", "True"]),
        (["-1", "1", "1"], [-1, 1, 1]),
        (["1", "b", "1"], ["1", "b", "1"]),
    ],
)
def test_labels_have_one_type(tmp_path, texts, expected):
    frame(X, label=texts * 10).to_csv(tmp_path / "a.csv", index=False)
    assert read_domain(tmp_path / "a.csv").y.tolist() == expected * 10


@pytest.mark.parametrize(("text_last", "label"), [(True, "4"), (False, None)])
def test_no_header_line(tmp_path, text_last, label):
    rows = frame(X, label=np.array(["a", "b", "c"])[y]) if text_last else frame(X)
    rows.to_csv(tmp_path / "a.csv", index=False, header=False)
    domain = read_domain(tmp_path / "a.csv")
    assert_array_equal(domain.X, X)
    assert domain.label_name == label
    assert "no header line" in domain.description


def test_columns_named_by_numbers_are_a_header(tmp_path):
    pandas.DataFrame(np.c_[X, y]).to_csv(tmp_path / "a.csv", index=False)
    assert_array_equal(read_domain(tmp_path / "a.csv", label="4").X, X)


def test_byte_order_mark_and_trailing_separator(tmp_path):
    (tmp_path / "a.csv").write_bytes("\ufefflabel,a,b,\n0,1,2,\n1,3,4,\n0,5,6,\n".encode())
    domain = read_domain(tmp_path / "a.csv")
    assert_array_equal(domain.X, [[1, 2], [3, 4], [5, 6]])
    assert_array_equal(domain.y, [0, 1, 0])


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    labels = pandas.Categorical(np.array(["a", "b", "c"])[y])
    frame(X.astype(np.float32), label=labels, id=np.arange(N)).to_parquet(tmp_path / "a.parquet")
    domain = read_domain(tmp_path / "a.parquet")
    assert domain.X.dtype == np.float32
    assert_array_equal(domain.X, X.astype(np.float32))
    assert_array_equal(domain.y, np.asarray(labels))
    assert_array_equal(domain.ids, np.arange(N))


def test_parquet_with_gaps_in_labels(tmp_path):
    pytest.importorskip("pyarrow")
    labels = pandas.Series(y, dtype="Int64").mask(np.arange(N) < 5)
    frame(X, label=labels).to_parquet(tmp_path / "a.parquet")
    assert read_domain(tmp_path / "a.parquet").y.tolist() == [None] * 5 + y[5:].tolist()


def test_parquet_column_of_embeddings(tmp_path):
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"embedding": list(X), "label": y}).to_parquet(tmp_path / "a.parquet")
    domain = read_domain(tmp_path / "a.parquet")
    assert_array_equal(domain.X, X)
    assert domain.feature_names[:2] == ("embedding[0]", "embedding[1]")
    ragged = [row[: 3 + i % 2] for i, row in enumerate(X)]
    pandas.DataFrame({"embedding": ragged, "label": y}).to_parquet(tmp_path / "b.parquet")
    assert "lists in column 'embedding' differ in length" in error_of(tmp_path / "b.parquet")


def test_svmlight_files_get_one_width(tmp_path):
    # Numbered from 1, and the last feature is in use in one file only.
    dump_svmlight_file(X, y, str(tmp_path / "a.svmlight"), zero_based=False)
    dump_svmlight_file(X[:, :2], y, str(tmp_path / "b.svmlight"), zero_based=False)
    (a, b), _ = match_columns([read_domain(tmp_path / f"{name}.svmlight") for name in "ab"])
    np.testing.assert_allclose(a.X.toarray(), X)
    np.testing.assert_allclose(b.X.toarray(), np.c_[X[:, :2], np.zeros((N, 2))])


def test_features_of_the_source_are_features_of_the_target(tmp_path):
    frame(X, y=y, index=np.arange(N), kind=y).to_csv(tmp_path / "a.csv", index=False)
    frame(X, y=y, index=np.arange(N)).to_csv(tmp_path / "b.csv", index=False)
    source = read_domain(tmp_path / "a.csv", label="kind", id_column="none")
    target = read_domain(tmp_path / "b.csv", role="target", like=source)
    assert source.feature_names == target.feature_names == ("f0", "f1", "f2", "f3", "y", "index")


def test_matrix_that_may_lie_on_its_side_is_told(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=y)
    np.save(tmp_path / "b.npy", X.T)
    domains = [read_domain(tmp_path / "a.npz"), read_domain(tmp_path / "b.npy")]
    with pytest.raises(FileError, match=r"The numbers of columns differ \(a.npz 4, b.npy 30\).*transpose it"):
        match_columns(domains)
    matched, notes = match_columns(domains, "different")
    assert [domain.X.shape for domain in matched] == [(N, WIDTH), (WIDTH, N)]
    assert "transpose it" in notes[0]
    assert "different features (a.npz 4, b.npy 30 columns)" in notes[1]
