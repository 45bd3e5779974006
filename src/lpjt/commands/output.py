"""Output and error messages of all commands."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """A console on standard output, or on standard error, which prints nothing if `quiet`."""
    return Console(quiet=quiet, stderr=stderr, highlight=False, markup=False, soft_wrap=False)


def progress_console(*, quiet: bool = False) -> Console:
    """A console on standard error for progress, which is silent if `quiet` or if nobody sees it."""
    return Console(stderr=True, quiet=quiet or not sys.stderr.isatty(), highlight=False, markup=False)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors that a user can correct into one line on standard error and exit status 2, warnings into one line."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    except MemoryError as error:
        reason = " ".join(str(error).split())
        print(
            f"lpjt: there is not enough memory ({reason or 'MemoryError'}). Give fewer rows or columns.",
            file=sys.stderr,
        )
        raise typer.Exit(2) from error
    except (ValueError, ImportError, OSError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        print(f"lpjt: {reason}", file=sys.stderr)
        raise typer.Exit(2) from error


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)
