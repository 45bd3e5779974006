"""What labels of asked rows are worth, beside those of random rows."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from lpjt.study.asking.sheets import gain, read_records, select
from lpjt.study.asking.tasks import COUNTS
from lpjt.study.figures.style import QUIET, SMALL, TEXT, dress_axes, line_style, new_canvas, save_canvas, set_words
from lpjt.study.store import Row

_CAPTION = """
Left: mean over the tasks in which all numbers of labels were given, on rows whose label no fit of that number had; at 0
the fit without labels, on the same rows. Right: each dot is a task; points that the labels add on the rows left.
"""


def draw_asking(rows: Sequence[Row], path: Path) -> bool:
    """Write the plot as PNG; False where there is nothing to draw."""
    records = read_records(rows)
    full = {one["task"] for one in records if one["n"] == COUNTS[-1]}
    if not full:
        return False
    canvas = new_canvas(4.2)
    left, right = canvas.subplots(1, 2)
    _draw_means(left, [one for one in records if one["task"] in full])
    _draw_tasks(right, records)
    set_words(canvas, "Labels of asked rows and of random rows", _CAPTION)
    save_canvas(canvas, path, overwrite=True)
    return True


def _draw_means(axes: Any, records: Sequence[dict[str, Any]]) -> None:
    for number, way in enumerate(("asked", "random")):
        parts = [select(records, n, way) for n in COUNTS]
        gains = [fmean(one["shared"] - one["shared_before"] for one in part) for part in parts]
        axes.plot((0, *COUNTS), (0, *gains), label=way, **line_style(number))
    axes.axhline(0, color=QUIET, linewidth=0.8)
    axes.set_xlabel("labels given", fontsize=TEXT)
    axes.set_ylabel("gain of accuracy, points", fontsize=TEXT)
    axes.legend(fontsize=SMALL, frameon=False)
    dress_axes(axes)


def _draw_tasks(axes: Any, records: Sequence[dict[str, Any]]) -> None:
    for number, n in enumerate(COUNTS):
        pairs = zip(select(records, n, "random"), select(records, n, "asked"), strict=True)
        dots = [(gain(drawn), gain(asked)) for drawn, asked in pairs]
        style = line_style(number)
        axes.scatter(*zip(*dots, strict=True), s=18, color=style["color"], marker=style["marker"], label=f"{n} labels")
    low, high = (f(*axes.get_xlim(), *axes.get_ylim()) for f in (min, max))
    axes.plot((low, high), (low, high), color=QUIET, linewidth=0.8)
    axes.set_xlabel("gain with random rows, points", fontsize=TEXT)
    axes.set_ylabel("gain with asked rows, points", fontsize=TEXT)
    axes.legend(fontsize=SMALL, frameon=False)
    dress_axes(axes)
