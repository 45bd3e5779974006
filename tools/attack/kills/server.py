"""``python server.py``: the command line in forks of a process that has imported it.

Each line of standard input is a JSON object with ``arguments`` and the file for ``errors``; each answer is a line with
the exit code. Most of the time of a command goes into imports, which are looked at where the command is disturbed; the
run that goes on afterwards needs them once. The server computes nothing itself: threads of a library would not survive.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

#: What the commands of the attack import.
MODULES = (
    "lpjt.cli", "lpjt.commands._adapt_fit", "lpjt.commands._adapt_request", "lpjt.commands._adapt_write",
    "lpjt.commands.adapt", "lpjt.commands.predict", "lpjt.commands.reproduce", "lpjt.estimator", "lpjt.files",
    "lpjt.report.page", "lpjt.search", "lpjt.study.runner", "lpjt.study.runs", "lpjt.study.tables", "jinja2", "pandas",
    "pyarrow", "rich", "typer",
)  # fmt: skip


def main() -> None:
    """Serve until standard input ends."""
    for name in MODULES:
        import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(request["arguments"], request["errors"])
        _, status = os.waitpid(pid, 0)
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # what it started
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(arguments: list[str], errors: str) -> None:
    """Be the command, from its first line to the end of Python."""
    os.setsid()
    for descriptor, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, os.devnull, os.O_WRONLY),
        (2, errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        os.dup2(os.open(path, flags), descriptor)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  (open until the process ends)
    sys.argv = ["lpjt", *arguments]
    from lpjt.cli import main as run

    run()
    sys.exit()


if __name__ == "__main__":
    main()
