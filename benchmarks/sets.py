"""The real data sets of the results, read from the directory that LPJT_DATA names."""

import os
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.io import loadmat


class Pair(NamedTuple):
    """A labelled source and a target whose labels are for the score alone, but for the rows in `given`."""

    name: str
    X_source: np.ndarray
    y_source: np.ndarray
    X_target: np.ndarray
    y_target: np.ndarray
    given: np.ndarray | None = None  # places of target rows whose label the method may see


def directory() -> Path:
    """Where the data are; exits with one line where that is not said."""
    if not os.environ.get("LPJT_DATA"):
        raise SystemExit("Set LPJT_DATA to the directory of the data sets.")
    return Path(os.environ["LPJT_DATA"])


def domains(name: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Rows and labels of each domain of a set."""
    root = directory()
    if name == "pie":
        files = {key: loadmat(root / f"pie/PIE{key}.mat") for key in ("05", "07", "09", "27", "29")}
        return {key: (m["fea"].astype(float), m["gnd"].ravel()) for key, m in files.items()}
    if name == "surf":
        names = {"C": "Caltech10", "A": "amazon", "W": "webcam", "D": "dslr"}
        files = {key: loadmat(root / f"office_caltech10_surf/{n}_SURF_L10.mat") for key, n in names.items()}
        return {key: (m["fts"].astype(float), m["labels"].ravel()) for key, m in files.items()}
    if name == "efficientnet":
        names = {"C": "caltech10", "A": "amazon", "W": "webcam", "D": "dslr"}
        where = root / "office_caltech10_efficientnet"
        files = {key: np.load(where / f"{n}_efficientnet_lite0.npz") for key, n in names.items()}
        return {key: (m["feas"].astype(float), m["labels"].ravel()) for key, m in files.items()}
    raise ValueError(name)


def pairs(name: str) -> Iterator[Pair]:
    """All transfers of a set."""
    if name in ("digits", "coil"):
        folder, files = ("mnist_usps", ("MNIST_vs_USPS", "USPS_vs_MNIST")) if name == "digits" else ("coil20", COIL)
        for file in files:
            m = loadmat(directory() / folder / f"{file}.mat")
            label = file.replace("_vs_", " to ") if name == "digits" else file
            X_source, X_target = m["X_src"].T.astype(float), m["X_tar"].T.astype(float)
            yield Pair(label, X_source, m["Y_src"].ravel(), X_target, m["Y_tar"].ravel())
        return
    of_set = domains(name)
    for source, target in permutations(of_set, 2):
        yield Pair(f"{source} to {target}", *of_set[source], *of_set[target])


COIL = ("COIL_1", "COIL_2")


def halves(kind: str, seed: int = 0) -> Iterator[Pair]:
    """Ten domains, each cut in halves: source and target of one distribution.

    `kind` is "same", "proportions" (the target's classes thinned by factors from 1 to 1/10) or "missing" (the target
    lacks one class in five).
    """
    for number, (name, X, y) in enumerate(_ten_domains()):
        rng = np.random.default_rng([seed, number])
        order = rng.permutation(len(y))
        source, target = np.sort(order[: len(y) // 2]), np.sort(order[len(y) // 2 :])
        classes = np.unique(y)
        keep = np.ones(len(classes))
        if kind == "proportions":
            keep = rng.permutation(np.geomspace(1, 0.1, len(classes)))
        elif kind == "missing":
            keep[rng.choice(len(classes), max(1, len(classes) // 5), replace=False)] = 0
        target = np.sort(
            np.concatenate([_thinned(target[y[target] == c], k) for c, k in zip(classes, keep, strict=True)])
        )
        yield Pair(name, X[source], y[source], X[target], y[target])


def _thinned(places, share):
    return places[: round(len(places) * share)]


def _ten_domains():
    for pair in pairs("digits"):
        yield pair.name.split()[0], pair.X_source, pair.y_source
    for name, keys in (("pie", ("05", "29")), ("surf", ("C", "A", "W")), ("efficientnet", ("C", "A"))):
        of_set = domains(name)
        for key in keys:
            yield f"{name} {key}", *of_set[key]
    pair = next(pairs("coil"))
    yield "COIL_1", pair.X_source, pair.y_source


def heterogeneous(n_seeds: int = 5) -> Iterator[Pair]:
    """The CDLS demonstration, and SURF to EfficientNet with 20 source and 3 target labels a class."""
    m = loadmat(directory() / "hda_cdls_demo/amazon_DeCAF_dslr_SURF.mat")
    X, y = np.vstack([m["T"], m["Ttest"]]), np.concatenate([m["T_Label"].ravel(), m["Ttest_Label"].ravel()])
    given = np.arange(len(m["T"]))
    yield Pair("CDLS demo", m["S"].astype(float), m["S_Label"].ravel(), X.astype(float), y, given)
    surf, deep = domains("surf"), domains("efficientnet")
    for source in "CAW":
        for target in "CAW":
            for seed in range(n_seeds):
                rng = np.random.default_rng(seed)
                (X, y), (X_target, y_target) = surf[source], deep[target]
                y_target = y_target - y_target.min() + y.min()
                rows = _some_of_each(y, 20, rng)
                given = _some_of_each(y_target, 3, rng)
                yield Pair(f"{source} to {target}, seed {seed}", X[rows], y[rows], X_target, y_target, given)


def _some_of_each(y, n, rng):
    return np.sort(np.concatenate([rng.permutation(np.flatnonzero(y == c))[:n] for c in np.unique(y)]))
