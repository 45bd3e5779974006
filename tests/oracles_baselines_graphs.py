"""CLGA, whose projection has graph Laplacians, with n x n matrices; no code of the package."""

import numpy as np

import oracles
import oracles_baselines_joint as joint
import oracles_baselines_structure as structure


def normalised_laplacian(W):
    """I - D^-1/2 W D^-1/2, entry by entry; rows without edges are zero."""
    n, d = len(W), W.sum(axis=1)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if d[i] > 0 and d[j] > 0:
                L[i, j] = (i == j) - W[i, j] / np.sqrt(d[i] * d[j])
    return L


def over_norm(M):
    return M / np.sqrt((M**2).sum())


def class_heat_graph(X, y, k, *, own):
    """Heat weights of each labelled row and its k nearest rows of its own class, or of the others."""
    edges = {}
    for i in range(len(X)):
        wanted = [j for j in range(len(X)) if j != i and min(y[i], y[j]) >= 0 and (y[i] == y[j]) == own]
        for j in sorted(wanted, key=lambda j: oracles.squared_distance(X[i], X[j]))[:k]:
            edges[i, j] = oracles.squared_distance(X[i], X[j])
    mean = sum(edges.values()) / len(edges)
    W = np.zeros((len(X), len(X)))
    for (i, j), squared in edges.items():
        W[i, j] = W[j, i] = np.exp(-squared / (2 * mean))
    return W


def clga(sources, labels, X_target, *, n_classes, k, weight, local, n_neighbors, n_iter, known=None):
    """Embedded rows and labels of every iteration: [(Z, labels), ...]; `local` are alpha, beta and gamma."""
    alpha, beta, gamma = local
    known = np.full(len(X_target), -1) if known is None else known
    X, y_source = np.vstack([*sources, X_target]), np.concatenate(labels)
    domains = np.zeros((len(X), len(X)))
    start = 0
    for part in [*sources, X_target]:
        stop = start + len(part)
        domains[start:stop, start:stop] = structure.heat_graph(part, n_neighbors)
        start = stop
    fixed = gamma * over_norm(normalised_laplacian(domains))
    codes, iterations = known, []
    for _ in range(n_iter):
        y = np.concatenate([y_source, codes])
        within, between = (normalised_laplacian(class_heat_graph(X, y, n_neighbors, own=own)) for own in (True, False))
        M = joint.mmd_matrix(y_source, codes, n_classes)
        loss = X.T @ (M + alpha * over_norm(within) + fixed) @ X + weight * np.eye(X.shape[1])
        gain = X.T @ (over_norm(joint.centring(len(X))) + beta * over_norm(between)) @ X
        Z = X @ joint.least(loss, gain, k)
        codes = joint.joint_labels(Z, y_source, known)
        iterations.append((Z, codes))
    return iterations
