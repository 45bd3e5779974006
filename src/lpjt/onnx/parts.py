"""The parts of a fitted model as ONNX nodes: coordinates, and each kind of predictor."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC

from lpjt._typing import Array
from lpjt.classifiers import Averaged, FittedClassifier, Pool, Projected, Reweighted, Tempered
from lpjt.classifiers.combined import LEAST_SHARE
from lpjt.core.coordinates import Coordinates
from lpjt.core.ridge import KernelRidge
from lpjt.core.scaling import Scaling
from lpjt.onnx.graph import Graph


def add_coordinates(graph: Graph, X: str, coordinates: Coordinates) -> str:
    """Coordinates, (n, rank), of raw rows."""
    X = _add_scaling(graph, X, coordinates.scaling)
    if coordinates.kernel is not None:
        X = _add_kernel(graph, X, coordinates)
    return X if coordinates.basis is None else graph.affine(X, coordinates.basis)


def _add_scaling(graph: Graph, X: str, scaling: Scaling) -> str:
    if scaling.factor is not None:
        X = graph.times(X, scaling.factor)
    if scaling.row_sums:
        total = graph.sum_rows(X)
        nothing = graph.node("Equal", total, graph.constant(np.float64(0)))
        X = graph.node("Div", X, graph.node("Where", nothing, graph.constant(np.float64(1)), total))
    if scaling.mean is not None:
        X = graph.plus(X, -scaling.mean[None])
    if scaling.deviation is not None:
        X = graph.times(X, 1.0 / scaling.deviation[None])
    if scaling.clip is not None:
        X = graph.node("Clip", X, graph.constant(np.float64(-scaling.clip)), graph.constant(np.float64(scaling.clip)))
    return graph.unit_rows(X) if scaling.unit_rows else X


def _add_kernel(graph: Graph, X: str, coordinates: Coordinates) -> str:
    """Kernel values, (n, n_kernel_rows), as `sklearn.metrics.pairwise.pairwise_kernels` has them."""
    rows, kernel = np.asarray(coordinates.kernel_rows, dtype=np.float64), coordinates.kernel
    params = {"gamma": 1.0 / rows.shape[1], "coef0": 1, "degree": 3} | (coordinates.kernel_params or {})
    gamma = float(params["gamma"])
    if kernel == "rbf":
        return str(graph.node("Exp", graph.times(graph.squared_distances(X, rows), -gamma)))
    if kernel == "linear":
        return graph.affine(X, rows.T)
    if kernel == "cosine":
        length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
        return graph.affine(graph.unit_rows(X), (rows / np.where(length > 0, length, 1.0)).T)
    if kernel in ("poly", "sigmoid"):
        inner = graph.affine(X, gamma * rows.T, np.float64(params["coef0"]))
        if kernel == "sigmoid":
            return str(graph.node("Tanh", inner))
        return str(graph.node("Pow", inner, graph.constant(np.float64(params["degree"]))))
    if kernel == "laplacian":
        apart = graph.node("Unsqueeze", X, graph.constant(np.array([1])))  # (n, 1, width) less (1, n_rows, width)
        total = graph.sum_rows(str(graph.node("Abs", graph.plus(apart, -rows[None]))), 2, keep=False)
        return str(graph.node("Exp", graph.times(total, -gamma)))
    raise NotImplementedError(
        f"A model with the kernel {kernel!r} cannot be converted to ONNX. Fit with kernel='rbf', 'linear', 'poly', "
        "'cosine', 'sigmoid' or 'laplacian', or keep it with model.save."
    )


def add_predictor(graph: Graph, Z: str, predictor: Any, n_classes: int) -> str:
    """Class distributions, (n, n_classes), of rows."""
    for kind, add in _PREDICTORS.items():
        if isinstance(predictor, kind):
            return add(graph, Z, predictor, n_classes)
    raise NotImplementedError(
        f"A model with the predictor {type(predictor).__name__} cannot be converted to ONNX. Fit with "
        "classifier='propagation', 'nn' or 'svm', or keep it with model.save."
    )


def _add_projected(graph: Graph, Z: str, predictor: Projected, n_classes: int) -> str:
    return add_predictor(graph, graph.affine(Z, predictor.projection), predictor.predictor, n_classes)


def _add_averaged(graph: Graph, Z: str, predictor: Averaged, n_classes: int) -> str:
    parts = [add_predictor(graph, Z, part, n_classes) for part in predictor.parts]
    return str(graph.node("Sum", *(graph.times(F, w) for F, w in zip(parts, predictor.weights, strict=True))))


def _add_reweighted(graph: Graph, Z: str, predictor: Reweighted, n_classes: int) -> str:
    F = add_predictor(graph, Z, predictor.predictor, n_classes)
    return graph.shares(graph.times(F, predictor.factors[None]), n_classes)


def _add_tempered(graph: Graph, Z: str, predictor: Tempered, n_classes: int) -> str:
    F = add_predictor(graph, Z, predictor.predictor, n_classes)
    if predictor.temperature == 1:
        return F
    F = graph.at_least(F, LEAST_SHARE / n_classes)
    largest = graph.node("ReduceMax", F, graph.constant(np.array([1])), keepdims=1)
    power = graph.constant(np.float64(1 / predictor.temperature))
    return graph.shares(str(graph.node("Pow", graph.node("Div", F, largest), power)), n_classes)


def _add_pool(graph: Graph, Z: str, pool: Pool, n_classes: int) -> str:
    Z = graph.unit_rows(Z) if pool.unit_length else Z
    squared, near = graph.nearest(Z, pool.rows, pool.n_neighbors)
    bandwidth = 2 * max(pool.bandwidth, np.finfo(float).tiny)
    halves = graph.node("Min", graph.times(squared, 1 / bandwidth), graph.constant(np.float64(500)))
    return graph.shares(
        _votes(graph, graph.node("Exp", graph.node("Neg", halves)), near, pool.distributions), n_classes
    )


def _votes(graph: Graph, weights: str, near: str, distributions: Array) -> str:
    """Sum of the distributions of constant rows, (n, n_classes), by the weights, (n, k), of the near ones."""
    gathered = graph.node("Gather", graph.constant(np.asarray(distributions, dtype=np.float64)), near, axis=0)
    weights = graph.node("Unsqueeze", weights, graph.constant(np.array([2])))
    return graph.sum_rows(str(graph.node("Mul", gathered, weights)), 1, keep=False)


def _add_kernel_ridge(graph: Graph, Z: str, ridge: KernelRidge, n_classes: int) -> str:
    squared = graph.squared_distances(graph.unit_rows(Z) if ridge.unit_length else Z, ridge.centres)
    values = graph.affine(str(graph.node("Exp", graph.times(squared, -ridge.gamma))), ridge.coefficients, 1 / n_classes)
    return graph.shares(graph.at_least(values, 0.0), n_classes)


def _add_fitted_classifier(graph: Graph, Z: str, predictor: FittedClassifier, n_classes: int) -> str:
    """Distributions of a classifier of scikit-learn, in the columns of all classes; see `class_distributions`."""
    model = predictor.model
    place = np.eye(n_classes)[model.classes_]  # (classes of the model, n_classes)
    if type(model) is KNeighborsClassifier and _is_plain_neighbors(model):
        _, near = graph.nearest(Z, model._fit_X, model.n_neighbors)
        share = graph.constant(np.full((1, 1), 1 / model.n_neighbors))
        return _votes(graph, share, near, place[model._y])
    scores = None
    if type(model) is LogisticRegression and (model.solver != "liblinear" or len(model.classes_) == 2):
        scores = _linear_scores(graph, Z, model.coef_, model.intercept_, 1.0)
    elif isinstance(model, LinearSVC):
        scores = _linear_scores(graph, Z, model.coef_, model.intercept_, 2.0)
    elif isinstance(model, SVC | NuSVC) and model.kernel == "linear" and not hasattr(model, "predict_proba"):
        scores = _svm_scores(graph, Z, model)
    if scores is not None:
        return graph.affine(str(graph.node("Softmax", scores, axis=1)), place)
    what = type(model).__name__ if is_classifier(model) else repr(model)
    raise NotImplementedError(
        f"A model with the classifier {what} in this setting cannot be converted to ONNX. Fit with "
        "classifier='propagation', 'nn', 'svm' or LogisticRegression(), or keep it with model.save."
    )


def _is_plain_neighbors(model: KNeighborsClassifier) -> bool:
    return (
        model.weights == "uniform" and model.effective_metric_ == "euclidean" and isinstance(model._fit_X, np.ndarray)
    )


def _linear_scores(graph: Graph, Z: str, coefficients: Array, intercept: Array, apart: float) -> str:
    """Scores of linear classifiers, (n, n_classes); of two classes, the second one's value `apart` times."""
    intercept = np.broadcast_to(intercept, len(coefficients))
    if len(coefficients) == 1:
        coefficients = np.vstack([0 * coefficients, apart * coefficients])
        intercept = np.append(0.0, apart * intercept)
    return graph.affine(Z, coefficients.T, intercept[None])


