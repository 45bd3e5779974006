"""Reader of one sheet of a workbook, xlsx."""

from importlib.util import find_spec
from pathlib import Path

from lpjt.files.domain import FileError, ReadOptions, quote_names
from lpjt.files.frames import MISSING, RawTable, as_stored, require_pandas
from lpjt.isolated import read_isolated
from lpjt.isolated.formats import cell_of

_BLANK = ("", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "null", "NULL", "None")


def open_xlsx(path: Path, options: ReadOptions) -> RawTable:
    """Read one sheet, whose first row names the columns; blank rows and columns are left out."""
    pandas = require_pandas(path)
    if find_spec("openpyxl") is None:
        raise ImportError(
            f"`openpyxl` is needed to read {path}. Install it with `pip install 'lpjt[xlsx]'`, or save it as csv."
        )
    about = read_isolated(path, "xlsx", sheet=options.sheet).about
    sheet, names = about["sheet"], about["sheets"]
    if sheet is None:
        found = quote_names(names, 20)
        raise FileError(f"{path}: no sheet {options.sheet!r}. Give one of {found}, or its number from 1.")
    columns = [[cell_of(cell) for cell in column] for column in about["cells"]]
    cells = pandas.DataFrame(dict(enumerate(columns)), dtype=object).set_axis(about["columns"], axis=1)
    frame = cells.mask(cells.isin([*_BLANK, *MISSING]))
    kept = frame.notna().any(axis=1)
    cells, frame = cells[kept].reset_index(drop=True), frame[kept].reset_index(drop=True).infer_objects()
    remarks = (f"sheet '{sheet}' of {quote_names(names)}",) if len(names) > 1 else ()
    return RawTable(frame, as_stored(cells), "xlsx", remarks)
