"""What is documented for each parameter of each baseline, as assertions on fitted models: the registry.

A case is a function of a `Fitter`, which builds and fits one baseline with given parameters. It asserts, for two values
of its parameter, what the docstring promises. It never looks at the parameter of the model itself, so that it fails
where the model ignores the parameter.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from lpjt import baselines
from problems import masked, shifted_pair

#: (baseline, parameter) -> case
CASES: dict[tuple[str, str], Callable] = {}


def case(parameter, *names):
    """Register a case of one parameter for the named baselines."""

    def register(function):
        for name in names:
            assert (name, parameter) not in CASES, f"two cases of {name}.{parameter}"
            CASES[name, parameter] = function
        return function

    return register


def public_parameters():
    """(baseline, parameter) of all public baselines, from their signatures."""
    return [
        (name, parameter)
        for name in baselines.__all__
        for parameter in signature(getattr(baselines, name).__init__).parameters
        if parameter != "self"
    ]


class Pair(NamedTuple):
    """A source, a target and its labels; `given` are the labels that a baseline may see."""

    X: np.ndarray
    y: np.ndarray
    X_target: np.ndarray
    y_target: np.ndarray
    given: np.ndarray | None = None


def easy_pair(**changes):
    """Classes well apart, a few target rows labelled."""
    X, y, X_target, y_target = shifted_pair(**{"n_source": 60, "n_target": 45, "shift": 0.5, **changes})
    return Pair(X, y, X_target, y_target, masked(y_target, 3))


def hard_pair(**changes):
    """Overlapping classes, so that labels change over many iterations and classifiers disagree; no target label."""
    X, y, X_target, y_target = shifted_pair(**{"apart": 1.0, "n_source": 60, "n_target": 45, "n_classes": 4, **changes})
    return Pair(X, y, X_target, y_target)


@dataclass
class Fitter:
    """Fits one baseline; `frozen` names a parameter that is set back to its default behind the caller's back."""

    name: str
    frozen: str | None = None

    def __call__(self, pair: Pair, **parameters: Any):
        """Model fitted to a pair, warnings of small problems silenced."""
        model = getattr(baselines, self.name)(**parameters)
        if self.frozen is not None:
            default = signature(type(model).__init__).parameters[self.frozen].default
            model.set_params(**{self.frozen: default})
        given = masked(pair.y_target, 3) if model._needs_target_labels and pair.given is None else pair.given
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return model.fit(pair.X, pair.y, pair.X_target, given)


def squared_norm(matrix):
    return float((np.asarray(matrix) ** 2).sum())
