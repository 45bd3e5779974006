"""What becomes of each column: kinds, levels, missing cells; one encoder per domain and a record per column."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lpjt._cells import TRUTH_FORM, Kind, read_kind, to_texts
from lpjt.files.domain import quote_names
from lpjt.tables.differing import are_spelled_differently, explain_difference
from lpjt.tables.encoder import ColumnCode, TableEncoder, fit_encoder
from lpjt.tables.matching import match_tables

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True, slots=True)
class Prepared:
    """Encoders by domain, a record for each column, and sentences about what was left out or guessed."""

    encoders: dict[str, TableEncoder]
    columns: list[dict[str, Any]]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Rules:
    """What the caller asks for, and which of the tables are sources."""

    sources: frozenset[str]
    match: str
    impute: str | None
    max_levels: int


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What becomes of one column: the levels or forms that it needs, or why it is left out."""

    kind: str
    treatment: str
    used: bool = True
    forms: Mapping[str, str | None] | None = None
    levels: tuple[str, ...] = ()
    note: str | None = None


def prepare_tables(tables: Mapping[str, "DataFrame"], rules: Rules) -> Prepared:
    """Match the columns, find their kinds, and learn what replaces missing cells and which levels are encoded."""
    matching = match_tables(tables, rules.match)
    codes: dict[str, list[ColumnCode]] = {name: [] for name in tables}
    infinite = {name: _count_infinite(table) for name, table in tables.items()}
    missing = {name: _count_missing(table, infinite[name]) for name, table in tables.items()}
    plain = {name: _plain_numbers(table, missing[name]) for name, table in tables.items()}
    records, notes = [], list(matching.notes)
    for column in matching.columns:
        if all(plain[name][place] for name, place in column.places.items()):  # thousands of columns take no time
            verdict = _Verdict("number", "number")
        else:
            verdict = _judge(column.name, {n: tables[n].iloc[:, place] for n, place in column.places.items()}, rules)
        if verdict.kind == "number" and all(_counts_rows(tables[n].iloc[:, i]) for n, i in column.places.items()):
            notes.append(f"'{column.name}' numbers the rows; if it is an id, leave it out (--id or --drop).")
        holes = {name: missing[name][place] for name, place in column.places.items()}
        treatment = f"{verdict.treatment} ({next(iter(holes))})" if rules.match == "different" else verdict.treatment
        records.append(_entry(column.name, verdict.kind, treatment, used=verdict.used, missing=holes))
        notes += [verdict.note] if verdict.note else []
        for name, place in column.places.items() if verdict.used else ():
            own_name = str(tables[name].columns[place])
            form = verdict.forms[name] if verdict.forms else None
            codes[name].append(ColumnCode(own_name, place, verdict.kind, column.name, form, verdict.levels))
    alone: dict[str, dict[str, int]] = {}
    for name, place in matching.alone:
        alone.setdefault(str(tables[name].columns[place]), {})[name] = missing[name][place]
    for own_name, holes in alone.items():
        records.append(_entry(own_name, "", f"left out: only in {' and '.join(holes)}", used=False, missing=holes))
    for name, found in codes.items():
        if not found:
            raise ValueError(f"No column of {name} can be used: {_reasons(records)}. Give other columns (--columns).")
    notes += _missing_note(records, rules.impute) + _infinite_note(codes, infinite)
    return Prepared(_fit_encoders(tables, codes, rules), records, notes)


def _fit_encoders(
    tables: Mapping[str, "DataFrame"], codes: Mapping[str, Sequence[ColumnCode]], rules: Rules
) -> dict[str, TableEncoder]:
    held = {name: list(table.dtypes) for name, table in tables.items()}
    dtypes = [held[name][code.position] for name, found in codes.items() for code in found]
    dtype = "float32" if all(kind == np.float32 for kind in dtypes) else "float64"
    encoders: dict[str, TableEncoder] = {}
    widths: set[int] = set()
    for name, table in tables.items():
        encoder = fit_encoder(table, codes[name], impute=rules.impute, dtype=dtype)
        # Equal widths mean the same columns to the estimator: it would couple features that have nothing in common.
        padding = 0
        while rules.match == "different" and len(encoder.feature_names) + padding in widths:
            padding += 1
        if padding:
            encoder = fit_encoder(table, codes[name], impute=rules.impute, dtype=dtype, padding=padding)
        widths.add(len(encoder.feature_names))
        encoders[name] = encoder
    return encoders


def _judge(name: str, parts: Mapping[str, "Series"], rules: Rules) -> _Verdict:
    """What becomes of one column, given by domain."""
    kinds = {domain: read_kind(part) for domain, part in parts.items()}
    empty = [domain for domain, kind in kinds.items() if kind.name == "empty"]
    if empty:
        reason = f"left out: no value in {quote_names(empty)}"
        return _Verdict("empty", reason, used=False, note=f"'{name}' is {reason}.")
    distinct = {kind.name for kind in kinds.values()}
    if distinct != {"number"} and are_spelled_differently(kinds, parts):
        note = f"'{name}': yes, true and 1 are read alike, and no, false and 0."
        return _Verdict("number", "truth values", forms=dict.fromkeys(parts, TRUTH_FORM), note=note)
    if len(distinct) > 1:
        raise ValueError(explain_difference(name, kinds, parts))
    (kind,) = distinct
    if kind == "number":
        return _Verdict(kind, "number")
    if kind == "date":
        return _judge_dates(name, kinds)
    return _judge_texts(name, parts, rules)


