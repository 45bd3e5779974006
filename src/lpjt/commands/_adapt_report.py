"""The page of ``lpjt adapt --report``: what the files have and a fitted model does not."""

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lpjt._whole_files import is_stream
from lpjt.commands.output import progress_console
from lpjt.files import FileError
from lpjt.files.writing import check_place
from lpjt.report.page import environment

if TYPE_CHECKING:
    from lpjt.commands._adapt_fit import Run


def check_report(path: Path, inputs: Iterable[Path] = (), *, force: bool = False) -> None:
    """Refuse, before any work is done, a page that cannot be written, exists, or is an input."""
    if path.suffix.lower() not in {".html", ".htm"} and not is_stream(path):
        raise FileError(f"{path}: a report is a page of HTML. Name it .html.")
    check_place(path, inputs, force=force)
    environment()  # a missing library is told now


def write_report(path: Path, run: "Run") -> None:
    """Write the page of a fit on files. Labels of the target that the fit did not learn from check it."""
    request, inputs, target = run.request, run.inputs, run.inputs.target
    sources, target_name = inputs.sources, run.model._target_names[0]
    names = dict(zip(run.model._source_names, sources.values(), strict=True)) | {target_name: target}
    with progress_console(quiet=request.quiet).status("Writing the report ..."):
        run.fitted.report(
            path,
            X=inputs.joined({name: d.X for name, d in sources.items()}),
            y=inputs.joined({name: d.y for name, d in sources.items()}),
            X_target=target.X,
            y_target=inputs.y_target,
            y_true=None if request.target_label is not None else target.y,
            ids=target.ids,
            columns=None if run.adapter is not None else {name: d.feature_names for name, d in names.items()},
            title=f"{', '.join(d.path.stem for d in sources.values())} to {target.path.stem}",
            command=shlex.join(["lpjt", *sys.argv[1:]]),
            files=[d.path for d in run.domains],
            overwrite=request.force,
        )
