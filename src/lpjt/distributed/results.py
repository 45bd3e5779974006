"""What a distributed fit leaves: Dask arrays for what has a row a sample, arrays for what is small."""

from dataclasses import replace

import numpy as np

from lpjt.core.coordinates import Coordinates
from lpjt.distributed import moments, tasks
from lpjt.distributed.blocks import Blocks, gather_spread
from lpjt.distributed.door import check_known_sizes, is_lazy
from lpjt.distributed.problem import join_sides, to_coordinates
from lpjt.distributed.tasks import Node
from lpjt.fitting.plan import Outcome

#: Rows that stand for all where rows never seen are labelled by their neighbours.
POOLED = 20_000


def keep_pass(trial, state, plan, shared):
    """The outcome of a pass."""
    pooled = _pool(trial.problem, state.embeddings, state.distributions, plan.classifier)
    return Outcome(
        coordinates=trial.maps,
        projections=state.projections,
        predictor=pooled,
        distributions=tuple(_matrix(F, trial.problem.n_classes) for F in state.distributions),
        weights=tuple(_vector(w) for w in state.weights),
        adapted=True,
        scaling=trial.scaling,
        **shared,
    )


def keep_first_labels(trial, plan, shared):
    """The first labels, in coordinates, where every pass collapsed."""
    problem = trial.problem
    rule = replace(plan.classifier, n_neighbors=15, unit_rows=False)
    return Outcome(
        coordinates=trial.maps,
        projections=principal_axes(problem.rows, plan.settings.n_components),
        predictor=_pool(problem, problem.rows, trial.start, rule),
        distributions=tuple(_matrix(F, problem.n_classes) for F in trial.start),
        weights=_ones(problem.rows),
        adapted=False,
        scaling=trial.scaling,
        **shared,
    )


def keep_unshifted(parts, plan, unshifted, seconds):
    """Labels of the best classifier of the source, where the target cannot be told from it."""
    map_to = Coordinates(unshifted.scaling)
    rows = [part.raw.each(to_coordinates, map_to=map_to) for part in parts]
    targets = rows[len(parts) - len(unshifted.distributions) :]
    predictor = tasks.constant(unshifted.predictor)
    F = [X.each(predict_block, predictor).persist() for X in targets]
    message = (
        f"No shift found: rows of both domains mix within classes (statistic {unshifted.mixing:.2f}, 1 is no shift), "
        f"so the target is labelled by {unshifted.name} on the source, without adaptation. Set safeguard=False to "
        "adapt all the same."
    )
    return Outcome(
        coordinates=(map_to,) * len(parts),
        projections=principal_axes(rows, plan.settings.n_components),
        predictor=unshifted.predictor,
        distributions=tuple(_matrix(part, unshifted.predictor.n_classes) for part in F),
        weights=_ones(rows),
        adapted=False,
        scaling="source",
        messages=[message],
        seconds=dict(seconds),
    )


def predict_block(rows, predictor):
    """Distributions of the rows of a block."""
    return predictor.distributions_of(rows)


def principal_axes(many, n_components):
    """Principal directions of blocks of one width, together: `selection.plain.principal_axes`."""
    n = sum(X.n_rows for X in many)
    sums = tasks.compute([X.sum_of(moments.row_sum) for X in many])
    mean = sum(sums) / n
    scatter = sum(tasks.compute([moments.scatter_node(X, mean) for X in many]))
    _, vectors = np.linalg.eigh(scatter)
    V = vectors[:, ::-1][:, : min(n_components, len(mean))]
    V = V * np.sign(V[np.abs(V).argmax(axis=0), range(V.shape[1])])
    return (V,) * len(many)


def _pool(problem, rows, distributions, rule):
    """Predictor from a spread of at most `POOLED` rows of all domains."""
    targets = dict(zip(problem.targets, distributions, strict=True))
    all_rows: list[Node] = []
    all_known: list[Node] = []
    for i, X in enumerate(rows):
        known = targets.get(i)
        all_rows += X.nodes
        all_known += (
            [tasks.call(join_sides, y, None, n_classes=problem.n_classes) for y in problem.labels[i].nodes]
            if known is None
            else known.nodes
        )
    sizes = tuple(size for X in rows for size in X.sizes)
    Z, Y = gather_spread(Blocks(all_rows, sizes, 0), Blocks(all_known, sizes, 0), at_most=POOLED)
    return rule.freeze(Z, None, None, Y)


def _matrix(blocks, width):
    return tasks.to_array(blocks.nodes, [(size, width) for size in blocks.sizes], np.float64)


def _vector(blocks):
    return tasks.to_array(blocks.nodes, [(size,) for size in blocks.sizes], np.float64)


def _ones(rows):
    import dask.array as da

    return tuple(da.ones(X.n_rows, chunks=(X.sizes,)) for X in rows)


def join_labels(y, F, classes):
    """Labels of a target, (n,), from its codes and distributions, in memory or as a Dask array."""
    if not is_lazy(F):
        return decode(y, F, classes)
    import dask.array as da

    return da.blockwise(decode, "i", y, "i", F, "ij", classes=classes, concatenate=True, dtype=classes.dtype)


def decode(y, F, classes):
    """Labels of rows: those given, or the likeliest."""
    return classes[np.where(y >= 0, y, F.argmax(axis=1))]


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
