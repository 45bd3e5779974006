"""``lpjt bench disk``, ``predict``, ``small`` and ``floor``: beyond one fit in memory."""

from pathlib import Path
from tempfile import gettempdir
from typing import Annotated

import typer

from lpjt.commands._bench_run import Keep, Output, Timeout, parse_rows, rows_help, run_plan
from lpjt.commands.output import one_line_errors
from lpjt.study.speed import plans_more
from lpjt.study.speed.plans_more import FLOOR_ROWS, KINDS, NEW_ROWS
from lpjt.study.speed.results import DIRECTORY


def disk(
    gigabytes: Annotated[float, typer.Option(help="Size of the rows of both domains.")] = 20.0,
    memory: Annotated[str, typer.Option(help="`memory_limit` of the fit.")] = "2GB",
    kinds: Annotated[str, typer.Option(help=f"Kinds of files, with commas between, of {', '.join(KINDS)}.")] = "memmap",
    folder: Annotated[
        Path | None, typer.Option(help="Where the file is written, and deleted afterwards.", exists=True)
    ] = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """One fit of rows that are in a file larger than the memory limit, in reads of the file, and its peak memory."""
    with one_line_errors():
        where, names = folder or Path(gettempdir()), [kind.strip() for kind in kinds.split(",")]
        run_plan(lambda: plans_more.plan_disk(gigabytes, memory=memory, kinds=names, folder=where), output, keep=keep)


def predict(
    new: Annotated[int, typer.Option(help="Number of new target rows.")] = NEW_ROWS,
    output: Output = DIRECTORY,
) -> None:
    """Labels of new rows, beside their embedding and one search for neighbours."""
    with one_line_errors():
        run_plan(lambda: plans_more.plan_predict(new), output)


def small(output: Output = DIRECTORY) -> None:
    """200 + 200 rows of 50 columns with candidates, in seconds, and the start of `lpjt --version` beyond Python's."""
    with one_line_errors():
        run_plan(plans_more.plan_small, output)


def floor(
    rows: Annotated[str | None, typer.Option(help=rows_help(FLOOR_ROWS))] = None,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """LPJT beside the search that any graph method needs: cells and 15 neighbours of the same rows by faiss."""
    with one_line_errors():
        run_plan(lambda: plans_more.plan_floor(parse_rows(rows) or FLOOR_ROWS, timeout=timeout), output, keep=keep)
