"""Label propagation on a neighbour graph of the embedded rows: Zhu's harmonic solution and Eq. (2)'s closed form."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lpjt._typing import Array, Codes, Mask
from lpjt.core.definite import solve_definite
from lpjt.core.edges import Graph, add_to_diagonal, degrees, is_small, make_graph, symmetrise
from lpjt.core.neighbors import Neighbors, nearest_others, nearest_rows
from lpjt.core.span import in_span
from lpjt.core.ties import preferred_first


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


def harmonic_solution(W_uu: Graph, W_uk: Graph, Y_known: Graph, *, tol: float = 1e-8) -> Array:
    """Solve ``(D_uu - W_uu) F = W_uk Y_known`` from the blocks of the graph; the result is as in `harmonic_labels`."""
    degree = degrees(W_uu) + degrees(W_uk)
    pull = _weighted_sums(W_uk, Y_known)
    reached = _reached(W_uu, pull.sum(axis=1) > 0)
    if reached.all():
        F = solve_definite(_laplacian(degree, W_uu), pull, tol=tol).values
    else:
        F = np.zeros_like(pull)
        if reached.any():
            within = _laplacian(degree[reached], W_uu[reached][:, reached])
            F[reached] = solve_definite(within, pull[reached], tol=tol).values
    return np.maximum(F, 0.0, out=F)


def _laplacian(degree: Array, W: Graph) -> Graph:
    """D - W, in the form of W."""
    if isinstance(W, np.ndarray):
        A = -W
        add_to_diagonal(A, degree)
        return A
    return (sparse.diags_array(degree) - W).tocsr()


@dataclass(frozen=True, slots=True, eq=False)
class Neighborhoods:
    """Nearest known rows, and nearest other unknown rows, of each unknown row, nearest first."""

    known: Neighbors  # (n_unknown, k)
    unknown: Neighbors  # (n_unknown, k)
    n_known: int

    @property
    def graph(self) -> Graph:
        """Symmetric heat graph of the unknown rows, (n_unknown, n_unknown)."""
        return symmetrise(_heat_graph(self.unknown, len(self.unknown.indices)))

    def blocks(self) -> tuple[Graph, Graph]:
        """W_uu and W_uk of the graph that joins each unknown row to its k nearest rows, known or not.

        Known rows choose no neighbours: if they did, and the domains were apart, the few known rows nearest to the
        unknown ones would dominate, and the labels would follow the class proportions of the known rows.
        """
        n, k = self.unknown.indices.shape
        squared = np.hstack([self.unknown.squared, self.known.squared])
        indices = np.hstack([self.unknown.indices, self.known.indices + n])
        ranked = preferred_first(self.unknown.squared, self.known.squared)
        nearest = np.argpartition(ranked, k - 1, axis=1)[:, :k]
        rows = np.arange(n)[:, None]
        both = Neighbors(indices[rows, nearest], squared[rows, nearest])
        dense = is_small((n, n)) and is_small((n, self.n_known))
        W = _heat_array(both, n + self.n_known) if dense else _heat_rows(both, n + self.n_known)
        return symmetrise(W[:, :n]), W[:, n:]

    def votes(self, Y_known: Graph, n_votes: int) -> Array:
        """Mean distribution, by heat weights, of the `n_votes` nearest known rows: (n_unknown, n_classes)."""
        W = _heat_graph(self.known.first(n_votes), self.n_known)
        return _shares(_weighted_sums(W, Y_known))


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
    if search == "exact":
        Z_known, Z_unknown = in_span(Z_known, Z_unknown)
    if unknown is None or unknown.indices.shape[1] < min(n_neighbors, len(Z_unknown) - 1):
        unknown = nearest_others(Z_unknown, n_neighbors, search=search)
    known = nearest_rows(Z_unknown, Z_known, n_neighbors, search=search)
    return Neighborhoods(known, unknown.first(n_neighbors), len(Z_known))


def anchored_labels(votes: Array, W: Graph, smoothing: float, *, tol: float = 1e-8) -> Array:
    r"""Votes of known rows, smoothed over the graph of the unknown rows: :math:`F = \eta D^{-1} W F + (1 - \eta) F_0`.

    Unlike the harmonic solution it does not become constant where few edges join the domains, so that it needs little
    class-mass normalisation; see `docs/notation.md`.

    Parameters
    ----------
    votes : array, (n, n_classes)
        :math:`F_0`.
    W : array or sparse array, (n, n)
        Symmetric weights.
    smoothing : float
        :math:`\eta`, in [0, 1).

    Returns
    -------
    array, (n, n_classes)
    """
    degree = np.maximum(degrees(W), np.finfo(float).tiny)
    F = solve_definite(_laplacian(degree, smoothing * W), (1 - smoothing) * degree[:, None] * votes, tol=tol).values
    return np.maximum(F, 0.0, out=F)


def vote(
    Z_known: Array,
    Y_known: Graph,
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
    return _shares(_weighted_sums(W, Y_known))


def neighbor_graph(Z: Array, n_neighbors: int, *, search: str = "exact") -> sparse.csr_array:
    """Symmetric heat graph of the nearest rows, (n, n); its squared bandwidth is the mean squared edge length."""
    return symmetrise(_heat_rows(nearest_others(Z, n_neighbors, search=search), len(Z)))


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
    degree = degrees(W)
    root = sparse.diags_array(1.0 / np.sqrt(np.maximum(degree, np.finfo(float).tiny)))
    A = sparse.eye_array(W.shape[0]) - sigma * (root @ W @ root)
    return (1 - sigma) * solve_definite(A.tocsr(), np.asarray(Y, dtype=np.float64), tol=tol).values


def normalise_class_mass(F: Array, proportions: Array, *, power: float = 1.0, mass: Array | None = None) -> Array:
    """Scale the columns towards the given proportions of the total mass (Zhu's CMN), then the rows to sum 1.

    `power` 1 scales the columns to the proportions, 0 not at all, 1/2 half the way. `mass`, (n_classes,), is the mean
    of all rows where `F` has some of them.
    """
    mass = F.mean(axis=0) if mass is None else mass
    scale = np.divide(proportions, mass, out=np.zeros(len(mass)), where=mass > 0)
    return _shares(F * scale**power)


def normalise_rows(F: Array) -> Array:
    """Rows scaled to sum 1; a row of zeros becomes uniform."""
    return _shares(np.array(F))


def _shares(F: Array) -> Array:
    """As `normalise_rows`, in place: with hundreds of classes every copy is as large as all rows."""
    total = F.sum(axis=1, keepdims=True)
    empty = ~(total[:, 0] > 0)
    total[empty] = 1.0
    F /= total
    F[empty] = 1.0 / F.shape[1]
    return F


def one_hot(y: Codes, weights: Array | None, n_classes: int) -> Graph:
    """Indicators of the classes of rows, (n, n_classes), as many times as the rows count; sparse if they are many."""
    values = np.ones(len(y)) if weights is None else weights
    return make_graph(values, np.arange(len(y)), y, (len(y), n_classes))


def _weighted_sums(W: Graph, Y: Graph) -> Array:
    """W Y, (n, n_classes), a dense array in float64."""
    product = W @ Y
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)


def _heat_graph(near: Neighbors, n_columns: int) -> Graph:
    """As `_heat_rows`, a dense array if it is small."""
    return (_heat_array if is_small((len(near.indices), n_columns)) else _heat_rows)(near, n_columns)


def _heat_array(near: Neighbors, n_columns: int) -> Array:
    """As `_heat_rows`, a dense array."""
    W = np.zeros((len(near.indices), n_columns))
    W[np.arange(len(W))[:, None], near.indices] = heat_values(near.squared.astype(np.float64))
    return W


def _heat_rows(near: Neighbors, n_columns: int, bandwidth: float | None = None) -> sparse.csr_array:
    """Heat weights of each row's neighbours, (n, n_columns); `bandwidth` is squared, by default the mean of `near`."""
    values = heat_values(near.squared.astype(np.float64).ravel(), bandwidth)
    ends = np.arange(0, values.size + 1, near.indices.shape[1])
    return sparse.csr_array((values, near.indices.ravel(), ends), shape=(len(near.indices), n_columns))


def heat_values(squared: Array, bandwidth: float | None = None) -> Array:
    """Heat weights of squared distances; `bandwidth` is squared, by default the mean of the distances."""
    square = squared.mean() if bandwidth is None else bandwidth
    # never zero: distant rows vote too
    return np.exp(-np.minimum(squared / (2 * max(square, np.finfo(float).tiny)), 500.0))


def _reached(W_uu: Graph, seeds: Mask) -> Mask:
    """Whether a path joins each unknown row to one of the seeds, (n_unknown,)."""
    if isinstance(W_uu, np.ndarray):
        reached = seeds
        while (wider := reached | (W_uu @ reached > 0)).sum() > reached.sum():
            reached = wider
        return reached
    _, component = sparse.csgraph.connected_components(W_uu, directed=False)
    return np.isin(component, component[seeds])
