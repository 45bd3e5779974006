"""Small drawings as SVG, built as a tree so that every string is escaped; colours come from the page's style."""

from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.report.text import short

Node = ElementTree.Element


def svg(width: float, height: float, label: str, css: str = "") -> Node:
    """An empty drawing that a screen reader announces as `label`."""
    root = ElementTree.Element("svg", {"viewBox": f"0 0 {number(width)} {number(height)}", "role": "img"})
    if css:
        root.set("class", css)
    root.set("aria-label", label)
    return root


def add(parent: Node, tag: str, text: str | None = None, css: str = "", **attributes: float | str) -> Node:
    """A new element; underscores of the names of attributes stand for hyphens."""
    named = {name.replace("_", "-"): number(value) for name, value in attributes.items()}
    node = ElementTree.SubElement(parent, tag, named)
    if css:
        node.set("class", css)
    node.text = text
    return node


def write(root: Node) -> str:
    """The drawing as text."""
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def number(value: float | str) -> str:
    """A coordinate in few characters."""
    return value if isinstance(value, str) else f"{value:.4g}" if abs(value) < 1 else f"{value:.1f}".removesuffix(".0")


def histogram_pair(source: Array, target: Array, low: float, high: float, name: str) -> str:
    """Two histograms over each other: the source filled, the target as an outline."""
    width, height = 150.0, 44.0
    root = svg(width, height, f"{name}: source filled, target as a line, from {short(low)} to {short(high)}", "spark")
    root.set("preserveAspectRatio", "none")
    top = max(float(source.max()), float(target.max()), 1e-9)
    step = width / len(source)
    for i, share in enumerate(source):
        tall = float(share) / top * (height - 4)
        add(root, "rect", css="src", x=i * step, y=height - 1 - tall, width=max(step - 0.6, 0.5), height=tall)
    tops = height - 1 - target / top * (height - 4)
    steps = "".join(f"V{number(float(y))}H{number((i + 1) * step)}" for i, y in enumerate(tops))
    add(root, "path", css="tgt", d=f"M0 {number(height - 1)}{steps}V{number(height - 1)}")
    return write(root)


def line_chart(series: Sequence[tuple[str, Sequence[float]]], title: str) -> str:
    """Lines over the iterations, each scaled to its own range, with the first and the last value as text."""
    width, height, left, right, top, bottom = 340.0, 170.0, 14.0, 14.0, 24.0, 34.0
    said = "; ".join(f"{name}: from {short(values[0])} to {short(values[-1])}" for name, values in series)
    root = svg(width, height, f"{title}. {said}", "chart")
    for share in (0.0, 0.5, 1.0):
        y = top + share * (height - top - bottom)
        add(root, "line", css="grid", x1=left, x2=width - right, y1=y, y2=y)
    n = max(len(values) for _, values in series)
    for k, (name, values) in enumerate(series):
        low, high = min(values), max(values)
        at = [1 - (v - low) / (high - low) if high > low else 0.5 for v in values]
        ys = [top + (height - top - bottom) * share for share in at]
        xs = [left + (width - left - right) * (i / max(n - 1, 1)) for i in range(len(values))]
        points = " ".join(f"{number(x)},{number(y)}" for x, y in zip(xs, ys, strict=True))
        add(root, "polyline", css=f"line s{k}", points=points)
        for i, (x, y, v) in enumerate(zip(xs, ys, values, strict=True)):
            dot = add(root, "circle", css=f"dot s{k}", cx=x, cy=y, r=3.2)
            add(dot, "title", f"iteration {i + 1}: {name} {short(v)}")
        if len(series) == 1:
            add(root, "text", short(values[0]), css="value", x=left + 9, y=max(ys[0] - 6, 12))
        if len(series) == 1 and n > 1:
            add(root, "text", short(values[-1]), css="value", x=width - right, y=ys[-1] - 9, text_anchor="end")
    add(root, "text", "1", x=left, y=height - 14, text_anchor="middle")
    if n > 1:
        add(root, "text", str(n), x=width - right, y=height - 14, text_anchor="middle")
    add(root, "text", "iteration", x=width / 2, y=height - 14, text_anchor="middle")
    return write(root)


def confidence_chart(counts: Codes, claimed: Array, measured: Array | None) -> str:
    """Rows by confidence; with known labels, the share that is right in each bin as a diamond on the line of claims."""
    width, height, left, bottom, top = 420.0, 230.0, 42.0, 34.0, 12.0
    said = ", ".join(f"{10 * i} to {10 * (i + 1)} %: {int(c):,}" for i, c in enumerate(counts) if c)
    root = svg(width, height, f"Rows by confidence. {said}", "chart")
    inner, tall = width - left - 12, height - top - bottom
    step = inner / len(counts)
    for share in (0.0, 0.5, 1.0):
        y = top + tall * (1 - share)
        add(root, "line", css="grid", x1=left, x2=left + inner, y1=y, y2=y)
        if measured is not None:
            add(root, "text", f"{100 * share:.0f} %", x=left - 5, y=y + 4, text_anchor="end")
    most = max(int(counts.max()), 1)
    for i, c in enumerate(counts):
        h = tall * float(c) / most
        bar = add(root, "rect", css="bar", x=left + i * step + 1.5, y=top + tall - h, width=step - 3, height=h)
        add(bar, "title", f"confidence {10 * i} to {10 * (i + 1)} %: {int(c):,} rows")
        if c and measured is None:
            above = top + tall - h - 4 if h < tall - 12 else top + 12
            add(root, "text", f"{int(c):,}", css="value", x=left + (i + 0.5) * step, y=above, text_anchor="middle")
    if measured is not None:
        add(root, "line", css="ideal", x1=left, x2=left + inner, y1=top + tall, y2=top)
        _diamonds(root, claimed, measured, counts, (left, inner, top, tall))
    for i in range(0, len(counts) + 1, 2):
        add(root, "text", f"{10 * i}", x=left + i * step, y=height - bottom + 16, text_anchor="middle")
    add(root, "text", "confidence, %", x=left + inner / 2, y=height - 3, text_anchor="middle")
    return write(root)


def _diamonds(root: Node, claimed: Array, measured: Array, counts: Codes, box: tuple[float, ...]) -> None:
    left, inner, top, tall = box
    for claim, share, rows in zip(claimed, measured, counts, strict=True):
        if np.isnan(share) or np.isnan(claim):
            continue
        x, y = left + inner * float(claim), top + tall * (1 - float(share))
        mark = add(root, "path", css="measured", d=f"M{number(x)} {number(y - 6)}l6 6l-6 6l-6 -6z")
        add(mark, "title", f"claimed {100 * claim:.0f} %, right {100 * share:.0f} % ({int(rows):,} rows)")
