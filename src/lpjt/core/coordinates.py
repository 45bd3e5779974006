"""From raw rows to the coordinates in which the projections are sought: scaling, the span of the rows, kernels."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.sparsefuncs import mean_variance_axis

#: Scores beyond this many standard deviations are cut. A column that is almost always the same has rows at twenty
#: deviations and more, which would fill their unit row alone.
CLIP = 3.0

#: A sparse domain is represented by so many leading singular directions at least.
SPARSE_RANK = 256


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """How the rows of one domain are scaled; None for a step that is left out."""

    row_sums: bool = False
    mean: np.ndarray | None = None  # (width,)
    deviation: np.ndarray | None = None  # (width,)
    clip: float | None = None
    unit_rows: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """The map from raw rows of one domain to coordinates, (n, width) to (n, rank)."""

    scaling: Scaling
    basis: np.ndarray | None = None  # (width or n_landmarks, rank); None where the coordinates are the scaled rows
    landmarks: np.ndarray | sparse.csr_array | None = None  # scaled rows that the kernel compares with
    kernel: object = None
    kernel_params: dict | None = None


def fit_scaling(X, kind):
    """Statistics of one domain for a kind of scaling.

    Parameters
    ----------
    X : array or csr_array, (n, width)
    kind : {"standard", "paper", "sum-zscore", "unit", "none"}
        "standard": z-score of each column, cut at three deviations, rows of unit length. "paper": rows of sum 1 (where
        nothing is negative), z-score, rows of unit length. "sum-zscore": the same, but for the last step. "unit": rows
        of unit length. Sparse rows are not centred.

    Returns
    -------
    Scaling
    """
    if kind == "none":
        return Scaling()
    if kind == "unit":
        return Scaling(unit_rows=True)
    row_sums = kind in ("paper", "sum-zscore") and X.min() >= 0
    if row_sums:
        X = _divide_rows(X, np.asarray(X.sum(axis=1)).ravel())
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
        deviation, mean = np.sqrt(variance), None
    else:
        mean = X.mean(axis=0, dtype=np.float64)
        deviation = X.std(axis=0, dtype=np.float64)
    # A constant column has rounding for a deviation: it is left as it is, that is, zero once centred.
    floor = 1e-10 * max(float(np.max(deviation)), np.finfo(float).tiny)
    if mean is not None:
        floor = (
            np.maximum(floor, 1e-7 * np.abs(mean)) if X.dtype == np.float32 else np.maximum(floor, 1e-14 * np.abs(mean))
        )
    deviation = np.where(deviation > floor, deviation, np.inf if mean is not None else 1.0)
    clip = CLIP if kind == "standard" else None
    return Scaling(row_sums=row_sums, mean=mean, deviation=deviation, clip=clip, unit_rows=kind != "sum-zscore")


def scale_rows(X, scaling):
    """Scaled copy of the rows, in their dtype; sparse rows stay sparse."""
    if scaling.row_sums:
        X = _divide_rows(X, np.asarray(X.sum(axis=1)).ravel())
    if scaling.deviation is not None:
        if sparse.issparse(X):
            X = sparse.csr_array(X @ sparse.diags_array(1.0 / scaling.deviation), dtype=X.dtype)
        else:
            X = ((X - scaling.mean) / scaling.deviation).astype(X.dtype, copy=False)
    if scaling.clip is not None:
        if sparse.issparse(X):
            X = X.copy()
            np.clip(X.data, -scaling.clip, scaling.clip, out=X.data)
        else:
            X = np.clip(X, -scaling.clip, scaling.clip)
    if scaling.unit_rows:
        squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
        X = _divide_rows(X, np.sqrt(np.asarray(squares).ravel()))
    return X


def span_basis(parts, *, n_components, random_state=None):
    """Orthonormal basis, (width, rank), of the span of the rows of all parts, or None where it is the whole space.

    A and B act through the span alone, so nothing is lost: 4096 columns of 958 + 295 rows become 1253. Sparse parts
    are represented by their leading singular directions, at least `SPARSE_RANK` or four times the components.
    """
    width = parts[0].shape[1]
    n = sum(part.shape[0] for part in parts)
    if any(sparse.issparse(part) for part in parts):
        stacked = sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
        rank = min(n, width, max(SPARSE_RANK, 4 * n_components))
        return randomized_svd(stacked, rank, n_oversamples=10, n_iter=7, random_state=random_state)[2].T
    if n >= width:
        return None
    rows = np.vstack(parts)
    _, values, right = linalg.svd(rows, full_matrices=False, check_finite=False)
    rank = int((values > values[0] * max(rows.shape) * np.finfo(rows.dtype).eps).sum()) if values[0] > 0 else 1
    return np.ascontiguousarray(right[:rank].T)


def kernel_basis(parts, kernel, params, *, max_rows, random_state):
    """Kernel-PCA coordinates of all parts together: (landmark rows, basis (n_landmarks, rank)).

    With every row a landmark the coordinates reproduce the kernel matrix exactly, and the appendix's problem is the
    linear one in them, mu K being mu I. Beyond `max_rows` rows a sample of so many stands for them (Nystroem).
    """
    if any(sparse.issparse(part) for part in parts):
        rows = sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
    else:
        rows = np.vstack(parts)
    if rows.shape[0] > max_rows:
        rows = rows[np.sort(random_state.choice(rows.shape[0], max_rows, replace=False))]
    gram = np.asarray(pairwise_kernels(rows, metric=kernel, filter_params=True, **params), dtype=np.float64)
    values, vectors = linalg.eigh((gram + gram.T) / 2, check_finite=False)
    kept = values > values[-1] * len(values) * 1e-14
    if values[-1] <= 0:
        raise ValueError(f"The kernel {kernel!r} gives a matrix without a positive eigenvalue. Choose another kernel.")
    return rows, vectors[:, kept] / np.sqrt(values[kept])


def default_kernel_width(parts, *, n_rows=500):
    """Width for rbf, laplacian and chi2 kernels: 1 over the mean squared distance between a spread of rows."""
    means, squares = [], []
    for part in parts:
        rows = part[:: max(1, part.shape[0] // n_rows)]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        means.append(rows.mean(axis=0))
        squares.append((rows**2).sum(axis=1).mean())
    spread = 2 * (np.mean(squares) - float((np.mean(means, axis=0) ** 2).sum()))
    return 1.0 / max(spread, np.finfo(float).eps)


def to_coordinates(X, coordinates):
    """Coordinates, (n, rank), of raw rows."""
    X = scale_rows(X, coordinates.scaling)
    if coordinates.kernel is not None:
        dtype = X.dtype
        X = pairwise_kernels(
            X,
            coordinates.landmarks,
            metric=coordinates.kernel,
            filter_params=True,
            **coordinates.kernel_params,
        ).astype(dtype, copy=False)
    if coordinates.basis is None:
        return X.toarray() if sparse.issparse(X) else X
    return np.asarray(X @ coordinates.basis.astype(X.dtype, copy=False))


def _divide_rows(X, by):
    by = np.where(by > 0, by, 1.0)
    if sparse.issparse(X):
        return sparse.csr_array(sparse.diags_array(1.0 / by) @ X, dtype=X.dtype)
    return (X / by[:, None]).astype(X.dtype, copy=False)
