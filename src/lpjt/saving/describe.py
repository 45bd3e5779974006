"""What a model is, in values to read: for model.json and for ``lpjt info``."""

from typing import Any

import numpy as np


def describe(model: Any) -> dict[str, Any]:
    """Class, parameters, classes, domains with their columns, and how far the labels can be trusted, as plain values.

    Of a model within a pipeline or an adapter of tables, which is named as the preprocessing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> lpjt.saving.describe(model)["classes"]
    ['0', '1', '2']
    """
    inner, preprocessing = _inner(model)
    return {
        "class": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in inner.get_params(deep=False).items()},
        "preprocessing": preprocessing,
        "classes": [str(label) for label in getattr(inner, "classes_", ())],
        "domains": [_domain(inner, name) for name in getattr(inner, "projections_", ())],
        "adapted": getattr(inner, "adapted_", None),
        "n_iter": getattr(inner, "n_iter_", None),
        "estimated_accuracy": _rounded(getattr(inner, "estimated_accuracy_", None)),
        "estimated_accuracy_interval": _rounded(getattr(inner, "estimated_accuracy_interval_", None)),
        "summary": getattr(inner, "summary_", None),
    }


def inner_model(model: Any) -> Any:
    """The model itself, within a pipeline or an adapter of tables."""
    return _inner(model)[0]


def _inner(model: Any) -> tuple[Any, list[str]]:
    """The model, and each step before it in words."""
    if hasattr(model, "steps"):  # a Pipeline
        inner, later = _inner(model.steps[-1][1])
        return inner, [_words(step) for _, step in model.steps[:-1]] + later
    if hasattr(model, "estimator_"):
        inner, later = _inner(model.estimator_)
        return inner, [_words(model), *later]
    return model, []


def _words(step: Any) -> str:
    return " ".join(str(step).split())


def _domain(model: Any, name: str) -> dict[str, Any]:
    columns = model._feature_names[name]
    return {
        "name": name,
        "role": "target" if name in model._target_names else "source",
        "n_columns": int(model._widths[name]),
        "columns": None if columns is None else [str(column) for column in columns],
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and np.isfinite(value):
        return float(value)
    return _words(value)


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_rounded(part) for part in value]
    return None if value is None else round(float(value), 6)
