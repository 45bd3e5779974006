"""Tables of results as data: ours beside the published figures, ready to be rendered by `markup`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lpjt.datasets import TableSpec, find_table
from lpjt.study.runs.methods import METHODS, PROTOCOLS
from lpjt.study.tables.published import SOURCES, PrintedFigure, reference, remarks
from lpjt.study.tables.summary import (
    Average,
    Cell,
    PairedTest,
    Row,
    as_printed,
    averages,
    cells,
    comparable,
    data_checksum,
    paired_tests,
)

#: Up to this many pairs the methods become the rows.
_FEW_PAIRS = 4
_TIE = 0.005  # printed figures have two decimals
_OURS = ("LPJT", "LPJT (paper)", "LPJT (code)")
_MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a row and a column meet: our figure and the published one, in per cent."""

    ours: float | None = None
    deviation: float | None = None  # between seeds
    published: float | None = None
    failed: bool = False  # no run of ours gave labels
    best: bool = False  # the highest of ours on its pair
    mark: str = ""  # leads to a note

    @property
    def better(self) -> Literal["ours", "published", ""]:
        """Which of the two is higher; neither where one is missing, marked, or they are equal."""
        if self.ours is None or self.published is None or self.mark or abs(self.ours - self.published) < _TIE:
            return ""
        return "ours" if self.ours > self.published else "published"


@dataclass(frozen=True, slots=True)
class GridRow:
    """One line of a grid, as many entries as columns."""

    name: str
    entries: tuple[Entry, ...]
    total: bool = False  # a mean, set apart from what it is the mean of


@dataclass(frozen=True, slots=True)
class Grid:
    """A table ready to be shown. `totals` names the columns that are means."""

    title: str
    subtitle: tuple[str, ...]  # protocol, seeds, data
    corner: str  # what the rows are: "pair", "class" or "method"
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    notes: tuple[str, ...] = ()
    tests: tuple[PairedTest, ...] = ()
    ours: str = "LPJT"  # the method that `tests` sets against the others
    totals: frozenset[str] = frozenset()

    def transposed(self, corner: str = "method") -> "Grid":
        """Columns as rows and rows as columns."""
        turned = zip(self.columns, zip(*(row.entries for row in self.rows), strict=True), strict=True)
        return replace(
            self,
            corner=corner,
            columns=tuple(row.name for row in self.rows),
            rows=tuple(GridRow(name, entries, name in self.totals) for name, entries in turned),
            totals=frozenset(row.name for row in self.rows if row.total),
        )

    def with_columns(self, kept: Sequence[int]) -> "Grid":
        """The same rows with some of the columns, by position."""
        rows = tuple(replace(row, entries=tuple(row.entries[i] for i in kept)) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in kept), rows=rows)


def reproduce_grid(rows: Iterable[Row], table: str, protocol: str) -> Grid:
    """The table `table` under a protocol, from stored rows: ours beside what was published.

    Pairs are rows and methods columns, or the other way round with four pairs or fewer. The published figure beside
    each of ours is the paper's where it prints one, else that of another paper on the same files; notes name the
    sources and all that failed.

    Parameters
    ----------
    rows : rows of `lpjt.study.runs.measure`; those of other tables and protocols are left out
    table : name of a table
    protocol : {"label-free", "published", "oracle"}

    Returns
    -------
    Grid
    """
    spec = find_table(table)
    if protocol not in PROTOCOLS:
        raise ValueError(f"There is no protocol {protocol!r}. Known: {', '.join(PROTOCOLS)}.")
    stored = list(rows)
    chosen = comparable(row for row in stored if (row["table"], row["protocol"]) == (table, protocol))
    if not chosen:
        there = sorted({f"{row['table']} ({row['protocol']})" for row in stored})
        found = f" There are {', '.join(there)}." if there else " Nothing is stored."
        raise ValueError(
            f"No run of the table {table!r} under the protocol {protocol!r} is stored.{found} "
            f"Run `lpjt reproduce {table} --protocol {protocol}`."
        )
    return _grid(chosen, spec, protocol)


def _grid(chosen: Sequence[Row], spec: TableSpec, protocol: str) -> Grid:
    shown = as_printed(chosen, spec.name)
    by_pair, over_pairs = cells(shown), averages(shown)
    pairs = _ordered(by_pair, spec.pairs)
    methods = _ordered(over_pairs, METHODS)
    printed = {method: reference(spec.name, method) for method in methods}
    lines = [
        GridRow(pair, _best_marked([_entry(by_pair[pair].get(m), printed[m].get(pair)) for m in methods]))
        for pair in pairs
    ]
    if len(pairs) > 1:
        means = [_mean_entry(over_pairs[method], printed[method], pairs) for method in methods]
        lines.append(GridRow(_MEAN, _best_marked(means), total=True))
    ours = next((name for name in _OURS if name in methods), "")
    # Classes of one pair are not independent trials: nothing is tested over them.
    tests = paired_tests(chosen, ours) if ours else []
    grid = Grid(
        title=spec.title,
        subtitle=_subtitle(chosen, spec, protocol),
        corner="class" if spec.name == "visda" else "pair",
        columns=tuple(methods),
        rows=tuple(lines),
        notes=tuple(_notes(spec, methods, pairs, by_pair, over_pairs, printed)),
        tests=tuple(sorted(tests, key=lambda test: methods.index(test.method))),
        ours=ours,
    )
    return grid.transposed() if len(pairs) <= _FEW_PAIRS else grid


