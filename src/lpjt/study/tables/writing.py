"""Tables of results into files: the suffix says the kind."""

from collections.abc import Mapping
from pathlib import Path

from lpjt.study.tables.grid import Grid
from lpjt.study.tables.markup import to_csv, to_html, to_markdown

KINDS = (".md", ".csv", ".html")


def check_report_path(path: Path) -> None:
    """Refuse, before anything is computed, a file that could not be written afterwards."""
    if path.suffix not in KINDS:
        raise ValueError(f"{path}: tables are written as {', '.join(KINDS)}. Name the file with one of these endings.")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no directory {path.parent}. Make it first.")


def write_grids(grids: Mapping[str, Grid], path: Path) -> list[Path]:
    """Write tables by name into one file, or as CSV, which holds but one table, into one file each."""
    if path.suffix == ".html":
        texts = {path: to_html(list(grids.values()))}
    elif path.suffix == ".md":
        texts = {path: "\n".join(to_markdown(grid) for grid in grids.values())}
    else:
        alone = len(grids) == 1
        texts = {path if alone else path.with_stem(f"{path.stem}-{name}"): to_csv(grid) for name, grid in grids.items()}
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")
    return list(texts)
