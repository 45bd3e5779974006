"""Ctrl-C: raised even where a library makes another error of it, or loses it."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

#: The usual exit code of a program that Ctrl-C has ended.
EXIT_CODE = 130

_SHOW_CURSOR = b"\x1b[?25h"


def stop_at_once(*_: Any) -> NoReturn:
    """Handler of Ctrl-C while there is nothing to tidy up: one line, and the end, whatever is being imported."""
    if sys.__stderr__ is not None and sys.__stderr__.isatty():
        os.write(2, _SHOW_CURSOR)  # a progress bar may have hidden it
    os.write(2, b"lpjt: stopped.\n")
    os._exit(EXIT_CODE)


@contextmanager
def ctrl_c_kept() -> Iterator[None]:
    """Raise KeyboardInterrupt from a block in which Ctrl-C was pressed, whatever a library made of it.

    pandas reports it as a file that cannot be parsed; in a destructor or a callback of C, Python prints and forgets it.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # it is never raised here, or it is ignored
        return
    pressed, hook = [], sys.unraisablehook

    def press(number: int, frame: FrameType | None) -> None:
        try:
            if before is stop_at_once:
                raise KeyboardInterrupt
            before(number, frame)
        except KeyboardInterrupt:  # a handler of the caller's own may do something else
            pressed.append(True)
            raise

    def press_again(lost: Any) -> None:
        if lost.exc_type is KeyboardInterrupt:  # here it would be lost again
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            hook(lost)

    signal.signal(signal.SIGINT, press)
    sys.unraisablehook = press_again
    try:
        yield
    except Exception as error:
        if pressed:
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
