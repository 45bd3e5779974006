"""The figures printed in papers, as data: what ours stand beside, each with its source."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

from lpjt.study.tables.published_others import OTHER_REMARKS, OTHER_TEXT, PREFERENCE, SOURCES
from lpjt.study.tables.published_paper import MISPRINTS, PAPER_COLUMNS, PAPER_REMARKS, PAPER_TEXT

__all__ = [
    "MISPRINTS",
    "SOURCES",
    "VISDA_CLASSES",
    "PrintedFigure",
    "paper_averages",
    "paper_cells",
    "published",
    "published_tables",
    "reference",
    "remarks",
]

_AVERAGE = "average"


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """One printed accuracy, in per cent."""

    table: str
    pair: str
    method: str
    value: float
    source: str  # a key of `SOURCES`
    confirmed: bool = True


def published(table: str) -> list[PrintedFigure]:
    """Every figure known for a table: the paper's first, then those of other papers on the same files."""
    figures = [
        PrintedFigure(table, pair, method, value, "paper")
        for pair, cells in paper_cells(table).items()
        for method, value in cells.items()
    ]
    for source, of_table, confirmed, text in OTHER_TEXT:
        if of_table != table:
            continue
        for pair, method, value in _cells(text):
            sure = confirmed if isinstance(confirmed, bool) else method in confirmed
            figures.append(PrintedFigure(table, pair, method, value, source, sure))
    return figures


def published_tables() -> list[str]:
    """Names of the tables for which some figure is printed."""
    return list(dict.fromkeys([*PAPER_TEXT, *(table for _, table, _, _ in OTHER_TEXT)]))


def paper_cells(table: str) -> dict[str, dict[str, float]]:
    """The paper's table as ``{pair: {method: per cent}}``; empty where the paper has none of that name."""
    cells: dict[str, dict[str, float]] = {}
    for pair, method, value in _cells(PAPER_TEXT.get(table, "")):
        if pair != _AVERAGE:
            cells.setdefault(pair, {})[method] = value
    return cells


def paper_averages(table: str) -> dict[str, float]:
    """The averages as the paper prints them, by method; `MISPRINTS` names those that its own cells contradict."""
    return {method: value for pair, method, value in _cells(PAPER_TEXT.get(table, "")) if pair == _AVERAGE}


def reference(table: str, method: str) -> dict[str, PrintedFigure]:
    """The figures that a method of ours stands beside, by pair: of one source alone, the paper's where it has any.

    A column that the paper prints under another method's name is found too (`remarks` says which), and a preset of LPJT
    stands beside the authors' program or, failing that, beside the paper's LPJT.
    """
    names = [method, PAPER_COLUMNS.get(table, {}).get(method, method)]
    if method.startswith("LPJT ("):
        names.append("LPJT")
    for name in dict.fromkeys(names):
        found = [figure for figure in published(table) if figure.method == name]
        for source in PREFERENCE:
            of_source = {figure.pair: figure for figure in found if figure.source == source}
            if of_source:
                return of_source
    return {}


def remarks(table: str, sources: Collection[str] = tuple(SOURCES)) -> list[str]:
    """What a reader of a table's figures from some sources must know."""
    own = [PAPER_REMARKS[table]] if table in PAPER_REMARKS and "paper" in sources else []
    return own + [text for (source, of_table), text in OTHER_REMARKS.items() if of_table == table and source in sources]


@cache
def _parsed(text: str) -> tuple[tuple[str, str, float], ...]:
    heading, *lines = text.strip("\n").splitlines()
    methods = [name.replace("_", " ") for name in heading.split()]
    cells = []
    for line in lines:
        pair, *values = line.rsplit(maxsplit=len(methods))
        cells += [(pair, method, float(value)) for method, value in zip(methods, values, strict=True)]
    return tuple(cells)


def _cells(text: str) -> Iterator[tuple[str, str, float]]:
    """(pair, method, value) of a block of text: a heading of methods, then one line per pair."""
    return iter(_parsed(text)) if text else iter(())


#: Classes of VisDA-2017 in the order of their numbers, 0 to 11.
VISDA_CLASSES = tuple(paper_cells("visda"))
