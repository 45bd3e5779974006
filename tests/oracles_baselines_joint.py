"""TCA, JDA, TJM, JGSA and MEDA as papers and programs define them, with n x n matrices; no code of the package."""

import numpy as np
from scipy import linalg, optimize

import oracles


def mmd_vector(rows_source, rows_target, n_source, n_target):
    """1 / n at some source rows, -1 / n at some target rows."""
    e = np.zeros(n_source + n_target)
    for i in rows_source:
        e[i] = 1 / len(rows_source)
    for j in rows_target:
        e[n_source + j] = -1 / len(rows_target)
    return e


def mmd_matrix(y_source, y_target, n_classes, *, first=None, each=1.0, norm="all"):
    """first M_0 + each (M_1 + ... + M_C), first being C, over its Frobenius norm or ("marginal") that of first M_0."""
    n_source, n_target = len(y_source), len(y_target)
    first = n_classes if first is None else first
    e = mmd_vector(range(n_source), range(n_target), n_source, n_target)
    M = first * np.outer(e, e)
    marginal = np.sqrt((M**2).sum())
    for c in range(n_classes):
        mine = [i for i in range(n_source) if y_source[i] == c], [j for j in range(n_target) if y_target[j] == c]
        if mine[0] and mine[1]:
            e = mmd_vector(*mine, n_source, n_target)
            M += each * np.outer(e, e)
    return M / (np.sqrt((M**2).sum()) if norm == "all" else marginal)


def centring(n):
    return np.eye(n) - np.ones((n, n)) / n


def rbf(X, Z, gamma):
    return np.array([[np.exp(-gamma * oracles.squared_distance(x, z)) for z in Z] for x in X])


def least(loss, scatter, k):
    """Columns of unit length that minimise tr(A' loss A) under A' scatter A = I; `loss` is positive definite."""
    values, vectors = linalg.eigh(scatter, loss)
    A = vectors[:, np.argsort(-values)[:k]]
    return A / np.sqrt((A**2).sum(axis=0))


def joint_embedding(X, y_source, y_target, *, n_classes, kernel, k, weight, G=None):
    """Embedded rows, (n, k), and coefficients of one iteration: of X'A if `kernel` is None, of K A for a matrix K."""
    M, H = mmd_matrix(y_source, y_target, n_classes), centring(len(X))
    left = X.T if kernel is None else kernel  # (m, n), whose columns are the rows that A combines
    regular = np.eye(len(left)) if G is None else np.diag(G)
    A = least(left @ M @ left.T + weight * regular, left @ H @ left.T, k)
    return left.T @ A, A


def joint_labels(Z, y_source, known=None):
    """Nearest labelled rows of unit length; `known` has the given labels of the target and -1."""
    Z = oracles.unit_rows(Z)
    n = len(y_source)
    known = np.full(len(Z) - n, -1) if known is None else known
    pool = list(range(n)) + [n + j for j in range(len(known)) if known[j] >= 0]
    codes = np.concatenate([y_source, known])[pool]
    found = oracles.nearest_labels(Z[pool], codes, Z[n:])
    return np.where(known >= 0, known, found)


def jda(X, y_source, *, n_target, n_classes, kernel, k, weight, n_iter, known=None):
    """Embedding and labels of every iteration: [(Z, labels), ...]."""
    labels = np.full(n_target, -1) if known is None else known
    iterations = []
    for _ in range(n_iter):
        Z, _ = joint_embedding(X, y_source, labels, n_classes=n_classes, kernel=kernel, k=k, weight=weight)
        labels = joint_labels(Z, y_source, known)
        iterations.append((Z, labels))
    return iterations


def tjm(X, y_source, *, n_target, kernel, k, weight, n_iter):
    """Embedding and length of the source rows' coefficients of every iteration: [(Z, lengths), ...]."""
    n_source = len(y_source)
    G = np.ones(len(X))
    iterations = []
    for _ in range(n_iter):
        nothing = np.full(n_target, -1)
        Z, A = joint_embedding(X, y_source, nothing, n_classes=1, kernel=kernel, k=k, weight=weight, G=G)
        lengths = np.array([np.sqrt((A[i] ** 2).sum()) for i in range(n_source)])
        G[:n_source] = 1 / np.sqrt(lengths**2 + np.finfo(float).eps)
        iterations.append((Z, lengths))
    return iterations


def source_scatters(X, y, n_classes):
    """S_b and S_w, class by class and row by row."""
    centre = X.mean(axis=0)
    between, within = (np.zeros((X.shape[1], X.shape[1])) for _ in range(2))
    for c in range(n_classes):
        rows = [x for x, code in zip(X, y, strict=True) if code == c]
        mean = np.mean(rows, axis=0)
        between += len(rows) * np.outer(mean - centre, mean - centre)
        for x in rows:
            within += np.outer(x - mean, x - mean)
    return between, within


