"""docs/robustness.md, from stored rows alone."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lpjt._whole_files import write_whole
from lpjt.study.figures.robustness import draw_robustness
from lpjt.study.pages.machines import machines_section
from lpjt.study.robust.data import FEWEST_ROWS, THINNEST
from lpjt.study.robust.measure import N_BINS
from lpjt.study.robust.sheets import families_sheet, goals_sheet, kinds_sheet, of_part, parts_sheet, tasks_sheet
from lpjt.study.robust.summary import HARM, with_result
from lpjt.study.robust.tasks import FEWEST_CLASSES, PARTS, SHARES, Task
from lpjt.study.store import Row
from lpjt.study.tables.sheet import Sheet

PAGE = Path("docs/robustness.md")

_FIGURE = "robustness.png"

_INTRODUCTION = f"""\
# Robustness

<!-- Written by `lpjt bench robust --page --force` from results/robust. Do not edit: run `make robust`. -->

Is adaptation safe where the target lacks classes, has other proportions, or no shift at all? `LPJT(random_state=0)`,
the default, is fitted on every pair at hand, with features as stored and at most {{max_rows:,}} rows per domain, drawn
by class. Only the target is changed, and no fit sees a target label.

- **whole**: the pair as it is.
- **cut to {", ".join(map(str, SHARES[:-1]))} and {SHARES[-1]} %**: the target keeps this share of the classes (at least
  {FEWEST_CLASSES}), in {{draws}} random draws; left out where that is all classes.
- **thinned**: the classes of the target, in random order, keep geometrically smaller shares of their rows, from all of
  them to 1/{1 / THINNEST:g} (at least {FEWEST_ROWS} rows).
- **halves**: two random halves of one domain, so that there is no shift.

*Without adaptation* is the better of 1-NN and a linear SVM, both domains standardised by the source: target labels
choose between the two, which no user could do. A task is *harmed* if LPJT is more than {HARM:g} point below it. *ECE*
is the expected calibration error over {N_BINS} bins of the confidence, the largest entry of a row of
`label_distributions_`. *Estimate* is `estimated_accuracy_`, *interval* `estimated_accuracy_interval_`.

```console
$ lpjt bench robust                         # what is not stored yet, then this page
$ lpjt bench robust --only "SURF C-A"       # a part
$ lpjt bench robust --page --force          # this page, from what is stored
```
"""

_PARTS = """\
## Parts of the suite

A choice of LPJT's defaults may look at the *development* tasks; the *confirmation* tasks show whether it holds on
pairs that it did not see. Pairs, and the domains that are halved, alternate in the list of their family. The two parts
are not independent: they share domains, and [results](results.md) says on which pairs the defaults were developed.
"""


def write_page(tasks: Sequence[Task], rows: Sequence[Row], page: Path = PAGE) -> list[Path]:
    """Write the page of these tasks and its figure from stored rows; the paths that were written."""
    by_key = {row["key"]: row for row in rows}
    found = [by_key[task.key] for task in tasks if task.key in by_key]
    figure = page.parent / "figures" / _FIGURE
    drawn = draw_robustness(found, figure)
    draws = max(task.draw for task in tasks)
    opening = _INTRODUCTION.format(max_rows=tasks[0].max_rows, draws=draws)
    sections = [opening, *_lacking(tasks, found), *_summaries(found, drawn), *_details(found), _machines(found)]
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, "\n".join(sections), overwrite=True)
    return [page, figure] if drawn else [page]


def _lacking(tasks: Sequence[Task], rows: Sequence[Row]) -> Iterator[str]:
    """What the figures leave out."""
    n_results = len(with_result(rows))
    if n_results < len(tasks):
        missing = len(tasks) - len(rows)
        yield (
            f"**Not complete:** {n_results} of {len(tasks)} tasks have a result; {missing} are not measured yet, "
            f"{len(rows) - n_results} failed. All figures are of those with a result.\n"
        )
    failed = [row for row in rows if row["status"] != "ok"]
    if failed:
        yield "\n".join(f"- {row['task']}: {row['status']}, {row['message']}" for row in failed) + "\n"


def _summaries(rows: Sequence[Row], drawn: bool) -> Iterator[str]:
    for title, sheet in (("Kinds of tasks", kinds_sheet), ("Families", families_sheet)):
        yield f"## {title}\n"
        if drawn and sheet is kinds_sheet:
            yield f"![Accuracy of LPJT against accuracy without adaptation](figures/{_FIGURE})\n"
        yield _titled(sheet(rows, "All tasks"))
        for part in PARTS:
            yield _titled(sheet(of_part(rows, part), part.capitalize()))
    yield "## Goals\n"
    yield goals_sheet(rows).to_markdown()


def _details(rows: Sequence[Row]) -> Iterator[str]:
    yield _PARTS
    yield parts_sheet().to_markdown()
    yield "## Every task\n"
    yield "Sorted by LPJT minus no adaptation, the worst first.\n"
    yield tasks_sheet(rows).to_markdown()


def _titled(sheet: Sheet) -> str:
    return f"**{sheet.title}**\n\n{sheet.to_markdown()}"


def _machines(rows: Sequence[Row]) -> str:
    return machines_section(((row["family"], _holds_for(row)) for row in rows), named="family")


def _holds_for(row: Row) -> dict[str, Any]:
    return {"date": row["started"], "machine": json.loads(row["machine"]), "versions": json.loads(row["versions"])}
