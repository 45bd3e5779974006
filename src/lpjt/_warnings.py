"""The category of our warnings about labels, and warnings as lines of text."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class TransferWarning(UserWarning):
    """Labels that may be wrong: little evidence, classes that seem absent, iterations that got worse, inexact solvers.

    Examples
    --------
    A program that must not go on with labels of low trust makes an error of it.

    >>> import warnings
    >>> from lpjt import TransferWarning
    >>> warnings.simplefilter("error", TransferWarning)
    >>> warnings.simplefilter("default", TransferWarning)  # and back
    """


@contextmanager
def readable_warnings() -> Iterator[list[str]]:
    """Yield a list that, at the end of the block, holds each distinct warning for users as one line.

    Nothing is printed.
    """
    lines: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield lines
    for_users = (w for w in caught if issubclass(w.category, UserWarning | RuntimeWarning))
    lines += dict.fromkeys(" ".join(str(w.message).split()) for w in for_users)
