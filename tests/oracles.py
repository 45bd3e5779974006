"""The sums of Li et al. (IEEE TIP 2019) as plain loops: the referee of the fast code.

Nothing here is optimised and nothing is imported from ``lpjt``. Rows are samples: X is (n, width),
A is (width, d), the embedding is Z = X @ A. Labels are integer codes 0..C-1, and -1 marks a target row
without a label. Equation numbers are the paper's.

Departures from the print, everywhere the same:

- Eq. (13) prints +M_su; Eq. (12), the line before it, needs -M_su.
- Eq. (23) prints a zero target block; Eqs. (8)-(9) have one, K_uu, and it is kept.
- A class without rows in one of the two domains has no conditional term, in either domain.
- A target row coded -1 counts in the marginal term, in the variance, and nowhere else.
"""

import numpy as np
from scipy import linalg

# --------------------------------------------------------------------------------------------------
# Distribution matching, Eqs. (8)-(13)


def class_rows(y, code):
    """Indices of the rows of one class, in order."""
    return [i for i in range(len(y)) if y[i] == code]


def shared_classes(y_source, y_target):
    """Codes that have rows in both domains; -1 is no class."""
    return sorted(({int(c) for c in y_source} & {int(c) for c in y_target}) - {-1})


def landmark_mean(Z, weights, rows, delta):
    """1 / (delta |rows|) * sum over rows of w_i z_i: the means inside Eqs. (8)-(9)."""
    total = np.zeros(Z.shape[1])
    for i in rows:
        total = total + weights[i] * Z[i]
    return total / (delta * len(rows))


def marginal_energy(Z_source, Z_target, y_source, y_target, alpha, beta, delta):
    """E_MG of Eq. (8). The labels are not used: the arguments are those of `mmd_energy`."""
    mean_source = landmark_mean(Z_source, alpha, range(len(Z_source)), delta)
    mean_target = landmark_mean(Z_target, beta, range(len(Z_target)), delta)
    return float(np.sum((mean_source - mean_target) ** 2))


def conditional_energy(Z_source, Z_target, y_source, y_target, alpha, beta, delta):
    """E_CD of Eq. (9): class means, plus every source-target pair of a class."""
    energy = 0.0
    for code in shared_classes(y_source, y_target):
        rows_source, rows_target = class_rows(y_source, code), class_rows(y_target, code)
        mean_source = landmark_mean(Z_source, alpha, rows_source, delta)
        mean_target = landmark_mean(Z_target, beta, rows_target, delta)
        energy += np.sum((mean_source - mean_target) ** 2)
        pairs = 0.0
        for i in rows_source:
            for j in rows_target:
                pairs += np.sum((alpha[i] * Z_source[i] - beta[j] * Z_target[j]) ** 2)
        energy += pairs / (delta**2 * len(rows_source) * len(rows_target))
    return float(energy)


def mmd_energy(Z_source, Z_target, y_source, y_target, alpha, beta, delta):
    """E_MG + E_CD, Eq. (8) + Eq. (9)."""
    arguments = (Z_source, Z_target, y_source, y_target, alpha, beta, delta)
    return marginal_energy(*arguments) + conditional_energy(*arguments)


def h_matrices(y_source, y_target, alpha, beta, delta):
    """H_ss = H_sm + H_sc, H_uu = H_um + H_uc, H_su = H_sum + H_suc, printed under Eq. (11).

    "Diagonal" there means block diagonal, one block a class. Shapes (n_s, n_s), (n_u, n_u), (n_s, n_u).
    """
    n_source, n_target = len(y_source), len(y_target)
    H_ss = np.outer(alpha, alpha) / (delta**2 * n_source**2)
    H_uu = np.outer(beta, beta) / (delta**2 * n_target**2)
    H_su = np.outer(alpha, beta) / (delta**2 * n_source * n_target)
    for code in shared_classes(y_source, y_target):
        rows_source, rows_target = class_rows(y_source, code), class_rows(y_target, code)
        n_s, n_u = len(rows_source), len(rows_target)
        for i in rows_source:
            H_ss[i, i] += alpha[i] ** 2 / (delta**2 * n_s)
            for j in rows_source:
                H_ss[i, j] += alpha[i] * alpha[j] / (delta**2 * n_s**2)
        for i in rows_target:
            H_uu[i, i] += beta[i] ** 2 / (delta**2 * n_u)
            for j in rows_target:
                H_uu[i, j] += beta[i] * beta[j] / (delta**2 * n_u**2)
        for i in rows_source:
            for j in rows_target:
                H_su[i, j] += 2 * alpha[i] * beta[j] / (delta**2 * n_s * n_u)
    return H_ss, H_uu, H_su


