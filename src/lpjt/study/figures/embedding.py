"""t-SNE of both domains before and after adaptation."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize

from lpjt.core.scaling import fit_scaling, scale_rows
from lpjt.datasets import Problem
from lpjt.estimator import LPJT
from lpjt.study.figures.fits import Request, accuracy, fit_problem, protocol_words
from lpjt.study.figures.style import (
    CLASS_COLOURS,
    QUIET,
    SMALL,
    TEXT,
    Drawing,
    class_colour,
    dress_axes,
    new_canvas,
    set_words,
)

#: Maximum number of rows drawn, both domains together: more of them hide each other.
MAX_ROWS = 1500

DOMAINS = ("source", "target")
CAPTION = """
{rows} rows drawn at random from both domains, laid out by t-SNE, each panel by itself: neighbourhoods have a meaning,
axes and far distances have none. Before: rows scaled as the fit scaled them ("{scaling}"). After: LPJT.transform of
both domains, rows of unit length as its classifier has them. 1-NN: share of all target rows whose nearest source row,
in the space that t-SNE was given, is of their class. LPJT's defaults ({protocol}) label {accuracy:.1f} % of the target
rightly. Colours are true classes, which serve the drawing and the score alone.
"""


def draw_embedding(request: Request) -> Drawing:
    """Fit the first pair, lay out its rows before and after, and draw both."""
    request.report(0, 3, "loading")
    problem = request.problems()[0]
    _check_widths(problem)
    model = fit_problem(problem, request.seed)
    request.report(1, 3, "LPJT")
    chosen = _sample(problem, request.seed)
    rows: list[dict[str, Any]] = []
    heads = []
    for number, (panel, spaces) in enumerate(_spaces(model, problem).items()):
        heads.append(f"{panel} · 1-NN {_nearest_neighbour(spaces, problem):.1f} %")
        rows += _layout(panel, spaces, chosen, problem, request.seed)
        request.report(2 + number, 3, f"t-SNE, {panel}")
    caption = CAPTION.format(
        rows=f"{sum(map(len, chosen)):,}",
        scaling=model.scaling_,
        protocol=protocol_words(problem),
        accuracy=accuracy(model, problem),
    )
    title = f"{problem.pair}, before and after adaptation by LPJT · {request.title}"
    return Drawing(_draw(rows, heads, title, caption), rows)


def _check_widths(problem: Problem) -> None:
    widths = problem.X_source.shape[1], problem.X_target.shape[1]
    if widths[0] != widths[1]:
        raise ValueError(
            f"fig-embedding draws both domains in one space before adaptation, but {problem.table} has widths "
            f"{widths[0]} and {widths[1]}. Give a table whose domains have one width, such as digits."
        )


def _spaces(model: LPJT, problem: Problem) -> dict[str, tuple[Any, ...]]:
    """Source and target rows of each panel."""
    raw = (problem.X_source, problem.X_target)
    before = tuple(scale_rows(X, fit_scaling(X, model.scaling_)) for X in raw)
    after = tuple(normalize(model.transform(X, domain)) for X, domain in zip(raw, DOMAINS, strict=True))
    return {"before": before, "after": after}


def _sample(problem: Problem, seed: int) -> list[np.ndarray]:
    """Positions of the rows that are drawn, from each domain in proportion to its rows."""
    sizes = len(problem.y_source), len(problem.y_target)
    rng = np.random.default_rng(seed)
    share = min(1.0, MAX_ROWS / sum(sizes))
    return [np.sort(rng.permutation(size)[: round(share * size)]) for size in sizes]


def _nearest_neighbour(spaces: Sequence[Any], problem: Problem) -> float:
    nearest = KNeighborsClassifier(1).fit(spaces[0], problem.y_source)
    scored = problem.scored
    return 100 * float(np.mean(nearest.predict(spaces[1])[scored] == problem.y_target[scored]))


def _layout(
    panel: str, spaces: Sequence[Any], chosen: Sequence[np.ndarray], problem: Problem, seed: int
) -> Iterator[dict[str, Any]]:
    sampled = [X[places] for X, places in zip(spaces, chosen, strict=True)]
    rows = np.vstack([X.toarray() if sparse.issparse(X) else X for X in sampled])
    perplexity = min(30.0, (len(rows) - 1) / 3)
    plane = TSNE(init="pca", perplexity=perplexity, random_state=seed).fit_transform(rows)
    labels = (problem.y_source, problem.y_target)
    which = [(domain, place) for domain, places in enumerate(chosen) for place in places]
    for (domain, place), (x, y) in zip(which, plane, strict=True):
        yield {
            "panel": panel,
            "domain": DOMAINS[domain],
            "row": int(place),
            "label": labels[domain][place],
            "x": float(x),
            "y": float(y),
        }


def _draw(rows: Sequence[dict[str, Any]], heads: Sequence[str], title: str, caption: str) -> Any:
    canvas = new_canvas(5.6)
    panels = canvas.subplots(1, len(heads))
    classes = sorted({row["label"] for row in rows})
    for axes, panel, head in zip(panels, ("before", "after"), heads, strict=True):
        dress_axes(axes)
        axes.set_title(head, fontsize=TEXT)
        axes.grid(False)
        axes.spines[:].set(visible=True, color=QUIET)
        axes.set_xticks([])
        axes.set_yticks([])
        for domain, style in zip(DOMAINS, _STYLES, strict=True):
            for number, label in enumerate(classes):
                points = [
                    (row["x"], row["y"])
                    for row in rows
                    if (row["panel"], row["domain"], row["label"]) == (panel, domain, label)
                ]
                if points:
                    axes.scatter(*zip(*points, strict=True), color=class_colour(number, len(classes)), **style)
    _add_legend(canvas, classes)
    set_words(canvas, title, caption)
    return canvas


#: Source rows are pale discs, target rows crosses upon them.
_STYLES: tuple[dict[str, Any], ...] = (
    {"marker": "o", "s": 16, "alpha": 0.35, "linewidths": 0},
    {"marker": "x", "s": 16, "linewidths": 0.9},
)


def _add_legend(canvas: Any, classes: Sequence[Any]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", color="#333333", marker=style["marker"], alpha=style.get("alpha"), label=domain)
        for domain, style in zip(DOMAINS, _STYLES, strict=True)
    ]
    if len(classes) <= len(CLASS_COLOURS):
        handles += [
            Line2D([], [], linestyle="", color=class_colour(i, len(classes)), marker="s", label=f"class {label}")
            for i, label in enumerate(classes)
        ]
    canvas.legend(handles=handles, loc="outside right center", fontsize=SMALL, frameon=False)
