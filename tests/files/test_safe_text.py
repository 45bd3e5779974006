"""Labels, ids and names from strangers: no formula in a spreadsheet, no command to a terminal, and back again."""

import csv
import io
import json

import numpy as np
import pytest

from lpjt._safe_text import safe_cell, visible
from lpjt.files import FileDomain, FileError, read_known_labels, write_columns, write_labels

FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1", "＝1+1", "=-1"]
NUMBERS = ["-1", "+1", "-1.5", "-1,5", "+.5e-3", "-1e9"]
ORDINARY = ["+", "-", "@", "=", "a=b", "1-2", "'quoted'", "", "cat", "é", "a\tb", "two\nlines"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_starts_a_formula(text):
    assert safe_cell(text)[0] not in "=+-@\t\r\n＝"
    assert text.lstrip("\r") in safe_cell(text)


@pytest.mark.parametrize("value", [*NUMBERS, *ORDINARY, -1, -1.5, None, True])
def test_numbers_and_ordinary_texts_stay(value):
    assert safe_cell(value) == value


def test_what_a_terminal_would_obey_is_shown():
    assert visible("\x1b[31mred\x9b0m\x07\x7f") == "\\u001b[31mred\\u009b0m\\u0007\\u007f"
    assert visible("a\u202eb\u2066") == "a\\u202eb\\u2066"
    assert visible("half \ud800") == "half \\ud800"
    assert visible("two\nlines\tand é 猫") == "two\nlines\tand é 猫"
    assert visible("a\rb") == "a\\u000db"


def written(path, *, raw_text=False, **columns):
    with np.errstate(all="raise"):
        write_columns(path, {name: np.array(column, dtype=object) for name, column in columns.items()},
                      raw_text=raw_text)  # fmt: skip
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def test_csv_has_no_formulas_and_says_so(tmp_path):
    columns = {"=id": ["=a", "b"], "label": ["\x1b[2J", -1]}
    with pytest.warns(UserWarning, match=r"3 texts that start like a formula.*escaped. raw_text=True \(or"):
        rows = written(tmp_path / "safe.csv", **columns)
    assert rows == [["'=id", "label"], ["'=a", "\\u001b[2J"], ["b", "-1"]]
    assert written(tmp_path / "raw.csv", raw_text=True, **columns) == [["=id", "label"], ["=a", "\x1b[2J"], ["b", "-1"]]


def test_nothing_is_said_of_ordinary_texts(tmp_path, recwarn):
    written(tmp_path / "out.csv", id=["a", "b"], label=["-1", "+"])
    assert not recwarn.list


def test_json_and_parquet_keep_every_text(tmp_path):
    texts = ["=a", "\x1b[2J", "\x9b"]
    for name in ("out.json", "out.parquet"):
        write_columns(tmp_path / name, {"label": np.array(texts, dtype=object)})
    assert [row["label"] for row in json.loads((tmp_path / "out.json").read_text())] == texts
    assert "\x9b" not in (tmp_path / "out.json").read_text()
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert pandas.read_parquet(tmp_path / "out.parquet")["label"].tolist() == texts


def test_standard_output_has_no_formulas(capsys):
    with pytest.warns(UserWarning, match="escaped"):
        write_labels("-", np.array(["=a"]), np.array([1.0]))
    assert "'=a" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:.*were escaped")
@pytest.mark.parametrize("raw_text", [False, True])
def test_known_labels_are_read_from_what_we_wrote(tmp_path, raw_text):
    pytest.importorskip("pandas")
    ids = np.array(["=1+1", "-x", "\x1b[31m", "plain", "+49 30"], dtype=object)
    classes = ["@home", "-1+1", "\x07bell", "ape"]
    labels = np.array([*classes, None], dtype=object)
    target = FileDomain(tmp_path / "t.csv", "csv", np.zeros((5, 2)), ids=ids, id_name="=id")
    path = tmp_path / "ask.csv"
    write_columns(path, {"=id": ids, "=kind": labels}, raw_text=raw_text)
    found = read_known_labels(path, target, classes, label="=kind")
    assert found.tolist() == labels.tolist()


def test_an_escape_that_is_also_another_text_is_refused(tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "known.csv"
    path.write_text("id,label\n'=a,x\n")
    target = FileDomain(tmp_path / "t.csv", "csv", np.zeros((2, 2)), ids=np.array(["=a", "'=a"]), id_name="id")
    with pytest.raises(FileError, match="is the id of several target rows"):
        read_known_labels(path, target, ["x"])
    path.write_text("row,label\n0,'=a\n")
    target = FileDomain(tmp_path / "t.csv", "csv", np.zeros((2, 2)))
    with pytest.raises(FileError, match=r"is one class of the sources, and another escaped. Rename one"):
        read_known_labels(path, target, ["=a", "'=a"])