# --------------------------------------------------------------------------------------------------
# Graphs, Eq. (1) and criteria (a), (b) under Eq. (15)


def squared_distance(x, z):
    """||x - z||^2."""
    return float(np.sum((np.asarray(x) - np.asarray(z)) ** 2))


def heat_weight(x, z, bandwidth=1.0):
    """exp(-||x - z||^2 / (2 bandwidth^2)); bandwidth 1 is Eq. (1)."""
    return float(np.exp(-squared_distance(x, z) / (2 * bandwidth**2)))


def edge_weight(x, z, weight, bandwidth):
    """Weight of one edge: 'heat' (the paper) or 'binary' (the authors' code)."""
    if weight == "heat":
        return heat_weight(x, z, bandwidth)
    if weight == "binary":
        return 1.0
    raise ValueError(f"weight is 'heat' or 'binary'; got {weight!r}.")


def neighbour_graph(X, candidates, n_neighbors, weight, bandwidth):
    """Join each row i to the nearest `n_neighbors` rows of candidates(i); W = max(W, W').

    Of rows at the same distance the one that comes first is nearer.
    """
    n = len(X)
    W = np.zeros((n, n))
    for i in range(n):
        by_distance = sorted((squared_distance(X[i], X[j]), j) for j in candidates(i))
        for _, j in by_distance[:n_neighbors]:
            W[i, j] = edge_weight(X[i], X[j], weight, bandwidth)
    return np.maximum(W, W.T)


def within_graph(X, y, n_neighbors, weight, bandwidth=1.0):
    """W_w, criterion (a): each row and its nearest rows of its own class. Rows coded -1 have no edge."""

    def same_class(i):
        return [j for j in range(len(X)) if j != i and y[i] != -1 and y[j] == y[i]]

    return neighbour_graph(X, same_class, n_neighbors, weight, bandwidth)


def between_graph(X, y, n_neighbors, weight, bandwidth=1.0):
    """W_b, criterion (b) read row by row: each row and its nearest rows of the other classes."""

    def other_classes(i):
        return [j for j in range(len(X)) if y[i] != -1 and y[j] != -1 and y[j] != y[i]]

    return neighbour_graph(X, other_classes, n_neighbors, weight, bandwidth)


def between_pairs_graph(X, y, max_pairs, weight="binary", bandwidth=1.0):
    """W_b, criterion (b) read over the domain: its `max_pairs` closest ordered pairs of two classes.

    (i, j) and (j, i) are two pairs, as in the authors' code: 10 are the 5 closest couples. Ties are
    broken by column, then row (a stable sort of the distances, column by column).
    """
    n = len(X)
    pairs = []
    for j in range(n):
        for i in range(n):
            if y[i] != -1 and y[j] != -1 and y[i] != y[j]:
                pairs.append((squared_distance(X[i], X[j]), j, i))
    W = np.zeros((n, n))
    for _, j, i in sorted(pairs)[:max_pairs]:
        W[i, j] = edge_weight(X[i], X[j], weight, bandwidth)
    return np.maximum(W, W.T)


def nearest_graph(X, n_neighbors, weight="heat", bandwidth=1.0):
    """Graph for label propagation: each row and its nearest rows of whatever class.

    bandwidth='mean' takes the mean of all n^2 distances, the zeros of the diagonal among them, as the
    authors' heterogeneous code does.
    """
    n = len(X)
    if bandwidth == "mean":
        distances = [np.sqrt(squared_distance(X[i], X[j])) for i in range(n) for j in range(n)]
        bandwidth = float(np.mean(distances))

    def everyone_else(i):
        return [j for j in range(n) if j != i]

    return neighbour_graph(X, everyone_else, n_neighbors, weight, bandwidth)


def laplacian(W):
    """L = D - W with D_ii = sum over j != i of W_ij (under Eqs. (1) and (15))."""
    n = len(W)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                L[i, i] += W[i, j]
                L[i, j] -= W[i, j]
    return L


