"""What the tests of the door share: a small source and the words of a refusal."""

import numpy as np
import pytest

from lpjt.domains import open_domains

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 0, 1, 1, 1])


def refusal(*args, error=ValueError, door=open_domains, **kwargs):
    """Words with which the door refuses."""
    with pytest.raises(error) as caught:
        door(*args, **kwargs)
    return str(caught.value)


def with_value(value, row=3, column=1, dtype=np.float64):
    """`X` with one other entry."""
    bad = X.astype(dtype)
    bad[row, column] = value
    return bad
