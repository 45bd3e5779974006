"""How the commands of ``lpjt bench`` run a plan, and the options that they share."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lpjt.commands._bench_screen import bench_console, watched
from lpjt.study.pages import performance
from lpjt.study.speed import run
from lpjt.study.speed.plans import Plan
from lpjt.study.speed.results import Result, forget_others, open_store, read_result
from lpjt.study.store import Store

Output = Annotated[Path, typer.Option("--output", "-o", help="Directory of the stored measurements.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep what is stored of this bench and not measured now.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds after which a run is ended; no limit by default.")]


def rows_help(rows: tuple[int, ...]) -> str:
    """Help of an option of row counts."""
    return f"Rows per domain, with commas between; {','.join(map(str, rows))} by default."


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


def run_plan(make_plan: Callable[[], Plan], output: Path, *, keep: bool = False) -> None:
    """Measure a plan, store what comes of it, show its tables."""
    screen, store = bench_console(), open_store(output)
    plan = make_plan()
    result = measure_plan(screen, plan, store, keep=keep)
    for sheet in performance.sheets_of(result):
        screen.print(sheet.to_rich())
    screen.print(plan.note)
    screen.print(f"Written: {output}", soft_wrap=True)


def measure_plan(screen: Console, plan: Plan, store: Store, *, keep: bool = False) -> Result:
    """Run the measurements of a plan behind a progress bar; what is stored of its bench afterwards."""
    with watched(screen, len(plan.tasks), store, lambda task: f"{task.method}, {task.label}") as on_event:
        run.run_tasks(plan.tasks, store, on_event=on_event)
    if not keep:
        forget_others(plan.bench, plan.tasks, store)
    result = read_result(plan.bench, store)
    assert result is not None, "every measurement has a row"
    return result
