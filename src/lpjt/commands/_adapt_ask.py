"""``lpjt adapt --ask``: the rows to label by hand next, in a file to fill in."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lpjt.files import STDOUT, FileDomain, FileError, write_columns

if TYPE_CHECKING:
    from lpjt.commands._adapt_fit import Run

#: A matrix with more columns than this is written without them: nobody reads them, and ids tell the rows.
MAX_COLUMNS = 200


def name_ask_file(output: Path | None, ask_file: Path | None) -> Path:
    """The file to fill in: the one that was named, or labels-ask.csv beside labels.csv."""
    if ask_file is not None:
        if ask_file == STDOUT:
            raise FileError("--ask-file - is standard output, which cannot be filled in. Name a file.")
        return ask_file
    if output is None or output == STDOUT:
        raise FileError("--ask writes a file beside the output, which is standard output. Name it with --ask-file.")
    return output.with_name(f"{output.stem}-ask{output.suffix}")


def write_ask_file(path: Path, run: "Run") -> None:
    """Write the rows of most worth, the first first: id, an empty label, and the columns of the row."""
    assert run.request.ask is not None
    rows = run.model.rows_to_label(run.request.ask)
    columns = ask_columns(run.inputs.target, rows, label=run.inputs.domains[0].label_name)
    write_columns(path, columns, overwrite=run.request.force, raw_text=run.request.raw_text)


def ask_columns(target: FileDomain, rows: np.ndarray, *, label: str | None = None) -> dict[str, np.ndarray]:
    """What `read_known_labels` reads again, (n,) each: ids (else row numbers), an empty label column, and the row.

    Parameters
    ----------
    target : FileDomain
    rows : int array, (n,)
        Positions in the target.
    label : str, optional
        Name of the label column; "label" by default.
    """
    id_name, keys = target.id_name or "row", target.ids
    if keys is None or len(np.unique(keys.astype(str))) < len(keys):  # ids that several rows have tell none of them
        id_name, keys = "row", np.arange(target.X.shape[0])
    columns = {id_name: keys[rows], label or "label": np.full(len(rows), None, dtype=object)}
    return columns | {name: values for name, values in _cells(target, rows).items() if name not in columns}


def _cells(target: FileDomain, rows: np.ndarray) -> dict[str, Any]:
    """The cells of some rows by the name of their column; none of a wide matrix or a sparse one."""
    if target.is_table:
        return {str(name): target.X[name].iloc[rows].to_numpy(dtype=object, na_value=None) for name in target.X}
    if target.X.shape[1] > MAX_COLUMNS or not isinstance(target.X, np.ndarray):
        return {}
    names = target.feature_names or [f"column {i}" for i in range(target.X.shape[1])]
    return dict(zip(names, np.asarray(target.X[rows]).T, strict=True))
