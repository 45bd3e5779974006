"""What the labels of all targets amount to, summed over blocks: `selection.evidence` without the rows."""

from dataclasses import dataclass

import numpy as np

from lpjt.distributed import tasks
from lpjt.selection.evidence import Evidence


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Of the distributions of all targets' rows."""

    evidence: Evidence
    effective_classes: float
    n_classes: int  # with any row
    n_changed: int


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Of one block, or of several."""

    n: int
    mass: np.ndarray  # (n_classes,) summed distributions
    entropy: float  # summed over rows
    counts: np.ndarray  # (n_classes,) rows by likeliest class
    agreeing: int  # source rows whose nearest target row has their label
    pointing: int  # source rows that point here
    changed: int

    def __add__(self, other):
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return Sums(*(a + b for a, b in pairs))


def summarise(problem, distributions, labels, last, pointers) -> Summary:
    """Summary of a labelling of the targets; `last` are the labels before, None at first."""
    targets = problem.targets
    nodes, offset = [], 0
    for i, F in zip(targets, distributions, strict=True):
        for p, node in enumerate(F.nodes):
            pointer = pointers.nodes[offset + p] if pointers is not None else None
            before = last[i].nodes[p] if last is not None else None
            nodes.append(tasks.call(sum_up, node, labels[i].nodes[p], before, pointer))
        offset += len(F.nodes)
    (sums,) = tasks.compute([tasks.total(nodes)])
    return _summary(sums)


def sum_up(F, labels, before, pointers):
    """`Sums` of a block of a target."""
    likeliest = F.argmax(axis=1)
    agreeing = pointing = 0
    if pointers is not None:
        agreeing = int(pointers[np.arange(len(F)), likeliest].sum())
        pointing = int(pointers.sum())
    changed = 0 if before is None else int((labels != before).sum())
    counts = np.bincount(likeliest, minlength=F.shape[1])
    return Sums(len(F), F.sum(axis=0), float(_entropy(F).sum()), counts, agreeing, pointing, changed)


def _summary(sums):
    n_classes = len(sums.mass)
    information = 0.0
    if n_classes > 1 and sums.n:
        information = float((_entropy(sums.mass / sums.n) - sums.entropy / sums.n) / np.log(n_classes))
    reverse = sums.agreeing / sums.pointing if sums.pointing else 0.0
    effective = float(np.exp(_entropy(sums.counts / max(sums.counts.sum(), 1))))
    return Summary(Evidence(information, reverse), effective, int((sums.counts > 0).sum()), sums.changed)


def _entropy(P):
    safe = np.where(P > 0, P, 1.0)
    return -(P * np.log(safe)).sum(axis=-1)
