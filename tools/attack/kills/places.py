"""Where commands write: a directory, or a small file system in memory that can be full."""

import ctypes
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: Bytes of a small file system on which all that a command writes has room.
ROOM = 16 << 20

_NEW_MOUNTS = 0x00020000  # CLONE_NEWNS: a killed attack leaves no mounts behind


@dataclass(slots=True)
class Place:
    """A directory to write into, and a limit of what can be written."""

    folder: Path
    mounted: bool
    limit: int | None = None  # bytes of one file, where nothing could be mounted

    def before_start(self) -> None:
        """Let a child hear Ctrl-C and, without a file system of its own, give its files a largest size."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell lets what it starts in the background ignore it
        if self.limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.limit, self.limit))

    def make_room(self) -> None:
        """Give the place room for everything."""
        self.limit = None
        if self.mounted:
            _run("mount", "-o", f"remount,size={ROOM}", str(self.folder))


@contextmanager
def place(*, small: bool, size: int | None = None) -> Iterator[Place]:
    """A directory; `small` on a file system of its own where that is permitted, of `size` bytes if given."""
    top = Path(tempfile.mkdtemp(prefix="lpjt-attack-"))
    folder = top / "out"
    folder.mkdir()
    mounted = (small or size is not None) and can_mount() and _mount(folder, size or ROOM)
    try:
        yield Place(folder, mounted, None if mounted else size)
    finally:
        if mounted:
            _run("umount", "-l", str(folder))
        shutil.rmtree(top, ignore_errors=True)


@cache
def can_mount() -> bool:
    """Whether this process may mount a file system in memory; from then on its mounts are its own, and end with it."""
    if shutil.which("mount") is None or not hasattr(ctypes.CDLL(None), "unshare"):
        return False
    if ctypes.CDLL(None).unshare(_NEW_MOUNTS) != 0 or not _run("mount", "--make-rprivate", "/"):
        return False
    folder = Path(tempfile.mkdtemp(prefix="lpjt-attack-"))
    try:
        return _mount(folder, 1 << 16)
    finally:
        _run("umount", "-l", str(folder))
        folder.rmdir()


def _mount(folder: Path, size: int) -> bool:
    return _run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))


def _run(*command: str) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0
