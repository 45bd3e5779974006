"""Tables of what is not one fit in memory."""

from lpjt.study.speed.results import Record, Result
from lpjt.study.speed.sheets import MISSING, number, optional
from lpjt.study.tables.sheet import Sheet


def disk_sheet(result: Result) -> Sheet:
    """Fits of rows in files: reads of the file, and memory beside its limit."""
    rows: list[tuple[str, ...]] = []
    for record in result["records"]:
        if record["status"] != "ok":
            rows.append((record["label"], record["status"], *[MISSING] * 6))
            continue
        shape = f"{record['n_source']:,} + {record['n_target']:,} × {record['width']:,}"
        seconds = (number(record["read_seconds"]), number(record["seconds"]), number(record["reads"]))
        peak = record["peak_bytes"]
        memory = (record["memory_limit"], MISSING if peak is None else f"{peak / 1e9:.2f} GB")
        rows.append((record["label"], shape, *seconds, *memory, f"{record['accuracy']:.1f}"))
    headings = ("file", "rows × width", "read, s", "fit, s", "fit / read", "memory limit", "peak", "accuracy, %")
    return Sheet("Rows on disk", headings, rows)


def predict_sheet(result: Result) -> Sheet:
    """Seconds of `predict`, of the embedding and of one search, and their ratio."""
    rows: list[tuple[str, ...]] = []
    for record in result["records"]:
        names = ("embedding_seconds", "search_seconds", "seconds", "ratio")
        rows.append((record["label"], *(_figure(record, name) for name in names)))
    return Sheet("New rows", ("rows", "embedding, s", "search, s", "predict, s", "predict / both"), rows)


def small_sheet(result: Result) -> Sheet:
    """Seconds of small problems."""
    rows: list[tuple[str, ...]] = []
    for record in result["records"]:
        rows.append((record["label"], *(_figure(record, name) for name in ("seconds", "python_seconds", "beyond"))))
    return Sheet("Small problems", ("what", "seconds", "of which Python", "beyond"), rows)


def floor_sheet(result: Result) -> Sheet:
    """LPJT beside the floor, by rows per domain."""
    found = {(record["method"], record["size"]): record for record in result["records"]}
    rows: list[tuple[str, ...]] = []
    for size in sorted({record["size"] for record in result["records"]}):
        both = [found.get((method, size), {"status": MISSING}) for method in ("faiss cells, 15 neighbours", "LPJT")]
        ratio = optional(floor_times(both[1], both[0]))
        rows.append((f"{size:,}", *(_figure(record, "seconds") for record in both), ratio))
    return Sheet("The floor of graph methods", ("rows per domain", "cells and neighbours, s", "LPJT, s", "times"), rows)


def floor_times(fit: Record, floor: Record) -> float | None:
    """Time of a fit in that of the floor; None if either failed."""
    if fit["status"] != "ok" or floor["status"] != "ok":
        return None
    return fit["seconds"] / floor["seconds"]


def _figure(record: Record, name: str) -> str:
    return optional(record.get(name)) if record["status"] == "ok" else record["status"]
