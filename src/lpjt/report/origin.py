"""Where a report comes from: parameters, versions, checksums of the inputs, and what repeats it."""

import hashlib
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from lpjt.core.blocks import is_sparse, row_blocks
from lpjt.report.rows import DomainRows

PACKAGES = ("lpjt", "numpy", "scipy", "scikit-learn")


def list_parameters(model: Any) -> list[tuple[str, str, bool]]:
    """Name, value and whether it differs from the default, of each parameter; those that differ first."""
    defaults = type(model)().get_params(deep=False)
    given = {name: _words(value) for name, value in model.get_params(deep=False).items()}
    rows = [(name, words, words != _words(defaults[name])) for name, words in given.items()]
    return sorted(rows, key=lambda row: not row[2])


def _words(value: Any) -> str:
    """A value as it is written in a program; of a function its name, as its address says nothing."""
    named = callable(value) and hasattr(value, "__name__")
    return str(value.__name__) if named else repr(value)


def list_versions() -> list[tuple[str, str]]:
    """Versions of what the fit ran on."""
    found = [("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # run from a folder that is not installed
            found.append((name, "unknown"))
    return [*found, ("system", f"{platform.system()} {platform.machine()}")]


def list_checksums(domains: Sequence[DomainRows], files: Iterable[Path]) -> list[tuple[str, str, str]]:
    """Name, kind and SHA-256 of each file, and of the rows of each domain as the fit read them."""
    found = [(path.name, "file", _of_file(path)) for path in files]
    return found + [(d.name, "rows", _of_rows(d.X)) for d in domains if d.X is not None]


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _of_rows(X: Any) -> str:
    digest = hashlib.sha256(f"{X.shape} {X.dtype}".encode())
    if is_sparse(X):
        for part in (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data):
            digest.update(np.ascontiguousarray(part).data)
    else:
        for rows in row_blocks(X):
            digest.update(np.ascontiguousarray(X[rows]).data)
    return digest.hexdigest()


def repeat_in_python(model: Any, *, has_target: bool, has_labels: bool) -> str:
    """The statement that repeats a fit."""
    arguments = ["X", "y"] + (["X_target"] if has_target else []) + (["y_target"] if has_labels else [])
    changed = ", ".join(
        f"{name}={value}"
        for name, value, differs in list_parameters(model)
        if differs and name not in {"callback", "verbose"}  # they change nothing but what is told
    )
    return f"from lpjt import LPJT\n\nmodel = LPJT({changed}).fit({', '.join(arguments)})"


def now() -> str:
    """Date and time, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
