"""How much memory and time the reading of one file may take, and how to allow more."""

import os
from dataclasses import dataclass

from lpjt.isolated.parts import RefusedError

GIB = 2**30

#: Variables of the environment that replace the limits: GiB, and seconds.
MEMORY, SECONDS = "LPJT_READ_MEMORY", "LPJT_READ_SECONDS"

#: Memory is limited to this many times the size of the file, but never to less than `MIN_MEMORY` bytes.
MEMORY_FACTOR, MIN_MEMORY = 100, 2 * GIB

#: Time is limited to this many seconds, and so many more per MiB of the file; workbooks are the slowest to read.
MIN_SECONDS, SECONDS_PER_MIB = 120.0, 20.0

#: Widest sparse matrix that is read. A vector over its columns, as every fit has, takes half a GiB.
MAX_COLUMNS = 2**26


@dataclass(frozen=True, slots=True)
class Limits:
    """What the reading of one file may take."""

    memory: int  # bytes, of the unpacked content and of the work on it
    seconds: float

    def refuse_bytes(self, needed: int, what: str) -> None:
        """Refuse content that announces, or turns out to have, more bytes than the limit."""
        if needed > self.memory:
            raise RefusedError(f"{what} {_gib(needed)} GiB, more than {self.memory_words}")

    @property
    def memory_words(self) -> str:
        """The limit of memory, why it is there, and how to raise it."""
        return (
            f"the {_gib(self.memory)} GiB that reading this file may take. A small file that unpacks to so much may be "
            f"made to exhaust memory; if you trust it, allow more: {MEMORY}=<GiB> in the environment."
        )

    @property
    def seconds_words(self) -> str:
        """The limit of time and how to raise it."""
        return (
            f"the {self.seconds:.0f} s that reading this file may take. It may be damaged, or made to stall readers; "
            f"if you trust it, allow more: {SECONDS}=<seconds> in the environment."
        )


def limits_for(size: int) -> Limits:
    """Limits for a file of `size` bytes, unless the environment has others."""
    memory = min(max(MIN_MEMORY, MEMORY_FACTOR * size), _physical_memory())
    seconds = MIN_SECONDS + SECONDS_PER_MIB * size / 2**20
    return Limits(int(_given(MEMORY, memory / GIB) * GIB), _given(SECONDS, seconds))


def _given(name: str, usual: float) -> float:
    text = os.environ.get(name, "").strip()
    if not text:
        return usual
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 2**40:  # also excludes nan
        raise RefusedError(f"not read, because {name}={text!r} in the environment is no positive number. Correct it.")
    return value


def _physical_memory() -> int:
    """Bytes of memory of this machine, or a number beyond any where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**60


def _gib(size: int) -> str:
    return f"{size / GIB:,.1f}" if size >= GIB / 10 else f"{size / GIB:.2g}"
