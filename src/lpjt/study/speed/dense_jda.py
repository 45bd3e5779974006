"""Joint distribution adaptation in its primal form as it is commonly written: MMD matrices of all rows by all rows."""

from collections.abc import Iterator

import numpy as np
from scipy import linalg
from sklearn.neighbors import KNeighborsClassifier


def fit_dense_jda(
    X: np.ndarray,
    y: np.ndarray,
    X_target: np.ndarray,
    *,
    n_components: int = 20,
    weight: float = 0.1,
    max_iter: int = 10,
) -> np.ndarray:
    """Labels of the target, (n_target,), by Long et al. 2013 with M_0 and every M_c as (n, n) matrices.

    The projection is the bottom of ``(X M X' + weight I) a = phi X H X' a``, of the size of the width; rows, columns
    of a and embedded rows of unit length, M scaled by its norm, and the nearest neighbour, as in the published program.
    """
    n_source = len(X)
    rows = np.vstack([X, X_target]).astype(np.float64)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny)
    n = len(rows)
    centred = np.eye(n) - np.full((n, n), 1 / n)
    scatter = rows.T @ centred @ rows
    signs = np.where(np.arange(n) < n_source, 1 / n_source, -1 / (n - n_source))
    classes = np.unique(y)
    labels = np.full(len(X_target), -1)  # of no class: the first iteration has the marginal term alone
    for _ in range(max_iter):
        M = np.outer(signs, signs) * len(classes)
        M += sum(np.outer(e, e) for e in _class_signs(y, labels, classes))
        M /= np.linalg.norm(M)
        left = rows.T @ M @ rows + weight * np.eye(rows.shape[1])
        _, axes = linalg.eigh(left, scatter + 1e-9 * np.trace(scatter) * np.eye(len(scatter)))
        axes = axes[:, :n_components] / np.linalg.norm(axes[:, :n_components], axis=0)
        Z = rows @ axes
        Z /= np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), np.finfo(float).tiny)
        new = KNeighborsClassifier(n_neighbors=1).fit(Z[:n_source], y).predict(Z[n_source:])
        if np.array_equal(new, labels):
            break
        labels = new
    return labels


def _class_signs(y: np.ndarray, labels: np.ndarray, classes: np.ndarray) -> Iterator[np.ndarray]:
    """Vector e of each class that both domains have: 1 / n_c for its source rows, -1 / n_c for its target rows."""
    for c in classes:
        of_source, of_target = y == c, labels == c
        if of_target.any():
            yield np.concatenate([of_source / of_source.sum(), -(of_target / of_target.sum())])
