"""Warnings of matrix products that say nothing about their result.

OpenBLAS 0.3.31 multiplies float32 rows of 5 columns by a vector with AVX-512 instructions that also read what other
calls left on the stack. It stays out of the result, but where its bits are those of a signalling NaN the processor
notes an invalid operation, and numpy warns: once in thousands of fits, in a long run only. Releases before had other
such kernels.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

#: How numpy ends the message of a product.
PRODUCTS = ("in matmul", "in dot")


class _OtherThanProducts:
    """Receives numpy's messages of invalid values, and warns as numpy does of all that are not of products."""

    def write(self, message: str) -> None:
        text = message.removeprefix("Warning: ").rstrip()
        if not text.endswith(PRODUCTS):
            warnings.warn(text, RuntimeWarning, stacklevel=2)


@contextmanager
def sound_products() -> Iterator[None]:
    """Context in which products do not warn of invalid values; everything else warns as before.

    Nothing is lost: a product of finite numbers has an invalid value only after an overflow, of which numpy warns by
    itself. What the caller chose by `numpy.seterr`, other than to be warned, stays. The context is that of one thread;
    `map_threads` gives it to its own.
    """
    if np.geterr()["invalid"] != "warn" or np.geterrcall() is not None:
        yield
        return
    with np.errstate(invalid="log", call=_OtherThanProducts()):
        yield
