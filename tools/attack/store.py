"""Outcomes on disk, one line each, so that an interrupted run goes on where it was."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from attack.part import Outcome


@dataclass(slots=True)
class Tally:
    """Counts of a part's outcomes, by group and kind, and the failures whole."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[tuple[int, str, str]] = field(default_factory=list)  # number, group, detail

    def add(self, number: int, outcome: Outcome) -> None:
        """Count one more case."""
        self.counts.setdefault(outcome.group, Counter())[outcome.kind] += 1
        if outcome.kind == "failed":
            self.failures.append((number, outcome.group, outcome.detail))

    def total(self) -> Counter[str]:
        """Counts over all groups."""
        return sum(self.counts.values(), Counter())


@dataclass(frozen=True, slots=True)
class Store:
    """One file per part below a directory."""

    directory: Path

    def path(self, part: str) -> Path:
        """File of a part."""
        return self.directory / f"{part}.jsonl"

    def append(self, part: str, number: int, outcome: Outcome) -> None:
        """Keep one outcome."""
        self.directory.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"n": number, "kind": outcome.kind, "detail": outcome.detail, "group": outcome.group})
        with self.path(part).open("a", encoding="utf-8") as file:
            file.write("\n" + line)  # in front: a line that a kill cut off must not take the next one along

    def read(self, part: str) -> dict[int, Outcome]:
        """Stored outcomes by number; a last line that was cut off is passed over."""
        found = {}
        lines = self.path(part).read_text(encoding="utf-8").splitlines() if self.path(part).exists() else []
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            found[int(row["n"])] = Outcome(row["kind"], row["detail"], row["group"])
        return found

    def forget(self, part: str) -> None:
        """Drop what is stored of a part."""
        self.path(part).unlink(missing_ok=True)
