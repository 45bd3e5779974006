"""The command line: ``lpjt adapt | bench | data | demo | reproduce``, whose commands live in `lpjt.commands`."""

import sys
from importlib.metadata import version
from typing import Annotated


def main() -> None:
    """Run the command line, or say what is missing."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(
            f"lpjt: `{error.name}` is needed here. Install it with `pip install 'lpjt[cli]'`.",
            file=sys.stderr,
        )
        raise SystemExit(1) from error
    build_app()()


def build_app():
    """Build the typer application with every command."""
    import typer

    from lpjt import demo
    from lpjt.commands.adapt import adapt
    from lpjt.commands.bench import bench_app
    from lpjt.commands.data import data_app
    from lpjt.commands.reproduce import reproduce

    app = typer.Typer(
        name="lpjt",
        help="Labels for a shifted data set, from a labelled one of any width.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            print(f"lpjt {version('lpjt')}")
            raise typer.Exit

    @app.callback()
    def options(
        version: Annotated[
            bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None:
        pass

    app.command()(adapt)
    app.command(name="demo")(demo.main)
    app.add_typer(data_app, name="data")
    app.add_typer(bench_app, name="bench")
    app.command()(reproduce)
    return app
