"""What an attack is made of: parts, and the outcome of one case."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: "fine": finite, valid output. "refused": an error of ours that names the argument and the remedy. "failed": the rest.
KINDS = ("fine", "refused", "failed")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case."""

    kind: str  # one of KINDS
    detail: str = ""  # of a failure: what was seen; of the others: a short label to count by, or nothing
    group: str = (
        ""  # row of the table that the case counts in: a reader, a command, a comparison; "" for the part itself
    )


@dataclass(frozen=True, slots=True)
class Part:
    """Many cases of one kind, each made from its number alone."""

    name: str
    title: str  # first words of its row in the table
    cases: int  # in the long run
    slice: int  # in every test run
    run: Callable[[int], Outcome]  # from the number of a case to its outcome; may raise or crash, which is a failure
    seconds: float = 60.0  # a case that takes longer is ended, and has failed
    workers: int = 0  # processes at once; 0 for one per processor, 1 for cases that measure or fill the machine
    # Cases after which a process is replaced, so that what one case leaves behind does not burden the rest for long.
    cases_per_process: int = 500
    # Further columns of a group's row on the page, by name, from the group and its outcomes.
    measures: Callable[[str, Sequence[Outcome]], dict[str, str]] | None = None
