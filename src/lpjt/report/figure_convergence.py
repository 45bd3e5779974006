"""Objective and MMD by pass of Algorithm 1, as they are: relative to the first pass, to the last one that was made."""

from itertools import pairwise

from lpjt.report.figure_fits import Request, Task, fit_tasks, protocol_words
from lpjt.report.figure_style import QUIET, SMALL, TEXT, Drawing, dress_axes, line_style, new_canvas, set_words

#: Passes at most. Neither evidence nor tolerance ends a run; one whose labels are steady has nothing left to change.
PASSES = 12
ENDLESS = {"max_iter": PASSES, "tol": 0.0, "safeguard": False}

#: The rows of panels.
SETTINGS: dict[str, dict] = {
    "LPJT, defaults": ENDLESS,
    "Algorithm 1 of the paper": {"preset": "paper", **ENDLESS},
}
QUANTITIES = {
    "objective": "objective, Eq. (16)",
    "marginal_mmd": "marginal MMD, Eq. (8)",
    "conditional_mmd": "conditional MMD, Eq. (9)",
}
CAPTION = """
Each curve is relative to its first pass. Objective: numerator over denominator of Eq. (16) at the pass's projections.
MMD: of the embedded rows, projections scaled so that the numerator of Eq. (16) is d. Every pass has graphs and class
means of new labels (and, in the paper's algorithm, new landmark weights), so nothing obliges a curve to fall: the
number of rises is printed. A curve ends where no label changes any more. The fits are label-free ({protocol}).
"""


def draw_convergence(request: Request) -> Drawing:
    """Fit each pair under each setting and draw what `history_` holds."""
    problems = request.problems()
    tasks = [
        Task(problem, parameters, f"{problem.pair}, {setting}", {"setting": setting})
        for setting, parameters in SETTINGS.items()
        for problem in problems
    ]
    histories = fit_tasks(tasks, _read, request)
    rows = [row for task, history in zip(tasks, histories, strict=True) for row in _rows(task, history)]
    title = f"Objective and MMD by pass · {request.title}"
    return Drawing(_draw(rows, title, CAPTION.format(protocol=protocol_words(problems[0]))), rows)


def count_rises(rows: list[dict], quantity: str) -> tuple[int, int]:
    """How many steps from one pass to the next go up, and how many there are; rows of one setting, pair by pair."""
    steps = [
        after[quantity] > before[quantity]
        for before, after in pairwise(rows)
        if after["n_iter"] == before["n_iter"] + 1
    ]
    return sum(steps), len(steps)


def _read(model, problem):
    return [{name: record[name] for name in ("n_iter", "n_changed", *QUANTITIES)} for record in model.history_]


def _rows(task, history):
    for record in history:
        relative = {f"relative_{name}": record[name] / history[0][name] for name in QUANTITIES}
        of_task = {"table": task.problem.table, "pair": task.problem.pair, "setting": task.tags["setting"]}
        yield {**of_task, **record, **relative}


def _draw(rows, title, caption):
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
                passes = [row["n_iter"] for row in of_pair]
                axes.plot(passes, [row[f"relative_{quantity}"] for row in of_pair], label=pair, **line_style(number))
            axes.axhline(1.0, color=QUIET, linewidth=0.8, zorder=0)
            dress_axes(axes)
            _note_rises(axes, *count_rises(of_setting, quantity))
        line[0].set_ylabel(f"{setting}\nrelative to pass 1", fontsize=TEXT)
    for axes in panels[-1]:
        axes.set_xlabel("pass", fontsize=TEXT)
        axes.set_xticks(range(1, PASSES + 1, 2))
    canvas.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize=SMALL, frameon=False)
    set_words(canvas, title, caption)
    return canvas


def _note_rises(axes, rises, steps):
    axes.margins(y=0.18)
    axes.text(
        0.98, 0.97, f"{rises} of {steps} steps rise", transform=axes.transAxes, ha="right", va="top",
        fontsize=SMALL, color=QUIET,
    )  # fmt: skip
