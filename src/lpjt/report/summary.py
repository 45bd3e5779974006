"""The few lines that a notebook shows above scikit-learn's diagram of a fitted model."""

from html import escape
from typing import Any

from lpjt.report.story import find_worries, give_verdict, how_labelled
from lpjt.report.text import percent

#: Works on light and dark notebooks: no colour of its own but the line at its side.
_STYLE = "font-family:system-ui,sans-serif;border-left:4px solid {line};padding:.2em 0 .2em .8em;margin:.4em 0 .6em"
_LINES = {"good": "#1a7f4b", "check": "#b7791f", "stop": "#c2413a", "none": "#777"}


def summary_html(model: Any) -> str:
    """What a fitted model would say first, as a fragment of HTML."""
    verdict = give_verdict(model)
    head = escape(verdict.title)
    if model.estimated_accuracy_ is not None:
        low, high = model.estimated_accuracy_interval_
        head += f": estimated accuracy {percent(model.estimated_accuracy_)} ({percent(low)} to {percent(high)})"
    worries = "".join(
        f"<li><b>{escape(worry.title)}.</b> {escape(worry.text)}</li>" for worry in find_worries(model, [])[:4]
    )
    items = f"<ul style='margin:.3em 0 0;padding-left:1.2em'>{worries}</ul>" if worries else ""
    style = _STYLE.format(line=_LINES[verdict.level])
    return f'<div role="note" style="{style}"><b>{head}</b><br>{escape(how_labelled(model))}{items}</div>'