def jgsa(X_source, y_source, X_target, labels, *, n_classes, k, coupling, variance, discrimination, n_iter, known=None):
    """A, B and labels of every iteration, from the first pseudo labels: [(A, B, labels), ...]."""
    n_source, n_target = len(X_source), len(X_target)
    m, m_t = X_source.shape[1], X_target.shape[1]
    known = np.full(n_target, -1) if known is None else known
    between, within = source_scatters(X_source, y_source, n_classes)
    X = np.zeros((n_source + n_target, m + m_t))
    X[:n_source, :m], X[n_source:, m:] = X_source, X_target
    largest, fixed = np.zeros((m + m_t, m + m_t)), np.zeros((m + m_t, m + m_t))
    largest[:m, :m] = discrimination * between
    largest[m:, m:] = variance * X_target.T @ centring(n_target) @ X_target
    fixed[:m, :m] = discrimination * within + coupling * np.eye(m)
    fixed[m:, m:] = (coupling + variance) * np.eye(m_t)
    if m == m_t:
        fixed[:m, m:] = fixed[m:, :m] = -coupling * np.eye(m)
    iterations = []
    for _ in range(n_iter):
        M = mmd_matrix(y_source, labels, n_classes, norm="marginal")
        values, vectors = linalg.eigh(largest, fixed + X.T @ M @ X)
        P = vectors[:, np.argsort(-values)[:k]]
        Z_source, Z_target = X_source @ P[:m], X_target @ P[m:]
        rows = known >= 0
        pool, codes = np.vstack([Z_source, Z_target[rows]]), np.concatenate([y_source, known[rows]])
        labels = np.where(rows, known, oracles.nearest_labels(pool, codes, Z_target))
        iterations.append((P[:m], P[m:], labels))
    return iterations


def cosine_laplacian(rows, n_neighbors):
    """I - D^-1/2 W D^-1/2; W_ij is the cosine where one is among the nearest of the other, or they are the same."""
    n = len(rows)
    cosines = np.array([[x @ z / np.sqrt((x @ x) * (z @ z)) for z in rows] for x in rows])
    W = np.zeros((n, n))
    for i in range(n):
        for j in np.argsort(-cosines[i], kind="stable")[: n_neighbors + 1]:
            W[i, j] = W[j, i] = cosines[i, j]
    degree = W.sum(axis=1)
    return np.array([[float(i == j) - W[i, j] / np.sqrt(degree[i] * degree[j]) for j in range(n)] for i in range(n)])


def svm_distance(X_source, X_target):
    """2 (1 - 2 error) of the minimiser of (|w|^2 + b^2) / 2 + sum of squared hinges."""
    rows = np.column_stack([np.vstack([X_source, X_target]), np.ones(len(X_source) + len(X_target))])
    signs = np.concatenate([-np.ones(len(X_source)), np.ones(len(X_target))])

    def value(w):
        short = np.maximum(0, 1 - signs * (rows @ w))
        return w @ w / 2 + short @ short, w - 2 * rows.T @ (signs * short)

    w = optimize.minimize(value, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", tol=1e-12).x
    return 2 * (1 - 2 * np.mean(np.sign(rows @ w) != signs))


def meda(features, y_source, labels, *, n_classes, alignment, laplacian, shrinkage, n_neighbors, n_iter, known=None):
    """Decisions f at all rows, balance and labels of every iteration: [(F, mu, labels), ...]."""
    n_source, n = len(y_source), len(features)
    known = np.full(n - n_source, -1) if known is None else known
    rows = oracles.unit_rows(features)
    K, L = rbf(rows, rows, 0.5), cosine_laplacian(rows, n_neighbors)
    codes = np.concatenate([y_source, known])
    E = np.diag([float(c >= 0) for c in codes])
    Y = np.array([[float(codes[i] == c) for c in range(n_classes)] for i in range(n)])
    source, target = features[:n_source], features[n_source:]
    iterations = []
    for _ in range(n_iter):
        both = [c for c in range(n_classes) if (y_source == c).any() and (labels == c).any()]
        conditional = np.mean([svm_distance(source[y_source == c], target[labels == c]) for c in both])
        mu = conditional / (conditional + svm_distance(source, target))
        M = mmd_matrix(y_source, labels, n_classes, first=(1 - mu) * n_classes, each=mu)
        F = K @ np.linalg.solve((E + alignment * M + laplacian * L) @ K + shrinkage * np.eye(n), E @ Y)
        labels = np.where(known >= 0, known, F[n_source:].argmax(axis=1))
        iterations.append((F, mu, labels))
    return iterations
