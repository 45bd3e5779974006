"""Output and error messages of all commands."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from lpjt._interrupts import EXIT_CODE, ctrl_c_kept
from lpjt._safe_text import visible

RAW_TEXT_HELP = (
    "Write texts into csv as they are; otherwise those that start like a formula (=, +, -, @) have ' in front, and "
    "control characters are escaped."
)


class SafeConsole(Console):
    """A console that shows the control characters of a label or a name instead of obeying them."""

    def render_str(self, text: str, **details: Any) -> Text:
        """Render a string, also that of a cell of a table."""
        return super().render_str(visible(text), **details)


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """A console on standard output, or on standard error, which prints nothing if `quiet`."""
    return SafeConsole(quiet=quiet, stderr=stderr, highlight=False, markup=False, soft_wrap=False)


def progress_console(*, quiet: bool = False) -> Console:
    """A console on standard error for progress, which is silent if `quiet` or if nobody sees it."""
    return SafeConsole(stderr=True, quiet=quiet or not sys.stderr.isatty(), highlight=False, markup=False)


def count_rows(number: int, of: str = "") -> str:
    """A number of rows in words: "1 row", or, of "target", "1,200 target rows"."""
    return f"{number:,} {of}{' ' if of else ''}row{'s' if number != 1 else ''}"


def print_error(message: object) -> None:
    """Print a message as one line on standard error."""
    print(visible(" ".join(str(message).split())), file=sys.stderr)


@contextmanager
def one_line_errors(say: Callable[[str], str] = str) -> Iterator[None]:
    """Turn errors that a user can correct into one line on standard error and exit status 2, warnings into one line.

    `say` puts a warning into the words of the command.

    Ctrl-C is one line and exit status 130; what a KeyboardInterrupt says comes after it.
    """
    try:
        with warnings.catch_warnings(), ctrl_c_kept():
            warnings.showwarning = lambda message, *_, **__: print_error(f"warning: {say(str(message))}")
            yield
    except KeyboardInterrupt as error:
        print_error(f"lpjt: stopped. {error}")
        raise typer.Exit(EXIT_CODE) from None
    except BrokenPipeError:  # the reader of the output has had enough
        raise
    except MemoryError as error:
        print_error(f"lpjt: {out_of_memory(error)}")
        raise typer.Exit(2) from error
    except (ValueError, ImportError, OSError) as error:
        print_error(f"lpjt: {str(error) or type(error).__name__}")
        raise typer.Exit(2) from error


def out_of_memory(error: MemoryError) -> str:
    """What to do about a lack of memory; numpy says how much was asked for."""
    asked = f" ({error})" if str(error) else ""
    return f"not enough memory{asked}. Give fewer rows or columns, or use a machine with more memory."
