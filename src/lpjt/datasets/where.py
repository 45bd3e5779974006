"""Where the files of a set are: in the directory that LPJT_DATA names, or in the download cache."""

import os
from collections import Counter
from pathlib import Path

from lpjt.datasets.registry import SETS, DataError, DataFile, DataSet


def data_directory() -> Path | None:
    """The user's data directory, or None if LPJT_DATA is not set."""
    named = os.environ.get("LPJT_DATA")
    if not named:
        return None
    path = Path(named).expanduser()
    if not path.is_dir():
        raise DataError(f"LPJT_DATA names {path}, which is not a directory. Create it, or unset LPJT_DATA.")
    return path


def cache_directory() -> Path | None:
    """The download cache: LPJT_CACHE, or pooch's directory for this package; None without either."""
    named = os.environ.get("LPJT_CACHE")
    if named:
        return Path(named).expanduser()
    try:
        import pooch
    except ImportError:
        return None
    return Path(pooch.os_cache("lpjt"))


def roots() -> list[Path]:
    """The directories that are searched, in order."""
    return [path for path in (data_directory(), cache_directory()) if path is not None]


def find_file(data: DataSet, file: DataFile) -> Path | None:
    """The path of a file of a set under any of its names, or None."""
    return next((path for root in roots() for path in _candidates(root, data, file) if path.is_file()), None)


def require_file(data: DataSet, file: DataFile) -> Path:
    """The path of a file of a set, or an error that says how to get it."""
    path = find_file(data, file)
    if path is None:
        raise DataError(f"{data.name}: the file {file.name} is missing. {how_to_get(data, file)}")
    return path


def how_to_get(data: DataSet, file: DataFile) -> str:
    """How to get a file: the command that fetches it, if there is one, and the folder to put it in."""
    fetched = (
        f"Fetch it with `lpjt data fetch {data.name}`, or put" if file.mirrors else f"Get it ({data.where}) and put"
    )
    return f"{fetched} it {places(data)}."


def places(data: DataSet) -> str:
    """A phrase with the folders that are searched for the files of a set."""
    folders = [str(root / data.folder) for root in roots()]
    if data_directory() is None:
        folders.insert(0, f"in the folder {data.folder} of a directory that LPJT_DATA names")
        return " or in ".join(folders)
    return "in " + " or in ".join(folders)


def image_file(name: str) -> Path:
    """The photograph from which a row of features was extracted, such as amazon/mug/frame_0001.jpg."""
    data = SETS["office-images"]
    for root in roots():
        if (root / data.folder / name).is_file():
            return root / data.folder / name
    raise DataError(f"{data.name}: the image {name} is missing. Get it ({data.where}) and put it {places(data)}.")


def _candidates(root: Path, data: DataSet, file: DataFile) -> list[Path]:
    """Possible paths of a file: in the folder of its set, or directly in the root if no other set uses the name."""
    names = [name for name in (file.name, *file.aliases) if "/" not in name]
    in_folder = [root / data.folder / name for name in names]
    as_paths = [root / name for name in file.aliases if "/" in name]
    shared = _shared_names()
    return [*in_folder, *as_paths, *(root / name for name in names if name not in shared)]


def _shared_names() -> set[str]:
    """File names that several sets use: amazon.mat does not say which features it holds."""
    counts = Counter(
        name for data in SETS.values() for name in {n for file in data.files for n in (file.name, *file.aliases)}
    )
    return {name for name, count in counts.items() if count > 1}
