"""From a fitted model and rows to one page of HTML, and to a file."""

import os
from collections.abc import Sequence
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from lpjt._safe_text import visible
from lpjt._whole_files import check_writable, write_whole
from lpjt.report import sections
from lpjt.report.checks import check_labels
from lpjt.report.doubt import weigh_confidence
from lpjt.report.layout import LAYOUTS, draw_domains
from lpjt.report.palette import CLASS_COLOURS_DARK, CLASS_COLOURS_LIGHT
from lpjt.report.rows import DomainRows, Given, collect_rows, has_target
from lpjt.report.shift import compare_columns, find_far_rows
from lpjt.report.story import explain_choice, find_worries, give_verdict, how_labelled

_TEMPLATES = "templates"


def make_report(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    given: Given | None = None,
    title: str | None = None,
    command: str | None = None,
    files: Sequence[str | os.PathLike[str]] = (),
    layout: str = "tsne",
    max_rows: int = 5000,
    overwrite: bool = False,
) -> str:
    """The page of a fitted model as text, also written to `path` if one is given; see `LPJT.report`."""
    check_is_fitted(model)
    if layout not in LAYOUTS:
        raise ValueError(f"layout={layout!r} is not one of {', '.join(map(repr, LAYOUTS))}. Give one of these.")
    if max_rows < 2:
        raise ValueError(f"max_rows={max_rows} leaves no rows to draw. Give 2 or more.")
    environment()  # a missing library is told before any work is done, and so is a file that exists
    if path is not None:
        check_writable(path, overwrite=overwrite)
    domains = collect_rows(model, given or Given())
    facts = _collect(model, domains, layout=layout, max_rows=max_rows)
    facts |= sections.origin(model, domains, [Path(name) for name in files], command)
    names = [" + ".join(d.name for d in domains if d.is_source is side) for side in (True, False)]
    page = _fill(facts | {"title": title or " to ".join(filter(None, names))})
    if path is not None:
        write_whole(path, page, overwrite=overwrite)
    return page


def _collect(model: Any, domains: list[DomainRows], *, layout: str, max_rows: int) -> dict[str, Any]:
    """Everything that the template shows, section by section; None for a section that has nothing to say."""
    classes = model.classes_
    checked = check_labels(domains, classes)
    confidence = weigh_confidence(domains, classes)
    with_rows = [d for d in domains if d.X is not None]
    shifts, far = compare_columns(domains), find_far_rows(model, domains)
    drawn = draw_domains(model, with_rows, max_rows=max_rows, layout=layout) if with_rows else None
    return {
        "how": how_labelled(model),
        "verdict": give_verdict(model),
        "estimate": sections.estimate(model, checked),
        "worries": find_worries(model, domains, confidence=confidence, shifts=shifts, far=far, checked=checked),
        "domains": sections.describe_domains(model, domains),
        "map": sections.draw_map(model, with_rows, drawn, shifts, layout),
        "check": sections.confusion(model, checked),
        "proportions": sections.proportions(model, domains) if has_target(model) else None,
        "confidence": sections.confidence(model, confidence),
        "look": sections.rows_to_look_at(model, domains),
        "columns": sections.columns(shifts),
        "far": sections.far_rows(model, far),
        "candidates": sections.candidates(model.candidates_),
        "choice": explain_choice(model.candidates_, adapted=model.adapted_),
        "iterations": sections.iterations(model),
    }


@cache
def environment() -> Any:
    """Jinja's environment, in which every string is escaped unless the page itself made it."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError(
            "`jinja2` is needed to make a report. Install it with `pip install 'lpjt[report]'`."
        ) from error
    return Environment(
        loader=PackageLoader("lpjt.report", _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _fill(facts: dict[str, Any]) -> str:
    style, script = (_asset(name) for name in ("style.css", "script.js"))
    palette = list(zip(CLASS_COLOURS_LIGHT, CLASS_COLOURS_DARK, strict=True))
    page: str = environment().get_template("page.html").render(**facts, style=style, script=script, palette=palette)
    return visible(page)


def _asset(name: str) -> str:
    return package_files("lpjt.report").joinpath(_TEMPLATES, name).read_text(encoding="utf-8")
