"""Measurements one after the other, each in a process of its own, every end a stored row."""

from collections.abc import Callable, Iterable

from lpjt.study.runner import Event, run_jobs
from lpjt.study.speed.measure import measure_task
from lpjt.study.speed.methods import METHODS
from lpjt.study.speed.others import measure_other
from lpjt.study.speed.results import Measurement
from lpjt.study.store import Row, Store
from lpjt.study.text import canonical_json


def run_tasks(
    tasks: Iterable[Measurement], store: Store, *, on_event: Callable[[Event], None] | None = None
) -> list[Row]:
    """Measure every task, stored or not, and store its row; the rows in the order of the tasks.

    A task larger than one at which its method failed is not run: its row says so, and its event is of kind "skip".
    """
    rows: list[Row] = []
    failed_at: dict[tuple[str, str], Row] = {}

    def on_inner(event: Event) -> None:
        if event.row is not None:
            rows.append(event.row)
        if on_event is not None:
            on_event(event)

    for task in tasks:
        series = (task.method, canonical_json(task.parameters))
        failed = failed_at.get(series)
        if failed is not None and task.size > failed["size"] > 0:
            message = f"{failed['status']} at {failed['size']:,} rows"
            row = task.row_without_result(status="not run", message=message)
            store.append(row)
            on_inner(Event("skip", task, row, 1, 0, 1, 0.0))
            continue
        run = measure_task if task.method in METHODS else measure_other
        run_jobs([task], store, run=run, timeout=task.timeout, again=True, on_event=on_inner)
        if rows[-1]["status"] != "ok":
            failed_at[series] = rows[-1]
    return rows
