"""What each section of the page shows, as plain values for the template; None where there is nothing to show."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lpjt.report import origin as origins
from lpjt.report import svg
from lpjt.report.checks import Checked
from lpjt.report.doubt import Confidence, rows_worth_a_look
from lpjt.report.layout import ANCHORS, Drawn
from lpjt.report.rows import DomainRows, has_target
from lpjt.report.scatter import name_row, scatter_parts
from lpjt.report.shift import FarRows, Shifts
from lpjt.report.story import name_candidate, source_proportions
from lpjt.report.text import clean, count, short

MAX_CLASSES = 30  # rows of a table of classes, and of the confusion matrix
MAX_LEGEND = 24
N_LOOK = 12
N_BEST = 4  # candidates in sight


def estimate(model: Any, checked: Checked | None) -> dict[str, Any] | None:
    """The estimated accuracy, and the measured one where labels are known; all in per cent."""
    if model.estimated_accuracy_ is None:
        return None
    low, high = model.estimated_accuracy_interval_
    found: dict[str, Any] = {"value": 100 * model.estimated_accuracy_, "low": 100 * low, "high": 100 * high}
    measured = None
    if checked is not None:
        numbers = {"value": checked.accuracy, "low": checked.low, "high": checked.high}
        measured = {name: 100 * value for name, value in numbers.items()} | {"n_rows": checked.n_rows}
    return found | {"measured": measured}


def describe_domains(model: Any, domains: Sequence[DomainRows]) -> list[dict[str, Any]]:
    """One line per domain."""
    lines = []
    for d in domains:
        labels = count(len(model.classes_), "class", "classes")
        if not d.is_source:
            n = int(d.given.sum())
            labels = f"{count(n, 'label')} given" if n else "no label given"
        sampled = model.sample_.get(d.name)
        lines.append(
            {
                "name": clean(d.name),
                "role": "source" if d.is_source else "target",
                "rows": d.n_rows,
                "columns": d.width,
                "labels": labels,
                "sampled": None if sampled is None else len(sampled),
            }
        )
    return lines


def draw_map(
    model: Any, domains: Sequence[DomainRows], drawn: Drawn | None, shifts: Shifts | None, layout: str
) -> dict[str, Any] | None:
    """Both domains before and after."""
    if drawn is None:
        return None
    panels, data = scatter_parts(model, domains, drawn, shifts)
    total, shown = sum(d.n_rows for d in domains), len(drawn.domain)
    note = f"{count(shown, 'row')} of {total:,}, drawn at random." if shown < total else f"All {count(total, 'row')}."
    if layout == "tsne":
        note += " Laid out by t-SNE, each drawing by itself: neighbours have a meaning, far distances have none."
        note += f" Rows beyond {ANCHORS:,} are placed by their nearest ones." if shown > ANCHORS else ""
    else:
        note += " The two main directions of each drawing (PCA)."
    return {
        "panels": [{"title": clean(p.title), "note": p.note, "svg": drawing} for p, drawing in panels],
        "data": data,
        "note": note,
        "legend": list(enumerate(data["classes"][:MAX_LEGEND])),
        "more": max(0, len(data["classes"]) - MAX_LEGEND),
        "has_mistakes": bool(data["wrong"]),
        "unlabelled": any(d.codes is None for d in domains),
    }


def proportions(model: Any, domains: Sequence[DomainRows]) -> dict[str, Any]:
    """Share of each class among the source's labels and among the labels found."""
    of_source, of_target = source_proportions(domains, len(model.classes_)), np.asarray(model.target_proportions_)
    lines: list[dict[str, Any]] = [
        {
            "name": clean(label),
            "source": None if of_source is None else 100 * float(of_source[k]),
            "target": 100 * float(of_target[k]),
            "absent": bool((model.absent_classes_ == label).any()),
        }
        for k, label in enumerate(model.classes_)
    ]
    if len(lines) > MAX_CLASSES:
        lines.sort(key=lambda line: -max(line["source"] or 0, line["target"]))
    top = max(max(line["source"] or 0, line["target"]) for line in lines) or 1.0
    return {"lines": lines[:MAX_CLASSES], "hidden": max(0, len(lines) - MAX_CLASSES), "top": top}


def confidence(model: Any, found: Confidence | None) -> dict[str, Any] | None:
    """Confidence of the labels, and what it claims."""
    if found is None:
        return None
    return {
        "svg": svg.confidence_chart(found.counts, found.claimed, found.measured),
        "mean": 100 * found.mean,
        "n_rows": found.n_rows,
        "kept": found.kept,
        "is_checked": found.measured is not None,
        "is_calibrated": bool(model.candidates_),
    }


