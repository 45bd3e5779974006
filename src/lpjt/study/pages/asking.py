"""docs/asking.md, from stored rows alone."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from lpjt._whole_files import write_whole
from lpjt.study.asking.measure import MOST
from lpjt.study.asking.sheets import HARM, harm_sheet, read_records, summary_sheet, tasks_sheet
from lpjt.study.asking.tasks import COUNTS, AskTask
from lpjt.study.figures.asking import draw_asking
from lpjt.study.pages.machines import machines_section
from lpjt.study.store import Row

PAGE = Path("docs/asking.md")

_FIGURE = "asking.png"

_INTRODUCTION = f"""\
# The next twenty labels

<!-- Written by `lpjt bench ask --page --force` from results/asking. Do not edit: run `make asking`. -->

What are a few labels of the target worth, and does it matter which rows they are of? For the first pair of each family
of the [robustness](robustness.md) suite, whole, cut to 30 % of the classes and thinned, with at most {{max_rows:,}}
rows per domain, `LPJT(random_state=0)` is fitted without target labels. Then it is fitted again with the true labels of
{", ".join(map(str, COUNTS[:-1]))} and {COUNTS[-1]} rows: those that `model.rows_to_label` of the first fit asks for,
and as many drawn at random. At most {100 * MOST:.0f} % of the target's rows are given a label, so that small targets
have fewer lines.

Both ways are compared on the same rows: those whose label neither was given. *All rows* counts the given ones too, as
they are in what a user gets. The second table compares each fit with the one without labels, on the rows whose label
was withheld from both; labels *harm* a task if it is more than {HARM:g} point worse there.

The weights of `lpjt.selection.given` were set by trials on a few tasks, among them SURF C-A and Digits 8x8 UCI-MNIST,
whole, which are in these tables: their gains are not an independent test. Each number of labels has one random draw.

```console
$ lpjt bench ask                            # all tasks, then this page
$ lpjt bench ask --only "SURF"              # a part
$ lpjt bench ask --page --force             # this page, from what is stored
```
"""


def write_page(tasks: Sequence[AskTask], rows: Sequence[Row], page: Path = PAGE) -> list[Path]:
    """Write the page of these tasks and its figure from stored rows; the paths that were written."""
    by_key = {row["key"]: row for row in rows}
    found = [by_key[task.key] for task in tasks if task.key in by_key]
    figure = page.parent / "figures" / _FIGURE
    drawn = draw_asking(found, figure)
    opening = _INTRODUCTION.format(max_rows=tasks[0].task.max_rows)
    sections = [opening, *_lacking(tasks, found), *_sections(found, drawn), _machines(found)]
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, "\n".join(sections), overwrite=True)
    return [page, figure] if drawn else [page]


def _lacking(tasks: Sequence[AskTask], rows: Sequence[Row]) -> Iterator[str]:
    ok = sum(row["status"] == "ok" for row in rows)
    if ok < len(tasks):
        yield f"**Not complete:** {ok} of {len(tasks)} tasks have a result. All figures are of those.\n"


def _sections(rows: Sequence[Row], drawn: bool) -> Iterator[str]:
    records = read_records(rows)
    if drawn:
        yield f"![Gain of accuracy by labels of asked and of random rows](figures/{_FIGURE})\n"
    for sheet in (summary_sheet(records), harm_sheet(records), tasks_sheet(rows)):
        yield f"## {sheet.title}\n"
        yield sheet.to_markdown()


def _machines(rows: Sequence[Row]) -> str:
    records = (
        (
            row["family"],
            {"date": row["started"], "machine": json.loads(row["machine"]), "versions": json.loads(row["versions"])},
        )
        for row in rows
    )
    return machines_section(records, named="family")
