"""Rows of extreme size: the exact power of two by which they are multiplied before anything is computed."""

import math
from collections.abc import Sequence

import numpy as np

from lpjt._typing import Array
from lpjt.core.blocks import AnyRows, Chunked, is_sparse
from lpjt.core.statistics import largest_entry

#: Rows whose largest entry is in this range are computed with as they are: squares, and sums of them over any number of
#: columns, neither overflow nor vanish, even in float32.
LEAST, MOST = 2.0**-50, 2.0**50

#: Domains of one width whose largest entries differ by more than this cannot be computed with together, in float64.
APART = 2.0**400

#: New rows may be this many times larger than `MOST`.
BEYOND = 2.0**100

#: A factor and its inverse are finite and exact up to this exponent.
LARGEST_EXPONENT = 1000


def shared_factors(names: Sequence[str], widths: Sequence[int], largest: Sequence[float]) -> list[float | None]:
    """Factor of each domain, None where rows are computed with as they are; domains of one width have the same one.

    Views that compare domains of one width depend on their common scale, so that it must stay common. A power of two
    changes no digit of any entry.

    Parameters
    ----------
    names : sequence of str
        What error messages call each domain.
    widths : sequence of int
    largest : sequence of float
        Largest absolute value of each domain.
    """
    factors: dict[int, float | None] = {}
    for width in set(widths):
        members = [i for i, other in enumerate(widths) if other == width and largest[i] > 0]
        sizes = [largest[i] for i in members]
        factors[width] = None
        if not sizes or LEAST <= min(sizes) <= max(sizes) <= MOST:
            continue
        _check_alike([names[i] for i in members], sizes)
        exponent = -math.frexp(max(sizes))[1]
        factors[width] = math.ldexp(1.0, max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, exponent)))
    return [factors[width] for width in widths]


def _check_alike(names: Sequence[str], sizes: Sequence[float]) -> None:
    low, high = int(np.argmin(sizes)), int(np.argmax(sizes))
    if sizes[high] / APART > sizes[low]:
        raise ValueError(
            f"The largest value of {names[high]} is {sizes[high]:.3g}, and that of {names[low]} is {sizes[low]:.3g}: "
            "no number can hold both sizes at once. Bring the domains to the same units first."
        )


def fit_new_rows(X: AnyRows, factor: float | None, where: str, estimator: str) -> AnyRows:
    """New rows of a domain whose rows had this factor in fit: in float64 if they are too large for float32.

    Rows beyond any comparison with those of the fit are refused.
    """
    largest = largest_entry(X)
    scaled = largest * (1.0 if factor is None else factor)
    if scaled <= MOST:
        return X
    if scaled > MOST * BEYOND or isinstance(X, Chunked):
        raise ValueError(
            f"{where} holds values up to {largest:.3g}, which are beyond comparison with the rows that {estimator} was "
            "fitted on. Bring them to the units of those rows, or remove the rows that hold them."
        )
    if is_sparse(X):
        return X.astype(np.float64)
    wide: Array = np.asarray(X, dtype=np.float64)
    return wide
