"""Which columns of several tables belong together: by name, by position, or none do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lpjt.files.domain import normalize_name, quote_names
from lpjt.tables.encoder import ColumnFinder, has_names

if TYPE_CHECKING:
    from pandas import DataFrame

MATCHES = ("name", "position", "different")

_SAY_HOW = (
    "If they are the same columns in the same order, choose match='position' (--match position); if they are different "
    "features, choose match='different' (--match different), which needs some target labels to be of use."
)


@dataclass(frozen=True, slots=True)
class Matched:
    """One feature column: where it is in each table that has it."""

    name: str
    places: dict[str, int]  # table to position


@dataclass(slots=True)
class Matching:
    """Columns that are used, those that are not, and what is to be said about them."""

    columns: list[Matched]
    alone: list[tuple[str, int]] = field(default_factory=list)  # (table, position) of what is left out
    notes: list[str] = field(default_factory=list)


def match_tables(tables: Mapping[str, "DataFrame"], match: str) -> Matching:
    """Match the columns of tables, given by the names of their domains, the first source first.

    "name" needs names in all tables; where one has none, columns are matched by position.
    """
    for name, table in tables.items():
        _refuse_twins(name, table)
    if match == "different":
        return _all_of_each(tables)
    if match == "position" or not all(has_names(list(table.columns)) for table in tables.values()):
        return _by_position(tables)
    return _by_name(tables)


def _refuse_twins(name: str, table: "DataFrame") -> None:
    twins = table.columns[table.columns.duplicated()]
    if len(twins):
        raise ValueError(f"The table {name!r} has two columns named {str(twins[0])!r}. Rename one of them.")


def _by_name(tables: Mapping[str, "DataFrame"]) -> Matching:
    (first, like), *others = tables.items()
    matching, used = Matching([]), {name: set[int]() for name in tables}
    finders = {name: ColumnFinder(list(table.columns)) for name, table in others}
    for position, column in enumerate(like.columns):
        places: dict[str, Any] = {name: find(column) for name, find in finders.items()}
        if None in places.values() or any(place in used[name] for name, place in places.items()):
            continue
        matching.columns.append(Matched(str(column), {first: position, **places}))
        for name, place in {first: position, **places}.items():
            used[name].add(place)
            other = str(tables[name].columns[place])
            if other != str(column):
                matching.notes.append(f"'{other}' of {name} is taken for '{column}' of {first}.")
    if not matching.columns:
        found = "; ".join(f"{name}: {quote_names(map(str, table.columns), 4)}" for name, table in tables.items())
        raise ValueError(f"The tables share no column name ({found}). {_SAY_HOW}")
    for name, table in tables.items():
        alone = [i for i in range(table.shape[1]) if i not in used[name]]
        matching.alone += [(name, i) for i in alone]
        if alone:
            shown = quote_names([str(table.columns[i]) for i in alone], 8)
            matching.notes.append(f"Left out, as not all tables have it: {shown} of {name}.")
    return matching


def _by_position(tables: Mapping[str, "DataFrame"]) -> Matching:
    widths = {name: table.shape[1] for name, table in tables.items()}
    (first, like), *others = tables.items()
    if len(set(widths.values())) > 1:
        found = ", ".join(f"{width} of {name}" for name, width in widths.items())
        raise ValueError(
            f"Columns cannot be matched by position, as their numbers differ ({found}). Choose the columns (--columns, "
            "--drop), name them in both tables, or, if they are different features, choose match='different' "
            "(--match different), which needs some target labels to be of use."
        )
    matching = Matching([Matched(str(name), dict.fromkeys(tables, i)) for i, name in enumerate(like.columns)])
    for name, table in others:
        renamed = [i for i, c in enumerate(table.columns) if normalize_name(c) != normalize_name(like.columns[i])]
        if renamed and has_names(list(table.columns)):
            pairs = [f"'{table.columns[i]}' for '{matching.columns[i].name}'" for i in renamed[:3]]
            more = f" and {len(renamed) - 3} more" if len(renamed) > 3 else ""
            matching.notes.append(f"Columns of {name} are matched by position: {', '.join(pairs)}{more} of {first}.")
    return matching


def _all_of_each(tables: Mapping[str, "DataFrame"]) -> Matching:
    columns = [Matched(str(c), {name: i}) for name, table in tables.items() for i, c in enumerate(table.columns)]
    widths = ", ".join(f"{name} {table.shape[1]}" for name, table in tables.items())
    note = f"The tables are taken to have different features ({widths} columns): nothing is matched."
    return Matching(columns, notes=[note])
