"""Headers of npy content, checked against the bytes that are there before an array is allocated."""

import math
from typing import BinaryIO

import numpy as np

from lpjt.isolated.parts import UnreadableError


def check_npy(stream: BinaryIO, size: int) -> np.dtype:
    """The dtype of an npy file of `size` bytes, whose header must not announce more cells than follow it."""
    version = np.lib.format.read_magic(stream)
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in headers:
        raise UnreadableError(f"its npy version {version} is not one of plain arrays")
    shape, _, dtype = headers[version](stream)
    if any(length < 0 for length in shape):
        raise UnreadableError(f"its header has the shape {shape}")
    announced, there = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if announced > there and not dtype.hasobject:
        raise UnreadableError(f"its header announces {announced:,} bytes of cells, and {there:,} follow")
    return dtype
