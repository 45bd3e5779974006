"""``lpjt info``: what a model file holds."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from lpjt.commands.output import console, one_line_errors
from lpjt.commands.remedies import as_options
from lpjt.files.domain import quote_names
from lpjt.saving import describe, read_model


def info(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="File of `lpjt adapt --model` or `model.save`.", show_default=False)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")] = False,
) -> None:
    """Show what a model file holds."""
    with one_line_errors():
        model, head = read_model(model_file)
        about = {"file": str(model_file), **head, **describe(model)}
    if as_json:
        print(json.dumps(about, indent=1))
    else:
        show(console(), about)


def show(screen: Console, about: dict[str, Any]) -> None:
    """Print a description of a model."""
    grid = Table(title=f"{about['class']} in {about['file']}", show_header=False)
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for name, text in _lines(about):
        grid.add_row(name, text)
    screen.print(grid)
    if about["summary"]:
        screen.print(as_options(about["summary"]))


def _lines(about: dict[str, Any]) -> list[tuple[str, str]]:
    """What is shown, as pairs of a name and a text."""
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    lines = [("versions", f"format {about['format_version']}, {versions}")]
    lines += [("parameters", ", ".join(f"{name}={value!r}" for name, value in about["parameters"].items()))]
    lines += [("preprocessing", step) for step in about["preprocessing"]]
    lines += [("classes", f"{len(about['classes'])}: {quote_names(about['classes'], 20)}")]
    for domain in about["domains"]:
        columns = "" if domain["columns"] is None else f": {quote_names(domain['columns'], 20)}"
        lines += [(domain["role"], f"{domain['name']!r}, {domain['n_columns']} columns{columns}")]
    lines += [
        (
            "adapted",
            f"{'yes' if about['adapted'] else 'no'}, {about['n_iter']} iteration{'s' if about['n_iter'] != 1 else ''}",
        )
    ]
    if about["estimated_accuracy"] is not None:
        low, high = about["estimated_accuracy_interval"]
        lines += [("estimated accuracy", f"{about['estimated_accuracy']:.2f} ({low:.2f} to {high:.2f})")]
    return lines
