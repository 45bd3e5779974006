"""``lpjt adapt``: labels for a file from labelled files."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table as Grid

from lpjt._warnings import readable_warnings
from lpjt.commands.output import console, one_line_errors
from lpjt.estimator import LPJT
from lpjt.files import SUFFIXES, FileError, Table, check_output, match_columns, read_table, write_labels

_KINDS = "Kinds: " + ", ".join(suffix.lstrip(".") for suffix in SUFFIXES) + "."
_SHOWN_CLASSES = 20
_PROGRESS = {"n_iter": "pass", "n_changed": "labels changed:"}


def adapt(
    source: Annotated[Path, typer.Argument(help=f"Labelled table. {_KINDS}", show_default=False)],
    target: Annotated[Path, typer.Argument(help="Table to label, of any width.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .csv, .tsv or .parquet. Rows are numbered from 0 without ids.",
        ),
    ],
    more: Annotated[list[Path] | None, typer.Option("--source", help="A further labelled table.")] = None,
    label: Annotated[
        str | None, typer.Option(help="Label column of the sources; found if it has a common name.")
    ] = None,
    target_label: Annotated[
        str | None, typer.Option(help="Column of TARGET to learn from too; blank where a label is wanted.")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="Id column of TARGET; found likewise.")] = None,
    n_components: Annotated[int | None, typer.Option(help="Dimensions of the shared space.")] = None,
    kernel: Annotated[str | None, typer.Option(help="linear, rbf, poly, cosine, laplacian or chi2.")] = None,
    classifier: Annotated[str | None, typer.Option(help="propagation, harmonic, nn or svm.")] = None,
    scaling: Annotated[str | None, typer.Option(help="auto, standard, unit, paper or none.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of what is drawn at random.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")] = False,
) -> None:
    """Label the rows of TARGET from the labelled rows of SOURCE."""
    given = {"n_components": n_components, "kernel": kernel, "classifier": classifier, "scaling": scaling}
    parameters = {name: value for name, value in given.items() if value is not None}
    screen = console(quiet=quiet)
    paths = [source, *(more or [])]
    use_target_labels = target_label is not None
    with one_line_errors():
        check_output(output, [*paths, target])
        tables, notes = read_domains(paths, target, label, target_label, id_column)
        show_tables(screen, tables, notes, use_target_labels=use_target_labels)
        model = fit(screen, tables, {**parameters, "random_state": seed}, use_target_labels=use_target_labels)
        confidence = model.label_distributions_.max(axis=1)
        ids, id_name = tables[-1].ids, tables[-1].id_name or "row"
        write_labels(output, model.transduction_, confidence, ids=ids, id_name=id_name)
    show_summary(screen, model, confidence)
    if not use_target_labels:
        show_score(screen, model, tables[-1])
    screen.print(f"Written: {output}")


def read_domains(
    paths: list[Path], target: Path, label: str | None, target_label: str | None, id_column: str | None
) -> tuple[list[Table], list[str]]:
    """Read the sources and, last, the target; their columns matched by name where they have names."""
    tables: list[Table] = []
    for path in paths:
        first = tables[0] if tables else None
        tables.append(require_labels(read_table(path, label, id_column, role="source", like=first)))
    tables.append(read_table(target, target_label, id_column, role="target", like=tables[0]))
    return match_columns(tables)


def require_labels(table: Table) -> Table:
    """Refuse a source of which not every row has a label."""
    if table.y is None:
        names = f" Its columns: {', '.join(table.feature_names[:8])}, ..." if table.feature_names else ""
        raise FileError(f"{table.path}: no labels found. Name the label column with --label.{names}")
    unlabelled = np.flatnonzero(~table.labelled)
    if len(unlabelled):
        raise FileError(
            f"{table.path}: {len(unlabelled)} rows have no label in '{table.label_name}', the first is row "
            f"{unlabelled[0]} (counted from 0). Label or remove them."
        )
    return table


def fit(screen: Console, tables: list[Table], parameters: dict[str, Any], *, use_target_labels: bool) -> LPJT:
    """Fit on the sources and the target; a single source goes in as it is, several by name."""
    *sources, target = tables
    names = source_names(sources)
    X: Any = {name: table.X for name, table in zip(names, sources, strict=True)}
    y: Any = {name: table.y for name, table in zip(names, sources, strict=True)}
    if len(sources) == 1:
        X, y = sources[0].X, sources[0].y
    with readable_warnings() as lines, screen.status("Adapting ...") as status:

        def progress(record: Any) -> None:
            status.update(describe(record))

        model = LPJT(**parameters, callback=progress)
        model.fit(X, y, target.X, target.y if use_target_labels else None)
    for line in lines:
        print(f"warning: {line}", file=sys.stderr)
    return model


def source_names(sources: list[Table]) -> list[str]:
    """The files' names without suffix, numbered where two are the same."""
    stems = [table.path.name.split(".")[0] for table in sources]
    return [stem if stems.count(stem) == 1 else f"{stem}-{i}" for i, stem in enumerate(stems, start=1)]


