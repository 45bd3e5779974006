"""The energy of CDLS and its two minimisers: the map of the source rows, and the landmark weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from lpjt.baselines._types import Codes, Floats
from lpjt.core.landmarks import Landmarks, solve_landmarks
from lpjt.core.moments import weighted_gram

#: Order of the three groups of rows below: labelled source, labelled target, unlabelled target.
SOURCE, LABELLED, UNLABELLED = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Energy:
    r"""E_M + E_C of Eqs. (6)-(7) as products of weighted class means and a diagonal.

    With :math:`m_{i,c}` row c of ``averages[i] @ (weights[i] * rows[i])`` the energy is
    :math:`\sum_{ijc} K_{ij,c} m_{i,c}^\top m_{j,c}` plus the sum of ``spread * weights**2`` times squared norms.
    """

    averages: list[Floats]  # (1 + n_classes, n_i), without the weights
    K: Floats  # (3, 3, 1 + n_classes)
    spread: list[Floats]  # (n_i,) coefficients of the squared norms of weighted rows


def cdls_energy(
    labels: Sequence[Codes], weights: Sequence[Floats], n_classes: int, *, labelled_only: bool = False
) -> Energy:
    r"""Coefficients of the energy for given labels; the weights enter only through their sums.

    The normalisers are :math:`1 / \sum \alpha`, :math:`1 / (n_L + \sum \beta)` and, in each class,
    :math:`e_c = n_L a + n_L b + a b` with the sums of weights a of the source and b of the unlabelled rows.

    Parameters
    ----------
    labels : list of three int arrays, (n_i,)
        Codes of the labelled source, the labelled target and the unlabelled target (its pseudo labels).
    weights : list of three arrays, (n_i,)
        alpha, ones, beta.
    n_classes : int
    labelled_only : bool
        Leave the unlabelled rows out of the conditional part: Eq. (3), when there are no pseudo labels yet.

    Returns
    -------
    Energy
    """
    mass = np.array([np.bincount(y, w, n_classes) for y, w in zip(labels, weights, strict=True)])
    counts = np.array([np.bincount(y, minlength=n_classes) for y in labels], dtype=float)
    if labelled_only:
        mass[UNLABELLED] = counts[UNLABELLED] = 0.0
    of_all = np.array([w.sum() for w in weights])
    sides = np.array([mass[SOURCE], mass[LABELLED] + mass[UNLABELLED]])
    met = (sides > 0).all(axis=0)  # a class that one side lacks has no conditional term
    inverse = np.divide(1.0, sides, out=np.zeros_like(sides), where=met)
    scale = np.array([inverse[0], inverse[1], inverse[1] * (not labelled_only)])
    in_all = np.array([1.0 / of_all[SOURCE], *[1.0 / of_all[1:].sum()] * 2])
    averages = [_averages(y, a, s) for y, a, s in zip(labels, in_all, scale, strict=True)]
    signs = np.array([1.0, -1.0, -1.0])
    K = np.repeat(np.outer(signs, signs)[:, :, None], n_classes + 1, axis=2)
    a, n, b = mass
    pairs = a * n + n * b + a * b
    share = np.divide(1.0, pairs, out=np.zeros_like(pairs), where=met & (pairs > 0))
    spread = []
    for i in range(3):
        others = [j for j in range(3) if j != i]
        for j in others:
            product = scale[i] * scale[j]
            K[i, j, 1:] -= np.divide(share, product, out=np.zeros_like(share), where=product > 0)
        spread.append((share * counts[others].sum(axis=0))[labels[i]])
    if labelled_only:
        spread[UNLABELLED] = np.zeros(len(labels[UNLABELLED]))
    return Energy(averages, K, spread)


def _averages(y: Codes, in_all: float, in_class: Floats) -> Floats:
    """(1 + n_classes, n): row 0 for all rows, row 1 + c for those of class c."""
    average = np.zeros((1 + len(in_class), len(y)))
    average[0] = in_all
    average[1 + y, np.arange(len(y))] = in_class[y]
    return average


def map_source(
    X: Floats, targets: Sequence[Floats], energy: Energy, weights: Sequence[Floats], regularization: float
) -> Floats:
    r"""Closed form of A, Eq. (4) and its weighted form: the minimiser of the energy plus :math:`\lambda \|A\|^2`.

    :math:`(\lambda I + X_S H_S X_S^\top) A = X_S (H_L \hat X_L^\top + H_U \hat X_U^\top)`, where every H is a product
    of averages, plus a diagonal in H_S: O(n_S r^2 + r^3) for source rows of rank r.

    Parameters
    ----------
    X : array, (n_source, r)
    targets : list of two arrays, (n_i, n_components)
        Projected labelled and unlabelled target rows.
    energy : Energy
    weights : list of three arrays
    regularization : float

    Returns
    -------
    array, (r, n_components)
    """
    means = [A @ (w[:, None] * Z) for A, w, Z in zip(energy.averages, weights, [X, *targets], strict=True)]
    M = means[SOURCE]
    left = weighted_gram(X, energy.spread[SOURCE] * weights[SOURCE] ** 2)
    left += (M.T * energy.K[SOURCE, SOURCE]) @ M
    left[np.diag_indices_from(left)] += regularization
    pull = sum(energy.K[SOURCE, j][:, None] * means[j] for j in (LABELLED, UNLABELLED))
    return linalg.solve(left, -M.T @ pull, assume_a="pos", check_finite=False)


def choose_landmarks(
    rows: Sequence[Floats],
    labels: Sequence[Codes],
    n_classes: int,
    ratio: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 2000,
) -> Landmarks:
    r"""Weights alpha and beta that minimise the energy for a fixed A: the quadratic program of the second step.

    Each class of the source and of the unlabelled rows has weights in [0, 1] of mean :math:`\delta`. Labelled target
    rows take part as a group whose weights sum to its size, which fixes them at 1.

    Parameters
    ----------
    rows : list of three arrays, (n_i, n_components)
    labels : list of three int arrays, (n_i,)
    n_classes : int
    ratio : float
        :math:`\delta`.

    Returns
    -------
    Landmarks
    """
    ratios = (ratio, 1.0, ratio)
    even = [np.full(len(y), r) for y, r in zip(labels, ratios, strict=True)]
    energy = cdls_energy(labels, even, n_classes)
    codes = np.concatenate([y + n_classes * i for i, y in enumerate(labels)])
    _, group = np.unique(codes, return_inverse=True)
    mass = np.bincount(group, np.concatenate(even))
    groups = np.split(group, np.cumsum([len(y) for y in labels])[:-1])
    return solve_landmarks(
        rows, energy.averages, energy.K, energy.spread, groups, mass, start=even, tol=tol, max_iter=max_iter
    )
