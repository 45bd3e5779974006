"""Stored rows of the study in tables, for the terminal and for the page alike."""

import json
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from lpjt.study.asking.tasks import COUNTS
from lpjt.study.store import Row
from lpjt.study.tables.sheet import MISSING, Sheet

#: Labels harm a fit if its accuracy on rows whose label was withheld is lower by more than this many points.
HARM = 1.0


def read_records(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Records of all fits with labels, each with the name of its task."""
    ok = [row for row in rows if row["status"] == "ok"]
    return [{"task": row["task"], "kind": row["kind"], **one} for row in ok for one in json.loads(row["figures"])]


def select(records: Sequence[dict[str, Any]], n: int, way: str) -> list[dict[str, Any]]:
    """Records of one number of labels and one way to choose them, in the order of the tasks."""
    return [one for one in records if one["n"] == n and one["way"] == way]


def gain(record: dict[str, Any]) -> float:
    """Points that labels add on the rows that this fit was not given."""
    return float(record["rest"] - record["rest_before"])


def summary_sheet(records: Sequence[dict[str, Any]]) -> Sheet:
    """One line for each number of labels: both ways on the same rows."""
    lines = []
    for n in COUNTS:
        asked, drawn = select(records, n, "asked"), select(records, n, "random")
        if not asked:
            continue
        lead = [a["shared"] - b["shared"] for a, b in zip(asked, drawn, strict=True)]
        means = [fmean(one["shared_before"] for one in asked), *(fmean(o["shared"] for o in w) for w in (drawn, asked))]
        whole = [fmean(one["all"] for one in way) for way in (drawn, asked)]
        ahead = f"{sum(v > 0 for v in lead)} / {sum(v < 0 for v in lead)}"
        lines.append(
            (
                str(n),
                str(len(asked)),
                *(f"{v:.1f}" for v in means),
                f"{fmean(lead):+.1f}",
                ahead,
                *(f"{v:.1f}" for v in whole),
            )
        )
    headings = (
        "labels", "tasks", "without labels, %", "random, %", "asked, %", "asked - random, points",
        "tasks asked is ahead / behind", "random, all rows, %", "asked, all rows, %",
    )  # fmt: skip
    return Sheet("Asked and random rows", headings, lines)


def harm_sheet(records: Sequence[dict[str, Any]]) -> Sheet:
    """One line for each number of labels and way: what labels do to a fit, and how good its estimate is."""
    lines: list[tuple[str, ...]] = []
    for n in COUNTS:
        for way in ("asked", "random"):
            chosen = select(records, n, way)
            if not chosen:
                continue
            gains = [gain(one) for one in chosen]
            errors = [abs(one["estimate"] - one["rest"]) for one in chosen]
            held = [one["low"] <= one["rest"] <= one["high"] for one in chosen]
            lines.append(
                (
                    f"{n} {way}",
                    f"{fmean(gains):+.1f}",
                    f"{min(gains):+.1f}",
                    str(sum(v < -HARM for v in gains)),
                    f"{fmean(errors):.1f}",
                    f"{100 * fmean(held):.0f}",
                )
            )
    headings = (
        "labels", "mean change, points", "worst change, points", f"tasks worse by more than {HARM:g} point",
        "estimate off by, points", "interval holds, % of tasks",
    )  # fmt: skip
    return Sheet("What labels change on rows whose label was withheld", headings, lines)


def tasks_sheet(rows: Sequence[Row]) -> Sheet:
    """One line per task: what labels add, asked and random."""
    lines = []
    for row in rows:
        records = read_records([row])
        cells = [
            f"{gain(found[0]):+.1f}" if (found := select(records, n, way)) else MISSING
            for n in COUNTS
            for way in ("asked", "random")
        ]
        accuracy = MISSING if row["accuracy"] is None else f"{row['accuracy']:.1f}"
        lines.append((row["task"], str(row["n_target"] or MISSING), accuracy, *cells))
    headings = ("task", "rows", "without labels, %", *(f"{n} {way}" for n in COUNTS for way in ("asked", "random")))
    return Sheet("Every task: points that labels add on the rows left", headings, lines)
