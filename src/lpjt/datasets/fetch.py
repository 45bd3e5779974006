"""Downloading files into the cache from several mirrors, and comparing files with their checksums."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lpjt.datasets.checksums import file_sha256
from lpjt.datasets.download import ResumingDownloader
from lpjt.datasets.registry import DataError, DataFile, DataSet, find_set
from lpjt.datasets.where import cache_directory, find_file, places, roots

#: Seconds without data before a mirror is given up.
TIMEOUT = 30.0
#: Number of attempts per mirror when the connection breaks.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class FileStatus:
    """The state of one file (or of one folder of images) of a set."""

    data: str
    file: str
    path: Path | None
    state: Literal["ok", "differs", "unknown", "missing"]  # "unknown": found, but its checksum is not recorded
    size: int | None = None
    expected: str | None = None  # sha256, or the number of images
    found: str | None = None


def fetch(
    name: str, *, progress: bool = True, timeout: float = TIMEOUT, on_file: Callable[[str, Path], None] | None = None
) -> list[Path]:
    """Download the missing files of a set into the cache.

    Parameters
    ----------
    name : str
        A data set of the registry.
    progress : bool
        Whether to show a progress bar per file, which needs rich.
    timeout : float
        Seconds without data before a mirror is given up.
    on_file : callable
        Called for each file with "found" or "fetched" and its path.

    Returns
    -------
    list of Path
        One per file.

    Raises
    ------
    DataError
        No mirror has a file, or all mirrors failed; the message says where to put it by hand. Files downloaded before
        it stay in the cache.
    """
    data = find_set(name)
    if not data.files:
        raise DataError(f"{name} cannot be fetched. Get it ({data.where}) and put it {places(data)}.")
    paths, without = [], []
    for file in data.files:
        path, how = find_file(data, file), "found"
        if path is None and not file.mirrors:
            without.append(file.name)
            continue
        if path is None or _differs(path, file, data):
            path, how = _download(data, file, progress=progress, timeout=timeout), "fetched"
        paths.append(path)
        if on_file is not None:
            on_file(how, path)
    if without:
        raise DataError(
            f"{name}: no mirror has {', '.join(without)}. Get them ({data.where}) and put them {places(data)}."
        )
    return paths


def check(name: str) -> list[FileStatus]:
    """The files of a set with their sizes and checksums, compared with those of the registry."""
    data = find_set(name)
    if not data.files:
        return [_check_images(data, domain) for domain in data.domains.values()]
    return [_check_file(data, file) for file in data.files]


def _check_file(data: DataSet, file: DataFile) -> FileStatus:
    path = find_file(data, file)
    if path is None:
        return FileStatus(data.name, file.name, None, "missing", expected=file.sha256)
    found, size = file_sha256(path), path.stat().st_size
    if file.sha256 is None:
        return FileStatus(data.name, file.name, path, "unknown", size, None, found)
    state: Any = "ok" if found in (file.sha256, *file.equals) else "differs"
    return FileStatus(data.name, file.name, path, state, size, file.sha256, found)


def _check_images(data: DataSet, domain: Any) -> FileStatus:
    folders = [root / data.folder / domain.group for root in roots()]
    folder = next((path for path in folders if path.is_dir()), None)
    expected = f"{domain.rows} images"
    if folder is None:
        return FileStatus(data.name, domain.group, None, "missing", expected=expected)
    sizes = [path.stat().st_size for path in folder.glob("*/*.jpg")]
    state: Any = "ok" if len(sizes) == domain.rows else "differs"
    return FileStatus(data.name, domain.group, folder, state, sum(sizes), expected, f"{len(sizes)} images")


def _differs(path: Path, file: DataFile, data: DataSet) -> bool:
    """Whether a cached file has a wrong checksum; files in LPJT_DATA belong to the user and are never replaced."""
    cache = cache_directory()
    in_cache = cache is not None and path.is_relative_to(cache)
    return in_cache and file.sha256 is not None and file_sha256(path) not in (file.sha256, *file.equals)


def _download(data: DataSet, file: DataFile, *, progress: bool, timeout: float) -> Path:
    """Try the mirrors in order; if all of them fail, the error lists every failure."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError("`pooch` is needed to download. Install it with `pip install 'lpjt[data]'`.") from error
    folder = Path(cache_directory() or pooch.os_cache("lpjt")) / data.folder
    part = folder / f".{file.name}.part"
    failures = []
    with _bar(file.name, shown=progress) as on_bytes, _quiet(pooch.get_logger()):
        for url in file.mirrors:
            downloader = ResumingDownloader(part, timeout=timeout, on_bytes=on_bytes)
            reason = _try_mirror(pooch, url, file, folder, downloader)
            if reason is None:
                return folder / file.name
            failures.append(f"{url}: {reason}")
    raise DataError(
        f"{data.name}: {file.name} could not be fetched ({'; '.join(failures)}). Try again, or put it by hand "
        f"{places(data)}, under the name {file.name}."
    )


def _try_mirror(pooch: Any, url: str, file: DataFile, folder: Path, downloader: ResumingDownloader) -> str | None:
    """Download from one mirror: None, or why it failed. pooch checks the checksum before it renames the file."""
    reason = ""
    for _ in range(ATTEMPTS):
        try:
            pooch.retrieve(url, known_hash=f"sha256:{file.sha256}", fname=file.name, path=folder, downloader=downloader)
            return None
        except ValueError as error:
            # A wrong checksum may come from an earlier, broken download: try once more from the start.
            if "hash" not in str(error).lower():
                return _short(error)
            reason = "its checksum differs, " + _both_hashes(error, file)
            if not downloader.resumed:
                return reason
        except OSError as error:
            reason = _short(error)
            if getattr(error, "response", None) is not None:
                return reason  # the server refused
    return reason


def _both_hashes(error: Exception, file: DataFile) -> str:
    words = [word.strip(".,'\"") for word in str(error).split()]
    others = [word for word in words if len(word) == 64 and word != file.sha256]
    return f"{others[0] if others else 'unknown'} instead of {file.sha256}"


def _short(error: Exception) -> str:
    """A short description of a nested error."""
    import requests

    if isinstance(error, requests.exceptions.Timeout) or "timed out" in str(error).lower():
        return "no answer in time"
    if isinstance(error, requests.exceptions.HTTPError) and error.response is not None:
        return f"answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "no connection"
    return " ".join(str(error).split())[:160] or type(error).__name__


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Silence pooch's log: the progress bar and the error say what happens."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _bar(name: str, *, shown: bool) -> Iterator[Callable[[int, int | None], None]]:
    """A progress bar for the bytes of one file, on standard error."""
    if not shown:
        yield lambda have, total: None
        return
    try:
        from rich import progress
        from rich.console import Console
    except ImportError as error:
        raise ImportError("`rich` is needed to show progress. Install it with `pip install 'lpjt[cli]'`.") from error
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda have, total: bar.update(task, completed=have, total=total)
