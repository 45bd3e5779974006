"""svmlight files in the child: ``label index:value index:value ...`` per line, by numpy alone."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lpjt.isolated.limits import MAX_COLUMNS, Limits
from lpjt.isolated.parts import Answer, RefusedError, SparseParts, UnreadableError
from lpjt.isolated.streams import blocks

_LINE = re.compile(rb"[^\s:]+(?:\s+qid:[0-9]+)?(?:\s+[0-9]+:[^\s:]+)*")
_QUERY = re.compile(rb"\sqid:[0-9]+")


def read_svmlight(path: Path, limits: Limits) -> Answer:
    """Rows as CSR and their labels. The index of a feature in the file is its column, so column 0 may be empty."""
    if path.suffix.lower() == ".gz":
        for _ in blocks(path, limits):  # a bomb is found before anything is parsed
            pass
    labels: list[np.ndarray] = []
    counts: list[np.ndarray] = []
    indices: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for start, lines in _line_blocks(path, limits):
        rows = [(start + i, row) for i, row in enumerate(_rows(lines)) if row]
        for number, row in rows:
            if not _LINE.fullmatch(row):
                raise UnreadableError(f"line {number} is not 'label index:value ...': {_shown(row)}")
        if not rows:
            continue
        pairs = [_QUERY.sub(b"", row) for _, row in rows]
        counts.append(np.array([row.count(b":") for row in pairs]))
        numbers = _numbers(b" ".join(pairs).replace(b":", b" ").split())
        at = np.concatenate([[0], np.cumsum(1 + 2 * counts[-1])[:-1]])
        labels.append(numbers[at])
        entries = np.delete(numbers, at)
        indices.append(_checked_indices(entries[::2], counts[-1], [number for number, _ in rows]))
        values.append(entries[1::2])
    if not labels:
        raise RefusedError("the file has no rows. Give one line per row, 'label index:value ...'.")
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    columns = np.concatenate(indices)
    width = int(columns.max()) + 1 if len(columns) else 0
    parts = {"data": np.concatenate(values), "indices": columns, "indptr": indptr}
    return Answer({"X": SparseParts("csr", (len(indptr) - 1, width), parts), "y": np.concatenate(labels)}, {})


def _line_blocks(path: Path, limits: Limits) -> Iterator[tuple[int, list[bytes]]]:
    """Whole lines of a file, about a MiB together, and the number of the first, from 1."""
    rest: list[bytes] = []
    number = 1
    for block in blocks(path, limits):
        head, newline, tail = block.rpartition(b"\n")
        if not newline:
            rest.append(block)
            continue
        lines = b"".join([*rest, head]).split(b"\n")
        yield number, lines
        number, rest = number + len(lines), [tail]
    yield number, [b"".join(rest)]


def _rows(lines: list[bytes]) -> list[bytes]:
    """Lines without their comments and outer blanks."""
    return [line.partition(b"#")[0].strip() for line in lines]


def _numbers(tokens: list[bytes]) -> np.ndarray:
    try:
        return np.array([float(token) for token in tokens])
    except ValueError as error:
        raise UnreadableError(str(error)) from error


def _checked_indices(found: np.ndarray, counts: np.ndarray, lines: list[int]) -> np.ndarray:
    """Indices of a block as integers; each row's must increase, and none may be beyond the widest matrix."""
    if len(found) and found.max() >= MAX_COLUMNS:
        row = int(np.repeat(np.arange(len(counts)), counts)[found.argmax()])
        raise RefusedError(
            f"line {lines[row]} has the feature index {found.max():.0f}; a matrix has at most {MAX_COLUMNS:,} columns. "
            "Number the features that occur from 1, or hash them to fewer."
        )
    indices = found.astype(np.int64)
    begins = np.zeros(len(indices), dtype=bool)
    begins[np.concatenate([[0], np.cumsum(counts)[:-1]])[counts > 0]] = True
    falling = np.flatnonzero((np.diff(indices, prepend=-1) <= 0) & ~begins)
    if len(falling):
        row = int(np.repeat(np.arange(len(counts)), counts)[falling[0]])
        raise UnreadableError(f"the indices of line {lines[row]} do not increase")
    return indices


def _shown(row: bytes) -> str:
    return repr(row[:40].decode("ascii", "replace"))