def graph_energy(Z, W):
    """1/2 sum_ij W_ij ||z_i - z_j||^2 = Tr(Z' L Z), the traces of Eqs. (14)-(15)."""
    energy = 0.0
    for i in range(len(Z)):
        for j in range(len(Z)):
            energy += 0.5 * W[i, j] * squared_distance(Z[i], Z[j])
    return float(energy)


def total_scatter(X):
    """S_h of Eq. (17): sum_i (x_i - mean)(x_i - mean)'. Not divided by n, whatever its name there."""
    mean = np.zeros(X.shape[1])
    for x in X:
        mean = mean + x / len(X)
    scatter = np.zeros((X.shape[1], X.shape[1]))
    for x in X:
        scatter = scatter + np.outer(x - mean, x - mean)
    return scatter


# --------------------------------------------------------------------------------------------------
# The objective, Eqs. (16) and (21), and its extension to several domains


def objective_matrices(
    X_source,
    X_target,
    y_source,
    y_target,
    alpha,
    beta,
    delta,
    W_w_source,
    W_b_source,
    W_w_target,
    W_b_target,
    gamma,
    mu,
    coupling,
):
    """S_min and S_max of Eqs. (16)/(21), from the n x n coefficient matrices, with -M_su.

    `coupling` is lambda of lambda ||A - B||_F^2 (section IV-B); domains of unequal width have no such
    term. Returns S_min, S_max, both (width_s + width_t, width_s + width_t).
    """
    H_ss, H_uu, H_su = h_matrices(y_source, y_target, alpha, beta, delta)
    M_ss = X_source.T @ H_ss @ X_source
    M_uu = X_target.T @ H_uu @ X_target
    M_su = X_source.T @ H_su @ X_target
    I_source, I_target = np.eye(X_source.shape[1]), np.eye(X_target.shape[1])
    S_w_source = X_source.T @ laplacian(W_w_source) @ X_source
    S_w_target = X_target.T @ laplacian(W_w_target) @ X_target
    S_b_source = X_source.T @ laplacian(W_b_source) @ X_source
    S_b_target = X_target.T @ laplacian(W_b_target) @ X_target
    zero = np.zeros_like(M_su)
    S_min = np.block([[M_ss + gamma * S_w_source, -M_su], [-M_su.T, M_uu + gamma * S_w_target + mu * I_target]])
    if X_source.shape[1] == X_target.shape[1]:
        S_min = S_min + coupling * np.block([[I_source, -I_source], [-I_source, I_source]])
    S_max = np.block([[gamma * S_b_source, zero], [zero.T, gamma * S_b_target + mu * total_scatter(X_target)]])
    return (S_min + S_min.T) / 2, (S_max + S_max.T) / 2


def multi_objective_energy(
    projections, Xs, Xt, ys, yt, alphas, betas, delta, graphs_source, graphs_target, gamma, mu, coupling
):
    """Numerator and denominator of Eq. (16) for several sources and targets (appendix B).

    projections is (list of A_i, list of B_j); Xs, ys, alphas and Xt, yt, betas are lists, one entry a
    domain; graphs_* are lists of (W_w, W_b). A (source, target) pair weighs 1 / (n_sources n_targets), a
    source's graphs 1 / n_sources, a target's graphs, variance and mu ||B||^2 1 / n_targets. The paper sums
    without weights; with one source and one target both are Eq. (16). A pair of unequal widths is not
    coupled.
    """
    As, Bs = projections
    n_sources, n_targets = len(Xs), len(Xt)
    numerator = denominator = 0.0
    for i in range(n_sources):
        for j in range(n_targets):
            pair = mmd_energy(Xs[i] @ As[i], Xt[j] @ Bs[j], ys[i], yt[j], alphas[i], betas[j], delta)
            if As[i].shape == Bs[j].shape:
                pair += coupling * np.sum((As[i] - Bs[j]) ** 2)
            numerator += pair / (n_sources * n_targets)
    for i in range(n_sources):
        within, between = graphs_source[i]
        numerator += gamma * graph_energy(Xs[i] @ As[i], within) / n_sources
        denominator += gamma * graph_energy(Xs[i] @ As[i], between) / n_sources
    for j in range(n_targets):
        within, between = graphs_target[j]
        Z = Xt[j] @ Bs[j]
        numerator += (gamma * graph_energy(Z, within) + mu * np.sum(Bs[j] ** 2)) / n_targets
        denominator += (gamma * graph_energy(Z, between) + mu * np.trace(total_scatter(Z))) / n_targets
    return float(numerator), float(denominator)


