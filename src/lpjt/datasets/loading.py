"""Loading the domains of a data set as rows and labels, with checks of their shapes and classes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from lpjt.datasets import layouts
from lpjt.datasets.registry import DataError, DataSet, Domain, find_domain, find_set
from lpjt.datasets.where import find_file, require_file
from lpjt.files import FileError, read_domain


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Rows and labels of one domain, and the files that they were read from."""

    X: Any  # (n, width), float64 (float32 for large sets), dense or csr_array
    y: np.ndarray  # (n,), int64
    files: tuple[Path, ...]
    images: np.ndarray | None = None  # (n,), the photograph of each row if the file names it


def load_domains(name: str) -> dict[str, LabelledRows]:
    """All domains of a set, by name."""
    return {domain: load_domain(name, domain) for domain in find_set(name).domains}


def load_domain(name: str, domain: str) -> LabelledRows:
    """One domain of a set.

    Parameters
    ----------
    name, domain : str
        As in the registry: "surf", "A".

    Returns
    -------
    LabelledRows

    Raises
    ------
    DataError
        A file is missing, cannot be read, or differs in shape from the registry; the message names it.

    Examples
    --------
    >>> from lpjt.datasets import load_domain
    >>> X = load_domain("surf", "A").X  # doctest: +SKIP
    """
    data = find_set(name)
    spec = find_domain(data, domain)
    if spec.layout == "images":
        raise DataError(f"{name} holds photographs, not rows. Load one of their feature sets: surf, efficientnet, ...")
    paths, role = _locate(data, spec)
    X, y, images = _read(spec, paths, role)
    _check_shape(data, spec, X, y, paths)
    return LabelledRows(_as_rows(X, data), _as_labels(y, data, spec, paths), paths, images)


def domain_files(name: str, domain: str) -> tuple[Path, ...]:
    """The files of a domain; if one is missing, the DataError says how to get it."""
    data = find_set(name)
    return _locate(data, find_domain(data, domain))[0]


def _locate(data: DataSet, spec: Domain) -> tuple[tuple[Path, ...], str]:
    """The files of a domain and the role to read; if only its twin file exists, the other role of that."""
    if spec.twin is not None and find_file(data, spec.files[0]) is None:
        twin = find_file(data, spec.twin)
        if twin is not None:
            return (twin,), "target" if spec.role == "source" else "source"
    return tuple(require_file(data, file) for file in spec.files), spec.role


def _read(spec: Domain, paths: tuple[Path, ...], role: Any) -> tuple[Any, Any, np.ndarray | None]:
    if spec.layout == "idx":
        return *layouts.read_idx_pairs(paths), None
    if spec.layout == "usps":
        return *layouts.read_usps(paths[0]), None
    if spec.layout == "cdls":
        return *layouts.read_cdls(paths[0], role), None
    if spec.layout == "features":
        return *layouts.read_features(paths[0]), None
    try:
        domain = read_domain(paths[0], role=role)
    except DataError:
        raise
    except FileError as error:
        raise DataError(str(error)) from error
    if domain.y is None:
        raise DataError(f"{paths[0]}: no labels found ({domain.description}). Get the file again.")
    return domain.X, domain.y, domain.ids


def _check_shape(data: DataSet, spec: Domain, X: Any, y: Any, paths: tuple[Path, ...]) -> None:
    """Refuse rows that differ from the registry, such as those of another set's file of the same name."""
    rows, width = X.shape
    n_classes = len(np.unique(y)) if y.dtype != object else -1
    widths = " or ".join(map(str, data.widths))
    if X.dtype.kind == "f" and not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise DataError(f"{paths[0]}: some cells are not finite. Get the file again.")
    if rows != spec.rows or width not in data.widths:
        raise DataError(
            f"{paths[0]}: found {rows} rows of {width} columns; expected {spec.rows} rows of {widths} for "
            f"'{spec.name}' of {data.name}. It is another file, or an incomplete one: replace it."
        )
    if n_classes != data.n_classes:
        found = f"{n_classes} classes" if n_classes >= 0 else "rows without a label"
        raise DataError(
            f"{paths[0]}: found {found}; expected {data.n_classes} classes for '{spec.name}' of {data.name}. "
            "It is another file: replace it."
        )


def _as_rows(X: Any, data: DataSet) -> Any:
    dtype = np.float32 if data.float32 else np.float64
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=dtype)
    return np.ascontiguousarray(X, dtype=dtype)


def _as_labels(y: np.ndarray, data: DataSet, spec: Domain, paths: tuple[Path, ...]) -> np.ndarray:
    """Labels as integers, shifted to start at `first_class`: some copies of a file count from 0, others from 1."""
    if y.dtype.kind not in "iu":
        raise DataError(f"{paths[0]}: the labels are not whole numbers, such as {y[0]!r}. Replace the file.")
    y = y.astype(np.int64)
    if data.first_class is None:
        return y
    if y.max() - y.min() + 1 != data.n_classes:
        raise DataError(
            f"{paths[0]}: labels from {y.min()} to {y.max()}; expected {data.n_classes} consecutive ones for "
            f"'{spec.name}' of {data.name}. Replace the file."
        )
    return y - y.min() + data.first_class
