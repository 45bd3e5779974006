"""The classifiers with which baselines label rows: nearest neighbour, linear SVM, linear nu-SVM."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from lpjt._sklearn import StrOptions
from lpjt.baselines._base import CONSTRAINTS, POSITIVE, POSITIVE_INTEGER, Baseline, Embedding, ScaledDomain
from lpjt.baselines._types import Codes, Constraints, Floats
from lpjt.classifiers import NuSVM
from lpjt.classifiers.machines import MAX_STEPS, warn_if_unfinished

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
    svm = SVC(C=choose_C(X, y) if C == "auto" else C, kernel="linear", max_iter=MAX_STEPS)
    with warn_if_unfinished(svm):
        return svm.fit(X, y)


def choose_C(X: Floats, y: Codes) -> float:
    """Value of `C_GRID` whose linear SVM is best in two-fold cross-validation on the given rows.

    The smallest of equals; 1.0 where fewer than two classes can be in both folds. Holds the (n, n) matrix of inner
    products, which the ten fits share: otherwise most of the time goes into computing them again.
    """
    if (np.bincount(y) >= 2).sum() < 2:
        return 1.0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        warnings.filterwarnings("ignore", message="Solver terminated early")  # said of the chosen one, where it matters
        svm = SVC(kernel="precomputed", max_iter=MAX_STEPS)
        search = GridSearchCV(svm, {"C": C_GRID}, cv=StratifiedKFold(2), refit=False)
        search.fit(X @ X.T, y)
    return float(search.best_params_["C"])


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
