"""Pairs of domains to measure on: made from a seed, of any size, or real ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import fft, linalg

#: Rows of each class of VisDA-2017's two domains, which `visda_shape` follows: 152,397 and 55,388.
VISDA_SOURCE = (14309, 7365, 16640, 12800, 9512, 14240, 17360, 12160, 10731, 11680, 16000, 9600)
VISDA_TARGET = (3646, 3475, 4690, 10401, 4691, 2075, 5796, 4000, 4549, 2281, 4236, 5548)

#: The made shift: radians by which the directions of the class means turn, spread of the features' offsets and of the
#: logarithms of their scales, and noise of the target alone, both in units of a feature's deviation.
TURN, OFFSET, STRETCH, NOISE = 1.0, 0.8, 0.5, 0.7

#: Mean squared length of the class means, in units of the largest variance that a direction has within classes.
SEPARATION = 15.0

_BLOCK = 2**22  # entries made at a time


@dataclass(frozen=True, slots=True, eq=False)
class DomainPair:
    """A labelled source and a target, of one width and dtype."""

    X_source: np.ndarray  # (n_source, width)
    y_source: np.ndarray
    X_target: np.ndarray  # (n_target, width)
    y_target: np.ndarray  # for the score alone

    @property
    def n_bytes(self) -> int:
        """Size of the rows of both domains."""
        return self.X_source.nbytes + self.X_target.nbytes


def open_pair(data: Mapping[str, Any]) -> DomainPair:
    """Make or load the pair that a task describes: arguments of `make_pair`, or a table and a pair of the data sets."""
    if "table" in data:
        from lpjt.datasets.protocols import load_problem

        problem = load_problem(data["table"], data["pair"])
        return DomainPair(problem.X_source, problem.y_source, problem.X_target, problem.y_target)
    return make_pair(**data)


def even_counts(n_rows: int, n_classes: int) -> tuple[int, ...]:
    """Rows of each class, as even as possible."""
    return tuple(n_rows // n_classes + (c < n_rows % n_classes) for c in range(n_classes))


def visda_shape(scale: float = 1.0) -> dict[str, Any]:
    """Arguments of `make_pair` for VisDA-2017's rows and class proportions, shrunk by `scale`, 2048 wide."""
    source, target = ([max(2, round(scale * n)) for n in counts] for counts in (VISDA_SOURCE, VISDA_TARGET))
    return {"source": source, "target": target, "width": 2048}


def make_pair(
    *, source: Sequence[int], target: Sequence[int], width: int, seed: int = 0, dtype: str = "float32"
) -> DomainPair:
    r"""Two domains of Gaussian classes with the spectrum of real deep features, and a shift between them.

    Class means lie in a subspace of at most 64 directions. Within classes the eigenvalues of the covariance fall as
    1 / (i + 8), as they do for the EfficientNet features of Office-Caltech's amazon images (there, over the first 300,
    the exponent between 5 and 300 is 1.0). The target's means are turned within their subspace, its features have
    offsets and scales of their own, and it has noise that the source has not, so that a nearest neighbour without
    adaptation is often wrong. Rows are made block by block: nothing but the pair itself is ever as large as it.

    Parameters
    ----------
    source, target : sequences of int, (n_classes,)
        Rows of each class.
    width : int
    seed : int
    dtype : str

    Returns
    -------
    DomainPair
    """
    structure = Structure(len(source), width, seed)
    parts = []
    for number, counts in enumerate((source, target)):
        rng = np.random.default_rng([seed, number])
        y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
        X = np.empty((len(y), width), dtype=dtype)
        for rows in row_slices(len(y), width):
            X[rows] = structure.draw(y[rows], rng, shifted=bool(number))
        parts += [X, y]
    return DomainPair(*parts)


class Structure:
    """What both domains share, and the shift of the second."""

    def __init__(self, n_classes: int, width: int, seed: int) -> None:
        rng = np.random.default_rng([seed, 2])
        eigenvalues = 9.0 / (np.arange(width) + 9.0)
        self.spread = np.sqrt(eigenvalues).astype(np.float32)
        n_directions = min(max(n_classes - 1, 2), 64, width)
        means = rng.normal(size=(n_classes, n_directions))
        means *= np.sqrt(SEPARATION / (means**2).sum(axis=1).mean())
        skew = rng.normal(size=(n_directions, n_directions))
        skew -= skew.T
        turned = linalg.expm(TURN * skew / np.linalg.norm(skew, 2))
        self.means = means.astype(np.float32), (means @ turned).astype(np.float32)
        self.signs = rng.choice(np.array([-1.0, 1.0], dtype=np.float32), width)
        deviation = np.sqrt(eigenvalues.mean())
        self.offset = (OFFSET * deviation * rng.normal(size=width)).astype(np.float32)
        self.scale = np.exp(STRETCH * rng.normal(size=width)).astype(np.float32)
        self.noise = np.float32(NOISE * deviation)

    def draw(self, y: np.ndarray, rng: np.random.Generator, *, shifted: bool) -> np.ndarray:
        """Rows, (len(y), width), of the given classes."""
        X = rng.standard_normal((len(y), len(self.spread)), dtype=np.float32)
        X *= self.spread
        means = self.means[shifted]
        X[:, : means.shape[1]] += means[y]
        # Signs and a cosine transform spread the directions over all features, as a random rotation would, in n log n.
        X *= self.signs
        X = fft.dct(X, axis=1, norm="ortho", overwrite_x=True)
        if shifted:
            X += self.noise * rng.standard_normal(X.shape, dtype=np.float32)
            X *= self.scale
            X += self.offset
        return X


def row_slices(n: int, width: int) -> Iterator[slice]:
    """Rows in blocks of 16 MB of float32."""
    step = max(1, _BLOCK // width)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def draw_block(
    n_rows: int, n_classes: int, width: int, *, domain: int, number: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Rows, float32, and labels of one block of a domain (0 or 1) like those of `make_pair`, from its number alone."""
    rng = np.random.default_rng([seed, domain, 3, number])
    y = rng.permutation(np.arange(n_rows) % n_classes)
    return Structure(n_classes, width, seed).draw(y, rng, shifted=bool(domain)), y
