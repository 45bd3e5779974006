"""Methods that use the structure of the target rows, with n x n matrices; no code of the package."""

import numpy as np

import oracles
import oracles_baselines_joint as joint


def nearest_others(Z, k):
    """Numbers of the k nearest other rows of each row."""
    return [
        sorted((j for j in range(len(Z)) if j != i), key=lambda j: oracles.squared_distance(Z[i], Z[j]))[:k]
        for i in range(len(Z))
    ]


def heat_graph(Z, k):
    """Symmetric weights exp(-d^2 / (2 s)) of the nearest rows, s the mean of d^2 over all chosen edges."""
    near = nearest_others(Z, k)
    edges = {(i, j): oracles.squared_distance(Z[i], Z[j]) for i in range(len(Z)) for j in near[i]}
    mean = sum(edges.values()) / len(edges)
    W = np.zeros((len(Z), len(Z)))
    for (i, j), squared in edges.items():
        W[i, j] = W[j, i] = np.exp(-squared / (2 * mean))
    return W


def consistency_energy(F, Y, W, sigma):
    """sigma / 2 sum_ij W_ij |f_i / sqrt d_i - f_j / sqrt d_j|^2 + (1 - sigma) sum_i |f_i - y_i|^2."""
    d = W.sum(axis=1)
    rough = sum(
        W[i, j] * oracles.squared_distance(F[i] / np.sqrt(d[i]), F[j] / np.sqrt(d[j]))
        for i in range(len(F))
        for j in range(len(F))
    )
    return sigma / 2 * rough + (1 - sigma) * ((F - Y) ** 2).sum()


def lsc(X, y_source, *, n_target, n_classes, k, weight, n_neighbors, sigma, n_iter, known=None):
    """Embedded rows, scores and labels of every iteration: [(Z, F, labels), ...]."""
    known = np.full(n_target, -1) if known is None else known
    labels, iterations = known, []
    for _ in range(n_iter):
        Z, _ = joint.joint_embedding(X, y_source, labels, n_classes=n_classes, kernel=None, k=k, weight=weight)
        inferred = oracles.one_hot(joint.joint_labels(Z, y_source, known), n_classes)
        W = heat_graph(oracles.unit_rows(Z)[len(y_source) :], n_neighbors)
        F = oracles.propagate_spreading(W, inferred, sigma)
        labels = np.where(known >= 0, known, F.argmax(axis=1))
        iterations.append((Z, F, labels))
    return iterations
