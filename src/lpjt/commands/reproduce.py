"""``lpjt reproduce``: the paper's tables and figures, run here."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

from lpjt import datasets
from lpjt.commands.output import console, one_line_errors, print_error
from lpjt.datasets.fetch import check
from lpjt.study.figures.catalogue import FIGURES, find_figure, make_figure
from lpjt.study.runner import Event, run_jobs
from lpjt.study.runs.measure import Job, measure
from lpjt.study.runs.plan import GROUPS, expand_tables, missing_note, plan_jobs
from lpjt.study.store import Store
from lpjt.study.tables.grid import reproduce_grid
from lpjt.study.tables.markup import to_terminal
from lpjt.study.tables.writing import check_report_path, write_grids

_TABLES_HELP = (
    "Tables (digits, pie, surf, ...; `lpjt reproduce list` names all), figures (fig-sensitivity, fig-convergence, "
    "fig-landmarks, fig-embedding), or the group compare."
)


def reproduce(
    tables: Annotated[list[str], typer.Argument(metavar="TABLE...", help=_TABLES_HELP, show_default=False)],
    methods: Annotated[str | None, typer.Option(help="Methods, with commas between; all that suit by default.")] = None,
    pairs: Annotated[str | None, typer.Option(help="Pairs, with commas between, e.g. '05 to 07,29 to 09'.")] = None,
    seeds: Annotated[str | None, typer.Option(help="How many seeds, or which, e.g. 5 or 0,3,7.")] = None,
    protocol: Annotated[str, typer.Option(help="label-free, published or oracle.")] = "label-free",
    store: Annotated[Path, typer.Option(help="Directory of the rows; an interrupted command goes on from it.")] = Path(
        "lpjt-results"
    ),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the tables too: .md, .csv or .html; of figures, where.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at the same time, each in a process of its own.")] = 1,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which a run is ended.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run again what failed before.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Run everything again, stored or not.")] = False,
    show_only: Annotated[bool, typer.Option("--show", help="Run nothing; show the rows in the store.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Run the paper's tables: every method on the same files, beside the figures printed in the paper."""
    screen = console()
    with one_line_errors():
        if tables == ["list"]:
            _list(screen)
            return
        figures = [name for name in tables if name.startswith("fig")]
        named = [name for name in tables if name not in figures]
        _check_names(figures, named, output, show_only=show_only, force=force)
        choice = {"methods": _split(methods), "pairs": _split(pairs), "seeds": _seeds(seeds), "protocol": protocol}
        running = {"n_jobs": jobs, "timeout": timeout, "retry_failed": retry_failed, "again": again}
        for name in figures:
            _figure(screen, name, output, _split(pairs), jobs, force=force)
        failed = named and _tables(
            screen, named, store, output, choice=choice, running=running, show_only=show_only, force=force
        )
    if failed:
        raise typer.Exit(1)


def _check_names(figures: list[str], tables: list[str], output: Path | None, *, show_only: bool, force: bool) -> None:
    """Refuse what cannot be done before anything is computed."""
    for name in figures:
        find_figure(name)
    selections = expand_tables(tables)
    if figures and show_only:
        raise ValueError("--show prints stored rows, and figures have none. Leave it out, or name tables alone.")
    if figures and tables and output is not None:
        raise ValueError("-o is a directory for figures and a file for tables. Ask for one kind at a time.")
    if tables and output is not None:
        names = dict.fromkeys(selection.table.name for selection in selections)
        check_report_path(output, list(names), overwrite=force)


def _tables(
    screen: Console,
    names: list[str],
    store_path: Path,
    output: Path | None,
    *,
    choice: dict[str, Any],
    running: dict[str, Any],
    show_only: bool,
    force: bool,
) -> bool:
    """Run and show; whether a run failed."""
    selections = expand_tables(names)
    jobs = plan_jobs(selections, **choice)
    note = missing_note(selections, choice["methods"])
    if note:
        screen.print(note)
    store = Store(store_path)
    if not show_only:
        stored = set() if running["again"] else store.keys()
        _check_data([job for job in jobs if job.key not in stored])
        try:
            _run(screen, jobs, store, running)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"The rows so far are in {store_path}: the same command goes on.") from None
    keys = {job.key for job in jobs}
    rows = [row for row in store.rows() if row["key"] in keys]
    grids = {}
    for name in dict.fromkeys(selection.table.name for selection in selections):
        of_table = [row for row in rows if row["table"] == name]
        if of_table:
            grids[name] = reproduce_grid(of_table, name, choice["protocol"])
            screen.print(to_terminal(grids[name], width=screen.width))
            screen.print()
    if output is not None and grids:
        for path in write_grids(grids, output, overwrite=force):
            screen.print(f"Written: {path}")
    missing = len(keys) - len({row["key"] for row in rows})
    if missing:
        screen.print(f"{missing} of {len(keys)} runs are not in {store_path}. Leave out --show to run them.")
    failed = sum(row["status"] != "ok" for row in rows)
    failures = f", {failed} of them failed; --retry-failed runs them again." if failed else "."
    screen.print(f"{len(rows)} rows in {store_path}{failures}")
    return failed > 0


