"""What a user would pick instead, as timed methods: no adaptation, a simple one, or an estimator of another library."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lpjt.study.speed.timed import Fitted, TimedMethod

_ITERATIONS = 1000  # of linear classifiers, so that none stops before it has converged
_VOTES = 15  # of the nearest rows after UMAP, as many as UMAP looks at


def fit_linear_svm(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """A linear SVM of the source's z-scores, without adaptation."""
    scaler = StandardScaler().fit(X)
    model = LinearSVC(random_state=0, max_iter=_ITERATIONS, dual="auto").fit(scaler.transform(X), y)
    return Fitted(model.predict(scaler.transform(X_target)))


def fit_coral(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """CORAL as its authors give it, on z-scores of each domain, then a logistic regression."""
    X, X_target = (StandardScaler().fit_transform(rows) for rows in (X, X_target))
    aligned = X @ recolouring(X, X_target).astype(X.dtype)
    return Fitted(LogisticRegression(max_iter=_ITERATIONS).fit(aligned, y).predict(X_target))


def recolouring(X: np.ndarray, X_target: np.ndarray) -> np.ndarray:
    """A with A' (C_s + I) A = C_t + I, of the covariances of both domains."""
    C_source, C_target = (np.cov(rows, rowvar=False) + np.eye(rows.shape[1]) for rows in (X, X_target))
    return _power(C_source, -0.5) @ _power(C_target, 0.5)


def fit_umap(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """UMAP of all rows with the labels of the source (semi-supervised), then votes of the nearest source rows."""
    import umap

    rows = np.vstack([StandardScaler().fit_transform(part) for part in (X, X_target)])
    labels = np.concatenate([y, np.full(len(X_target), -1)])  # UMAP's mark of a row without a label
    Z = umap.UMAP(random_state=0, n_jobs=1, **parameters).fit_transform(rows, y=labels)
    return Fitted(KNeighborsClassifier(_VOTES).fit(Z[: len(X)], y).predict(Z[len(X) :]))


def fit_adapt(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """One of ADAPT's methods on z-scores, around a logistic regression."""
    given = {name: value for name, value in parameters.items() if name != "estimator"}
    X, X_target = (StandardScaler().fit_transform(rows) for rows in (X, X_target))
    make = getattr(import_module("adapt.feature_based"), parameters["estimator"])
    model = make(LogisticRegression(max_iter=_ITERATIONS), verbose=0, random_state=0, **given).fit(X, y, X_target)
    return Fitted(model.predict(X_target, domain="tgt"))


def fit_kale(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """One of kalelinear's classifiers on z-scores of each domain."""
    rows = np.vstack([StandardScaler().fit_transform(part) for part in (X, X_target)])
    covariates = np.repeat([0, 1], [len(X), len(X_target)])
    model = getattr(import_module("kalelinear.estimator"), parameters["estimator"])().fit(rows, y, covariates)
    return Fitted(model.predict(rows[len(X) :]))


def _power(C: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = linalg.eigh(C)
    return (vectors * values**exponent) @ vectors.T


INSTEAD: tuple[TimedMethod, ...] = (
    TimedMethod("linear SVM, unadapted", fit_linear_svm),
    TimedMethod("CORAL + logistic regression", fit_coral),
    TimedMethod("UMAP + k-NN", fit_umap, {"n_components": 20}, ("umap",), optional=True),
    TimedMethod("ADAPT CORAL", fit_adapt, {"estimator": "CORAL"}, ("adapt.feature_based",), optional=True),
    TimedMethod(
        "ADAPT SA", fit_adapt, {"estimator": "SA", "n_components": 20}, ("adapt.feature_based",), optional=True
    ),
    TimedMethod("kalelinear ARRLS", fit_kale, {"estimator": "ARRLS"}, ("kalelinear",), optional=True),
)
