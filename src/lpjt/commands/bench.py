"""``lpjt bench``: what a fit costs, in seconds, in passes of X'X and in memory."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lpjt.bench.page import PAGE
from lpjt.bench.plans import GROWTH_ROWS, PEER_ROWS, QUICK_ROWS, Plan
from lpjt.bench.store import DIRECTORY
from lpjt.commands import output as out
from lpjt.commands.output import one_line_errors

bench_app = typer.Typer(
    help="Measure time and memory, as ratios to one pass of X'X over the same data in the same process.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

#: Memory that grows with a higher power of the rows is taken to grow with their square.
MEMORY_EXPONENT = 1.5

_WIDTH = 150  # characters of a table that no terminal shows

Output = Annotated[Path, typer.Option("--output", "-o", help="Directory of the results, one JSON file a bench.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep stored records of what this run does not measure.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds after which a run is ended; without end by default.")]


def _rows_help(rows: tuple[int, ...]) -> str:
    return f"Rows a domain, with commas between; {','.join(map(str, rows))} by default."


@bench_app.command()
def growth(
    rows: Annotated[str | None, typer.Option(help=_rows_help(GROWTH_ROWS))] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few and small sizes, about a minute.")] = False,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """Time by stage and peak memory from a thousand rows a domain to a million, of wide rows and of many classes."""
    from lpjt.bench.plans import plan_growth

    with one_line_errors():
        sizes = parse_rows(rows) or (QUICK_ROWS if quick else GROWTH_ROWS)
        _run(lambda: plan_growth(sizes, quick=quick, timeout=timeout), output, keep=keep)


@bench_app.command()
def visda(
    scale: Annotated[float, typer.Option(help="Share of VisDA's rows, for trials.")] = 1.0,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
) -> None:
    """One fit of VisDA's shape: 152,397 + 55,388 rows, 2048 wide, 12 classes, float32."""
    from lpjt.bench.plans import plan_visda

    with one_line_errors():
        _run(lambda: plan_visda(scale, timeout=timeout), output)


@bench_app.command()
def pie(output: Output = DIRECTORY) -> None:
    """One fit of PIE 05 to 07 with 100 components; wants the data, see `lpjt data`."""
    from lpjt.bench.plans import plan_pie

    with one_line_errors():
        _run(plan_pie, output)


@bench_app.command()
def peers(
    rows: Annotated[str | None, typer.Option(help=_rows_help(PEER_ROWS))] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds a run; the dense transcription has twelve times as many.")
    ] = 600,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """LPJT beside skada, POT, a primal JDA and a dense transcription of the paper, until each fails."""
    from lpjt.bench.plans import plan_peers

    with one_line_errors():
        _run(lambda: plan_peers(parse_rows(rows) or PEER_ROWS, timeout=timeout), output, keep=keep)


@bench_app.command()
def neighbors(
    full: Annotated[
        bool, typer.Option("--full", help="Also all of MNIST and USPS, where the search really runs.")
    ] = False,
    output: Output = DIRECTORY,
) -> None:
    """Accuracy with exact and with approximate neighbours, on digits and PIE; wants the data, see `lpjt data`."""
    from lpjt.bench.plans import plan_neighbors

    with one_line_errors():
        _run(lambda: plan_neighbors(full=full), output)


@bench_app.command()
def quick(
    rows: Annotated[str | None, typer.Option(help=_rows_help(QUICK_ROWS))] = None,
    store: Annotated[bool, typer.Option("--store", help="Store the ratios, for later runs to compare with.")] = False,
    output: Output = DIRECTORY,
) -> None:
    """Ratios of a few small sizes beside the stored ones; exit with 1 where memory grows with the rows' square."""
    from lpjt.bench.plans import plan_quick
    from lpjt.bench.sheets import quick_sheet
    from lpjt.bench.store import make_result, read_result, write_result

    screen = _console()
    with one_line_errors():
        plan = plan_quick(parse_rows(rows) or QUICK_ROWS)
        stored = read_result("quick", output)
        result = make_result("quick", _measure(screen, plan), plan.note)
        screen.print(quick_sheet(result, stored).to_rich())
        if store:
            screen.print(f"Written: {write_result(result, output)}", soft_wrap=True)
        fault = memory_fault(result)
    if fault:
        print(f"lpjt: {fault}", file=sys.stderr)
        raise typer.Exit(1)


