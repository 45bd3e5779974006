"""The domains of a fit in blocks of coordinates, and how labels split them."""

from dataclasses import dataclass

import numpy as np

from lpjt.core import coordinates, propagation
from lpjt.distributed import tasks
from lpjt.distributed.blocks import Blocks
from lpjt.distributed.propagation import Sides


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One domain."""

    name: str
    raw: Blocks  # rows as they came in, (m, width)
    width: int
    dtype: np.dtype
    labels: Blocks  # (m,) codes, -1 where unknown
    counts: np.ndarray  # (n_blocks, 1 + n_classes) rows of each block without a label, and of each class


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Domains in coordinates, sources first; the counterpart of `core.objective.Problem`."""

    rows: tuple[Blocks, ...]  # arrays, (m, rank)
    ranks: tuple[int, ...]
    labels: tuple[Blocks, ...]  # (m,) codes, -1 where unknown
    counts: tuple[np.ndarray, ...]  # as in `Part`
    is_target: tuple[bool, ...]
    n_classes: int

    def share(self, i):
        """Weight of the terms that domain i has alone."""
        return 1.0 / sum(other == self.is_target[i] for other in self.is_target)

    @property
    def targets(self):
        """Numbers of the targets."""
        return [i for i, is_target in enumerate(self.is_target) if is_target]

    def sides(self, rows, *, unit):
        """Rows of all domains with and without a label, scaled to unit length if so wanted; persisted.

        Parameters
        ----------
        rows : tuple of Blocks
            Of each domain, all of one width.
        """
        parts: dict[bool, list] = {True: [], False: []}
        codes = []
        for i, blocks in enumerate(rows):
            for p, node in enumerate(blocks.nodes):
                unlabelled, size = int(self.counts[i][p, 0]), blocks.sizes[p]
                label = self.labels[i].nodes[p]
                for side, count in ((True, size - unlabelled), (False, unlabelled)):
                    if count:
                        parts[side].append((tasks.call(one_side, node, label, known=side, unit=unit), count))
                if unlabelled < size:
                    codes.append(tasks.call(known_codes, label))
        known, unknown = (
            Blocks([node for node, _ in parts[side]], tuple(n for _, n in parts[side]), rows[0].row_bytes)
            for side in (True, False)
        )
        of_known = Blocks(codes, known.sizes, 4)
        tasks.persist([*known.nodes, *unknown.nodes, *codes])
        return Sides(known, of_known, unknown, sum(c[:, 1:].sum(axis=0) for c in self.counts))

    def distributions(self, F: Blocks | None):
        """Distributions of all rows of each target from those of the unknown rows; known rows are certain."""
        unknown = iter(F.nodes if F is not None else ())
        for i in range(len(self.labels)):
            nodes = [
                tasks.call(join_sides, label, next(unknown) if count else None, n_classes=self.n_classes)
                for label, count in zip(self.labels[i].nodes, self.counts[i][:, 0].tolist(), strict=True)
            ]
            if self.is_target[i]:
                yield Blocks(nodes, self.labels[i].sizes, 8 * self.n_classes)


def one_side(rows, labels, *, known, unit):
    """The rows of a block that have a label, or those that have none."""
    rows = rows[(labels >= 0) == known]
    return propagation.unit_rows(rows) if unit else rows


def known_codes(labels):
    """The labels that are known."""
    return labels[labels >= 0].astype(np.int32)


def join_sides(labels, F, *, n_classes):
    """Distributions of a block, (m, n_classes): certain where the label is known."""
    joined = np.eye(n_classes)[labels * (labels >= 0)]
    if F is not None:
        joined[labels < 0] = F
    return joined


def to_coordinates(X, *, map_to):
    """Coordinates of a block of raw rows."""
    return coordinates.to_coordinates(X, map_to)


def project(rows, P):
    """Embedded rows of a block."""
    return rows @ P.astype(rows.dtype, copy=False)


def decide(labels, F):
    """Codes of a block: true where known, else the likeliest; -1 where a distribution is empty."""
    guess = np.where(F.sum(axis=1) > 0, F.argmax(axis=1), -1)
    return np.where(labels >= 0, labels, guess)
