"""One door for files: the suffix says the kind, the reader finds matrix, labels and ids."""

from pathlib import Path
from typing import Literal

from lpjt.files import arrays, frames
from lpjt.files.table import FileError, Table, Wanted

READERS = {
    ".csv": frames.read_csv,
    ".tsv": frames.read_csv,
    ".parquet": frames.read_parquet,
    ".npz": arrays.read_npz,
    ".npy": arrays.read_npy,
    ".mat": arrays.read_mat,
    ".svmlight": arrays.read_svmlight,
    ".libsvm": arrays.read_svmlight,
    ".svm": arrays.read_svmlight,
}
SUFFIXES = (*READERS, ".csv.gz", ".tsv.gz", ".svmlight.gz")
_MAY_BE_PACKED = {".csv", ".tsv", ".svmlight", ".libsvm", ".svm"}


def read_table(
    path: str | Path,
    label: str | None = None,
    id_column: str | None = None,
    *,
    role: Literal["source", "target"] = "source",
    like: Table | None = None,
) -> Table:
    """Read the features, and where they are found the labels and the ids, of one domain.

    Parameters
    ----------
    path : path
        A file of one of the kinds in `SUFFIXES`.
    label : str, optional
        Name of the label column, or in npz and mat of the label array. Found among the common names
        (label, class, y, gnd, ...) if it is not given; a single text column of few values will do too.
    id_column : str, optional
        Name of the column that identifies a row, found likewise.
    role : {"source", "target"}
        Which matrix to take of a file that holds both domains (X_src and X_tar). A named `id_column` must
        be in a target; in a source it is only kept out of the features.
    like : Table, optional
        A table already read of the other domain. Its label column is looked for first, and its features
        are never taken for labels or ids.

    Returns
    -------
    Table
        X is 2-D (rows are samples), dense or CSR; y and ids are None where there are none.

    Raises
    ------
    FileError
        With one line that says what was found and what to do.
    """
    path = Path(path)
    kind = _kind(path)
    try:
        return READERS[kind](path, Wanted(role, label, id_column, like))
    except (FileError, ImportError):
        raise
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not text in UTF-8, so it cannot be read as csv. Save it in UTF-8.") from error
    # The parsers of foreign formats fail in as many ways as there are broken files.
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileError(
            f"{path}: cannot be read as {kind[1:]} ({reason[:160]}). It may be truncated or of another kind: "
            "write it again, or mend its suffix."
        ) from error


def _kind(path: Path) -> str:
    """The suffix that names the reader."""
    if not path.exists():
        raise FileError(f"{path}: no such file. Check the path.")
    if path.is_dir():
        raise FileError(f"{path}: this is a directory. Name one file in it.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = suffixes[-1] if suffixes else ""
    if kind == ".gz" and len(suffixes) > 1 and suffixes[-2] in _MAY_BE_PACKED:
        kind = suffixes[-2]
    if kind not in READERS:
        raise FileError(f"{path}: '{kind or path.name}' is not a known kind of table. Known: {', '.join(SUFFIXES)}.")
    if path.stat().st_size == 0:
        raise FileError(f"{path}: the file is empty.")
    return kind