def _judge_dates(name: str, kinds: Mapping[str, Kind]) -> _Verdict:
    """The form that the dates of all domains fit, or else each domain's own."""
    in_text = {domain: kind.formats for domain, kind in kinds.items() if kind.formats}
    shared = [form for form in next(iter(in_text.values()), ()) if all(form in forms for forms in in_text.values())]
    choice = {domain: shared[0] if shared else forms[0] for domain, forms in in_text.items()}
    forms = {domain: choice.get(domain) for domain in kinds}
    shown = ", ".join(dict.fromkeys(form for form in choice.values() if form != "ISO8601"))
    note = None
    if shared and shared[0].startswith("%d") and "%m" + shared[0][2] + "%d" + shared[0][5:] in shared:
        note = f"The dates of '{name}' could have the day or the month first; the day is taken ({shared[0]})."
    return _Verdict("date", f"days since 1970{f' ({shown})' if shown else ''}", forms=forms, note=note)


def _judge_texts(name: str, parts: Mapping[str, "Series"], rules: Rules) -> _Verdict:
    """Levels that both sides have, the most frequent of the sources first.

    A level that only one side has cannot carry a label to the other, but it does tell the domains apart; such rows have
    none of the levels.
    """
    texts = {domain: to_texts(part) for domain, part in parts.items()}
    on_source = [domain for domain in texts if domain in rules.sources] or list(texts)
    counts = Counter(text for domain in on_source for text in texts[domain] if text is not None)
    n_cells = sum(counts.values())
    if len(counts) > max(rules.max_levels, n_cells / 2):
        reason = f"left out: free text ({len(counts)} different ones in {n_cells} cells)"
        return _Verdict("text", reason, used=False, note=f"'{name}' is {reason}.")
    elsewhere = [set(texts[domain]) for domain in texts if domain not in on_source]
    common = [text for text in counts if all(text in found for found in elsewhere)]
    if not common:
        reason = "left out: source and target have no level in common"
        return _Verdict("category", reason, used=False, note=f"'{name}' is {reason}.")
    levels = sorted(sorted(common, key=lambda text: (-counts[text], text))[: rules.max_levels])
    others = sorted({text for found in texts.values() for text in found if text is not None} - set(levels))
    note = None
    if others:
        note = f"'{name}': {quote_names(others, 4)} not encoded: too rare (max_levels) or not in all tables."
    treatment = f"{len(levels)} level{'s' if len(levels) != 1 else ''}" + (
        f", {len(others)} not encoded" if others else ""
    )
    return _Verdict("category", treatment, levels=tuple(levels), note=note)


def _entry(name: str, kind: str, treatment: str, *, used: bool, missing: dict[str, int]) -> dict[str, Any]:
    return {"name": name, "kind": kind, "treatment": treatment, "used": used, "missing": missing}


def _count_infinite(table: "DataFrame") -> np.ndarray:
    """Infinite numbers of each column, (n_columns,)."""
    counts = np.zeros(table.shape[1], dtype=int)
    floats = [i for i, dtype in enumerate(table.dtypes) if isinstance(dtype, np.dtype) and dtype.kind == "f"]
    counts[floats] = np.isinf(table.iloc[:, floats].to_numpy()).sum(axis=0)
    return counts


def _count_missing(table: "DataFrame", infinite: np.ndarray) -> list[int]:
    """Missing cells of each column, infinite numbers among them."""
    return [int(count) for count in table.isna().sum().to_numpy() + infinite]


def _plain_numbers(table: "DataFrame", missing: Sequence[int]) -> list[bool]:
    """Which columns are of numpy's numbers and not empty: those need no closer look."""
    kinds = [dtype.kind if isinstance(dtype, np.dtype) else "O" for dtype in table.dtypes]
    return [kind in "iuf" and count < len(table) for kind, count in zip(kinds, missing, strict=True)]


def _counts_rows(part: "Series") -> bool:
    """Whether a column holds whole numbers, each one more than that of the row before."""
    return part.dtype.kind in "iu" and len(part) > 2 and bool((np.diff(part.to_numpy()) == 1).all())


def _missing_note(records: Sequence[Mapping[str, Any]], impute: str | None) -> list[str]:
    """How many cells are missing where, and what replaces them."""
    holed = [record for record in records if record["used"] and any(record["missing"].values())]
    total: Counter[str] = Counter()
    for record in holed:
        total.update(record["missing"])
    if not holed:
        return []
    where = ", ".join(f"{count:,} in {domain}" for domain, count in total.items() if count)
    how = "an error with impute=None"
    if impute is not None:
        how = f"replaced by the {impute.replace('-', ' ')} of the same table"
        how += "; a missing category has no level" if any(record["kind"] == "category" for record in holed) else ""
    return [f"Missing cells in {quote_names([record['name'] for record in holed], 4)}: {where}, {how}."]


def _infinite_note(codes: Mapping[str, Sequence[ColumnCode]], infinite: Mapping[str, np.ndarray]) -> list[str]:
    """How many of the missing cells are infinite numbers."""
    held = {domain: [code for code in used if infinite[domain][code.position]] for domain, used in codes.items()}
    names = dict.fromkeys(code.feature for found in held.values() for code in found)
    where = ", ".join(
        f"{sum(infinite[domain][code.position] for code in found):,} in {domain}"
        for domain, found in held.items()
        if found
    )
    return [f"Infinite cells in {quote_names(names, 4)} count as missing: {where}."] if names else []


def _reasons(records: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"'{record['name']}' {record['treatment']}" for record in records[:4])
