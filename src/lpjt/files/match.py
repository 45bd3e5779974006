"""Making the columns of several tables mean the same, where their files allow it."""

from collections.abc import Sequence
from dataclasses import replace

from scipy import sparse

from lpjt.files.table import Table, quoted


def match_columns(tables: Sequence[Table]) -> tuple[list[Table], list[str]]:
    """Order columns of the same names as in the first table, and give svmlight files one width.

    Parameters
    ----------
    tables : sequence of Table
        Of any number of domains. None is changed.

    Returns
    -------
    tables : list of Table
        In the given order.
    notes : list of str
        What a user should know of columns that do not match.
    """
    matched = _one_width(list(tables))
    first, notes = matched[0], []
    for position, table in enumerate(matched[1:], start=1):
        matched[position], note = _order_like(first, table)
        notes += [note] if note else []
    return matched, notes


def _one_width(tables: list[Table]) -> list[Table]:
    """An svmlight file shows only the columns in use: pad to the widest; drop column 0 if no file has it."""
    places = [i for i, table in enumerate(tables) if table.kind == "svmlight"]
    if not places:
        return tables
    width = max(tables[i].X.shape[1] for i in places)
    start = int(width > 1 and all(tables[i].X[:, [0]].nnz == 0 for i in places))
    for i in places:
        X = sparse.csr_matrix(tables[i].X)
        X.resize(X.shape[0], width)
        tables[i] = replace(tables[i], X=X[:, start:] if start else X)
    return tables


def _order_like(first: Table, table: Table) -> tuple[Table, str | None]:
    names, others = first.feature_names, table.feature_names
    if names is None or others is None or names == others:
        return table, _turned(first, table)
    missing = [name for name in names if name not in set(others)]
    extra = [name for name in others if name not in set(names)]
    if not missing and not extra:
        position = {name: i for i, name in enumerate(others)}
        X = table.X[:, [position[name] for name in names]]
        return replace(table, X=X, feature_names=names), None
    if len(missing) == len(names):
        same = "; they are matched by position" if len(names) == len(others) else ""
        return table, f"{table.path.name} shares no column name with {first.path.name}{same}."
    differences = [f"lacks {quoted(missing, 3)}"] if missing else []
    differences += [f"has {quoted(extra, 3)} besides"] if extra else []
    return table, (
        f"{table.path.name} {' and '.join(differences)}, compared with {first.path.name}. The two are taken "
        "as different features; keep the common columns alone for a closer transfer."
    )


def _turned(first: Table, table: Table) -> str | None:
    """A matrix without labels does not tell which way round it is; a width in the rows is suspicious."""
    width = first.X.shape[1]
    if table.y is None and table.X.shape[0] == width != table.X.shape[1]:
        return (
            f"{table.path.name} has {width} rows, as many as {first.path.name} has columns: if its columns "
            "are the samples, transpose it."
        )
    return None