def _check_data(jobs: Sequence[Job]) -> None:
    """Fail before the first run where a file is missing or broken, instead of in every row; warn of strange copies."""
    pairs = list(dict.fromkeys((job.table, job.pair) for job in jobs))
    for table, pair in pairs:
        datasets.locate(table, pair)
    for table, pair in pairs:
        datasets.load_problem(table, pair)
    for name in dict.fromkeys(name for table, _ in pairs for name in datasets.find_table(table).sets):
        for file in check(name) if datasets.find_set(name).kind == "original" else ():
            if file.state == "differs":
                print_error(
                    f"warning: {file.path} is another copy than the original: sha256 {file.found}, not {file.expected}."
                )


def _run(screen: Console, jobs: Sequence[Job], store: Store, running: dict[str, Any]) -> None:
    last = Column(ratio=1, no_wrap=True, overflow="ellipsis")  # what runs now is cut off, the figures never
    columns = (
        BarColumn(bar_width=20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[rest]}"),
        TextColumn("{task.description}", table_column=last),
    )  # fmt: skip
    now: dict[str, str] = {}
    with Progress(*columns, console=screen, transient=True, expand=True) as progress:
        task = progress.add_task("Running", total=len(jobs), rest="")

        def on_event(event: Event) -> None:
            label = f"{event.job.table} {event.job.pair}, {event.job.method}"
            if event.kind == "start":
                now[event.job.key] = label
            else:
                now.pop(event.job.key, None)
            if event.kind == "end" and event.row is not None and event.row["status"] != "ok":
                print_error(f"{event.row['status']}: {label}: {event.row['message']}")
            rest = "" if event.remaining is None else f"about {_duration(event.remaining)} left"
            progress.update(task, completed=event.done, description="; ".join(now.values()) or "Running", rest=rest)

        run_jobs(jobs, store, run=measure, on_event=on_event, **running)


def _figure(
    screen: Console, name: str, output: Path | None, pairs: list[str] | None, jobs: int, *, force: bool
) -> None:
    find_figure(name)
    with screen.status(f"{name} ...") as status:

        def on_progress(done: int, total: int, what: str) -> None:
            status.update(f"{name}: {done} of {total}, {what}")

        where = output or Path("figures")
        written = make_figure(name, where, pair=pairs, n_jobs=jobs, on_progress=on_progress, overwrite=force)
    for path in written:
        screen.print(f"Written: {path}")


def _list(screen: Console) -> None:
    from rich.table import Table

    grid = Table(title="What can be reproduced")
    for heading in ("name", "kind", "pairs", "what"):
        grid.add_column(heading, justify="right" if heading == "pairs" else "left")
    for table in datasets.known_tables().values():
        grid.add_row(table.name, table.kind, str(len(table.pairs)), table.title)
    for name, what in GROUPS.items():
        grid.add_row(name, "group", "", what)
    for name, figure in FIGURES.items():
        grid.add_row(name, "figure", "", figure.title)
    screen.print(grid)


def _split(text: str | None) -> list[str] | None:
    return [part.strip() for part in text.split(",") if part.strip()] if text else None


def _seeds(text: str | None) -> list[int] | None:
    """A count without a comma, the seeds themselves with one."""
    if text is None:
        return None
    try:
        values = [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise ValueError(f"--seeds {text!r} is not a count such as 5, nor a list such as 0,1,2.") from error
    if not values or min(values) < 0 or ("," not in text and values[0] < 1):
        raise ValueError(f"--seeds {text!r}: give a count of 1 or more, or a list of seeds of 0 or more.")
    return values if "," in text else list(range(values[0]))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
