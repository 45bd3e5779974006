"""What cannot be read gets one line; what is written is whole."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import io, sparse

from lpjt.files import FileError, check_output, read_domain, write_labels
from tables import N, X, error_of, frame, pandas, y


def test_missing_file_directory_and_unknown_format(tmp_path):
    assert "no such file" in error_of(tmp_path / "none.csv")
    assert "is a directory" in error_of(tmp_path)
    (tmp_path / "a.docx").write_text("x")
    message = error_of(tmp_path / "a.docx")
    assert "'.docx' is not a known file format" in message
    assert ".parquet" in message
    (tmp_path / "a.csv").touch()
    assert "empty" in error_of(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["a.parquet", "a.npz", "a.npy", "a.mat", "a.svmlight", "a.csv.gz"])
def test_foreign_content_gets_one_line(tmp_path, name):
    (tmp_path / name).write_bytes(bytes(range(256)) * 8)
    assert "It may be truncated, or its suffix may be wrong" in error_of(tmp_path / name)


def test_text_in_another_encoding(tmp_path):
    (tmp_path / "a.csv").write_bytes("a,b,label\n1,2,caf\u00e9\n".encode("latin-1"))
    assert "save it in UTF-8" in error_of(tmp_path / "a.csv")


@pytest.mark.parametrize("kind", ["csv.gz", "parquet", "npz", "npy", "mat"])
def test_truncated_file_gets_one_line(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    wide = np.tile(X, (20, 5))
    writers = {
        "csv.gz": lambda: frame(wide).to_csv(path, index=False),
        "parquet": lambda: frame(wide).to_parquet(path),
        "npz": lambda: np.savez_compressed(path, X=wide),
        "npy": lambda: np.save(path, wide),
        "mat": lambda: io.savemat(path, {"X": wide}, do_compression=True),
    }
    writers[kind]()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert f"cannot be read as {kind.split('.')[0]}" in error_of(path)


def test_ragged_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,label\n1,2,0\n1,2,0,9\n1,2,1\n")
    assert "cannot be read as csv" in error_of(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("a,b,label\n1,2,0,9\n1,2,1,9\n")
    assert "cannot be read as csv" in error_of(tmp_path / "b.csv")


def test_header_without_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,label\n")
    assert "no rows below the header" in error_of(tmp_path / "a.csv")


def test_blank_cell_is_named(tmp_path):
    holed = X.copy()
    holed[7, 2] = np.nan
    frame(holed, label=y).to_csv(tmp_path / "a.csv", index=False)
    assert "1 cells are blank or not finite, the first in row 7, column 'f2'" in error_of(tmp_path / "a.csv")
    np.savez(tmp_path / "a.npz", X=holed, y=y)
    assert "row 7, column 2" in error_of(tmp_path / "a.npz")
    sparse.save_npz(tmp_path / "b.npz", sparse.csr_matrix(np.where(np.isnan(holed), np.inf, holed)))
    assert "row 7, column 2" in error_of(tmp_path / "b.npz")


def test_text_columns_are_named(tmp_path):
    frame(X, label=y, where="here", when=["1", "2", "noon"] * 10).to_csv(tmp_path / "a.csv", index=False)
    message = error_of(tmp_path / "a.csv")
    assert "columns 'where', 'when' are not numeric" in message
    assert "'here' in row 0" in message


def test_absent_label_column_suggests_the_nearest(tmp_path):
    frame(X, species=y).to_csv(tmp_path / "a.csv", index=False)
    assert "no column named 'specie' (nearest: 'species')" in error_of(tmp_path / "a.csv", label="specie")
    np.savez(tmp_path / "a.npz", X=X, codes=y)
    assert "no array named 'code' (nearest: 'codes')" in error_of(tmp_path / "a.npz", label="code")


def test_fractions_are_no_labels(tmp_path):
    frame(X, out=X[:, 0]).to_csv(tmp_path / "a.csv", index=False)
    assert "are fractions" in error_of(tmp_path / "a.csv", label="out")


def test_labels_that_fit_neither_side(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=y[:7])
    assert "holds 7 labels, but 'X' is 30 x 4" in error_of(tmp_path / "a.npz", label="y")


def test_several_matrices_without_a_name(tmp_path):
    np.savez(tmp_path / "a.npz", left=X, right=X)
    assert "several matrices ('left', 'right')" in error_of(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", X=X.reshape(3, 10, 4))
    assert "no numeric matrix found among its arrays ('X' (3, 10, 4))" in error_of(tmp_path / "b.npz")


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [("a.csv", "pandas", "cli"), ("a.parquet", "pandas", "cli"), ("a.mat", "h5py", "hdf5")],
)
def test_missing_library_is_named_with_its_remedy(tmp_path, monkeypatch, name, library, extra):
    monkeypatch.setitem(sys.modules, library, None)
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    (tmp_path / name).write_bytes(header if name == "a.mat" else b"a,b\n1,2\n")
    with pytest.raises(ImportError, match=rf"`{library}` is needed .* `pip install 'lpjt\[{extra}\]'`"):
        read_domain(tmp_path / name)


def test_pickles_are_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "trapped",))

    np.savez(tmp_path / "a.npz", X=X, y=np.array([Trap()] * N, dtype=object))
    assert "'y' is pickled" in error_of(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", X=X, y=y, history=np.array([Trap()], dtype=object))
    assert_array_equal(read_domain(tmp_path / "b.npz").y, y)
    np.save(tmp_path / "a.npy", np.array([[Trap()]], dtype=object))
    error_of(tmp_path / "a.npy")
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_written_labels_read_back(tmp_path, name):
    path = tmp_path / name
    ids = np.array(["a", "b,c", 'd"e'])
    write_labels(path, np.array([3, 1, 2]), np.array([0.5, 0.25, 1.0]), ids=ids, id_name="file")
    readers = {".csv": pandas.read_csv, ".tsv": pandas.read_table, ".parquet": pandas.read_parquet}
    back = readers[path.suffix](path)
    assert list(back.columns) == ["file", "label", "confidence"]
    assert back["file"].tolist() == ids.tolist()
    assert back["label"].tolist() == [3, 1, 2]
    assert os.listdir(tmp_path) == [name]


def test_rows_are_numbered_without_ids(tmp_path):
    write_labels(tmp_path / "out.csv", np.array(["x", "y"]), np.array([0.5, 1 / 3]))
    assert (tmp_path / "out.csv").read_text() == "row,label,confidence\n0,x,0.5\n1,y,0.333333\n"


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("old")

    class Broken(np.ndarray):
        def tolist(self):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_labels(path, np.array([1, 2]).view(Broken), np.array([1.0, 1.0]), overwrite=True)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_output_is_checked_before_work(tmp_path):
    (tmp_path / "in.csv").write_text("a\n1\n")
    assert check_output(tmp_path / "out.csv", [tmp_path / "in.csv"]) == tmp_path / "out.csv"
    for name, words in {
        "out.xlsx": "Name it .csv, .tsv, .parquet or .json",
        "none/out.csv": "does not exist",
        "in.csv": "would overwrite an input",
    }.items():
        with pytest.raises(FileError, match=words):
            check_output(tmp_path / name, [tmp_path / "in.csv"])
    (tmp_path / "out.csv").touch()
    with pytest.raises(FileError, match=r"exists and was kept. Choose another name, or replace it with --force"):
        check_output(tmp_path / "out.csv")
    assert check_output(tmp_path / "out.csv", force=True) == tmp_path / "out.csv"
