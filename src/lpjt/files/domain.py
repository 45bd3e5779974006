"""One domain as read from a file, and the checks that all readers share: names, labels, cells."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

LABEL_NAMES = (
    "label", "labels", "class", "classes", "target", "targets", "y", "gnd", "category", "categories",
    "ground_truth", "y_true",
)  # fmt: skip
ID_NAMES = (
    "id", "ids", "row_id", "sample_id", "uid", "uuid", "index", "row", "name", "names", "file", "files",
    "filename", "filenames", "file_name", "path", "paths", "unnamed:_0",
)  # fmt: skip

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0+)?")
_MISSING = {"", "nan", "<na>"}


#: Words for a missing label, in small letters, which are classes all the same: NA may be Namibia or sodium.
LIKE_MISSING = {"na", "n/a", "n.a.", "#n/a", "null", "none", "?"}


class FileError(ValueError):
    """A file cannot be used; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadOptions:
    """What the caller specifies about a file before it is read."""

    role: Literal["source", "target"] = "source"
    label: str | None = None  # label column, which must exist
    id_column: str | None = None  # must exist in a target; in a source it is only excluded from the features
    like: "FileDomain | None" = None  # a domain already read, whose features are features here too
    as_table: bool = False  # keep texts, dates and blank cells of a table; otherwise every cell must be a number
    weight: str | None = None  # column of row weights, which a source must have
    columns: tuple[str, ...] = ()  # the only features; all that are left without it
    drop: tuple[str, ...] = ()  # columns to leave out, where a file has them
    sep: str | None = None  # of delimited text; None looks at the first lines, and so does `decimal`
    decimal: str | None = None
    encoding: str | None = None  # None is UTF-8
    sheet: str | None = None  # name or number, from 1, of a sheet of a workbook; None is the first

    @property
    def features(self) -> frozenset[str]:
        """Columns that are features even if they look like labels or ids."""
        known = self.like.feature_names if self.like else None
        return frozenset(known or ()) | frozenset(self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class FileDomain:
    """One domain as read from a file; rows are samples."""

    path: Path
    kind: str  # format of the file, such as "csv"
    X: Any  # ndarray, scipy.sparse CSR, or a pandas frame if a table was asked for, (n_rows, n_columns)
    y: np.ndarray | None = None  # int64 or str; object with None for missing labels
    ids: np.ndarray | None = None
    feature_names: tuple[str, ...] | None = None  # None if the file does not name its columns
    label_name: str | None = None
    id_name: str | None = None
    weights: np.ndarray | None = None  # float64, of the rows of a source
    weight_name: str | None = None
    dropped: tuple[str, ...] = ()  # columns that the caller asked to leave out, as far as the file has them
    remarks: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What was found, in one line."""
        rows, columns = self.X.shape
        parts = [f"{rows} rows x {columns} columns ({self.kind})"]
        parts += [f"labels in '{self.label_name}'" if self.label_name else "no labels"]
        parts += [f"ids in '{self.id_name}'"] if self.id_name else []
        return "; ".join([*parts, *self.remarks])

    @property
    def is_table(self) -> bool:
        """Whether the cells are as in the file, not yet numbers."""
        return hasattr(self.X, "columns")

    @property
    def labelled(self) -> np.ndarray:
        """Mask of the rows that have a label, (n_rows,)."""
        if self.y is None:
            return np.zeros(self.X.shape[0], dtype=bool)
        return np.array([label is not None for label in self.y], dtype=bool)


def normalize_name(name: object) -> str:
    """A name in lower case with underscores for spaces and hyphens, for comparison with the common names."""
    return re.sub(r"[\s\-]+", "_", str(name).strip().lower())


def find_name(name: str, names: Sequence[str], *, what: str, path: Path) -> str:
    """The entry of `names` that the caller meant by `name`, or an error with the nearest ones."""
    if name in names:
        return name
    folded = [other for other in names if normalize_name(other) == normalize_name(name)]
    if len(folded) == 1:
        return folded[0]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"nearest: {quote_names(near)}" if near else f"found: {quote_names(names)}"
    raise FileError(f"{path}: no {what} named '{name}' ({hint}). Correct the name.")


def quote_names(names: Iterable[str], limit: int = 5) -> str:
    """The first names in quotes, joined by commas, and the number of the others."""
    names = list(names)
    listed = ", ".join(f"'{shown_name(name)}'" for name in names[:limit])
    return listed + (f" and {len(names) - limit} more" if len(names) > limit else "")


def list_arrays(arrays: Mapping[str, Any], quote: str = "'", limit: int = 10) -> str:
    """Names and shapes of the first arrays of a file, and the number of the others."""
    listed = [f"{quote}{shown_name(name)}{quote} {np.shape(value)}" for name, value in list(arrays.items())[:limit]]
    return (", ".join(listed) or "nothing") + (f" and {len(arrays) - limit} more" if len(arrays) > limit else "")


def shown_name(name: object, limit: int = 60) -> str:
    """A name that a file gives, as a message shows it: as `shown`, and cut, because it may be any bytes of the file."""
    text = shown(name)
    return text if len(text) <= limit else f"{text[:limit]}..."


def shown(text: object) -> str:
    """Text of a file as a message shows it: control characters, such as newlines and escapes, as codes."""
    plain = str(text)
    return plain if plain.isprintable() else plain.encode("unicode_escape").decode("ascii")


def clean_labels(values: Any, *, name: str, path: Path) -> np.ndarray:
    """Labels of one type, whatever the type in the file: whole numbers as int64, others as text, missing as None.

    pandas writes a partly labelled column as ``1.0`` and blanks, and a complete one as ``1``; both must give the same
    labels. ``007``, ``NA`` and whole numbers beyond 18 digits stay text.
    """
    values = np.asarray(values).ravel()
    if values.dtype.kind in "iu":
        return values.astype(np.int64 if values.max(initial=0) < 2**63 else str)
    texts = np.array(["" if value is None else str(value).strip() for value in decode_text(values)], dtype=str)
    distinct, codes = np.unique(texts, return_inverse=True)
    missing = [text.lower() in _MISSING for text in distinct]
    present = [str(text) for text, gone in zip(distinct, missing, strict=True) if not gone]
    whole = all(_WHOLE.fullmatch(text) for text in present)
    if not whole:
        _refuse_fractions(present, name, path)
    read: Callable[[str], int | str] = (lambda text: int(text.split(".")[0])) if whole else str
    cleaned = [None if gone else read(text) for text, gone in zip(distinct, missing, strict=True)]
    if any(missing):
        return np.array(cleaned, dtype=object)[codes]
    return np.array(cleaned, dtype=np.int64 if whole else str)[codes]


def _refuse_fractions(labels: list[str], name: str, path: Path) -> None:
    """Refuse a regression target: measured values are not classes."""
    try:
        fraction = next((text for text in labels if not float(text).is_integer()), None)
    except ValueError:
        return
    if fraction is not None:
        raise FileError(
            f"{path}: the labels in '{name}' are fractions, such as {shown(fraction)}. Classes must be whole "
            "numbers or text; name another column with --label."
        )


def check_matrix(X: Any, *, path: Path, names: Sequence[str] | None = None) -> Any:
    """Refuse a matrix that no method can use: empty, not 2-D, not real, or with cells that are not finite."""
    if X.ndim != 2:
        raise FileError(
            f"{path}: the array has shape {X.shape}. It must have two dimensions, rows and columns. Save it so."
        )
    if 0 in X.shape:
        raise FileError(f"{path}: no data ({X.shape[0]} rows, {X.shape[1]} feature columns). Give some of both.")
    if X.dtype.kind not in "biuf":
        raise FileError(f"{path}: the cells are of type {X.dtype}. They must be real numbers. Save them so.")
    if X.dtype.kind == "f" and not np.isfinite(X.data if sparse.issparse(X) else X).all():
        rows, columns = _not_finite(X)
        column = f"'{names[columns[0]]}'" if names else columns[0]
        raise FileError(
            f"{path}: {len(rows)} cells are blank or not finite, the first in row {rows[0]}, column {column} "
            "(counted from 0). Fill them, or remove the rows or columns."
        )
    return X


def _not_finite(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the cells that are NaN or infinite."""
    if not sparse.issparse(X):
        rows, columns = np.nonzero(~np.isfinite(X))
        return rows, columns
    entries = X.tocoo()
    bad = ~np.isfinite(entries.data)
    return entries.row[bad], entries.col[bad]


def decode_text(values: Any) -> np.ndarray:
    """A flat array in which bytes are decoded as text; numbers stay numbers."""
    values = np.asarray(values).ravel()
    return np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
