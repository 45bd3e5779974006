"""docs/performance.md, from stored results alone."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from lpjt._whole_files import write_whole
from lpjt.study.figures.growth import draw_growth
from lpjt.study.figures.tradeoff import draw_tradeoff, left_out
from lpjt.study.pages.machines import machines_section
from lpjt.study.speed.cluster import cluster_sheet
from lpjt.study.speed.goals import GOALS
from lpjt.study.speed.results import BENCHES, Result, read_result
from lpjt.study.speed.sheets import (
    exponents_sheet,
    fits_sheet,
    neighbors_sheet,
    peers_sheets,
    sample_sheet,
    search_sheet,
    stages_sheet,
)
from lpjt.study.speed.sheets_more import disk_sheet, floor_sheet, predict_sheet, small_sheet
from lpjt.study.store import Store
from lpjt.study.tables.sheet import MISSING, Sheet

PAGE = Path("docs/performance.md")

_INTRODUCTION = """\
# Performance

<!-- Written by `lpjt bench report --force` from results/speed. Do not edit: run `make bench-report`. -->

What a fit costs, measured by `lpjt bench`. Seconds say more about the machine than about the program, so that every
time is given as a ratio too: one **pass** is `X.T @ X` of the rows of both domains, of the same dtype, by the same
threads, in the same process, the median of several before and after the fit. Memory is the peak of the resident memory
during the fit beyond what was there before, and its ratio to the size of the input. Each measurement has a fresh
process of its own; a few rows are fitted first, so that imports are not counted. `make bench-report` measures all of it
again and writes this page.

Rows are made from a seed unless a data set is named: Gaussian classes whose means lie in few directions, with the
spectrum that deep features have within classes; the target is turned, stretched, moved and noisier. *1-NN* is the
nearest source row without any adaptation, on a sample.

```console
$ lpjt bench growth    # a thousand to a million rows per domain; --rows 1000,4000 for fewer
$ lpjt bench visda     # VisDA's shape; --scale 0.05 for a trial
$ lpjt bench pie       # PIE 05 to 07, of LPJT_DATA
$ lpjt bench peers     # beside other libraries, simple alternatives and a dense transcription of the paper
$ lpjt bench neighbors # what approximate neighbours cost in accuracy, on data of LPJT_DATA
$ lpjt bench sample    # learning on a sample against iterating on every row
$ lpjt bench search    # a search among thirty settings, in whole fits
$ lpjt bench small     # 200 + 200 rows with candidates, and the start of the command
$ lpjt bench floor     # beside faiss's cells and neighbours of the same rows, the floor of any graph method
$ lpjt bench predict   # labels of a million new rows, beside their embedding and one search
$ lpjt bench disk      # 20 GB of rows in a file within 2 GB of memory; --gigabytes 2 for a trial
$ lpjt bench cluster   # two worker processes and rows in zarr, one worker killed on the way; --rows 200000
$ lpjt bench quick     # a minute: counted work and ratios beside those stored; fails on 30 % more work
$ lpjt bench profile -o fit.svg # where the time of one fit goes: by stage, by function, and as a flame graph
$ lpjt bench report --force # this page, from what is stored
```
"""

_DRAWINGS = {"growth": draw_growth, "peers": draw_tradeoff}

#: Name of the file of a figure, and what it shows.
_FIGURES = {
    "growth": ("growth", "Time and memory against rows per domain"),
    "peers": ("tradeoff", "Accuracy against seconds, at 1,000 and at 100,000 rows per domain"),
}

_OTHERS = {"disk": disk_sheet, "predict": predict_sheet, "small": small_sheet, "floor": floor_sheet}

_VERDICTS = {True: "yes", False: "no", None: MISSING}


def read_results(store: Store) -> dict[str, Result | None]:
    """The stored result of every bench of the page."""
    return {bench: read_result(bench, store) for bench in BENCHES}


def write_page(results: dict[str, Result | None], page: Path) -> list[Path]:
    """Write the page and its figures from stored results; the paths that were written."""
    drawn = {}
    for bench, draw in _DRAWINGS.items():
        result, figure = results[bench], page.parent / "figures" / f"{_FIGURES[bench][0]}.png"
        if result is not None and draw(result, figure):
            drawn[bench] = figure
    sections = [_INTRODUCTION, _goals(results), *_measured(results, drawn), _machines(results)]
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, "\n".join(sections), overwrite=True)
    return [page, *drawn.values()]


def goals_sheet(results: dict[str, Result | None]) -> Sheet:
    """Every goal with what was measured and whether it is met."""
    rows: list[tuple[str, ...]] = []
    for goal in GOALS:
        said, met = goal.read(results)
        must, _, aim = goal.limit.partition(", aim at ")
        rows.append((goal.what, must, aim or MISSING, said, _VERDICTS[met], f"`lpjt bench {goal.command}`"))
    return Sheet("Goals", ("figure", "must", "aim", "measured", "met", "command"), rows)


def sheets_of(result: Result) -> list[Sheet]:
    """Tables of a result, whatever its bench."""
    bench = result["bench"]
    if bench == "peers":
        return peers_sheets(result)
    if bench == "neighbors":
        return [neighbors_sheet(result)]
    if bench == "sample":
        return [sample_sheet(result)]
    if bench == "search":
        return [search_sheet(result)]
    if bench == "cluster":
        return [cluster_sheet(result["records"])]
    if bench in _OTHERS:
        return [_OTHERS[bench](result)]
    more = [exponents_sheet(result)] if bench.startswith("growth") else []
    stages = stages_sheet(result, "Time by stage")
    return [fits_sheet(result, "Fits"), *more, *([stages] if stages else [])]


def _goals(results: dict[str, Result | None]) -> str:
    return f"## Goals\n\n{goals_sheet(results).to_markdown()}"


def _measured(results: dict[str, Result | None], drawn: Mapping[str, Path]) -> Iterator[str]:
    """Sections of all benches."""
    titles = {
        "visda": "VisDA's shape",
        "growth": "Growth",
        "pie": "PIE 05 to 07",
        "peers": "Peers",
        "neighbors": "Approximate neighbours",
        "sample": "Learning on a sample",
        "search": "Searching parameters",
        "small": "Small problems",
        "floor": "The floor of graph methods",
        "predict": "New rows",
        "disk": "Rows on disk",
        "cluster": "Two worker processes",
    }
    for bench, title in titles.items():
        result = results[bench]
        yield f"## {title}\n"
        if result is None:
            yield f"Not measured yet: `lpjt bench {bench}` does.\n"
            continue
        yield f"{result['note']}\n"
        if bench in drawn:
            yield f"![{_FIGURES[bench][1]}](figures/{drawn[bench].name})\n"
        if bench == "peers" and bench in drawn:
            yield "\n".join(f"- {line}" for line in left_out(result)) + "\n"
        for sheet in sheets_of(result):
            yield f"**{sheet.title}**\n\n{sheet.to_markdown()}"
        yield from _failures(result)


def _failures(result: Result) -> Iterator[str]:
    """Why runs have no figure, each reason once."""
    where: dict[str, list[str]] = {}
    for record in result["records"]:
        if record["status"] not in ("ok", "not run"):
            reason = f"{record['method']}: {record['status']}, {record['message']}"
            where.setdefault(reason, []).append(record["label"])
    if where:
        yield "\n".join(f"- {reason} ({'; '.join(labels)})" for reason, labels in where.items()) + "\n"


def _machines(results: dict[str, Result | None]) -> str:
    measured = [(bench, result) for bench, result in results.items() if result is not None]
    return machines_section((bench, record) for bench, result in measured for record in result["records"])
