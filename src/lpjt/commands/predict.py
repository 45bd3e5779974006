"""``lpjt predict``: label new rows by a model that was kept."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from lpjt.commands.output import console, one_line_errors
from lpjt.files import FileDomain, FileError, check_output, read_domain, write_labels
from lpjt.files.domain import quote_names
from lpjt.saving import load
from lpjt.saving.describe import inner_model


def predict(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="File of `lpjt adapt --model` or `model.save`.", show_default=False)
    ],
    new: Annotated[Path, typer.Argument(help="File with rows to label.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .csv, .tsv or .parquet.")],
    proba: Annotated[bool, typer.Option("--proba", help="Write a column with the probability of each class.")] = False,
    domain: Annotated[
        str, typer.Option(help="Domain that the rows belong to: target, source, or the name of one of several.")
    ] = "target",
    id_column: Annotated[
        str | None, typer.Option("--id", help="Id column of NEW; recognised if it has a common name.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")] = False,
) -> None:
    """Label the rows of NEW by the model in MODEL."""
    screen = console(quiet=quiet)
    with one_line_errors():
        check_output(output, [model_file, new])
        if output.exists() and not force:
            raise FileError(f"{output} exists and was kept. Choose another name, or replace it with --force.")
        model = load(model_file)
        rows, left_out = read_rows(new, model, domain, id_column)
        distributions = np.asarray(model.predict_proba(rows.X, domain=domain))
        labels, names = model.classes_[distributions.argmax(axis=1)], [str(label) for label in model.classes_]
        columns = {f"probability_{name}": distributions[:, i] for i, name in enumerate(names)} if proba else None
        ids, id_name = rows.ids, rows.id_name or "row"
        write_labels(output, labels, distributions.max(axis=1), ids=ids, id_name=id_name, probabilities=columns)
    if left_out:
        screen.print(f"{new.name}: columns that the model does not have were left out: {quote_names(left_out)}.")
    confidence = distributions.max(axis=1).mean()
    screen.print(f"Labelled {len(labels):,} rows; mean confidence {confidence:.2f}. Written: {output}")


def read_rows(path: Path, model: Any, domain: str, id_column: str | None) -> tuple[FileDomain, list[str]]:
    """Rows of a file in the columns of a domain of the model, by name if both have names; the columns left out."""
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