def solve_projection(S_max, S_min, n_components, ridge=0.0, scaling="s_min"):
    """Eq. (21): top eigenpairs of S_max p = phi (S_min + ridge I) p, by decreasing phi.

    scaling='s_min' leaves P' S_min P = I, the constraint of Eq. (20); 'unit' makes each column of unit
    length. The largest entry of a column is positive. Returns values (d,) and vectors (width, d).
    """
    values, vectors = linalg.eigh(S_max, S_min + ridge * np.eye(len(S_min)))
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    for k in range(vectors.shape[1]):
        if scaling == "unit":
            vectors[:, k] = vectors[:, k] / np.linalg.norm(vectors[:, k])
        if vectors[np.argmax(np.abs(vectors[:, k])), k] < 0:
            vectors[:, k] = -vectors[:, k]
    return values, vectors


def eigen_residual(S_max, S_min, vectors, values):
    """max_k ||S_max p_k - phi_k S_min p_k|| / ||S_max p_k|| of Eq. (21). For phi_k well above zero."""
    worst = 0.0
    for k in range(len(values)):
        left = S_max @ vectors[:, k]
        gap = np.linalg.norm(left - values[k] * (S_min @ vectors[:, k]))
        size = np.linalg.norm(left)
        worst = max(worst, gap / size if size > 0 else gap)
    return float(worst)


# --------------------------------------------------------------------------------------------------
# Landmarks, Eqs. (22)-(23)


def qp_coefficients(Z_source, Z_target, y_source, y_target, delta, cross_class):
    """B of Eq. (23), entry by entry; `cross_class` multiplies the class term of the cross block."""
    Z, y = [*Z_source, *Z_target], [*y_source, *y_target]
    domain = [0] * len(Z_source) + [1] * len(Z_target)
    size = [len(Z_source), len(Z_target)]
    shared = shared_classes(y_source, y_target)
    class_size = [
        {c: len(class_rows(y_source, c)) for c in shared},
        {c: len(class_rows(y_target, c)) for c in shared},
    ]
    B = np.zeros((len(Z), len(Z)))
    for i in range(len(Z)):
        for j in range(len(Z)):
            p, q, c = domain[i], domain[j], y[i]
            coefficient = 1 / (size[p] * size[q])
            if c in shared and y[j] == c:
                factor = 1 if p == q else cross_class
                coefficient += factor / (class_size[p][c] * class_size[q][c])
                if i == j:
                    coefficient += 1 / class_size[p][c]
            sign = 1 if p == q else -1
            B[i, j] = sign * coefficient * float(np.dot(Z[i], Z[j])) / delta**2
    return B


def qp_matrix(Z_source, Z_target, y_source, y_target, delta):
    """B of Eq. (23) with K_uu kept: w' B w = E_MG + E_CD of Eqs. (8)-(9), w = [alpha; beta]."""
    return qp_coefficients(Z_source, Z_target, y_source, y_target, delta, cross_class=2)


def qp_matrix_code(Z_source, Z_target, y_source, y_target, delta):
    """B of the authors' homogeneous code: the class term of the cross block once, not twice.

    Their heterogeneous code has it twice, as `qp_matrix`.
    """
    return qp_coefficients(Z_source, Z_target, y_source, y_target, delta, cross_class=1)


def qp_groups(y_source, y_target, n_classes):
    """Rows of [alpha; beta] under each equality of Eq. (23): one a class and domain that has rows."""
    n_source = len(y_source)
    groups = [class_rows(y_source, c) for c in range(n_classes)]
    groups += [[n_source + j for j in class_rows(y_target, c)] for c in range(n_classes)]
    return [rows for rows in groups if rows]


def qp_referee(B, y_source, y_target, delta, n_classes, tolerance=1e-10):
    """Solve Eq. (23) by PIQP: min 1/2 w' B w, 0 <= w <= 1, each class of each domain sums to delta n_c.

    Unlabelled target rows keep weight delta. Returns w (n_s + n_u,) and 1/2 w' B w.
    """
    n = len(B)
    weights = np.full(n, float(delta))
    groups = qp_groups(y_source, y_target, n_classes)
    free = sorted(i for rows in groups for i in rows)
    # delta = 1 leaves one feasible point, and an interior-point method no interior.
    if delta < 1 and free:
        fixed = [i for i in range(n) if i not in set(free)]
        # B is of order 1 / n^2: scaled so that the solver's absolute tolerances mean something.
        scale = max(float(np.mean(np.diag(B))), np.finfo(float).tiny)
        quadratic = B[np.ix_(free, free)] / scale
        linear = B[np.ix_(free, fixed)] @ weights[fixed] / scale
        membership = np.array([[1.0 if i in rows else 0.0 for i in free] for rows in groups])
        mass = np.array([delta * len(rows) for rows in groups])
        weights[free] = solve_with_piqp(quadratic, linear, membership, mass, tolerance)
    return weights, float(0.5 * weights @ B @ weights)


