"""``lpjt bench ask``: what labels of the rows that a fit asks for are worth, beside labels of random rows."""

from pathlib import Path
from typing import Annotated

import typer

from lpjt.commands._bench_screen import Force, bench_console, check_page, tasks_at_hand, watched, write_pages
from lpjt.commands.output import one_line_errors
from lpjt.study.asking import tasks as study
from lpjt.study.asking.measure import measure_task
from lpjt.study.asking.sheets import harm_sheet, read_records, summary_sheet, tasks_sheet
from lpjt.study.pages import asking
from lpjt.study.runner import run_jobs


def ask(
    only: Annotated[str | None, typer.Option(help="Run the tasks with TEXT in their name.", metavar="TEXT")] = None,
    rows: Annotated[int, typer.Option(help="Maximum number of rows per domain.")] = study.MAX_ROWS,
    jobs: Annotated[int, typer.Option(help="Processes at once.")] = 1,
    again: Annotated[bool, typer.Option("--again", help="Also run what is stored already.")] = False,
    page: Annotated[bool, typer.Option("--page", help=f"Run nothing; write {asking.PAGE} from stored rows.")] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Directory of the stored measurements.")
    ] = study.DIRECTORY,
    force: Force = False,
) -> None:
    """What are labels of the rows that a fit asks for worth, beside random ones? Needs data, see `lpjt data`."""
    with one_line_errors():
        screen, store = bench_console(), study.open_store(output)
        if page and only is not None:
            raise ValueError("--page writes the page of all tasks. Leave out --only.")
        if page:
            check_page(asking.PAGE, force=force)
        tasks = study.plan_tasks(max_rows=rows, only=only)
        if not page:
            here = set(tasks_at_hand([one.task for one in tasks]))
            at_hand = [one for one in tasks if one.task in here]
            with watched(screen, len(at_hand), store, lambda one: one.name) as on_event:
                run_jobs(
                    at_hand, store, run=measure_task, n_jobs=jobs, retry_failed=True, again=again, on_event=on_event
                )
            screen.print(f"Written: {output}", soft_wrap=True)
        keys = {one.key for one in tasks}
        stored = [row for row in store.rows() if row["key"] in keys]
        if not stored:
            raise ValueError(f"{output} has no row of these tasks. Run `lpjt bench ask` first.")
        records = read_records(stored)
        for sheet in (summary_sheet(records), harm_sheet(records), tasks_sheet(stored)):
            screen.print(sheet.to_rich())
        if page or (only is None and len(stored) == len(tasks)):
            write_pages(screen, asking.PAGE, lambda: asking.write_page(tasks, stored), force=force)
