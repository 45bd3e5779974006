"""Rows in blocks: nodes, sizes, and which rows have a label."""

from dataclasses import dataclass

import numpy as np

from lpjt.distributed import tasks
from lpjt.distributed.tasks import Node


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Rows of a matrix (or entries of a vector) in blocks, one under the other."""

    nodes: list[Node]
    sizes: tuple[int, ...]  # rows of each block
    row_bytes: float  # of one row

    @property
    def offsets(self):
        """Number of the first row of each block, and the number of rows."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @property
    def n_rows(self):
        """Rows of all blocks."""
        return int(sum(self.sizes))

    def each(self, function, *others, row_bytes=None, **constants):
        """Blocks of a function of each block (and of the blocks of others, or of one node for all of them)."""
        nodes = [
            tasks.call(function, node, *(_of(other, p) for other in others), **constants)
            for p, node in enumerate(self.nodes)
        ]
        return Blocks(nodes, self.sizes, self.row_bytes if row_bytes is None else row_bytes)

    def sum_of(self, function, *others, **constants):
        """Node of the sum over the blocks of a function of each."""
        return tasks.total(self.each(function, *others, **constants).nodes)

    def persist(self):
        """Keep the blocks on the workers; gives the blocks back."""
        tasks.persist(self.nodes)
        return self


def _of(other, p):
    return other.nodes[p] if isinstance(other, Blocks) else other


def fold(function, held, fixed, others: Blocks, /, *more: Blocks, first=0, **constants) -> Node:
    """Node of ``function(acc, *fixed, group, *more_groups, numbers=..., **constants)`` over groups of other blocks.

    The only way in which a block sees others: never more than `tasks.GROUP_BYTES` of them at a time.

    Parameters
    ----------
    function : callable
        Takes what it gave for the last group (`held` at first), the fixed nodes, a list of blocks of `others`, and one
        of each of `more`; `numbers` says which blocks they are.
    held : Node or None
    fixed : list of Node
    first : int
        The block to begin with.
    """
    row_bytes = others.row_bytes + sum(blocks.row_bytes for blocks in more)
    for group in tasks.groups_of(others.sizes, row_bytes, first):
        lists = [[blocks.nodes[q] for q in group] for blocks in (others, *more)]
        held = tasks.call(function, held, *fixed, *lists, numbers=tuple(group), **constants)
    return held


def spread_rows(blocks: Blocks, at_most):
    """Every second, third, ... row of all blocks, so that at most so many are left, as one node for each block."""
    step = max(1, -(-blocks.n_rows // at_most))
    offsets = blocks.offsets
    return [
        tasks.call(take_every, node, first=int(-offsets[p] % step), step=step) for p, node in enumerate(blocks.nodes)
    ]


def take_every(rows, *, first, step):
    """Every few rows of a block, copied, so that the block itself need not be kept for their sake."""
    return rows[first::step].copy()


def gather_spread(*many: Blocks, at_most):
    """`spread_rows` of several blocks, here, each as one array; one computation for all of them."""
    nodes = [spread_rows(blocks, at_most) for blocks in many]
    values = iter(tasks.compute([node for of_one in nodes for node in of_one]))
    return [np.concatenate([next(values) for _ in of_one]) for of_one in nodes]
