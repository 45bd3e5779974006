"""Writing a model to a file, and reading it back."""

import os
import platform
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lpjt._whole_files import replacing
from lpjt.isolated import RefusedError, check_ordinary
from lpjt.saving.allowed import OF_SKLEARN
from lpjt.saving.archive import Archive, write_archive
from lpjt.saving.describe import describe
from lpjt.saving.errors import ModelFileError
from lpjt.saving.trees import Decoder, Encoder

#: What the file says it is, and the version of what this module writes.
FORMAT, FORMAT_VERSION = "lpjt model", 1

_PACKAGES = ("lpjt", "numpy", "scipy", "scikit-learn")
_KEYS = {"format", "format_version", "versions", "about", "model"}


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a fitted model to one file, from which `lpjt.load` reads it without executing anything.

    Parameters
    ----------
    model : LPJT, or a scikit-learn Pipeline that holds one
    path : path
        Name of the file, such as "weather.lpjt". It appears when it is complete.
    overwrite : bool, default=False
        Whether a file of this name is replaced; otherwise it is kept, with an error.

    Raises
    ------
    ModelFileError
        If the file exists, or if the model holds something that is not in the list of allowed classes, such as a
        function as kernel.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lpjt.saving.save(model, Path(folder) / "iris.lpjt")  # the same as model.save(...)
    ...     [file.name for file in Path(folder).iterdir()]
    ['iris.lpjt']
    """
    encoder = Encoder()
    try:
        tree = encoder.encode(model)
    except ModelFileError as error:
        where = f"The model's {encoder.place}: " if encoder.place else ""
        raise ModelFileError(f"{where}{error}") from error
    head = {"format": FORMAT, "format_version": FORMAT_VERSION, "versions": versions(), "about": describe(model)}
    try:
        with replacing(path, overwrite=overwrite) as file:
            write_archive(file, {**head, "model": tree}, encoder.arrays)
    except (FileExistsError, FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise ModelFileError(str(error)) from error


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote; nothing in the file is executed.

    The checksums show damage, not forgery: whoever can write the file can make it hold another model.

    Parameters
    ----------
    path : path

    Returns
    -------
    LPJT, or what was saved
        It predicts as the saved model did, bit by bit on the same machine and the same versions of the packages.

    Raises
    ------
    ModelFileError
        If the file is not a model file, was changed or cut short, or is from a newer version.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "iris.lpjt")
    ...     again = lpjt.load(Path(folder) / "iris.lpjt")
    >>> bool((again.predict(X + 0.5) == model.predict(X + 0.5)).all())
    True
    """
    return read_model(path)[0]


def read_model(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """The model of a file, and what the file says about itself: ``format_version`` and ``versions``."""
    path = Path(path)
    try:
        check_ordinary(path)
    except RefusedError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise FileNotFoundError(f"{path}: {error}") from None
        raise ModelFileError(f"{path}: {error}") from error
    with open(path, "rb") as file:
        archive = Archive(file, path)
        _check_head(archive.head, path)
        try:
            decoder = Decoder(archive.array)
            model = decoder.decode(archive.head["model"])
        except ModelFileError as error:
            words = str(error) if str(path) in str(error) else f"{path}: {error} Copy or save the file again."
            raise ModelFileError(words) from error
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError, RecursionError) as error:
            reason = " ".join(str(error).split())[:160]
            words = f"its values are not those of a model ({reason}). Copy or save it again."
            raise ModelFileError(f"{path}: {words}") from error
        archive.check_all_used()
    if decoder.classes & OF_SKLEARN:
        _check_sklearn(str(archive.head["versions"].get("scikit-learn")), path)
    if not hasattr(model, "get_params"):
        raise ModelFileError(f"{path}: it holds a {type(model).__name__}, not a model. Save a fitted model.")
    return model, {name: archive.head[name] for name in ("format_version", "versions")}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a model depends on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def _check_head(head: Any, path: Path) -> None:
    if head.get("format") != FORMAT or not isinstance(head.get("format_version"), int):
        raise ModelFileError(f"{path}: not a model file of lpjt. Name one that `save` wrote.")
    written = head.get("versions", {})
    if not isinstance(written, dict):
        raise ModelFileError(f"{path}: 'versions' in model.json is no list of versions. Copy or save it again.")
    if head["format_version"] > FORMAT_VERSION:
        raise ModelFileError(
            f"{path}: written by a newer lpjt ({written.get('lpjt', 'unknown')}; format {head['format_version']}, this "
            f"version reads {FORMAT_VERSION}). Upgrade with `pip install -U lpjt`, or save the model again."
        )
    if set(head) != _KEYS:
        raise ModelFileError(f"{path}: unknown entry {min(set(head) ^ _KEYS)!r} in model.json. Copy or save it again.")


def _check_sklearn(there: str, path: Path) -> None:
    """Warn if the parts of scikit-learn in a file are from another version."""
    here = version("scikit-learn")
    if there.split(".")[:2] != here.split(".")[:2]:
        warnings.warn(
            f"{path}: the model holds parts of scikit-learn {there}, and {here} is installed; they may not work. "
            f"Install scikit-learn {there}, or fit and save the model again.",
            stacklevel=4,
        )
