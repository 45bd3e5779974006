"""What parts of the attack share that start processes."""

import json
import multiprocessing
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Fault(Exception):
    """What a case has found."""


def in_processes(function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
    """Results of a function, each in a process of its own, all at once."""
    context = multiprocessing.get_context("spawn")
    calls = []
    for given in arguments:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_answer, args=(theirs, function, given))
        process.start()
        theirs.close()
        calls.append((process, ours))
    answers = []
    for process, ours in calls:
        try:
            answers.append(json.loads(ours.recv()))
        except EOFError:
            answers.append({"fault": f"a process ended with code {process.exitcode}"})
        process.join()
    if faults := [answer["fault"] for answer in answers if "fault" in answer]:
        raise Fault(faults[0])
    return [answer["value"] for answer in answers]


def _answer(pipe: Any, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pipe.send(json.dumps({"value": function(*given)}))
        except Exception as error:
            pipe.send(json.dumps({"fault": f"{type(error).__name__}: {error}"}))


@contextmanager
def new_folder() -> Iterator[Path]:
    """A directory that is removed after the block."""
    folder = Path(tempfile.mkdtemp(prefix="lpjt-attack-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
