r"""The semi-supervised part of SHFA: a rho-SVM over a mixture of label vectors, each found as the most violated one.

With features :math:`\Phi`, :math:`\Phi \Phi^\top = G`, and the label vectors :math:`y_l` found so far, it is the saddle
point of :math:`\frac12 \sum_l d_l \|\Phi^\top (\alpha \circ y_l)\|^2 + \frac12 \alpha^\top D \alpha`, a minimum over
alpha and a maximum over d, each on its simplex. The diagonal of D is 1 / C of each row, from the squared hinge loss.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from lpjt.baselines._types import Flags, Floats, Indices

#: Minimum number of violating rows that join the working set at a time; the size of the set where that is larger.
BATCH = 50


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Saddle point over a set of label vectors."""

    alpha: Floats  # (n,) on the simplex
    shares: Floats  # (n_vectors,) d, on the simplex
    rho: float  # the margin: twice the value at the saddle point
    gap: float  # upper bound on what a better d could add, relative to rho


def minimise_on_orthant(columns: Callable[[Indices], Floats], n: int, start: Flags, *, tol: float = 1e-9) -> Floats:
    r"""Solve :math:`\min \frac12 \beta^\top M \beta - 1^\top \beta, \beta \ge 0` for a positive definite M.

    A working set of rows is solved exactly and joined by the rows that violate :math:`(M \beta)_i \ge 1` most, until
    none does: few rows are positive, so that the systems stay small.

    Parameters
    ----------
    columns : callable
        ``columns(rows)`` gives M[:, rows].
    n : int
    start : bool array, (n,)
        First working set, not empty.

    Returns
    -------
    array, (n,)
    """
    working = start.copy()
    free = start.copy()
    while True:
        rows = np.flatnonzero(working)
        part = columns(rows)
        solved = _pivot(part[rows], free[rows])
        slack = part @ solved - 1
        slack[rows] = 0.0
        violated = np.flatnonzero(slack < -tol)
        if not len(violated):
            beta = np.zeros(n)
            beta[rows] = solved
            return beta
        free = np.zeros(n, dtype=bool)
        free[rows] = solved > 0
        n_more = max(BATCH, int(free.sum()))
        joined = violated[np.argsort(slack[violated], kind="stable")[:n_more]]
        working = free.copy()
        working[joined] = free[joined] = True


def _pivot(M: Floats, free: Flags) -> Floats:
    """Block principal pivoting on one dense matrix; single exchanges once the blocks stop making progress."""
    free, fewest, patience = free.copy(), len(M) + 1, 5
    while True:
        rows = np.flatnonzero(free)
        beta, slack = np.zeros(len(M)), -np.ones(len(M))
        if len(rows):
            beta[rows] = linalg.solve(M[np.ix_(rows, rows)], np.ones(len(rows)), assume_a="pos", check_finite=False)
            slack = M[:, rows] @ beta[rows] - 1
        wrong = np.where(free, beta < 0, slack < -1e-9)
        n_wrong = int(wrong.sum())
        if not n_wrong:
            return beta
        if n_wrong < fewest:
            fewest, patience = n_wrong, 5
        elif patience:
            patience -= 1
        if not patience:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free ^= wrong


def mix_labels(
    G: Floats, Y: Floats, ridge: Floats, *, start: Mixture | None = None, tol: float = 1e-3, max_iter: int = 30
) -> Mixture:
    r"""Saddle point of the rho-SVM over the given label vectors.

    For fixed d and :math:`M = \sum_l d_l (y_l y_l^\top) \circ G + D` alpha is :math:`\beta / 1^\top \beta` with beta of
    `minimise_on_orthant`, and rho is :math:`1 / 1^\top \beta`. The sum :math:`1^\top \beta` is convex in d, with the
    gradient :math:`-\beta^\top Q_l \beta`, and is minimised by Newton steps on the simplex.

    Parameters
    ----------
    G : array, (n, n)
    Y : array, (n, n_vectors)
        Label vectors of 1 and -1.
    ridge : array, (n,)
        The diagonal of D.
    start : Mixture, optional
        Solution for the same rows and the leading label vectors.
    tol : float
        Relative gap at which to stop.

    Returns
    -------
    Mixture
    """
    n, n_vectors = Y.shape
    shares = np.full(n_vectors, 1.0 / n_vectors)
    free = np.arange(n) < BATCH
    if start is not None:
        shares = np.concatenate([start.shares, np.zeros(n_vectors - len(start.shares))])
        free = start.alpha > 0
    beta, q, hessian = _at_shares(G, Y, ridge, shares, free)
    for _ in range(max_iter):
        total = beta.sum()
        if float(q.max() - shares @ q) <= tol * total:
            break
        step = _newton_target(shares, -q, hessian) - shares
        length, slope = 1.0, -float(q @ step)
        while True:
            moved = shares + length * step
            found = _at_shares(G, Y, ridge, moved, beta > 0)
            if found[0].sum() <= total + 1e-4 * length * slope or length < 1e-4:
                break
            length /= 2
        shares, (beta, q, hessian) = moved, found
    total = beta.sum()
    return Mixture(beta / total, shares, 1.0 / total, float(q.max() - shares @ q) / total)


