"""Readers of files with named columns: csv, tsv, parquet."""

import csv
import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from lpjt.files.domain import (
    ID_NAMES,
    LABEL_NAMES,
    FileDomain,
    FileError,
    ReadOptions,
    check_matrix,
    clean_labels,
    decode_text,
    find_name,
    normalize_name,
    quote_names,
)

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def _pandas(path: Path) -> ModuleType:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"`pandas` is needed to read {path}. Install it with `pip install 'lpjt[cli]'`.") from error
    return pandas


def read_csv(path: Path, options: ReadOptions) -> FileDomain:
    """Read a delimited text file, with or without a header line."""
    pandas = _pandas(path)
    separator, has_header = _sniff(path)
    layout: dict[str, Any] = {
        "sep": separator,
        "header": 0 if has_header else None,
        "encoding": "utf-8-sig",
        "skipinitialspace": True,
        "index_col": False,
    }
    with warnings.catch_warnings():
        # pandas only warns when it drops the fields of a row that exceed the header.
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        frame = pandas.read_csv(path, low_memory=False, **layout)
    columns = [str(name) for name in frame.columns]

    def as_written(name: str) -> np.ndarray:
        # Read again as text, because pandas turns the id 0012 into 12 and the class NA into a missing value.
        again = pandas.read_csv(path, usecols=[columns.index(name)], dtype=str, keep_default_na=False, **layout)
        return again.iloc[:, 0].to_numpy(dtype=object)

    remarks = () if has_header else ("no header line, so columns are named by their number, from 0",)
    kind = "tsv" if separator == "\t" else "csv"
    return _to_domain(frame.set_axis(columns, axis=1), as_written, path, kind, options, remarks)


def read_parquet(path: Path, options: ReadOptions) -> FileDomain:
    """Read a parquet file; a column of equally long lists counts as that many feature columns."""
    pandas = _pandas(path)
    frame = pandas.read_parquet(path)
    if frame.index.name is not None:
        frame = frame.reset_index()
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)

    def as_stored(name: str) -> np.ndarray:
        column = frame[name]
        if column.notna().all():
            return column.to_numpy()
        return column.astype(object).where(column.notna(), None).to_numpy()

    return _to_domain(frame, as_stored, path, "parquet", options, ())


def _sniff(path: Path) -> tuple[str, bool]:
    """The separator, and whether the first line is a header."""
    opener: Callable[..., Any] = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        first, second = file.readline(), file.readline()
    if not first.strip():
        raise FileError(f"{path}: the first line is blank. It must be a header or the first row.")
    separator = max("\t;," if ".tsv" in path.name.lower() else ",;\t", key=first.count)
    top, below = (next(csv.reader([line], delimiter=separator), []) for line in (first, second))
    numbers = [float(cell) for cell in top if _is_number(cell)]
    # pandas names unnamed columns 0, 1, 2, ...; other numbers are data.
    counting = len(numbers) > 2 and numbers == [numbers[0] + i for i in range(len(numbers))]
    names_numbers = any(
        cell.strip() and not _is_number(cell) and _is_number(value) for cell, value in zip(top, below, strict=False)
    )
    return separator, counting or names_numbers or not numbers


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _to_domain(
    frame: "DataFrame",
    values_of: Callable[[str], np.ndarray],
    path: Path,
    kind: str,
    options: ReadOptions,
    remarks: tuple[str, ...],
) -> FileDomain:
    """Find the labels and the ids; all other columns are features."""
    frame = frame.loc[:, [not (name.startswith("Unnamed:") and frame[name].isna().all()) for name in frame]]
    if len(frame) == 0:
        raise FileError(f"{path}: no rows below the header ({quote_names(frame.columns)}).")
    label = _named_label(frame, path, options)
    id_name = _id_column(frame.drop(columns=label or []), path, options)
    rest = frame.drop(columns=[name for name in (label, id_name) if name])
    if label is None:
        label = _text_label(rest, options)
        rest = rest.drop(columns=label or [])
    X, names = _features(rest, path)
    return FileDomain(
        path=path,
        kind=kind,
        X=check_matrix(X, path=path, names=names),
        y=clean_labels(values_of(label), name=label, path=path) if label else None,
        ids=decode_text(values_of(id_name)) if id_name else None,
        feature_names=names,
        label_name=label,
        id_name="row" if id_name and normalize_name(id_name) == "unnamed:_0" else id_name,
        remarks=remarks,
    )


