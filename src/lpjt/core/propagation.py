"""Label propagation on a neighbour graph of the embedded rows: Zhu's harmonic solution and Eq. (2)'s closed form."""

import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from lpjt._threads import map_threads
from lpjt._typing import Array, Mask
from lpjt._warnings import TransferWarning
from lpjt.core.neighbors import Neighbors, nearest_others, nearest_rows


@dataclass(frozen=True, slots=True, eq=False)
class LinearSolution:
    """Solution of a symmetric positive definite system for many right-hand sides."""

    values: Array  # (n, n_columns)
    residual: float  # largest relative residual of any column


#: From this many unknowns on, threads share the columns, with at most `COLUMNS_EACH` at a time, which fit the cache.
MANY_ENTRIES, COLUMNS_EACH = 2**19, 16


def is_shared(n_rows: int, n_columns: int) -> bool:
    """Whether threads share the columns of a system of this size."""
    return n_rows * n_columns >= MANY_ENTRIES


def conjugate_gradients(A: sparse.csr_array, B: Array, *, tol: float = 1e-8, max_iter: int = 2000) -> LinearSolution:
    """Solve ``A F = B`` by conjugate gradients with the diagonal as preconditioner, all columns together.

    O(nnz(A) n_columns) per step; the columns share each product with A.

    Parameters
    ----------
    A : sparse array, (n, n), symmetric positive definite
    B : array, (n, n_columns)
    tol : float
        The method stops once the residual of every column is below this share of its right-hand side.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    LinearSolution
    """
    inverse = 1.0 / A.diagonal()[:, None]
    if not is_shared(*B.shape):
        return _certified(_solve_together(A, inverse, B, tol, max_iter), tol, max_iter)
    F = np.empty_like(B)

    def solve(columns: slice) -> float:
        solution = _solve_together(A, inverse, np.ascontiguousarray(B[:, columns]), tol, max_iter)
        F[:, columns] = solution.values
        return solution.residual

    n_parts = min(B.shape[1], max(2, -(-B.shape[1] // COLUMNS_EACH)))
    ends = [B.shape[1] * i // n_parts for i in range(n_parts + 1)]
    parts = [slice(a, b) for a, b in pairwise(ends)]
    return _certified(LinearSolution(F, max(map_threads(solve, parts))), tol, max_iter)


def _certified(solution: LinearSolution, tol: float, max_iter: int) -> LinearSolution:
    """The solution, with a warning if its residual is not what was asked for."""
    if not solution.residual < tol:
        warnings.warn(
            f"Labels were propagated to a relative residual of {solution.residual:.1e} only, not {tol:.0e}, in "
            f"{max_iter} steps. Rows far from all labelled ones may have wrong labels: increase n_neighbors of "
            "classifier=Propagation(...), or label some of these rows.",
            TransferWarning,
            stacklevel=3,
        )
    return solution


def _solve_together(A: sparse.csr_array, inverse: Array, B: Array, tol: float, max_iter: int) -> LinearSolution:
    F = np.zeros_like(B)
    R = B.copy()
    S = inverse * R
    P, T = S.copy(), np.empty_like(B)
    rho = _column_products(R, S)
    norm = np.maximum(np.sqrt(_column_products(B, B)), np.finfo(float).tiny)
    residual = np.inf
    for _ in range(max_iter):
        Q = A @ P
        step = rho / np.maximum(_column_products(P, Q), np.finfo(float).tiny)
        F += np.multiply(step, P, out=T)
        R -= np.multiply(step, Q, out=T)
        residual = float((np.sqrt(_column_products(R, R)) / norm).max())
        if residual < tol:
            break
        np.multiply(inverse, R, out=S)
        rho, previous = _column_products(R, S), rho
        P *= rho / np.maximum(previous, np.finfo(float).tiny)
        P += S
    return LinearSolution(F, residual)


def _column_products(P: Array, Q: Array) -> Array:
    """Inner product of each column of P with the same column of Q."""
    return np.einsum("ij,ij->j", P, Q)


def harmonic_labels(W: sparse.csr_array, Y: Array, known: Mask, *, tol: float = 1e-8) -> Array:
    """Harmonic solution: known rows keep their distribution, others have the weighted mean of their neighbours.

    Parameters
    ----------
    W : sparse array, (n, n)
        Symmetric weights.
    Y : array, (n, n_classes)
        Distributions of the known rows; the other rows are ignored.
    known : bool array, (n,)

    Returns
    -------
    array, (n_unknown, n_classes)
        Rows without a path to a known row are zero.
    """
    W = W.tocsr()
    unknown = np.flatnonzero(~known)
    to_unknown = W[unknown]
    return harmonic_solution(to_unknown[:, unknown], to_unknown[:, np.flatnonzero(known)], Y[known], tol=tol)


def harmonic_solution(W_uu: sparse.csr_array, W_uk: sparse.csr_array, Y_known: Array, *, tol: float = 1e-8) -> Array:
    """Solve ``(D_uu - W_uu) F = W_uk Y_known`` from the blocks of the graph; the result is as in `harmonic_labels`."""
    W_uu, W_uk = W_uu.tocsr(), W_uk.tocsr()
    degree = np.asarray(W_uu.sum(axis=1) + W_uk.sum(axis=1), dtype=np.float64).ravel()
    pull = np.asarray(W_uk @ Y_known, dtype=np.float64)
    reached = _reached(W_uu, pull.sum(axis=1) > 0)
    F = np.zeros_like(pull)
    if reached.any():
        A = sparse.diags_array(degree[reached]) - W_uu[reached][:, reached]
        F[reached] = conjugate_gradients(A.tocsr(), pull[reached], tol=tol).values
    return np.maximum(F, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Neighborhoods:
    """Nearest known rows, and nearest other unknown rows, of each unknown row, nearest first."""

    known: Neighbors  # (n_unknown, k)
    unknown: Neighbors  # (n_unknown, k)
    n_known: int

    @property
    def graph(self) -> sparse.csr_array:
        """Symmetric heat graph of the unknown rows, (n_unknown, n_unknown)."""
        W = _heat_rows(self.unknown, len(self.unknown.indices))
        return W.maximum(W.T).tocsr()

    def blocks(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """W_uu and W_uk of the graph that joins each unknown row to its k nearest rows, known or not.

        Known rows choose no neighbours: if they did, and the domains were apart, the few known rows nearest to the
        unknown ones would dominate, and the labels would follow the class proportions of the known rows.
        """
        n, k = self.unknown.indices.shape
        squared = np.hstack([self.unknown.squared, self.known.squared])
        indices = np.hstack([self.unknown.indices, self.known.indices + n])
        nearest = np.argpartition(squared, k - 1, axis=1)[:, :k]
        both = Neighbors(*(np.take_along_axis(part, nearest, axis=1) for part in (indices, squared)))
        W = _heat_rows(both, n + self.n_known)
        W_uu, W_uk = W[:, :n], W[:, n:]
        return W_uu.maximum(W_uu.T).tocsr(), W_uk.tocsr()

    def votes(self, Y_known: Array, n_votes: int) -> Array:
        """Mean distribution, by heat weights, of the `n_votes` nearest known rows: (n_unknown, n_classes)."""
        W = _heat_rows(self.known.first(n_votes), self.n_known)
        return normalise_rows(W @ Y_known)


def find_neighborhoods(
    Z_known: Array,
    Z_unknown: Array,
    n_neighbors: int,
    *,
    search: str = "exact",
    unknown: Neighbors | None = None,
) -> Neighborhoods:
    """Neighbourhoods of at least two unknown rows.

    `unknown` are the nearest other unknown rows if already computed; lists that are too short are computed again.
    """
    if unknown is None or unknown.indices.shape[1] < min(n_neighbors, len(Z_unknown) - 1):
        unknown = nearest_others(Z_unknown, n_neighbors, search=search)
    known = nearest_rows(Z_unknown, Z_known, n_neighbors, search=search)
    return Neighborhoods(known, unknown.first(n_neighbors), len(Z_known))


def anchored_labels(votes: Array, W: sparse.csr_array, smoothing: float, *, tol: float = 1e-8) -> Array:
    r"""Votes of known rows, smoothed over the graph of the unknown rows: :math:`F = \eta D^{-1} W F + (1 - \eta) F_0`.

    Unlike the harmonic solution it does not become constant where few edges join the domains, so that it needs little
    class-mass normalisation; see `docs/notation.md`.

    Parameters
    ----------
    votes : array, (n, n_classes)
        :math:`F_0`.
    W : sparse array, (n, n)
        Symmetric weights.
    smoothing : float
        :math:`\eta`, in [0, 1).

    Returns
    -------
    array, (n, n_classes)
    """
    degree = np.maximum(np.asarray(W.sum(axis=1)).ravel(), np.finfo(float).tiny)
    A = sparse.diags_array(degree) - smoothing * W
    F = conjugate_gradients(A.tocsr(), (1 - smoothing) * degree[:, None] * votes, tol=tol).values
    return np.maximum(F, 0.0)


def vote(
    Z_known: Array,
    Y_known: Array,
    Z_unknown: Array,
    *,
    n_neighbors: int,
    bandwidth: float | None = None,
    search: str = "exact",
) -> Array:
    """Mean distribution, by heat weights, of the nearest known rows of each unknown row: (n_unknown, n_classes).

    `bandwidth` is the squared bandwidth of the heat weights; None takes the mean squared distance of the given rows. A
    number is needed where the answer for one row must not depend on the other rows.
    """
    W = _heat_rows(nearest_rows(Z_unknown, Z_known, n_neighbors, search=search), len(Z_known), bandwidth)
    return normalise_rows(W @ Y_known)


def neighbor_graph(Z: Array, n_neighbors: int, *, search: str = "exact") -> sparse.csr_array:
    """Symmetric heat graph of the nearest rows, (n, n); its squared bandwidth is the mean squared edge length."""
    W = _heat_rows(nearest_others(Z, n_neighbors, search=search), len(Z))
    return W.maximum(W.T).tocsr()


def squared_bandwidth(Z: Array, n_neighbors: int, *, max_rows: int = 1000) -> float:
    """Mean squared distance to the nearest other rows, over at most `max_rows` evenly spaced rows; 1 for one row."""
    chosen = np.arange(0, len(Z), -(-len(Z) // max_rows))
    squared = nearest_rows(Z[chosen], Z, n_neighbors + 1).squared
    return float(np.mean(squared[:, 1:], dtype=np.float64)) if squared.shape[1] > 1 else 1.0


def unit_rows(Z: Array) -> Array:
    """Rows scaled to unit length; rows of zeros stay zero."""
    length = np.sqrt(np.einsum("ij,ij->i", Z, Z))[:, None]
    return Z / np.where(length > 0, length, 1.0)


def spread_labels(W: sparse.csr_array, Y: Array, sigma: float, *, tol: float = 1e-10) -> Array:
    r"""Limit of Eq. (2): :math:`(1 - \sigma)(I - \sigma S)^{-1} Y_0` with :math:`S = D^{-1/2} W D^{-1/2}`."""
    degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    root = sparse.diags_array(1.0 / np.sqrt(np.maximum(degree, np.finfo(float).tiny)))
    A = sparse.eye_array(W.shape[0]) - sigma * (root @ W @ root)
    return (1 - sigma) * conjugate_gradients(A.tocsr(), np.asarray(Y, dtype=np.float64), tol=tol).values


def normalise_class_mass(F: Array, proportions: Array, *, power: float = 1.0) -> Array:
    """Scale the columns towards the given proportions of the total mass (Zhu's CMN), then the rows to sum 1.

    `power` 1 scales the columns to the proportions, 0 not at all, 1/2 half the way.
    """
    mass = F.mean(axis=0)
    scale = np.divide(proportions, mass, out=np.zeros(len(mass)), where=mass > 0)
    return normalise_rows(F * scale**power)


def normalise_rows(F: Array) -> Array:
    """Rows scaled to sum 1; a row of zeros becomes uniform."""
    total = F.sum(axis=1, keepdims=True)
    return np.where(total > 0, F / np.where(total > 0, total, 1.0), 1.0 / F.shape[1])


def _heat_rows(near: Neighbors, n_columns: int, bandwidth: float | None = None) -> sparse.csr_array:
    """Heat weights of each row's neighbours, (n, n_columns); `bandwidth` is squared, by default the mean of `near`."""
    squared = near.squared.astype(np.float64).ravel()
    square = squared.mean() if bandwidth is None else bandwidth
    values = np.exp(
        -np.minimum(squared / (2 * max(square, np.finfo(float).tiny)), 500.0)
    )  # never zero: distant rows vote too
    ends = np.arange(0, squared.size + 1, near.indices.shape[1])
    return sparse.csr_array((values, near.indices.ravel(), ends), shape=(len(near.indices), n_columns))


def _reached(W_uu: sparse.csr_array, seeds: Mask) -> Mask:
    """Whether a path joins each unknown row to one of the seeds, (n_unknown,)."""
    _, component = sparse.csgraph.connected_components(W_uu, directed=False)
    return np.isin(component, component[seeds])
