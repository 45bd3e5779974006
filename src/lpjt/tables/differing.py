"""Columns whose cells are not of one kind in all tables: truth values, which can be read alike, or an error."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lpjt._cells import Kind, distinct_texts, find_strange

if TYPE_CHECKING:
    from pandas import Series

_SPELLINGS = ({"yes", "no"}, {"true", "false"}, {"1", "0"})
_IN_WORDS = {"number": "numbers", "truth": "truth values", "date": "dates", "category": "text"}


def are_spelled_differently(kinds: Mapping[str, Kind], parts: Mapping[str, "Series"]) -> bool:
    """Whether all tables hold truth values, each in one spelling (yes/no, true/false or 1/0), and no cell alike."""
    found = []
    for part in parts.values():
        texts = set(distinct_texts(part))
        if not any({text.lower() for text in texts} <= spelling for spelling in _SPELLINGS):
            return False
        found.append(texts)
    return len({kind.name for kind in kinds.values()}) > 1 or not set.intersection(*found)


def explain_difference(name: str, kinds: Mapping[str, Kind], parts: Mapping[str, "Series"]) -> str:
    """What each table holds, a cell that is not like the others, and what to do."""
    held = {domain: "truth" if _is_truth(parts[domain], kind) else kind.name for domain, kind in kinds.items()}
    found = ", ".join(f"{_IN_WORDS[kind]} in {domain}" for domain, kind in held.items())
    texts = next((parts[domain] for domain, kind in held.items() if kind == "category"), None)
    expected = next((kind for kind in held.values() if kind != "category"), "number")
    example = "" if texts is None else _strange_cell(texts, expected)
    advice = f"Correct the cells, or leave the column out (--drop '{name}')."
    if texts is not None and not len(find_strange(texts, "truth")):
        advice += " Truth values are read if each table has one spelling of them: yes/no, true/false or 1/0."
    return f"Column '{name}' holds {found}{example}. {advice}"


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
