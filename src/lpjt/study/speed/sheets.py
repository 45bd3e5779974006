"""Tables of records, for the terminal and for the page alike."""

from collections.abc import Callable, Sequence

import numpy as np

from lpjt.study.speed.results import Record, Result
from lpjt.study.tables.sheet import MISSING, Sheet

#: Rows between which the growth of the time is judged.
JUDGED = (64_000, 512_000)

#: Approximate searches of a fit below which it is as good as exact: one by clusters makes hundreds, and a few rows that
#: lack neighbours of their class make one.
FEW_SEARCHES = 20


def fits_sheet(result: Result, title: str) -> Sheet:
    """One line per fit: seconds, passes of X'X, peak memory, accuracy."""
    headings = (
        "data", "rows × width", "classes", "X'X, s", "fit, s", "fit / X'X", "peak, MB", "peak / input", "iterations",
        "accuracy, %", "1-NN, %",
    )  # fmt: skip
    return Sheet(title, headings, [_fit_cells(record) for record in result["records"]])


def stages_sheet(result: Result, title: str) -> Sheet | None:
    """Time by stage in passes of X'X, and what no stage has; None where no record has stages."""
    records = [record for record in result["records"] if record.get("stages")]
    if not records:
        return None
    stages = list(dict.fromkeys(name for record in records for name in record["stages"]))
    rows = []
    for record in records:
        seconds = [record["stages"].get(name, 0.0) for name in stages]
        values = [*seconds, max(0.0, record["seconds"] - sum(seconds)), record["seconds"]]
        rows.append((record["label"], *(number(value / record["pass_seconds"]) for value in values)))
    return Sheet(title, ("data, in passes of X'X", *stages, "other", "whole fit"), rows)


def exponents_sheet(result: Result) -> Sheet:
    """Exponents of time and memory in the rows, over all sizes and over those that are judged."""
    rows = []
    for name, quantity in (("time", "seconds"), ("one pass of X'X", "pass_seconds"), ("peak memory", "peak_bytes")):
        values = [exponent(result, quantity), exponent(result, quantity, *JUDGED)]
        rows.append((name, *(MISSING if value is None else f"{value:.2f}" for value in values)))
    low, high = (f"{n:,}" for n in JUDGED)
    return Sheet("Exponents in the rows", ("quantity", "all sizes", f"{low} to {high} rows"), rows)


def peers_sheets(result: Result) -> list[Sheet]:
    """Methods against rows per domain: passes of X'X, seconds, peak memory over input, accuracy."""
    shown: list[tuple[str, Callable[[Record], str]]] = [
        ("Passes of X'X", lambda r: number(r["passes"])),
        ("Seconds", lambda r: number(r["seconds"])),
        ("Peak memory, in sizes of the input", lambda r: optional(r["peak_share"])),
        ("Accuracy, %", lambda r: f"{r['accuracy']:.1f}"),
    ]
    records = result["records"]
    sizes = sorted({record["size"] for record in records})
    methods = list(dict.fromkeys(record["method"] for record in records))
    found = {(record["method"], record["size"]): record for record in records}
    sheets = []
    for title, cell in shown:
        rows = [(m, *(_peer_cell(found.get((m, n)), cell) for n in sizes)) for m in methods]
        sheets.append(Sheet(title, ("method", *(f"{n:,} rows" for n in sizes)), rows))
    return sheets


def neighbors_sheet(result: Result) -> Sheet:
    """Accuracy with exact and with approximate neighbours, pair by pair, and what the latter cost."""
    rows = []
    for label, exact, approximate in paired_records(result):
        both = [r["status"] if r["status"] != "ok" else f"{r['accuracy']:.2f}" for r in (exact, approximate)]
        cost = neighbor_cost(exact, approximate)
        made = approximate.get("searches")
        rows.append((label, *both, _signed(cost), MISSING if made is None else f"{made:,}"))
    headings = ("pair", "exact", "approximate", "cost, points", "approximate searches")
    return Sheet("Accuracy by neighbours, %", headings, rows)


def sample_sheet(result: Result) -> Sheet:
    """Accuracy and seconds of fits that iterate on every row and of fits that learn on a sample."""
    rows = []
    for label, whole, sampled in paired_records(result):
        both = [r["status"] if r["status"] != "ok" else f"{r['accuracy']:.2f}" for r in (whole, sampled)]
        seconds = [MISSING if r["status"] != "ok" else number(r["seconds"]) for r in (whole, sampled)]
        cost = sample_cost(whole, sampled)
        faster = MISSING if cost is None else f"{whole['seconds'] / sampled['seconds']:.1f}"
        rows.append((label, *both, _signed(cost), *seconds, faster))
    headings = (
        "rows per domain",
        "every row, %",
        "sample, %",
        "cost, points",
        "every row, s",
        "sample, s",
        "times faster",
    )
    return Sheet("Learning on a sample", headings, rows)


