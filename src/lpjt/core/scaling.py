"""Scaling of the rows of a domain: dense rows, and sparse ones without a dense copy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lpjt._threads import map_threads
from lpjt._typing import Array, Mask
from lpjt.core import statistics
from lpjt.core.blocks import AnyRows, as_dense, row_blocks
from lpjt.core.statistics import divide_rows, rescale, row_totals
from lpjt.core.ties import FEW_ROWS

#: Scores beyond this many standard deviations are clipped. A column that is almost constant has entries at twenty
#: deviations and more, each of which would dominate its unit row.
CLIP = 3.0

#: A column may be the rounding of others if its standard deviation is at most this share of the largest one, and if its
#: mean is no further from zero than this many standard errors.
NEGLIGIBLE, FROM_ZERO = 1e-10, 4.0

#: Squares of rows shorter than this lose digits: in float64, and in float32.
VANISHING = (2.0**-500, 2.0**-50)


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """How the rows of one domain are scaled; None for a step that is left out."""

    row_sums: bool = False
    mean: Array | None = None  # (width,)
    deviation: Array | None = None  # (width,)
    clip: float | None = None
    unit_rows: bool = False
    factor: float | None = None  # power of two by which rows of extreme size are multiplied first, in float64


@dataclass(frozen=True, slots=True, eq=False)
class SparseScaled:
    """Scaled sparse rows X without a dense copy: ``factors[:, None] * (stored + constant)``."""

    stored: sparse.csr_array  # (n, width): score of each stored entry less that of a zero
    constant: Array  # (width,): score of a zero
    factors: Array  # (n,): 1 over the length of each row of the sum, if rows have unit length
    squares: Array  # (n,): squared length of each row of the sum, in float64

    def times(self, M: Array, offset: Array | None = None) -> Array:
        """X M, (n, columns); `offset`, (columns,), is ``constant @ M`` if the caller has it."""
        return self.factors[:, None] * (self.stored @ M + (self.constant @ M if offset is None else offset))

    def transposed_times(self, M: Array) -> Array:
        """X' M, (width, columns)."""
        M = self.factors[:, None] * M
        product = self.stored.T @ M
        product += np.outer(self.constant, M.sum(axis=0))
        return product


def fit_scaling(X: AnyRows, kind: str, factor: float | None = None) -> Scaling:
    """Statistics of one domain for a kind of scaling.

    Parameters
    ----------
    X : array or csr_array, (n, width)
    kind : {"standard", "paper", "sum-zscore", "unit", "none"}
        "standard": z-score of each column, clipped at three deviations, then rows of unit length. "paper": rows divided
        by their sum (if no entry is negative), z-score, rows of unit length. "sum-zscore": the same without the last
        step. "unit": rows of unit length.
    factor : float or None
        By which the rows are multiplied first.

    Returns
    -------
    Scaling
    """
    return joint_scaling([X], kind, factor)


def joint_scaling(parts: Sequence[AnyRows], kind: str, factor: float | None = None) -> Scaling:
    """`fit_scaling` of the rows of several parts of one width, taken together."""
    if kind == "none":
        return Scaling(factor=factor)
    if kind == "unit":
        return Scaling(unit_rows=True, factor=factor)
    row_sums = kind in ("paper", "sum-zscore") and min(statistics.smallest_entry(X) for X in parts) >= 0
    mean, deviation = statistics.column_statistics(parts, row_sums, factor)
    precision = 1e-7 if any(X.dtype == np.float32 for X in parts) else 1e-14
    # The deviation of a constant column is rounding: its scores are zero, whatever new rows have there.
    constant = (deviation <= precision * np.abs(mean)) | _rounding(mean, deviation, sum(X.shape[0] for X in parts))
    deviation = np.where(constant, np.inf, deviation)
    clip, unit_rows = CLIP if kind == "standard" else None, kind != "sum-zscore"
    return Scaling(row_sums, mean, deviation, clip, unit_rows, factor)


def keep_lengths(scaling: Scaling) -> Scaling:
    """A scaling to unit rows without its last step: z-scores over the root of the width, so that lengths are about 1.

    Rows of one length lose a direction. Among hundreds of columns that is noise; in a narrow table it may be what tells
    the classes apart: values that are low, middling or high in all columns.
    """
    assert scaling.deviation is not None, "only z-scores keep lengths"
    root = float(np.sqrt(len(scaling.deviation)))
    clip = None if scaling.clip is None else scaling.clip / root
    return replace(scaling, deviation=scaling.deviation * root, clip=clip, unit_rows=False)


