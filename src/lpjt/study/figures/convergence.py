"""Objective and MMD by iteration of Algorithm 1, relative to the first iteration, up to the last one that was made."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from lpjt.datasets import Problem
from lpjt.estimator import LPJT
from lpjt.study.figures.fits import FitTask, Request, fit_tasks, protocol_words
from lpjt.study.figures.style import QUIET, SMALL, TEXT, Drawing, dress_axes, line_style, new_canvas, set_words
from lpjt.study.settings import ENDLESS, PAPER

Rows = list[dict[str, Any]]

MAX_ITERATIONS = 12

#: The rows of panels.
SETTINGS: dict[str, Mapping[str, Any]] = {
    "LPJT, defaults": {**ENDLESS, "max_iter": MAX_ITERATIONS},
    "Algorithm 1 of the paper": {**PAPER, **ENDLESS, "max_iter": MAX_ITERATIONS},
}
QUANTITIES = {
    "objective": "objective, Eq. (16)",
    "marginal_mmd": "marginal MMD, Eq. (8)",
    "conditional_mmd": "conditional MMD, Eq. (9)",
}
CAPTION = """
Each curve is relative to its first iteration. Objective: numerator over denominator of Eq. (16) at the iteration's
projections. MMD: of the embedded rows, projections scaled so that the numerator of Eq. (16) is d. Every iteration has
graphs and class means of new labels (and, in the paper's algorithm, new landmark weights), so nothing obliges a curve
to fall: the number of rises is printed. A curve ends where no label changes any more. The fits are label-free
({protocol}).
"""


def draw_convergence(request: Request) -> Drawing:
    """Fit each pair under each setting and draw what `history_` holds."""
    problems = request.problems()
    tasks = [
        FitTask(problem, parameters, f"{problem.pair}, {setting}", {"setting": setting})
        for setting, parameters in SETTINGS.items()
        for problem in problems
    ]
    histories = fit_tasks(tasks, _read, request)
    rows = [row for task, history in zip(tasks, histories, strict=True) for row in _rows(task, history)]
    title = f"Objective and MMD by iteration · {request.title}"
    return Drawing(_draw(rows, title, CAPTION.format(protocol=protocol_words(problems[0]))), rows)


def count_rises(rows: Rows, quantity: str) -> tuple[int, int]:
    """How many steps between iterations go up, and how many there are; rows of one setting, pair by pair."""
    steps = [
        after[quantity] > before[quantity]
        for before, after in pairwise(rows)
        if after["n_iter"] == before["n_iter"] + 1
    ]
    return sum(steps), len(steps)


def _read(model: LPJT, problem: Problem) -> Rows:
    return [{name: record[name] for name in ("n_iter", "n_changed", *QUANTITIES)} for record in model.history_]


def _rows(task: FitTask, history: Rows) -> Iterator[dict[str, Any]]:
    for record in history:
        relative = {f"relative_{name}": record[name] / history[0][name] for name in QUANTITIES}
        of_task = {"table": task.problem.table, "pair": task.problem.pair, "setting": task.tags["setting"]}
        yield {**of_task, **record, **relative}


def _draw(rows: Rows, title: str, caption: str) -> Any:
    canvas = new_canvas(5.6)
    panels = canvas.subplots(len(SETTINGS), len(QUANTITIES), sharex=True, squeeze=False)
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    for axes, words in zip(panels[0], QUANTITIES.values(), strict=True):
        axes.set_title(words, fontsize=TEXT)
    for line, setting in zip(panels, SETTINGS, strict=True):
        of_setting = [row for row in rows if row["setting"] == setting]
        for axes, quantity in zip(line, QUANTITIES, strict=True):
            for number, pair in enumerate(pairs):
                of_pair = [row for row in of_setting if row["pair"] == pair]
                iterations = [row["n_iter"] for row in of_pair]
                axes.plot(
                    iterations, [row[f"relative_{quantity}"] for row in of_pair], label=pair, **line_style(number)
                )
            axes.axhline(1.0, color=QUIET, linewidth=0.8, zorder=0)
            dress_axes(axes)
            _note_rises(axes, *count_rises(of_setting, quantity))
        line[0].set_ylabel(f"{setting}\nrelative to iteration 1", fontsize=TEXT)
    for axes in panels[-1]:
        axes.set_xlabel("iteration", fontsize=TEXT)
        axes.set_xticks(range(1, MAX_ITERATIONS + 1, 2))
    canvas.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize=SMALL, frameon=False)
    set_words(canvas, title, caption)
    return canvas


def _note_rises(axes: Any, rises: int, steps: int) -> None:
    axes.margins(y=0.18)
    axes.text(
        0.98, 0.97, f"{rises} of {steps} steps rise", transform=axes.transAxes, ha="right", va="top",
        fontsize=SMALL, color=QUIET,
    )  # fmt: skip
