"""``lpjt bench``: what a fit costs, in seconds, in passes of X'X and in memory, and whether adaptation is safe."""

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from lpjt.commands._bench_run import Keep, Output, Timeout, measure_plan, parse_rows, rows_help, run_plan
from lpjt.commands._bench_screen import Force, bench_console, check_page, tasks_at_hand, watched, write_pages
from lpjt.commands.bench_ask import ask
from lpjt.commands.bench_cluster import cluster
from lpjt.commands.bench_more import disk, floor, predict, small
from lpjt.commands.bench_profile import profile
from lpjt.commands.output import one_line_errors
from lpjt.study.pages import performance, robustness
from lpjt.study.robust import tasks as suite
from lpjt.study.robust.measure import measure_task
from lpjt.study.robust.sheets import families_sheet, goals_sheet, kinds_sheet, worst_sheet
from lpjt.study.runner import run_jobs
from lpjt.study.speed import plans
from lpjt.study.speed.loss import memory_fault, work_faults, work_sheet
from lpjt.study.speed.plans import GROWTH_ROWS, PEER_ROWS, QUICK_ROWS, SAMPLE_ROWS, SEARCH_ROWS
from lpjt.study.speed.results import DIRECTORY, open_store, read_result
from lpjt.study.speed.sheets import quick_sheet