def rows_to_look_at(model: Any, domains: Sequence[DomainRows]) -> list[dict[str, Any]]:
    """Target rows to label by hand next."""
    lines = []
    for d in (d for d in domains if not d.is_source and d.distributions is not None):
        for row in rows_worth_a_look(model, d, N_LOOK):
            shares = d.distributions[row] if d.distributions is not None else np.zeros(0)
            best = np.argsort(-shares, kind="stable")[:2]
            lines.append(
                {
                    "domain": clean(d.name),
                    "id": name_row(d, int(row)),
                    "guesses": [(clean(model.classes_[k], 24), 100 * float(shares[k])) for k in best],
                }
            )
    return lines[: 2 * N_LOOK]


def columns(shifts: Shifts | None) -> dict[str, Any] | None:
    """Columns that shifted most."""
    if shifts is None:
        return None
    lines = [
        {
            "name": clean(c.name),
            "distance": c.distance,
            "means": [short(mean) for mean in c.means],
            "deviations": c.deviations,
            "svg": svg.histogram_pair(*c.histograms, c.low, c.high, clean(c.name)),
            "range": [short(c.low), short(c.high)],
        }
        for c in shifts.columns
    ]
    return {"lines": lines, "shifts": shifts}


def far_rows(model: Any, far: FarRows | None) -> dict[str, Any] | None:
    """Target rows that are unlike the source."""
    if far is None:
        return None
    lines = []
    for d, row, multiple in far.rows:
        shares = d.distributions[row] if d.distributions is not None else np.zeros(len(model.classes_))
        label = clean(model.classes_[int(shares.argmax())], 24)
        lines.append({"id": name_row(d, row), "domain": clean(d.name), "label": label, "multiple": multiple})
    return {"lines": lines, "n_far": far.n_far, "n_rows": far.n_rows}


def candidates(records: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The settings that were tried, with a bar for each score: all, and the best with the best of each kind."""
    if not records:
        return None
    top = max(record["score"] for record in records) or 1.0
    lines = [{**r, "name": name_candidate(r), "bar": 100 * max(r["score"], 0) / top} for r in records]
    first_of_kind = {line["candidate"]: line for line in reversed(lines)}.values()
    few = [line for i, line in enumerate(lines) if i < N_BEST or line["chosen"] or line in first_of_kind]
    return {"all": lines, "short": few}


def iterations(model: Any) -> dict[str, Any] | None:
    """Objective, MMD and labels changed by iteration."""
    history = model.history_
    if not history:
        return None

    def series(key: str) -> list[float]:
        return [float(record[key]) for record in history]

    def first_to_last(key: str) -> str:
        return f"{short(series(key)[0])} → {short(series(key)[-1])}"

    charts = [
        ("Objective", svg.line_chart([("objective", series("objective"))], "Objective by iteration"), ""),
        (
            "Distance of the domains (MMD)",
            svg.line_chart(
                [("of all rows", series("marginal_mmd")), ("class by class", series("conditional_mmd"))],
                "MMD by iteration",
            ),
            f"of all rows {first_to_last('marginal_mmd')}; dashed: class by class {first_to_last('conditional_mmd')}",
        ),
        (
            "Labels changed",
            svg.line_chart([("labels changed", series("n_changed"))], "Labels changed by iteration"),
            "",
        ),
    ]
    keys = ("n_iter", "objective", "marginal_mmd", "conditional_mmd", "n_changed", "n_classes", "evidence")
    table = [[short(float(record[key])) for key in keys] for record in history]
    return {"charts": charts, "table": table, "n": len(history), "seconds": sum(model.seconds_.values())}


def confusion(model: Any, checked: Checked | None) -> dict[str, Any] | None:
    """The confusion matrix, or for many classes only the pairs that are mixed up."""
    if checked is None:
        return None
    names = [clean(label, 16) for label in model.classes_]
    sums = checked.matrix.sum(axis=1)
    lines = [
        {
            "name": names[i],
            "cells": [(int(n), float(n / max(sums[i], 1)), i == j) for j, n in enumerate(row)],
            "rows": int(sums[i]),
            "recall": None if not sums[i] else 100 * float(checked.recall[i]),
        }
        for i, row in enumerate(checked.matrix)
    ]
    small = len(names) <= MAX_CLASSES
    pairs = [(names[i], names[j], n) for i, j, n in checked.mixed_up]
    return {"names": names, "lines": lines if small else [], "pairs": pairs, "checked": checked}


def origin(model: Any, domains: Sequence[DomainRows], files: Sequence[Path], command: str | None) -> dict[str, Any]:
    """Parameters, versions, seed, checksums, and what repeats the fit."""
    labelled = any(d.given.any() for d in domains if not d.is_source)
    repeat = command or origins.repeat_in_python(model, has_target=has_target(model), has_labels=labelled)
    return {
        "parameters": origins.list_parameters(model),
        "versions": origins.list_versions(),
        "seed": repr(model.random_state),
        "checksums": [(clean(name), kind, digest) for name, kind, digest in origins.list_checksums(domains, files)],
        "repeat": repeat,
        "date": origins.now(),
    }
