"""Mini batches of both domains."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lpjt.deep._torch import Generator, Tensor, torch

#: Fewest batches of an epoch, so that small tables are trained as long as their schedule needs.
MIN_BATCHES = 20


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """All rows of a fit."""

    X_source: Tensor  # (n_source, width), float32
    y_source: Tensor  # (n_source,) codes
    X_target: Tensor  # (n_target, width)
    y_target: Tensor  # (n_target,) codes, -1 where unlabelled


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows of one step; the last two are labelled target rows, none where there are none."""

    X_source: Tensor
    y_source: Tensor
    X_target: Tensor
    X_known: Tensor
    y_known: Tensor


def draw_batches(rows: Rows, batch_size: int, draw: Generator, *, balanced: bool) -> Iterator[Batch]:
    """The batches of one epoch: at least every row of both domains once; the smaller domain is repeated.

    With `balanced`, classes of the source take turns, whatever their sizes. Every batch has labelled target rows, at
    most `batch_size` of them.
    """
    known = torch.nonzero(rows.y_target >= 0)[:, 0]
    sizes = [min(batch_size, n) for n in (len(rows.X_source), len(rows.X_target), len(known))]
    n_batches = count_batches(rows, batch_size)
    wanted = [n_batches * size for size in sizes]
    order = (
        balanced_order(rows.y_source, wanted[0], draw) if balanced else any_order(len(rows.X_source), wanted[0], draw)
    )
    orders = (order, any_order(len(rows.X_target), wanted[1], draw), known[any_order(len(known), wanted[2], draw)])
    for i in range(n_batches):
        source, target, labelled = (order[i * size : (i + 1) * size] for order, size in zip(orders, sizes, strict=True))
        yield Batch(
            rows.X_source[source],
            rows.y_source[source],
            rows.X_target[target],
            rows.X_target[labelled],
            rows.y_target[labelled],
        )


def count_batches(rows: Rows, batch_size: int) -> int:
    """Batches of an epoch."""
    return max(MIN_BATCHES, -(-max(len(rows.X_source), len(rows.X_target)) // batch_size))


def any_order(n: int, n_wanted: int, draw: Generator) -> Tensor:
    """Positions, (n_wanted,): permutations of n rows, one after the other."""
    if n_wanted == 0:
        return torch.zeros(0, dtype=torch.int64)
    return torch.cat([torch.randperm(n, generator=draw) for _ in range(-(-n_wanted // n))])[:n_wanted]


def balanced_order(y: Tensor, n_wanted: int, draw: Generator) -> Tensor:
    """Positions, (n_wanted,), in which the classes take turns; each is in a random order of its own."""
    classes = np.unique(y.numpy())
    each = -(-n_wanted // len(classes))
    members = [torch.nonzero(y == int(c))[:, 0] for c in classes]
    columns = [rows[any_order(len(rows), each, draw)] for rows in members]
    turns = torch.stack(columns, dim=1)  # (each, n_classes)
    # A new order of the classes in every turn: a batch may hold fewer rows than there are classes.
    shuffled = turns.gather(1, torch.rand(turns.shape, generator=draw).argsort(dim=1))
    return shuffled.flatten()[:n_wanted]