def _at_shares(G: Floats, Y: Floats, ridge: Floats, shares: Floats, free: Flags) -> tuple[Floats, Floats, Floats]:
    """Beta, the values beta' Q_l beta and the Hessian of 1'beta in the shares."""

    def columns(rows: Indices) -> Floats:
        part = G[:, rows] * ((Y * shares) @ Y[rows].T)
        part[rows, np.arange(len(rows))] += ridge[rows]
        return part

    beta = minimise_on_orthant(columns, len(G), free)
    rows = np.flatnonzero(beta > 0)
    kernel, labels = G[np.ix_(rows, rows)], Y[rows]
    pulled = labels * (kernel @ (labels * beta[rows, None]))
    q = beta[rows] @ pulled
    M = kernel * ((labels * shares) @ labels.T)
    M[np.diag_indices_from(M)] += ridge[rows]
    solved = linalg.solve(M, pulled, assume_a="pos", check_finite=False)
    return beta, q, 2 * pulled.T @ solved


def _newton_target(shares: Floats, gradient: Floats, hessian: Floats) -> Floats:
    """Minimiser on the simplex of the quadratic model at the given shares."""
    scale = max(float(np.abs(gradient).max()), np.finfo(float).tiny)
    gradient, hessian = gradient / scale, hessian / scale
    found = optimize.minimize(
        lambda d: gradient @ (d - shares) + (d - shares) @ hessian @ (d - shares) / 2,
        shares,
        jac=lambda d: gradient + hessian @ (d - shares),
        bounds=[(0.0, 1.0)] * len(shares),
        constraints={"type": "eq", "fun": lambda d: d.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 200},
    ).x
    found = np.maximum(found, 0.0)
    return found / found.sum()


def violated_labels(features: Floats, alpha: Floats, signs: Floats, n_positive: int, constant: float) -> Floats:
    r"""Label vector that nearly maximises :math:`\|\Phi^\top (\alpha \circ y)\|`: the best for a single feature.

    Parameters
    ----------
    features : array, (n_rows, n_features)
        Features of labelled rows, then of rows to be labelled; the constant feature is added here.
    alpha : array, (n_rows,)
    signs : array, (n_known,)
        Labels of the leading rows.
    n_positive : int
        Number of the others that are positive.
    constant : float
        Product of alpha and labels of the rows outside `features`, which have only the constant feature.

    Returns
    -------
    array, (n_rows - n_known,)
        Labels 1 and -1 of the others.
    """
    features = np.column_stack([features, np.ones(len(features))])
    n_known = len(signs)
    known = (alpha[:n_known] * signs) @ features[:n_known]
    known[-1] += constant
    open_part = alpha[n_known:, None] * features[n_known:]
    total, n_open = open_part.sum(axis=0), len(open_part)
    kth = sorted({n_positive - 1, n_open - n_positive} & set(range(n_open)))
    ordered = np.partition(open_part, kth, axis=0)
    # A feature is raised by the labels of its largest entries, its negative by those of its smallest.
    up = np.abs(known + 2 * ordered[n_open - n_positive :].sum(axis=0) - total)
    down = np.abs(known + 2 * ordered[:n_positive].sum(axis=0) - total)
    best = open_part[:, up.argmax()] if up.max() >= down.max() else -open_part[:, down.argmax()]
    return top_labels(best, n_positive)


def top_labels(values: Floats, n_positive: int) -> Floats:
    """Labels 1 for the `n_positive` largest values, -1 for the others."""
    labels = -np.ones(len(values))
    labels[np.argsort(-values, kind="stable")[:n_positive]] = 1.0
    return labels
