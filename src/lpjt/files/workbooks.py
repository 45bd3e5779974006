"""Reader of one sheet of a workbook, xlsx."""

from pathlib import Path

from lpjt.files.domain import FileError, ReadOptions, quote_names
from lpjt.files.frames import MISSING, RawTable, as_stored, require_pandas

_BLANK = ("", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "null", "NULL", "None")


def open_xlsx(path: Path, options: ReadOptions) -> RawTable:
    """Read one sheet, whose first row names the columns; blank rows and columns are left out."""
    pandas = require_pandas(path)
    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"`openpyxl` is needed to read {path}. Install it with `pip install 'lpjt[xlsx]'`, or save it as csv."
        ) from error
    with pandas.ExcelFile(path, engine="openpyxl") as book:
        names = [str(name) for name in book.sheet_names]
        sheet = _find_sheet(options.sheet, names, path)
        # As objects, because pandas would turn the text 0012 into 12, and the class NA into a missing value.
        cells = pandas.read_excel(book, sheet_name=sheet, dtype=object, keep_default_na=False)
    cells = cells.set_axis([str(name).strip() for name in cells.columns], axis=1)
    frame = cells.mask(cells.isin([*_BLANK, *MISSING]))
    kept = frame.notna().any(axis=1)
    cells, frame = cells[kept].reset_index(drop=True), frame[kept].reset_index(drop=True).infer_objects()
    remarks = (f"sheet '{sheet}' of {quote_names(names)}",) if len(names) > 1 else ()
    return RawTable(frame, as_stored(cells), "xlsx", remarks)


def _find_sheet(wanted: str | None, names: list[str], path: Path) -> str:
    if wanted is None:
        return names[0]
    if wanted in names:
        return wanted
    if wanted.isdigit() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise FileError(f"{path}: no sheet {wanted!r}. Give one of {quote_names(names, 20)}, or its number from 1.")
