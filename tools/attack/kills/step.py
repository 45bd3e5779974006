"""``python step.py N FOLDER ...``: the command line, killed at its N-th step on the disk.

A step opens, names, renames or removes something in FOLDER. Random moments seldom fall between two of them. With N=0
nothing is killed, and the number of steps is written to standard error in the end.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

WORDS = "steps on the disk:"
_STEPS = {"open", "os.link", "os.rename", "os.remove", "os.chmod", "os.mkdir"}


def main() -> None:
    """Run ``lpjt`` with the remaining arguments."""
    number, folder = int(sys.argv[1]), os.path.realpath(sys.argv[2])
    sys.argv[1:] = sys.argv[3:]
    steps = 0

    def count(event: str, given: tuple[Any, ...]) -> None:
        nonlocal steps
        if event in _STEPS and any(_is_within(one, folder) for one in given[:2]):
            steps += 1
            if steps == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    try:
        from lpjt.cli import main as run

        run()
    finally:
        if number == 0:
            print(WORDS, steps, file=sys.stderr)


def _is_within(path: object, folder: str) -> bool:
    if not isinstance(path, str | Path):
        return False
    return str(path) == folder or str(path).startswith(folder + os.sep)


if __name__ == "__main__":
    main()
