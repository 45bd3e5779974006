"""``lpjt bench profile``: where the time of one fit goes."""

from pathlib import Path
from typing import Annotated

import typer

from lpjt._whole_files import check_writable
from lpjt.commands._bench_screen import bench_console
from lpjt.commands.output import one_line_errors
from lpjt.study.figures.flame import draw_flame
from lpjt.study.speed.data import even_counts
from lpjt.study.speed.profile import functions_sheet, name_of, profile_fit, stages_sheet

#: Rows per class below which a made class says nothing.
_FEWEST = 10


def profile(
    rows: Annotated[int, typer.Option(help="Rows per domain, made from a seed.")] = 2000,
    width: Annotated[int, typer.Option(help="Columns of the made rows.", min=2)] = 256,
    classes: Annotated[int, typer.Option(help="Classes of the made rows.", min=2)] = 10,
    pair: Annotated[
        str | None, typer.Option(help="A real pair instead, as TABLE:PAIR, e.g. 'pie:05 to 07'; see `lpjt data`.")
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads of the fit; only the first one is looked at.", min=1)] = 1,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Flame graph to write, an SVG file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
) -> None:
    """Time of one fit by stage and by function, with calls, and as a flame graph."""
    screen = bench_console()
    with one_line_errors():
        if output is not None:
            check_writable(output, overwrite=force, remedy="--force")
        data = _made(rows, width, classes) if pair is None else _real(pair)
        found = profile_fit(data, n_threads=threads)
        for sheet in (stages_sheet(found), functions_sheet(found)):
            screen.print(sheet.to_rich())
        if output is not None:
            what = pair or f"{rows:,} + {rows:,} rows x {width:,}, {classes} classes"
            stacks: dict[tuple[str, ...], float] = {}
            for stack, seconds in found.stacks.items():
                names = tuple(map(name_of, stack))
                stacks[names] = stacks.get(names, 0.0) + seconds
            draw_flame(stacks, f"One fit of LPJT: {what}, {found.seconds:.2f} s", output, overwrite=force)
            screen.print(f"Written: {output}", soft_wrap=True)


def _made(rows: int, width: int, classes: int) -> dict[str, object]:
    if rows < _FEWEST * classes:
        raise ValueError(f"--rows {rows}: {classes} classes need at least {_FEWEST * classes} rows per domain.")
    counts = even_counts(rows, classes)
    return {"source": counts, "target": counts, "width": width}


def _real(pair: str) -> dict[str, object]:
    table, colon, name = pair.partition(":")
    if not colon:
        raise ValueError(f"--pair {pair!r} is not of the form TABLE:PAIR, such as 'pie:05 to 07'.")
    return {"table": table, "pair": name.strip()}
