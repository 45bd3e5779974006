"""What ``lpjt adapt`` writes after a fit: labels, model, report and the rows to label next."""

from collections.abc import Callable
from pathlib import Path

from lpjt.commands._adapt_ask import write_ask_file
from lpjt.commands._adapt_fit import Run
from lpjt.commands._adapt_report import write_report
from lpjt.files import FileError, write_columns
from lpjt.files.writing import is_stdout


def write_results(run: Run) -> list[Path]:
    """Write all that was asked for; the files that were written.

    A file that cannot be written, as on a full disk, does not keep the others from being written: a fit is work.
    """
    request = run.request
    assert request.output is not None
    steps: list[tuple[Path | None, Callable[[Path], None]]] = [
        (
            request.output,
            lambda path: write_columns(path, run.output_columns(), overwrite=request.force, raw_text=request.raw_text),
        ),
        (request.model_file, lambda path: run.fitted.save(path, overwrite=request.force)),
        (request.report, lambda path: write_report(path, run)),
        (request.to_fill_in, lambda path: write_ask_file(path, run)),
    ]
    written, errors = [], []
    for path, write in steps:
        if path is None:
            continue
        try:
            write(path)
            written.append(path)
        except (OSError, ValueError) as error:
            errors.append(error)
    names = [str(path) for path in written]
    if len(errors) == 1 and isinstance(errors[0], BrokenPipeError):
        raise errors[0]  # the reader of the output has had enough
    if errors:
        also = f" Written: {', '.join(names)}." if names else ""
        raise FileError(" ".join(map(str, errors)) + also) from errors[0]
    return [path for path in written if not is_stdout(path)]
