"""``lpjt adapt``: label the rows of one file from labelled files."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from lpjt._warnings import readable_warnings
from lpjt.classifiers import Propagation, make_classifier
from lpjt.commands.output import console, one_line_errors, progress_console
from lpjt.commands.report import check_report, write_report
from lpjt.estimator import EVIDENCE, LPJT
from lpjt.files import SUFFIXES, FileDomain, FileError, check_output, match_columns, read_domain, write_labels
from lpjt.search import LPJTSearch

_FORMATS = "Formats: " + ", ".join(suffix.lstrip(".") for suffix in SUFFIXES) + "."
_MAX_CLASSES_SHOWN = 20
_MAX_CANDIDATES_SHOWN = 6
_MAX_SETTINGS_SHOWN = 5

#: What `--search` compares; a parameter that has an option of its own is left out if that is given.
SEARCH_GRID: dict[str, list[Any]] = {
    "n_components": [10, "auto", 40],
    "variance_weight": [0.1, 1.0],
    "classifier__n_neighbors": [5, 15],
}
_SEARCH_HELP = (
    "Choose the parameters without target labels: 10, 20 (or twice the classes) or 40 components, a variance weight of "
    "0.1 or 1, propagation by 5 or 15 neighbours. What another option sets is not searched."
)

_PROGRESS = {"n_iter": "iteration", "n_changed": "labels changed:"}


def adapt(
    source: Annotated[Path, typer.Argument(help=f"Labelled file. {_FORMATS}", show_default=False)],
    target: Annotated[Path, typer.Argument(help="File to label; its columns may differ.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .csv, .tsv or .parquet. Without ids, rows are numbered from 0.",
        ),
    ],
    more: Annotated[
        list[Path] | None, typer.Option("--source", help="A further labelled file; may be repeated.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Label column of the sources; recognised if it has a common name.")
    ] = None,
    target_label: Annotated[
        str | None, typer.Option(help="Column of TARGET with known labels; blank cells are predicted.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="Id column of TARGET; recognised if it has a common name.")
    ] = None,
    n_components: Annotated[int | None, typer.Option(help="Dimensions of the shared space.")] = None,
    kernel: Annotated[
        str | None, typer.Option(help="auto, linear, rbf, poly, cosine, laplacian, chi2 or sigmoid.")
    ] = None,
    classifier: Annotated[str | None, typer.Option(help="propagation, harmonic, nn or svm.")] = None,
    scaling: Annotated[str | None, typer.Option(help="auto, standard, source, joint, unit, paper or none.")] = None,
    proportions: Annotated[
        str | None, typer.Option("--target-proportions", help="auto, source or free: class masses of the target.")
    ] = None,
    candidates: Annotated[
        bool, typer.Option("--candidates/--no-candidates", help="Try several views, masses and kernels.")
    ] = True,
    report: Annotated[
        Path | None, typer.Option(help="Page to write (.html): what was transferred, how far to trust it, and why.")
    ] = None,
    search: Annotated[bool, typer.Option("--search", help=_SEARCH_HELP)] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of the random numbers.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")] = False,
) -> None:
    """Label the rows of TARGET from the labelled rows of SOURCE."""
    options = {"n_components": n_components, "kernel": kernel, "classifier": classifier, "scaling": scaling}
    options |= {"target_proportions": proportions, "candidates": "auto" if candidates else None}
    parameters = {name: value for name, value in options.items() if value is not None or name == "candidates"}
    screen = console(quiet=quiet)
    paths = [source, *(more or [])]
    use_target_labels = target_label is not None
    with one_line_errors():
        check_output(output, [*paths, target])
        if report is not None:
            check_report(report)
        domains, notes = read_domains(paths, target, label, target_label, id_column)
        show_files(screen, domains, notes, use_target_labels=use_target_labels)
        model = fit(
            screen,
            domains,
            {**parameters, "random_state": seed},
            use_target_labels=use_target_labels,
            search=search,
        )
        confidence = model.label_distributions_.max(axis=1)
        ids, id_name = domains[-1].ids, domains[-1].id_name or "row"
        write_labels(output, model.transduction_, confidence, ids=ids, id_name=id_name)
        if report is not None:
            write_report(report, model, domains, use_target_labels=use_target_labels, quiet=quiet)
    show_summary(screen, model, confidence)
    if not use_target_labels:
        show_score(screen, model, domains[-1])
    screen.print(f"Written: {output}" + (f" and {report}" if report is not None else ""))


def read_domains(
    paths: list[Path], target: Path, label: str | None, target_label: str | None, id_column: str | None
) -> tuple[list[FileDomain], list[str]]:
    """Read the sources and then the target, and match their columns by name."""
    domains: list[FileDomain] = []
    for path in paths:
        first = domains[0] if domains else None
        domains.append(require_labels(read_domain(path, label, id_column, role="source", like=first)))
    domains.append(read_domain(target, target_label, id_column, role="target", like=domains[0]))
    return match_columns(domains)


def require_labels(domain: FileDomain) -> FileDomain:
    """Refuse a source with unlabelled rows."""
    if domain.y is None:
        names = f" Its columns: {', '.join(domain.feature_names[:8])}, ..." if domain.feature_names else ""
        raise FileError(f"{domain.path}: no labels found. Name the label column with --label.{names}")
    unlabelled = np.flatnonzero(~domain.labelled)
    if len(unlabelled):
        raise FileError(
            f"{domain.path}: {len(unlabelled)} rows have no label in '{domain.label_name}', the first is row "
            f"{unlabelled[0]} (counted from 0). Label or remove them."
        )
    return domain


def fit(
    screen: Console, domains: list[FileDomain], parameters: dict[str, Any], *, use_target_labels: bool, search: bool
) -> LPJT:
    """Fit on the sources, given as a dict if there are several, and the target; with the best setting if `search`."""
    *sources, target = domains
    names = source_names(sources)
    X: Any = {name: domain.X for name, domain in zip(names, sources, strict=True)}
    y: Any = {name: domain.y for name, domain in zip(names, sources, strict=True)}
    if len(sources) == 1:
        X, y = sources[0].X, sources[0].y
    with readable_warnings() as lines, progress_console(quiet=screen.quiet).status("Adapting ...") as status:

        def progress(record: Any) -> None:
            status.update(describe(record))

        model: LPJT | LPJTSearch = LPJT(**parameters, callback=progress)
        if search:
            status.update("Searching ...")
            model = make_search(model, given=parameters)
        model.fit(X, y, target.X, target.y if use_target_labels else None)
    for line in lines:
        print(f"warning: {line}", file=sys.stderr)
    if isinstance(model, LPJT):
        return model
    show_settings(screen, model)
    return model.best_estimator_


def make_search(model: LPJT, *, given: Mapping[str, Any]) -> LPJTSearch:
    """A search for what the command line did not give."""
    rule = make_classifier(model.classifier)
    grid = {name: values for name, values in SEARCH_GRID.items() if name not in given}
    if isinstance(rule, Propagation):
        model.set_params(classifier=rule)
    else:
        del grid["classifier__n_neighbors"]
    return LPJTSearch(model, grid, random_state=model.random_state)


def show_settings(screen: Console, search: LPJTSearch) -> None:
    """Print the best settings of a search, with the evidence for them."""
    table = search.cv_results_
    names = [name for name in table if name.startswith("param_")]
    shown = ("score", "separation", "reverse", "agreement")
    grid = Table(title=f"Best of {len(table['params'])} settings, without target labels")
    for heading in (*names, *shown):
        grid.add_column(heading.removeprefix("param_"), justify="right")
    for i in np.argsort(table["rank"], kind="stable")[:_MAX_SETTINGS_SHOWN]:
        grid.add_row(*(str(table[name][i]) for name in names), *(f"{table[name][i]:.3f}" for name in shown))
    screen.print(grid)


def source_names(sources: list[FileDomain]) -> list[str]:
    """The names of the files without suffix, numbered if two are the same."""
    stems = [domain.path.name.split(".")[0] for domain in sources]
    return [stem if stems.count(stem) == 1 else f"{stem}-{i}" for i, stem in enumerate(stems, start=1)]


def describe(record: Any) -> str:
    """One line of progress from a record of the history, which is a mapping or an object."""
    values = record if isinstance(record, Mapping) else {key: getattr(record, key, None) for key in _PROGRESS}
    parts = [f"{words} {values[key]}" for key, words in _PROGRESS.items() if values.get(key) is not None]
    return "Adapting: " + (", ".join(parts) or "...")


def show_files(screen: Console, domains: list[FileDomain], notes: list[str], *, use_target_labels: bool) -> None:
    """Print what was found in each file."""
    grid = Table(title="Files")
    for heading in ("", "file", "rows", "columns", "labels", "classes", "ids"):
        grid.add_column(heading, justify="right" if heading in {"rows", "columns"} else "left", overflow="fold")
    for role, domain in zip(["source"] * (len(domains) - 1) + ["target"], domains, strict=True):
        labels = domain.label_name or "none"
        if role == "target" and domain.y is not None and not use_target_labels:
            labels += " (not used)"
        rows, columns = (f"{size:,}" for size in domain.X.shape)
        grid.add_row(role, domain.path.name, rows, columns, labels, list_classes(domain), domain.id_name or "none")
    screen.print(grid)
    for domain in domains:
        if domain.remarks:
            screen.print(f"{domain.path.name}: {'; '.join(domain.remarks)}.")
    for note in notes:
        screen.print(note)


def list_classes(domain: FileDomain) -> str:
    """The number of classes, and the first of them."""
    if domain.y is None:
        return ""
    distinct = np.unique(domain.y[domain.labelled])
    return f"{len(distinct)}: {', '.join(map(str, distinct[:4]))}{', ...' if len(distinct) > 4 else ''}"


def show_summary(screen: Console, model: LPJT, confidence: np.ndarray) -> None:
    """Print the number of rows and the mean confidence per class."""
    grid = Table(title="Predicted")
    for heading in ("class", "rows", "mean confidence"):
        grid.add_column(heading, justify="left" if heading == "class" else "right")
    distinct, codes, counts = np.unique(model.transduction_, return_inverse=True, return_counts=True)
    for code in np.argsort(-counts, kind="stable")[:_MAX_CLASSES_SHOWN]:
        grid.add_row(str(distinct[code]), f"{counts[code]:,}", f"{confidence[codes == code].mean():.2f}")
    screen.print(grid)
    if len(distinct) > _MAX_CLASSES_SHOWN:
        screen.print(f"... and {len(distinct) - _MAX_CLASSES_SHOWN} smaller classes.")
    show_candidates(screen, model)
    how = f"Adapted in {model.n_iter_} iteration{'s' if model.n_iter_ != 1 else ''}."
    if not model.adapted_:
        how = "Not adapted, because the evidence was against it: these are the labels without adaptation."
    screen.print(f"{how} Mean confidence {confidence.mean():.2f}.")
    screen.print(model.summary_)


def show_candidates(screen: Console, model: LPJT) -> None:
    """Print the best of the settings that were tried, and the evidence for each."""
    if not model.candidates_:
        return
    grid = Table(title="Candidates, the best first")
    for heading in ("", "candidate", "view", "masses", "kernel", *EVIDENCE):
        grid.add_column(heading, justify="right" if heading in EVIDENCE else "left")
    for record in model.candidates_[:_MAX_CANDIDATES_SHOWN]:
        setting = [str(record[name] or "") for name in ("candidate", "view", "masses", "kernel")]
        grid.add_row("*" if record["chosen"] else "", *setting, *(f"{record[name]:.2f}" for name in EVIDENCE))
    screen.print(grid)


def show_score(screen: Console, model: LPJT, target: FileDomain) -> None:
    """Print the accuracy on labels found in the target, which the fit did not use."""
    if target.y is None:
        return
    labelled = target.labelled
    known = labelled & np.isin(target.y.astype(str), model.classes_.astype(str))
    if not known.any():
        screen.print(f"The labels in '{target.label_name}' are not classes of the sources, so they were ignored.")
        return
    accuracy = np.mean(model.transduction_[known] == target.y[known])
    screen.print(
        f"Accuracy {100 * accuracy:.2f} % on {known.sum():,} rows: labels found in the target "
        f"('{target.label_name}') were used for this score only. To learn from them, use --target-label."
    )
    if known.sum() < labelled.sum():
        screen.print(f"It excludes {labelled.sum() - known.sum():,} rows whose class no source has.")
