r"""Marginal and conditional MMD, Eqs. (8)-(13), as class means, small coefficients and a diagonal.

For domains i and j let :math:`m_{i,0}` be the weighted mean of all rows of i and :math:`m_{i,c}` that of its class
c. Every term of Eqs. (8)-(9) is then either :math:`K_{ij,c}\, m_{i,c}^\top m_{j,c}` or a weighted sum of squared
norms of rows, so that an n x n matrix is never needed. The same coefficients K serve the projections (Eq. 13) and the
landmark weights (Eq. 23).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lpjt._threads import map_threads
from lpjt.core.blocks import row_blocks, sum_blocks


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Weighted means of one domain."""

    means: np.ndarray  # (1 + n_classes, width): all rows, then class by class; zero for a class without rows
    counts: np.ndarray  # (n_classes,) rows of each class


def class_moments(X, y, weights, *, n_classes, landmark_ratio=1.0):
    r"""Means of Eqs. (8)-(9): :math:`\frac{1}{\delta n} \sum_i \alpha_i x_i` over all rows and over each class.

    Parameters
    ----------
    X : array, (n, width)
    y : int array, (n,)
        Class codes; a row with -1 counts in the mean of all rows alone.
    weights : array, (n,)
        :math:`\alpha` or :math:`\beta`.
    n_classes : int
    landmark_ratio : float
        :math:`\delta`.

    Returns
    -------
    Moments
    """
    counts = np.bincount(y[y >= 0], minlength=n_classes)

    def part(rows):  # a block at a time, for the product is made in float64
        return averaging_matrix(y[rows], weights[rows], counts, landmark_ratio, n_rows=len(y)) @ X[rows]

    return Moments(sum_blocks(part, row_blocks(X), (n_classes + 1, X.shape[1])), counts)


def averaging_matrix(y, weights, counts, landmark_ratio=1.0, *, n_rows=None):
    """Sparse (1 + n_classes, n) matrix whose product with the rows gives the means of `class_moments`.

    Of a block of rows it gives their part in the means of a domain of `n_rows` rows.
    """
    n = len(y)
    labelled = np.flatnonzero(y >= 0)
    rows = np.concatenate([np.zeros(n, dtype=np.int64), y[labelled] + 1])
    columns = np.concatenate([np.arange(n), labelled])
    size = landmark_ratio * np.concatenate([[n_rows or n], np.maximum(counts, 1)])
    values = np.asarray(weights, dtype=np.float64)[columns] / size[rows]
    return sparse.csr_array((values, (rows, columns)), shape=(len(counts) + 1, n))


