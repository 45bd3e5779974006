"""Rows taken block by block, so that nothing of the size of the input is made beside it."""

import tempfile
from itertools import pairwise

import numpy as np

from lpjt._threads import map_threads, n_threads

#: Entries of a block of rows where nothing else is asked for: 4 MB of float32, which the cache nearly holds. Larger
#: blocks are no faster, and the allocator keeps what they leave.
ENTRIES = 2**20


class Chunked:
    """Rows on disk: a view of an HDF5 or zarr array, or of anything with a shape, a dtype and slices of rows.

    Slices and integer arrays of rows come back as float arrays; the whole is never read at once.

    Parameters
    ----------
    rows : array-like on disk, (n, width)
    """

    def __init__(self, rows):
        self._rows = rows
        self.shape = tuple(int(size) for size in rows.shape)
        self.dtype = np.dtype(np.float32 if np.dtype(rows.dtype) == np.float32 else np.float64)
        self.ndim = 2
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                return np.asarray(self._rows[start:stop], dtype=self.dtype)
            rows = np.arange(start, stop, step)
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        taken = np.empty((len(rows), self.shape[1]), dtype=self.dtype)
        for block in row_blocks(self):  # one reading of the blocks in which something is wanted, whatever the order
            inside = np.flatnonzero((rows >= block.start) & (rows < block.stop))
            if len(inside):
                taken[inside] = self[block][rows[inside] - block.start]
        return taken


#: Rows of at least so many entries are cut into a multiple of so many blocks of one size, so that two threads or four
#: have the same to do.
WORTH_SHARING, SHARES = 2**16, 4


def row_blocks(X, entries=ENTRIES):
    """Slices of rows of `X`, (n, width), of at most so many entries (of one row, where that is more)."""
    n, width = X.shape
    n_blocks = -(-n // max(1, entries // max(width, 1)))
    if n * width >= WORTH_SHARING:
        n_blocks = -(-n_blocks // SHARES) * SHARES
    step = max(1, -(-n // max(n_blocks, 1)))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def sum_blocks(part_of, blocks, shape):
    """Sum, in float64, of an array of a shape that each block of rows gives; side by side, the blocks in order."""

    def add(run):
        total = np.zeros(shape)
        for rows in run:
            total += part_of(rows)
        return total

    n_runs = max(1, min(n_threads(), len(blocks)))
    ends = [len(blocks) * i // n_runs for i in range(n_runs + 1)]
    total, *others = map_threads(add, [blocks[a:b] for a, b in pairwise(ends)])
    for other in others:
        total += other
    return total


def multiply(X, M):
    """X M, (n, columns), in the dtype of the rows of X; threads share the rows."""
    M = M.astype(X.dtype, copy=False)
    product = np.empty((len(X), M.shape[1]), dtype=X.dtype)
    map_threads(lambda rows: np.matmul(X[rows], M, out=product[rows]), row_blocks(X))
    return product


def disk_array(shape, dtype):
    """Array in a temporary file without a name, which the system removes with the last use, however that ends."""
    with tempfile.TemporaryFile(prefix="lpjt-") as file:  # the map keeps it open
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)


def pick_rows(X, chosen):
    """Rows where `chosen` is true; `X` itself, not a copy, where it is true of all."""
    return X if chosen.all() else X[chosen]


def stack_rows(parts):
    """Rows of all parts; the part itself, not a copy, where there is but one."""
    parts = [part for part in parts if len(part)] or parts[:1]
    return parts[0] if len(parts) == 1 else np.vstack(parts)
