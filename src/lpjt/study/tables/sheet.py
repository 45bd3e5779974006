"""A table of words and numbers, for the terminal and for pages alike."""

from dataclasses import dataclass
from typing import Any

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table in words; the first column is text, the others are numbers."""

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def to_markdown(self) -> str:
        """Pipe table without its title."""
        rule = [":--", *["--:"] * (len(self.headings) - 1)]
        return "\n".join(f"| {' | '.join(line)} |" for line in (self.headings, rule, *self.rows)) + "\n"

    def to_rich(self) -> Any:
        """Table for the terminal."""
        from rich.table import Table

        table = Table(title=self.title, title_justify="left")
        for number, heading in enumerate(self.headings):
            table.add_column(heading, justify="right" if number else "left")
        for line in self.rows:
            table.add_row(*line)
        return table
