"""Writing predicted labels: the complete file or none."""

import csv
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from lpjt.files.domain import FileError

#: The path that means standard output.
STDOUT = Path("-")

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def check_output(path: Path, inputs: Iterable[Path] = (), *, force: bool = False) -> Path:
    """Refuse, before any work is done, an output that cannot be written, is there already, or is an input."""
    path = Path(path)
    if path == STDOUT:
        return path
    if path.suffix.lower() not in {*_SEPARATORS, ".parquet", ".json"}:
        raise FileError(f"{path}: unknown output format. Name it .csv, .tsv, .parquet or .json.")
    if path.is_dir():
        raise FileError(f"{path}: this is a directory. Name a file in it.")
    if not path.parent.is_dir():
        raise FileError(f"{path}: the directory {path.parent} does not exist. Create it first.")
    if not os.access(path.parent, os.W_OK):
        raise FileError(f"{path}: the directory {path.parent} is not writable. Choose another one.")
    if path.exists() and any(other.exists() and other.samefile(path) for other in inputs):
        raise FileError(f"{path}: the output would overwrite an input. Choose another name.")
    if path.exists() and not force:
        raise FileError(f"{path}: this file exists. Choose another name, or overwrite it with --force.")
    return path


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


def write_labels(path: Path, labels: np.ndarray, confidence: np.ndarray, **details: Any) -> None:
    """Write one line per row, with `label_columns`; the file appears under its name only when it is complete."""
    write_columns(path, label_columns(labels, confidence, **details))


def write_columns(path: Path, columns: dict[str, np.ndarray]) -> None:
    """Write columns of equal length in the format of the suffix; "-" is csv on standard output."""
    path = Path(path)
    if path == STDOUT:
        _write_rows(sys.stdout, columns, ",")
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.suffix.lower() == ".parquet":
            _write_parquet(partial, columns)
        else:
            with open(partial, "x", encoding="utf-8", newline="") as file:
                if path.suffix.lower() == ".json":
                    _write_records(file, columns)
                else:
                    _write_rows(file, columns, _SEPARATORS[path.suffix.lower()])
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _write_rows(file: TextIO, columns: dict[str, np.ndarray], separator: str) -> None:
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _write_records(file: TextIO, columns: dict[str, np.ndarray]) -> None:
    """One object per row, in a list, each on a line of its own."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines = (json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False, default=str) for row in rows)
    file.write("[\n" + ",\n".join(lines) + "\n]\n")


def _write_parquet(path: Path, columns: dict[str, np.ndarray]) -> None:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "`pandas` is needed to write parquet. Install it with `pip install 'lpjt[cli]'`, or write csv."
        ) from error
    pandas.DataFrame(columns).to_parquet(path, index=False)
