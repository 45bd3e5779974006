"""Files with named columns: which column has the labels, the ids, the weights; and the reader of parquet."""

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lpjt._cells import distinct_texts, read_kind, to_numbers
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
    shown,
)
from lpjt.isolated import read_isolated

if TYPE_CHECKING:
    from pandas import DataFrame, Series

#: Cells that mean "missing", beside those that pandas knows (blank, NA, N/A, nan, null, None, ...).
MISSING = ("?", "-", "--", ".", "n.a.", "N.A.")

_WHOLE_OR_FRACTION = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


class RawTable(NamedTuple):
    """A table as its file has it."""

    frame: "DataFrame"
    values_of: Callable[[str], np.ndarray]  # the cells of a column as they are written, for labels and ids
    kind: str  # format of the file
    remarks: tuple[str, ...]


def require_pandas(path: Path) -> ModuleType:
    """The module pandas, or an error that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"`pandas` is needed to read {path}. Install it with `pip install 'lpjt[cli]'`.") from error
    return pandas


def open_parquet(path: Path, options: ReadOptions) -> RawTable:
    """Read a parquet file; a column of equally long lists counts as that many feature columns."""
    pandas = require_pandas(path)
    if find_spec("pyarrow") is None:
        raise ImportError(f"`pyarrow` is needed to read {path}. Install it with `pip install 'lpjt[cli]'`.")
    with tempfile.TemporaryDirectory(prefix="lpjt-") as folder:
        # Arrow's format for exchange, which feather is: what the child has decompressed and checked.
        checked = Path(folder) / "table.feather"
        read_isolated(path, "parquet", output=str(checked))
        frame = pandas.read_feather(checked)
    if frame.index.name is not None:
        frame = frame.reset_index()
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)

    return RawTable(frame, as_stored(frame), "parquet", ())


def as_stored(frame: "DataFrame") -> Callable[[str], np.ndarray]:
    """A function that gives the cells of a column, None where missing."""

    def cells_of(name: str) -> np.ndarray:
        column = frame[name]
        if column.notna().all():
            return column.to_numpy()
        return column.astype(object).where(column.notna(), None).to_numpy()

    return cells_of


def to_domain(raw: RawTable, path: Path, options: ReadOptions) -> FileDomain:
    """Find the labels, the ids and the weights; all other columns are features, unless the caller names them."""
    frame, values_of = raw.frame, raw.values_of
    frame = frame.loc[:, [not (name.startswith("Unnamed:") and frame[name].isna().all()) for name in frame]]
    if len(frame) == 0:
        raise FileError(f"{path}: no rows below the header ({quote_names(frame.columns)}). Give at least one row.")
    dropped = [found for found in (fold_name(name, list(frame.columns)) for name in options.drop) if found]
    frame = frame.drop(columns=dropped)
    label = _named_label(frame, path, options)
    weight = _weight_column(frame, path, options)
    id_name = _id_column(frame.drop(columns=[name for name in (label, weight) if name]), path, options)
    rest = frame.drop(columns=[name for name in (label, weight, id_name) if name])
    if label is None:
        label = _text_label(rest, options)
        rest = rest.drop(columns=label or [])
    if options.columns:
        rest = rest[[find_name(name, list(rest.columns), what="column", path=path) for name in options.columns]]
    X, names = (_cells if options.as_table else _features)(rest, path)
    return FileDomain(
        path=path,
        kind=raw.kind,
        X=X if options.as_table else check_matrix(X, path=path, names=names),
        y=clean_labels(values_of(label), name=label, path=path) if label else None,
        ids=decode_text(values_of(id_name)) if id_name else None,
        feature_names=names,
        label_name=label,
        id_name="row" if id_name and normalize_name(id_name) == "unnamed:_0" else id_name,
        weights=_weights(frame[weight], path) if weight and options.role == "source" else None,
        weight_name=weight,
        dropped=tuple(dropped),
        remarks=raw.remarks,
    )


def as_matrix(domain: FileDomain) -> FileDomain:
    """A domain whose table is a matrix of numbers; every cell must be one."""
    if not domain.is_table:
        return domain
    X, names = _features(domain.X, domain.path)
    return replace(domain, X=check_matrix(X, path=domain.path, names=names), feature_names=names)


def fold_name(name: str, names: list[str]) -> str | None:
    """The column that the caller means, if there is one."""
    if name in names:
        return name
    folded = [other for other in names if normalize_name(other) == normalize_name(name)]
    return folded[0] if len(folded) == 1 else None


def _weight_column(frame: "DataFrame", path: Path, options: ReadOptions) -> str | None:
    """The column of weights, which a source must have; where a target has it, it is no feature."""
    if options.weight is None:
        return None
    if options.role == "target":
        return fold_name(options.weight, list(frame.columns))
    return find_name(options.weight, list(frame.columns), what="column", path=path)


def _weights(column: "Series", path: Path) -> np.ndarray:
    try:
        weights = to_numbers(column, "number")
    except ValueError as error:
        raise FileError(f"{path}: {error}") from error
    bad = np.flatnonzero(~(weights >= 0))
    if len(bad) or not weights.any():
        where = f"{column.iloc[bad[0]]} in row {bad[0]} (counted from 0)" if len(bad) else "nothing but zeros"
        raise FileError(
            f"{path}: column '{shown(column.name)}' has {where}. Weights are numbers of 0 or more, not all 0."
        )
    return weights


def _named_label(frame: "DataFrame", path: Path, options: ReadOptions) -> str | None:
    names = list(frame.columns)
    if options.label is not None:
        return find_name(options.label, names, what="column", path=path)
    if options.like is not None and options.like.label_name in names and _may_be_labels(frame, options.like):
        return options.like.label_name
    found = [
        name
        for name in names
        if normalize_name(name) in LABEL_NAMES and name not in options.features and _holds_classes(frame[name])
    ]
    if len(found) > 1:
        raise FileError(f"{path}: columns {quote_names(found)} all look like labels. Keep one, or name it (--label).")
    return found[0] if found else None


def _may_be_labels(frame: "DataFrame", like: FileDomain) -> bool:
    """Whether the source's label column has labels here: without a header, its number may be that of a feature."""
    name = str(like.label_name)
    if not name.isdigit() or like.y is None:
        return True
    found = set(distinct_texts(frame[name]))
    return bool(found) and found <= {str(label) for label in like.y}


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
        return fold_name(options.id_column, names)
    for name in names:
        if normalize_name(name) not in ID_NAMES or name in options.features or not _is_scalar(frame[name]):
            continue
        counts_rows = frame[name].dtype.kind in "iu" and frame[name].is_unique
        if counts_rows or not _is_numeric(frame[name]):
            return name
    return None


