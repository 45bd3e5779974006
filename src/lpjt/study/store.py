"""Rows on disk: a directory of parquet files that a kill at any moment leaves whole."""

import io
import os
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Row = dict[str, Any]

_FORMAT_NAME = b"lpjt_results_format"
_MERGED = "rows.parquet"
_PART = "part-"
_TEMPORARY = ".unfinished-"


@dataclass(frozen=True, slots=True)
class Format:
    """Columns of a row with their types in parquet, and the columns that rows are sorted by, which are never empty."""

    version: str  # a change of the columns changes it
    columns: Mapping[str, str]
    order: tuple[str, ...]


#: One run of a method on a pair of a table (`lpjt.study.runs`).
RUNS = Format(
    "1",
    {
        "key": "string", "table": "string", "pair": "string", "method": "string", "seed": "int64",
        "protocol": "string", "parameters": "string", "accuracy": "float64", "balanced_accuracy": "float64",
        "per_class_accuracy": "string", "seconds": "float64", "peak_bytes": "int64", "n_iter": "int64",
        "status": "string", "message": "string", "n_tried": "int64", "versions": "string", "checksum": "string",
        "started": "string",
    },
    ("table", "pair", "method", "protocol", "seed", "parameters", "key"),
)  # fmt: skip

#: One measurement of time and memory (`lpjt.study.speed`).
SPEED = Format(
    "speed-1",
    {
        "key": "string", "bench": "string", "place": "int64", "label": "string", "method": "string", "size": "int64",
        "status": "string", "message": "string", "seconds": "float64", "figures": "string", "note": "string",
        "machine": "string", "versions": "string", "started": "string",
    },
    ("bench", "size", "place", "key"),
)  # fmt: skip

#: One task of the robustness suite (`lpjt.study.robust`); accuracies, confidences and estimates in per cent.
ROBUST = Format(
    "robust-1",
    {
        "key": "string", "task": "string", "family": "string", "pair": "string", "kind": "string", "part": "string",
        "n_classes": "int64", "n_kept": "int64", "draw": "int64", "max_rows": "int64", "parameters": "string",
        "n_source": "int64", "n_target": "int64", "nearest_accuracy": "float64", "svm_accuracy": "float64",
        "unadapted_accuracy": "float64", "accuracy": "float64", "confidence": "float64",
        "calibration_error": "float64", "estimated_accuracy": "float64", "interval_low": "float64",
        "interval_high": "float64", "estimate_error": "float64", "covered": "bool_", "adapted": "bool_",
        "candidate": "string", "n_absent": "int64", "n_absent_found": "int64", "n_absent_right": "int64",
        "n_warnings": "int64", "seconds": "float64", "status": "string", "message": "string", "checksum": "string",
        "machine": "string", "versions": "string", "started": "string",
    },
    ("family", "task", "max_rows", "key"),
)  # fmt: skip


class StoreError(ValueError):
    """Stored results that cannot be read, or not by this version."""


class Store:
    """Rows in a directory: one small file per appended row, merged into ``rows.parquet`` by `compact`.

    A file appears under its name only when it is whole and on the disk, so readers and later runs never see half a row.
    Names are unique to a process and a row: any number of writers may append at once. Of rows of one key the last
    written wins. Files that are not parquet by name are left alone.
    """

    def __init__(self, path: str | os.PathLike[str], format: Format = RUNS) -> None:
        self.path, self.format = Path(path), format
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(
                f"{self.path} is a file, and results are kept in a directory. Give another path, or read this one "
                "with Store.read_file."
            )
        self._checked = False

    def rows(self) -> list[Row]:
        """All rows, one per key, in an order that depends on the rows alone."""
        with self._locked(exclusive=False):
            return _distinct(self._read(self._files()), self.format)

    def keys(self) -> set[str]:
        """The keys of the stored rows."""
        return {row["key"] for row in self.rows()}

    def append(self, row: Mapping[str, Any]) -> None:
        """Add one row, or replace that of the same key; on return it is on the disk.

        The first append of a store refuses a directory with files that it cannot read.
        """
        data = _encode([row], self.format)
        self._check_files()
        # The time comes first, so that sorted names are in the order of writing.
        self._write(f"{_PART}{time.time_ns():020d}-{os.getpid()}-{uuid.uuid4().hex}.parquet", data)

    def compact(self, forget: Collection[str] = ()) -> None:
        """Merge all rows but those with a key in `forget` into one file; remove the parts and what killed writers left.

        Killed between the two it leaves rows twice, which `rows` sees once. Where files cannot be locked (Windows)
        nothing is merged or forgotten: two processes that merge at the same time could lose each other's rows.
        """
        if fcntl is None or not self.path.is_dir():
            return
        with self._locked(exclusive=True):
            files = self._files()
            parts = [file for file in files if file.name.startswith(_PART)]
            if parts or forget:
                rows = _distinct(self._read(files), self.format)
                self._write(_MERGED, _encode([row for row in rows if row["key"] not in forget], self.format))
            # The oldest first: of one key a later row must not vanish before an earlier one.
            for part in parts:
                part.unlink()
            for file in self.path.glob(f"{_TEMPORARY}*"):
                _remove_abandoned(file)

    @staticmethod
    def read_file(path: str | os.PathLike[str], format: Format = RUNS) -> list[Row]:
        """Rows of a single file, as `rows` gives them."""
        return _distinct(_decode(Path(path), format), format)

    def _files(self) -> list[Path]:
        """Files of rows, later ones last: those of unknown name, then the merged one, then parts by their time."""
        files = self.path.glob("*.parquet") if self.path.is_dir() else ()
        return sorted(files, key=lambda file: (file.name.startswith(_PART), file.name == _MERGED, file.name))

    def _read(self, files: Iterable[Path]) -> Iterator[Row]:
        for file in files:
            yield from _decode(file, self.format)

    def _check_files(self) -> None:
        """Refuse to add to what cannot be read. Once is enough: reading all at every append would cost O(n^2)."""
        if not self._checked:
            self.rows()
            self.path.mkdir(parents=True, exist_ok=True)
            self._checked = True

    def _write(self, name: str, data: bytes) -> None:
        for _ in range(3):
            temporary = self.path / f"{_TEMPORARY}{os.getpid()}-{uuid.uuid4().hex}"
            try:
                _write_whole(temporary, self.path / name, data)
                return
            except FileNotFoundError:
                # Taken for abandoned in the instant between its creation and its lock.
                continue
            except OSError as error:
                temporary.unlink(missing_ok=True)
                told = OSError(
                    f"{self.path}: a row could not be written: {error.strerror or error}. The rows so far are kept. "
                    "Make room, and run again: what is stored is not run twice."
                )
                told.errno = error.errno
                raise told from error
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        raise StoreError(f"{self.path} vanished while a row was written. Make the directory again.")

    @contextmanager
    def _locked(self, *, exclusive: bool) -> Iterator[None]:
        """Keep merging apart from reading and other merging; a killed process gives its lock up."""
        if fcntl is None or not self.path.is_dir():
            yield
            return
        directory = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield
        finally:
            os.close(directory)