def _svm_scores(graph: Graph, Z: str, model: Any) -> str:
    """Decision values, (n, n_classes): the votes of the pairs of classes, and their margins to break ties."""
    n_classes = len(model.classes_)
    if n_classes == 2:
        return _linear_scores(graph, Z, model.coef_, model.intercept_, 2.0)
    pairs = np.array([(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)])
    first, second = (np.eye(n_classes)[pairs[:, side]] for side in (0, 1))
    values = graph.affine(Z, model.coef_.T, model.intercept_[None])
    for_second = graph.node(
        "Where",
        graph.node("Less", values, graph.constant(np.float64(0))),
        graph.constant(np.float64(1)),
        graph.constant(np.float64(0)),
    )
    votes = graph.affine(for_second, second - first, first.sum(axis=0)[None])
    margins = graph.affine(values, first - second)
    bound = graph.times(graph.plus(str(graph.node("Abs", margins)), 1.0), 3.0)
    return str(graph.node("Add", votes, graph.node("Div", margins, bound)))


#: How each kind of predictor is written.
_PREDICTORS: dict[type, Callable[[Graph, str, Any, int], str]] = {
    Projected: _add_projected,
    Averaged: _add_averaged,
    Reweighted: _add_reweighted,
    Tempered: _add_tempered,
    Pool: _add_pool,
    KernelRidge: _add_kernel_ridge,
    FittedClassifier: _add_fitted_classifier,
}
