"""Output and error messages of all commands."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console


def console(*, quiet: bool = False) -> Console:
    """A console on standard output, which prints nothing if `quiet`."""
    return Console(quiet=quiet, highlight=False, markup=False, soft_wrap=False)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors that a user can correct into one line on standard error and exit status 2."""
    try:
        yield
    except (ValueError, ImportError, OSError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        print(f"lpjt: {reason}", file=sys.stderr)
        raise typer.Exit(2) from error
