"""Accuracy by gamma, mu and d: one parameter is varied, all others stay at their default."""

from collections.abc import Iterator
from typing import Any

from lpjt.datasets import Problem
from lpjt.estimator import LPJT
from lpjt.study import settings
from lpjt.study.figures.fits import FitTask, Request, accuracy, fit_tasks, protocol_words
from lpjt.study.figures.style import QUIET, SMALL, TEXT, Drawing, dress_axes, line_style, new_canvas, set_words

#: The ranges in which the paper finds its advice: gamma small, mu from 1e-3 to 1, d of little effect up to 200.
RANGES: dict[str, tuple[float, ...]] = {
    "locality_weight": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
    "variance_weight": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0),
    "n_components": (10, 20, 40, 80, 120, 160, 200),
}
LETTERS = {"locality_weight": "γ", "variance_weight": "μ", "n_components": "d"}
CAPTION = """
One parameter is varied, all others stay at LPJT's default (dotted line), without candidates. Each fit is label-free
({protocol}); target
labels serve the score alone, so the best point of a curve is not a choice that one could make without them.
"""


def draw_sensitivity(request: Request) -> Drawing:
    """Fit each pair at each point of `RANGES` and draw accuracy by each parameter."""
    problems = request.problems()
    tasks = [task for problem in problems for task in _tasks(problem)]
    answers = fit_tasks(tasks, _read, request)
    rows = [row for task, answer in zip(tasks, answers, strict=True) for row in _rows(task, answer)]
    order = {name: place for place, name in enumerate(RANGES)}
    rows.sort(key=lambda row: (request.pairs.index(row["pair"]), order[row["parameter"]], row["value"]))
    title = f"Accuracy of LPJT by γ, μ and d · {request.title}"
    return Drawing(_draw(rows, title, CAPTION.format(protocol=protocol_words(problems[0]))), rows)


def default_values(problem: Problem) -> dict[str, float]:
    """What the three parameters are by default in the fits drawn here, which are in one setting."""
    n_classes = len(set(problem.y_source.tolist()))
    n_rows, widths = len(problem.X_source), [problem.X_source.shape[1], problem.X_target.shape[1]]
    found = settings.default_values(n_classes=n_classes, n_rows=n_rows, widths=widths)
    return {name: getattr(found, name) for name in RANGES}


def _tasks(problem: Problem) -> list[FitTask]:
    """The default once for all three panels, then every other point."""
    defaults = default_values(problem)
    tags: dict[str, Any] = {"points": list(defaults.items()), "default": True}
    tasks = [FitTask(problem, dict(settings.ONE_SETTING), f"{problem.pair}, defaults", tags)]
    widest = min(problem.X_source.shape[1], problem.X_target.shape[1])
    for name, values in RANGES.items():
        for value in values:
            if value != defaults[name] and not (name == "n_components" and value > widest):
                tags = {"points": [(name, value)], "default": False}
                parameters = {**settings.ONE_SETTING, name: value}
                tasks.append(FitTask(problem, parameters, f"{problem.pair}, {LETTERS[name]} = {value:g}", tags))
    return tasks


def _read(model: LPJT, problem: Problem) -> dict[str, Any]:
    return {"accuracy": accuracy(model, problem), "n_iter": model.n_iter_, "adapted": model.adapted_}


def _rows(task: FitTask, answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, value in task.tags["points"]:
        yield {
            "table": task.problem.table,
            "pair": task.problem.pair,
            "parameter": name,
            "value": value,
            "is_default": task.tags["default"],
            **answer,
        }


def _draw(rows: list[dict[str, Any]], title: str, caption: str) -> Any:
    canvas = new_canvas(3.9)
    panels = canvas.subplots(1, len(RANGES), sharey=True)
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    for axes, name in zip(panels, RANGES, strict=True):
        of_panel = [row for row in rows if row["parameter"] == name]
        for number, pair in enumerate(pairs):
            points = [(row["value"], row["accuracy"]) for row in of_panel if row["pair"] == pair]
            axes.plot(*zip(*points, strict=True), label=pair, **line_style(number))
        if name != "n_components":
            axes.set_xscale("log")
        dress_axes(axes)
        axes.set_xlabel(f"{LETTERS[name]}, {name}", fontsize=TEXT)
        default = next(row["value"] for row in of_panel if row["is_default"])
        axes.axvline(default, color=QUIET, linestyle=":", linewidth=1.2, zorder=0)
        axes.annotate(
            f"default {default:g}",
            (default, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=SMALL,
            color=QUIET,
        )
    panels[0].set_ylabel("accuracy on the target, %", fontsize=TEXT)
    canvas.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=SMALL, frameon=False)
    set_words(canvas, title, caption)
    return canvas
