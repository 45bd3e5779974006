"""How every figure looks: one palette, one set of markers, one way to title, caption and save."""

import csv
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lpjt.plot.style import CLASS_COLOURS, COLOURS, MARKERS, QUIET, SMALL, TEXT, class_colour, dress_axes

__all__ = [
    "CLASS_COLOURS", "COLOURS", "DPI", "MARKERS", "QUIET", "SMALL", "TEXT", "WIDTH", "Drawing", "check_before",
    "class_colour", "dress_axes", "line_style", "new_canvas", "save_drawing", "set_words",
]  # fmt: skip

WIDTH = 9.0  # inches, so that eight points are legible at the width of a page
DPI = 150


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A figure and the numbers in it."""

    canvas: Any  # matplotlib.figure.Figure
    rows: list[dict[str, Any]]  # with the same keys: the lines of the CSV file


def check_before(output: Path) -> None:
    """Raise what would stop a figure after its fits: no library to draw with, no directory to write to."""
    new_canvas(1.0)
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file, and figures go into a directory. Give the name of a directory.")


def new_canvas(height: float) -> Any:
    """Give an empty figure of the common width that leaves pyplot's state alone; `height` in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "`matplotlib` is needed to draw figures. Install it with `pip install 'lpjt[report]'`."
        ) from error
    return Figure(figsize=(WIDTH, height), layout="constrained")


def line_style(number: int) -> dict[str, Any]:
    """Colour and marker of the line of a pair, the same in every panel."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1.3,
    }


def set_words(canvas: Any, title: str, caption: str) -> None:
    """Put the title above all panels and the caption, wrapped, below them."""
    canvas.suptitle(title, fontsize=TEXT + 2, x=0.01, ha="left")
    wrapped = textwrap.fill(" ".join(caption.split()), width=150)
    canvas.supxlabel(wrapped, fontsize=SMALL, x=0.01, ha="left", color=QUIET)


def save_drawing(drawing: Drawing, output: Path, name: str) -> list[Path]:
    """Write NAME.png, NAME.svg and NAME.csv into the directory `output`; equal drawings give equal files."""
    import matplotlib

    output.mkdir(parents=True, exist_ok=True)
    png, svg, table = (output / f"{name}.{suffix}" for suffix in ("png", "svg", "csv"))
    drawing.canvas.savefig(png, dpi=DPI, metadata={"Software": None})
    with matplotlib.rc_context({"svg.hashsalt": name}):  # else its element names are drawn at random
        drawing.canvas.savefig(svg, dpi=DPI, metadata={"Date": None})
    _write_rows(table, drawing.rows)
    return [png, svg, table]


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    rows = list(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
