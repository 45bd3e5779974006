"""Every option of the command line, the case that proves it, and a way to disconnect it."""

from collections.abc import Callable, Iterator
from io import StringIO

import numpy as np
import typer
from typer.testing import CliRunner

from lpjt.cli import build_app
from lpjt.estimator import LPJT
from tables import frame, pandas

CLASSES = np.array(["ape", "bee", "cat"])
WIDTH = 4


def all_options() -> Iterator[tuple[str, str]]:
    """Command and option, such as ("adapt", "--label"), of everything that the app itself takes."""

    def walk(command, parent, path):
        context = type(parent)(command, parent=parent, info_name=path[-1]) if path else parent
        for parameter in command.params:
            yield " ".join(path), option_name(parameter)
        for name in getattr(command, "list_commands", lambda context: ())(context):
            yield from walk(command.resolve_command(context, [name])[1], context, (*path, name))  # loads the command

    root = typer.main.get_command(build_app())
    yield from walk(root, root.context_class(root, info_name="lpjt"), ())


def option_name(parameter) -> str:
    """The long name of an option; an argument by the name of its parameter, in capitals."""
    if parameter.param_type_name == "argument":
        return parameter.name.upper()
    return max(parameter.opts, key=len)


class Cases(dict):
    """Cases by command and option: functions that run the command with two values and check what each of them did."""

    def prove(self, command: str, option: str) -> Callable:
        def keep(case):
            assert (command, option) not in self, f"`lpjt {command}`, {option} has two cases"
            self[command, option] = case
            return case

        return keep

    def check_complete(self, options: set[tuple[str, str]], file: str) -> None:
        missing, stale = sorted(options - set(self)), sorted(set(self) - options)
        name = "`lpjt {}`, {}".format
        assert not missing, (
            f"No case proves {'; '.join(name(*one) for one in missing)}. Add a function under "
            f"@CASES.prove({', '.join(map(repr, missing[0]))}) to {file}."
        )
        assert not stale, f"{file} has a case of {'; '.join(name(*one) for one in stale)}, which no command takes."


class CommandLine:
    """Runs commands in this process, in a folder of their own.

    `models` are the estimators that they fitted. An option that is disconnected keeps the value of its first run.
    """

    def __init__(self, folder, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        self.runner, self.app = CliRunner(), build_app()
        self.models: list[LPJT] = []
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "160")
        self._watch_fits()

    def __call__(self, *arguments, code=0):
        result = self.runner.invoke(self.app, [str(argument) for argument in arguments])
        assert result.exit_code == code, result.output
        return result

    def read(self, *path) -> str:
        """The text of a file that a command should have written."""
        file = self.folder.joinpath(*path)
        assert file.is_file(), f"{file} was not written"
        return file.read_text(encoding="utf-8")

    def adapt(self, *arguments, source="source.csv", target="target.csv", output="labels.csv"):
        """Run ``lpjt adapt`` and read what it wrote."""
        self("adapt", source, target, "-o", output, "--force", *arguments)
        return pandas.read_csv(StringIO(self.read(output)))

    def write(self, name, *, rows=30, classes=CLASSES, shift=0.0, seed=0, **columns):
        """Write rows of well separated classes, one after the other, as csv; their true classes."""
        rng = np.random.default_rng(seed)
        codes = np.arange(rows) % len(classes)
        centres = 6 * np.eye(WIDTH)[[list(CLASSES).index(name) for name in classes]]
        table = frame(centres[codes] + rng.normal(size=(rows, WIDTH)) + shift, **columns)
        table.to_csv(self.folder / name, index=False)
        return np.array(classes)[codes]

    def disconnect(self, command: str, option: str) -> None:
        """Let a command see, in every run, the value that the option had in the first."""
        parameter_class = next(cls for cls in typer.core.TyperOption.__mro__ if "process_value" in vars(cls))
        process_value, seen = parameter_class.process_value, []

        def frozen(parameter, context, value):
            path = context.command_path.split(maxsplit=1)[1:]
            if (" ".join(path), option_name(parameter)) != (command, option):
                return process_value(parameter, context, value)
            if not seen:
                seen.append(process_value(parameter, context, value))
            return seen[0]

        self.monkeypatch.setattr(parameter_class, "process_value", frozen)

    def _watch_fits(self) -> None:
        fit = LPJT.fit

        def watched(model, *args, **kwargs):
            self.models.append(model)
            return fit(model, *args, **kwargs)

        self.monkeypatch.setattr(LPJT, "fit", watched)
