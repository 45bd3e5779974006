"""Labels of some target rows in a file of their own, as a person fills it in: one column of ids, one of labels."""

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lpjt._safe_text import safe_cell
from lpjt.files.domain import (
    ID_NAMES,
    LABEL_NAMES,
    FileDomain,
    FileError,
    clean_labels,
    normalize_name,
    quote_names,
    shown,
)
from lpjt.files.frames import RawTable, fold_name
from lpjt.files.reading import open_table

_ROW_NAMES = ("row", "unnamed:_0")
_WHOLE_AS_FRACTION = re.compile(r"(-?\d+)\.0+")


def read_known_labels(
    path: str | Path, target: FileDomain, classes: Sequence[Any], *, label: str | None = None, **layout: Any
) -> np.ndarray:
    """Labels of the target's rows, (n_target,) of object, None where the file has none.

    Parameters
    ----------
    path : path
        A table with a column of the target's ids, or of its row numbers from 0 (`row`), and one of labels; further
        columns do not matter, nor does the order of the rows. Rows with a blank label are not used. Texts may be
        escaped as `write_columns` does.
    target : FileDomain
    classes : sequence
        Classes of the sources; other labels are an error.
    label : str, optional
        Name of the label column; otherwise a common name is looked for.
    **layout
        As in `read_domain`: sep, decimal, encoding, sheet.

    Returns
    -------
    array of object, (n_target,)
    """
    path = Path(path)
    raw = open_table(path, **layout)
    names = [str(name) for name in raw.frame.columns]
    id_name, keys = _keys(names, target, path)
    label_name = _label_name(names, label, id_name, path)
    cells = clean_labels(raw.values_of(label_name), name=label_name, path=path)
    rows = _rows(raw, id_name, cells, keys, path)
    by_text, unclear = _with_escaped({str(one): (one, str(one)) for one in classes})
    labels = np.full(target.X.shape[0], None, dtype=object)
    for row, cell in rows:
        if str(cell) not in by_text:
            near = difflib.get_close_matches(str(cell), by_text, n=3, cutoff=0.5) or list(by_text)
            raise FileError(
                f"{path}: '{shown(cell)}' is no class of the sources (e.g. {quote_names(near, 3)}). Correct it."
            )
        if str(cell) in unclear:
            raise FileError(
                f"{path}: '{shown(cell)}' is one class of the sources, and another escaped. Rename one of them."
            )
        if labels[row] not in (None, by_text[str(cell)]):
            raise FileError(
                f"{path}: '{shown(keys[row])}' in '{id_name}' is '{shown(labels[row])}' in one line, '{shown(cell)}' "
                "in another. Keep one of them."
            )
        labels[row] = by_text[str(cell)]
    if not rows:
        raise FileError(f"{path}: every cell of '{label_name}' is blank. Fill in some labels.")
    return labels


def _keys(names: list[str], target: FileDomain, path: Path) -> tuple[str, list[Any]]:
    """The column that says which row is meant, and what it says of each row of the target."""
    if target.ids is not None and target.id_name is not None:
        found = fold_name(target.id_name, names) or fold_name(safe_cell(target.id_name), names)
        if found is not None:
            return found, list(target.ids)
    numbers = [str(i) for i in range(target.X.shape[0])]
    usual = _ROW_NAMES if target.ids is not None else ID_NAMES
    found = next((name for name in names if normalize_name(name) in usual), None)
    if found is not None:
        return found, numbers
    wanted = f"'{target.id_name}', the ids of {target.path.name}, or " if target.ids is not None else ""
    found_names = quote_names(names)
    raise FileError(f"{path}: no column {wanted}'row', its row numbers from 0 (found: {found_names}). Name it so.")


def _label_name(names: list[str], label: str | None, id_name: str, path: Path) -> str:
    found = None if label is None else fold_name(label, names) or fold_name(safe_cell(label), names)
    others = [name for name in names if name != id_name and normalize_name(name) in LABEL_NAMES]
    if found is None and len(others) == 1:
        found = others[0]
    if found is None and len(names) == 2:
        found = next(name for name in names if name != id_name)
    if found is None:
        raise FileError(f"{path}: no label column found (found: {quote_names(names)}). Name it 'label'.")
    return found


def _rows(raw: RawTable, id_name: str, cells: np.ndarray, keys: Sequence[Any], path: Path) -> list[tuple[int, Any]]:
    """Rows of the target and their labels, for the lines that have one."""
    written: dict[str, tuple[int, str]] = {}
    twice = set()
    for row, key in enumerate(keys):
        if _key(key) in written:
            twice.add(_key(key))
        written[_key(key)] = row, str(key)
    place, unclear = _with_escaped(written)
    twice |= unclear
    rows = []
    for given, cell in zip(raw.values_of(id_name), cells, strict=True):
        if cell is None:
            continue
        if _key(given) not in place:
            raise FileError(f"{path}: '{shown(given)}' in '{id_name}' is no row of the target. Correct it.")
        if _key(given) in twice:
            raise FileError(
                f"{path}: '{shown(given)}' in '{id_name}' is the id of several target rows. Use row numbers."
            )
        rows.append((place[_key(given)], cell))
    return rows


def _with_escaped(known: dict[str, tuple[Any, str]]) -> tuple[dict[str, Any], set[str]]:
    """Values by their text and by its escape in csv (`safe_cell`), and the escapes that are also other texts.

    `known` has the value and the whole text of each text that is looked up.
    """
    found, unclear = {text: value for text, (value, _) in known.items()}, set()
    for value, whole in known.values():
        if safe_cell(whole) != whole:
            escaped = _key(safe_cell(whole))
            if escaped in found:
                unclear.add(escaped)
            found.setdefault(escaped, value)
    return found, unclear


def _key(value: Any) -> str:
    """An id as text; 12.0, as spreadsheets have it, is 12."""
    text = str(value).strip()
    whole = _WHOLE_AS_FRACTION.fullmatch(text)
    return whole[1] if whole else text
