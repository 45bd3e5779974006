"""The definitions of the subspace and transport methods, transcribed with loops; no code of the package is used."""

import numpy as np
from scipy import linalg, stats

import oracles


def mean_row(X):
    total = np.zeros(X.shape[1])
    for x in X:
        total += x
    return total / len(X)


def covariance(X):
    """1 / (n - 1) sum of the outer products of the centred rows."""
    centre = mean_row(X)
    C = np.zeros((X.shape[1], X.shape[1]))
    for x in X:
        C += np.outer(x - centre, x - centre)
    return C / (len(X) - 1)


def principal(X, k):
    """Leading eigenvectors of the covariance, (width, k), and eigenvalues, (k,)."""
    values, vectors = np.linalg.eig(covariance(X))
    order = np.argsort(-values.real)[:k]
    return vectors.real[:, order], values.real[order]


def subspace_gap(P_source, M, P_target):
    """||P_s M - P_t||_F^2, Fernando et al., Eq. (1), entry by entry."""
    gap = 0.0
    for i in range(P_source.shape[0]):
        for j in range(P_target.shape[1]):
            entry = -P_target[i, j]
            for k in range(P_source.shape[1]):
                entry += P_source[i, k] * M[k, j]
            gap += entry**2
    return gap


def sa_similarities(X_source, X_target, k, *, variances=False):
    """x_s' P_s M A P_t' x_t for every pair of rows: Eq. (4) of Fernando et al., and with A that of Sun and Saenko."""
    (P_source, e_source), (P_target, e_target) = principal(X_source, k), principal(X_target, k)
    between = P_source @ P_source.T @ P_target
    if variances:
        for j in range(k):
            between[:, j] *= np.sqrt(e_target[j]) / np.sqrt(e_source[j])
    similar = np.zeros((len(X_source), len(X_target)))
    for i, x in enumerate(X_source):
        for j, z in enumerate(X_target):
            similar[i, j] = x @ between @ (P_target.T @ z)
    return similar


def overlap(c, X_source, X_target, scale):
    """Overlap of the similarities of c with the rows of two domains: two normal densities, one over the other."""
    similar = []
    for X in (X_source, X_target):
        similar.append([np.exp(-oracles.squared_distance(c, x) / (2 * scale**2)) for x in X])
    means, deviations = [np.mean(v) for v in similar], [np.std(v) for v in similar]
    joint = stats.norm(0, np.sqrt(deviations[0] ** 2 + deviations[1] ** 2))
    return joint.pdf(means[0] - means[1]) / joint.pdf(0)


def all_distances(X):
    return [np.sqrt(oracles.squared_distance(X[i], X[j])) for i in range(len(X)) for j in range(i)]


def geodesic(P_source, P_target, t):
    """Phi(t) = P_s U_1 Gamma(t) - R_s U_2 Sigma(t), Gong et al., section 3, with the complement R_s of the source."""
    complement = linalg.null_space(P_source.T)
    U1, cosines, Vt = linalg.svd(P_source.T @ P_target)
    angles = np.arccos(np.clip(cosines, -1, 1))
    minus_U2 = complement.T @ P_target @ Vt.T / np.sin(angles)
    return P_source @ U1 * np.cos(angles * t) + complement @ minus_U2 * np.sin(angles * t)


def geodesic_kernel(P_source, P_target, n_nodes=40):
    """Integral over t in [0, 1] of Phi(t) Phi(t)', by Gauss's quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    G = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        flow = geodesic(P_source, P_target, (node + 1) / 2)
        G = G + weight / 2 * flow @ flow.T
    return G


def coral(X_source, X_target, ridge):
    """(C_s + r I)^(-1/2) (C_t + r I)^(1/2), Algorithm 1 of Sun et al."""
    eye = np.eye(X_source.shape[1])
    white = linalg.inv(linalg.sqrtm(covariance(X_source) + ridge * eye))
    return np.real(white @ linalg.sqrtm(covariance(X_target) + ridge * eye))


def transport_objective(plan, cost, y, reg, reg_cl):
    """<plan, cost> + reg sum p log p + reg_cl sum over columns and classes of (class mass)^(1/2)."""
    value = 0.0
    for i in range(plan.shape[0]):
        for j in range(plan.shape[1]):
            value += plan[i, j] * cost[i, j]
            if plan[i, j] > 0:
                value += reg * plan[i, j] * np.log(plan[i, j])
    for j in range(plan.shape[1]):
        for c in np.unique(y):
            value += reg_cl * np.sqrt(plan[y == c, j].sum() + 1e-3)  # POT's floor, which keeps the slope finite
    return value


def propagate(X, codes, n_classes, n_neighbors):
    """Codes of all rows by harmonic functions on the heat graph of the nearest rows, with class-mass normalisation."""
    X = oracles.unit_rows(X)
    n = len(X)
    squared = np.array([[oracles.squared_distance(x, z) for z in X] for x in X])
    edges = [
        (i, j) for i in range(n) for j in sorted(set(range(n)) - {i}, key=lambda j, i=i: squared[i, j])[:n_neighbors]
    ]
    bandwidth = np.mean([squared[edge] for edge in edges])
    W = np.zeros((n, n))
    for i, j in edges:
        W[i, j] = W[j, i] = np.exp(-squared[i, j] / (2 * bandwidth))
    known, unknown = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    order = np.concatenate([known, unknown])
    Y = oracles.one_hot(codes[known], n_classes)
    F = oracles.propagate_harmonic(W[np.ix_(order, order)], Y, len(known))
    answer = codes.copy()
    answer[unknown] = oracles.class_mass_normalise(F, Y.mean(axis=0)).argmax(axis=1)
    return answer