def solve_with_piqp(quadratic, linear, membership, mass, tolerance):
    """min 1/2 x' Q x + c' x over membership x = mass, 0 <= x <= 1."""
    import piqp

    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    solver.settings.eps_abs = solver.settings.eps_rel = tolerance
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tolerance
    solver.settings.max_iter = 1000
    n = len(linear)
    quadratic, membership = np.asfortranarray(quadratic), np.asfortranarray(membership)
    solver.setup(quadratic, linear, membership, mass, x_l=np.zeros(n), x_u=np.ones(n))
    status = solver.solve()
    if status != piqp.PIQP_SOLVED:
        raise RuntimeError(f"PIQP stopped with {status}; loosen `tolerance` (now {tolerance}).")
    return np.clip(solver.result.x, 0.0, 1.0)


def qp_gap(B, weights, y_source, y_target, delta, n_classes):
    """Upper bound on 1/2 w' B w - optimum: g' w - min over feasible v of g' v, with g = B w.

    The inner minimum is a linear program solved by hand: in each class, weight 1 to the smallest entries
    of g until delta n_c is spent.
    """
    gradient = B @ weights
    gap = 0.0
    for rows in qp_groups(y_source, y_target, n_classes):
        left = delta * len(rows)
        for i in sorted(rows, key=lambda i: gradient[i]):
            gap += gradient[i] * (weights[i] - min(1.0, left))
            left -= min(1.0, left)
    return float(gap)


# --------------------------------------------------------------------------------------------------
# Label propagation, Eq. (2) and Zhu and Ghahramani (2002)


def reached_rows(W, n_labelled):
    """Rows joined to a labelled row by some path."""
    reached = set(range(n_labelled))
    frontier = list(reached)
    while frontier:
        i = frontier.pop()
        for j in range(len(W)):
            if W[i, j] > 0 and j not in reached:
                reached.add(j)
                frontier.append(j)
    return reached


def propagate_harmonic(W, Y_labelled, n_labelled):
    """F_u = (D_uu - W_uu)^-1 W_ul Y_l; the labelled rows come first in W.

    Rows that no path joins to a labelled row stay zero, the limit of the iteration from zero.
    Returns F (n_unlabelled, n_classes).
    """
    degree = W.sum(axis=1)
    reached = reached_rows(W, n_labelled)
    rows = [i for i in range(n_labelled, len(W)) if i in reached]
    F = np.zeros((len(W) - n_labelled, Y_labelled.shape[1]))
    if rows:
        system = np.diag(degree[rows]) - W[np.ix_(rows, rows)]
        F[[i - n_labelled for i in rows]] = np.linalg.solve(system, W[rows, :n_labelled] @ Y_labelled)
    return F


def propagate_spreading(W, Y0, sigma):
    """Fixed point of Eq. (2): (1 - sigma)(I - sigma S)^-1 Y0, S = D^-1/2 W D^-1/2; all rows."""
    n = len(W)
    degree = W.sum(axis=1)
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if W[i, j] > 0:
                S[i, j] = W[i, j] / np.sqrt(degree[i] * degree[j])
    return (1 - sigma) * np.linalg.solve(np.eye(n) - sigma * S, Y0)


def class_mass_normalise(F, proportions):
    """Scale the columns of F to masses in the given proportions, then each row to sum 1.

    The column scaling is Zhu, Ghahramani and Lafferty's (2003); the row scaling changes no label. A column
    or a row of zeros stays zero. The proportions need not sum to 1.
    """
    proportions = np.asarray(proportions, dtype=float)
    result = np.zeros_like(F, dtype=float)
    for c in range(F.shape[1]):
        mass = sum(F[i, c] for i in range(len(F)))
        if mass > 0:
            for i in range(len(F)):
                result[i, c] = F[i, c] * proportions[c] / mass
    for i in range(len(F)):
        total = result[i].sum()
        if total > 0:
            result[i] = result[i] / total
    return result