def mmd_coefficients(counts, is_target, *, conditional_cross=2.0):
    """Coefficients K of the products of means in the sum of Eqs. (8)-(9) over all (source, target) pairs.

    Each pair weighs 1 / (n_sources n_targets), so that one source given twice counts as one.

    Parameters
    ----------
    counts : list of int arrays, (n_classes,)
        Rows of each class, domain by domain.
    is_target : list of bool
    conditional_cross : float
        2 in Eq. (9), whose two parts have one cross term each; the authors' code has 1 in its landmark step.

    Returns
    -------
    array, (n_domains, n_domains, 1 + n_classes)

    Notes
    -----
    Departs from the paper in one sign: Eq. (13) prints +M_su, only -M_su agrees with Eq. (12). A class that one
    domain of a pair lacks has no conditional term in that pair.
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


def row_spread(y, weights, counts, own_coefficients, *, landmark_ratio=1.0):
    r"""Coefficients of :math:`\|x_i\|^2`, from the second part of Eq. (9): the diagonal of H_sc and H_uc.

    Parameters
    ----------
    y, weights, counts, landmark_ratio
        As in `class_moments`.
    own_coefficients : array, (n_classes,)
        ``K[i, i, 1:]`` of `mmd_coefficients`.

    Returns
    -------
    array, (n,)
    """
    of_class = own_coefficients / (landmark_ratio**2 * np.maximum(counts, 1))
    spread = np.where(y >= 0, of_class[y], 0.0)
    return spread * np.asarray(weights, dtype=np.float64) ** 2


def mmd_blocks(means, K):
    """Low-rank part of M of Eq. (13), all domains stacked: block (i, j) is ``means[i].T diag(K[i, j]) means[j]``.

    The diagonal blocks lack the term of `row_spread`, which `weighted_gram` adds. O(C width^2), not O(n width^2).
    """
    ends = np.cumsum([0, *(U.shape[1] for U in means)])
    blocks = np.empty((ends[-1], ends[-1]))

    def fill(pair):  # symmetric: K[i, j] is K[j, i]
        i, j = pair
        product = np.matmul(means[i].T * K[i, j], means[j], out=blocks[ends[i] : ends[i + 1], ends[j] : ends[j + 1]])
        if i != j:
            blocks[ends[j] : ends[j + 1], ends[i] : ends[i + 1]] = product.T

    map_threads(fill, [(i, j) for i in range(len(means)) for j in range(i, len(means))])
    return blocks


def mmd_energy(means, K, spread, squared_norms):
    """Value of Eqs. (8) and (9) on embedded rows: (marginal, conditional).

    Parameters
    ----------
    means : list of arrays, (1 + n_classes, n_components)
    K : array of `mmd_coefficients`
    spread, squared_norms : lists of arrays, (n,)
        `row_spread` and the squared norms of the embedded rows.
    """
    products = np.array([[(U * V).sum(axis=1) for V in means] for U in means])
    terms = (K * products).sum(axis=(0, 1))
    diagonal = sum(float(s @ q) for s, q in zip(spread, squared_norms, strict=True))
    return float(terms[0]), float(terms[1:].sum() + diagonal)


def weighted_gram(X, row_weights, edges=None):
    """X' (diag(row_weights) - edges) X in float64, for weights of at least 0 and a symmetric sparse `edges` or none.

    With ``row_weights = spread + gamma * degrees`` and ``edges = gamma * W`` this is M's diagonal part and the graph
    scatter of Eqs. (14)-(15) in one product. Rows are taken in blocks: O(n width^2) time, O(block width) memory.
    """
    if edges is not None:
        edges = edges.astype(X.dtype)  # a product of two dtypes would copy all rows for each block

    def part(rows):
        if edges is None:  # weights of squares are not negative: half the work, by one symmetric product
            right = X[rows] * np.sqrt(row_weights[rows]).astype(X.dtype)[:, None]
            return right.T @ right
        right = X[rows] * np.asarray(row_weights[rows], dtype=X.dtype)[:, None]
        right -= edges[rows] @ X
        return _lower_product(X[rows], right)

    gram = np.tril(sum_blocks(part, row_blocks(X), (X.shape[1], X.shape[1])))
    gram += np.tril(gram, -1).T
    return gram


def _lower_product(A, B, *, n_panels=4):
    """A'B in the lower triangle and in some places above it, zero elsewhere: 5/8 of the work."""
    width = A.shape[1]
    product = np.zeros((width, width), dtype=A.dtype)
    step = max(64, -(-width // n_panels))
    for start in range(0, width, step):
        panel = slice(start, start + step)
        np.matmul(A[:, start:].T, B[:, panel], out=product[start:, panel])
    return product


def total_scatter(X):
    """S_h of Eq. (17): X' (I - 11'/n) X in float64."""
    blocks = row_blocks(X)
    total = sum_blocks(lambda rows: X[rows].sum(axis=0, dtype=np.float64), blocks, X.shape[1])
    mean = (total / len(X)).astype(X.dtype)

    def part(rows):
        centred = X[rows] - mean
        return centred.T @ centred

    return sum_blocks(part, blocks, (X.shape[1], X.shape[1]))
