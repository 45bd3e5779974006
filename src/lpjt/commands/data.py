"""``lpjt data list | fetch | check | path``: the files of the data sets."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as Grid

from lpjt.commands.output import console, one_line_errors
from lpjt.datasets.fetch import TIMEOUT, FileStatus, check, fetch
from lpjt.datasets.registry import SETS, find_set
from lpjt.datasets.where import cache_directory, data_directory, find_file

data_app = typer.Typer(
    help="List, download and check the data sets of the tables.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_WORDS = {"ok": "ok", "differs": "differs", "unknown": "no checksum known", "missing": "missing"}


@data_app.command(name="list")
def list_sets() -> None:
    """List every data set: its size, kind and how much of it is here."""
    screen = console()
    with one_line_errors():
        grid = Grid(title="Data sets")
        for heading in ("name", "what", "rows", "columns", "kind", "here"):
            numeric = heading in {"rows", "columns"}
            grid.add_column(heading, justify="right" if numeric else "left", no_wrap=heading in {"name", "kind"})
        for data in SETS.values():
            rows = sum(domain.rows for domain in data.domains.values())
            widths = ", ".join(map(str, data.widths)) or "images"
            grid.add_row(data.name, data.title, f"{rows:,}", widths, data.kind, _here(data.name))
        screen.print(grid)
    screen.print("Get one with `lpjt data fetch NAME`; for where files go see `lpjt data path`.")


@data_app.command(name="fetch")
def fetch_sets(
    names: Annotated[list[str], typer.Argument(help="Names of data sets, see `lpjt data list`.", show_default=False)],
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds without a byte to give up a mirror.")] = TIMEOUT,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")] = False,
) -> None:
    """Download what is missing of the data sets NAMES into the cache."""
    screen = console(quiet=quiet)
    with one_line_errors():
        for name in names:
            find_set(name)  # every name is known before the first download begins
        for name in names:
            fetch(name, progress=not quiet, timeout=timeout, on_file=lambda how, path: _tell(screen, how, path))


@data_app.command(name="check")
def check_sets(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of data sets; all without.", show_default=False)
    ] = None,
) -> None:
    """Compare the files of the data sets NAMES with the known checksums; exit with 1 where one differs."""
    screen = console()
    with one_line_errors():
        for name in names or ():
            find_set(name)
        found = [status for name in names or SETS for status in check(name)]
        # Of all sets, those of which nothing is here are left out; of a named one, every missing file is shown.
        shown = found if names else [status for status in found if _here(status.data) != "no"]
        _show(screen, shown)
        for status in shown:
            if status.state == "differs":
                screen.print(f"{status.path}: found {status.found}, wanted {status.wanted}.", soft_wrap=True)
    if any(status.state == "differs" for status in shown) or (names and any(s.state == "missing" for s in shown)):
        raise typer.Exit(1)


@data_app.command(name="path")
def show_paths(
    name: Annotated[str | None, typer.Argument(help="Name of a data set.", show_default=False)] = None,
) -> None:
    """Print the directories that are searched or, of the data set NAME, where each file is or goes."""
    with one_line_errors():
        if name is None:
            print(f"LPJT_DATA: {data_directory() or 'not set'}")
            print(f"cache: {cache_directory() or 'none: pooch is not installed, and LPJT_CACHE is not set'}")
            return
        data = find_set(name)
        goes = data_directory() or cache_directory() or Path()
        for file in data.files:
            path = find_file(data, file)
            print(path if path is not None else f"{goes / data.folder / file.name} (missing)")
        for domain in data.domains.values():
            if domain.group is not None:
                print(goes / data.folder / domain.group)


def _here(name: str) -> str:
    """How much of a set is here: no, some or yes."""
    data = find_set(name)
    if not data.files:
        there = [status.path is not None for status in check(name)]
    else:
        there = [find_file(data, file) is not None for file in data.files]
    return "yes" if all(there) else "some" if any(there) else "no"


def _tell(screen: Console, how: str, path: Path) -> None:
    screen.print(f"{'Already there' if how == 'found' else 'Fetched'}: {path}", soft_wrap=True)


def _show(screen: Console, statuses: list[FileStatus]) -> None:
    grid = Grid(title="Files")
    for heading in ("set", "file", "bytes", "found in", "state"):
        grid.add_column(heading, justify="right" if heading == "bytes" else "left", overflow="fold")
    for status in statuses:
        size = "" if status.size is None else f"{status.size:,}"
        grid.add_row(status.data, status.file, size, _root_of(status.path), _WORDS[status.state])
    screen.print(grid)


def _root_of(path: Path | None) -> str:
    if path is None:
        return ""
    named = data_directory()
    return "LPJT_DATA" if named is not None and path.is_relative_to(named) else "cache"