def one_hot(y, n_classes):
    """0/1 membership (n, n_classes)."""
    Y = np.zeros((len(y), n_classes))
    for i in range(len(y)):
        Y[i, y[i]] = 1.0
    return Y


def unit_rows(Z):
    """Rows divided by their length; a zero row stays zero."""
    return np.array([z / np.linalg.norm(z) if np.linalg.norm(z) > 0 else z for z in Z])


def nearest_labels(Z_labelled, y_labelled, Z):
    """1-nearest-neighbour labels of the rows of Z."""
    labels = []
    for z in Z:
        distances = [squared_distance(z, other) for other in Z_labelled]
        labels.append(y_labelled[int(np.argmin(distances))])
    return np.array(labels, dtype=int)


def propagate_labels(
    Z_labelled,
    y_labelled,
    Z_unlabelled,
    n_classes,
    *,
    n_neighbors,
    bandwidth=1.0,
    weight="heat",
    method="harmonic",
    sigma=0.99,
    proportions=None,
):
    """Algorithm 1, step 4: labels (n_u,) and scores (n_u, n_classes) of the unlabelled rows.

    `proportions` None leaves out the class-mass normalisation. A row without any score (no path to a
    labelled row) takes the label of its nearest labelled row.
    """
    n_labelled = len(Z_labelled)
    W = nearest_graph(np.vstack([Z_labelled, Z_unlabelled]), n_neighbors, weight, bandwidth)
    Y = one_hot(y_labelled, n_classes)
    if method == "harmonic":
        F = propagate_harmonic(W, Y, n_labelled)
    elif method == "spreading":
        Y0 = np.vstack([Y, np.zeros((len(Z_unlabelled), n_classes))])
        F = propagate_spreading(W, Y0, sigma)[n_labelled:]
    else:
        raise ValueError(f"method is 'harmonic' or 'spreading'; got {method!r}.")
    if proportions is not None:
        F = class_mass_normalise(F, proportions)
    labels = np.argmax(F, axis=1)
    silent = np.flatnonzero(F.sum(axis=1) <= 0)
    if len(silent):
        labels[silent] = nearest_labels(Z_labelled, y_labelled, Z_unlabelled[silent])
    return labels, F


# --------------------------------------------------------------------------------------------------
# Algorithm 1


def class_graphs(X, y, n_neighbors, weight, bandwidth, between, max_pairs):
    """(W_w, W_b) of one domain; `between` is 'rows' or 'pairs', the two readings of criterion (b)."""
    within = within_graph(X, y, n_neighbors, weight, bandwidth)
    if between == "rows":
        return within, between_graph(X, y, n_neighbors, weight, bandwidth)
    if between == "pairs":
        return within, between_pairs_graph(X, y, max_pairs, weight, bandwidth)
    raise ValueError(f"between is 'rows' or 'pairs'; got {between!r}.")


def mass_proportions(class_mass, y_source, y_labelled, n_classes):
    """Class masses: None; 'source' proportions; 'code' (counts of all labelled rows, plus 1); or given."""
    if class_mass is None:
        return None
    if isinstance(class_mass, str) and class_mass == "source":
        return one_hot(y_source, n_classes).sum(axis=0) / len(y_source)
    if isinstance(class_mass, str) and class_mass == "code":
        return one_hot(y_labelled, n_classes).sum(axis=0) + 1
    return np.asarray(class_mass, dtype=float)


