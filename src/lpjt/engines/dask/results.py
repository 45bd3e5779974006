"""A fitted model on Dask arrays: predictions that are Dask arrays too, and pickles that a cluster's results forbid."""

import numpy as np

from lpjt.engines import is_lazy
from lpjt.engines.dask.door import check_known_sizes


def apply_lazily(model, method, X, domain):
    """``model.method(X, domain)`` of a fitted model on a Dask array, as a Dask array; nothing is computed.

    Parameters
    ----------
    model : LPJT
    method : {"transform", "predict", "predict_proba"}
    X : Dask array, (n, width of the domain)
    domain : str
    """
    width = model._widths[model._domain(domain)]
    if X.ndim != 2 or X.shape[1] != width:
        raise ValueError(f"X has {X.shape[-1]} features, but LPJT is expecting {width} features as input.")
    if len(X.chunks[1]) > 1:
        check_known_sizes(X, "X", "X")
        X = X.rechunk({1: -1})
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    options = {"model": _without_results(model), "method": method, "domain": domain}
    if method == "predict":
        meta = np.empty(0, dtype=model.classes_.dtype)
        return X.map_blocks(call_method, drop_axis=1, meta=meta, **options)
    columns = len(model.classes_) if method == "predict_proba" else model._n_features_out
    meta = np.empty((0, 0), dtype=np.float64 if method == "predict_proba" else X.dtype)
    return X.map_blocks(call_method, chunks=(X.chunks[0], (columns,)), meta=meta, **options)


def call_method(block, model, method, domain):
    """A method of the model on a block."""
    return getattr(model, method)(block, domain)


def _without_results(model):
    """A copy of the model that has what new rows need, and is sent to each worker once."""
    import dask

    light = object.__new__(type(model))
    large = ("transduction_", "label_distributions_", "weights_source_", "weights_target_", "callback", "history_")
    light.__dict__.update({name: None if name in large else value for name, value in model.__dict__.items()})
    return dask.delayed(light)


def refuse_to_pickle(state):
    """Raise where a fitted model's arrays are held by a cluster, which a pickle cannot hold."""
    for name, value in state.items():
        parts = value.values() if isinstance(value, dict) else (value,)
        if any(is_lazy(part) and _on_cluster(part) for part in parts):
            raise TypeError(
                f"{name} is held by the workers of a Dask cluster and cannot be pickled. Bring it to memory first: "
                f"model.{name} = model.{name}.compute(); the other arrays of rows likewise."
            )


def _on_cluster(array):
    return any(type(value).__name__ == "Future" for value in dict(array.__dask_graph__()).values())
