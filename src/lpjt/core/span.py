"""Rows in fewer columns with the same distances: where embedded rows span less than their columns."""

import numpy as np
from scipy import linalg

from lpjt._typing import Array

#: Rows are written in fewer columns from this many columns on, if there are this many times as many of them, and if the
#: columns become at most this share of them: else the search of all pairs gains less than finding the span takes.
WIDE, ROWS_PER_COLUMN, GAIN = 256, 4, 0.75

#: Largest share of a row's square that may lie outside of the span: the rounding of float32 rows.
OUTSIDE = 1e-6


def in_span(others: Array, rows: Array) -> tuple[Array, Array]:
    """The same rows in fewer columns, if `rows` span few directions: distances to and among `rows` are the same.

    With more components than a domain has columns, as with hundreds of classes, the embedded rows of the domain span no
    more directions than it had columns. A row of `others` keeps what it has in the span, and has one more column for
    the length of the rest, where `rows` are zero. O(n width rank), a small part of a search of all pairs.

    Parameters
    ----------
    others, rows : arrays, (n_others, width) and (n, width)

    Returns
    -------
    others, rows : arrays, (n_others, rank + 1) and (n, rank + 1)
        As they were given if they are few, narrow, in float64 or span more.
    """
    n, width = rows.shape
    if width < WIDE or n < ROWS_PER_COLUMN * width or rows.dtype != np.float32 or others.dtype != np.float32:
        return others, rows
    some = rows[:: n // width].astype(np.float64)  # as many rows as columns: fewer could not tell the rank
    values, vectors = linalg.eigh(some.T @ some, check_finite=False)
    basis = vectors[:, values > OUTSIDE * values[-1]].astype(np.float32)
    if basis.shape[1] + 1 > GAIN * width:
        return others, rows
    narrow, rest = _projected(rows, basis)
    if (rest > OUTSIDE).any():  # other rows span more
        return others, rows
    narrow[:, -1] = 0.0
    return _projected(others, basis)[0], narrow


def _projected(Z: Array, basis: Array) -> tuple[Array, Array]:
    """Rows in the basis, with the length of what is left as their last column, and its share of their squares."""
    found = np.empty((len(Z), basis.shape[1] + 1), dtype=Z.dtype)
    np.matmul(Z, basis, out=found[:, :-1])
    whole = np.einsum("ij,ij->i", Z, Z)
    left = np.maximum(whole - np.einsum("ij,ij->i", found[:, :-1], found[:, :-1]), 0.0)
    found[:, -1] = np.sqrt(left)
    return found, left / np.maximum(whole, np.finfo(Z.dtype).tiny)
