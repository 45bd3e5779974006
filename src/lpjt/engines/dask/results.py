"""A fitted model on Dask arrays: its predictions are Dask arrays too; results on a cluster cannot be pickled."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lpjt._typing import Values
from lpjt.core.blocks import AnyRows
from lpjt.engines import is_lazy
from lpjt.engines.dask.door import check_known_sizes
from lpjt.engines.dask.labels import Lazy


def apply_lazily(
    model: object, method: str, X: Lazy, domain: str, *, width: int, columns: int | None, dtype: npt.DTypeLike | None
) -> Lazy:
    """``model.method(X, domain)`` of a fitted model on a Dask array, as a Dask array; nothing is computed.

    Parameters
    ----------
    model : LPJT
    method : {"transform", "predict", "predict_proba"}
    X : Dask array, (n, width)
    domain : str
    width : int
        Number of columns of the domain.
    columns : int or None
        Number of columns of the result; None if it has one dimension.
    dtype : dtype or None
        Of the result; None for that of the rows.
    """
    if X.ndim != 2 or X.shape[1] != width:
        raise ValueError(f"X has {X.shape[-1]} features, but LPJT is expecting {width} features as input.")
    if len(X.chunks[1]) > 1:
        check_known_sizes(X, "X", "X")
        X = X.rechunk({1: -1})
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    options = {"model": _without_results(model), "method": method, "domain": domain}
    dtype = X.dtype if dtype is None else dtype
    if columns is None:
        return X.map_blocks(call_method, drop_axis=1, meta=np.empty(0, dtype=dtype), **options)
    return X.map_blocks(call_method, chunks=(X.chunks[0], (columns,)), meta=np.empty((0, 0), dtype=dtype), **options)


def call_method(block: AnyRows, model: object, method: str, domain: str) -> Values:
    """A method of the model on a block."""
    return getattr(model, method)(block, domain)


def _without_results(model: object) -> Any:
    """A copy of the model with what new rows need, as one delayed object that is sent to each worker once."""
    import dask

    light = object.__new__(type(model))
    large = ("transduction_", "label_distributions_", "weights_source_", "weights_target_", "callback", "history_")
    light.__dict__.update({name: None if name in large else value for name, value in model.__dict__.items()})
    return dask.delayed(light)


def refuse_to_pickle(state: Mapping[str, Any]) -> None:
    """Raise an error if arrays of a fitted model are held by a cluster."""
    for name, value in state.items():
        parts = value.values() if isinstance(value, dict) else (value,)
        if any(is_lazy(part) and _on_cluster(part) for part in parts):
            raise TypeError(
                f"{name} is held by the workers of a Dask cluster and cannot be pickled. Load it into memory first: "
                f"model.{name} = model.{name}.compute(); likewise the other results held there."
            )


def _on_cluster(array: Lazy) -> bool:
    return any(type(value).__name__ == "Future" for value in dict(array.__dask_graph__()).values())
