"""Rows on a Dask cluster, or in Dask arrays on this machine: they stay there, in blocks.

The sample is learned from in the caller's memory, by the same code as for any array. The engine has the verbs that a
fit asks of the rows: take some, map all, and label them in shards, one task per shard.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from lpjt._typing import Array, Codes, Values
from lpjt.classifiers.regional import RegionalPropagation
from lpjt.domains import Domains
from lpjt.engines.dask.cells import Rows, label_in_regions
from lpjt.engines.dask.cluster import compute, persist
from lpjt.engines.dask.door import open_lazy_domains
from lpjt.engines.dask.labels import Lazy
from lpjt.fitting.engine import decode, one_hot


class DaskEngine:
    """Implements `lpjt.fitting.engine.Engine` for Dask arrays; results are Dask arrays in blocks of the same rows."""

    in_memory = False

    def open(self, X: Any, y: Any, X_target: Any, y_target: Any, **of_rows: Any) -> Domains:
        """Validate what the caller gave to `fit`, block by block."""
        return open_lazy_domains(X, y, X_target, y_target, **of_rows)

    def labels(self, y: Lazy) -> Codes:
        """Class codes, (n,): one to eight bytes per row come to the caller."""
        return compute(y)[0]

    def take(self, rows: Lazy, positions: Codes | None) -> Array:
        """Rows at ascending positions, in the caller's memory."""
        return np.asarray(compute(rows if positions is None else rows[positions])[0])

    def map_rows(self, function: Callable[..., Array], *held: Lazy, columns: int | None, dtype: npt.DTypeLike) -> Lazy:
        """``function(*blocks)`` of each block of rows, kept by the workers."""
        import dask.array as da

        # Columns have an index of their own for each array: their numbers differ.
        arguments = [part for n, array in enumerate(held) for part in (array, ("i", f"columns {n}")[: array.ndim])]
        mapped = da.blockwise(
            _Astype(function, np.dtype(dtype)),
            ("i",) if columns is None else ("i", "j"),
            *arguments,
            new_axes={} if columns is None else {"j": columns},
            concatenate=True,
            dtype=dtype,
            meta=np.empty((0,) if columns is None else (0, 0), dtype=dtype),
        )
        return persist(mapped)[0]

    def map_shards(
        self,
        function: Callable[[list[Array]], Array],
        rows: Sequence[Lazy],
        shards: Sequence[Sequence[Codes]],
        labels: Sequence[Codes],
        n_classes: int,
    ) -> tuple[Lazy, ...]:
        """Class distributions of each target; each shard is gathered and labelled by one task."""
        import dask

        label = dask.delayed(function)  # one node in the graph, which holds the labelled rows once
        call = dask.delayed(_call, pure=False)
        answers = [
            call(
                label, [Z[positions].rechunk(-1).to_delayed().item() for Z, positions in zip(rows, shard, strict=True)]
            )
            for shard in shards
        ]
        return _distribute(answers, rows, shards, labels, n_classes)

    def map_regions(
        self, rule: RegionalPropagation, rows: Sequence[Lazy], labels: Sequence[Codes]
    ) -> tuple[tuple[Lazy, ...], float]:
        """Class distributions of each target over one graph of all unlabelled rows, and the recall of its search."""
        unlabelled = [np.flatnonzero(y < 0) for y in labels]
        answers, shards, recall = label_in_regions(Rows(rows, unlabelled), rule)
        return _distribute(answers, rows, shards, labels, rule.n_classes), recall

    def hold(self, values: Array, like: Lazy) -> Lazy:
        """Values in blocks of the same rows as `like`."""
        import dask.array as da

        return da.from_array(values, chunks=(like.chunks[0], *((-1,) * (values.ndim - 1))))

    def decode(self, y: Lazy, F: Lazy, classes: Values) -> Lazy:
        """Labels, (n,): those given, else the likeliest."""
        import dask.array as da

        return da.blockwise(decode, "i", y, "i", F, "ij", classes=classes, concatenate=True, dtype=classes.dtype)


class _Astype:
    """A function of blocks with its result in a given dtype; a class, so that workers can unpickle it."""

    def __init__(self, function: Callable[..., Array], dtype: np.dtype[Any]) -> None:
        self.function = function
        self.dtype = dtype
        self.__name__ = getattr(getattr(function, "func", function), "__name__", "function")

    def __call__(self, *blocks: Array) -> Array:
        return self.function(*blocks).astype(self.dtype, copy=False)


def _call(function: Callable[[list[Array]], Array], parts: list[Array]) -> Array:
    return function(parts)


def _distribute(
    answers: list[Any],
    rows: Sequence[Lazy],
    shards: Sequence[Sequence[Codes]],
    labels: Sequence[Codes],
    n_classes: int,
) -> tuple[Lazy, ...]:
    """Distributions of each target in the blocks of its rows, from the answers for all shards."""
    starts = [np.cumsum([0, *(len(positions) for positions in shard)]) for shard in shards]
    distributions = [
        _assemble(Z, y, answers, [(s[j], shard[j]) for s, shard in zip(starts, shards, strict=True)], n_classes)
        for j, (Z, y) in enumerate(zip(rows, labels, strict=True))
    ]
    return persist(*distributions)  # all targets at once, so that each shard is labelled once


def _assemble(Z: Lazy, y: Codes, answers: list[Any], places: list[tuple[int, Codes]], n_classes: int) -> Lazy:
    """Distributions of one target in the blocks of its rows, from the answers for all shards.

    `places` has, for each shard, where the target begins among the shard's rows, and the positions of these rows.
    """
    import dask
    import dask.array as da

    fill, part_of = dask.delayed(_fill_block, pure=False), dask.delayed(_part, pure=False)
    ends = np.cumsum([0, *Z.chunks[0]])
    blocks = []
    for first, last in pairwise(ends):
        parts, positions = [], []
        for answer, (start, rows) in zip(answers, places, strict=True):
            a, b = np.searchsorted(rows, (first, last))
            if a == b:
                continue
            parts.append(part_of(answer, int(start + a), int(start + b)))
            positions.append(rows[a:b] - first)
        block = fill(y[first:last], parts, positions, n_classes)
        blocks.append(da.from_delayed(block, shape=(int(last - first), n_classes), dtype=np.float64))
    return da.concatenate(blocks, axis=0)


def _part(answer: Array, start: int, stop: int) -> Array:
    return answer[start:stop]


def _fill_block(y: Codes, parts: list[Array], positions: list[Codes], n_classes: int) -> Array:
    F = one_hot(y, n_classes)
    for part, rows in zip(parts, positions, strict=True):
        F[rows] = part
    return F
