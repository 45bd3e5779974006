"""Files that appear under their name only when they are complete: the one place that writes results."""

import io
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

REMEDY = "overwrite=True (or --force)"


@contextmanager
def replacing(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file to write to, which gets the name `path` at the end of the block; after an error all is as before.

    An existing file is kept, with an error, unless `overwrite`; the new one then has its permissions and its owner. A
    link is followed, and stays. What is not a file (/dev/stdout, /dev/null, a FIFO) is written to, not replaced, at
    the end of the block.
    """
    path = Path(path)
    check_writable(path, overwrite=overwrite)
    with _plain_errors(path):
        if is_stream(path):
            buffer = io.BytesIO()  # writers of archives seek
            yield buffer
            _send(path, buffer.getvalue())
            return
        final = Path(os.path.realpath(path))
        # A short name: with that of the file in it, a name of 250 characters could not be written.
        partial = final.with_name(f".lpjt-{secrets.token_hex(8)}.part")
        try:
            descriptor, named = _create(final, partial)
            with open(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if not named:
                    partial_or_final = partial if overwrite else final
                    os.link(f"/proc/self/fd/{file.fileno()}", partial_or_final, src_dir_fd=file.fileno())
            if named or overwrite:
                _rename(partial, final, overwrite)
            _sync_directory(final.parent)
        except FileExistsError as error:  # it came meanwhile
            raise FileExistsError(_kept(path)) from error
        finally:
            partial.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes, *, overwrite: bool = False) -> None:
    """Write a text in UTF-8, or bytes, by `replacing`."""
    with replacing(path, overwrite=overwrite) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def check_writable(path: str | os.PathLike[str], *, overwrite: bool, remedy: str = REMEDY) -> None:
    """Refuse, before any work is done, a file that cannot be written or that would replace another."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path}: this is a directory. Name a file in it.")
    if is_stream(path):
        return
    if path.is_symlink():
        _check_link(path)
    final = Path(os.path.realpath(path))
    if not final.parent.is_dir():
        raise FileNotFoundError(f"{path}: the directory {final.parent} does not exist. Create it first.")
    if final.exists() and not final.is_file():  # a block device or a socket
        raise FileExistsError(f"{path}: this is not a file, and cannot be written as one. Choose another name.")
    if final.exists() and not overwrite:
        raise FileExistsError(_kept(path, remedy))
    if not os.access(final.parent, os.W_OK):
        raise PermissionError(f"{path}: the directory {final.parent} is not writable. Choose another one.")


def is_stream(path: Path) -> bool:
    """Whether a path is written to as it is: an open descriptor such as /dev/stdout, a FIFO, a character device."""
    if descriptor_of(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def descriptor_of(path: Path) -> int | None:
    """The open descriptor of this process that a path leads to; it may be a file that a shell has opened."""
    for _ in range(40):
        if os.path.realpath(path.parent) in (f"/proc/{os.getpid()}/fd", "/dev/fd") and path.name.isdigit():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = path.parent / os.readlink(path)
    return None


def _send(path: Path, content: bytes) -> None:
    for stream in (sys.stdout, sys.stderr):  # what was printed comes first
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    descriptor = descriptor_of(path)
    with open(path if descriptor is None else os.dup(descriptor), "wb") as file:
        file.write(content)


def _create(final: Path, partial: Path) -> tuple[int, bool]:
    """A new file beside `final`, and whether it has the name `partial`, or none that a kill could leave behind."""
    old = final.stat() if final.exists() else None
    mode = 0o666 if old is None else 0o600  # of a private file nobody may open the new one before it is private, too
    try:
        descriptor, named = os.open(final.parent, os.O_TMPFILE | os.O_RDWR, mode), False
        if not os.path.exists(f"/proc/self/fd/{descriptor}"):  # by which it gets its name
            os.close(descriptor)
            raise OSError
    except (AttributeError, OSError):  # a system, or a file system, without files that have no name
        # O_EXCL refuses a file or link that somebody else has put there.
        descriptor, named = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode), True
    if old is not None and hasattr(os, "fchown"):
        with suppress(OSError):  # not permitted, or an owner that a container does not know
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    return descriptor, named


def _rename(partial: Path, final: Path, overwrite: bool) -> None:
    if not overwrite:
        try:
            os.link(partial, final)  # unlike a test and a rename, this cannot replace a file that came meanwhile
            return
        except FileExistsError:
            raise
        except OSError as error:  # a file system without links
            if final.exists():
                raise FileExistsError from error
    os.replace(partial, final)


def _sync_directory(folder: Path) -> None:
    """Bring a new name to the disk, where directories can be opened (not on Windows)."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _check_link(path: Path) -> None:
    """Refuse a link that somebody else may have planted, as the kernel does in /tmp where a file is opened directly."""
    link, folder = path.lstat(), path.parent.stat()
    if hasattr(os, "geteuid") and link.st_uid not in (os.geteuid(), folder.st_uid):
        raise PermissionError(
            f"{path}: this is a link of another user. Choose another name, or the file that it names."
        )


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Say of which file a full disk, which has no name in its error, was the end, and that nothing is lost."""
    try:
        yield
    except OSError as error:
        if error.errno is None or isinstance(error, BrokenPipeError):  # one of ours; a reader that had enough
            raise
        told = OSError(
            f"{path} could not be written: {error.strerror or error}. What was there is unchanged. Make room, or write "
            "to another place."
        )
        told.errno = error.errno
        raise told from error


def _kept(path: Path, remedy: str = REMEDY) -> str:
    return f"{path} exists and was kept. Choose another name, or replace it with {remedy}."
