"""Time and memory against rows, both as logarithms, with the exponents of their growth."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lpjt.study.figures.style import QUIET, SMALL, TEXT, dress_axes, line_style, new_canvas, save_canvas, set_words
from lpjt.study.speed.results import Record, Result
from lpjt.study.speed.sheets import JUDGED, exponent

_CAPTION = """
{n_classes} classes, {width} wide, {dtype}, as many source rows as target rows. Pass: X'X of both domains, in the same
process. Memory: peak of the resident memory during the fit beyond what was there before. {note}
"""


def draw_growth(result: Result, path: Path) -> bool:
    """Write the plot as PNG; False where there are fewer than two sizes to draw."""
    records = [r for r in result["records"] if r["status"] == "ok" and r["size"]]
    if len(records) < 2:
        return False
    canvas = new_canvas(4.2)
    left, right = canvas.subplots(1, 2)
    _draw_lines(left, result, records, {"fit": "seconds", "one pass of X'X": "pass_seconds"}, "seconds")
    _draw_lines(right, result, records, {"peak beyond the input": "peak_bytes", "input": "input_bytes"}, "bytes")
    set_words(canvas, "Growth with the rows", _CAPTION.format(**records[0], note=result["note"]))
    save_canvas(canvas, path, overwrite=True)
    return True


def _draw_lines(axes: Any, result: Result, records: Sequence[Record], quantities: Mapping[str, str], unit: str) -> None:
    for style, (name, quantity) in enumerate(quantities.items()):
        points = [(r["size"], r[quantity]) for r in records if r[quantity]]
        if not points:
            continue
        slope = exponent(result, quantity)
        words = name if slope is None else f"{name}, exponent {slope:.2f}"
        axes.loglog(*zip(*points, strict=True), label=words, **line_style(style))
    judged = exponent(result, next(iter(quantities.values())), *JUDGED)
    if judged is not None:
        axes.axvspan(*JUDGED, color=QUIET, alpha=0.08, linewidth=0)
        words = f"exponent {judged:.2f}\nin the grey range"
        axes.text(0.97, 0.04, words, transform=axes.transAxes, ha="right", va="bottom", fontsize=SMALL, color=QUIET)
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.set_xlabel("rows per domain", fontsize=TEXT)
    axes.set_ylabel(unit, fontsize=TEXT)
    axes.legend(fontsize=SMALL, frameon=False)
    dress_axes(axes)
