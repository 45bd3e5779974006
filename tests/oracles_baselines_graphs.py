"""Methods whose projection has graph Laplacians, CLGA and AGE-CS, with n x n matrices; no code of the package."""

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


def nearest_on_simplex(v):
    """The point of the simplex that is nearest to v: its threshold by bisection."""
    low, high = min(v) - 1, max(v)
    for _ in range(200):
        middle = (low + high) / 2
        if sum(max(entry - middle, 0) for entry in v) > 1:
            low = middle
        else:
            high = middle
    return np.array([max(entry - low, 0) for entry in v])


def similarity_energy(s, d, g, beta, gamma):
    """sum_j d_j s_j + beta sum_j (s_j - g_j)^2 + gamma sum_j s_j^2."""
    return sum(d[j] * s[j] + beta * (s[j] - g[j]) ** 2 + gamma * s[j] ** 2 for j in range(len(s)))


def row_weights(d, g, k, tau):
    """beta and gamma of a row, from the distances and equal labels of its nearest rows in order."""
    beta = tau if g[k] == g[k - 1] else (d[k] - d[k - 1]) / (2 * (g[k] - g[k - 1]))
    f = [beta * g[j] - d[j] / 2 for j in range(k)]
    return beta, sum(f) - k * f[-1] - beta


def adaptive_graph(X, y, k, tau, gamma=None):
    """S of one domain and the mean of gamma over its rows."""
    S, gammas = np.zeros((len(X), len(X))), []
    for i, near in enumerate(structure.nearest_others(X, k + 1)):
        d = [np.sqrt(oracles.squared_distance(X[i], X[j])) for j in near]
        g = [float(y[i] == y[j]) for j in near]
        beta, own = row_weights(d, g, k, tau)
        gammas.append(own)
        curvature = beta + (own if gamma is None else gamma)
        assert curvature > 0
        S[i, near[:k]] = nearest_on_simplex([(beta * g[j] - d[j] / 2) / curvature for j in range(k)])
    return S, np.mean(gammas)


def ridge_labels(X, y, Z, n_classes, gamma, shrinkage):
    """Class of the largest value of (K + shrinkage I)^-1 Y at the rows Z."""
    coefficients = np.linalg.solve(joint.rbf(X, X, gamma) + shrinkage * np.eye(len(X)), oracles.one_hot(y, n_classes))
    return (joint.rbf(Z, X, gamma) @ coefficients).argmax(axis=1)


def agecs(X, y, X_target, *, n_classes, k, weight, graph, mu, n_neighbors, tau, step, gamma, ridge, n_iter, known=None):
    """Embedded rows, S and labels of every iteration: [(Z, S, labels), ...]."""
    n = len(X)
    known = np.full(len(X_target), -1) if known is None else known
    rows, given = np.vstack([X, X_target]), known >= 0

    def label(Z):
        pool, codes = np.vstack([Z[:n], Z[n:][given]]), np.concatenate([y, known[given]])
        return np.where(given, known, ridge_labels(pool, codes, Z[n:], n_classes, gamma, ridge))

    def graphs(Z, labels, means):
        S = np.zeros((len(rows), len(rows)))
        S[:n, :n], first = adaptive_graph(Z[:n], y, n_neighbors, tau, means[0])
        S[n:, n:], second = adaptive_graph(Z[n:], labels, n_neighbors, tau, means[1])
        return S, (first, second)

    labels = label(rows)
    S, means = graphs(rows, labels, (None, None))
    iterations = []
    for _ in range(n_iter):
        M = joint.mmd_matrix(y, labels, n_classes, first=(1 - mu) * n_classes, each=mu)
        L = over_norm(normalised_laplacian(S + S.T))
        loss = rows.T @ (M + graph * L) @ rows + weight * np.eye(rows.shape[1])
        Z = rows @ joint.least(loss, rows.T @ joint.centring(len(rows)) @ rows, k)
        unit = oracles.unit_rows(Z)
        labels = label(unit)
        iterations.append((Z, S, labels))
        learned, means = graphs(unit, labels, means)
        S = (1 - step) * S + step * learned
    return iterations
