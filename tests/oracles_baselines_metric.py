"""RTML by its energy: every corruption enumerated, the least metric by Newton's step; no code of the package."""

from itertools import product

import numpy as np

import oracles


def all_corruptions(width, p):
    """Every set of entries that survives, with its probability: [(0 or 1 per entry, probability), ...]."""
    sets = [np.array(kept) for kept in product([0.0, 1.0], repeat=width)]
    return [(kept, np.prod([1 - p if entry else p for entry in kept])) for kept in sets]


def denoising_error(M, X, p):
    """Mean over the rows of E |x - M x~|^2."""
    return sum(chance * ((X - (X * kept) @ M.T) ** 2).sum() for kept, chance in all_corruptions(X.shape[1], p)) / len(X)


def gap_energy(M, X_source, y_source, X_target, labels, n_classes):
    """g_0' M g_0 + 1 / C sum_c g_c' M g_c over the classes with rows in both domains."""
    gap = X_source.mean(axis=0) - X_target.mean(axis=0)
    energy = gap @ M @ gap
    for c in oracles.shared_classes(y_source, labels):
        gap = X_source[y_source == c].mean(axis=0) - X_target[labels == c].mean(axis=0)
        energy += gap @ M @ gap / n_classes
    return energy


def least_symmetric(energy, width):
    """The symmetric matrix of least energy, which is quadratic: differences give its gradient and Hessian exactly."""
    basis = []
    for i in range(width):
        for j in range(i, width):
            E = np.zeros((width, width))
            E[i, j] = E[j, i] = 1.0
            basis.append(E)
    zero, alone = energy(np.zeros((width, width))), [energy(E) for E in basis]
    hessian = np.array(
        [[energy(E + F) - alone[a] - alone[b] + zero for b, F in enumerate(basis)] for a, E in enumerate(basis)]
    )
    gradient = np.array(alone) - zero - hessian.diagonal() / 2
    return sum(t * E for t, E in zip(np.linalg.solve(hessian, -gradient), basis, strict=True))


def rtml(X_source, y_source, X_target, *, n_classes, k, alpha, rank_weight, p, n_iter, known=None):
    """Metric, embedded rows and labels of every iteration: [(M, Z, labels), ...]."""
    known = np.full(len(X_target), -1) if known is None else known
    length = np.sqrt((np.vstack([X_source, X_target]) ** 2).sum(axis=1).mean())
    S, T = X_source / length, X_target / length
    width, labels, small, iterations = S.shape[1], known, np.zeros((S.shape[1], 0)), []
    for _ in range(n_iter):

        def energy(M, labels=labels, small=small):
            error = alpha * denoising_error(M, np.vstack([S, T]), p)
            return gap_energy(M, S, y_source, T, labels, n_classes) + error + rank_weight * ((M @ small) ** 2).sum()

        values, vectors = np.linalg.eigh(least_symmetric(energy, width))
        values = np.maximum(values, 0)
        order = np.argsort(-values, kind="stable")
        small = vectors[:, order[k:]]
        Z = np.vstack([X_source, X_target]) @ (vectors[:, order[:k]] * np.sqrt(values[order[:k]]))
        pool = [*range(len(S)), *(len(S) + np.flatnonzero(known >= 0))]
        codes = np.concatenate([y_source, known])[pool]
        labels = np.where(known >= 0, known, oracles.nearest_labels(Z[pool], codes, Z[len(S) :]))
        iterations.append(((vectors * values) @ vectors.T, Z, labels))
    return iterations
