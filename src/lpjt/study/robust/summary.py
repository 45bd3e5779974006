"""Stored rows in a few figures, and the goals that these must meet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from lpjt.study.robust.tasks import CUTS
from lpjt.study.store import Row

#: A task is harmed if LPJT is more than this many points below no adaptation.
HARM = 1.0

#: Kinds in which the target lacks classes or has other proportions.
SHRUNK = (*CUTS.values(), "thinned")


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of some tasks, in per cent or points; of tasks with a result alone."""

    n_tasks: int
    unadapted: float  # mean accuracy without adaptation
    accuracy: float  # mean accuracy of LPJT
    harmed: float  # per cent of the tasks
    worst_loss: float  # points below no adaptation, 0 if no task is below
    calibration_error: float  # mean
    estimate_error: float  # mean absolute difference of the estimated and the true accuracy
    coverage: float  # per cent of the tasks whose interval holds the true accuracy


def summarise(rows: Sequence[Row]) -> Summary | None:
    """The figures of the rows with a result; None if there is none."""
    ok = with_result(rows)
    if not ok:
        return None
    gains = [gain(row) for row in ok]
    return Summary(
        n_tasks=len(ok),
        unadapted=fmean(row["unadapted_accuracy"] for row in ok),
        accuracy=fmean(row["accuracy"] for row in ok),
        harmed=100 * fmean(value < -HARM for value in gains),
        worst_loss=max(0.0, -min(gains)),
        calibration_error=fmean(row["calibration_error"] for row in ok),
        estimate_error=fmean(row["estimate_error"] for row in ok),
        coverage=100 * fmean(row["covered"] for row in ok),
    )


def with_result(rows: Sequence[Row]) -> list[Row]:
    """The rows of tasks that did not fail."""
    return [row for row in rows if row["status"] == "ok"]


def gain(row: Row) -> float:
    """Points of LPJT above no adaptation."""
    return row["accuracy"] - row["unadapted_accuracy"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure, its limit, and the rows that it is read from."""

    what: str
    limit: str  # in words
    read: Callable[[Summary], float]
    is_met: Callable[[float], bool]
    unit: str = "points"
    kinds: tuple[str, ...] | None = None  # None: all

    def judge(self, rows: Sequence[Row]) -> tuple[float, bool] | None:
        """The figure and whether the goal is met; None without rows to read it from."""
        found = summarise([row for row in rows if self.kinds is None or row["kind"] in self.kinds])
        if found is None:
            return None
        value = self.read(found)
        return value, self.is_met(value)


GOALS: tuple[Goal, ...] = (
    Goal(
        f"tasks harmed: more than {HARM:g} point below no adaptation",
        "at most 10 %",
        lambda found: found.harmed,
        lambda value: value <= 10,
        "%",
    ),
    Goal("worst loss of a task", "at most 8 points", lambda found: found.worst_loss, lambda value: value <= 8),
    Goal(
        "mean of LPJT above no adaptation, targets cut or thinned",
        "at least 5 points",
        lambda found: found.accuracy - found.unadapted,
        lambda value: value >= 5,
        kinds=SHRUNK,
    ),
    Goal(
        "expected calibration error, mean",
        "at most 6 points",
        lambda found: found.calibration_error,
        lambda value: value <= 6,
    ),
    Goal(
        "absolute error of the estimated accuracy, mean",
        "at most 6 points",
        lambda found: found.estimate_error,
        lambda value: value <= 6,
    ),
    Goal(
        "tasks whose interval holds the true accuracy",
        "at least 90 %",
        lambda found: found.coverage,
        lambda value: value >= 90,
        "%",
    ),
)
