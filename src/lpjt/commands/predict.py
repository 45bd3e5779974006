"""``lpjt predict``: label new rows by a model that was kept."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from lpjt.commands.output import RAW_TEXT_HELP, console, count_rows, one_line_errors
from lpjt.commands.remedies import as_options
from lpjt.files import FileDomain, FileError, check_output, read_domain, write_labels
from lpjt.files.domain import quote_names
from lpjt.files.writing import is_stdout
from lpjt.saving import load
from lpjt.saving.describe import inner_model
from lpjt.tables import TableAdapter


def predict(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="File of `lpjt adapt --model` or `model.save`.", show_default=False)
    ],
    new: Annotated[Path, typer.Argument(help="File with rows to label.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File to write: .csv, .tsv, .parquet or .json; - prints csv."),
    ],
    proba: Annotated[bool, typer.Option("--proba", help="Write a column with the probability of each class.")] = False,
    domain: Annotated[
        str, typer.Option(help="Domain that the rows belong to: target, source, or the name of one of several.")
    ] = "target",
    id_column: Annotated[
        str | None, typer.Option("--id", help="Id column of NEW; recognised if it has a common name.")
    ] = None,
    raw_text: Annotated[bool, typer.Option("--raw-text", help=RAW_TEXT_HELP)] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output file if it exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")] = False,
) -> None:
    """Label the rows of NEW by the model in MODEL."""
    screen = console(quiet=quiet, stderr=is_stdout(output))
    with one_line_errors(say=as_options):
        check_output(output, [model_file, new], force=force)
        model = load(model_file)
        rows, left_out = read_rows(new, model, domain, id_column)
        distributions = np.asarray(model.predict_proba(rows.X, domain=domain))
        labels = model.classes_[distributions.argmax(axis=1)]
        write_labels(
            output,
            labels,
            distributions.max(axis=1),
            ids=rows.ids,
            id_name=rows.id_name or "row",
            classes=model.classes_.tolist(),
            distributions=distributions if proba else None,
            overwrite=force,
            raw_text=raw_text,
        )
    if left_out:
        screen.print(f"{new.name}: columns that the model does not have were left out: {quote_names(left_out)}.")
    confidence = distributions.max(axis=1).mean()
    screen.print(f"Labelled {count_rows(len(labels))}; mean confidence {confidence:.2f}. Written: {output}")


def read_rows(path: Path, model: Any, domain: str, id_column: str | None) -> tuple[FileDomain, list[str]]:
    """Rows of a file in the columns of a domain of the model, by name if both have names; the columns left out."""
    if isinstance(model, TableAdapter):
        return _read_table(path, model, domain, id_column)
    inner = inner_model(model)
    names, width = inner._feature_names[inner._domain(domain)], inner._widths[inner._domain(domain)]
    known = None if names is None else tuple(map(str, names))
    like = None if known is None else FileDomain(path, "model", np.empty((0, width)), feature_names=known)
    found = read_domain(path, None, id_column, role="target", like=like)
    if known is None or found.feature_names is None:
        return found, []
    place = {name: i for i, name in enumerate(found.feature_names)}
    if missing := [name for name in known if name not in place]:
        raise FileError(f"{path}: it lacks {len(missing)} columns of the model: {quote_names(missing)}.")
    left_out = [name for name in found.feature_names if name not in set(known)]
    return replace(found, X=found.X[:, [place[name] for name in known]], feature_names=known), left_out


def _read_table(path: Path, model: TableAdapter, domain: str, id_column: str | None) -> tuple[FileDomain, list[str]]:
    """A table, of which the model itself takes the columns that it knows."""
    encoder = model._encoder(domain)
    known = tuple(code.name for code in encoder.columns)
    like = FileDomain(path, "model", np.empty((0, len(known))), feature_names=known)
    found = read_domain(path, None, id_column, role="target", like=like, as_table=True)
    used = set(encoder.places(found.X).values())
    return found, [str(name) for i, name in enumerate(found.feature_names or ()) if i not in used]