def _named_label(frame: "DataFrame", path: Path, options: ReadOptions) -> str | None:
    names = list(frame.columns)
    if options.label is not None:
        return find_name(options.label, names, what="column", path=path)
    if options.like is not None and options.like.label_name in names:
        return options.like.label_name
    found = [
        name
        for name in names
        if normalize_name(name) in LABEL_NAMES and name not in options.features and _holds_classes(frame[name])
    ]
    if len(found) > 1:
        raise FileError(f"{path}: columns {quote_names(found)} all look like labels. Keep one, or name it (--label).")
    return found[0] if found else None


def _holds_classes(column: "Series") -> bool:
    """Whether a column holds repeated whole numbers or text: a measured feature may be named 'y' or 'target' too."""
    present = column.dropna()
    if _is_numeric(column) and not (present == present.round()).all():
        return False
    return _is_scalar(column) and (len(present) < 10 or present.nunique() <= len(present) / 2)


def _id_column(frame: "DataFrame", path: Path, options: ReadOptions) -> str | None:
    names = list(frame.columns)
    if options.id_column is not None:
        if options.role == "target":
            return find_name(options.id_column, names, what="id column", path=path)
        return options.id_column if options.id_column in names else None
    for name in names:
        if normalize_name(name) not in ID_NAMES or name in options.features or not _is_scalar(frame[name]):
            continue
        counts_rows = frame[name].dtype.kind in "iu" and frame[name].is_unique
        if counts_rows or not _is_numeric(frame[name]):
            return name
    return None


def _text_label(frame: "DataFrame", options: ReadOptions) -> str | None:
    """The only text column, if its values are repeated."""
    texts = [name for name in frame if not _is_numeric(frame[name]) and _is_scalar(frame[name])]
    if len(texts) == 1 and texts[0] not in options.features and _holds_classes(frame[texts[0]]):
        return texts[0]
    return None


def _features(frame: "DataFrame", path: Path) -> tuple[np.ndarray, tuple[str, ...]]:
    """The numeric columns as one matrix, (n_rows, n_columns)."""
    listed = [name for name in frame if not _is_scalar(frame[name])]
    not_numeric = [name for name in frame if name not in listed and not _is_numeric(frame[name])]
    if not_numeric:
        raise FileError(
            f"{path}: {'columns' if len(not_numeric) > 1 else 'column'} {quote_names(not_numeric, 3)} "
            f"{'are' if len(not_numeric) > 1 else 'is'} not numeric (for example {_example(frame[not_numeric[0]])}). "
            "Name it with --label or --id, encode it as numbers, or remove it."
        )
    scalar = [name for name in frame if name not in listed]
    single = all(frame[name].dtype == np.float32 for name in scalar)
    matrix = frame[scalar].to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    blocks = [matrix] if scalar else []
    names = list(scalar)
    for name in listed:
        blocks.append(_stack_lists(frame[name], path))
        names += [f"{name}[{i}]" for i in range(blocks[-1].shape[1])]
    return np.hstack(blocks) if listed else matrix, tuple(names)


def _stack_lists(column: "Series", path: Path) -> np.ndarray:
    """A column of lists as a matrix, (n_rows, length of a list)."""
    try:
        return np.vstack(column.to_list())
    except ValueError as error:
        raise FileError(f"{path}: the lists in column '{column.name}' differ in length.") from error


def _example(column: "Series") -> str:
    """The first cell that is not a number, and its row."""
    cells = enumerate(column)
    row, cell = next(
        ((i, cell) for i, cell in cells if cell == cell and not _is_number(str(cell))), (0, column.iloc[0])
    )
    return f"'{str(cell)[:40]}' in row {row}"


def _is_numeric(column: "Series") -> bool:
    return column.dtype.kind in "biuf"


def _is_scalar(column: "Series") -> bool:
    return not (column.dtype == object and len(column) and isinstance(column.iloc[0], list | tuple | np.ndarray))
