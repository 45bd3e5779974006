r"""Marginal and conditional MMD, Eqs. (8)-(13), as class means, small coefficients and a diagonal.

For domains i and j let :math:`m_{i,0}` be the weighted mean of all rows of i and :math:`m_{i,c}` that of its class
c. Every term of Eqs. (8)-(9) is then either :math:`K_{ij,c}\, m_{i,c}^\top m_{j,c}` or a weighted sum of squared
norms of rows, so that no n x n matrix is needed. The same coefficients K serve the projections (Eq. 13) and the
landmark weights (Eq. 23).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lpjt._threads import map_threads
from lpjt._typing import Array, Codes
from lpjt.core.blocks import gram_blocks, row_blocks, sum_blocks
from lpjt.core.edges import Graph, make_graph


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Weighted means of one domain."""

    means: Array  # (1 + n_classes, width): all rows, then class by class; zero for a class without rows
    counts: Codes | Array  # (n_classes,) rows per class, or the sums of their sample weights


def class_moments(
    X: Array, y: Codes, weights: Array, *, n_classes: int, landmark_ratio: float = 1.0, mass: Array | None = None
) -> Moments:
    r"""Means of Eqs. (8)-(9): :math:`\frac{1}{\delta n} \sum_i \alpha_i x_i` over all rows and over each class.

    Parameters
    ----------
    X : array, (n, width)
    y : int array, (n,)
        Class codes; a row with -1 counts in the mean of all rows only.
    weights : array, (n,)
        :math:`\alpha` or :math:`\beta`.
    n_classes : int
    landmark_ratio : float
        :math:`\delta`.
    mass : array, (n,), or None
        Sample weights of mean 1: a row of mass 2 counts as two rows. None counts each row once.

    Returns
    -------
    Moments
    """
    counts = np.bincount(y[y >= 0], None if mass is None else mass[y >= 0], minlength=n_classes)
    if mass is not None:
        weights = weights * mass

    def part(rows: slice) -> Array:  # one block at a time, because the product is in float64
        return averaging_matrix(y[rows], weights[rows], counts, landmark_ratio, n_rows=len(y)) @ X[rows]

    return Moments(sum_blocks(part, row_blocks(X), (n_classes + 1, X.shape[1])), counts)


def class_proportions(labels: Sequence[Codes], weights: Sequence[Array] | None, n_classes: int) -> Array:
    """Proportions of the classes, (n_classes,), among labelled rows of some domains, the first that have weights."""
    counts = np.bincount(
        np.concatenate(labels), None if weights is None else np.concatenate(weights[: len(labels)]), minlength=n_classes
    )
    return counts / counts.sum()


def averaging_matrix(
    y: Codes, weights: Array, counts: Codes | Array, landmark_ratio: float = 1.0, *, n_rows: int | None = None
) -> Graph:
    """Matrix, (1 + n_classes, n), whose product with the rows gives the means of `class_moments`.

    For a block of rows, `n_rows` is the number of rows of the whole domain: the products of all blocks sum to its
    means.
    """
    n = len(y)
    labelled = np.flatnonzero(y >= 0)
    rows = np.concatenate([np.zeros(n, dtype=np.int64), y[labelled] + 1])
    columns = np.concatenate([np.arange(n), labelled])
    size = landmark_ratio * np.concatenate([[n_rows or n], np.where(counts > 0, counts, 1)])
    values = np.asarray(weights, dtype=np.float64)[columns] / size[rows]
    return make_graph(values, rows, columns, (len(counts) + 1, n))


def mmd_coefficients(
    counts: Sequence[Codes | Array], is_target: Sequence[bool], *, conditional_cross: float = 2.0
) -> Array:
    """Coefficients K of the products of means in the sum of Eqs. (8)-(9) over all (source, target) pairs.

    The weight of each pair is 1 / (n_sources n_targets), so that a source given twice counts as one.

    Parameters
    ----------
    counts : list of int arrays, (n_classes,)
        Rows per class, domain by domain.
    is_target : list of bool
    conditional_cross : float
        2 in Eq. (9), whose two parts have one cross term each; 1 in the landmark step of the authors' code.

    Returns
    -------
    array, (n_domains, n_domains, 1 + n_classes)

    Notes
    -----
    Departs from the paper in one sign: Eq. (13) prints +M_su, but only -M_su agrees with Eq. (12). A class that is
    missing in one domain of a pair has no conditional term in that pair.
    """
    n_domains, n_classes = len(counts), len(counts[0])
    K = np.zeros((n_domains, n_domains, n_classes + 1))
    sources = [i for i in range(n_domains) if not is_target[i]]
    targets = [i for i in range(n_domains) if is_target[i]]
    for s in sources:
        for t in targets:
            shared = (counts[s] > 0) & (counts[t] > 0)
            own = np.concatenate([[1.0], shared])
            cross = np.concatenate([[1.0], conditional_cross * shared])
            K[s, s] += own
            K[t, t] += own
            K[s, t] -= cross
            K[t, s] -= cross
    return K / max(len(sources) * len(targets), 1)


