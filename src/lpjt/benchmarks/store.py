"""Rows of runs on disk: a directory of parquet files that a kill at any moment leaves whole."""

import io
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: The format of the files below; a change of `COLUMNS` changes it.
FORMAT = "1"

#: Columns of a row and their types in parquet.
COLUMNS = {
    "key": "string",
    "table": "string",
    "pair": "string",
    "method": "string",
    "seed": "int64",
    "protocol": "string",
    "parameters": "string",
    "accuracy": "float64",
    "balanced_accuracy": "float64",
    "per_class_accuracy": "string",
    "seconds": "float64",
    "peak_bytes": "int64",
    "n_iter": "int64",
    "status": "string",
    "message": "string",
    "n_tried": "int64",
    "versions": "string",
    "checksum": "string",
    "started": "string",
}

_ORDER = ("table", "pair", "method", "protocol", "seed", "parameters", "key")
_FORMAT_NAME = b"lpjt_results_format"
_MERGED = "rows.parquet"
_PART = "part-"
_TEMPORARY = ".unfinished-"


class StoreError(ValueError):
    """Stored results that cannot be read, or not by this version."""


class Store:
    """Rows in a directory: one small file an appended row, merged into ``rows.parquet`` by `compact`.

    A file appears under its name only when it is whole and on the disk, so readers and later runs never see half a row.
    Names are unique to a process and a row: any number of writers may append at once. Of rows of one key the last
    written wins. Files that are not parquet by name are left alone.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(
                f"{self.path} is a file, and results are kept in a directory. Give another path, or read this one "
                "with Store.read_file."
            )
        self._checked = False

    def rows(self) -> list[dict[str, Any]]:
        """All rows, one a key, in an order that depends on the rows alone."""
        with self._locked(exclusive=False):
            return _distinct(self._read(self._files()))

    def keys(self) -> set[str]:
        """The keys of the stored rows."""
        return {row["key"] for row in self.rows()}

    def append(self, row: Mapping[str, Any]) -> None:
        """Add one row, or replace that of the same key; on return it is on the disk.

        The first append of a store refuses a directory with files that it cannot read.
        """
        data = _encode([row])
        self._check_files()
        # The time comes first, so that sorted names are in the order of writing.
        self._write(f"{_PART}{time.time_ns():020d}-{os.getpid()}-{uuid.uuid4().hex}.parquet", data)

    def compact(self) -> None:
        """Merge all rows into one file, and remove the parts and what killed writers left.

        Killed between the two it leaves rows twice, which `rows` sees once. Where files cannot be locked (Windows)
        parts stay as they are: two processes that merge at the same time could lose each other's rows.
        """
        if fcntl is None or not self.path.is_dir():
            return
        with self._locked(exclusive=True):
            files = self._files()
            parts = [file for file in files if file.name.startswith(_PART)]
            if parts:
                self._write(_MERGED, _encode(_distinct(self._read(files))))
            # The oldest first: of one key a later row must not vanish before an earlier one.
            for part in parts:
                part.unlink()
            for file in self.path.glob(f"{_TEMPORARY}*"):
                _remove_abandoned(file)

    @staticmethod
    def read_file(path: str | os.PathLike) -> list[dict[str, Any]]:
        """Rows of a single file, as `rows` gives them."""
        return _distinct(_decode(Path(path)))

    def _files(self) -> list[Path]:
        """Files of rows, later ones last: those of unknown name, then the merged one, then parts by their time."""
        files = self.path.glob("*.parquet") if self.path.is_dir() else ()
        return sorted(files, key=lambda file: (file.name.startswith(_PART), file.name == _MERGED, file.name))

    def _read(self, files: Iterable[Path]) -> Iterator[dict[str, Any]]:
        for file in files:
            yield from _decode(file)

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


def _distinct(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The last row of each key, sorted."""
    by_key = {row["key"]: dict(row) for row in rows}
    return sorted(by_key.values(), key=lambda row: tuple(row[name] for name in _ORDER))


def _encode(rows: list) -> bytes:
    """Rows as a parquet file with its format and checksums of its pages."""
    arrow, parquet = _pyarrow()
    for row in rows:
        _check_row(row)
    try:
        table = arrow.Table.from_pylist(rows, schema=_schema(arrow))
    except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
        raise ValueError(f"A row does not fit the results format {FORMAT}: {error}") from error
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, write_page_checksum=True)
    return buffer.getvalue()


def _check_row(row: Mapping[str, Any]) -> None:
    lacking, unknown = [name for name in COLUMNS if name not in row], [name for name in row if name not in COLUMNS]
    if lacking or unknown or any(row[name] is None for name in _ORDER):
        empty = [name for name in _ORDER if row.get(name) is None]
        raise ValueError(
            f"A row does not fit the results format {FORMAT}: it lacks {lacking}, has the unknown {unknown}, and "
            f"{empty} must have values. Give the columns of lpjt.benchmarks.store.COLUMNS."
        )


def _decode(file: Path) -> list[dict[str, Any]]:
    """Rows of a file of this format; of any other an error that says what to do."""
    arrow, parquet = _pyarrow()
    data = file.read_bytes()
    try:
        reader = parquet.ParquetFile(arrow.BufferReader(data), page_checksum_verification=True)
        schema = reader.schema_arrow
        found = (schema.metadata or {}).get(_FORMAT_NAME, b"none").decode(errors="replace")
        if found == FORMAT:
            _check_columns(file, schema, _schema(arrow))
            return reader.read().to_pylist()
    except (arrow.ArrowException, OSError) as error:
        raise StoreError(
            f"{file}: not a whole parquet file ({len(data)} bytes, results format unknown; {_this_version()}). Move it "
            "away and start again: the runs that it held are then made anew. Nothing was changed."
        ) from error
    raise StoreError(
        f"{file}: of results format '{found}', but {_this_version()}. Read it with the version of lpjt that wrote it, "
        "or keep new results in another directory. Nothing was changed."
    )


def _check_columns(file: Path, found: Any, wanted: Any) -> None:
    if not found.equals(wanted, check_metadata=False):
        differing = sorted({str(field) for field in found} ^ {str(field) for field in wanted})
        raise StoreError(
            f"{file}: of results format '{FORMAT}', and {_this_version()}, but its columns differ: "
            f"{', '.join(differing)}. Move it away and start again. Nothing was changed."
        )


def _schema(arrow: Any) -> Any:
    fields = [(name, getattr(arrow, kind)()) for name, kind in COLUMNS.items()]
    return arrow.schema(fields, metadata={_FORMAT_NAME: FORMAT.encode()})


def _this_version() -> str:
    from lpjt import __version__

    return f"lpjt {__version__} keeps format '{FORMAT}'"


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "`pyarrow` is needed to keep results. Install it with `pip install 'lpjt[reproduce]'`."
        ) from error
    return pyarrow, pyarrow.parquet
