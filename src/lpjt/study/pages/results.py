"""docs/results.md and the results of the README, from stored rows alone; no figure is typed by hand.

``python -m lpjt.study.pages.results`` runs what is not stored yet, then writes the page. Rows are in results/runs, one
per run; remove the directory to compute everything anew. Broken off at any moment, the next call goes on.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lpjt._whole_files import write_whole
from lpjt.datasets import find_table
from lpjt.study.figures.ranks import draw_ranks
from lpjt.study.pages.remarks import DEVIATIONS, HELD_OUT, OPENING
from lpjt.study.pages.selection import FREE, MAIN, ORACLE, PUBLISHED, TABLES, jobs_of, page_jobs
from lpjt.study.runner import Event, run_jobs
from lpjt.study.runs.measure import measure
from lpjt.study.runs.methods import METHODS
from lpjt.study.store import Row, Store
from lpjt.study.tables.grid import reproduce_grid
from lpjt.study.tables.markup import to_markdown
from lpjt.study.tables.published import SOURCES, paper_averages
from lpjt.study.tables.ranks import Ranking, rank_methods
from lpjt.study.tables.sheet import Sheet
from lpjt.study.tables.summary import FAR, Agreement, Cell, agreement, averages, cells
from lpjt.study.text import canonical_json

#: From the root of the repository.
STORE, PAGE, README = Path("results/runs"), Path("docs/results.md"), Path("README.md")
RANKS = Path("docs/figures/ranks.png")
README_MARKERS = "<!-- results: made by make results -->", "<!-- end of results -->"

ByTable = Mapping[tuple[str, str], list[Row]]  # by table and protocol


def write_page(rows: Sequence[Row]) -> list[str]:
    """Write the page and the README's table from all rows at hand; lines that say what is missing or unexplained."""
    by_table: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_table.setdefault((row["table"], row["protocol"]), []).append(row)
    remarks: list[str] = []
    parts = [OPENING, _overview(by_table), HELD_OUT, _ranks(by_table), _agreement(by_table, remarks)]
    for section in dict.fromkeys(shown.section for shown in TABLES.values()):
        parts.append(f"## {section}\n")
        for name, shown in TABLES.items():
            if shown.section == section:
                parts += [_table(name, protocol, by_table) for protocol in shown.protocols if protocol != PUBLISHED]
    write_whole(PAGE, "\n".join(part for part in parts if part), overwrite=True)
    _write_headline(by_table)
    missing = [f"{name} ({p})" for name, shown in TABLES.items() for p in shown.protocols if (name, p) not in by_table]
    remarks += [f"No rows yet: {', '.join(missing)}."] if missing else []
    return [f"Written: {PAGE}, {README}.", *remarks]


def _table(name: str, protocol: str, by_table: ByTable) -> str:
    rows = by_table.get((name, protocol))
    if not rows:
        return ""
    text = to_markdown(reproduce_grid(rows, name, protocol), columns_per_block=9)
    return text + (_less_the_better(rows) if find_table(name).kind == "no-shift" else "") + _cost(rows)


def _less_the_better(rows: Sequence[Row]) -> str:
    """LPJT less the better of the methods that do not adapt, mean over domains."""
    needed = ("1-NN", "SVM", "LPJT")
    means = {pair: _known_means(of_pair) for pair, of_pair in cells(rows).items()}
    whole = {pair: found for pair, found in means.items() if all(method in found for method in needed)}
    gaps = {pair: found["LPJT"] - max(found["1-NN"], found["SVM"]) for pair, found in whole.items()}
    if not gaps:
        return ""
    worst = min(gaps, key=lambda pair: gaps[pair])
    return (
        f"\nLPJT less the better of 1-NN and SVM on each domain: {np.mean(list(gaps.values())):+.1f} on average, "
        f"{gaps[worst]:+.1f} at worst ({worst}).\n"
    )


def _known_means(of_pair: Mapping[str, Cell]) -> dict[str, float]:
    return {method: cell.mean for method, cell in of_pair.items() if cell.mean is not None}


def _cost(rows: Sequence[Row]) -> str:
    """Seconds and peak memory of LPJT's runs, as the rows have them."""
    runs = [row for row in rows if row["method"] == "LPJT" and row["status"] == "ok"]
    if not runs or rows[0]["protocol"] == ORACLE:
        return ""
    seconds = sorted(row["seconds"] for row in runs)
    peak = max(row["peak_bytes"] or 0 for row in runs) / 2**20
    return f"\nLPJT: {seconds[len(seconds) // 2]:.1f} s per run (median), at most {peak:.0f} MiB beyond the data.\n"


