"""Checksums of files, computed again only if a file has changed."""

import hashlib
from functools import lru_cache
from pathlib import Path


def file_sha256(path: Path) -> str:
    """The sha256 of a file, as 64 hexadecimal digits."""
    state = path.stat()
    return _sha256(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _sha256(path: Path, size: int, changed: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
