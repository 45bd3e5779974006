"""Rows in memory, in a memory map, or on disk (HDF5, zarr): read in blocks, on the threads of the fit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lpjt._threads import map_threads
from lpjt._typing import Array, Codes, Values
from lpjt.core.blocks import AnyRows, row_blocks
from lpjt.domains import Domains, open_domains
from lpjt.fitting.engine import decode, one_hot


class LocalEngine:
    """Implements `lpjt.fitting.engine.Engine` for arrays, sparse arrays and rows on disk."""

    in_memory = True

    def open(self, X: Any, y: Any, X_target: Any, y_target: Any, **of_rows: Any) -> Domains:
        """Validate what the caller gave to `fit`; `of_rows` are `sample_domain` and `sample_weight`."""
        return open_domains(X, y, X_target, y_target, **of_rows)

    def labels(self, y: Codes) -> Codes:
        """Class codes, (n,): the same array."""
        return y

    def take(self, rows: AnyRows, positions: Codes | None) -> AnyRows:
        """Rows at ascending positions; the rows themselves, not a copy, if None."""
        return rows if positions is None else rows[positions]

    def map_rows(
        self, function: Callable[..., Array], *held: AnyRows | Codes, columns: int | None, dtype: npt.DTypeLike
    ) -> Array:
        """``function(*blocks)`` of each block of rows, as one array."""
        n = held[0].shape[0]
        out = np.empty(n if columns is None else (n, columns), dtype=dtype)

        def fill(rows: slice) -> None:
            out[rows] = function(*(part[rows] for part in held))

        map_threads(fill, row_blocks(held[0]))
        return out

    def map_shards(
        self,
        function: Callable[[list[Array]], Array],
        rows: Sequence[Array],
        shards: Sequence[Sequence[Codes]],
        labels: Sequence[Codes],
        n_classes: int,
    ) -> tuple[Array, ...]:
        """Class distributions of each target, one shard after another: memory is bounded by one shard."""
        distributions = tuple(one_hot(y, n_classes) for y in labels)
        for shard in shards:
            answer = function([Z[positions] for Z, positions in zip(rows, shard, strict=True)])
            ends = np.cumsum([len(positions) for positions in shard])[:-1]
            for F, positions, part in zip(distributions, shard, np.split(answer, ends), strict=True):
                F[positions] = part
        return distributions

    def hold(self, values: Array, like: AnyRows) -> Array:
        """The values themselves."""
        del like
        return values

    def decode(self, y: Codes, F: Array, classes: Values) -> Values:
        """Labels, (n,): those given, else the likeliest."""
        return decode(y, F, classes)
