"""Tables of results into files: the suffix says the kind."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lpjt._whole_files import check_writable, write_whole
from lpjt.study.tables.grid import Grid
from lpjt.study.tables.markup import to_csv, to_html, to_markdown

KINDS = (".md", ".csv", ".html")


def check_report_path(path: Path, names: Sequence[str], *, overwrite: bool = False) -> None:
    """Refuse, before anything is computed, files of the tables `names` that could not be written afterwards."""
    if path.suffix not in KINDS:
        raise ValueError(f"{path}: tables are written as {', '.join(KINDS)}. Name the file with one of these endings.")
    for file in grid_paths(path, names).values():
        check_writable(file, overwrite=overwrite, remedy="--force")


def grid_paths(path: Path, names: Sequence[str]) -> dict[str, Path]:
    """The file of each table: one for all, or as CSV, which holds but one table, one each."""
    alone = path.suffix != ".csv" or len(names) == 1
    return {name: path if alone else path.with_stem(f"{path.stem}-{name}") for name in names}


def write_grids(grids: Mapping[str, Grid], path: Path, *, overwrite: bool = False) -> list[Path]:
    """Write tables by name into the files of `grid_paths`."""
    if path.suffix == ".html":
        texts = {path: to_html(list(grids.values()))}
    elif path.suffix == ".md":
        texts = {path: "\n".join(to_markdown(grid) for grid in grids.values())}
    else:
        texts = {file: to_csv(grids[name]) for name, file in grid_paths(path, list(grids)).items()}
    for file, text in texts.items():
        write_whole(file, text, overwrite=overwrite)
    return list(texts)
