"""What is documented for each parameter of the deep methods, as assertions on fitted models: the registry.

A case asserts what two values of a parameter make different in a fitted model; it never looks at the parameter itself,
so that it fails where the model ignores it.
"""

from inspect import signature

import numpy as np
from deep_toys import QUICK, moved_clusters

from lpjt import deep

SHARED = list(signature(deep.SourceOnly.__init__).parameters)[1:]
CASES = {}
SHORT = {**QUICK, "max_epochs": 2, "hidden": 8}


def case(parameter, *names):
    def register(function):
        CASES.update({(name, parameter): function for name in names})
        return function

    return register


def public_parameters():
    """Shared parameters once, with the base network; the others with each method that has them."""
    shared = [("SourceOnly", parameter) for parameter in SHARED]
    own = [(name, p) for name in deep.__all__ for p in signature(getattr(deep, name).__init__).parameters]
    return shared + [pair for pair in own if pair[1] not in (*SHARED, "self")] + [("DeepJDOT", "balanced")]


class Fitter:
    """Fits one method on the toy; a frozen parameter is set back to its default behind the caller's back."""

    def __init__(self, name, frozen=None):
        self.name, self.frozen = name, frozen

    def __call__(self, data=None, **given):
        kind = getattr(deep, self.name)
        model = kind(**{**SHORT, **given})
        if self.frozen is not None:
            model.set_params(**{self.frozen: signature(kind.__init__).parameters[self.frozen].default})
        X, y, X_target, _ = data or moved_clusters(n_source=60, n_target=45)
        return model.fit(X, y, X_target)


def differ(one, other, X_target=None):
    X_target = moved_clusters(n_source=60, n_target=45)[2] if X_target is None else X_target
    return bool((one.predict_proba(X_target) != other.predict_proba(X_target)).any())


def weights(model, part="features"):
    return np.concatenate([tensor.numpy().ravel() for tensor in model.network_[part].state_dict().values()])
