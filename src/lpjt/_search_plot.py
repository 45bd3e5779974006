"""The picture of a search: scores by value of one or two parameters, or by setting."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lpjt._search_grid import in_words

#: Okabe and Ito's palette, which the colour-blind tell apart; markers differ too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: Upper bound on the settings that are drawn one by one; the best are drawn.
MAX_DRAWN = 30


def draw_scores(results: Mapping[str, Any], best: int, ax: Any = None) -> Any:
    """Draw the scores of `LPJTSearch.cv_results_` and return the axes; `best` is marked."""
    columns = varying(results)
    if ax is None:
        ax = new_axes(min(MAX_DRAWN, len(results["score"])) if columns is None else None)
    if columns is None:
        _draw_settings(ax, results, best)
    else:
        _draw_values(ax, results, best, columns)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(True, color="#DDDDDD", linewidth=0.6)
    return ax


def new_axes(n_lines: int | None) -> Any:
    """Axes of a new figure; `n_lines` is the number of settings drawn one below the other, if they are."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "`matplotlib` is needed to draw scores. Install it with `pip install 'lpjt[report]'`."
        ) from error
    size = (6.4, 4.0) if n_lines is None else (8.0, 1.2 + 0.22 * n_lines)
    return plt.subplots(figsize=size, layout="constrained")[1]


def varying(results: Mapping[str, Any]) -> list[str] | None:
    """Names of the one or two parameters that vary, the one with more values first.

    None if there are others, or if their values do not form a grid with one setting in each place.
    """
    values = {
        name.removeprefix("param_"): [repr(v) for v in column] if not np.ma.getmaskarray(column).any() else None
        for name, column in results.items()
        if name.startswith("param_")
    }
    if any(column is None for column in values.values()):
        return None
    names = [name for name, column in values.items() if column and len(set(column)) > 1]
    names.sort(key=lambda name: -len(set(values[name] or ())))
    places = set(zip(*(values[name] or () for name in names), strict=True))
    return names if 1 <= len(names) <= 2 and len(places) == len(results["score"]) else None


def _draw_values(ax: Any, results: Mapping[str, Any], best: int, names: list[str]) -> None:
    """A line of scores for each value of the second parameter, if there is one."""
    columns = [[str(value) for value in results[f"param_{name}"]] for name in names]
    places = list(dict.fromkeys(columns[0]))
    lines = list(dict.fromkeys(columns[1])) if len(names) == 2 else [None]
    for number, line in enumerate(lines):
        chosen = [i for i in range(len(columns[0])) if line is None or columns[1][i] == line]
        style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "linewidth": 1.3}
        at = [places.index(columns[0][i]) for i in chosen]
        ax.plot(at, results["score"][chosen], label=line, markersize=4, **style)
    at_best = places.index(columns[0][best])
    ax.plot([at_best], results["score"][[best]], "o", markersize=13, fillstyle="none", color="#555555", label="best")
    ax.set_xticks(range(len(places)), places)
    ax.set_xlabel(names[0])
    ax.set_ylabel("score, without target labels")
    ax.legend(title=names[1] if len(names) == 2 else None, fontsize=8, frameon=False)


def _draw_settings(ax: Any, results: Mapping[str, Any], best: int) -> None:
    """A point for each setting, the best at the top; those that failed are left out."""
    scores = results["score"]
    order = [i for i in np.argsort(-scores, kind="stable").tolist() if not np.isnan(scores[i])][:MAX_DRAWN]
    places = np.arange(len(order))
    ax.plot(scores[order], places, "o", markersize=4, color=COLOURS[0])
    ax.plot(scores[[best]], [order.index(best)], "o", markersize=13, fillstyle="none", color="#555555", label="best")
    ax.set_yticks(places, [in_words(results["params"][i]) for i in order], fontsize=8)
    ax.invert_yaxis()
    ax.set_xlabel("score, without target labels")
    ax.legend(fontsize=8, frameon=False)
