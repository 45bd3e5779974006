"""Columns whose cells are not of one kind in all tables: the error about them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lpjt._cells import Kind, distinct_texts, find_strange

if TYPE_CHECKING:
    from pandas import Series

_IN_WORDS = {"number": "numbers", "truth": "truth values", "date": "dates", "category": "text"}


def explain_difference(name: str, kinds: Mapping[str, Kind], parts: Mapping[str, "Series"]) -> str:
    """What each table holds, a cell that is not like the others, and what to do."""
    held = {domain: "truth" if _is_truth(parts[domain], kind) else kind.name for domain, kind in kinds.items()}
    found = ", ".join(f"{_IN_WORDS[kind]} in {domain}" for domain, kind in held.items())
    texts = next((parts[domain] for domain, kind in held.items() if kind == "category"), None)
    expected = next((kind for kind in held.values() if kind != "category"), "number")
    example = "" if texts is None else _strange_cell(texts, expected)
    return f"Column '{name}' holds {found}{example}. Correct the cells, or leave the column out (--drop '{name}')."


def _is_truth(part: "Series", kind: Kind) -> bool:
    return kind.name == "number" and set(distinct_texts(part)) <= {"True", "False"}


def _strange_cell(texts: "Series", expected: str) -> str:
    """The first cell that is not of the kind of the other tables, and where it is."""
    strange = find_strange(texts, expected)
    if not len(strange):
        return ""
    row = int(strange[0])
    last = ", the last row: a footer?" if row == len(texts) - 1 else ""
    line = f"line {row + 2} of a file with a header"
    return f" (e.g. '{str(texts.iloc[row])[:40]}' in row {row}, counted from 0, which is {line}{last})"