def row_spread(
    y: Codes,
    weights: Array,
    counts: Codes | Array,
    own_coefficients: Array,
    *,
    landmark_ratio: float = 1.0,
    mass: Array | None = None,
) -> Array:
    r"""Coefficients of :math:`\|x_i\|^2`, from the second part of Eq. (9): the diagonal of H_sc and H_uc.

    Parameters
    ----------
    y, weights, counts, landmark_ratio, mass
        As in `class_moments`.
    own_coefficients : array, (n_classes,)
        ``K[i, i, 1:]`` of `mmd_coefficients`.

    Returns
    -------
    array, (n,)
    """
    of_class = own_coefficients / (landmark_ratio**2 * np.where(counts > 0, counts, 1))
    spread = np.where(y >= 0, of_class[y], 0.0)
    spread = spread * np.asarray(weights, dtype=np.float64) ** 2
    return spread if mass is None else spread * mass


def mmd_blocks(means: Sequence[Array], K: Array) -> Array:
    """Low-rank part of M of Eq. (13), all domains stacked: block (i, j) is ``means[i].T diag(K[i, j]) means[j]``.

    The term of `row_spread` in the diagonal blocks is not included; `weighted_gram` computes it. O(C width^2), not
    O(n width^2).
    """
    ends = np.cumsum([0, *(U.shape[1] for U in means)])
    blocks = np.empty((ends[-1], ends[-1]))

    def fill(pair: tuple[int, int]) -> None:  # symmetric: K[i, j] is K[j, i]
        i, j = pair
        product = np.matmul(means[i].T * K[i, j], means[j], out=blocks[ends[i] : ends[i + 1], ends[j] : ends[j + 1]])
        if i != j:
            blocks[ends[j] : ends[j + 1], ends[i] : ends[i + 1]] = product.T

    map_threads(fill, [(i, j) for i in range(len(means)) for j in range(i, len(means))])
    return blocks


def mmd_energy(
    means: Sequence[Array], K: Array, spread: Sequence[Array], squared_norms: Sequence[Array]
) -> tuple[float, float]:
    """Value of Eqs. (8) and (9) on embedded rows: (marginal, conditional).

    Parameters
    ----------
    means : list of arrays, (1 + n_classes, n_components)
    K : array, (n_domains, n_domains, 1 + n_classes)
        `mmd_coefficients`.
    spread, squared_norms : lists of arrays, (n,)
        `row_spread` and the squared norms of the embedded rows.
    """
    products = np.array([[(U * V).sum(axis=1) for V in means] for U in means])
    terms = (K * products).sum(axis=(0, 1))
    diagonal = sum(float(s @ q) for s, q in zip(spread, squared_norms, strict=True))
    return float(terms[0]), float(terms[1:].sum() + diagonal)


def weighted_gram(X: Array, row_weights: Array, edges: Graph | None = None) -> Array:
    """X' (diag(row_weights) - edges) X in float64, for nonnegative weights and a symmetric `edges`, or None.

    With ``row_weights = spread + gamma * degrees`` and ``edges = gamma * W`` this is M's diagonal part and the graph
    scatter of Eqs. (14)-(15) in one product. Works on blocks of rows: O(n width^2) time, O(block width) memory.
    """
    if edges is not None:
        edges = edges.astype(X.dtype, copy=False)  # with two dtypes the product would copy all rows for each block

    def part(rows: slice) -> Array:
        if edges is None:  # nonnegative weights have roots: one symmetric product, half the work
            right = X[rows] * np.sqrt(row_weights[rows]).astype(X.dtype)[:, None]
            return right.T @ right
        right = X[rows] * np.asarray(row_weights[rows], dtype=X.dtype)[:, None]
        right -= edges[rows] @ X
        return _lower_product(X[rows], right)

    gram = sum_blocks(part, gram_blocks(X), (X.shape[1], X.shape[1]))
    if edges is None:
        return gram  # of symmetric products
    return np.where(np.tri(len(gram), dtype=bool), gram, gram.T)  # a sixth to a half of the time of adding triangles


def _lower_product(A: Array, B: Array, *, n_panels: int = 4) -> Array:
    """Lower triangle of A'B, with some entries above it and zeros in the rest: 5/8 of the work."""
    width = A.shape[1]
    product = np.zeros((width, width), dtype=A.dtype)
    step = max(64, -(-width // n_panels))
    for start in range(0, width, step):
        panel = slice(start, start + step)
        np.matmul(A[:, start:].T, B[:, panel], out=product[start:, panel])
    return product


def total_scatter(X: Array) -> Array:
    """S_h of Eq. (17): X' (I - 11'/n) X in float64."""
    blocks = gram_blocks(X)
    total = sum_blocks(lambda rows: X[rows].sum(axis=0, dtype=np.float64), blocks, (X.shape[1],))
    mean = (total / len(X)).astype(X.dtype)

    def part(rows: slice) -> Array:
        centred = X[rows] - mean
        return centred.T @ centred

    return sum_blocks(part, blocks, (X.shape[1], X.shape[1]))
