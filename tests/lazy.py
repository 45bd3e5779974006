"""Fits of one problem in memory and on Dask arrays, for the tests of the Dask engine."""

import warnings

import dask.array as da
import numpy as np
from scipy.linalg import subspace_angles

from lpjt import LPJT
from problems import shifted_pair


def overlapping(n_source=900, n_target=700, **changes):
    """Domains whose classes overlap, so that labels move for a few iterations."""
    return shifted_pair(n_source=n_source, n_target=n_target, width=12, n_classes=4, apart=1.2, **changes)


def lazy(X, chunks):
    """Dask array with all columns in each block."""
    return da.from_array(X, chunks=(chunks, -1))


def both(X, y, X_target, y_target=None, *, chunks=(250, 200), **parameters):
    """The models of the fit in memory and of that on Dask arrays."""
    make = parameters.pop("make", LPJT)
    given = {"n_components": 6, "random_state": 0, **parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        in_memory = make(**given).fit(X, y, X_target, y_target)
        on_blocks = make(**given).fit(lazy(X, chunks[0]), y, lazy(X_target, chunks[1]), y_target)
    return in_memory, on_blocks


def sine(one, other):
    """Sine of the largest angle between the subspaces of the stacked projections."""
    P, Q = (np.vstack(list(model.projections_.values())) for model in (one, other))
    return float(np.sin(subspace_angles(P, Q)).max())


def agreement(one, other):
    """Share of equal labels of the target."""
    return float(np.mean(np.asarray(one.transduction_) == np.asarray(other.transduction_)))
