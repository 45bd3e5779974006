"""A `Grid` in the terminal, as Markdown, as CSV and as a standalone HTML page."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from lpjt._safe_text import safe_cell
from lpjt.study.tables.grid import Entry, Grid
from lpjt.study.tables.html_template import PAGE

_TEST = "by Wilcoxon's signed-rank test over pairs (two-sided)"
_LEGEND = "ours / published, in per cent; {better} the better of the two; {best} the best of ours on a pair"
_NEEDED = "`{0}` is needed to {1}. Install it with `pip install 'lpjt[{2}]'`."


def to_terminal(grid: Grid, *, width: int = 100) -> Any:
    """A grid as a `rich` renderable no wider than `width`: columns that do not fit go into further blocks below.

    The better of ours and the published figure is bold, the best of ours on a pair green.
    """
    try:
        from rich.console import Group
        from rich.text import Text
    except ImportError as error:
        raise ImportError(_NEEDED.format("rich", "show tables in the terminal", "cli")) from error
    parts: list[Any] = [Text(grid.title, style="bold"), *(Text(line, style="dim") for line in grid.subtitle)]
    parts += [part for block in _blocks(grid, width) for part in (Text(""), _rich_block(block))]
    parts.append(Text(_legend(grid, "bold", "green"), style="dim"))
    if grid.tests:
        parts += [Text(""), *(Text(line) for line in _test_lines(grid))]
    if grid.notes:
        parts += [Text(""), *(Text(f"- {note}", style="dim") for note in grid.notes)]
    return Group(*parts)


def to_markdown(grid: Grid, *, columns_per_block: int | None = None) -> str:
    """A grid as a Markdown section: the better of two figures bold, the best of ours on a pair with a star.

    Blocks have at most `columns_per_block` columns, and nearly equally many.
    """
    lines = [f"### {_escaped(grid.title)}", "", *(f"{_escaped(line)}  " for line in grid.subtitle), ""]
    n_columns = max(len(grid.columns), 1)
    n_blocks = -(-n_columns // (columns_per_block or n_columns))
    step = -(-n_columns // n_blocks)
    for start in range(0, len(grid.columns), step):
        block = grid.with_columns(range(start, min(start + step, len(grid.columns))))
        heading = [grid.corner, *block.columns]
        lines += [_markdown_line(heading), "|---|" + "---:|" * len(block.columns)]
        for row in block.rows:
            name = f"**{_escaped(row.name)}**" if row.total else _escaped(row.name)
            lines.append("| " + " | ".join([name, *(_markdown_entry(entry) for entry in row.entries)]) + " |")
        lines.append("")
    lines += [_escaped(_legend(grid, "bold", "★")).replace("bold", "**bold**") + ".", ""]
    if grid.tests:
        first, *tests = _test_lines(grid)
        lines += [_escaped(first), "", *(f"- {_escaped(' '.join(line.split()))}" for line in tests)]
        lines += [""] if tests else []
    lines += [f"- {_escaped(note)}" for note in grid.notes]
    return "\n".join(lines).rstrip() + "\n"


def to_csv(grid: Grid) -> str:
    """A grid as plain numbers, not rounded: for each column ours, where there are any the deviation, the published.

    A cell without a figure, also one that failed, is empty.
    """
    columns = list(zip(grid.columns, zip(*(row.entries for row in grid.rows), strict=True), strict=True))
    parts = {
        name: [part for part in ("ours", "deviation", "published") if part == "ours" or _any(entries, part)]
        for name, entries in columns
    }
    suffix = {"ours": "", "deviation": " deviation", "published": " published"}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([grid.corner, *(name + suffix[part] for name in grid.columns for part in parts[name])])
    for row in grid.rows:
        by_column = zip(grid.columns, row.entries, strict=True)
        values = [getattr(entry, part) for name, entry in by_column for part in parts[name]]
        writer.writerow([safe_cell(row.name), *("" if value is None else repr(float(value)) for value in values)])
    return text.getvalue()


def to_html(grids: Grid | Sequence[Grid], *, title: str = "LPJT: the tables") -> str:
    """One page that stands alone, without any other file: light or dark as the reader's system is.

    Ours stands above, the published figure below it in small type. A click on a heading sorts by ours.
    """
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError(_NEEDED.format("jinja2", "write an HTML page", "report")) from error
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.globals.update(number=_number, ours=_ours, has_published=_has_published)
    shown = [grids] if isinstance(grids, Grid) else list(grids)
    return environment.from_string(PAGE).render(title=title, grids=shown, test=_TEST)


def _number(value: float) -> str:
    return f"{value:.1f}"


def _ours(entry: Entry) -> str:
    """Our figure with its deviation and mark, or why there is none."""
    if entry.ours is None:
        return "failed" if entry.failed else "–"
    spread = "" if entry.deviation is None else f"±{entry.deviation:.1f}"
    return f"{_number(entry.ours)}{spread}{entry.mark}"


def _any(entries: Sequence[Entry], part: str) -> bool:
    return any(getattr(entry, part) is not None for entry in entries)


def _has_published(grid: Grid) -> bool:
    return any(_any(row.entries, "published") for row in grid.rows)


def _legend(grid: Grid, better: str, best: str) -> str:
    if _has_published(grid):
        return _LEGEND.format(better=better, best=best)
    return f"accuracy in per cent; {best} the best on a pair"


def _test_lines(grid: Grid) -> list[str]:
    """A heading and one line per method; all in one line where there are too few pairs for any test."""
    if all(test.p is None for test in grid.tests):
        few = max(test.n_pairs for test in grid.tests)
        points = ", ".join(f"{test.method} {test.difference:+.1f}" for test in grid.tests)
        pairs = f"{few} pair{'s' if few > 1 else ''}, too few to test"
        return [f"{grid.ours} minus each of the others, in points ({pairs}): {points}."]
    longest = max(len(test.method) for test in grid.tests) + 1
    lines = [f"  {test.method + ':':<{longest}}  {test.words}" for test in grid.tests]
    return [f"{grid.ours} against the others, {_TEST}:", *lines]


def _column(grid: Grid, i: int) -> list[Entry]:
    return [row.entries[i] for row in grid.rows]


def _widths(entries: Sequence[Entry]) -> tuple[int, int]:
    """Characters of our figures and of the published ones; 0 where there are none of these."""
    published = [len(_number(entry.published)) for entry in entries if entry.published is not None]
    return max((len(_ours(entry)) for entry in entries), default=0), max(published, default=0)


def _blocks(grid: Grid, width: int) -> list[Grid]:
    """The grid cut into blocks of columns that fit, each with the names of the rows."""
    names = max([len(grid.corner), *(len(row.name) for row in grid.rows)])
    needed = []
    for i, column in enumerate(grid.columns):
        ours, published = _widths(_column(grid, i))
        needed.append(2 + max(len(column), ours + (3 + published if published else 0)))
    blocks = _cut(needed, width - names)
    # Blocks of nearly equal size: a last one of a single column reads badly.
    size = -(-len(needed) // len(blocks))
    even = [list(range(start, min(start + size, len(needed)))) for start in range(0, len(needed), size)]
    if all(names + sum(needed[i] for i in block) <= width for block in even):
        blocks = even
    else:
        narrower = (_cut(needed, room) for room in range(max(needed), width - names))
        blocks = next((found for found in narrower if len(found) <= len(blocks)), blocks)
    return [grid.with_columns(block) for block in blocks]


def _cut(needed: Sequence[int], room: int) -> list[list[int]]:
    """Columns in order, as many in a block as fit into `room`, at least one."""
    blocks: list[list[int]] = [[]]
    used = 0
    for i, more in enumerate(needed):
        if blocks[-1] and used + more > room:
            blocks.append([])
            used = 0
        blocks[-1].append(i)
        used += more
    return blocks


def _rich_block(grid: Grid) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column(grid.corner, no_wrap=True)
    for column in grid.columns:
        table.add_column(column, justify="right", no_wrap=True, style="bold" if column in grid.totals else None)
    widths = [_widths(_column(grid, i)) for i in range(len(grid.columns))]
    for i, row in enumerate(grid.rows):
        before_total = i + 1 < len(grid.rows) and grid.rows[i + 1].total
        entries = [_rich_entry(entry, *width) for entry, width in zip(row.entries, widths, strict=True)]
        table.add_row(row.name, *entries, end_section=before_total)
    return table


def _rich_entry(entry: Entry, ours: int, published: int) -> Any:
    from rich.text import Text

    styles = [style for style, applies in (("bold", entry.better == "ours"), ("green", entry.best)) if applies]
    text = Text(_ours(entry).rjust(ours), style="red" if entry.failed else " ".join(styles))
    if published:
        printed = "" if entry.published is None else _number(entry.published)
        text.append(" / " if printed else "   ", style="dim not bold")
        text.append(printed.rjust(published), style="bold" if entry.better == "published" else "dim not bold")
    return text


def _markdown_entry(entry: Entry) -> str:
    mine = f"**{_ours(entry)}**" if entry.better == "ours" else _ours(entry)
    mine += "★" if entry.best else ""
    if entry.published is None:
        return mine
    printed = _number(entry.published)
    return f"{mine} / **{printed}**" if entry.better == "published" else f"{mine} / {printed}"


def _markdown_line(names: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(name) for name in names) + " |"


def _escaped(text: str) -> str:
    """Text in which no character is taken for Markdown or HTML."""
    for character in "\\`*_[]|":
        text = text.replace(character, "\\" + character)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
