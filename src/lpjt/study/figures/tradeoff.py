"""Accuracy against seconds, every method a point: few rows on the left, many on the right."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lpjt.study.figures.style import COLOURS, QUIET, SMALL, TEXT, dress_axes, new_canvas, save_canvas, set_words
from lpjt.study.speed.results import Record, Result

#: Rows per domain of the two panels.
SIZES = (1000, 100_000)

#: Shown are what a user could pick; the others have their place in the tables.
_NOT_SHOWN = frozenset({"LPJT, as printed", "dense transcription", "primal JDA"})

_GAP = 0.042  # least distance of two labels, as a share of the height of a panel

_BUSY = 3.0  # load from which on other work is on two cores

_CAPTION = """
Made rows, 256 columns, 10 classes, as many source rows as target rows. Seconds of the whole fit, on a logarithmic axis;
upper left is better. Not shown are methods that did not end within the limits of time and memory.
"""


def draw_tradeoff(result: Result, path: Path) -> bool:
    """Write the plot as PNG; False where no size of the panels has two methods."""
    panels = [(size, shown_records(result, size)) for size in SIZES]
    panels = [(size, records) for size, records in panels if len(records) > 1]
    if not panels:
        return False
    canvas = new_canvas(5.0)
    axes = canvas.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    low = min(record["accuracy"] for _, records in panels for record in records) - 5
    for place, (size, records) in zip(axes, panels, strict=True):
        _draw_panel(place, records, (max(low, 0.0), 100.0))
        place.set_title(f"{size:,} rows per domain", fontsize=TEXT, loc="left")
    axes[0].set_ylabel("accuracy, %", fontsize=TEXT)
    set_words(canvas, "Accuracy against time", _CAPTION)
    save_canvas(canvas, path, overwrite=True)
    return True


def shown_records(result: Result, size: int) -> list[Record]:
    """Successful records of one size, of the methods that the picture shows."""
    return [r for r in _of_size(result, size) if r["status"] == "ok"]


def left_out(result: Result) -> list[str]:
    """In words, the methods that a panel lacks, and why, and whether its times are to be trusted."""
    lines = []
    for size in SIZES:
        failed = [f"{r['method']} ({r['status']})" for r in _of_size(result, size) if r["status"] != "ok"]
        measured = {r["method"] for r in _of_size(result, size)}
        others = dict.fromkeys(r["method"] for r in result["records"] if r["method"] not in measured | _NOT_SHOWN)
        missing = [*failed, *(f"{method} (not measured)" for method in others)] if measured else ["not measured"]
        if missing:
            lines.append(f"Not in the panel of {size:,} rows: {', '.join(missing)}.")
        loads = [r["load"] for r in shown_records(result, size) if r.get("load") is not None]
        if max(loads, default=0.0) > _BUSY:
            words = f"{min(loads):.1f} to {max(loads):.1f}"
            lines.append(f"The machine was busy with other work at {size:,} rows (load {words}): seconds are too long.")
    return lines


def _of_size(result: Result, size: int) -> list[Record]:
    return [r for r in result["records"] if r["size"] == size and r["method"] not in _NOT_SHOWN]


def _draw_panel(axes: Any, records: Sequence[Record], limits: tuple[float, float]) -> None:
    seconds = [record["seconds"] for record in records]
    axes.set_xscale("log")
    # Room for names on the right of the slowest method.
    axes.set_xlim(min(seconds) / 2, max(seconds) * (max(seconds) / min(seconds)) ** 0.55 * 2)
    axes.set_ylim(*limits)
    ordered = sorted(records, key=lambda record: record["accuracy"])
    heights = spread_out([(r["accuracy"] - limits[0]) / (limits[1] - limits[0]) for r in ordered], _GAP)
    for record, height in zip(ordered, heights, strict=True):
        ours = record["method"] == "LPJT"
        colour = COLOURS[0] if ours else QUIET
        axes.plot(record["seconds"], record["accuracy"], "o", color=colour, markersize=7 if ours else 4)
        axes.annotate(
            record["method"],
            (record["seconds"], record["accuracy"]),
            xytext=(record["seconds"] * 1.25, limits[0] + height * (limits[1] - limits[0])),
            fontsize=SMALL + (1 if ours else 0),
            color=colour,
            fontweight="bold" if ours else "normal",
            va="center",
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": QUIET, "shrinkA": 0, "shrinkB": 2},
        )
    axes.set_xlabel("seconds", fontsize=TEXT)
    dress_axes(axes)


def spread_out(heights: Sequence[float], gap: float) -> list[float]:
    """Ascending heights, moved until neighbours are `gap` apart: groups that collide spread from their middle."""
    groups: list[list[float]] = []  # wanted heights of labels that lie one above the other
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and _ends(groups[-2], gap)[1] + gap > _ends(groups[-1], gap)[0]:
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_ends(group, gap)[0] + gap * i for group in groups for i in range(len(group))]


def _ends(group: Sequence[float], gap: float) -> tuple[float, float]:
    middle, reach = sum(group) / len(group), gap * (len(group) - 1) / 2
    return middle - reach, middle + reach