def _overview(by_table: ByTable) -> str:
    """Means of every method over the pairs of each table, label-free."""
    names = [name for name in TABLES if (name, FREE) in by_table and find_table(name).kind != "no-shift"]
    means = {name: averages(by_table[name, FREE]) for name in names}
    methods = [method for method in METHODS if any(method in of_table for of_table in means.values())]
    best = {
        name: max((a.mean for a in means[name].values() if a.mean is not None and not a.missing), default=np.inf)
        for name in names
    }
    body = []
    for method in methods:
        line = [method]
        for name in names:
            average = means[name].get(method)
            if average is None or average.mean is None:
                line.append("")
            else:
                text = f"{average.mean:.1f}" + ("†" if average.missing else "")
                line.append(f"**{text}**" if average.mean >= best[name] - 1e-9 and not average.missing else text)
        body.append(tuple(line))
    headings = ("label-free, mean over pairs, %", *names)
    note = "Bold: the best of a table. †: not every pair; see the table. Blank: cannot do the table, or not run.\n"
    return "## Overview\n\n" + Sheet("", headings, body).to_markdown() + "\n" + note


def _ranks(by_table: ByTable) -> str:
    """Mean ranks over the pairs of all tables of one width without target labels, in words and as a picture."""
    # efficientnet-unit has the pairs of efficientnet.
    names = [name for name, shown in TABLES.items() if shown.section == TABLES["digits"].section]
    names = [name for name in names if (name, FREE) in by_table and name != "efficientnet-unit"]
    scores = {
        f"{name} {pair}": _known_means(of_pair)
        for name in names
        for pair, of_pair in cells(by_table[name, FREE]).items()
    }
    ranking = rank_methods(scores)
    if ranking is None:
        return ""
    draw_ranks(ranking, RANKS)
    return f"## Ranks\n\n![Mean ranks of methods](figures/{RANKS.name})\n\n{_rank_words(ranking, names)}\n"


def _rank_words(ranking: Ranking, names: Sequence[str]) -> str:
    best, *level = ranking.level_with_best
    said = f"Cannot be told apart from it: {', '.join(level)}." if level else "No other is within that of it."
    return (
        f"Mean ranks over {ranking.n_pairs} pairs ({', '.join(names)}), of the {len(ranking.ranks)} methods that were "
        f"run on all of them. {best} has the best, {ranking.ranks[best]:.1f}; the critical difference is "
        f"{ranking.difference:.1f} (Nemenyi, 5 %; Friedman p = {ranking.p:.1g}). {said} Pairs of one table share "
        "domains, so that they are not independent, as both tests assume: read the difference as a lower bound.\n"
    )


def _agreement(by_table: ByTable, remarks: list[str]) -> str:
    """Ours with each reference's parameters beside the printed means; deviations over three points are explained."""
    body: list[tuple[str, ...]] = []
    notes: list[str] = []
    single: list[str] = []
    for name in TABLES:
        if PUBLISHED not in TABLES[name].protocols:
            continue
        rows = _as_published(name, by_table)
        for found in [*agreement(rows, name), *_program_beside_paper(rows, name)]:
            sure = "" if found.confirmed else " (quoted)"
            body.append(
                (name, found.method, f"{found.n_pairs}", f"{found.ours:.1f}", f"{found.printed:.1f}",
                 f"{found.difference:+.1f}", f"{found.absolute:.1f}", _short(SOURCES[found.source]) + sure)
            )  # fmt: skip
            if found.flagged or found.absolute > FAR:
                why = DEVIATIONS.get((name, found.method))
                apart = f"{name}, {found.method} ({found.difference:+.1f}, cells {found.absolute:.1f})"
                notes.append(f"- {apart}: {why or 'not explained.'}")
                remarks += [] if why else [f"Not explained: {apart}."]
            else:
                single += [f"{name} {pair}, {found.method} {ours - printed:+.1f}" for pair, ours, printed in found.far]
    if not body:
        return ""
    headings = ("table", "method", "pairs", "ours", "printed", "difference", "mean absolute", "printed in")
    text = (
        "## Agreement with published figures\n\nEvery method with its reference's own parameters for the set "
        "(protocol *published*), against the figures printed for the same files. PIE here is a rebuilt copy.\n\n"
    )
    lead = f"\nWhere the means, or the cells on average, are over {FAR:.0f} points apart:\n\n"
    text += Sheet("", headings, body).to_markdown() + lead + "\n".join(notes) + "\n"
    if single:
        text += (
            f"\nSingle cells over {FAR:.0f} points apart, where the means agree: {'; '.join(single)}. Most of these "
            "targets have 157 to 295 rows, and labels swing by as much from one iteration to the next; the printed "
            "figures of CORAL are means over draws of the source.\n"
        )
    return text


def _program_beside_paper(rows: Sequence[Row], name: str) -> list[Agreement]:
    """The authors' program, which stands beside its own run in Octave, beside the paper's column of LPJT too."""
    code, paper = "LPJT (code)", "LPJT (paper)"
    found = agreement([{**row, "method": paper} for row in rows if row["method"] == code], name)
    return [replace(entry, method=code) for entry in found]