def naive_lpjt(
    X_source,
    y_source,
    X_target,
    *,
    n_components,
    gamma,
    mu,
    coupling=0.0,
    delta=0.5,
    n_neighbors=5,
    n_iter=5,
    y_target=None,
    y_target_start=None,
    n_classes=None,
    graph_weight="heat",
    graph_bandwidth=1.0,
    between="rows",
    max_pairs=10,
    weights_start=None,
    landmarks=True,
    keep_beta=True,
    qp_cross_class=2,
    qp_tolerance=1e-10,
    propagation="harmonic",
    propagation_neighbors=None,
    propagation_bandwidth=1.0,
    propagation_weight="heat",
    sigma=0.99,
    class_mass="source",
    unit_embeddings=False,
    ridge=1e-10,
    ridge_relative=True,
    scaling="s_min",
):
    """Algorithm 1 as printed, dense. Returns one dict an iteration.

    y_target: codes of the labelled target rows, -1 elsewhere; they belong to the target domain and keep
    their label. y_target_start: labels to start from; None propagates on the raw features (step 1), from
    source and labelled target rows where the widths agree, else from labelled target rows alone.
    weights_start: first value of alpha and beta, None for delta (the authors' code: 1). landmarks=False
    leaves them there; keep_beta=False leaves beta there. unit_embeddings acts on propagation only.
    ridge times trace(S_min) / width (ridge_relative) or ridge itself is added to the diagonal of S_min.

    Keys: A, B, eigenvalues, Z_source, Z_target, labels, scores (rows of labelled target rows are one-hot),
    alpha, beta (after step 5), S_min, S_max (of step 2, without ridge), labels_before, alpha_before,
    beta_before (those of step 2), graphs_source, graphs_target (W_w, W_b of step 2).
    """
    X_source, X_target = np.asarray(X_source, float), np.asarray(X_target, float)
    n_source, n_target, width = len(X_source), len(X_target), X_source.shape[1]
    y_source = np.asarray(y_source, dtype=int)
    y_known = np.full(n_target, -1) if y_target is None else np.asarray(y_target, dtype=int)
    n_classes = int(y_source.max()) + 1 if n_classes is None else n_classes
    known, unknown = np.flatnonzero(y_known != -1), np.flatnonzero(y_known == -1)
    y_labelled = np.concatenate([y_source, y_known[known]])

    def propagate(labelled, y_of_labelled, unlabelled):
        found, F = propagate_labels(
            labelled,
            y_of_labelled,
            unlabelled,
            n_classes,
            n_neighbors=propagation_neighbors or n_neighbors,
            bandwidth=propagation_bandwidth,
            weight=propagation_weight,
            method=propagation,
            sigma=sigma,
            proportions=mass_proportions(class_mass, y_source, y_of_labelled, n_classes),
        )
        labels, scores = y_known.copy(), np.zeros((n_target, n_classes))
        labels[unknown], scores[unknown] = found, F
        scores[known] = one_hot(y_known[known], n_classes)
        return labels, scores

    # Step 1: first labels, first weights.
    if y_target_start is not None:
        labels = np.where(y_known != -1, y_known, np.asarray(y_target_start, dtype=int))
    elif width == X_target.shape[1]:
        labels, _ = propagate(np.vstack([X_source, X_target[known]]), y_labelled, X_target[unknown])
    elif len(known):
        labels, _ = propagate(X_target[known], y_known[known], X_target[unknown])
    else:
        raise ValueError("Unequal widths and no labelled target row: give y_target_start.")
    first = delta if weights_start is None else weights_start
    alpha, beta = np.full(n_source, float(first)), np.full(n_target, float(first))
    choice = (n_neighbors, graph_weight, graph_bandwidth, between, max_pairs)
    graphs_source = class_graphs(X_source, y_source, *choice)

    records = []
    for _ in range(n_iter):
        record = {"labels_before": labels, "alpha_before": alpha, "beta_before": beta}
        # Step 6 of the previous iteration: the target's graphs and the matrices, with the present labels.
        graphs_target = class_graphs(X_target, labels, *choice)
        S_min, S_max = objective_matrices(
            X_source,
            X_target,
            y_source,
            labels,
            alpha,
            beta,
            delta,
            *graphs_source,
            *graphs_target,
            gamma,
            mu,
            coupling,
        )
        # Step 2.
        added = ridge * np.trace(S_min) / len(S_min) if ridge_relative else ridge
        eigenvalues, P = solve_projection(S_max, S_min, n_components, added, scaling)
        A, B = P[:width], P[width:]
        # Step 3.
        Z_source, Z_target = X_source @ A, X_target @ B
        # Step 4.
        V_source, V_target = (unit_rows(Z_source), unit_rows(Z_target)) if unit_embeddings else (Z_source, Z_target)
        labels, scores = propagate(np.vstack([V_source, V_target[known]]), y_labelled, V_target[unknown])
        # Step 5, with the labels of step 4.
        if landmarks:
            quadratic = qp_coefficients(Z_source, Z_target, y_source, labels, delta, qp_cross_class)
            weights, _ = qp_referee(quadratic, y_source, labels, delta, n_classes, qp_tolerance)
            alpha, beta = weights[:n_source], weights[n_source:] if keep_beta else beta
        record |= {"A": A, "B": B, "eigenvalues": eigenvalues, "Z_source": Z_source, "Z_target": Z_target}
        record |= {"labels": labels, "scores": scores, "alpha": alpha, "beta": beta}
        record |= {"S_min": S_min, "S_max": S_max}
        record |= {"graphs_source": graphs_source, "graphs_target": graphs_target}
        records.append(record)
    return records


