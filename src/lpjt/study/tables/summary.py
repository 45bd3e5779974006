"""From rows of runs to what a table says: cells, means, paired tests, and agreement with printed figures.

All functions are pure and take rows of one table under one protocol, as `measure` writes them; rows that cannot stand
beside each other are refused, never mixed.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from lpjt.study.tables.published import VISDA_CLASSES, reference

#: Points between our figure and a printed one beyond which a deviation needs an explanation.
FAR = 3.0

#: Minimum number of differing pairs for a signed-rank test: with 4 its smallest p is 0.125.
FEWEST_PAIRS = 5

_TIE = 1e-9  # per cent: far below one row of any target

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """A method on a pair: accuracy over seeds, in per cent."""

    mean: float | None  # of the runs that gave labels; None where none did
    deviation: float | None  # of a seed's accuracy (n - 1); None with fewer than two seeds
    n_seeds: int  # that gave labels
    failed: int  # seeds that did not
    message: str = ""  # of the first that failed


@dataclass(frozen=True, slots=True)
class Average:
    """A method over pairs."""

    mean: float | None  # of its cells
    deviation: float | None  # between seeds, of the mean over pairs; None with fewer than two whole seeds
    n_pairs: int
    n_seeds: int  # with a figure on every one of those pairs
    missing: tuple[str, ...]  # pairs of the other methods without a figure here


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Ours against one method over pairs: Wilcoxon's signed-rank test, two-sided."""

    method: str
    n_pairs: int
    wins: int
    ties: int
    losses: int
    difference: float  # ours minus theirs, in points
    p: float | None  # None with too few pairs that differ
    p_adjusted: float | None  # after Holm, over the methods that could be tested

    @property
    def words(self) -> str:
        """The test in one line."""
        counts = f"{self.wins} wins, {self.ties} ties, {self.losses} losses"
        if self.p is None or self.p_adjusted is None:
            few = f"too few pairs to test ({self.wins + self.losses} differ, {FEWEST_PAIRS} needed)"
            return f"{self.difference:+.1f} points; {counts}; {few}"
        return f"{self.difference:+.1f} points; {counts}; p = {self.p:.2g}, after Holm {self.p_adjusted:.2g}"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Our figures for a method against printed ones, over the pairs that both have."""

    method: str
    source: str  # a key of `lpjt.study.tables.published.SOURCES`
    confirmed: bool
    n_pairs: int
    ours: float  # mean over those pairs
    printed: float  # the same
    absolute: float  # mean of |ours - printed|
    far: tuple[tuple[str, float, float], ...]  # (pair, ours, printed) of the cells over `FAR` points apart

    @property
    def difference(self) -> float:
        """Mean of ours less the printed one."""
        return self.ours - self.printed

    @property
    def flagged(self) -> bool:
        """Whether the means are more than `FAR` points apart."""
        return abs(self.difference) > FAR


def cells(rows: Iterable[Row]) -> dict[str, dict[str, Cell]]:
    """``{pair: {method: Cell}}``, in the order in which the rows name them."""
    grouped: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in comparable(rows):
        grouped[row["pair"]][row["method"]].append(row)
    return {pair: {method: _cell(runs) for method, runs in by_method.items()} for pair, by_method in grouped.items()}


def averages(rows: Iterable[Row]) -> dict[str, Average]:
    """Each method's mean over pairs, with the deviation between seeds of that mean."""
    rows = comparable(rows)
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    scores = _scores(rows)
    return {method: _average(scores.get(method, {}), pairs) for method in dict.fromkeys(row["method"] for row in rows)}


def paired_tests(rows: Iterable[Row], ours: str = "LPJT") -> list[PairedTest]:
    """Ours against every other method, pair by pair, each pair's accuracy averaged over the seeds that both have.

    Pairs on which either failed are left out, and `n_pairs` says how many remain. Equal pairs count as ties and not in
    the test (Wilcoxon's own rule). The p-values are adjusted together by Holm's step-down rule.
    """
    scores = _scores(comparable(rows))
    if ours not in scores:
        return []
    tests = [_paired(scores[ours], theirs, method) for method, theirs in scores.items() if method != ours]
    adjusted = holm([test.p for test in tests if test.p is not None])
    return [replace(test, p_adjusted=adjusted.pop(0)) if test.p is not None else test for test in tests]


def agreement(rows: Iterable[Row], table: str) -> list[Agreement]:
    """Our figures against the printed ones that `reference` puts beside them, one entry per method that has any."""
    rows = comparable(rows)
    of_table = [row for row in rows if row["table"] == table]
    if rows and not of_table:
        raise ValueError(f"The rows are of the table {rows[0]['table']!r}, and {table!r} was asked for. Give its rows.")
    ours = cells(as_printed(of_table, table))
    found = []
    for method in dict.fromkeys(row["method"] for row in of_table):
        printed = reference(table, method)
        both = [
            (pair, cell.mean, printed[pair].value)
            for pair, by_method in ours.items()
            if pair in printed and (cell := by_method.get(method)) is not None and cell.mean is not None
        ]
        if both:
            gaps = np.array([mine - theirs for _, mine, theirs in both])
            first = printed[both[0][0]]
            far = tuple(entry for entry, gap in zip(both, gaps, strict=True) if abs(gap) > FAR)
            ours_mean, printed_mean = (float(np.mean([entry[i] for entry in both])) for i in (1, 2))
            absolute = float(np.abs(gaps).mean())
            found.append(
                Agreement(method, first.source, first.confirmed, len(both), ours_mean, printed_mean, absolute, far)
            )
    return found


def as_printed(rows: Iterable[Row], table: str) -> list[Row]:
    """Rows with the pairs that the printed table has: VisDA's are its classes, all others are left as they are."""
    return list(by_class(rows, VISDA_CLASSES) if table == "visda" else rows)


