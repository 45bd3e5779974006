"""Write docs/reliability.md from the results of `tools/mutants.py`: the score, and every survivor with its reason.

Reasons are in docs/survivors.toml, one table `[[survivor]]` each, with the `path`, the `function`, the `change` (the
line as the fault leaves it) and the `reason`. A survivor without one is listed as open, and the exit code is then 1.
"""

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- Written by tools/mutants_page.py (make mutants-page). -->", "<!-- End of what is written. -->"
OPEN = "**open: no reason given yet**"


def key_of(path: str, function: str, change: str) -> tuple[str, str, str]:
    """What a reason is found by: not the line number, which moves."""
    return path, function, " ".join(change.split())


def change_of(result: dict[str, Any]) -> str:
    """The changed line as the fault leaves it."""
    return "\n".join(line[1:] for line in result["diff"] if line.startswith("+")).strip() or "(dropped)"


def read_reasons(path: Path) -> dict[tuple[str, str, str], str]:
    """Reasons by what they are found by."""
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("survivor", []) if path.exists() else []
    return {key_of(table["path"], table["function"], table["change"]): table["reason"] for table in tables}


def render(store: dict[str, Any], reasons: dict[tuple[str, str, str], str]) -> tuple[str, int]:
    """The section of the page, and how many survivors have no reason."""
    results = sorted(store["mutants"].values(), key=lambda result: (result["path"], result["line"]))
    counts: dict[str, Counter[str]] = {}
    for result in results:
        for row in (result["path"], "**all**"):
            counts.setdefault(row, Counter())[result["outcome"]] += 1
    drawn = f"A draw of {len(results)} out of {store['n_all']} possible faults, seed {store['seed']}."
    lines = [drawn, "", "| module | killed | time-out | survived | noticed |", "|---|---:|---:|---:|---:|"]
    for row, count in sorted(counts.items(), key=lambda item: (item[0] == "**all**", item[0])):
        noticed = 100 * (1 - count["survived"] / count.total())
        cells = " | ".join(str(count[outcome]) for outcome in ("killed", "time-out", "survived"))
        lines.append(f"| {row.removeprefix('src/')} | {cells} | {noticed:.0f} % |")
    survivors = [result for result in results if result["outcome"] == "survived"]
    lines += ["", "#### Survivors", ""]
    n_open = 0
    for result in survivors:
        reason = reasons.get(key_of(result["path"], result["function"], change_of(result)), OPEN)
        n_open += reason is OPEN
        place = f"`{result['path'].removeprefix('src/')}`, `{result['function'] or 'module'}`"
        changed = " ".join(change_of(result).split()).replace("``", "` `")
        lines.append(f"- {place}: `` {changed} `` ({result['kind']}). {reason}")
    return "\n".join(lines), n_open


def main(arguments: Sequence[str] | None = None) -> int:
    """Put the section in its place on the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("build/mutants.json"), help="what tools/mutants.py wrote")
    parser.add_argument("--reasons", type=Path, default=ROOT / "docs/survivors.toml")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/reliability.md")
    options = parser.parse_args(arguments)
    if not options.store.exists():
        raise SystemExit(f"{options.store} does not exist. Run tools/mutants.py first (make mutants).")
    section, n_open = render(json.loads(options.store.read_text(encoding="utf-8")), read_reasons(options.reasons))
    before, _, rest = options.page.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{options.page} has no lines {BEGIN!r} and {END!r} to write between.")
    options.page.write_text(f"{before}{BEGIN}\n\n{section}\n\n{END}{after}", encoding="utf-8")
    print(f"{options.page}: {n_open} survivors without a reason in {options.reasons}.")
    return int(n_open > 0)


if __name__ == "__main__":
    sys.exit(main())
