"""``lpjt bench``: what a fit costs, in seconds, in passes of X'X and in memory, and whether adaptation is safe."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lpjt.commands._bench_screen import Force, bench_console, check_page, tasks_at_hand, watched, write_pages
from lpjt.commands.bench_ask import ask
from lpjt.commands.bench_cluster import cluster
from lpjt.commands.output import one_line_errors
from lpjt.study.pages import performance, robustness
from lpjt.study.robust import tasks as suite
from lpjt.study.robust.measure import measure_task
from lpjt.study.robust.sheets import families_sheet, goals_sheet, kinds_sheet, worst_sheet
from lpjt.study.runner import run_jobs
from lpjt.study.speed import plans, run
from lpjt.study.speed.plans import GROWTH_ROWS, PEER_ROWS, QUICK_ROWS, SAMPLE_ROWS, SEARCH_ROWS, Plan
from lpjt.study.speed.results import DIRECTORY, Result, forget_others, open_store, read_result
from lpjt.study.speed.sheets import exponent, quick_sheet
from lpjt.study.store import Store

bench_app = typer.Typer(
    help="Measure time and memory, as ratios to one pass of X'X over the same data, and whether adaptation is safe.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

#: Memory that grows with a higher power of the rows is taken to grow with their square.
MEMORY_EXPONENT = 1.5

Output = Annotated[Path, typer.Option("--output", "-o", help="Directory of the stored measurements.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep what is stored of this bench and not measured now.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds after which a run is ended; no limit by default.")]


def _rows_help(rows: tuple[int, ...]) -> str:
    return f"Rows per domain, with commas between; {','.join(map(str, rows))} by default."


@bench_app.command()
def growth(
    rows: Annotated[str | None, typer.Option(help=_rows_help(GROWTH_ROWS))] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few and small sizes, about a minute.")] = False,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """Time by stage and peak memory from a thousand rows per domain to a million, of wide rows and of many classes."""
    with one_line_errors():
        sizes = parse_rows(rows) or (QUICK_ROWS if quick else GROWTH_ROWS)
        _run(lambda: plans.plan_growth(sizes, quick=quick, timeout=timeout), output, keep=keep)


@bench_app.command()
def visda(
    scale: Annotated[float, typer.Option(help="Share of VisDA's rows, for trials.")] = 1.0,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
) -> None:
    """One fit of VisDA's shape: 152,397 + 55,388 rows, 2048 wide, 12 classes, float32."""
    with one_line_errors():
        _run(lambda: plans.plan_visda(scale, timeout=timeout), output)


@bench_app.command()
def pie(output: Output = DIRECTORY) -> None:
    """One fit of PIE 05 to 07 with 100 components; needs the data, see `lpjt data`."""
    with one_line_errors():
        _run(plans.plan_pie, output)


@bench_app.command()
def peers(
    rows: Annotated[str | None, typer.Option(help=_rows_help(PEER_ROWS))] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds per run; the dense transcription has twelve times as many.")
    ] = 600,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """LPJT beside skada, POT, a primal JDA and a dense transcription of the paper, until each fails."""
    with one_line_errors():
        _run(lambda: plans.plan_peers(parse_rows(rows) or PEER_ROWS, timeout=timeout), output, keep=keep)


@bench_app.command()
def neighbors(
    full: Annotated[
        bool, typer.Option("--full", help="Also all of MNIST and USPS, where the search really runs.")
    ] = False,
    output: Output = DIRECTORY,
) -> None:
    """Accuracy with exact and with approximate neighbours, on digits and PIE; needs the data, see `lpjt data`."""
    with one_line_errors():
        _run(lambda: plans.plan_neighbors(full=full), output)


@bench_app.command()
def sample(
    rows: Annotated[str | None, typer.Option(help=_rows_help(SAMPLE_ROWS))] = None,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """Accuracy and time of learning on a sample, and of iterating on every row."""
    with one_line_errors():
        _run(lambda: plans.plan_sample(parse_rows(rows) or SAMPLE_ROWS, timeout=timeout), output, keep=keep)


@bench_app.command()
def search(
    rows: Annotated[str | None, typer.Option(help=_rows_help(SEARCH_ROWS))] = None,
    timeout: Timeout = None,
    output: Output = DIRECTORY,
    keep: Keep = False,
) -> None:
    """Time of a search among thirty settings, in whole fits."""
    with one_line_errors():
        _run(lambda: plans.plan_search(parse_rows(rows) or SEARCH_ROWS, timeout=timeout), output, keep=keep)


@bench_app.command()
def quick(
    rows: Annotated[str | None, typer.Option(help=_rows_help(QUICK_ROWS))] = None,
    store: Annotated[bool, typer.Option("--store", help="Store the ratios, for later runs to compare with.")] = False,
    output: Output = DIRECTORY,
) -> None:
    """Ratios of a few small sizes beside the stored ones; exit with 1 where memory grows with the rows' square."""
    screen = bench_console()
    with one_line_errors():
        plan = plans.plan_quick(parse_rows(rows) or QUICK_ROWS)
        stored = read_result(plan.bench, open_store(output))
        with tempfile.TemporaryDirectory() as nowhere:
            result = _measure(screen, plan, open_store(output if store else Path(nowhere)))
        screen.print(quick_sheet(result, stored).to_rich())
        if store:
            screen.print(f"Written: {output}", soft_wrap=True)
        fault = memory_fault(result)
    if fault:
        print(f"lpjt: {fault}", file=sys.stderr)
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


bench_app.command()(ask)
bench_app.command()(cluster)


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


def memory_fault(result: Result) -> str | None:
    """What is wrong with the memory of a quick run; None where it is in order. Time is never at fault."""
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


def _run(make_plan: Callable[[], Plan], output: Path, *, keep: bool = False) -> None:
    """Measure a plan, store what comes of it, show its tables."""
    screen, store = bench_console(), open_store(output)
    plan = make_plan()
    result = _measure(screen, plan, store, keep=keep)
    for sheet in performance.sheets_of(result):
        screen.print(sheet.to_rich())
    screen.print(plan.note)
    screen.print(f"Written: {output}", soft_wrap=True)


def _measure(screen: Console, plan: Plan, store: Store, *, keep: bool = False) -> Result:
    """Run the measurements of a plan behind a progress bar; what is stored of its bench afterwards."""
    with watched(screen, len(plan.tasks), store, lambda task: f"{task.method}, {task.label}") as on_event:
        run.run_tasks(plan.tasks, store, on_event=on_event)
    if not keep:
        forget_others(plan.bench, plan.tasks, store)
    result = read_result(plan.bench, store)
    assert result is not None, "every measurement has a row"
    return result
