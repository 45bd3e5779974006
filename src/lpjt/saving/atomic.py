"""Files that appear under their name only when they are complete."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lpjt.saving.errors import ModelFileError


@contextmanager
def replacing(path: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file to write to, which gets the name `path` at the end of the block, and is removed after an error.

    A file that is there already is kept, with an error, unless `overwrite`; the new one has its permissions.
    """
    path = Path(os.path.realpath(path))
    check_writable(path, overwrite=overwrite)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        # "x" refuses a file or link that somebody else has put there; a new file gets the usual permissions.
        with open(partial, "xb") as file:
            if path.exists():
                os.chmod(partial, stat.S_IMODE(path.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        _rename(partial, path, overwrite)
    finally:
        partial.unlink(missing_ok=True)


def check_writable(path: Path, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a file that cannot be written or that would replace another."""
    if path.is_dir():
        raise ModelFileError(f"{path}: this is a directory. Name a file in it.")
    if not path.parent.is_dir():
        raise ModelFileError(f"{path}: the directory {path.parent} does not exist. Create it first.")
    if path.exists() and not overwrite:
        raise ModelFileError(_kept(path))


def _rename(partial: Path, path: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(partial, path)
        return
    try:
        os.link(partial, path)  # unlike a test and a rename, this cannot replace a file that came meanwhile
    except FileExistsError as error:
        raise ModelFileError(_kept(path)) from error
    except OSError:  # a file system without links
        if path.exists():
            raise ModelFileError(_kept(path)) from None
        os.replace(partial, path)


def _kept(path: Path) -> str:
    return f"{path} exists and was kept. Choose another name, or replace it with overwrite=True (or --force)."