bench_app = typer.Typer(
    help="Measure time and memory, as ratios to one pass of X'X over the same data, and whether adaptation is safe.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@bench_app.command()
def growth(
    rows: Annotated[str | None, typer.Option(help=rows_help(GROWTH_ROWS))] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few and small sizes, about a minute.")] = False,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """Time by stage and peak memory from a thousand rows per domain to a million, of wide rows and of many classes."""
    with one_line_errors():
        sizes = parse_rows(rows) or (QUICK_ROWS if quick else GROWTH_ROWS)
        run_plan(lambda: plans.plan_growth(sizes, quick=quick, timeout=timeout), output, keep=keep)


@bench_app.command()
def visda(
    scale: Annotated[float, typer.Option(help="Share of VisDA's rows, for trials.")] = 1.0,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
) -> None:
    """One fit of VisDA's shape: 152,397 + 55,388 rows, 2048 wide, 12 classes, float32."""
    with one_line_errors():
        run_plan(lambda: plans.plan_visda(scale, timeout=timeout), output)


@bench_app.command()
def pie(output: Output = DIRECTORY) -> None:
    """One fit of PIE 05 to 07 with 100 components; needs the data, see `lpjt data`."""
    with one_line_errors():
        run_plan(plans.plan_pie, output)


@bench_app.command()
def peers(
    rows: Annotated[str | None, typer.Option(help=rows_help(PEER_ROWS))] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds per run; the dense transcription has twelve times as many.")
    ] = 600,
    methods: Annotated[str | None, typer.Option(help="Names of methods, with semicolons between; else all.")] = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """LPJT beside other libraries, simple alternatives and a dense transcription of the paper, until each fails."""
    with one_line_errors():
        names = None if methods is None else [name.strip() for name in methods.split(";")]
        sizes = parse_rows(rows) or PEER_ROWS
        run_plan(lambda: plans.plan_peers(sizes, timeout=timeout, methods=names), output, keep=keep)


@bench_app.command()
def neighbors(
    full: Annotated[
        bool, typer.Option("--full", help="Also all of MNIST and USPS, where the search really runs.")
    ] = False,
    output: Output = DIRECTORY,
) -> None:
    """Accuracy with exact and with approximate neighbours, on digits and PIE; needs the data, see `lpjt data`."""
    with one_line_errors():
        run_plan(lambda: plans.plan_neighbors(full=full), output)


@bench_app.command()
def sample(
    rows: Annotated[str | None, typer.Option(help=rows_help(SAMPLE_ROWS))] = None,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """Accuracy and time of learning on a sample, and of iterating on every row."""
    with one_line_errors():
        run_plan(lambda: plans.plan_sample(parse_rows(rows) or SAMPLE_ROWS, timeout=timeout), output, keep=keep)


@bench_app.command()
def search(
    rows: Annotated[str | None, typer.Option(help=rows_help(SEARCH_ROWS))] = None,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """Time of a search among thirty settings, in whole fits."""
    with one_line_errors():
        run_plan(lambda: plans.plan_search(parse_rows(rows) or SEARCH_ROWS, timeout=timeout), output, keep=keep)


@bench_app.command()
def quick(
    rows: Annotated[str | None, typer.Option(help=rows_help(QUICK_ROWS))] = None,
    store: Annotated[bool, typer.Option("--store", help="Store this record, for later runs to compare with.")] = False,
    output: Output = DIRECTORY,
) -> None:
    """Counted work and ratios of small sizes beside those stored; exit with 1 on 30 % more work, never on time.

    Memory that grows with the square of the rows also ends with 1. With --store more work is accepted.
    """
    screen = bench_console()
    with one_line_errors():
        plan = plans.plan_quick(parse_rows(rows) or QUICK_ROWS)
        stored = read_result(plan.bench, open_store(output))
        with tempfile.TemporaryDirectory() as nowhere:
            result = measure_plan(screen, plan, open_store(output if store else Path(nowhere)))
        for sheet in (quick_sheet(result, stored), work_sheet(result, stored)):
            screen.print(sheet.to_rich())
        if store:
            screen.print(f"Written: {output}", soft_wrap=True)
        elif stored is None:
            screen.print(f"{output} has no record to compare with; --store writes one.", soft_wrap=True)
        faults = [fault] if (fault := memory_fault(result)) else []
        faults += [] if store else work_faults(result, stored)
    for fault in faults:
        print(f"lpjt: {fault}", file=sys.stderr)
    if faults:
        raise typer.Exit(1)


@bench_app.command()
def robust(
    only: Annotated[str | None, typer.Option(help="Run the tasks with TEXT in their name.", metavar="TEXT")] = None,
    rows: Annotated[int, typer.Option(help="Maximum number of rows per domain.")] = suite.MAX_ROWS,
    draws: Annotated[int, typer.Option(help="Draws of the classes that a cut target keeps.")] = suite.DRAWS,
    jobs: Annotated[int, typer.Option(help="Processes at once.")] = 1,
    again: Annotated[bool, typer.Option("--again", help="Also run what is stored already.")] = False,
    page: Annotated[
        bool, typer.Option("--page", help=f"Run nothing; write {robustness.PAGE} from stored rows.")
    ] = False,
    output: Output = suite.DIRECTORY,
    force: Force = False,
) -> None:
    """Is adaptation safe without some classes, with other proportions, without a shift? Needs data, see `lpjt data`."""
    with one_line_errors():
        screen, store = bench_console(), suite.open_store(output)
        if page and only is not None:
            raise ValueError("--page writes the page of the whole suite. Leave out --only.")
        if page:
            check_page(robustness.PAGE, force=force)
        tasks = suite.plan_tasks(max_rows=rows, draws=draws, only=only)
        if not page:
            at_hand = tasks_at_hand(tasks)
            with watched(screen, len(at_hand), store, lambda task: task.name) as on_event:
                run_jobs(
                    at_hand, store, run=measure_task, n_jobs=jobs, retry_failed=True, again=again, on_event=on_event
                )
            screen.print(f"Written: {output}", soft_wrap=True)
        keys = {task.key for task in tasks}
        stored = [row for row in store.rows() if row["key"] in keys]
        if not stored:
            raise ValueError(f"{output} has no row of these tasks. Run `lpjt bench robust` first.")
        for sheet in (kinds_sheet(stored, "By kind"), families_sheet(stored, "By family"), goals_sheet(stored)):
            screen.print(sheet.to_rich())
        screen.print(worst_sheet(stored).to_rich())
        if page or (suite.is_whole(tasks) and len(stored) == len(tasks)):
            write_pages(screen, robustness.PAGE, lambda: robustness.write_page(tasks, stored), force=force)


for command in (ask, profile, disk, predict, small, floor, cluster):
    bench_app.command()(command)


@bench_app.command()
def report(
    stored: Annotated[Path, typer.Option(help="Directory of the results.")] = DIRECTORY,
    page: Annotated[
        Path, typer.Option(help="Page to write; its figure goes into `figures` beside it.")
    ] = performance.PAGE,
    force: Force = False,
) -> None:
    """Write the page of the documentation from the stored results."""
    screen = bench_console()
    with one_line_errors():
        check_page(page, force=force)
        results = performance.read_results(open_store(stored))
        written = performance.write_page(results, page)
        screen.print(performance.goals_sheet(results).to_rich())
        for path in written:
            screen.print(f"Written: {path}", soft_wrap=True)
