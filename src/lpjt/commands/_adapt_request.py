"""What ``lpjt adapt`` was asked for: one field for each argument and option."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lpjt._whole_files import is_stream
from lpjt.commands._adapt_ask import name_ask_file
from lpjt.commands._adapt_parameters import read_settings
from lpjt.commands._adapt_report import check_report
from lpjt.files import STDOUT, FileError, check_output
from lpjt.files.writing import check_place, is_stdout


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments and options of one call, by the names of the parameters of `lpjt.commands.adapt.adapt`."""

    source: Path
    target: Path
    output: Path | None
    more: list[Path] | None
    label: str | None
    target_label: str | None
    target_labels: list[Path] | None
    id_column: str | None
    weight: str | None
    columns: list[str] | None
    drop: list[str] | None
    match: str
    impute: str
    max_levels: int
    sep: str | None
    decimal: str | None
    encoding: str | None
    sheet: str | None
    n_components: int | None
    kernel: str | None
    classifier: str | None
    scaling: str | None
    proportions: str | None
    candidates: bool
    settings: list[str] | None
    search: bool
    seed: int
    trust: float
    proba: bool
    as_json: bool
    model_file: Path | None
    report: Path | None
    ask: int | None
    ask_file: Path | None
    dry_run: bool
    raw_text: bool
    force: bool
    quiet: bool

    @property
    def sources(self) -> list[Path]:
        """All labelled files."""
        return [self.source, *(self.more or [])]

    @property
    def layout(self) -> dict[str, str | None]:
        """How text files and workbooks are laid out, as far as it was given."""
        return {"sep": self.sep, "decimal": self.decimal, "encoding": self.encoding, "sheet": self.sheet}

    @property
    def to_fill_in(self) -> Path | None:
        """The file of the rows to label next, if any are asked for."""
        if self.ask is None:
            if self.ask_file is not None:
                raise FileError("--ask-file names a file for rows to label. Say how many, such as --ask 20.")
            return None
        return name_ask_file(self.output, self.ask_file)

    @property
    def uses_target_labels(self) -> bool:
        """Whether the fit learns from labels of the target."""
        return self.target_label is not None or bool(self.target_labels)

    def check(self) -> None:
        """Refuse what cannot be done before anything is read."""
        if self.target_label is not None and self.target_labels:
            raise FileError("--target-label and --target-labels both name known labels. Give one of them.")
        if self.dry_run:
            return
        if self.output is None:
            raise FileError("No output was named. Give -o labels.csv, -o - for standard output, or --dry-run.")
        if self.as_json and is_stdout(self.output):
            raise FileError("-o - and --json both write to standard output. Give -o a file, or leave --json out.")
        inputs = [*self.sources, self.target, *(self.target_labels or [])]
        check_output(self.output, inputs, force=self.force)
        if self.model_file is not None:
            check_place(self.model_file, inputs, force=self.force)
        if self.report is not None:
            check_report(self.report, inputs, force=self.force)
        if self.to_fill_in is not None:
            check_output(self.to_fill_in, inputs, force=self.force)
        self._check_different()

    def _check_different(self) -> None:
        """Refuse one name for two results, of which the last would be left."""
        named = {"-o": self.output, "--model": self.model_file, "--report": self.report, "--ask-file": self.to_fill_in}
        files: dict[str, str] = {}
        for option, path in named.items():
            if path is not None and path != STDOUT and not is_stream(path):
                other = files.setdefault(os.path.realpath(path), option)
                if other != option:
                    raise FileError(f"{path}: {other} and {option} name the same file. Give two names.")

    def parameters(self) -> dict[str, Any]:
        """Parameters of `LPJT` from their own options and from --set."""
        own = {"n_components": self.n_components, "kernel": self.kernel, "classifier": self.classifier}
        own |= {"scaling": self.scaling, "target_proportions": self.proportions}
        given = {name: value for name, value in own.items() if value is not None}
        settings = read_settings(self.settings or [], given)
        return {"candidates": "auto" if self.candidates else None, "random_state": self.seed, **given, **settings}


def split_names(given: list[str] | None) -> tuple[str, ...]:
    """Names of columns, given with commas between or by several options."""
    return tuple(name.strip() for names in given or [] for name in names.split(",") if name.strip())
