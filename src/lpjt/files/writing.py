"""Writing predicted labels: the complete file or none."""

import csv
import io
import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from lpjt._safe_text import safe_cell, visible
from lpjt._whole_files import check_writable, descriptor_of, is_stream, replacing
from lpjt.files.domain import FileError

#: The path that means standard output.
STDOUT = Path("-")

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_SUFFIXES = {*_SEPARATORS, ".parquet", ".json"}


def check_output(path: Path, inputs: Iterable[Path] = (), *, force: bool = False) -> Path:
    """Refuse, before any work is done, an output that cannot be written, is there already, or is an input."""
    path = Path(path)
    if path == STDOUT:
        return path
    if path.suffix.lower() not in _SUFFIXES and not is_stream(path):
        raise FileError(f"{path}: unknown output format. Name it .csv, .tsv, .parquet or .json.")
    check_place(path, inputs, force=force)
    return path


def is_stdout(path: Path | None) -> bool:
    """Whether a path is standard output, by its short name or as a device: messages then go to standard error."""
    return path is not None and (path == STDOUT or descriptor_of(path) == 1)


def check_place(path: Path, inputs: Iterable[Path] = (), *, force: bool = False) -> None:
    """Refuse a file of any format that cannot be written, is there already, or is an input."""
    if path.exists() and not is_stream(path) and any(other.exists() and other.samefile(path) for other in inputs):
        raise FileError(f"{path}: the output would overwrite an input. Choose another name.")
    try:
        check_writable(path, overwrite=force, remedy="--force")
    except OSError as error:
        raise FileError(str(error)) from error


def label_columns(
    labels: np.ndarray,
    confidence: np.ndarray,
    *,
    ids: np.ndarray | None = None,
    id_name: str = "row",
    classes: Sequence[Any] = (),
    distributions: np.ndarray | None = None,
    trust: float = 0.0,
) -> dict[str, np.ndarray]:
    """The columns of an output: id (without ids, the number of the row from 0), label, confidence, one per class.

    Parameters
    ----------
    labels, confidence : arrays, (n,)
    ids : array, (n,), optional
    id_name : str
    classes : sequence, (n_classes,)
        Names of the columns of `distributions`.
    distributions : array, (n, n_classes), optional
        Written as p_<class> if given.
    trust : float
        Rows of less confidence have no label.

    Returns
    -------
    dict of name to array, (n,)
    """
    keys = np.arange(len(labels)) if ids is None else ids
    columns = {id_name: keys, "label": leave_unsure(labels, confidence, trust), "confidence": np.round(confidence, 6)}
    if len(columns) < 3:  # an id column that is itself named "label"
        columns = {"row": keys, **columns, "label": leave_unsure(labels, confidence, trust)}
    if distributions is not None:
        columns |= {f"p_{one}": np.round(distributions[:, i], 6) for i, one in enumerate(classes)}
    return columns


def leave_unsure(labels: np.ndarray, confidence: np.ndarray, trust: float) -> np.ndarray:
    """Labels with None where the confidence is below `trust`; as they are if none is."""
    unsure = confidence < trust
    if not unsure.any():
        return labels
    kept = labels.astype(object)
    kept[unsure] = None
    return kept


def write_labels(
    path: Path,
    labels: np.ndarray,
    confidence: np.ndarray,
    *,
    overwrite: bool = False,
    raw_text: bool = False,
    **details: Any,
) -> None:
    """Write one line per row, with `label_columns`; the file appears under its name only when it is complete."""
    write_columns(path, label_columns(labels, confidence, **details), overwrite=overwrite, raw_text=raw_text)


def write_columns(
    path: Path, columns: dict[str, np.ndarray], *, overwrite: bool = False, raw_text: bool = False
) -> None:
    """Write columns of equal length in the format of the suffix.

    Parameters
    ----------
    path : path
        "-" is csv on standard output, and so is what has no suffix, such as /dev/stdout.
    columns : dict of name to array, (n,)
    overwrite : bool
        Whether an existing file is replaced; otherwise it is kept, with an error.
    raw_text : bool
        Whether csv and tsv have texts as they are. By default a text that a spreadsheet would take for a formula has '
        in front, and control characters are escaped, with a warning; `read_known_labels` understands both.
    """
    path = Path(path)
    suffix = path.suffix.lower() if path.suffix.lower() in _SUFFIXES else ".csv"
    if suffix in _SEPARATORS and not raw_text:
        columns = _safe_columns(path, columns)
    if path == STDOUT:
        _write_rows(sys.stdout, columns, ",")
        sys.stdout.flush()  # a full disk is told now, not when the program ends
        return
    parquet = _parquet(columns) if suffix == ".parquet" else b""
    with replacing(path, overwrite=overwrite) as file:
        if suffix == ".parquet":
            file.write(parquet)
            return
        with _text(file) as text:
            if suffix == ".json":
                _write_records(text, columns)
            else:
                _write_rows(text, columns, _SEPARATORS[suffix])


@contextmanager
def _text(file: BinaryIO) -> Iterator[TextIO]:
    """A binary file as text, which stays open."""
    text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()


def _safe_columns(path: Path, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The columns with `safe_cell` for each text, and a warning where that made a difference."""
    safe, n_changed = {}, 0
    for name, column in columns.items():
        found = safe_cell(str(name))
        while found in safe:  # of two names that differ in a control character alone
            found += "_"
        n_changed += found != name
        safe[found] = column
        if column.dtype.kind not in "biuf":
            safe[found] = np.empty(len(column), dtype=object)
            for row, cell in enumerate(column.tolist()):
                safe[found][row] = safe_cell(cell)
                n_changed += isinstance(cell, str) and safe[found][row] != cell
    if n_changed:
        warnings.warn(
            f"{path}: {n_changed:,} texts that start like a formula, or hold control characters, were escaped. "
            "raw_text=True (or --raw-text) writes them as they are.",
            stacklevel=3,
        )
    return safe


def _write_rows(file: TextIO, columns: dict[str, np.ndarray], separator: str) -> None:
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _write_records(file: TextIO, columns: dict[str, np.ndarray]) -> None:
    """One object per row, in a list, each on a line of its own."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines = (visible(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False, default=str)) for row in rows)
    file.write("[\n" + ",\n".join(lines) + "\n]\n")


def _parquet(columns: dict[str, np.ndarray]) -> bytes:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "`pandas` is needed to write parquet. Install it with `pip install 'lpjt[cli]'`, or write csv."
        ) from error
    content: bytes = pandas.DataFrame(columns).to_parquet(None, index=False)
    return content
