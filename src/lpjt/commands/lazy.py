"""Commands that are imported when they are called: ``lpjt --help`` needs their names and one line each, no numpy."""

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command


class LazyCommand(NamedTuple):
    """Where a command is, and the first line of its help."""

    place: str  # "module:name" of a function or of a typer.Typer
    line: str


COMMANDS = {
    "adapt": LazyCommand("lpjt.commands.adapt:adapt", "Label the rows of TARGET from the labelled rows of SOURCE."),
    "predict": LazyCommand("lpjt.commands.predict:predict", "Label the rows of NEW by the model in MODEL."),
    "info": LazyCommand("lpjt.commands.info:info", "Show what a model file holds."),
    "demo": LazyCommand(
        "lpjt.demo:main", "Transfer labels between two sets of digits, in both directions, and print the accuracy."
    ),
    "data": LazyCommand("lpjt.commands.data:data_app", "List, download and check the data sets."),
    "bench": LazyCommand(
        "lpjt.commands.bench:bench_app",
        "Measure time and memory, as ratios to one pass of X'X over the same data, and whether adaptation is safe.",
    ),
    "reproduce": LazyCommand(
        "lpjt.commands.reproduce:reproduce",
        "Run the paper's tables: every method on the same files, beside the figures printed in the paper.",
    ),
}


class LazyGroup(TyperGroup):
    """A group that puts the real command in the place of its stand-in as soon as one is to be called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Name, command and remaining arguments of a call."""
        name, stand_in, rest = super().resolve_command(ctx, args)
        return name, stand_in if name is None else load_command(name), rest


def add_commands(app: typer.Typer) -> None:
    """Give an application with `LazyGroup` a stand-in for each command."""
    for name, (_, line) in COMMANDS.items():
        app.command(name=name, help=line)(_stand_in)


def load_command(name: str) -> Any:
    """The real command, as typer builds it."""
    module, _, attribute = COMMANDS[name].place.partition(":")
    found = getattr(import_module(module), attribute)
    if not isinstance(found, typer.Typer):
        app = typer.Typer(add_completion=False)
        app.command(name=name)(found)
        found = app
    return get_command(found)


def _stand_in() -> None:
    """Be listed; never called."""
