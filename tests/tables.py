"""Small tables, and the words of the error that a file gives, for the tests of files and commands."""

import os
from pathlib import Path

import numpy as np
import pytest

from lpjt.files import FileError, read_domain

pandas = pytest.importorskip("pandas", reason="pandas reads and writes the tables of these tests")

N, WIDTH = 30, 4
X = np.random.default_rng(0).normal(size=(N, WIDTH)).round(3)
X.flags.writeable = False
y = np.arange(N) % 3


def frame(X, **columns):
    return pandas.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]).assign(**columns)


def error_of(*args, **kwargs):
    """The message of the FileError, which must be one line."""
    with pytest.raises(FileError) as caught:
        read_domain(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    return message


def real_data():
    """The directory of the real data, for tests marked `data`."""
    return Path(os.environ["LPJT_DATA"])
