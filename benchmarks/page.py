"""docs/results.md and the results of the README, from stored rows alone; no figure is typed by hand."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from remarks import DEVIATIONS, HELD_OUT, OPENING

from lpjt.benchmarks.measure import canonical_json
from lpjt.benchmarks.methods import METHODS
from lpjt.benchmarks.plan import expand_tables, methods_of, plan_jobs
from lpjt.benchmarks.summary import FAR, agreement, averages, cells
from lpjt.datasets import find_table
from lpjt.datasets.published import SOURCES, paper_averages
from lpjt.report.markup import to_markdown
from lpjt.report.tables import reproduce_grid

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "results.md", ROOT / "README.md"
MARKS = "<!-- results: made by make results -->", "<!-- end of results -->"

FREE, PUBLISHED, ORACLE = "label-free", "published", "oracle"


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page has of a table: protocols, each with its methods (None: all that suit), and seeds."""

    section: str
    protocols: dict = field(default_factory=lambda: {FREE: None})
    seeds: tuple[int, ...] | None = None


_PLAIN, _FEW = "One width, no target labels", "A few target labels"
_WITH_LANDMARKS = [*(method.name for method in methods_of(find_table("surf"), None, FREE)), "LPJT (landmarks)"]
_PRINTED_PIE = ["1-NN", "SVM", "PCA", "GFK", "SA", "TCA", "JDA", "TJM", "JGSA"]
_LABELLED = ["1-NN", "JDA", "JGSA", "SVMt", "Propagation", "PCA+SVM", "CDLS", "SHFA", "LPJT"]
_SEARCHED = ["JDA", "JGSA", "LPJT"]

TABLES = {
    "digits": Shown(_PLAIN, {FREE: _WITH_LANDMARKS, PUBLISHED: None, ORACLE: _SEARCHED}),
    "pie": Shown(_PLAIN, {FREE: None, PUBLISHED: _PRINTED_PIE}),
    "surf": Shown(_PLAIN, {FREE: _WITH_LANDMARKS, PUBLISHED: None, ORACLE: _SEARCHED}),
    "efficientnet": Shown(_PLAIN, {FREE: _WITH_LANDMARKS}),
    "efficientnet-unit": Shown(_PLAIN),
    "coil": Shown(_PLAIN, {FREE: None, PUBLISHED: None}),
    "googlenet": Shown(_PLAIN),
    "amazon": Shown(_PLAIN),
    "digits-few": Shown(_FEW, {FREE: _LABELLED}, seeds=(0, 1, 2)),
    "surf-efficientnet": Shown(_FEW, seeds=(0, 1, 2)),
    "surf-googlenet": Shown(_FEW, seeds=(0, 1, 2)),
    "googlenet-efficientnet": Shown(_FEW, seeds=(0, 1, 2)),
    "cdls-demo": Shown(_FEW),
    "halves-same": Shown("No shift"),
    "halves-proportions": Shown("No shift"),
    "halves-missing": Shown("No shift"),
}
MAIN = ("digits", "pie", "surf", "efficientnet")


def write_page(rows: Sequence[dict]) -> list[str]:
    """Write the page and the README's table from all rows at hand; says what is missing or unexplained."""
    by_table: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        by_table.setdefault((row["table"], row["protocol"]), []).append(row)
    told: list[str] = []
    parts = [OPENING, _overview(by_table), HELD_OUT, _agreement(by_table, told)]
    for section in dict.fromkeys(shown.section for shown in TABLES.values()):
        parts.append(f"## {section}\n")
        for name, shown in TABLES.items():
            if shown.section == section:
                parts += [_table(name, protocol, by_table) for protocol in shown.protocols if protocol != PUBLISHED]
    PAGE.write_text("\n".join(part for part in parts if part))
    _write_headline(by_table)
    missing = [f"{name} ({p})" for name, shown in TABLES.items() for p in shown.protocols if (name, p) not in by_table]
    told += [f"No rows yet: {', '.join(missing)}."] if missing else []
    return [f"Written: {PAGE.relative_to(ROOT)}, {README.relative_to(ROOT)}.", *told]


def _table(name, protocol, by_table):
    rows = by_table.get((name, protocol))
    if not rows:
        return ""
    text = to_markdown(reproduce_grid(rows, name, protocol), columns_per_block=9)
    return text + (_less_the_better(rows) if find_table(name).kind == "no-shift" else "") + _cost(rows)


def _less_the_better(rows):
    """LPJT less the better of the methods that do not adapt, mean over domains."""
    needed = ("1-NN", "SVM", "LPJT")
    whole = {pair: by for pair, by in cells(rows).items() if all(m in by and by[m].mean is not None for m in needed)}
    gaps = {pair: by["LPJT"].mean - max(by["1-NN"].mean, by["SVM"].mean) for pair, by in whole.items()}
    if not gaps:
        return ""
    worst = min(gaps, key=gaps.get)
    return (
        f"\nLPJT less the better of 1-NN and SVM on each domain: {np.mean(list(gaps.values())):+.1f} on average, "
        f"{gaps[worst]:+.1f} at worst ({worst}).\n"
    )


