"""The page of ``lpjt adapt --report``: what the files have and a fitted model does not."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lpjt.commands.output import progress_console
from lpjt.estimator import LPJT
from lpjt.files import FileDomain, FileError
from lpjt.report.page import check_path


def check_report(path: Path, *, overwrite: bool = False) -> None:
    """Refuse, before any work is done, a page that cannot be written or exists."""
    if path.suffix.lower() not in {".html", ".htm"}:
        raise FileError(f"{path}: a report is a page of HTML. Name it .html.")
    try:
        check_path(path, overwrite=overwrite)
    except FileExistsError as error:
        raise FileError(f"{path}: this report exists and was kept. Choose another name, or remove it.") from error


def write_report(
    path: Path,
    model: LPJT,
    domains: Sequence[FileDomain],
    *,
    use_target_labels: bool = False,
    quiet: bool = False,
    overwrite: bool = False,
) -> None:
    """Write the page of a fit on files, the sources first and the target last.

    Parameters
    ----------
    path : Path
    model : LPJT
        Fitted on the rows of `domains`.
    domains : sequence of FileDomain
    use_target_labels : bool
        Whether the target's labels were given to the fit; otherwise they check it.
    quiet : bool
        Whether to show no progress.
    overwrite : bool
        Whether an existing page is replaced.
    """
    *sources, target = domains
    names = list(model._source_names)
    columns = {name: d.feature_names for name, d in zip([*names, *model._target_names], domains, strict=True)}
    with progress_console(quiet=quiet).status("Writing the report ..."):
        model.report(
            path,
            X=_by_name(names, [d.X for d in sources]),
            y=_by_name(names, [d.y for d in sources]),
            X_target=target.X,
            y_target=target.y if use_target_labels else None,
            y_true=None if use_target_labels else target.y,
            ids=target.ids,
            columns=columns,
            title=f"{', '.join(d.path.stem for d in sources)} to {target.path.stem}",
            command=shlex.join(["lpjt", *sys.argv[1:]]),
            files=[d.path for d in domains],
            overwrite=overwrite,
        )


def _by_name(names: Sequence[str], parts: Sequence[Any]) -> Any:
    """One part as it is, several as a dict, as they were given to the fit."""
    return parts[0] if len(parts) == 1 else dict(zip(names, parts, strict=True))