def search_sheet(result: Result) -> Sheet:
    """Seconds of one fit and of a search, how many fits the search takes, and the accuracy of both."""
    rows = []
    for label, fit, search in paired_records(result):
        both = [r["status"] if r["status"] != "ok" else number(r["seconds"]) for r in (fit, search)]
        right = [MISSING if r["status"] != "ok" else f"{r['accuracy']:.2f}" for r in (fit, search)]
        rows.append((label, str(search.get("settings", MISSING)), *both, optional(search_fits(fit, search)), *right))
    headings = ("rows per domain", "settings", "fit, s", "search, s", "search / fit", "fit, %", "search, %")
    return Sheet("A search, in fits", headings, rows)


def search_fits(fit: Record, search: Record) -> float | None:
    """Time of a search in that of one fit; None if either failed."""
    if fit["status"] != "ok" or search["status"] != "ok":
        return None
    return search["seconds"] / fit["seconds"]


def quick_sheet(result: Result, stored: Result | None) -> Sheet:
    """Ratios of this run beside the stored ones."""
    before = {record["size"]: record for record in (stored or {"records": []})["records"] if record["status"] == "ok"}
    rows = []
    for record in result["records"]:
        then = before.get(record["size"], {})
        if record["status"] != "ok":
            rows.append((record["label"], record["status"], *[MISSING] * 3))
            continue
        pairs = [value for name in ("passes", "peak_share") for value in (record[name], then.get(name))]
        rows.append((record["label"], *map(optional, pairs)))
    headings = ("data", "fit / X'X", "stored", "peak / input", "stored")
    return Sheet("Ratios, beside those stored", headings, rows)


def paired_records(result: Result) -> list[tuple[str, Record, Record]]:
    """Label, first and second record of each problem that was measured in two ways."""
    by_label: dict[str, list[Record]] = {}
    for record in result["records"]:
        by_label.setdefault(record["label"], []).append(record)
    return [(label, found[0], found[1]) for label, found in by_label.items() if len(found) == 2]


def neighbor_cost(exact: Record, approximate: Record) -> float | None:
    """Points of accuracy that approximate neighbours lose; None where a fit failed, or none was approximate."""
    if exact["status"] != "ok" or approximate["status"] != "ok" or approximate["searches"] < FEW_SEARCHES:
        return None
    return exact["accuracy"] - approximate["accuracy"]


def sample_cost(whole: Record, sampled: Record) -> float | None:
    """Points of accuracy that learning on a sample loses; None if a fit failed."""
    if whole["status"] != "ok" or sampled["status"] != "ok":
        return None
    return whole["accuracy"] - sampled["accuracy"]


def exponent(result: Result, quantity: str, low: int = 1, high: int | None = None) -> float | None:
    """Slope of a quantity in the rows per domain, both as logarithms, over the records of sizes from low to high."""
    points = [
        (record["size"], record[quantity])
        for record in result["records"]
        if record["status"] == "ok" and low <= record["size"] <= (high or record["size"]) and record[quantity]
    ]
    return fit_exponent(*zip(*points, strict=True)) if points else None


def fit_exponent(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """Least-squares slope of log(values) in log(sizes); None from fewer than two sizes."""
    if len(set(sizes)) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def number(value: float) -> str:
    """A number with about three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    for least, digits in ((10, 1), (1, 2), (0.01, 3), (0.00005, 4)):
        if value >= least:
            return f"{value:.{digits}f}"
    return "0"


def optional(value: float | None) -> str:
    """A number, or a dash where there is none."""
    return MISSING if value is None else number(value)


def _signed(value: float | None) -> str:
    return MISSING if value is None else f"{value:+.2f}"


def _fit_cells(record: Record) -> tuple[str, ...]:
    if record["status"] != "ok":
        return (record["label"], *[MISSING] * 3, record["status"], *[MISSING] * 6)
    peak = record["peak_bytes"]
    iterations = str(record["n_iter"]) if record.get("adapted", True) else "not adapted"
    return (
        record["label"],
        f"{record['n_source']:,} + {record['n_target']:,} × {record['width']:,}",
        str(record["n_classes"]),
        number(record["pass_seconds"]),
        number(record["seconds"]),
        number(record["passes"]),
        MISSING if peak is None else number(peak / 1e6),
        optional(record["peak_share"]),
        iterations,
        f"{record['accuracy']:.1f}",
        f"{record['unadapted_accuracy']:.1f}",
    )


def _peer_cell(record: Record | None, cell: Callable[[Record], str]) -> str:
    if record is None:
        return MISSING
    return cell(record) if record["status"] == "ok" else record["status"]
