"""Predictors made of other predictors: of projected rows, their mean, and one whose confidence is calibrated."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lpjt._typing import Array
from lpjt.core.propagation import normalise_rows


@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """A predictor of embedded rows, given their coordinates."""

    predictor: Any  # Predictor
    projection: Array  # (rank, n_components)

    def distributions_of(self, Z: Array) -> Array:
        """Class distributions, (n_new, n_classes), of new rows in coordinates."""
        return self.predictor.distributions_of(Z @ self.projection.astype(Z.dtype, copy=False))


@dataclass(frozen=True, slots=True, eq=False)
class Averaged:
    """Weighted mean of the distributions of several predictors of the same rows."""

    parts: tuple[Any, ...]  # Predictors
    weights: tuple[float, ...]  # sum to 1

    def distributions_of(self, Z: Array) -> Array:
        """Class distributions, (n_new, n_classes), of new rows."""
        return sum(w * part.distributions_of(Z) for part, w in zip(self.parts, self.weights, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Reweighted:
    """A predictor whose class masses were drawn to given proportions in the fit."""

    predictor: Any  # Predictor
    factors: Array  # (n_classes,)

    def distributions_of(self, Z: Array) -> Array:
        """Class distributions, (n_new, n_classes), of new rows."""
        return normalise_rows(self.predictor.distributions_of(Z) * self.factors)


@dataclass(frozen=True, slots=True, eq=False)
class Tempered:
    """A predictor with the temperature that the fit found."""

    predictor: Any  # Predictor
    temperature: float

    def distributions_of(self, Z: Array) -> Array:
        """Class distributions, (n_new, n_classes), of new rows."""
        return temper(self.predictor.distributions_of(Z), self.temperature)


#: Least probability of a class before calibration, in shares of a uniform one: a distribution that is exactly certain
#: could not get vaguer.
LEAST_SHARE = 0.01


def temper(F: Array, temperature: float) -> Array:
    """Distributions raised to the power 1 / temperature and scaled to sum 1: above 1 they get vaguer; labels stay.

    At the temperature 1 they are left as they are; otherwise no class is quite impossible.
    """
    if not len(F) or temperature == 1:
        return F
    F = np.maximum(F, LEAST_SHARE / F.shape[1])
    return normalise_rows(np.power(F / F.max(axis=1, keepdims=True), 1.0 / temperature))
