"""The two domains as points: the drawing itself, and the numbers that its controls need."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from lpjt._typing import Array, Codes, Values
from lpjt.report.checks import is_right
from lpjt.report.layout import Drawn, Panel
from lpjt.report.rows import DomainRows
from lpjt.report.shift import Shifts
from lpjt.report.svg import Node, add, svg, write
from lpjt.report.text import clean, short

WIDTH, HEIGHT, MARGIN = 600, 460, 14
MAX_NAMES = 12  # names of classes in a drawing; more hide the points
MAX_VALUES = 5  # columns whose values a row shows


def scatter_parts(
    model: Any, domains: Sequence[DomainRows], drawn: Drawn, shifts: Shifts | None
) -> tuple[list[tuple[Panel, str]], dict[str, Any]]:
    """Each panel with its drawing, and the data of its controls."""
    codes = np.concatenate([_codes(d)[rows] for d, rows in zip(domains, drawn.chosen, strict=True)])
    places = [_to_pixels(panel.places) for panel in drawn.panels]
    sources = np.array([d.is_source for d in domains])[drawn.domain]
    names = [clean(label, 24) for label in model.classes_]
    panels = [
        (panel, _draw(panel, where, codes, drawn.domain, sources, names))
        for panel, where in zip(drawn.panels, places, strict=True)
    ]
    data = {
        "width": WIDTH,
        "height": HEIGHT,
        "panels": [[_whole(where[:, 0]), _whole(where[:, 1])] for where in places],
        "domain": drawn.domain.tolist(),
        "code": codes.tolist(),
        "domains": [{"name": clean(d.name), "source": d.is_source} for d in domains],
        "classes": names,
        "wrong": _mistakes(model, domains, drawn),
        **_details(domains, drawn, shifts),
    }
    return panels, data


def _mistakes(model: Any, domains: Sequence[DomainRows], drawn: Drawn) -> list[int]:
    """Drawn rows whose label is known to be wrong."""
    right = [is_right(d, model.classes_) for d in domains]
    known = [np.ones(len(rows)) if r is None else r[rows] for r, rows in zip(right, drawn.chosen, strict=True)]
    return np.flatnonzero(np.concatenate(known) == 0).tolist()


def _codes(d: DomainRows) -> Codes:
    return np.full(d.n_rows, -1) if d.codes is None else d.codes


def _to_pixels(places: Array) -> Array:
    return MARGIN + places * (np.array([WIDTH, HEIGHT]) - 2 * MARGIN)


def _whole(values: Array) -> list[float | None]:
    return [None if np.isnan(v) else round(float(v), 1) for v in values]


def _details(domains: Sequence[DomainRows], drawn: Drawn, shifts: Shifts | None) -> dict[str, Any]:
    """Ids, confidence and some values of each drawn row, and the columns that the values belong to."""
    ids: list[str] = []
    sure: list[int | None] = []
    truth: list[str | None] = []
    values: list[list[str]] = []
    columns: list[list[str]] = []
    for d, rows in zip(domains, drawn.chosen, strict=True):
        ids += [name_row(d, int(row)) for row in rows]
        confidence = d.confidence
        sure += [None] * len(rows) if confidence is None else [round(100 * float(confidence[r])) for r in rows]
        truth += [None if d.truth is None or d.truth[r] is None else clean(d.truth[r], 24) for r in rows]
        picked, names = _columns(d, shifts)
        columns.append(names)
        values += _values(d, rows, picked)
    return {"ids": ids, "sure": sure, "truth": truth, "values": values, "columns": columns}


def name_row(d: DomainRows, row: int) -> str:
    """Id of a row, or its number, counted from 0."""
    return f"row {row}" if d.ids is None else clean(d.ids[row], 40)


def _columns(d: DomainRows, shifts: Shifts | None) -> tuple[list[int], list[str]]:
    """Columns of the caller's rows whose values are shown: those that shifted most, or the first."""
    names: Values = np.array([f"column {j}" for j in range(d.width)]) if d.columns is None else d.columns
    place = {str(name): j for j, name in enumerate(names)}
    wanted = [] if shifts is None else [place[c.name] for c in shifts.columns if c.name in place]
    picked = (wanted or list(range(d.width)))[:MAX_VALUES]
    return picked, [clean(names[j], 24) for j in picked]


def _values(d: DomainRows, rows: Codes, picked: list[int]) -> list[list[str]]:
    if d.X is None:
        return [[] for _ in rows]
    cells = d.X[rows][:, picked]
    cells = cells.toarray() if hasattr(cells, "toarray") else cells
    return [[short(float(value)) for value in row] for row in cells]


def _draw(panel: Panel, where: Array, codes: Codes, domain: Codes, sources: Any, names: Sequence[str]) -> str:
    root = svg(WIDTH, HEIGHT, f"{clean(panel.title)}: {panel.note} The tables of this page tell the same.", "scatter")
    groups: dict[tuple[bool, int, int], list[Any]] = defaultdict(list)
    for place, code, number, is_source in zip(where, codes, domain, sources, strict=True):
        if not np.isnan(place[0]):
            groups[not is_source, int(number), int(code)].append(place)
    layer = add(root, "g", css="points")
    for (is_target, number, code), places in sorted(groups.items()):
        kind = "target" if is_target else "source"
        css = f"{kind} c{code % 10}" if code >= 0 else kind
        path = add(layer, "path", css=css, d=marks(places, is_target))
        path.set("data-g", f"{number}:{code}")
    _write_names(root, where, codes, sources, names)
    return write(root)


def marks(places: Sequence[Any], is_target: bool, size: float = 2.6) -> str:
    """Path of discs, which are dots with round ends, or of crosses."""
    if not is_target:
        return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
    wide = f"{2 * size:.1f}"
    return "".join(f"M{x - size:.1f} {y - size:.1f}l{wide} {wide}m0-{wide}l-{wide} {wide}" for x, y in places)


def _write_names(root: Node, where: Array, codes: Codes, sources: Any, names: Sequence[str]) -> None:
    """Name of each large class in the middle of its rows: colours alone say nothing in grey."""
    layer = add(root, "g", css="names")
    shown = ~np.isnan(where[:, 0])
    counts = np.bincount(codes[shown & (codes >= 0)], minlength=len(names))
    for code in np.argsort(-counts, kind="stable")[:MAX_NAMES]:
        if not counts[code]:
            continue
        mask = shown & (codes == code)
        near = where[mask & sources] if (mask & sources).any() else where[mask]
        middle = np.median(near, axis=0)
        x, y = near[((near - middle) ** 2).sum(axis=1).argmin()]  # a row, as the middle of two clusters is in neither
        anchor = "middle" if len(names[code]) < 4 or 0.2 < x / WIDTH < 0.8 else "start" if x < WIDTH / 2 else "end"
        place = {"x": min(max(float(x), 4), WIDTH - 4), "y": min(max(float(y) + 5, 18), HEIGHT - 6)}
        add(layer, "text", names[code], css=f"c{code % 10}", text_anchor=anchor, **place)