def by_class(rows: Iterable[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of one pair as rows of its classes: `pair` becomes the class's name, `accuracy` the accuracy on it.

    So the tables that print classes (VisDA) are made as all others are, and their means are balanced accuracies.

    Parameters
    ----------
    rows : rows of one pair
    names : of the classes, in the order of their labels
    """
    spread = []
    for row in rows:
        values: list[float | None] = [None] * len(names)
        if row["status"] == "ok":
            by_label = json.loads(row["per_class_accuracy"])
            values = [by_label[label] for label in sorted(by_label, key=_label_order)]
        if len(values) != len(names):
            raise ValueError(
                f"{row['method']} on {row['pair']}: the row has {len(values)} classes, the table {len(names)} "
                f"({', '.join(names)}). Run it on the data set of the table."
            )
        spread += [
            {**row, "pair": name, "accuracy": value, "key": f"{row['key']}-{name}"}
            for name, value in zip(names, values, strict=True)
        ]
    return spread


def comparable(rows: Iterable[Row]) -> list[Row]:
    """Rows as a list, of equal keys the last; a ValueError where they cannot stand in one table."""
    kept = list({row["key"]: row for row in rows}.values())
    for field, remedy in (("table", "one table"), ("protocol", "one way of choosing parameters")):
        found = sorted({row[field] for row in kept})
        if len(found) > 1:
            raise ValueError(
                f"Rows of several kinds of {field} were given: {', '.join(found)}. Keep those of {remedy}."
            )
    runs: dict[tuple, Row] = {}
    data: dict[tuple, Row] = {}
    for row in kept:
        run = (row["pair"], row["method"], row["seed"])
        other = runs.setdefault(run, row)
        if other is not row:
            raise ValueError(
                f"{row['method']} on {row['pair']}, seed {row['seed']}, is there twice, with parameters "
                f"{other['parameters']} and {row['parameters']}. Keep one of the two, or start a new store."
            )
        if row["checksum"]:
            first = data.setdefault((row["pair"], row["seed"]), row)
            if first["checksum"] != row["checksum"]:
                raise ValueError(
                    f"{row['pair']}, seed {row['seed']}: {first['method']} was run on data with checksum "
                    f"{first['checksum'][:12]}, {row['method']} on {row['checksum'][:12]}. The files or the split "
                    "changed between the runs: run them again (`--again`), or give another store."
                )
    return kept


def data_checksum(rows: Iterable[Row]) -> str:
    """Twelve hexadecimal digits over the data of all runs; empty where no run got as far as its data."""
    lines = sorted({f"{row['pair']} {row['seed']} {row['checksum']}" for row in rows if row["checksum"]})
    return sha256("\n".join(lines).encode()).hexdigest()[:12] if lines else ""


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, i in enumerate(np.argsort(p_values, kind="stable")):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = running
    return adjusted


def _cell(runs: Sequence[Row]) -> Cell:
    values = [value for row in runs if (value := _accuracy(row)) is not None]
    lost = [row for row in runs if _accuracy(row) is None]
    message = (lost[0]["message"] or lost[0]["status"]) if lost else ""
    return Cell(float(np.mean(values)) if values else None, _deviation(values), len(values), len(lost), message)


def _average(by_pair: Mapping[str, Mapping[int, float]], pairs: Sequence[str]) -> Average:
    """Mean over the pairs of one method, from its scores by pair and seed."""
    missing = tuple(pair for pair in pairs if pair not in by_pair)
    if not by_pair:
        return Average(None, None, 0, 0, missing)
    whole = set.intersection(*(set(of_pair) for of_pair in by_pair.values()))
    per_seed = [float(np.mean([of_pair[seed] for of_pair in by_pair.values()])) for seed in sorted(whole)]
    mean = float(np.mean([np.mean(list(of_pair.values())) for of_pair in by_pair.values()]))
    return Average(mean, _deviation(per_seed), len(by_pair), len(whole), missing)


def _paired(
    ours: Mapping[str, Mapping[int, float]], theirs: Mapping[str, Mapping[int, float]], name: str
) -> PairedTest:
    gaps = []
    for pair in ours:
        shared = [seed for seed in ours[pair] if seed in theirs.get(pair, {})]
        if shared:
            gaps.append(float(np.mean([ours[pair][seed] - theirs[pair][seed] for seed in shared])))
    nonzero = [gap for gap in gaps if abs(gap) > _TIE]
    wins = sum(gap > 0 for gap in nonzero)
    p = None
    if len(nonzero) >= FEWEST_PAIRS:
        from scipy.stats import wilcoxon

        # Rounded, so that equal steps in accuracy get equal ranks whatever their last bits.
        p = float(wilcoxon(np.round(nonzero, 9)).pvalue)
    difference = float(np.mean(gaps)) if gaps else math.nan
    return PairedTest(name, len(gaps), wins, len(gaps) - len(nonzero), len(nonzero) - wins, difference, p, None)


def _scores(rows: Iterable[Row]) -> dict[str, dict[str, dict[int, float]]]:
    """``{method: {pair: {seed: accuracy}}}`` of the runs that gave labels."""
    scores: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        value = _accuracy(row)
        if value is not None:
            scores.setdefault(row["method"], {}).setdefault(row["pair"], {})[row["seed"]] = value
    return scores


def _accuracy(row: Row) -> float | None:
    value = row["accuracy"]
    return None if row["status"] != "ok" or value is None or math.isnan(value) else float(value)


def _deviation(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _label_order(label: str) -> tuple[int, float, str]:
    """Numbers by their value, before names."""
    try:
        return 0, float(label), ""
    except ValueError:
        return 1, 0.0, label
