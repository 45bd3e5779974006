"""PUnDA's energy as loops, and its alternation with n x n matrices; no code of the package."""

import numpy as np
from scipy import linalg

import oracles_baselines_joint as joint


def squared_error(X, Z, spread, W, covariance):
    """sum_ij E (x_ij - w_j' z_i)^2; z_i has the mean Z[i] and the covariance `spread`, w_j W[j] and `covariance`."""
    error = 0.0
    for x, z in zip(X, Z, strict=True):
        for value, w in zip(x, W, strict=True):
            error += (value - w @ z) ** 2 + w @ spread @ w + z @ covariance @ z + np.trace(spread @ covariance)
    return error


def domain_energy(X, Z, spread, W, covariance, noise, precisions):
    """Minus the variational bound of one domain, up to constants; `precisions` are those of the columns of W."""
    n, p = X.shape
    likelihood = n * p / 2 * np.log(noise) + squared_error(X, Z, spread, W, covariance) / (2 * noise)
    latent = ((Z**2).sum() + n * np.trace(spread) - n * np.linalg.slogdet(spread)[1]) / 2
    entries = (W**2).sum(axis=0) + p * covariance.diagonal()
    factors = (precisions @ entries - p * np.log(precisions).sum() - p * np.linalg.slogdet(covariance)[1]) / 2
    return likelihood + latent + factors


def hinge_energy(Z, y, V, b):
    """sum_i sum_c max(0, 1 - y_ic (v_c' z_i + b_c))^2, y_ic being 1 for the class of row i and -1 for others."""
    loss = 0.0
    for z, code in zip(Z, y, strict=True):
        for c in range(len(V)):
            sign = 1 if code == c else -1
            loss += max(0.0, 1 - sign * (V[c] @ z + b[c])) ** 2
    return loss


def pull_matrix(y_source, y_target, n_classes, beta):
    """(n, n) matrix M with tr(Z' M Z) = beta sum_c n_sc n_tc / (n_sc + n_tc) |g_c|^2."""
    n_source, n_target = len(y_source), len(y_target)
    groups = [(range(n_source), range(n_target))]
    groups += [(np.flatnonzero(y_source == c), np.flatnonzero(y_target == c)) for c in range(n_classes)]
    M = np.zeros((n_source + n_target, n_source + n_target))
    for rows, others in groups:
        if len(rows) and len(others):
            e = joint.mmd_vector(rows, others, n_source, n_target)
            M += beta * len(rows) * len(others) / (len(rows) + len(others)) * np.outer(e, e)
    return M


def latent_rows(rows, factors, V, b, goals, M, eta):
    """Means of all z, stacked, by one system of n k equations: the gradient of the energy is 0."""
    k, n_source = V.shape[1], len(rows[0])
    n = n_source + len(rows[1])
    system, right = np.kron(M, np.eye(k)), np.zeros(n * k)
    for i in range(n):
        d = 0 if i < n_source else 1
        W, covariance, noise = factors[d]
        x = rows[d][i - d * n_source]
        place = slice(i * k, (i + 1) * k)
        system[place, place] += np.eye(k) + (W.T @ W + len(W) * covariance) / noise
        right[place] += W.T @ x / noise
        if d == 0:
            system[place, place] += eta * V.T @ V
            right[place] += eta * V.T @ (goals[i] - b)
    return np.linalg.solve(system, right).reshape(n, k)


def spread_of(W, covariance, noise):
    return np.linalg.inv(np.eye(W.shape[1]) + (W.T @ W + len(W) * covariance) / noise)


def fit_factors(X, Z, factors, precisions):
    """W column by column of X, then the noise."""
    spread, noise = spread_of(*factors), factors[2]
    second = sum(np.outer(z, z) + spread for z in Z)
    covariance = np.linalg.inv(second / noise + np.diag(precisions))
    W = np.array([covariance @ (Z.T @ X[:, j]) / noise for j in range(X.shape[1])])
    return W, covariance, squared_error(X, Z, spread, W, covariance) / X.size


def ridge(Z, goals, eta):
    """V and b of least eta sum |t - V z - b|^2 + |V|^2."""
    columns = np.column_stack([Z, np.ones(len(Z))])
    penalty = np.diag([1.0] * Z.shape[1] + [0.0])
    found = np.linalg.solve(eta * columns.T @ columns + penalty, eta * columns.T @ goals).T
    return found[:, :-1], found[:, -1]


def punda(X_source, y_source, X_target, *, n_classes, k, eta, beta, n_iter, known=None):
    """Latent rows inferred from the rows alone, decisions, relevances, noises and labels of every iteration."""
    known = np.full(len(X_target), -1) if known is None else known
    rows = [X - X.mean(axis=0) for X in (X_source, X_target)]
    p, n = X_source.shape[1], len(X_source) + len(X_target)
    _, roots, right = linalg.svd(np.vstack(rows))
    variances = roots**2 / (n - 1)
    W = right[:k].T * np.sqrt(variances[:k])
    factors = [(W, np.zeros((k, k)), variances[k:].sum() / p)] * 2
    signs = np.array([[1.0 if code == c else -1.0 for c in range(n_classes)] for code in y_source])
    V, b, goals, labels, iterations = np.zeros((n_classes, k)), np.zeros(n_classes), signs, known, []
    for _ in range(n_iter):
        entries = sum((W**2).sum(axis=0) + p * covariance.diagonal() for W, covariance, _ in factors)
        M = pull_matrix(y_source, labels, n_classes, beta)
        Z = np.split(latent_rows(rows, factors, V, b, goals, M, eta), [len(X_source)])
        factors = [fit_factors(X, z, f, 2 * p / entries) for X, z, f in zip(rows, Z, factors, strict=True)]
        decisions = Z[0] @ V.T + b
        goals = np.array(
            [[s * max(1.0, s * f) for s, f in zip(*r, strict=True)] for r in zip(signs, decisions, strict=True)]
        )
        V, b = ridge(Z[0], goals, eta)
        inferred = [X @ W @ spread_of(W, D, noise) / noise for X, (W, D, noise) in zip(rows, factors, strict=True)]
        found = inferred[1] @ V.T + b
        labels = np.where(known >= 0, known, found.argmax(axis=1))
        entries = sum((W**2).sum(axis=0) + p * covariance.diagonal() for W, covariance, _ in factors)
        iterations.append((np.vstack(inferred), found, entries / (2 * p), [f[2] for f in factors], labels))
    return iterations
