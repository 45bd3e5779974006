"""Progress is shown on standard error, to somebody who sees it, and to nobody else."""

import sys

import pytest

pytest.importorskip("rich", reason="the command line needs rich")
pytest.importorskip("typer", reason="the command line needs typer")

from lpjt.commands.output import progress_console


@pytest.mark.parametrize(
    ("is_terminal", "quiet", "shown"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_progress_is_for_terminals(monkeypatch, capsys, is_terminal, quiet, shown):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with progress_console(quiet=quiet).status("Adapting ..."):
        pass
    told = capsys.readouterr()
    assert ("Adapting" in told.err) == shown
    assert told.out == ""
