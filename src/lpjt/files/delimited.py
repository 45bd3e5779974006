"""Reader of delimited text, csv and tsv: what separates the cells, what marks decimals, is there a header."""

import csv
import gzip
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lpjt.files.domain import FileError, ReadOptions
from lpjt.files.frames import MISSING, RawTable, require_pandas
from lpjt.isolated import check_stream, limits_for

_SAMPLE = 50  # lines that are looked at
_COMMA_DECIMAL = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_POINT_DECIMAL = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_WORDS_FOR_TAB = {"\\t": "\t", "tab": "\t"}  # a tab is hard to type in a shell


class Layout(NamedTuple):
    """How a text file is laid out."""

    sep: str
    decimal: str
    encoding: str
    has_header: bool

    def remarks(self, usual_sep: str) -> tuple[str, ...]:
        """What is out of the ordinary, in words."""
        found = [f"separator {self.sep!r}"] if self.sep != usual_sep else []
        found += [f"decimal mark {self.decimal!r}"] if self.decimal != "." else []
        found += [f"encoding {self.encoding}"] if self.encoding != "utf-8-sig" else []
        found += [] if self.has_header else ["no header line, so columns are named by their number, from 0"]
        return tuple(found)


def open_csv(path: Path, options: ReadOptions) -> RawTable:
    """Read a delimited text file, with or without a header line."""
    pandas = require_pandas(path)
    found = sniff(path, options)
    layout: dict[str, Any] = {
        "sep": found.sep,
        "decimal": found.decimal,
        "header": 0 if found.has_header else None,
        "encoding": found.encoding,
        "skipinitialspace": True,
        "index_col": False,
    }
    with warnings.catch_warnings():
        # pandas only warns when it drops the fields of a row that exceed the header.
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        frame = pandas.read_csv(path, low_memory=False, na_values=list(MISSING), **layout)
    columns = [str(name).strip() for name in frame.columns]

    def as_written(name: str) -> np.ndarray:
        # Read again as text, because pandas turns the id 0012 into 12 and the class NA into a missing value.
        again = pandas.read_csv(path, usecols=[columns.index(name)], dtype=str, keep_default_na=False, **layout)
        return again.iloc[:, 0].to_numpy(dtype=object)

    remarks = found.remarks(usual_sep="\t" if ".tsv" in path.name.lower() else ",")
    kind = "tsv" if found.sep == "\t" else "csv"
    return RawTable(frame.set_axis(columns, axis=1), as_written, kind, remarks)


def sniff(path: Path, options: ReadOptions) -> Layout:
    """The layout of a file: what the caller gave, where it fits the file, and the rest from its first lines.

    One call may read last year's file with points and this year's with commas, so what is given is not forced on all.
    """
    check_stream(path, limits_for(path.stat().st_size), options.encoding)
    encoding = _encoding(path, options.encoding)
    lines = _first_lines(path, encoding)
    if not lines or not lines[0].strip():
        raise FileError(f"{path}: the first line is blank. It must be a header or the first row: remove it.")
    sep = _separator(path, lines, options.sep)
    rows = [next(csv.reader([line], delimiter=sep), []) for line in lines if line.strip()]
    if options.decimal is not None and len(options.decimal) != 1:
        raise FileError(f"{path}: --decimal {options.decimal!r} is not one character. Give , or a point.")
    decimal = options.decimal if options.decimal not in (None, sep) else _decimal(rows)
    return Layout(sep, decimal or ".", encoding, _has_header(rows, decimal or "."))


def _opener(path: Path) -> Callable[..., Any]:
    return gzip.open if path.suffix.lower() == ".gz" else open


def _separator(path: Path, lines: list[str], given: str | None) -> str:
    """The given separator if the first line has it, otherwise the usual one that it has most of.

    Commas do not count where another one parts all lines into cells in which every comma is a decimal mark.
    """
    given = None if given is None else _WORDS_FOR_TAB.get(given, given)
    if given is not None and len(given) != 1:
        raise FileError(f"{path}: --sep {given!r} is not one character. Give e.g. ';', ',' or tab.")
    if given is not None and given in lines[0]:
        return given
    for other in ";\t|":
        rows = [next(csv.reader([line], delimiter=other), []) for line in lines if line.strip()]
        with_comma = [cell for row in rows for cell in row if "," in cell]
        one_width = len({len(row) for row in rows}) == 1 < len(rows[0])
        if one_width and with_comma and all(_COMMA_DECIMAL.fullmatch(cell) for cell in with_comma):
            return other
    return max("\t;,|" if ".tsv" in path.name.lower() else ",;\t|", key=lines[0].count)


def _encoding(path: Path, given: str | None) -> str:
    """UTF-8 if the bytes are that, or what their mark says; otherwise what is given.

    Text of another encoding is UTF-8 only if it has no letter beyond ASCII, or zero bytes.
    """
    with _opener(path)(path, "rb") as file:
        start = file.read(2)
        if start in (b"\xff\xfe", b"\xfe\xff"):  # Excel's "Unicode text"
            return "utf-16"
        if given is None:
            return "utf-8-sig"
        rest = start + file.read()
    try:
        rest.decode("utf-8")
    except UnicodeDecodeError:
        return given
    return given if b"\0" in rest else "utf-8-sig"


def _first_lines(path: Path, encoding: str) -> list[str]:
    try:
        with _opener(path)(path, "rt", encoding=encoding, newline="") as file:
            return [line for line, _ in zip(file, range(_SAMPLE), strict=False)]
    except LookupError as error:
        raise FileError(f"{path}: --encoding {encoding!r} is unknown. Give e.g. utf-8, latin-1 or cp1252.") from error


def _decimal(rows: list[list[str]]) -> str:
    """A comma if cells have one where others have a point, and no cell has a point there.

    Between commas such cells are in quotes.
    """
    cells = [cell for row in rows for cell in row]
    comma = any(_COMMA_DECIMAL.fullmatch(cell) for cell in cells)
    return "," if comma and not any(_POINT_DECIMAL.fullmatch(cell) for cell in cells) else "."


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Whether the first line names the columns: no number, or names over numbers."""
    top, below = rows[0], rows[1] if len(rows) > 1 else []
    numbers = [float(cell.replace(decimal, ".")) for cell in top if _is_number(cell, decimal)]
    # pandas names unnamed columns 0, 1, 2, ...; other numbers are data.
    counting = len(numbers) > 2 and numbers == [numbers[0] + i for i in range(len(numbers))]
    names_numbers = any(
        cell.strip() and not _is_number(cell, decimal) and _is_number(value, decimal)
        for cell, value in zip(top, below, strict=False)
    )
    return counting or names_numbers or not numbers


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.replace(decimal, "."))
    except ValueError:
        return False
    return True
