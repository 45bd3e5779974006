"""Tables of the suite, for the terminal and for the page alike."""

from collections.abc import Callable, Sequence

from lpjt.study.robust.families import FAMILIES
from lpjt.study.robust.summary import GOALS, gain, summarise, with_result
from lpjt.study.robust.tasks import KINDS, PARTS, part_of
from lpjt.study.store import Row
from lpjt.study.tables.sheet import MISSING, Sheet

_FIGURES = (
    "tasks", "without adaptation, %", "LPJT, %", "harmed, % of tasks", "worst loss, points", "ECE, points",
    "estimate off by, points", "interval holds, % of tasks",
)  # fmt: skip
_VERDICTS = {True: "met", False: "not met"}


def kinds_sheet(rows: Sequence[Row], title: str) -> Sheet:
    """One line per kind of task, then all of them."""
    return _summary_sheet(rows, "kind", KINDS, title)


def families_sheet(rows: Sequence[Row], title: str) -> Sheet:
    """One line per family, then all of them."""
    return _summary_sheet(rows, "family", tuple(FAMILIES), title)


def goals_sheet(rows: Sequence[Row]) -> Sheet:
    """Every goal with its figure and whether it is met, on all tasks and on each part of the suite."""
    selections = [rows, *(of_part(rows, part) for part in PARTS)]
    lines = []
    for goal in GOALS:
        cells = []
        for selected in selections:
            found = goal.judge(selected)
            cells += [MISSING, MISSING] if found is None else [f"{found[0]:.1f} {goal.unit}", _VERDICTS[found[1]]]
        lines.append((goal.what, goal.limit, *cells))
    headings = ("figure", "goal", *(word for name in ("all tasks", *PARTS) for word in (name, "goal met")))
    return Sheet("Goals", headings, lines)


def tasks_sheet(rows: Sequence[Row]) -> Sheet:
    """One line per task with a result, the greatest loss against no adaptation first."""
    lines = [tuple(cell(row) for cell in _CELLS.values()) for row in _worst_first(rows)]
    return Sheet("Tasks, the worst first", tuple(_CELLS), lines)


def worst_sheet(rows: Sequence[Row], n_tasks: int = 20) -> Sheet:
    """The first lines of `tasks_sheet`, with the columns that a terminal has room for."""
    lines = [tuple(_CELLS[heading](row) for heading in _BRIEF) for row in _worst_first(rows)[:n_tasks]]
    return Sheet("The worst tasks", _BRIEF, lines)


def parts_sheet() -> Sheet:
    """Which pairs and which halved domains belong to which part of the suite."""
    lines = []
    for family in FAMILIES.values():
        names = ["-".join(pair) for pair in family.pairs]
        cells = []
        for listed in (names, family.domains):
            for part in PARTS:
                cells.append(", ".join(name for place, name in enumerate(listed) if part_of(place) == part))
        lines.append((family.name, *cells))
    headings = ("family", *(f"{what}, {part}" for what in ("pairs", "halved") for part in PARTS))
    return Sheet("Parts of the suite", headings, lines)


def of_part(rows: Sequence[Row], part: str) -> list[Row]:
    """The rows of one part of the suite."""
    return [row for row in rows if row["part"] == part]


def _summary_sheet(rows: Sequence[Row], column: str, values: Sequence[str], title: str) -> Sheet:
    lines = [_summary_cells(value, [row for row in rows if row[column] == value]) for value in values]
    present = [line for line in lines if line[1] != "0"]
    return Sheet(title, (column, *_FIGURES), [*present, _summary_cells("all", rows)])


def _summary_cells(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    found = summarise(rows)
    if found is None:
        return (name, "0", *[MISSING] * (len(_FIGURES) - 1))
    figures = (
        found.unadapted, found.accuracy, found.harmed, found.worst_loss, found.calibration_error,
        found.estimate_error, found.coverage,
    )  # fmt: skip
    return (name, str(found.n_tasks), *(f"{value:.1f}" for value in figures))


def _worst_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(with_result(rows), key=lambda row: (gain(row), row["task"]))


def _decimal(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row[name]:.1f}"


def _yes_no(name: str) -> Callable[[Row], str]:
    return lambda row: "yes" if row[name] else "no"


#: Columns of the table of tasks.
_CELLS: dict[str, Callable[[Row], str]] = {
    "task": lambda row: row["task"],
    "part": lambda row: row["part"],
    "rows": lambda row: f"{row['n_source']:,} + {row['n_target']:,}",
    "1-NN, %": _decimal("nearest_accuracy"),
    "SVM, %": _decimal("svm_accuracy"),
    "without adaptation, %": _decimal("unadapted_accuracy"),
    "LPJT, %": _decimal("accuracy"),
    "difference, points": lambda row: f"{gain(row):+.1f}",
    "confidence, %": _decimal("confidence"),
    "ECE, points": _decimal("calibration_error"),
    "estimate, %": _decimal("estimated_accuracy"),
    "off by, points": _decimal("estimate_error"),
    "interval, %": lambda row: f"{row['interval_low']:.1f} to {row['interval_high']:.1f}",
    "holds": _yes_no("covered"),
    "adapted": _yes_no("adapted"),
    "candidate": lambda row: row["candidate"] or MISSING,
    "absent classes": lambda row: str(row["n_absent"]),
    "found": lambda row: str(row["n_absent_found"]),
    "rightly": lambda row: str(row["n_absent_right"]),
    "warnings": lambda row: str(row["n_warnings"]),
    "seconds": _decimal("seconds"),
}
_BRIEF = (
    "task", "part", "without adaptation, %", "LPJT, %", "difference, points", "ECE, points", "estimate, %", "adapted",
)  # fmt: skip
