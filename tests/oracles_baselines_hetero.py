"""CDLS, HFA and SHFA written out: loops, dense matrices, and PIQP for the quadratic programs."""

import itertools

import numpy as np
from scipy import linalg
from sklearn.svm import NuSVC

# --------------------------------------------------------------------------------------------------
# CDLS: Tsai, Yeh and Wang (2016), Eqs. (1)-(7)


def cdls_terms(n_classes, y_source, y_labelled, y_unlabelled, alpha, beta, *, supervised=False):
    """All squared norms of the energy: (factor, coefficients of rows of source, labelled, unlabelled), one at a time.

    The energy is the sum of factor * || sum of coefficients * rows ||^2, the weights being within the coefficients.
    """
    n_s, n_l, n_u = len(y_source), len(y_labelled), len(y_unlabelled)

    def one(source=(), labelled=(), unlabelled=()):
        parts = np.zeros(n_s), np.zeros(n_l), np.zeros(n_u)
        for part, entries in zip(parts, (source, labelled, unlabelled), strict=True):
            for place, value in entries:
                part[place] += value
        return parts

    def mean(source, labelled, unlabelled):
        of_source = sum(alpha[i] for i in source)
        of_target = len(labelled) + sum(beta[i] for i in unlabelled)
        return one(
            [(i, alpha[i] / of_source) for i in source],
            [(i, -1 / of_target) for i in labelled],
            [(i, -beta[i] / of_target) for i in unlabelled],
        )

    yield 1.0, mean(range(n_s), range(n_l), range(n_u))
    for c in range(n_classes):
        s = [i for i in range(n_s) if y_source[i] == c]
        t = [i for i in range(n_l) if y_labelled[i] == c]
        u = [] if supervised else [i for i in range(n_u) if y_unlabelled[i] == c]
        if not s or not t + u:
            continue
        yield 1.0, mean(s, t, u)
        a, b = sum(alpha[i] for i in s), sum(beta[i] for i in u)
        e = a * len(t) + len(t) * b + a * b
        for i, j in itertools.product(s, t):
            yield 1 / e, one(source=[(i, alpha[i])], labelled=[(j, -1.0)])
        for i, j in itertools.product(t, u):
            yield 1 / e, one(labelled=[(i, 1.0)], unlabelled=[(j, -beta[j])])
        for i, j in itertools.product(u, s):
            yield 1 / e, one(unlabelled=[(i, beta[i])], source=[(j, -alpha[j])])


def cdls_energy(terms, rows):
    """Value of the energy at mapped rows of source, labelled and unlabelled target."""
    return sum(f * np.sum(sum(c @ r for c, r in zip(parts, rows, strict=True)) ** 2) for f, parts in terms)


def cdls_map(terms, X, Z_labelled, Z_unlabelled, regularization):
    """A by least squares: one equation for each squared norm, and one for each entry of A."""
    left, right = [], []
    for factor, (source, labelled, unlabelled) in terms:
        left.append(np.sqrt(factor) * source @ X)
        right.append(-np.sqrt(factor) * (labelled @ Z_labelled + unlabelled @ Z_unlabelled))
    left.extend(np.sqrt(regularization) * np.eye(X.shape[1]))
    right.extend(np.zeros((X.shape[1], Z_labelled.shape[1])))
    return np.linalg.lstsq(np.array(left), np.array(right), rcond=None)[0]


def cdls_quadratic(n_classes, labels, rows, delta):
    """B, (n, n), with energy w'Bw of the weights w = (alpha, 1, beta) of all rows, at the normalisers of mean delta."""
    even = [np.full(len(labels[0]), delta), None, np.full(len(labels[2]), delta)]
    B = np.zeros((sum(map(len, labels)),) * 2)
    stacked = np.vstack(rows)
    divide = np.concatenate([even[0], np.ones(len(labels[1])), even[2]])
    for factor, parts in cdls_terms(n_classes, *labels, even[0], even[2]):
        v = np.concatenate(parts) / divide
        used = np.flatnonzero(v)
        scaled = v[used, None] * stacked[used]
        B[np.ix_(used, used)] += factor * scaled @ scaled.T
    return B


def cdls_weights(B, labels, delta, n_classes):
    """alpha, beta by PIQP, labelled target rows fixed at 1; also half the energy there."""
    n_s, n_l, n_u = map(len, labels)
    fixed = np.zeros(n_s + n_l + n_u, dtype=bool)
    fixed[n_s : n_s + n_l] = True
    codes = np.concatenate([labels[0], labels[2] + n_classes])
    groups = np.unique(codes)
    membership = np.array([(codes == g).astype(float) for g in groups])
    linear = B[~fixed][:, fixed].sum(axis=1)
    w = np.ones(len(fixed))
    w[~fixed] = solve_qp(B[~fixed][:, ~fixed], linear, membership, delta * membership.sum(axis=1), upper=1.0)
    return w[:n_s], w[n_s + n_l :], float(w @ B @ w) / 2