def _text_label(frame: "DataFrame", options: ReadOptions) -> str | None:
    """The only text column, if its values are repeated and, in a target, are classes of the source."""
    texts = [name for name in frame if not _is_numeric(frame[name]) and _is_scalar(frame[name])]
    if len(texts) != 1 or texts[0] in options.features or not _holds_classes(frame[texts[0]]):
        return None
    column = frame[texts[0]]
    if options.as_table and read_kind(column).name != "category":
        return None
    if options.like is not None and options.like.y is not None:
        classes = {str(label) for label in options.like.y}
        if not classes & set(distinct_texts(column)):
            return None
    return texts[0]


def _cells(frame: "DataFrame", path: Path) -> tuple["DataFrame", tuple[str, ...]]:
    """The columns as they are; a column of lists as that many columns."""
    if frame.shape[1] == 0:
        raise FileError(f"{path}: no data ({len(frame)} rows, 0 feature columns). Give some of both.")
    parts: list[Any] = []
    for name in frame if not all(_is_scalar(frame[name]) for name in frame) else ():
        if _is_scalar(frame[name]):
            parts.append(frame[[name]])
        else:
            block = _stack_lists(frame[name], path)
            parts.append(type(frame)(block, columns=[f"{name}[{i}]" for i in range(block.shape[1])], index=frame.index))
    if parts:
        frame = require_pandas(path).concat(parts, axis=1)
    return frame, tuple(frame.columns)


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
    except (ValueError, TypeError) as error:
        raise FileError(
            f"{path}: the lists in column '{shown(column.name)}' differ in length. Give lists of one length."
        ) from error


def _example(column: "Series") -> str:
    """The first cell that is not a number, and its row."""
    cells = enumerate(column)
    row, cell = next(
        ((i, cell) for i, cell in cells if cell == cell and not _WHOLE_OR_FRACTION.fullmatch(str(cell))),
        (0, column.iloc[0]),
    )
    return f"'{shown(cell)[:40]}' in row {row}"


def _is_numeric(column: "Series") -> bool:
    return column.dtype.kind in "biuf"


def _is_scalar(column: "Series") -> bool:
    return not (column.dtype == object and len(column) and isinstance(column.iloc[0], list | tuple | np.ndarray))