def _cost(rows):
    """Seconds and peak memory of LPJT's runs, as the rows have them."""
    runs = [row for row in rows if row["method"] == "LPJT" and row["status"] == "ok"]
    if not runs or rows[0]["protocol"] == ORACLE:
        return ""
    seconds = sorted(row["seconds"] for row in runs)
    peak = max(row["peak_bytes"] or 0 for row in runs) / 2**20
    return f"\nLPJT: {seconds[len(seconds) // 2]:.1f} s a run (median), at most {peak:.0f} MiB beyond the data.\n"


def _overview(by_table):
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
        body.append(line)
    heads = ["label-free, mean over pairs, %", *names]
    note = "Bold: the best of a table. †: not every pair; see the table. Blank: cannot do the table, or not run.\n"
    return "## Overview\n\n" + _markdown(heads, body) + "\n" + note


def _agreement(by_table, told):
    """Ours with each reference's parameters beside the printed means; deviations over three points are explained."""
    body, notes, single = [], [], []
    for name in TABLES:
        if PUBLISHED not in TABLES[name].protocols:
            continue
        rows = _as_published(name, by_table)
        for found in agreement(rows, name):
            sure = "" if found.confirmed else " (quoted)"
            body.append(
                [name, found.method, f"{found.n_pairs}", f"{found.ours:.1f}", f"{found.printed:.1f}",
                 f"{found.difference:+.1f}", f"{found.absolute:.1f}", _short(SOURCES[found.source]) + sure]
            )  # fmt: skip
            if found.flagged or found.absolute > FAR:
                why = DEVIATIONS.get((name, found.method))
                apart = f"{name}, {found.method} ({found.difference:+.1f}, cells {found.absolute:.1f})"
                notes.append(f"- {apart}: {why or 'not explained.'}")
                told += [] if why else [f"Not explained: {apart}."]
            else:
                single += [f"{name} {pair}, {found.method} {ours - printed:+.1f}" for pair, ours, printed in found.far]
    if not body:
        return ""
    heads = ["table", "method", "pairs", "ours", "printed", "difference", "mean absolute", "printed in"]
    text = (
        "## Agreement with published figures\n\nEvery method with its reference's own parameters for the set "
        "(protocol *published*), against the figures printed for the same files. PIE here is a rebuilt copy.\n\n"
    )
    lead = f"\nWhere the means, or the cells on average, are over {FAR:.0f} points apart:\n\n"
    text += _markdown(heads, body) + lead + "\n".join(notes) + "\n"
    if single:
        text += (
            f"\nSingle cells over {FAR:.0f} points apart, where the means agree: {'; '.join(single)}. Most of these "
            "targets have 157 to 295 rows, and labels swing by as much from one pass to the next; the printed figures "
            "of CORAL are means over draws of the source.\n"
        )
    return text


def _short(source: str) -> str:
    """First author and year of a reference."""
    year = re.search(r"\b(19|20)\d\d\b", source)
    return f"{source.split(',')[0].split(' and ')[0]} et al. {year.group()}" if year else "the authors' program"


def _as_published(name, by_table):
    """Rows under the references' parameters; a label-free row stands in where its parameters are the same."""
    by_key = {row["key"]: row for row in by_table.get((name, PUBLISHED), [])}
    free = {_identity(row): row for row in by_table.get((name, FREE), [])}
    shown, rows = TABLES[name], []
    jobs = plan_jobs(expand_tables([name]), methods=shown.protocols[PUBLISHED], seeds=shown.seeds, protocol=PUBLISHED)
    for job in jobs:
        same = free.get((job.pair, job.method, job.seed, canonical_json(job.parameters)))
        row = by_key.get(job.key) or (same and {**same, "protocol": PUBLISHED})
        rows += [row] if row else []
    return rows


def _identity(row):
    return row["pair"], row["method"], row["seed"], row["parameters"]


def _write_headline(by_table):
    """Means of the main tables between the marks of the README."""
    body = []
    for name in MAIN:
        rows = by_table.get((name, FREE))
        if not rows or not {"1-NN", "LPJT"} <= averages(rows).keys():
            continue
        means = {method: average.mean for method, average in averages(rows).items() if not average.missing}
        others = {m: value for m, value in means.items() if not m.startswith("LPJT") and value is not None}
        best = max(others, key=others.get, default="1-NN")
        printed = paper_averages(name).get("LPJT") if name in ("digits", "pie") else None
        spec = find_table(name)
        body.append(
            [f"{spec.title}, mean of {len(spec.pairs)} pairs", f"{means['1-NN']:.1f}", f"{others[best]:.1f} ({best})",
             f"{printed:.1f}" if printed else "not printed", f"{means['LPJT']:.1f}"]
        )  # fmt: skip
    heads = [
        "accuracy in %; no fit sees a target label, one default, developed on these sets",
        "1-NN",
        "best other method",
        "the paper's LPJT (tuned set by set)",
        "this LPJT",
    ]
    text = README.read_text()
    before, rest = text.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    README.write_text(before + MARKS[0] + "\n" + _markdown(heads, body) + MARKS[1] + after)


def _markdown(heads: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    lines += ["| " + " | ".join(line) + " |" for line in body]
    return "\n".join(lines) + "\n"