def solve_qp(quadratic, linear, equal, to, *, upper, tolerance=1e-9):
    """min 1/2 x'Qx + c'x over equal x = to, 0 <= x <= upper, by PIQP."""
    import piqp

    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    solver.settings.eps_abs = solver.settings.eps_rel = tolerance
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tolerance
    solver.settings.max_iter = 1000
    n = len(linear)
    upper = np.broadcast_to(np.asarray(upper, dtype=float), n).copy()
    solver.setup(
        np.asfortranarray(quadratic), linear, np.asfortranarray(equal), np.asarray(to, dtype=float),
        x_l=np.zeros(n), x_u=upper,
    )  # fmt: skip
    status = solver.solve()
    if status != piqp.PIQP_SOLVED:
        raise RuntimeError(f"PIQP stopped with {status}.")
    return np.clip(solver.result.x, 0.0, upper)


def cdls(X, y, T, y_labelled, U, n_classes, *, n_components, delta=0.5, regularization=0.5, n_iter=5):
    """Labels of U after each iteration, and the last A and weights."""
    target = np.vstack([T, U])
    axes = np.linalg.svd(target - target.mean(axis=0), full_matrices=False)[2][:n_components].T
    Z_l, Z_u = T @ axes, U @ axes
    alpha, beta, y_u, history = np.ones(len(X)), np.ones(len(U)), np.zeros(len(U), dtype=int), []
    A = None
    for number in range(n_iter):
        if number and delta < 1:
            B = cdls_quadratic(n_classes, (y, y_labelled, y_u), (X @ A, Z_l, Z_u), delta)
            alpha, beta, _ = cdls_weights(B, (y, y_labelled, y_u), delta, n_classes)
        terms = cdls_terms(n_classes, y, y_labelled, y_u, alpha, beta, supervised=not number)
        A = cdls_map(terms, X, Z_l, Z_u, regularization)
        weights = np.concatenate([alpha * len(T) / len(X), np.ones(len(T))])
        svm = NuSVC(nu=0.5, kernel="linear")
        svm.fit(np.vstack([X @ A, Z_l]), np.concatenate([y, y_labelled]), sample_weight=weights)
        y_u = svm.predict(Z_u)
        history.append(y_u)
    return history, A @ axes.T, alpha, beta


# --------------------------------------------------------------------------------------------------
# CDLS as its authors' program has it: weights outside the squared distances of pairs


def cdls_program_quadratic(n_classes, labels, rows, delta):
    """B with half the energy 1/2 w'Bw + constant, pairs weighted alpha_i beta_j ||.||^2: indefinite."""
    n_s, n_l, n_u = map(len, labels)
    stacked, y = np.vstack(rows), np.concatenate(labels)
    part = np.repeat([0, 1, 2], [n_s, n_l, n_u])
    inner = stacked @ stacked.T
    distances = np.diag(inner)[:, None] + np.diag(inner) - 2 * inner
    v = np.where(part == 0, 1 / (delta * n_s), -1 / (n_l + delta * n_u))
    B = np.outer(v, v) * inner
    for c in range(n_classes):
        a, n, b = (np.sum(own == c) * factor for own, factor in zip(labels, (delta, 1, delta), strict=True))
        v = np.where(part == 0, 1 / a, -1 / (n + b)) * (y == c)
        B += np.outer(v, v) * inner
        of_class = (y == c).astype(float)
        B += np.outer(of_class, of_class) * (part[:, None] != part) * distances / (2 * (a * n + n * b + a * b))
    return B


def project_to_mass(values, groups, mass):
    """Nearest point of [0, 1]^n whose groups sum to their mass, by bisection of all groups at once."""
    low, high = np.full(len(mass), values.min() - 1), np.full(len(mass), values.max())
    for _ in range(45):
        middle = (low + high) / 2
        above = np.bincount(groups, np.clip(values - middle[groups], 0, 1), len(mass)) > mass
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.clip(values - low[groups], 0, 1)