def _rounding(mean: Array, deviation: Array, n: int) -> Mask:
    """Which columns are zero but for the rounding of others, (width,).

    They vary by a tiny share of what the others do, about zero. A tiny share alone is no proof: beside a time in
    nanoseconds every measurement is that small.
    """
    tiny = deviation <= NEGLIGIBLE * max(float(np.max(deviation)), np.finfo(float).tiny)
    return tiny & (np.abs(mean) <= FROM_ZERO * deviation / np.sqrt(n))


def scale_rows(X: Array | sparse.csr_array, scaling: Scaling) -> Array:
    """Scaled copy of the rows, (n, width), in their dtype. Dense, so that sparse rows are given in blocks."""
    rows = rescale(as_dense(X), scaling.factor)
    if scaling.row_sums:
        rows = divide_rows(rows, row_totals(rows))
    elif rows is X and (scaling.deviation is not None or scaling.unit_rows):
        rows = np.array(X)
    if scaling.mean is not None:
        rows -= scaling.mean.astype(rows.dtype)
    if scaling.deviation is not None:
        rows /= scaling.deviation.astype(rows.dtype)
    if scaling.clip is not None:
        np.clip(rows, -scaling.clip, scaling.clip, out=rows)
    if scaling.unit_rows:
        _divide_by_lengths(rows)
    return rows.astype(X.dtype, copy=False)


def _divide_by_lengths(rows: Array) -> None:
    """Scale dense rows to unit length in place; rows of zeros stay zero."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    short = np.flatnonzero(length < VANISHING[rows.dtype == np.float32])
    if len(short):  # squares lose digits, or vanish: a row is divided by its largest entry first
        largest = np.abs(rows[short]).max(axis=1, initial=0)
        rows[short] /= np.where(largest > 0, largest, 1.0)[:, None]
        length[short] = np.sqrt(np.einsum("ij,ij->i", rows[short], rows[short]))
    rows /= np.where(length > 0, length, 1.0)[:, None]


def scale_sparse(X: sparse.csr_array, scaling: Scaling) -> SparseScaled:
    """`scale_rows` of sparse rows, without a dense copy: all zeros of a column have one score."""
    X = rescale(X, scaling.factor)
    if scaling.row_sums:
        X = divide_rows(X, row_totals(X))
    constant = scores_of_zeros(scaling, X.shape[1], X.dtype)
    scores, of_zeros = _scores(X.data, X.indices, scaling), constant[X.indices]
    # |s + c|^2 = |c|^2 + the sum over stored entries of z^2 - c^2, in float64: it cancels in short rows.
    excess = np.square(scores, dtype=np.float64) - np.square(of_zeros, dtype=np.float64)
    of_constant = float(np.square(constant, dtype=np.float64).sum())
    squares = of_constant + row_totals(sparse.csr_array((excess, X.indices, X.indptr), shape=X.shape))
    squares[squares <= 1e-15 * of_constant] = 0.0
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0)) if scaling.unit_rows else np.ones(len(squares))
    stored = sparse.csr_array((scores - of_zeros, X.indices, X.indptr), shape=X.shape)
    return SparseScaled(stored, constant, (1 / lengths).astype(X.dtype), squares)


def scores_of_zeros(scaling: Scaling, width: int, dtype: npt.DTypeLike = np.float64) -> Array:
    """Score of a zero in each column, (width,), before rows get unit length."""
    return _scores(np.zeros(width, dtype), slice(None), scaling)


def _scores(values: Array, columns: Array | slice, scaling: Scaling) -> Array:
    """Scores of entries of the given columns, before rows get unit length."""
    if scaling.mean is not None:
        values = values - scaling.mean.astype(values.dtype)[columns]
    if scaling.deviation is not None:
        values = values / scaling.deviation.astype(values.dtype)[columns]
    return values if scaling.clip is None else np.clip(values, -scaling.clip, scaling.clip)


def scale_to_compare(X: AnyRows, scaling: Scaling) -> Array:
    """`scale_rows` for a comparison of rows: in float64 if there are few (`core.ties`), else in float32.

    Many rows have no scaled copy in their own dtype; threads share them.
    """
    if X.shape[0] <= FEW_ROWS:
        return scale_rows(as_dense(X).astype(np.float64, copy=False), scaling)
    scaled = np.empty(X.shape, dtype=np.float32)

    def fill(rows: slice) -> None:
        scaled[rows] = scale_rows(X[rows], scaling)

    map_threads(fill, row_blocks(X))
    return scaled