def describe(record: Any) -> str:
    """One line of progress from a record of the history, be it a mapping or an object."""
    values = record if isinstance(record, Mapping) else {key: getattr(record, key, None) for key in _PROGRESS}
    parts = [f"{words} {values[key]}" for key, words in _PROGRESS.items() if values.get(key) is not None]
    return "Adapting: " + (", ".join(parts) or "...")


def show_tables(screen: Console, tables: list[Table], notes: list[str], *, use_target_labels: bool) -> None:
    """Print what was found in each file."""
    grid = Grid(title="Found")
    for heading in ("", "file", "rows", "columns", "labels", "classes", "ids"):
        grid.add_column(heading, justify="right" if heading in {"rows", "columns"} else "left", overflow="fold")
    for role, table in zip(["source"] * (len(tables) - 1) + ["target"], tables, strict=True):
        labels = table.label_name or "none"
        if role == "target" and table.y is not None and not use_target_labels:
            labels += " (not used)"
        rows, columns = (f"{size:,}" for size in table.X.shape)
        grid.add_row(role, table.path.name, rows, columns, labels, list_classes(table), table.id_name or "none")
    screen.print(grid)
    for table in tables:
        if table.remarks:
            screen.print(f"{table.path.name}: {'; '.join(table.remarks)}.")
    for note in notes:
        screen.print(note)


def list_classes(table: Table) -> str:
    """How many classes a table has, and the first of them."""
    if table.y is None:
        return ""
    distinct = np.unique(table.y[table.labelled])
    return f"{len(distinct)}: {', '.join(map(str, distinct[:4]))}{', ...' if len(distinct) > 4 else ''}"


def show_summary(screen: Console, model: LPJT, confidence: np.ndarray) -> None:
    """Print how many rows went to each class, and how far to trust it."""
    grid = Grid(title="Predicted")
    for heading in ("class", "rows", "mean confidence"):
        grid.add_column(heading, justify="left" if heading == "class" else "right")
    distinct, codes, counts = np.unique(model.transduction_, return_inverse=True, return_counts=True)
    for code in np.argsort(-counts, kind="stable")[:_SHOWN_CLASSES]:
        grid.add_row(str(distinct[code]), f"{counts[code]:,}", f"{confidence[codes == code].mean():.2f}")
    screen.print(grid)
    if len(distinct) > _SHOWN_CLASSES:
        screen.print(f"... and {len(distinct) - _SHOWN_CLASSES} smaller classes.")
    how = f"Adapted in {model.n_iter_} pass{'es' if model.n_iter_ != 1 else ''}."
    if not model.adapted_:
        how = "Not adapted: the evidence was against it, so these are the labels without adaptation."
    screen.print(f"{how} Mean confidence {confidence.mean():.2f}.")


def show_score(screen: Console, model: LPJT, target: Table) -> None:
    """Print the agreement with labels that the target happens to have; nothing was learnt from them."""
    if target.y is None:
        return
    labelled = target.labelled
    known = labelled & np.isin(target.y.astype(str), model.classes_.astype(str))
    if not known.any():
        screen.print(f"The labels in '{target.label_name}' are none of the classes, so they were left alone.")
        return
    accuracy = np.mean(model.transduction_[known] == target.y[known])
    screen.print(
        f"Accuracy {100 * accuracy:.2f} % on {known.sum():,} rows: labels found in the target "
        f"('{target.label_name}') were used for this score only. To learn from them, give --target-label."
    )
    if known.sum() < labelled.sum():
        screen.print(f"{labelled.sum() - known.sum():,} rows of classes that no source has were left out of it.")
