"""What a fit asks of the engine that holds the rows; `lpjt.engines` has one for memory and disk, and one for Dask."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from lpjt._typing import Array, Codes, Values
from lpjt.classifiers.regional import RegionalPropagation
from lpjt.core.blocks import AnyRows

#: What an engine holds, one entry per row: an array, a sparse array, rows on disk or a Dask array.
Held: TypeAlias = Any


class Engine(Protocol):
    """The few verbs that differ between rows in memory, on disk and on a cluster."""

    in_memory: bool  # whether results are in the caller's memory

    def labels(self, y: Held) -> Codes:
        """Class codes, (n,), in the caller's memory; -1 where unlabelled."""

    def take(self, rows: Held, positions: Codes | None) -> AnyRows:
        """Rows at ascending positions, (n_taken, width), in the caller's memory; all rows if None."""

    def map_rows(self, function: Callable[..., Any], *held: Held, columns: int | None, dtype: npt.DTypeLike) -> Held:
        """``function(*blocks)`` of each block of rows: (n, columns), or (n,) if `columns` is None, held by the engine.

        The arrays in `held` have the same number of rows; each block of one comes with the same rows of the others.
        """

    def map_shards(
        self,
        function: Callable[[list[Array]], Array],
        rows: Sequence[Held],
        shards: Sequence[Sequence[Codes]],
        labels: Sequence[Codes],
        n_classes: int,
    ) -> tuple[Held, ...]:
        """Class distributions, (n_j, n_classes), of the rows of each target, from one call of `function` per shard.

        A shard lists ascending positions for each of `rows`; its call gets these rows and returns their distributions,
        stacked. Rows in no shard have a label (`labels`, codes), and its one-hot distribution.
        """

    def hold(self, values: Array, like: Held) -> Held:
        """Values in the caller's memory, one per row of `like`, held as the engine holds results."""

    def decode(self, y: Held, F: Held, classes: Values) -> Held:
        """Labels, (n,): those given by the codes `y`, else the likeliest of `F`, (n, n_classes)."""


@runtime_checkable
class RegionalEngine(Engine, Protocol):
    """An engine whose workers can label regions of one graph, for more rows than one graph in memory can have."""

    def map_regions(
        self, rule: RegionalPropagation, rows: Sequence[Held], labels: Sequence[Codes]
    ) -> tuple[tuple[Held, ...], float]:
        """As `map_shards`, over one graph of the unlabelled rows of all targets; and the recall of its search."""


def decode(y: Codes, F: Array, classes: Values) -> Values:
    """Labels, (n,), of rows in memory: those given by codes `y` that are not -1, else the likeliest of `F`."""
    return classes[np.where(y >= 0, y, F.argmax(axis=1))]


def one_hot(y: Codes, n_classes: int) -> Array:
    """Distributions, (n, n_classes), of codes; a row of zeros for -1."""
    F = np.eye(n_classes)[y * (y >= 0)]
    F[y < 0] = 0.0
    return F