def _ordered(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """Names in a known order, the unknown ones last."""
    known = {name: place for place, name in enumerate(order)}
    return sorted(names, key=lambda name: known.get(name, len(known)))


def _entry(cell: Cell | None, figure: PrintedFigure | None) -> Entry:
    published = figure.value if figure else None
    if cell is None:
        return Entry(published=published)
    mark = "‡" if cell.failed and cell.n_seeds else ""
    return Entry(cell.mean, cell.deviation, published, cell.n_seeds == 0, mark=mark)


def _mean_entry(average: Average, printed: Mapping[str, PrintedFigure], pairs: Sequence[str]) -> Entry:
    """Ours over the pairs it has; the published mean is of the printed cells of all pairs shown, or there is none."""
    whole = all(pair in printed for pair in pairs)
    published = float(np.mean([printed[pair].value for pair in pairs])) if whole else None
    mark = "†" if average.missing and average.n_pairs else ""
    return Entry(average.mean, average.deviation, published, failed=average.n_pairs == 0, mark=mark)


def _best_marked(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    whole = [entry.ours for entry in entries if entry.ours is not None and not entry.mark]
    highest = max(whole) if len(whole) > 1 else np.inf
    return tuple(
        replace(entry, best=entry.ours is not None and not entry.mark and entry.ours > highest - _TIE)
        for entry in entries
    )


def _subtitle(rows: Sequence[Row], spec: TableSpec, protocol: str) -> tuple[str, ...]:
    seeds = sorted({row["seed"] for row in rows})
    named = ", ".join(map(str, seeds)) if len(seeds) <= 2 else f"{seeds[0]} to {seeds[-1]}"
    if len(seeds) > 2 and seeds[-1] - seeds[0] != len(seeds) - 1:
        named = ", ".join(map(str, seeds))
    checksum = data_checksum(rows)
    return (
        f"table {spec.name}; protocol {protocol}: {PROTOCOLS[protocol]}",
        f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''} ({named}); data {checksum or 'not read'}",
    )


def _notes(
    spec: TableSpec,
    methods: Sequence[str],
    pairs: Sequence[str],
    by_pair: Mapping[str, Mapping[str, Cell]],
    over_pairs: Mapping[str, Average],
    printed: Mapping[str, Mapping[str, PrintedFigure]],
) -> list[str]:
    shown = {method: [printed[method][pair] for pair in pairs if pair in printed[method]] for method in methods}
    notes = [*_source_notes(shown), *_failure_notes(pairs, methods, by_pair)]
    for method in methods:
        average = over_pairs[method]
        if average.missing and average.n_pairs and len(pairs) > 1:
            notes.append(
                f"† {method}: mean of {average.n_pairs} of {len(pairs)} pairs; without {_some(average.missing)}."
            )
    said = remarks(spec.name, {figure.source for figures in shown.values() for figure in figures})
    return notes + [text for text in (spec.remark, *said) if text]


def _source_notes(shown: Mapping[str, Sequence[PrintedFigure]]) -> list[str]:
    by_source: dict[str, list[str]] = defaultdict(list)
    unsure: list[str] = []
    for method, figures in shown.items():
        if figures:
            column = f" (printed as {figures[0].method})" if figures[0].method != method else ""
            by_source[figures[0].source].append(method + column)
            unsure += [] if figures[0].confirmed else [method]
    notes = [f"Published, {', '.join(names)}: {SOURCES[source]}." for source, names in by_source.items()]
    if unsure:
        notes.append(f"Published figures of {', '.join(unsure)} are quoted; no second copy confirmed them.")
    return notes


def _failure_notes(
    pairs: Sequence[str], methods: Sequence[str], by_pair: Mapping[str, Mapping[str, Cell]]
) -> list[str]:
    """One note for each method and message, with the pairs on which it failed so."""
    failed_on: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for method in methods:
        for pair in pairs:
            cell = by_pair[pair].get(method)
            if cell is not None and cell.failed:
                seeds = cell.failed + cell.n_seeds
                kind = "failed" if not cell.n_seeds else f"‡ failed with {cell.failed} of {seeds} seeds"
                failed_on[method, kind, cell.message].append(pair)
    return [f"{method} {kind} on {_some(where)}: {message}" for (method, kind, message), where in failed_on.items()]


def _some(names: Sequence[str], max_names: int = 4) -> str:
    """At most `max_names` names, and how many more there are."""
    head = ", ".join(names[:max_names])
    return head if len(names) <= max_names else f"{head} and {len(names) - max_names} more"