def cdls_program(X, y, T, y_labelled, U, n_classes, *, n_components, delta=0.5, regularization=0.5, n_iter=5):
    """Labels of U by the authors' program, a local solution of its quadratic program, and that program's curvature."""
    target = np.vstack([T, U])
    axes = np.linalg.svd(target - target.mean(axis=0), full_matrices=False)[2][:n_components].T
    Z_l, Z_u, gram = T @ axes, U @ axes, X @ X.T
    alpha, beta, y_u, curvature = np.ones(len(X)), np.ones(len(U)), None, []
    for number in range(n_iter):
        H = np.outer(alpha, alpha) / alpha.sum() ** 2
        pull = np.outer(alpha, Z_l.sum(axis=0) + beta @ Z_u) / (alpha.sum() * (len(T) + beta.sum()))
        for c in range(n_classes):
            s, t = alpha * (y == c), (y_labelled == c).astype(float)
            u = np.zeros(len(U)) if y_u is None else beta * (y_u == c)
            a, n, b = s.sum(), t.sum(), u.sum()
            e = a * n + n * b + a * b
            H += np.outer(s, s) / a**2 + np.diag(s) * (n + b) / e
            pull += np.outer(s, t @ Z_l + u @ Z_u) * (1 / (a * (n + b)) + 1 / e)
        Z_s = gram @ np.linalg.solve(regularization * np.eye(len(X)) + H @ gram, pull)
        svm = NuSVC(nu=0.5, kernel="linear")
        weights = np.concatenate([alpha * len(T) / len(X), np.ones(len(T))])
        svm.fit(np.vstack([Z_s, Z_l]), np.concatenate([y, y_labelled]), sample_weight=weights)
        y_u = svm.predict(Z_u)
        if number < n_iter - 1:
            labels = y, y_labelled, y_u
            B = cdls_program_quadratic(n_classes, labels, (Z_s, Z_l, Z_u), delta)
            values = np.linalg.eigvalsh(B)
            curvature.append(values[0] / values[-1])
            w = np.concatenate([np.full(len(X), delta), np.ones(len(T)), np.full(len(U), delta)])
            codes = np.concatenate([own + n_classes * i for i, own in enumerate(labels)])
            groups = np.unique(codes, return_inverse=True)[1]
            mass = np.bincount(groups, w)
            for _ in range(300):
                w = project_to_mass(w - B @ w / np.abs(values).max(), groups, mass)
            alpha, beta = w[: len(X)], w[len(X) + len(T) :]
    return y_u, curvature


# --------------------------------------------------------------------------------------------------
# HFA and SHFA: Duan, Xu and Tsang (2012); Li, Duan, Xu and Tsang (2014)


def block_kernel(K_source, K_target):
    return linalg.block_diag(K_source, K_target)


def root(K):
    values, vectors = np.linalg.eigh(K)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T


def hfa_dual(alpha, y, K, H):
    """1'alpha - 1/2 (alpha y)' K^1/2 (H + I) K^1/2 (alpha y)."""
    q = root(K) @ (alpha * y)
    return float(alpha.sum() - q @ (H + np.eye(len(q))) @ q / 2)


def hfa_best_alpha(y, K, H, C):
    """Largest value of the dual for a fixed H, by PIQP."""
    kernel = root(K) @ (H + np.eye(len(K))) @ root(K)
    Q = np.outer(y, y) * kernel
    alpha = solve_qp(Q, -np.ones(len(y)), y[None, :], [0.0], upper=C)
    return alpha, float(alpha.sum() - alpha @ Q @ alpha / 2)


def hfa_metric(alpha, y, K, trace):
    """The H of given trace that takes most from the dual: rank one along q."""
    q = root(K) @ (alpha * y)
    return trace * np.outer(q, q) / (q @ q)


def hfa_cutting_planes(y, K, trace, C, n_cuts):
    """Values of the multiple-kernel problem after each added rank-one H, from the papers' first H: 11'/n."""
    n = len(y)
    directions, values = [np.ones(n) / np.sqrt(n)], []
    for _ in range(n_cuts):
        d = np.full(len(directions), 1 / len(directions))
        for _ in range(60):
            H = trace * sum(share * np.outer(h, h) for share, h in zip(d, directions, strict=True))
            alpha, value = hfa_best_alpha(y, K, H, C)
            q = root(K) @ (alpha * y)
            d = d * np.abs([h @ q for h in directions])
            d = d / d.sum()
        values.append(value)
        directions.append(q / np.linalg.norm(q))
    return values


def hfa_decision(kernel_rows, alpha, y, K, H, n_source, offset):
    """Decision values of target rows whose kernel with the target's training rows is given, with H written out."""
    q = root(K) @ (alpha * y)
    through = np.linalg.pinv(root(K[n_source:, n_source:])) @ (H @ q)[n_source:]
    return kernel_rows @ through + kernel_rows @ (alpha * y)[n_source:] + offset


def shfa_matrix(Y, shares, metrics, K, ridge):
    """Sum of d_l (y_l y_l') o (K^1/2 (H_l + I) K^1/2 + 11') plus D."""
    n = len(K)
    M = np.diag(ridge).astype(float)
    for y, share, H in zip(Y.T, shares, metrics, strict=True):
        M += share * np.outer(y, y) * (root(K) @ (H + np.eye(n)) @ root(K) + np.ones((n, n)))
    return M


def simplex_minimum(M):
    """Minimiser and minimum of 1/2 a'Ma over the simplex, by PIQP."""
    n = len(M)
    alpha = solve_qp(M, np.zeros(n), np.ones((1, n)), [1.0], upper=1.0, tolerance=1e-11)
    return alpha, float(alpha @ M @ alpha) / 2


def best_labels_of_one_feature(features, alpha, signs, n_positive):
    """The largest |sum of alpha y feature| over all features and all label vectors with n_positive positives."""
    n_open = len(alpha) - len(signs)
    best, largest = None, -1.0
    for places in itertools.combinations(range(n_open), n_positive):
        y = np.concatenate([signs, [1.0 if i in places else -1.0 for i in range(n_open)]])
        for j in range(features.shape[1]):
            value = abs(float(np.sum(alpha * y * features[:, j])))
            if value > largest:
                best, largest = y, value
    return best, largest
