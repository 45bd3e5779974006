"""`make attack-page`: write the section on attacks of docs/reliability.md from results/attack/summary.json."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attack.part import KINDS
from attack.parts import MODULES
from attack.summary import SUMMARY

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- Written by tools/attack/page.py (make attack-page). -->", "<!-- End of the attacks. -->"


def render(summary: dict[str, Any]) -> str:
    """The section: all parts in one table, then the groups of each."""
    parts = [summary[name] for name in MODULES if name in summary]
    lines = ["| attack | cases | fine | refused | failed | command |", "|---|---:|---:|---:|---:|---|"]
    for part in parts:
        counts = [sum(row[kind] for row in part["groups"]) for kind in KINDS]
        cells = " | ".join(f"{count:,}" for count in (sum(counts), *counts))
        lines.append(f"| {part['title']} | {cells} | `{part['command']}` |")
    for part in parts:
        lines += ["", *_part(part)]
    return "\n".join(lines)


def _part(part: dict[str, Any]) -> Iterator[str]:
    """Heading, versions and table of one part."""
    versions = ", ".join(f"{name} {number}" for name, number in part["versions"].items())
    n = sum(row[kind] for row in part["groups"] for kind in KINDS)
    yield f"### {part['title']}"
    yield ""
    yield (
        f"{n:,} of the {part['cases_of_the_long_run']:,} cases of the long run, on {part['date']}, "
        f"Python {part['python']}, {versions}."
    )
    yield ""
    measures = list(dict.fromkeys(name for row in part["groups"] for name in row["measures"]))
    yield "| " + " | ".join(["", *KINDS, *measures]) + " |"
    yield "|---|" + "---:|" * len(KINDS) + "---|" * len(measures)
    for row in part["groups"]:
        cells = [row["group"] or "all", *(f"{row[kind]:,}" for kind in KINDS)]
        yield "| " + " | ".join([*cells, *(row["measures"].get(name, "") for name in measures)]) + " |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Put the section in its place on the page; the exit code is 1 if a case has failed."""
    parser = argparse.ArgumentParser(prog="attack.page", description=__doc__)
    parser.add_argument("--summary", type=Path, default=SUMMARY)
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args(arguments)
    if not given.summary.exists():
        raise SystemExit(f"{given.summary} does not exist. Run `make attack`, then `make attack-page`.")
    summary = json.loads(given.summary.read_text(encoding="utf-8"))
    before, _, rest = given.page.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{given.page} has no lines {BEGIN!r} and {END!r} to write between.")
    given.page.write_text(f"{before}{BEGIN}\n\n{render(summary)}\n\n{END}{after}", encoding="utf-8")
    failed = sum(row["failed"] for part in summary.values() for row in part["groups"])
    print(f"{given.page}: {failed} failed cases.")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