def _short(source: str) -> str:
    """First author and year of a reference."""
    year = re.search(r"\b(19|20)\d\d\b", source)
    return f"{source.split(',')[0].split(' and ')[0]} et al. {year.group()}" if year else "the authors' program"


def _as_published(name: str, by_table: ByTable) -> list[Row]:
    """Rows under the references' parameters; a label-free row stands in where its parameters are the same."""
    by_key = {row["key"]: row for row in by_table.get((name, PUBLISHED), [])}
    free = {_identity(row): row for row in by_table.get((name, FREE), [])}
    rows: list[Row] = []
    for job in jobs_of(name, PUBLISHED):
        same = free.get((job.pair, job.method, job.seed, canonical_json(job.parameters)))
        row = by_key.get(job.key) or (same and {**same, "protocol": PUBLISHED})
        rows += [row] if row else []
    return rows


def _identity(row: Row) -> tuple[str, str, int, str]:
    return row["pair"], row["method"], row["seed"], row["parameters"]


def _write_headline(by_table: ByTable) -> None:
    """Means of the main tables between the markers of the README."""
    body: list[tuple[str, ...]] = []
    for name in MAIN:
        rows = by_table.get((name, FREE))
        if not rows or not {"1-NN", "LPJT"} <= averages(rows).keys():
            continue
        means = {m: a.mean for m, a in averages(rows).items() if not a.missing and a.mean is not None}
        others = {method: mean for method, mean in means.items() if not method.startswith("LPJT")}
        best = max(others, key=lambda method: others[method], default="1-NN")
        printed = paper_averages(name).get("LPJT") if name in ("digits", "pie") else None
        spec = find_table(name)
        measured = [means["1-NN"], others[best], means["LPJT"], means.get("LPJT (default)")]
        nearest, other, ours, default = _bold_best(measured)
        body.append(
            (f"{spec.title}, mean of {len(spec.pairs)} pairs", nearest, f"{other} ({best})",
             f"{printed:.1f}" if printed else "not printed", ours, default or "not run")
        )  # fmt: skip
    headings = (
        "accuracy in %; no fit sees a target label, one default, developed on these sets",
        "1-NN",
        "best other method",
        "the paper's LPJT (tuned set by set)",
        "this LPJT, one setting",
        "with candidates (default)",
    )
    text = README.read_text()
    before, rest = text.split(README_MARKERS[0])
    _, after = rest.split(README_MARKERS[1])
    table = Sheet("", headings, body).to_markdown()
    write_whole(README, before + README_MARKERS[0] + "\n" + table + README_MARKERS[1] + after, overwrite=True)


def _bold_best(values: Sequence[float | None]) -> list[str]:
    """Values to one digit, the largest and those that read like it in bold; empty where there is none."""
    texts = ["" if value is None else f"{value:.1f}" for value in values]
    best = max(float(text) for text in texts if text)
    return [f"**{text}**" if text and float(text) == best else text for text in texts]


def _report(event: Event) -> None:
    if event.kind == "end" and event.row is not None:
        row = event.row
        said = f"{row['accuracy']:.2f}" if row["status"] == "ok" else f"{row['status']}: {row['message']}"
        print(
            f"{event.done}/{event.total} {row['table']} {row['pair']} seed {row['seed']} {row['protocol']} "
            f"{row['method']}: {said} ({row['seconds'] or 0:.1f} s)",
            flush=True,
        )


def rows_of_page(rows: Sequence[Row]) -> list[Row]:
    """Stored rows that the page shows: those of its jobs, and those of methods that are not installed here."""
    current = {job.key for job in page_jobs()}
    absent = {method.name for method in METHODS.values() if not method.is_installed()}
    return [row for row in rows if row["key"] in current or row["method"] in absent]


def main() -> None:
    """Run what is not stored yet, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m lpjt.study.pages.results", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"all, or some of {', '.join(TABLES)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--timeout", type=float, default=900, help="seconds after which a run is ended")
    parser.add_argument("--retry-failed", action="store_true", help="run again what failed before")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page from the stored rows")
    given = parser.parse_args()
    unknown = set(given.tables) - set(TABLES)
    if unknown:
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    if not README.is_file() or not PAGE.parent.is_dir():
        parser.error(f"there is no {README} or no directory {PAGE.parent} here; run this in the root of the repository")
    store = Store(STORE)
    if not given.page:
        if not os.environ.get("LPJT_DATA"):
            sys.exit("Set LPJT_DATA to the directory of the data sets.")
        start, jobs = time.perf_counter(), page_jobs(given.tables or tuple(TABLES))
        running = {"n_jobs": given.jobs, "timeout": given.timeout, "retry_failed": given.retry_failed}
        run_jobs(jobs, store, run=measure, on_event=_report, **running)
        print(f"{len(jobs)} runs in {time.perf_counter() - start:.0f} s")
    for line in write_page(rows_of_page(store.rows())):
        print(line)


if __name__ == "__main__":
    main()
