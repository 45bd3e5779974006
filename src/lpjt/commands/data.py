"""``lpjt data list | fetch | check | path``: the files of the data sets."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lpjt.commands.output import console, one_line_errors
from lpjt.datasets.fetch import TIMEOUT, FileStatus, check, fetch
from lpjt.datasets.registry import SETS, find_set
from lpjt.datasets.where import cache_directory, data_directory, find_file

data_app = typer.Typer(
    help="List, download and check the data sets.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_WORDS = {"ok": "ok", "differs": "differs", "unknown": "checksum unknown", "missing": "missing"}


@data_app.command(name="list")
def list_sets() -> None:
    """List every data set with its size, its kind and whether its files are present."""
    screen = console()
    with one_line_errors():
        grid = Table(title="Data sets")
        for heading in ("name", "title", "rows", "columns", "kind", "present"):
            numeric = heading in {"rows", "columns"}
            grid.add_column(heading, justify="right" if numeric else "left", no_wrap=heading in {"name", "kind"})
        for data in SETS.values():
            rows = sum(domain.rows for domain in data.domains.values())
            widths = ", ".join(map(str, data.widths)) or "images"
            grid.add_row(data.name, data.title, f"{rows:,}", widths, data.kind, _present(data.name))
        screen.print(grid)
    screen.print("`lpjt data fetch NAME` downloads a set; `lpjt data path` shows where files go.")


@data_app.command(name="fetch")
def fetch_sets(
    names: Annotated[
        list[str], typer.Argument(help="Names of data sets; `lpjt data list` shows them.", show_default=False)
    ],
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds without data before a mirror is given up.")
    ] = TIMEOUT,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")] = False,
) -> None:
    """Download the missing files of the data sets NAMES into the cache."""
    screen = console(quiet=quiet)
    with one_line_errors():
        for name in names:
            find_set(name)  # refuse an unknown name before the first download
        for name in names:
            fetch(name, progress=not quiet, timeout=timeout, on_file=lambda how, path: _tell(screen, how, path))


@data_app.command(name="check")
def check_sets(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of data sets; all by default.", show_default=False)
    ] = None,
) -> None:
    """Compare the files of the data sets NAMES with their checksums; exit with 1 if one differs or is missing."""
    screen = console()
    with one_line_errors():
        for name in names or ():
            find_set(name)
        found = [status for name in names or SETS for status in check(name)]
        # Without names, sets without any file are left out; of a named set, every missing file is shown.
        shown = found if names else [status for status in found if _present(status.data) != "no"]
        _show(screen, shown)
        for status in shown:
            if status.state == "differs":
                screen.print(f"{status.path}: found {status.found}, expected {status.expected}.", soft_wrap=True)
    if any(status.state == "differs" for status in shown) or (names and any(s.state == "missing" for s in shown)):
        raise typer.Exit(1)


@data_app.command(name="path")
def show_paths(
    name: Annotated[str | None, typer.Argument(help="Name of a data set.", show_default=False)] = None,
) -> None:
    """Print the directories that are searched or, for the data set NAME, the path of each file."""
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


def _present(name: str) -> str:
    """Whether the files of a set are present: no, some or yes."""
    data = find_set(name)
    if not data.files:
        there = [status.path is not None for status in check(name)]
    else:
        there = [find_file(data, file) is not None for file in data.files]
    return "yes" if all(there) else "some" if any(there) else "no"


def _tell(screen: Console, how: str, path: Path) -> None:
    screen.print(f"{'Already there' if how == 'found' else 'Fetched'}: {path}", soft_wrap=True)


def _show(screen: Console, statuses: list[FileStatus]) -> None:
    grid = Table(title="Files")
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
