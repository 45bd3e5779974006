"""Array types of the annotations; the shapes are in the docstrings."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

#: Real numbers, float32 or float64.
Array: TypeAlias = npt.NDArray[np.floating]

#: Class codes, row numbers and other whole numbers.
Codes: TypeAlias = npt.NDArray[np.integer]

#: True or false per row.
Mask: TypeAlias = npt.NDArray[np.bool_]

#: A scipy sparse array, (n, width). scipy declares no types, so checkers read it as `Any`.
Sparse: TypeAlias = Any

#: Labels and column names in the caller's own dtype.
Values: TypeAlias = npt.NDArray[Any]
