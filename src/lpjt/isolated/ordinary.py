"""Whether a path leads to an ordinary file: a FIFO would block, a device never ends, a directory has no content."""

import os
import stat

from lpjt.isolated.parts import RefusedError

_OTHERS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_ordinary(path: str | os.PathLike[str]) -> int:
    """Size in bytes of an ordinary file that may be read; anything else is refused without being opened."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RefusedError("no such file. Check the path.") from error
    except (OSError, ValueError) as error:  # a loop of links, a name too long or with a zero byte, a closed directory
        reason = getattr(error, "strerror", None) or str(error)
        raise RefusedError(f"cannot be opened ({reason}). Check the path and its permissions.") from None
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFDIR:
        raise RefusedError("this is a directory. Name one file in it.")
    if kind != stat.S_IFREG:
        raise RefusedError(f"this is {_OTHERS.get(kind, 'no file')}, not an ordinary file. Copy the content to a file.")
    try:
        # O_NONBLOCK: should it have become a FIFO meanwhile, this does not wait for a writer.
        os.close(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))
    except OSError as error:
        raise RefusedError(f"cannot be opened ({error.strerror}). Change its permissions, or copy it.") from None
    return found.st_size
