"""The classifiers with which baselines label rows: nearest neighbour, linear SVM, linear nu-SVM."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import KNeighborsClassifier

from lpjt._sklearn import StrOptions
from lpjt.baselines._base import CONSTRAINTS, POSITIVE, POSITIVE_INTEGER, Baseline, Embedding, ScaledDomain
from lpjt.baselines._types import Codes, Constraints, Floats
from lpjt.classifiers import NuSVM
from lpjt.classifiers.machines import BoundedSVC, warn_if_unfinished

#: Nearest source row, linear SVM on the source rows, or its nu-form.
CLASSIFIERS = {"nn", "svm", "nu-svm"}

#: nu of "nu-svm", LIBSVM's default; lowered where unbalanced classes allow no solution.
NU = 0.5

#: What C="auto" chooses from; the programs of SA and CORAL try these values, and lower and higher ones.
C_GRID = [0.01, 0.1, 1.0, 10.0, 100.0]

#: Constraints of the methods with a weight of errors.
C_CONSTRAINTS: Constraints = {**CONSTRAINTS, "C": [*POSITIVE, StrOptions({"auto"})]}

#: Constraints of the methods that label the embedded rows by one of `CLASSIFIERS`.
CLASSIFIER_CONSTRAINTS: Constraints = {**C_CONSTRAINTS, "classifier": [StrOptions(CLASSIFIERS)]}

#: The same, where `n_components` directions are embedded into.
SUBSPACE_CONSTRAINTS: Constraints = {**CLASSIFIER_CONSTRAINTS, "n_components": POSITIVE_INTEGER}


def fit_classifier(kind: str, X: Floats, y: Codes, C: float | str = 1.0) -> Any:
    """Fit one of `CLASSIFIERS` to rows, (n, width), and their codes, (n,); SVMs are linear, one class against one."""
    if kind == "nn" or len(np.unique(y)) == 1:  # a single class leaves nothing to separate
        return KNeighborsClassifier(n_neighbors=1, algorithm="brute").fit(X, y)
    if kind == "nu-svm":
        return NuSVM(nu=NU).fit(X, y)
    svm = BoundedSVC(C=choose_C(X, y) if isinstance(C, str) else C).fit(X, y)
    warn_if_unfinished(svm)
    return svm


def choose_C(X: Floats, y: Codes) -> float:
    """Value of `C_GRID` whose linear SVM is best in two-fold cross-validation on the given rows.

    The smallest of equals; 1.0 where fewer than two classes can be in both folds. Holds the (n, n) matrix of inner
    products, which the ten fits share: otherwise most of the time goes into computing them again.
    """
    if (np.bincount(y) >= 2).sum() < 2:
        return 1.0
    G, folds = X @ X.T, _two_folds(y)
    return max(C_GRID, key=lambda C: float(np.mean([_share_right(C, G, y, folds == fold) for fold in (0, 1)])))


def _two_folds(y: Codes) -> npt.NDArray[np.intp]:
    """Fold of each row, 0 or 1: that of ``StratifiedKFold(2)``, which warns of classes with a single row."""
    folds, start = np.empty(len(y), dtype=np.intp), 0
    for code in dict.fromkeys(y.tolist()):
        rows = np.flatnonzero(y == code)
        # Rows sorted by class fall into the folds in turn; of a class the first ones are those of fold 0.
        n_of_zero = (start + len(rows) + 1) // 2 - (start + 1) // 2
        folds[rows] = np.arange(len(rows)) >= n_of_zero
        start += len(rows)
    return folds


def _share_right(C: float, G: Floats, y: Codes, tested: npt.NDArray[np.bool_]) -> float:
    """Share of the tested rows that a machine of the others labels right; of its bound the chosen one will warn."""
    svm = BoundedSVC(C=C, kernel="precomputed").fit(G[np.ix_(~tested, ~tested)], y[~tested])
    return float(svm.score(G[np.ix_(tested, ~tested)], y[tested]))


class ClassifierBaseline(Baseline):
    """Labels scaled target rows, as they are, by a fitted classifier."""

    _classifier: Any

    def _codes_of(self, X: Floats) -> Codes:
        return self._classifier.predict(X)


class EmbeddingClassifier(Embedding):
    """Trains a classifier on the embedded source rows and applies it to the embedded target rows."""

    classifier: str
    C: float | str
    _classifier: Any

    def _fit_classifier(self, source: ScaledDomain) -> None:
        self._classifier = fit_classifier(self.classifier, self._embed(source.X, "source"), source.y, self.C)

    def _codes_of(self, X: Floats) -> Codes:
        return self._classifier.predict(self._embed(X, "target"))
