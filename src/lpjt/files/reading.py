"""The entry point for files: the suffix selects the reader, which finds the matrix, the labels and the ids."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from lpjt._interrupts import ctrl_c_kept
from lpjt.files import arrays, delimited, frames, workbooks
from lpjt.files.domain import FileDomain, FileError, ReadOptions, shown
from lpjt.isolated import RefusedError, check_ordinary

TABLES = {
    ".csv": delimited.open_csv,
    ".tsv": delimited.open_csv,
    ".parquet": frames.open_parquet,
    ".xlsx": workbooks.open_xlsx,
}
ARRAYS = {
    ".npz": arrays.read_npz,
    ".npy": arrays.read_npy,
    ".mat": arrays.read_mat,
    ".svmlight": arrays.read_svmlight,
    ".libsvm": arrays.read_svmlight,
    ".svm": arrays.read_svmlight,
}
SUFFIXES = (*TABLES, *ARRAYS, ".csv.gz", ".tsv.gz", ".svmlight.gz")
_TEXT = {".csv", ".tsv"}
_MAY_BE_COMPRESSED = {".csv", ".tsv", ".svmlight", ".libsvm", ".svm"}


def read_domain(
    path: str | Path,
    label: str | None = None,
    id_column: str | None = None,
    *,
    role: Literal["source", "target"] = "source",
    like: FileDomain | None = None,
    **layout: Any,
) -> FileDomain:
    """Read the features of one domain and, if the file has them, its labels and ids.

    Parameters
    ----------
    path : path
        A file with one of the `SUFFIXES`.
    label : str, optional
        Name of the label column, or of the label array in npz and mat files. By default it is recognised by a
        common name (label, class, y, gnd, ...); a single text column with few distinct values is accepted too.
    id_column : str, optional
        Name of the column that identifies a row; by default also recognised by a common name.
    role : {"source", "target"}
        Which matrix to read from a file that holds both domains (X_src and X_tar). A given `id_column` must exist in
        a target; in a source it is only excluded from the features.
    like : FileDomain, optional
        A domain already read. Its label column is looked for first, and its features are never taken for labels
        or ids.
    **layout
        Other fields of `ReadOptions`: as_table, weight, columns, drop, sep, decimal, encoding, sheet.

    Returns
    -------
    FileDomain
        X is 2-D (rows are samples), dense or CSR, or a frame if `as_table` and the file is a table; y and ids are None
        if the file has none.

    Raises
    ------
    FileError
        The message is one line that says what was found and what to do.
    """
    path, options = Path(path), ReadOptions(role, label, id_column, like, **layout)
    kind = _kind(path)
    with _one_sentence_errors(path, kind, options):
        if kind in TABLES:
            return frames.to_domain(TABLES[kind](path, options), path, options)
        return ARRAYS[kind](path, options)


def open_table(path: str | Path, **layout: Any) -> frames.RawTable:
    """The columns of a csv, tsv, parquet or xlsx file as they are; `layout` as in `read_domain`."""
    path, options = Path(path), ReadOptions(**layout)
    kind = _kind(path)
    if kind not in TABLES:
        raise FileError(f"{path}: this is not a table with named columns. Give one of {', '.join(TABLES)}.")
    with _one_sentence_errors(path, kind, options):
        return TABLES[kind](path, options)


@contextmanager
def _one_sentence_errors(path: Path, kind: str, options: ReadOptions) -> Iterator[None]:
    """Turn what parsers raise on broken files, errors of many types, into one that names the file and the remedy."""
    try:
        with ctrl_c_kept():  # pandas makes an error of parsing of it
            yield
    except (FileError, ImportError):
        raise
    except RefusedError as error:
        raise FileError(f"{path}: {shown(error)}") from error  # it may quote names of the file
    except MemoryError as error:
        raise FileError(
            f"{path}: there is not enough memory to read it ({path.stat().st_size:,} bytes). Split it, leave out "
            "columns, or read it on a machine with more."
        ) from error
    except UnicodeDecodeError as error:
        if kind not in _TEXT:
            raise FileError(f"{path}: some of its text is not UTF-8. Write it again in UTF-8.") from error
        raise FileError(
            f"{path}: not text in {options.encoding or 'UTF-8'}, so it cannot be read as csv. Name its encoding, "
            "e.g. --encoding cp1252 (Windows, western Europe) or latin-1, or save it in UTF-8."
        ) from error
    except Exception as error:
        reason = shown(" ".join(str(error).split())) or type(error).__name__
        raise FileError(
            f"{path}: cannot be read as {kind[1:]} ({reason[:160]}). It may be truncated, or its "
            "suffix may be wrong: write it again, or correct the suffix."
        ) from error


def _kind(path: Path) -> str:
    """The suffix that selects the reader."""
    try:
        size = check_ordinary(path)
    except RefusedError as error:
        raise FileError(f"{path}: {error}") from error
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = suffixes[-1] if suffixes else ""
    if kind == ".gz" and len(suffixes) > 1 and suffixes[-2] in _MAY_BE_COMPRESSED:
        kind = suffixes[-2]
    if kind not in {*TABLES, *ARRAYS}:
        raise FileError(f"{path}: '{kind or path.name}' is not a known file format. Known: {', '.join(SUFFIXES)}.")
    if size == 0:
        raise FileError(f"{path}: the file is empty. Check that it was written completely.")
    return kind
