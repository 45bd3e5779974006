"""Files that may come from strangers: which may be opened at all, and formats read in a process of their own.

Readers of binary formats are compiled code that a crafted file can crash, stall or make ask for any amount of memory.
Here they run in a child process with limits, which hands plain arrays back through a private directory; whatever
happens to it, the caller gets arrays or an error.
"""

from lpjt.isolated.limits import MAX_COLUMNS, Limits, limits_for
from lpjt.isolated.ordinary import check_ordinary
from lpjt.isolated.parts import Answer, Other, RefusedError, SparseParts, UnreadableError
from lpjt.isolated.process import read_isolated
from lpjt.isolated.streams import check_stream

__all__ = [
    "MAX_COLUMNS",
    "Answer",
    "Limits",
    "Other",
    "RefusedError",
    "SparseParts",
    "UnreadableError",
    "check_ordinary",
    "check_stream",
    "limits_for",
    "read_isolated",
]
