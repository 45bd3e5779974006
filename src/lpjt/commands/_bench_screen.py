"""What the commands of ``lpjt bench`` share: where tables go, a progress bar, and the tasks whose data are here."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lpjt._whole_files import check_writable
from lpjt.commands import output as out
from lpjt.study.robust import tasks as suite
from lpjt.study.runner import Event
from lpjt.study.store import Store

_WIDTH = 150  # characters of a table that no terminal shows


Force = Annotated[bool, typer.Option("--force", help="Overwrite the page if it exists.")]


def bench_console() -> Console:
    """Where tables go; into a file or a pipe they are as wide as they need to be."""
    screen = out.console()
    if not screen.is_terminal:
        screen.width = _WIDTH
    return screen


@contextmanager
def watched(
    screen: Console, total: int, store: Store, name_of: Callable[[Any], str]
) -> Iterator[Callable[[Event], None]]:
    """A progress bar for the events of a number of jobs; failures go to standard error, Ctrl-C ends with a line."""
    columns = (BarColumn(bar_width=20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    try:
        with Progress(*columns, console=screen, transient=True) as progress:
            bar = progress.add_task("Measuring", total=total)

            def on_event(event: Event) -> None:
                what = name_of(event.job)
                if event.row is None:
                    progress.update(bar, description=what)
                    return
                progress.advance(bar)
                if event.row["status"] not in ("ok", "not run"):
                    out.print_error(f"{event.row['status']}: {what}: {event.row['message']}")

            yield on_event
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"What was measured so far is in {store.path}.") from None


def check_page(page: Path, *, force: bool) -> None:
    """Refuse, before anything is computed, a page that exists or cannot be written; its directory is made."""
    if page.parent.is_dir():
        check_writable(page, overwrite=force, remedy="--force")


def write_pages(screen: Console, page: Path, write: Callable[[], Sequence[Path]], *, force: bool) -> None:
    """Write a page with its figures after a run; one that exists is kept, with a note, unless `force`."""
    if page.exists() and not force:
        screen.print(f"{page} exists and was kept; --page --force writes it again.", soft_wrap=True)
        return
    for path in write():
        screen.print(f"Written: {path}", soft_wrap=True)


def tasks_at_hand(tasks: Sequence[suite.Task]) -> list[suite.Task]:
    """The tasks whose data are here; the others are named on standard error."""
    found, missing = suite.split_at_hand(tasks)
    if not found:
        raise ValueError(f"No data for any of the {len(tasks)} tasks. {next(iter(missing.values()))}")
    if missing:
        left_out = len(tasks) - len(found)
        out.print_error(f"warning: {left_out} tasks left out, as these data are missing: {', '.join(missing)}.")
    return found