# --------------------------------------------------------------------------------------------------
# The authors' homogeneous code


def code_start_labels(X_source, y_source, X_target, pca_components):
    """First labels of the authors' code: PCA of the source, both domains uncentred, unit rows, 1-NN."""
    _, values, directions = np.linalg.svd(X_source - X_source.mean(axis=0), full_matrices=False)
    rank = int(np.sum(values > 1e-10 * values[0]))
    P = directions[: min(pca_components, rank)].T
    return nearest_labels(unit_rows(X_source @ P), y_source, unit_rows(X_target @ P))


def code_classify(Z_source, y_source, Z_target, alpha, nu):
    """Linear nu-SVM on the source embedding, rows weighted by alpha, one-versus-one votes."""
    from sklearn.svm import NuSVC

    machine = NuSVC(nu=nu, kernel="linear", decision_function_shape="ovo")
    machine.fit(Z_source, y_source, sample_weight=alpha)
    return machine.predict(Z_target).astype(int)


def naive_lpjt_code(
    X_source,
    y_source,
    X_target,
    *,
    n_components=25,
    gamma=0.05,
    mu=1.0,
    coupling=1.0,
    delta=0.5,
    n_neighbors=5,
    max_pairs=10,
    n_iter=5,
    nu=0.5,
    pca_components=25,
    y_target_start=None,
    ridge=2.0**-52,
    scaling="s_min",
    qp_tolerance=1e-10,
):
    """Iterations of the authors' homogeneous code; equal widths. Returns one dict an iteration.

    Against Algorithm 1: 0/1 weights, the closest ordered pairs of the domain, PCA and 1-NN at the start, a
    nu-SVM weighted by the alpha of the previous iteration, the class term once in the QP's cross block, beta
    dropped. Alpha and beta start at 1, not delta, while delta divides as ever: beta's means stay 1 / delta
    times too long. pca_components=None takes n_components, as the code does (25 is its only setting).
    Keys: those of `naive_lpjt` but scores.
    """
    X_source, X_target = np.asarray(X_source, float), np.asarray(X_target, float)
    n_source, width = X_source.shape
    y_source = np.asarray(y_source, dtype=int)
    n_classes = int(y_source.max()) + 1
    alpha, beta = np.ones(n_source), np.ones(len(X_target))
    if y_target_start is None:
        n_pca = n_components if pca_components is None else pca_components
        labels = code_start_labels(X_source, y_source, X_target, n_pca)
    else:
        labels = np.asarray(y_target_start, dtype=int)
    choice = (n_neighbors, "binary", 1.0, "pairs", max_pairs)
    graphs_source = class_graphs(X_source, y_source, *choice)
    records = []
    for _ in range(n_iter):
        record = {"labels_before": labels, "alpha_before": alpha, "beta_before": beta}
        graphs_target = class_graphs(X_target, labels, *choice)
        S_min, S_max = objective_matrices(
            X_source,
            X_target,
            y_source,
            labels,
            alpha,
            beta,
            delta,
            *graphs_source,
            *graphs_target,
            gamma,
            mu,
            coupling,
        )
        eigenvalues, P = solve_projection(S_max, S_min, n_components, ridge, scaling)
        A, B = P[:width], P[width:]
        Z_source, Z_target = X_source @ A, X_target @ B
        labels = code_classify(Z_source, y_source, Z_target, alpha, nu)
        quadratic = qp_matrix_code(Z_source, Z_target, y_source, labels, delta)
        weights, _ = qp_referee(quadratic, y_source, labels, delta, n_classes, qp_tolerance)
        alpha = weights[:n_source]
        record |= {"A": A, "B": B, "eigenvalues": eigenvalues, "Z_source": Z_source, "Z_target": Z_target}
        record |= {"labels": labels, "alpha": alpha, "beta": beta, "S_min": S_min, "S_max": S_max}
        record |= {"graphs_source": graphs_source, "graphs_target": graphs_target}
        records.append(record)
    return records
