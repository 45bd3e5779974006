"""Methods that learn from pseudo labels, as their papers define them, with n x n matrices; no code of the package."""

from itertools import permutations

import numpy as np
from scipy import linalg

import oracles


def principal_rows(X, k):
    """Centred rows in their k leading principal directions, up to the signs of the columns."""
    centred = X - X.mean(axis=0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:k].T


def same_class(y):
    return np.array([[float(a == b) for b in y] for a in y])


def k_means(Z, centers):
    """Lloyd's steps until nothing moves; a centre without rows stays."""
    centers = centers.copy()
    while True:
        nearest = [int(np.argmin([oracles.squared_distance(z, c) for c in centers])) for z in Z]
        moved = centers.copy()
        for k in set(nearest):
            moved[k] = np.mean([z for z, own in zip(Z, nearest, strict=True) if own == k], axis=0)
        if np.allclose(moved, centers, atol=1e-14):
            return centers
        centers = moved


def exponentials(Z, centers):
    P = np.array([[np.exp(-np.sqrt(oracles.squared_distance(z, c))) for c in centers] for z in Z])
    return P / P.sum(axis=1)[:, None]


def best_order(A, B):
    """The order of the rows of B with the least sum of distances to the rows of A, by trying all orders."""
    cost = [[np.sqrt(oracles.squared_distance(a, b)) for b in B] for a in A]
    return min(permutations(range(len(B))), key=lambda order: sum(cost[i][j] for i, j in enumerate(order)))


def spl(X_source, y_source, X_target, *, n_classes, pca, k, n_iter, known=None):
    """Embedded rows, labels and selected target rows of every iteration: [(Z, labels, selected), ...]."""
    n = len(y_source)
    known = np.full(len(X_target), -1) if known is None else known
    X = oracles.unit_rows(principal_rows(np.vstack([X_source, X_target]), pca))
    labels, chosen = known.copy(), [j for j in range(len(known)) if known[j] >= 0]
    given, iterations = list(chosen), []
    for step in range(1, n_iter + 1):
        rows = list(range(n)) + [n + j for j in chosen]
        M = same_class(np.concatenate([y_source, labels])[rows])
        D = np.diag(M.sum(axis=1))
        left, right = X[rows].T @ D @ X[rows], X[rows].T @ (D - M) @ X[rows] + np.eye(X.shape[1])
        values, vectors = linalg.eigh(left, right)
        Z = X @ vectors[:, np.argsort(-values)[:k]]
        Z = oracles.unit_rows(Z - Z.mean(axis=0))
        pool = list(range(n)) + [n + j for j in given]
        codes = np.concatenate([y_source, known])[pool]
        A = oracles.unit_rows(np.array([Z[pool][codes == c].mean(axis=0) for c in range(n_classes)]))
        B = k_means(Z[n:], A)
        B = B[list(best_order(A, B))]
        P = np.maximum(exponentials(Z[n:], A), exponentials(Z[n:], B))
        labels = np.where(known >= 0, known, P.argmax(axis=1))
        iterations.append((Z, labels, sorted(chosen)))
        chosen = list(given)
        for c in range(n_classes):
            mine = sorted((j for j in range(len(labels)) if labels[j] == c and known[j] < 0), key=lambda j: -P[j].max())
            chosen += mine[: len(mine) * step // n_iter]
    return iterations
