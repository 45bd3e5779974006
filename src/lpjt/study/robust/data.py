"""The rows of a task: drawn from its domains, the target cut, thinned or taken from the same domain."""

from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from lpjt.study.robust.families import load_rows
from lpjt.study.robust.tasks import CUTS, Task

#: Share of its rows that the last class of a thinned target keeps, and the fewest rows that any class keeps.
THINNEST, FEWEST_ROWS = 1 / 20, 2


@dataclass(frozen=True, slots=True, eq=False)
class DomainPair:
    """A labelled source, and a target whose labels serve the score alone."""

    X_source: np.ndarray  # (n_source, width)
    y_source: np.ndarray
    X_target: np.ndarray  # (n_target, width)
    y_target: np.ndarray

    @property
    def checksum(self) -> str:
        """Sixteen hexadecimal digits that identify all rows and labels."""
        digest = sha256()
        for array in (self.X_source, self.y_source, self.X_target, self.y_target):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def open_task(task: Task) -> DomainPair:
    """Load the domains of a task and draw its rows; the same rows in every process."""
    X, y = _drawn_domain(task.family, task.source, task.max_rows)
    if task.kind == "halves":
        source, target = split_halves(len(y), _generator("halves", task.family, task.pair))
        return DomainPair(X[source], y[source], X[target], y[target])
    X_target, y_target = _drawn_domain(task.family, task.target, task.max_rows)
    rows = _target_rows(task, y_target)
    return DomainPair(X, y, X_target[rows], y_target[rows])


def draw_by_class(y: np.ndarray, max_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Sorted positions of at most `max_rows` rows; each class keeps its share, to within one row."""
    n = len(y)
    if n <= max_rows:
        return np.arange(n)
    by_class = np.lexsort((rng.random(n), y))  # rows of a class in random order
    return np.sort(by_class[np.arange(max_rows) * n // max_rows])


def draw_classes(y: np.ndarray, n_kept: int, draw: int, rng: np.random.Generator) -> np.ndarray:
    """The classes of the given draw, from 1; the draws of one generator are all different."""
    seen: list[list[int]] = []
    while len(seen) < draw:
        chosen = sorted(rng.choice(np.unique(y), n_kept, replace=False).tolist())
        if chosen not in seen:
            seen.append(chosen)
    return np.array(seen[-1])


def thin_classes(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Sorted positions of the rows left when the classes, in random order, keep geometrically smaller shares."""
    classes = rng.permutation(np.unique(y))
    shares = np.geomspace(1, THINNEST, len(classes))
    kept = []
    for label, share in zip(classes, shares, strict=True):
        rows = rng.permutation(np.flatnonzero(y == label))
        kept.append(rows[: max(FEWEST_ROWS, round(share * len(rows)))])
    return np.sort(np.concatenate(kept))


def split_halves(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sorted positions of two random halves."""
    order = rng.permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])


def _drawn_domain(family: str, domain: str, max_rows: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_rows(family, domain)
    rows = draw_by_class(y, max_rows, _generator("rows", family, domain))
    return X[rows], y[rows]


def _target_rows(task: Task, y: np.ndarray) -> np.ndarray:
    rng = _generator(task.kind, task.family, task.pair)
    if task.kind in CUTS.values():
        return np.flatnonzero(np.isin(y, draw_classes(y, task.n_kept, task.draw, rng)))
    if task.kind == "thinned":
        return thin_classes(y, rng)
    return np.arange(len(y))


def _generator(*words: str) -> np.random.Generator:
    """Random numbers that depend on the words alone."""
    return np.random.default_rng(int.from_bytes(sha256("/".join(words).encode()).digest()[:8]))
