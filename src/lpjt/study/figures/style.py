"""How every figure looks: one palette, one set of markers, one way to title, caption and save."""

import csv
import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lpjt._safe_text import safe_cell
from lpjt._whole_files import check_writable, replacing, write_whole
from lpjt.plot.style import CLASS_COLOURS, COLOURS, MARKERS, QUIET, SMALL, TEXT, class_colour, dress_axes

__all__ = [
    "CLASS_COLOURS", "COLOURS", "DPI", "MARKERS", "QUIET", "SMALL", "TEXT", "WIDTH", "Drawing", "check_before",
    "class_colour", "drawing_paths", "dress_axes", "line_style", "new_canvas", "save_canvas", "save_drawing",
    "set_words",
]  # fmt: skip

WIDTH = 9.0  # inches, so that eight points are legible at the width of a page
DPI = 150


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A figure and the numbers in it."""

    canvas: Any  # matplotlib.figure.Figure
    rows: list[dict[str, Any]]  # with the same keys: the lines of the CSV file


def check_before(output: Path, name: str, *, overwrite: bool = False) -> None:
    """Raise what would stop a figure after its fits: no library to draw with, no directory, files that are kept."""
    new_canvas(1.0)
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file, and figures go into a directory. Give the name of a directory.")
    for path in drawing_paths(output, name) if output.exists() else ():
        check_writable(path, overwrite=overwrite)


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


def drawing_paths(output: Path, name: str) -> list[Path]:
    """The files of a drawing in the directory `output`."""
    return [output / f"{name}.{suffix}" for suffix in ("png", "svg", "csv")]


def save_drawing(drawing: Drawing, output: Path, name: str, *, overwrite: bool = False) -> list[Path]:
    """Write NAME.png, NAME.svg and NAME.csv into the directory `output`; equal drawings give equal files."""
    png, svg, table = drawing_paths(output, name)
    save_canvas(drawing.canvas, png, overwrite=overwrite)
    save_canvas(drawing.canvas, svg, overwrite=overwrite)
    write_whole(table, _to_csv(drawing.rows), overwrite=overwrite)
    return [png, svg, table]


def save_canvas(canvas: Any, path: Path, *, overwrite: bool = False) -> None:
    """Write a figure as png or svg, by its suffix; equal figures give equal files."""
    import matplotlib

    kind = path.suffix[1:]
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(path, overwrite=overwrite) as file,
        matplotlib.rc_context({"svg.hashsalt": path.stem}),  # else its element names are drawn at random
    ):
        canvas.savefig(file, format=kind, dpi=DPI, metadata={"Date" if kind == "svg" else "Software": None})


def _to_csv(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()
