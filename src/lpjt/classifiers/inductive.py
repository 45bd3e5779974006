"""Scikit-learn classifiers in the shared space, and the weighted linear nu-SVM of the authors' program."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import has_fit_parameter

from lpjt._typing import Array, Codes
from lpjt.classifiers.machines import MAX_STEPS, Bounded, BoundedSVC, warn_if_unfinished


@dataclass(frozen=True, slots=True, eq=False)
class FittedClassifier:
    """A fitted scikit-learn classifier whose classes are codes."""

    model: Any
    n_classes: int

    def distributions_of(self, Z: Array) -> Array:
        """Class distributions, (n_new, n_classes), of new embedded rows."""
        return class_distributions(self.model, Z, self.n_classes)


@dataclass(frozen=True, slots=True, eq=False)
class Inductive:
    """Any scikit-learn classifier, fitted to the labelled rows, with landmark weights if its `fit` takes weights."""

    estimator: Any

    def classify(
        self,
        Z: Array,
        labels: Codes,
        weights: Array | None,
        n_classes: int,
        *,
        search: str = "exact",
    ) -> Array:
        """Class distributions, (n_unlabelled, n_classes), of the rows whose label is -1; as `Propagation.classify`."""
        del search
        return class_distributions(self._fitted(Z, labels, weights), Z[labels < 0], n_classes)

    def freeze(
        self,
        Z: Array,
        labels: Codes,
        weights: Array | None,
        distributions: Array,
        *,
        search: str = "exact",
    ) -> FittedClassifier:
        """Predictor for new rows."""
        del search
        return FittedClassifier(self._fitted(Z, labels, weights), distributions.shape[1])

    def _fitted(self, Z: Array, labels: Codes, weights: Array | None) -> Any:
        known = labels >= 0
        model = clone(self.estimator)
        if weights is not None and has_fit_parameter(model, "sample_weight"):
            return model.fit(Z[known], labels[known], sample_weight=weights[known])
        return model.fit(Z[known], labels[known])


class NuSVM(Bounded, NuSVC):
    """Linear nu-SVM that lowers `nu` if the class sizes make it infeasible, instead of failing.

    Where no nu has a solution, because rows of different classes coincide, the machine with C=1 is fitted.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound on the share of margin errors. The largest feasible value of nu, 0.7 nu, 0.49 nu, ... is used.

    Examples
    --------
    >>> from lpjt import LPJT, NuSVM
    >>> LPJT(classifier=NuSVM(nu=0.3)).classifier
    NuSVM(nu=0.3)
    """

    nu: float

    def __init__(self, nu: float = 0.5) -> None:
        super().__init__(nu=nu, kernel="linear", max_iter=MAX_STEPS)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> "NuSVM":
        """Fit with the largest feasible nu of nu, 0.7 nu, 0.49 nu, ..."""
        wanted = self.nu
        try:
            while not self._fit_with_nu(X, y, sample_weight):
                if self.nu < 1e-3:
                    self._fit_with_costs(X, y, sample_weight)
                    break
                self.nu *= 0.7
        finally:
            self.nu = wanted
        warn_if_unfinished(self)
        return self

    def _fit_with_nu(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> bool:
        """Fit with the present nu; False if it has no solution."""
        try:
            super().fit(X, y, sample_weight)
        except ValueError as error:
            # "not finite": nu is exactly what the smaller of two classes allows, so no margin is defined.
            if not any(words in str(error) for words in ("infeasible", "not finite")):
                raise
            return False
        return True

    def _fit_with_costs(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> None:
        """Fit the machine with bounded costs, which always has a solution; both kinds decide alike."""
        machine = BoundedSVC().fit(X, y, sample_weight)
        for name in set(vars(machine)) - set(SVC().get_params()):
            setattr(self, name, getattr(machine, name))


def class_distributions(model: Any, Z: Array, n_classes: int) -> Array:
    """Distributions, (n, n_classes), in the columns of all classes.

    The model's probabilities if it has any, else a softmax of its decision values, else certainty.
    """
    F = np.zeros((len(Z), n_classes))
    if not len(Z):
        return F
    if hasattr(model, "predict_proba"):
        F[:, model.classes_] = model.predict_proba(Z)
    elif hasattr(model, "decision_function"):
        values = model.decision_function(Z)
        values = np.column_stack([-values, values]) if values.ndim == 1 else values
        values = np.exp(values - values.max(axis=1, keepdims=True))
        F[:, model.classes_] = values / values.sum(axis=1, keepdims=True)
    else:
        F[np.arange(len(Z)), model.predict(Z)] = 1.0
    return F
