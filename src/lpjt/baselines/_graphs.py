"""Laplacians of graphs as quadratic forms of rows."""

import numpy as np

from lpjt.baselines._types import Floats
from lpjt.core.edges import Graph, degrees, scale_edges
from lpjt.core.moments import weighted_gram


def graph_scatter(X: Floats, W: Graph) -> Floats:
    r"""X' L X / ||L||, (width, width), of rows X and a symmetric graph W, (n, n), without loops.

    :math:`L = I - D^{-1/2} W D^{-1/2}` with the degrees D, and 0 at a row without edges, which takes no part. Divided
    by the Frobenius norm, as MMD matrices are, so that the weights of a sum of both can be compared; a graph without
    edges gives zeros. O(n width^2 + edges width).
    """
    degree = degrees(W)
    joined = degree > 0
    normalised = scale_edges(W, np.where(joined, 1 / np.sqrt(np.where(joined, degree, 1.0)), 0.0))
    norm = np.sqrt(joined.sum() + (normalised * normalised).sum())  # no loops: the diagonal of L is 1 or 0
    return weighted_gram(X, joined.astype(np.float64), normalised) / max(norm, 1.0)
