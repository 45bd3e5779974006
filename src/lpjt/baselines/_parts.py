"""What the methods of comparison are made of: the rules that label embedded rows, and principal directions."""

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from lpjt._sklearn import Interval, StrOptions
from lpjt.baselines._base import Baseline
from lpjt.classifiers import FeasibleNuSVC

#: What labels the rows of the shared space: the nearest source row, a linear SVM on the source rows, or a nu-SVM.
RULES = {"nn", "svm", "nu-svm"}

#: nu of "nu-svm", LIBSVM's default; lowered where unbalanced classes allow no solution.
NU = 0.5

#: Weights of the errors that C="auto" chooses among; the programs of SA and CORAL try these and lower and higher ones.
ERRORS = [0.01, 0.1, 1.0, 10.0, 100.0]

ERROR_CONSTRAINTS: dict = {
    **Baseline._parameter_constraints,
    "C": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
}

#: Constraints of the methods that end in one of these rules on `n_components` directions.
RULE_CONSTRAINTS: dict = {
    **ERROR_CONSTRAINTS,
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "classifier": [StrOptions(RULES)],
}

#: A direction whose variance is below this share of the largest is rounding.
RANK_TOLERANCE = 1e-12


def fit_rule(kind: str, X: np.ndarray, y: np.ndarray, C: float | str = 1.0) -> Any:
    """Fit one of `RULES` to rows, (n, width), and their codes, (n,); SVMs are linear, one class against one."""
    if kind == "nn" or len(np.unique(y)) == 1:  # of one class there is nothing to separate
        return KNeighborsClassifier(n_neighbors=1, algorithm="brute").fit(X, y)
    if kind == "nu-svm":
        return FeasibleNuSVC(nu=NU, kernel="linear").fit(X, y)
    return SVC(C=choose_errors(X, y) if C == "auto" else C, kernel="linear").fit(X, y)


def choose_errors(X: np.ndarray, y: np.ndarray) -> float:
    """Weight of the errors, of `ERRORS`, whose linear SVM is best in two-fold cross validation on the given rows.

    The smallest of equals; 1.0 where fewer than two classes can be in both folds. Holds the (n, n) matrix of inner
    products, which the ten fits share: without it most of the time goes into computing them again.
    """
    if (np.bincount(y) >= 2).sum() < 2:
        return 1.0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        search = GridSearchCV(SVC(kernel="precomputed"), {"C": ERRORS}, cv=StratifiedKFold(2), refit=False)
        search.fit(X @ X.T, y)
    return float(search.best_params_["C"])


def principal_directions(X: np.ndarray, n_components: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Leading principal directions of the rows, (width, k), and the variances along them, (k,), both float64.

    k is `n_components`, or the rank of the centred rows where that is less or `n_components` is None. The largest entry
    of a direction is positive. No matrix is larger than (n, width) or (width, width).
    """
    n, width = X.shape
    centred = X - X.mean(axis=0, dtype=np.float64)
    wanted = min(n, width) if n_components is None else min(n_components, n, width)
    if n >= width:
        # All of them by divide and conquer: ten times as fast as the hundred leading ones of a thousand alone.
        values, vectors = linalg.eigh(centred.T @ centred, driver="evd", check_finite=False)
        values, directions = values[::-1][:wanted], vectors[:, ::-1][:, :wanted]
    else:
        _, roots, right = linalg.svd(centred, full_matrices=False, check_finite=False)
        values, directions = roots[:wanted] ** 2, right[:wanted].T
    kept = max(1, int((values > RANK_TOLERANCE * max(values[0], np.finfo(float).tiny)).sum()))
    values, directions = values[:kept], directions[:, :kept]
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), range(kept)])
    return directions * signs, np.maximum(values, 0.0) / max(n - 1, 1)
