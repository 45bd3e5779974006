"""Writing predicted labels: the complete file or none."""

import csv
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from lpjt.files.domain import FileError

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def check_output(path: Path, inputs: Iterable[Path] = ()) -> Path:
    """Refuse, before any work is done, an output file that cannot be written or would overwrite an input."""
    path = Path(path)
    if path.suffix.lower() not in {*_SEPARATORS, ".parquet"}:
        raise FileError(f"{path}: unknown output format. Name it .csv, .tsv or .parquet.")
    if path.is_dir():
        raise FileError(f"{path}: this is a directory. Name a file in it.")
    if not path.parent.is_dir():
        raise FileError(f"{path}: the directory {path.parent} does not exist. Create it first.")
    if not os.access(path.parent, os.W_OK):
        raise FileError(f"{path}: the directory {path.parent} is not writable. Choose another one.")
    if path.exists() and any(other.exists() and other.samefile(path) for other in inputs):
        raise FileError(f"{path}: the output would overwrite an input. Choose another name.")
    return path


def write_labels(
    path: Path,
    labels: np.ndarray,
    confidence: np.ndarray,
    *,
    ids: np.ndarray | None = None,
    id_name: str = "row",
    probabilities: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Write one line per row: id (without ids, the number of the row from 0), label, confidence, further columns.

    The file appears under its name only when it is complete.
    """
    path = Path(path)
    keys = np.arange(len(labels)) if ids is None else ids
    columns = {id_name: keys, "label": labels, "confidence": np.round(confidence, 6)}
    if len(columns) < 3:  # an id column that is itself named "label"
        columns = {"row": keys, "label": labels, "confidence": np.round(confidence, 6)}
    columns |= {name: np.round(column, 6) for name, column in (probabilities or {}).items()}
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.suffix.lower() == ".parquet":
            _write_parquet(partial, columns)
        else:
            _write_text(partial, columns, _SEPARATORS[path.suffix.lower()])
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _write_text(path: Path, columns: dict[str, np.ndarray], separator: str) -> None:
    with open(path, "x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _write_parquet(path: Path, columns: dict[str, np.ndarray]) -> None:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "`pandas` is needed to write parquet. Install it with `pip install 'lpjt[cli]'`, or write csv."
        ) from error
    pandas.DataFrame(columns).to_parquet(path, index=False)