def _write_whole(temporary: Path, final: Path, data: bytes) -> None:
    """Write, bring to the disk, and only then give the file its name."""
    with temporary.open("xb") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        if fcntl is not None:
            os.replace(temporary, final)
    if fcntl is None:  # an open file cannot be renamed there
        os.replace(temporary, final)
        return
    directory = os.open(final.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _remove_abandoned(temporary: Path) -> None:
    """Remove an unfinished file unless its writer, who holds a lock on it, still lives."""
    with suppress(FileNotFoundError, BlockingIOError), temporary.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        temporary.unlink()


def _distinct(rows: Iterable[Mapping[str, Any]], format: Format) -> list[Row]:
    """The last row of each key, sorted."""
    by_key = {row["key"]: dict(row) for row in rows}
    return sorted(by_key.values(), key=lambda row: tuple(row[name] for name in format.order))


def _encode(rows: list[Any], format: Format) -> bytes:
    """Rows as a parquet file with its format and checksums of its pages."""
    arrow, parquet = _pyarrow()
    for row in rows:
        _check_row(row, format)
    try:
        table = arrow.Table.from_pylist(rows, schema=_schema(arrow, format))
    except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
        raise ValueError(f"A row does not fit the results format {format.version}: {error}") from error
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, write_page_checksum=True)
    return buffer.getvalue()


def _check_row(row: Mapping[str, Any], format: Format) -> None:
    lacking = [name for name in format.columns if name not in row]
    unknown = [name for name in row if name not in format.columns]
    empty = [name for name in format.order if row.get(name) is None]
    if lacking or unknown or empty:
        raise ValueError(
            f"A row does not fit the results format {format.version}: it lacks {lacking}, has the unknown {unknown}, "
            f"and {empty} must have values. Give the columns of lpjt.study.store."
        )


def _decode(file: Path, format: Format) -> list[Row]:
    """Rows of a file of this format; of any other an error that says what to do."""
    arrow, parquet = _pyarrow()
    data = file.read_bytes()
    try:
        reader = parquet.ParquetFile(arrow.BufferReader(data), page_checksum_verification=True)
        schema = reader.schema_arrow
        found = (schema.metadata or {}).get(_FORMAT_NAME, b"none").decode(errors="replace")
        if found == format.version:
            _check_columns(file, schema, format)
            return reader.read().to_pylist()
    except (arrow.ArrowException, OSError) as error:
        raise StoreError(
            f"{file}: not a whole parquet file ({len(data)} bytes, results format unknown; {_this_version(format)}). "
            "Move it away and start again: the runs that it held are then made anew. Nothing was changed."
        ) from error
    raise StoreError(
        f"{file}: of results format '{found}', but {_this_version(format)}. Read it with the version of lpjt that "
        "wrote it, or keep new results in another directory. Nothing was changed."
    )


def _check_columns(file: Path, found: Any, format: Format) -> None:
    expected = _schema(_pyarrow()[0], format)
    if not found.equals(expected, check_metadata=False):
        differing = sorted({str(field) for field in found} ^ {str(field) for field in expected})
        raise StoreError(
            f"{file}: of results format '{format.version}', and {_this_version(format)}, but its columns differ: "
            f"{', '.join(differing)}. Move it away and start again. Nothing was changed."
        )


def _schema(arrow: Any, format: Format) -> Any:
    fields = [(name, getattr(arrow, kind)()) for name, kind in format.columns.items()]
    return arrow.schema(fields, metadata={_FORMAT_NAME: format.version.encode()})


def _this_version(format: Format) -> str:
    from lpjt import __version__

    return f"lpjt {__version__} keeps format '{format.version}'"


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "`pyarrow` is needed to keep results. Install it with `pip install 'lpjt[reproduce]'`."
        ) from error
    return pyarrow, pyarrow.parquet
