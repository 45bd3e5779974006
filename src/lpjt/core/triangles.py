"""Cholesky factors whose solves are products of matrices, which threads share."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import linalg

from lpjt._threads import map_threads
from lpjt.core.blocks import SHARES

#: Rows of the blocks on the diagonal that are inverted, for all the rest of a solve are products; and columns, or rows,
#: that a thread solves for at once at least.
LEAF, FEWEST = 64, 256


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """A lower triangular L, (width, width)."""

    lower: np.ndarray
    inverses: list  # of its blocks on the diagonal
    ends: list  # where these begin, and the width

    def solve_left(self, B):
        """L^-1 B, (width, columns); threads share the columns."""
        X = np.array(B, order="C")

        def solve(part, first, last):  # in place, from one block on the diagonal to another
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

    def solve_right(self, B):
        """B L^-T, (rows, width); threads share the rows."""
        X = np.array(B, order="C")

        def solve(part, first, last):
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

    def solve_transposed(self, B):
        """L^-T B, (width, columns), for few columns."""
        return linalg.solve_triangular(self.lower, B, trans="T", lower=True, check_finite=False)


def factorise(S):
    """Triangle L of a symmetric positive definite S = L L'; O(width^3 / 3), by LAPACK."""
    L = linalg.cholesky(S.T, lower=True, check_finite=False)
    ends = [*range(0, len(L), LEAF), len(L)]
    inverses = [linalg.inv(L[a:b, a:b], check_finite=False, assume_a="lower triangular") for a, b in pairwise(ends)]
    return Triangle(L, inverses, ends)


def _shares(size):
    step = max(FEWEST, -(-size // SHARES))
    return [slice(start, start + step) for start in range(0, size, step)]
