"""Accuracy of LPJT against accuracy without adaptation, one dot per task of the robustness suite."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lpjt.study.figures.style import (
    COLOURS,
    MARKERS,
    QUIET,
    SMALL,
    TEXT,
    dress_axes,
    new_canvas,
    save_canvas,
    set_words,
)
from lpjt.study.robust.sheets import of_part
from lpjt.study.robust.summary import HARM, with_result
from lpjt.study.robust.tasks import KINDS, PARTS
from lpjt.study.store import Row

_CAPTION = f"""
Each dot is a task; below the diagonal LPJT is worse than the better of 1-NN and a linear SVM, which do not adapt. The
dotted line is {HARM:g} point below the diagonal: tasks under it count as harmed.
"""


def draw_robustness(rows: Sequence[Row], path: Path) -> bool:
    """Write the plot as PNG; False where there is no task to draw."""
    ok = with_result(rows)
    if not ok:
        return False
    canvas = new_canvas(5.0)
    panels = canvas.subplots(1, 2, sharex=True, sharey=True)
    for axes, part in zip(panels, PARTS, strict=True):
        _draw_part(axes, of_part(ok, part), part)
    panels[0].set_ylabel("LPJT, %", fontsize=TEXT)
    handles = {label: dot for axes in panels for dot, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    shown = [kind for kind in KINDS if kind in handles]
    panels[1].legend([handles[kind] for kind in shown], shown, fontsize=SMALL, frameon=False, loc="lower right")
    set_words(canvas, "Accuracy with and without adaptation", _CAPTION)
    save_canvas(canvas, path, overwrite=True)
    return True


def _draw_part(axes: Any, rows: Sequence[Row], part: str) -> None:
    axes.plot((0, 100), (0, 100), color=QUIET, linewidth=0.8)
    axes.plot((0, 100), (-HARM, 100 - HARM), color=QUIET, linewidth=0.8, linestyle=":")
    for kind, colour, marker in zip(KINDS, COLOURS, MARKERS, strict=False):
        dots = [(row["unadapted_accuracy"], row["accuracy"]) for row in rows if row["kind"] == kind]
        if dots:
            axes.scatter(*zip(*dots, strict=True), s=16, color=colour, marker=marker, alpha=0.7, label=kind)
    axes.set(xlim=(0, 101), ylim=(0, 101), aspect="equal")
    axes.set_xlabel(f"without adaptation, %, {part} tasks", fontsize=TEXT)
    dress_axes(axes)
