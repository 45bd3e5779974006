"""The command line: ``lpjt adapt | bench | data | demo | reproduce``, whose commands live in `lpjt.commands`."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in `lpjt`: nothing is imported before Ctrl-C is answered
if TYPE_CHECKING:
    import typer


def main() -> None:
    """Run the command line, or say what is missing. Ctrl-C ends it with one line at every moment."""
    try:
        import os
        import signal

        from lpjt._interrupts import stop_at_once

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # where it is ignored, it stays so
            signal.signal(signal.SIGINT, stop_at_once)
    except KeyboardInterrupt:
        print("lpjt: stopped.", file=sys.stderr)
        raise SystemExit(130) from None
    only_version = sys.argv[1:] == ["--version"]  # which needs neither: loading typer takes most of such a run
    try:
        if not only_version:
            import rich  # noqa: F401
            import typer  # noqa: F401
    except ImportError as error:
        print(
            f"lpjt: `{error.name}` is needed here. Install it with `pip install 'lpjt[cli]'`.",
            file=sys.stderr,
        )
        raise SystemExit(1) from error
    try:
        try:
            if only_version:
                _print_version()
                raise SystemExit
            build_app()()
        finally:
            sys.stdout.flush()  # a full disk is told here, not when Python ends
    except (MemoryError, OSError) as error:  # of what a command does after its work: print
        from lpjt.commands.output import out_of_memory

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left to be printed would fail again
        if isinstance(error, BrokenPipeError):  # the reader has had enough
            raise SystemExit(1) from error
        reason = out_of_memory(error) if isinstance(error, MemoryError) else f"standard output: {error}"
        print(f"lpjt: {reason}", file=sys.stderr)
        raise SystemExit(2) from error


def _print_version() -> None:
    from lpjt import __version__

    print(f"lpjt {__version__}")


def build_app() -> typer.Typer:
    """Build the typer application with every command; a command's module is imported when it is called."""
    import typer

    from lpjt.commands.lazy import LazyGroup, add_commands

    app = typer.Typer(
        name="lpjt",
        cls=LazyGroup,
        help="Labels for a shifted data set, from a labelled one of any width.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            _print_version()
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", help="Print the version.", callback=show_version, is_eager=True
        ),
    ) -> None:
        pass

    add_commands(app)
    return app
