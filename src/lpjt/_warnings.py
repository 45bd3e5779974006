"""Warnings as lines of text, for what prints them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def readable_warnings() -> Iterator[list[str]]:
    """Collect, in the list that is given, each distinct warning meant for users as one line.

    The list is complete when the block ends; nothing is printed.
    """
    lines: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield lines
    meant = (w for w in caught if issubclass(w.category, UserWarning | RuntimeWarning))
    lines += dict.fromkeys(" ".join(str(w.message).split()) for w in meant)
