"""`to_onnx`, and the converter that skl2onnx finds in its registry."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lpjt._typing import Values
from lpjt.estimator import LPJT, AuthorsLPJT
from lpjt.onnx.graph import OPSET, Graph
from lpjt.onnx.parts import add_coordinates, add_predictor

_MISSING = "`skl2onnx` is needed to convert models. Install it with `pip install 'lpjt[onnx]'`."


def to_onnx(model: Any) -> Any:
    """Convert a fitted model, or a scikit-learn Pipeline that ends in one, to ONNX.

    The input is ``X``, float64 rows of the target, (n, n_features); the outputs are ``label``, (n,), whole numbers or
    texts, and ``probabilities``, (n, n_classes). They equal `predict` and `predict_proba` to 1e-5.

    Parameters
    ----------
    model : LPJT or Pipeline

    Returns
    -------
    onnx.ModelProto
        ``model.SerializeToString()`` is the content of a .onnx file.

    Raises
    ------
    NotImplementedError
        If the model has a part that has no ONNX form, such as a function as kernel.

    Notes
    -----
    Labels that are neither whole numbers nor booleans are written as text. Neighbours are always searched exactly.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> [output.name for output in lpjt.to_onnx(model).graph.output]
    ['label', 'probabilities']
    """
    register_converters()
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import DoubleTensorType

    check_is_fitted(model)
    rows = [("X", DoubleTensorType([None, model.n_features_in_]))]
    options = {id(part): {"zipmap": False} for part in [model, *_steps(model)] if isinstance(part, LPJT)}
    return convert_sklearn(model, initial_types=rows, options=options, target_opset={"": OPSET, "ai.onnx.ml": 3})


def register_converters() -> None:
    """Teach skl2onnx to convert `LPJT`, also within pipelines that it is asked to convert directly.

    Examples
    --------
    >>> from lpjt.onnx import register_converters
    >>> register_converters()
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError(_MISSING) from error
    for cls in (LPJT, AuthorsLPJT):
        options = {"zipmap": [False, True], "nocl": [False, True]}
        update_registered_converter(cls, f"Lpjt{cls.__name__}", _set_shapes, _convert, options=options)


def _steps(model: Any) -> list[Any]:
    return [step for _, step in getattr(model, "steps", ())]


def _set_shapes(operator: Any) -> None:
    """Tell skl2onnx the types and shapes of the outputs."""
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

    n = operator.inputs[0].get_first_dimension()
    model = operator.raw_operator
    kind = Int64TensorType if _has_whole_labels(model.classes_) else StringTensorType
    operator.outputs[0].type = kind([n])
    operator.outputs[1].type = DoubleTensorType([n, len(model.classes_)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the nodes of a fitted model, for rows of its target."""
    from onnx import TensorProto

    model, graph = operator.raw_operator, Graph(scope, container)
    name, n_classes = model._target_names[0], len(model.classes_)
    X = graph.node("Cast", operator.inputs[0].full_name, to=TensorProto.DOUBLE)
    if model._columns[name] is not None:
        X = graph.node("Gather", X, graph.constant(np.asarray(model._columns[name])), axis=1)
    F = add_predictor(graph, add_coordinates(graph, X, model._coordinates[name]), model._predictors[name], n_classes)
    graph.node("Identity", F, into=operator.outputs[1].full_name)
    codes = graph.node("ArgMax", F, axis=1, keepdims=0)
    if _has_whole_labels(model.classes_):
        labels = graph.constant(model.classes_.astype(np.int64))
    else:
        labels = graph.texts([str(label) for label in model.classes_])
    graph.node("Gather", labels, codes, axis=0, into=operator.outputs[0].full_name)


def _has_whole_labels(classes: Values) -> bool:
    return classes.dtype.kind in "iub"
