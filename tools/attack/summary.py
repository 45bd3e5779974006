"""Counts of what is stored, small enough to be committed: results/attack/summary.json."""

import datetime
import json
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from attack.part import KINDS, Outcome, Part
from attack.store import Store

SUMMARY = Path(__file__).parents[2] / "results" / "attack" / "summary.json"

PACKAGES = ("lpjt", "numpy", "scipy", "scikit-learn")


def summarise(part: Part, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Counts of a part by group, with its measures, and what it was run with."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.group, []).append(outcome)
    rows = []
    for group, found in sorted(groups.items()):
        counts = {kind: sum(outcome.kind == kind for outcome in found) for kind in KINDS}
        rows.append({"group": group, **counts, "measures": part.measures(group, found) if part.measures else {}})
    return {
        "title": part.title,
        "command": f"make attack ARGS={part.name}",
        "cases_of_the_long_run": part.cases,
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "groups": rows,
    }


def write_summary(
    store: Store, names: Sequence[str], load: Callable[[str], Part], path: Path | None = None
) -> list[str]:
    """Write the counts of the parts that have stored cases; those of the others stay. Returns the parts written."""
    path = path or SUMMARY
    summary = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    written = []
    for name in names:
        outcomes = store.read(name)
        if outcomes:
            summary[name] = summarise(load(name), list(outcomes.values()))
            written.append(name)
    if written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return written