@bench_app.command()
def report(
    stored: Annotated[Path, typer.Option(help="Directory of the results.")] = DIRECTORY,
    page: Annotated[Path, typer.Option(help="Page to write; its figure goes into `figures` beside it.")] = PAGE,
) -> None:
    """Write the page of the documentation from the stored results."""
    from lpjt.bench.page import goals_sheet, write_page
    from lpjt.bench.store import BENCHES, read_result

    screen = _console()
    with one_line_errors():
        written = write_page(stored, page)
        screen.print(goals_sheet({bench: read_result(bench, stored) for bench in BENCHES}).to_rich())
        for path in written:
            screen.print(f"Written: {path}", soft_wrap=True)


def memory_fault(result: dict[str, Any]) -> str | None:
    """What is wrong with the memory of a quick run; None where it is in order. Time is never at fault."""
    from lpjt.bench.sheets import exponent

    failed = [record for record in result["records"] if record["status"] != "ok"]
    if failed:
        return f"{failed[0]['label']}: {failed[0]['status']}. {failed[0]['message']}"
    sizes = sorted(record["size"] for record in result["records"])
    # The smallest sizes have memory that does not grow at all, and would hide what does.
    slope = exponent(result, "peak_bytes", sizes[len(sizes) // 4])
    if slope is not None and slope > MEMORY_EXPONENT:
        return f"Peak memory grows with the rows to the power {slope:.2f}, above {MEMORY_EXPONENT}: an n x n matrix?"
    return None


def parse_rows(text: str | None) -> tuple[int, ...] | None:
    """Row counts out of a list with commas, in ascending order; None of none."""
    if text is None:
        return None
    try:
        found = sorted({int(part.replace("_", "")) for part in text.split(",") if part.strip()})
    except ValueError as error:
        raise ValueError(f"--rows {text!r} is not a list of counts such as 1000,4000.") from error
    if not found:
        raise ValueError(f"--rows {text!r} names no count. Give some, such as 1000,4000.")
    return tuple(found)


def _console() -> Console:
    """Where tables go; into a file or a pipe they are as wide as they need to be."""
    screen = out.console()
    if not screen.is_terminal:
        screen.width = _WIDTH
    return screen


def _run(make_plan: Any, output: Path, *, keep: bool = False) -> None:
    """Measure a plan, show its tables, store its records."""
    from lpjt.bench.page import sheets_of
    from lpjt.bench.store import check_directory, keep_others, make_result, read_result, write_result

    screen = _console()
    check_directory(output)
    plan = make_plan()
    records = _measure(screen, plan)
    if keep:
        records = keep_others(records, read_result(plan.bench, output))
    result = make_result(plan.bench, records, plan.note)
    for sheet in sheets_of(result):
        screen.print(sheet.to_rich())
    screen.print(plan.note)
    screen.print(f"Written: {write_result(result, output)}", soft_wrap=True)


def _measure(screen: Console, plan: Plan) -> list[dict[str, Any]]:
    """Run the tasks of a plan behind a progress bar."""
    from lpjt.bench.processes import run_tasks

    columns = (BarColumn(bar_width=20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    try:
        with Progress(*columns, console=screen, transient=True) as progress:
            bar = progress.add_task("Measuring", total=len(plan.tasks))

            def on_start(task: Any, done: int, total: int) -> None:
                progress.update(bar, description=f"{task.method}, {task.label}", completed=done)

            def on_end(record: dict[str, Any]) -> None:
                progress.advance(bar)
                if record["status"] not in ("ok", "not run"):
                    what = f"{record['method']}, {record['label']}"
                    print(f"{record['status']}: {what}: {record['message']}", file=sys.stderr)

            return plan.finish(run_tasks(plan.tasks, on_start=on_start, on_end=on_end))
    except KeyboardInterrupt:
        print("lpjt: stopped. Nothing was stored.", file=sys.stderr)
        raise typer.Exit(130) from None
