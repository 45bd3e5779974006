"""Cholesky factors whose triangular solves are matrix products, which threads share."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import linalg

from lpjt._threads import map_threads
from lpjt._typing import Array
from lpjt.core.blocks import SHARES

#: Share of its largest eigenvalue by which a matrix of products of float32 rows may be wrong.
FLOAT32_ROUNDING = 1e-6

#: Size of the diagonal blocks that are inverted; the rest of a solve consists of products.
LEAF = 64

#: Minimum number of columns, or rows, per thread.
FEWEST = 256


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """A lower triangular L, (width, width)."""

    lower: Array
    inverses: Sequence[Array]  # of the diagonal blocks
    ends: Sequence[int]  # first row of each diagonal block, then the width

    def solve_left(self, B: Array) -> Array:
        """L^-1 B, (width, columns); threads share the columns."""
        X = np.array(B, order="C")

        def solve(part: Array, first: int, last: int) -> None:  # in place, for diagonal blocks first to last - 1
            if last - first == 1:
                rows = slice(self.ends[first], self.ends[last])
                part[rows] = self.inverses[first] @ part[rows]
                return
            half = (first + last) // 2
            a, b, c = (self.ends[i] for i in (first, half, last))
            solve(part, first, half)
            part[b:c] -= self.lower[b:c, a:b] @ part[a:b]
            solve(part, half, last)

        map_threads(lambda columns: solve(X[:, columns], 0, len(self.inverses)), _shares(X.shape[1]))
        return X

    def solve_right(self, B: Array) -> Array:
        """B L^-T, (rows, width); threads share the rows."""
        X = np.array(B, order="C")

        def solve(part: Array, first: int, last: int) -> None:
            if last - first == 1:
                columns = slice(self.ends[first], self.ends[last])
                part[:, columns] = part[:, columns] @ self.inverses[first].T
                return
            half = (first + last) // 2
            a, b, c = (self.ends[i] for i in (first, half, last))
            solve(part, first, half)
            part[:, b:c] -= part[:, a:b] @ self.lower[b:c, a:b].T
            solve(part, half, last)

        map_threads(lambda rows: solve(X[rows], 0, len(self.inverses)), _shares(len(X)))
        return X

    def solve_transposed(self, B: Array) -> Array:
        """L^-T B, (width, columns), for few columns."""
        return linalg.solve_triangular(self.lower, B, trans="T", lower=True, check_finite=False)


def factorise(S: Array) -> Triangle:
    """Triangle L of a symmetric positive definite S = L L', by LAPACK, in O(width^3)."""
    L = linalg.cholesky(S.T, lower=True, check_finite=False)
    ends = [*range(0, len(L), LEAF), len(L)]
    # LAPACK itself: linalg.inv knows triangles from scipy 1.17 on alone.
    invert = linalg.get_lapack_funcs("trtri", (L,))
    return Triangle(L, [invert(L[a:b, a:b], lower=1)[0] for a, b in pairwise(ends)], ends)


def definite_ridge(S: Array, added: float = 0.0) -> float:
    """What to add to the diagonal of a symmetric matrix to make it definite, where the usual `added` is too little.

    A matrix of float32 rows can be negative, by their rounding, in directions in which it should be zero: few rows,
    rows far from the origin, or domains of different widths. The ridge is as large as that, and as rounding.
    """
    values = linalg.eigvalsh(S, check_finite=False)
    largest = max(float(np.abs(values).max()), np.finfo(float).tiny)
    return max(added, -2 * float(values[0]), FLOAT32_ROUNDING * largest)


def _shares(size: int) -> list[slice]:
    step = max(FEWEST, -(-size // SHARES))
    return [slice(start, start + step) for start in range(0, size, step)]
