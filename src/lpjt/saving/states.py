"""State of the objects that a file holds: what is left out, what is built again, and what is checked."""

import dataclasses
from typing import Any

import numpy as np

from lpjt._sklearn import SIMPLE_METHODS, MetadataRequest
from lpjt.saving.allowed import check_names, defaults_of
from lpjt.saving.errors import ModelFileError

#: Where scikit-learn keeps what `set_fit_request` and the like were given. It knows its owner, so it is written as the
#: requests alone.
REQUESTS = "_metadata_request"

#: Parameters that matter in a fit only, and are functions: a file has None in their place.
NOT_KEPT = ("callback",)


def state_of(value: Any) -> dict[str, Any]:
    """Values of an object by their names."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    state = {name: None if name in NOT_KEPT and callable(part) else part for name, part in vars(value).items()}
    if _has_tree(state):
        state["_tree"] = None  # built again from the rows, which gives the same tree
    if REQUESTS in state:
        state[REQUESTS] = {name: dict(getattr(state[REQUESTS], name).requests) for name in SIMPLE_METHODS}
    return state


def restore(cls: Any, state: dict[str, Any]) -> Any:
    """Object of an allowed class with the given values; its constructor is not called."""
    check_names(cls, state)
    needed = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    state = {**defaults_of(cls), **state}
    if missing := sorted(needed - set(state)):
        raise ModelFileError(f"The file gives a {cls.__name__} no value {missing[0]!r}.")
    if _has_tree(state):
        state["_tree"] = _tree(state)
    if "_n_support" in state:
        _check_support(state)
    found = cls.__new__(cls)
    if REQUESTS in state:
        state[REQUESTS] = _requests(found, state[REQUESTS])
    for name, value in state.items():
        object.__setattr__(found, name, value)
    return found


def _has_tree(state: dict[str, Any]) -> bool:
    return state.get("_fit_method") in ("kd_tree", "ball_tree")


def _tree(state: dict[str, Any]) -> Any:
    """The search tree of a nearest-neighbour classifier, which scikit-learn builds in the same way."""
    from sklearn.neighbors import BallTree, KDTree

    build = KDTree if state["_fit_method"] == "kd_tree" else BallTree
    metric, options = state["effective_metric_"], state["effective_metric_params_"]
    return build(state["_fit_X"], state["leaf_size"], metric=metric, **options)


def _requests(owner: Any, requests: dict[str, dict[str, Any]]) -> MetadataRequest:
    """What an estimator asks metadata routing for, from the requests of each method."""
    found = MetadataRequest(owner=owner)
    for name, asked in requests.items():
        if name not in SIMPLE_METHODS or not all(v is None or isinstance(v, bool | str) for v in asked.values()):
            raise ModelFileError(f"The file has an unknown request of metadata for {name!r}.")
        getattr(found, name)._requests = dict(asked)
    return found


def _check_support(state: dict[str, Any]) -> None:
    """Refuse support vectors whose sizes disagree: the compiled code of scikit-learn's SVM trusts them."""
    n, per_class = len(state["support_"]), np.asarray(state["_n_support"])
    sizes = {state["support_vectors_"].shape[0], state["_dual_coef_"].shape[1], int(np.sum(per_class)), n}
    n_pairs = len(per_class) * (len(per_class) - 1) // 2
    fits = (
        len(sizes) == 1
        and per_class.ndim == 1
        and min(per_class.min(), np.min(state["support_"], initial=0)) >= 0
        and np.max(state["support_"], initial=0) < state["shape_fit_"][0]
        and state["support_vectors_"].shape[1] == state["n_features_in_"]
        and state["_dual_coef_"].shape[0] == len(per_class) - 1
        and np.size(state["_intercept_"]) == n_pairs
        and all(np.size(state.get(name, ())) in (0, n_pairs) for name in ("_probA", "_probB"))
    )
    if not fits:
        raise ModelFileError("The file has support vectors of different numbers; it was changed.")
