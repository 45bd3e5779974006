"""What ``lpjt adapt`` prints: files and columns before the fit, labels, candidates and trust after it."""

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from lpjt.commands._adapt_files import Inputs
from lpjt.commands._adapt_fit import Run
from lpjt.commands._adapt_request import Request
from lpjt.commands.output import count_rows
from lpjt.commands.remedies import as_options
from lpjt.estimator import EVIDENCE, LPJT
from lpjt.files import FileDomain
from lpjt.search import LPJTSearch

_MAX_CLASSES_SHOWN = 20
_MAX_CANDIDATES_SHOWN = 6
_MAX_SETTINGS_SHOWN = 5
_MAX_COLUMNS_SHOWN = 12
_MAX_COLUMNS_OF_DRY_RUN = 200


def show_inputs(screen: Console, request: Request, inputs: Inputs) -> None:
    """Print what was found in each file, and what becomes of the columns."""
    show_files(screen, request, inputs)
    show_columns(screen, inputs.columns, everything=request.dry_run)
    for note in inputs.notes:
        screen.print(note)


def show_files(screen: Console, request: Request, inputs: Inputs) -> None:
    """Print what was found in each file."""
    grid = Table(title="Files")
    for heading in ("", "file", "rows", "columns", "labels", "classes", "ids"):
        grid.add_column(heading, justify="right" if heading in {"rows", "columns"} else "left", overflow="fold")
    for role, domain in zip(["source"] * len(inputs.sources) + ["target"], inputs.domains, strict=True):
        labels = domain.label_name or "none"
        if role == "target" and domain.y is not None and request.target_label is None:
            labels += " (not used)"
        rows, columns = (f"{size:,}" for size in domain.X.shape)
        grid.add_row(role, domain.path.name, rows, columns, labels, list_classes(domain), domain.id_name or "none")
    screen.print(grid)
    for domain in inputs.domains:
        if domain.remarks:
            screen.print(f"{domain.path.name}: {'; '.join(domain.remarks)}.")
    if request.target_labels and inputs.y_target is not None:
        known = sum(label is not None for label in inputs.y_target)
        names = ", ".join(path.name for path in request.target_labels)
        screen.print(f"{names}: labels of {count_rows(known, 'target')}, which the fit learns from.")


def show_columns(screen: Console, columns: list[dict[str, Any]], *, everything: bool) -> None:
    """Print what becomes of the columns; only of those that are not plain numbers, unless `everything` is wanted."""
    if not columns:
        return
    used = [column for column in columns if column["used"]]
    noteworthy = [
        c for c in columns if everything or c["kind"] != "number" or not c["used"] or any(c["missing"].values())
    ]
    limit = _MAX_COLUMNS_OF_DRY_RUN if everything else _MAX_COLUMNS_SHOWN
    if noteworthy:
        grid = Table(title="Columns" if everything else "Columns that are not plain numbers")
        for heading in ("column", "kind", "treatment", "missing cells"):
            grid.add_column(heading, overflow="fold")
        for column in noteworthy[:limit]:
            missing = ", ".join(f"{count:,} in {domain}" for domain, count in column["missing"].items() if count)
            grid.add_row(column["name"], column["kind"], column["treatment"], missing)
        screen.print(grid)
        if len(noteworthy) > limit:
            screen.print(f"... and {len(noteworthy) - limit} more; --dry-run lists up to {_MAX_COLUMNS_OF_DRY_RUN}.")
    kinds = [column["kind"] for column in used]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    screen.print(f"Columns used: {len(used)} ({counts}).")


def list_classes(domain: FileDomain) -> str:
    """The number of classes, and the first of them."""
    if domain.y is None:
        return ""
    distinct = np.unique(domain.y[domain.labelled])
    return f"{len(distinct)}: {', '.join(map(str, distinct[:4]))}{', ...' if len(distinct) > 4 else ''}"


def show_run(screen: Console, run: Run) -> None:
    """Print the labels, why they are these, and how far to trust them."""
    if run.search is not None:
        show_settings(screen, run.search)
    show_summary(screen, run.model, run.confidence)
    unsure = int((run.confidence < run.request.trust).sum())
    if run.request.trust:
        screen.print(
            f"Left without a label: {count_rows(unsure)} of less confidence than {run.request.trust:g} (--trust)."
        )
    score = score_labels(run)
    if score is not None:
        screen.print(score["words"])


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
    screen.print(as_options(model.summary_))


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


def score_labels(run: Run) -> dict[str, Any] | None:
    """The accuracy on labels found in the target that the fit did not use, its rows, and both in words."""
    target, model = run.inputs.target, run.model
    if target.y is None or run.request.target_label is not None:
        return None
    labelled = target.labelled
    if run.inputs.y_target is not None:
        labelled = labelled & np.array([label is None for label in run.inputs.y_target])
    known = labelled & np.isin(target.y.astype(str), model.classes_.astype(str))
    if not known.any():
        words = f"The labels in '{target.label_name}' are not classes of the sources, so they were ignored."
        return {"accuracy": None, "rows": 0, "words": words}
    accuracy = float(np.mean(model.transduction_[known] == target.y[known]))
    words = (
        f"Accuracy {100 * accuracy:.2f} % on {count_rows(known.sum())}: labels found in the target "
        f"('{target.label_name}') were used for this score only. To learn from them, use --target-label."
    )
    if known.sum() < labelled.sum():
        words += f" It excludes {count_rows(labelled.sum() - known.sum())} whose class no source has."
    return {"accuracy": accuracy, "rows": int(known.sum()), "words": words}
