"""The protocol of each table: the source, the target and the known target labels for a pair and a seed."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lpjt.datasets.checksums import file_sha256
from lpjt.datasets.loading import LabelledRows, domain_files, load_domain
from lpjt.datasets.registry import find_set
from lpjt.datasets.tables import HALVED, TABLES, TableSpec, find_pair, find_table

_HALVED_NAMES = {"MNIST": ("digits", "MNIST"), "USPS": ("digits", "USPS"), "COIL_1": ("coil", "COIL1")}


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A labelled source, and a target whose labels are used only for the score, except those of the rows in `given`."""

    table: str
    pair: str
    seed: int
    X_source: Any  # (n_source, width_source), raw: the method applies the normalisation of the table
    y_source: np.ndarray
    X_target: Any  # (n_target, width_target)
    y_target: np.ndarray  # all true labels, for the score
    given: np.ndarray | None  # indices of the target rows whose label a method may use
    checksum: str  # of the files and the split

    @property
    def y_given(self) -> np.ndarray | None:
        """Target labels that a method may use, (n_target,), None for the other rows; None if no label is given."""
        if self.given is None:
            return None
        labels = np.full(len(self.y_target), None, dtype=object)
        labels[self.given] = self.y_target[self.given]
        return labels

    @property
    def scored(self) -> np.ndarray:
        """Mask of the target rows that are scored, (n_target,): those whose label is not given."""
        mask = np.ones(len(self.y_target), dtype=bool)
        if self.given is not None:
            mask[self.given] = False
        return mask


def load_problem(table: str, pair: str, seed: int = 0) -> Problem:
    """Load one pair of a table and draw its labelled rows.

    Parameters
    ----------
    table, pair : str
        As in `TABLES`; an unknown name gives an error with the nearest one.
    seed : int
        Seed of the labelled rows that are drawn; without effect in tables that are not `seeded`.

    Returns
    -------
    Problem

    Examples
    --------
    >>> from lpjt.datasets import load_problem
    >>> problem = load_problem("surf", "C-A")  # doctest: +SKIP
    """
    spec = find_table(table)
    pair = find_pair(table, pair)
    if spec.kind == "no-shift":
        return _halved(spec, pair, seed)
    source, target = (_load(*place) for place in _domains_of(spec, pair))
    rows, given = np.arange(len(source.y)), None
    if spec.n_source is None or spec.n_target is None:
        pass
    elif not spec.seeded:
        given = np.arange(spec.n_target * len(np.unique(target.y)))  # the demonstration's labelled rows come first
    else:
        rng = np.random.default_rng(seed)
        rows = some_of_each(source.y, spec.n_source, rng)
        given = some_of_each(target.y, spec.n_target, rng)
    return Problem(
        table,
        pair,
        seed,
        source.X[rows],
        source.y[rows],
        target.X,
        target.y,
        given,
        _checksum([*source.files, *target.files], rows, given),
    )


def some_of_each(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Sorted indices of `n` randomly drawn rows per class, or of all rows of a class that has fewer."""
    return np.sort(np.concatenate([rng.permutation(np.flatnonzero(y == c))[:n] for c in np.unique(y)]))


def resize_images(X: np.ndarray, size: int) -> np.ndarray:
    """Square images, (n, side * side), averaged exactly over a grid of size x size cells: (n, size * size)."""
    side = round(X.shape[1] ** 0.5)
    edges = np.linspace(0, side, size + 1)
    # Share of pixel j in cell i: the overlap of [j, j + 1) and [edge_i, edge_i+1), divided by the length of the cell.
    low = np.maximum(edges[:-1, None], np.arange(side))
    high = np.minimum(edges[1:, None], np.arange(1, side + 1))
    shares = (np.clip(high - low, 0, None) * size / side).astype(X.dtype)
    return X @ np.kron(shares, shares).T


def locate(table: str, pair: str) -> tuple[Path, ...]:
    """The files of a pair of a table; if one is missing, the DataError says how to get it."""
    spec = find_table(table)
    places = _domains_of(spec, find_pair(table, pair))
    return tuple(dict.fromkeys(path for place in places for path in domain_files(*place)))


def _domains_of(spec: TableSpec, pair: str) -> tuple[tuple[str, str], ...]:
    """Set and domain of the source and of the target, or of the single domain of a table without shift.

    With two sets, the source is taken from the first and the target from the last, if those have such a domain.
    """
    if spec.kind == "no-shift":
        name, _, domain = pair.partition(" ")
        return (_HALVED_NAMES.get(pair, (name, domain)),)
    source, target = pair.split(" to ")
    first, last = spec.sets[0], spec.sets[-1]
    of_source = first if source in find_set(first).domains else last
    of_target = last if target in find_set(last).domains else first
    return (of_source, source), (of_target, target)


def _load(name: str, domain: str) -> LabelledRows:
    rows = load_domain(name, domain)
    if name != "mnist-full":
        return rows
    return LabelledRows(resize_images(rows.X, 16).astype(np.float64), rows.y, rows.files, rows.images)


def _halved(spec: TableSpec, name: str, seed: int) -> Problem:
    """One domain split in halves; in the target half, classes are thinned or left out as the table says."""
    domain = load_domain(*_domains_of(spec, name)[0])
    y = domain.y
    rng = np.random.default_rng([seed, HALVED.index(name)])
    order = rng.permutation(len(y))
    source, target = np.sort(order[: len(y) // 2]), np.sort(order[len(y) // 2 :])
    classes = np.unique(y)
    keep = np.ones(len(classes))
    if spec.name == "halves-proportions":
        keep = rng.permutation(np.geomspace(1, 0.1, len(classes)))
    elif spec.name == "halves-missing":
        keep[rng.choice(len(classes), max(1, len(classes) // 5), replace=False)] = 0
    thinned = [_first_share(target[y[target] == c], share) for c, share in zip(classes, keep, strict=True)]
    target = np.sort(np.concatenate(thinned))
    checksum = _checksum(domain.files, source, target)
    return Problem(spec.name, name, seed, domain.X[source], y[source], domain.X[target], y[target], None, checksum)


def _first_share(places: np.ndarray, share: float) -> np.ndarray:
    return places[: round(len(places) * share)]


def _checksum(files: Iterable[Path], *positions: np.ndarray | None) -> str:
    """Sixteen hexadecimal digits that identify the contents of the files and the drawn rows."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(file_sha256(path).encode())
    for places in positions:
        digest.update(b"none" if places is None else np.asarray(places, dtype=np.int64).tobytes())
    return digest.hexdigest()[:16]


__all__ = [
    "TABLES",
    "Problem",
    "TableSpec",
    "find_pair",
    "find_table",
    "load_problem",
    "locate",
    "resize_images",
    "some_of_each",
]
