"""Rows read block by block, so that no temporary array is as large as the input."""

import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lpjt._threads import map_threads, n_threads
from lpjt._typing import Array, Codes, Mask, Sparse

#: Default number of entries of a block of rows: 4 MB of float32, which nearly fits the cache. Larger blocks are no
#: faster, and the allocator keeps the memory that they used.
ENTRIES = 2**20

#: Sparse rows with at most this many entries, zeros included, are treated as dense ones, block by block: 512 MB of
#: float64 where a dense copy of all of them is needed. More are never made dense.
DENSE_ENTRIES = 2**26


#: Bytes of a block whose release makes glibc keep as many freed bytes, twice over, for the arrays that come next.
RELEASED = 2**23


def keep_freed_memory() -> None:
    """Make the allocator keep the memory of small temporary arrays, at most 16 MB, for those that come next.

    By default glibc returns it to the system, which clears and maps every page again: 29,000 page faults, a tenth of
    the time of a fit of 200 + 200 rows. Its thresholds follow the largest block that was released, here one that is
    never touched. Other allocators take no notice.
    """
    np.empty(RELEASED, dtype=np.uint8)


class OnDisk(Protocol):
    """What an array on disk must offer: a shape, a dtype and slices of rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and columns."""

    @property
    def dtype(self) -> Any:
        """Type of the entries, as numpy understands it."""

    def __getitem__(self, rows: slice, /) -> Any: ...


class Chunked:
    """Rows on disk: a view of an HDF5 or zarr array, or of anything with a shape, a dtype and slices of rows.

    Slices, masks and integer arrays of rows return float arrays; the rows are never read all at once.

    Parameters
    ----------
    rows : array-like on disk, (n, width)
    """

    def __init__(self, rows: OnDisk) -> None:
        self._rows = rows
        n, width = rows.shape
        self.shape: tuple[int, int] = int(n), int(width)
        self.dtype: np.dtype[np.floating] = np.dtype(np.float32 if np.dtype(rows.dtype) == np.float32 else np.float64)
        self.ndim = 2
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | Codes | Mask) -> Array:
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                return np.asarray(self._rows[start:stop], dtype=self.dtype)
            return self._take(np.arange(start, stop, step))
        return self._take(np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows, dtype=np.int64))

    def _take(self, places: Codes) -> Array:
        taken = np.empty((len(places), self.shape[1]), dtype=self.dtype)
        for block in row_blocks(self):  # each block that has some of the rows is read once, whatever their order
            inside = np.flatnonzero((places >= block.start) & (places < block.stop))
            if len(inside):
                taken[inside] = self[block][places[inside] - block.start]
        return taken


#: Dense rows, (n, width), in memory, in a memory map or on disk.
Rows: TypeAlias = Array | Chunked

#: Rows of any kind that a domain may have.
AnyRows: TypeAlias = Array | Chunked | Sparse


def is_sparse(X: AnyRows) -> TypeGuard[Sparse]:
    """Whether rows are sparse."""
    return sparse.issparse(X)


def stays_sparse(parts: Sequence[AnyRows], *, max_rows: int | None = None) -> bool:
    """Whether at most `max_rows` rows of each sparse part have more than `DENSE_ENTRIES` entries, zeros included."""
    sizes = [(min(X.shape[0], max_rows or X.shape[0]), X.shape[1]) for X in parts if is_sparse(X)]
    return sum(n * width for n, width in sizes) > DENSE_ENTRIES


def as_dense(X: Array | Sparse) -> Array:
    """Dense rows: a copy of sparse ones, others as they are."""
    return X.toarray() if is_sparse(X) else X


#: Rows with at least `WORTH_SHARING` entries are cut into a multiple of `SHARES` blocks of equal size, so that two or
#: four threads have equal work.
WORTH_SHARING, SHARES = 2**16, 4


def row_blocks(X: AnyRows, entries: int = ENTRIES, *, shared: bool = True) -> list[slice]:
    """Slices that cover the rows of `X`, (n, width), with at most `entries` entries, or one row, each.

    Unless they are `shared` by threads, there are no more of them than that takes.
    """
    n, width = X.shape
    n_blocks = -(-n // max(1, entries // max(width, 1)))
    if shared and n * width >= WORTH_SHARING:
        n_blocks = -(-n_blocks // SHARES) * SHARES
    step = max(1, -(-n // max(n_blocks, 1)))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


Block = TypeVar("Block")


def sum_blocks(
    part_of: Callable[[Block], Any], blocks: Sequence[Block], shape: tuple[int, ...]
) -> npt.NDArray[np.float64]:
    """Sum over the blocks of ``part_of(block)``, an array of the given shape, in float64.

    Each thread adds a run of consecutive blocks, in their order; then the sums of the threads are added.
    """
    if len(blocks) == 1:
        return np.array(part_of(blocks[0]), dtype=np.float64)

    def add(run: Sequence[Block]) -> npt.NDArray[np.float64]:
        total = np.zeros(shape)
        for block in run:
            total += part_of(block)
        return total

    n_runs = max(1, min(n_threads(), len(blocks)))
    ends = [len(blocks) * i // n_runs for i in range(n_runs + 1)]
    total, *others = map_threads(add, [blocks[a:b] for a, b in pairwise(ends)])
    for other in others:
        total += other
    return total


def gram_blocks(X: AnyRows, entries: int = ENTRIES) -> list[slice]:
    """`row_blocks` for sums of products like X'X, (width, width), of which one thread, as within a view, makes few.

    To add up those of 200 rows of 1,024 columns takes as long as to compute them.
    """
    return row_blocks(X, entries, shared=n_threads() > 1)


def multiply(X: Array, M: Array) -> Array:
    """X M, (n, columns), in the dtype of X; threads share the rows."""
    M = M.astype(X.dtype, copy=False)
    product = np.empty((len(X), M.shape[1]), dtype=X.dtype)
    map_threads(lambda rows: np.matmul(X[rows], M, out=product[rows]), row_blocks(X))
    return product


def disk_array(shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.memmap:
    """Array in a temporary file without a name, which the system removes after its last use, even after a crash."""
    with tempfile.TemporaryFile(prefix="lpjt-") as file:  # the memory map keeps it open
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)


def pick_rows(X: Array, chosen: Mask) -> Array:
    """Rows where `chosen` is true; `X` itself, not a copy, if that is all of them."""
    return X if chosen.all() else X[chosen]


@overload
def stack_rows(parts: Sequence[Array]) -> Array: ...


@overload
def stack_rows(parts: Sequence[Array | Sparse]) -> Array | Sparse: ...


def stack_rows(parts: Sequence[Any]) -> Any:
    """Rows of all parts, sparse if any part is; the part itself, not a copy, if only one has rows."""
    parts = [part for part in parts if part.shape[0]] or parts[:1]
    if len(parts) > 1 and any(map(is_sparse, parts)):
        return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    return parts[0] if len(parts) == 1 else np.vstack(parts)
