"""Label propagation on the neighbour graph of the embedded rows."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from lpjt._sklearn import Interval
from lpjt._threads import map_threads
from lpjt._typing import Array, Codes
from lpjt.core import propagation
from lpjt.core.definite import is_shared
from lpjt.core.edges import Graph
from lpjt.core.neighbors import Neighbors
from lpjt.core.ties import compared_rows

#: A pool uses the search of the fit for more new rows than this, and an exact search below it.
MANY_NEW_ROWS = 2000

#: Share of the anchored labels in the default propagation, the number of labelled rows that vote in them, and how much
#: the votes are smoothed. Few votes, because across a shift a row has few correct neighbours.
ANCHORED_SHARE, N_VOTES, SMOOTHING = 0.3, 3, 0.8

#: Relative residual of the propagation's linear systems: the largest entry of a distribution counts, so four digits do.
TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Rows with distributions, whose votes label new rows: the out-of-sample answer of the propagation."""

    rows: Array  # (n, d)
    distributions: Array  # (n, n_classes)
    n_neighbors: int
    unit_length: bool
    bandwidth: float  # squared, of the votes
    search: str = "exact"

    def distributions_of(self, Z: Array) -> Array:
        """Class distributions, (n_new, n_classes), of new embedded rows."""
        Z = propagation.unit_rows(Z) if self.unit_length else Z
        # Building the clusters of an approximate search does not pay for few rows.
        search = self.search if len(Z) > MANY_NEW_ROWS else "exact"
        return propagation.vote(
            self.rows, self.distributions, Z, n_neighbors=self.n_neighbors, bandwidth=self.bandwidth, search=search
        )


def make_pool(Z: Array, distributions: Array, *, n_neighbors: int, unit_length: bool, search: str = "exact") -> Pool:
    """Pool of embedded rows, scaled as the pool will scale new rows."""
    Z = propagation.unit_rows(Z) if unit_length else Z
    return Pool(Z, distributions, n_neighbors, unit_length, propagation.squared_bandwidth(Z, n_neighbors), search)


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Labels spread over the graph of one embedding, (n_unlabelled, n_classes), before any class mass is normalised."""

    harmonic: Array | None  # None if there are too few rows for it
    anchored: Array | None  # None if it was not asked for
    of_known: Array  # (n_classes,) proportions of the labelled rows


class Propagation(BaseEstimator):
    """Label propagation on the neighbour graph of the embedded rows; labelled rows keep their label.

    Parameters
    ----------
    n_neighbors : int, default=15
        Neighbours per row in the graph.
    unit_length : bool, default=True
        Whether embedded rows are scaled to unit length first.
    anchored : bool, default=True
        Whether only unlabelled rows choose neighbours, and a share of smoothed votes of the nearest labelled rows is
        mixed in (`core.propagation.anchored_labels`). Neither forces the class proportions of the source on the
        target. False is the paper's propagation, the harmonic solution.
    class_mass : bool or array, (n_classes,), default=True
        Proportions to which class masses are normalised (for the anchored share, half the way). True takes those of
        the labelled rows, False leaves the masses as they are. ``LPJT(target_proportions=...)`` sets this.

    Examples
    --------
    >>> from lpjt import LPJT, Propagation
    >>> LPJT(classifier=Propagation(n_neighbors=30)).get_params()["classifier__n_neighbors"]
    30
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "unit_length": ["boolean"],
        "anchored": ["boolean"],
        "class_mass": ["boolean", "array-like"],
    }

    def __init__(
        self,
        n_neighbors: int = 15,
        *,
        unit_length: bool = True,
        anchored: bool = True,
        class_mass: bool | npt.ArrayLike = True,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.unit_length = unit_length
        self.anchored = anchored
        self.class_mass = class_mass

    def classify(
        self,
        Z: Array,
        labels: Codes,
        weights: Array | None,
        n_classes: int,
        *,
        search: str = "exact",
    ) -> Array:
        """Class distributions of the unlabelled rows.

        Parameters
        ----------
        Z : array, (n, d)
            Embedded rows of all domains.
        labels : int array, (n,)
            Class codes, -1 where unlabelled.
        weights : array, (n,), or None
            Sample weights: how much the label of a row counts. Landmark weights have no part in Eq. (2).
        n_classes : int
        search : {"exact", "approximate"}
            Neighbour search.

        Returns
        -------
        array, (n_unlabelled, n_classes)
        """
        return self.mix(self.spread(Z, labels, weights, n_classes, search=search))

    def spread(
        self, Z: Array, labels: Codes, weights: Array | None, n_classes: int, *, search: str = "exact"
    ) -> "Spread":
        """Solutions on the graph before any class mass is normalised; arguments as for `classify`."""
        known = labels >= 0
        if not self.anchored:
            Y = weigh_rows(np.eye(n_classes)[labels * known], weights)
            W = propagation.neighbor_graph(scale_rows(self, Z), self.n_neighbors, search=search)
            return Spread(propagation.harmonic_labels(W, Y, known, tol=TOLERANCE), None, Y[known].mean(axis=0))
        Y = propagation.one_hot(labels[known], None if weights is None else weights[known], n_classes)
        of_known = np.asarray(Y.mean(axis=0)).ravel()
        Z_known, Z_unknown = scale_rows(self, Z[known]), scale_rows(self, Z[~known])
        if len(Z_unknown) < 2:
            return Spread(None, propagation.vote(Z_known, Y, Z_unknown, n_neighbors=N_VOTES), of_known)
        del Z  # the scaled copies are enough
        near = propagation.find_neighborhoods(Z_known, Z_unknown, self.n_neighbors, search=search)
        del Z_known, Z_unknown
        rules = [_harmonic, _anchored]
        if is_shared(len(near.unknown.indices), n_classes):  # each solver uses all threads by itself
            harmonic, anchored = (rule(near, Y) for rule in rules)
        else:
            harmonic, anchored = map_threads(lambda rule: rule(near, Y), rules)
        return Spread(harmonic, anchored, of_known)

    def mix(self, spread: "Spread") -> Array:
        """Class distributions, (n_unlabelled, n_classes), from solutions on the graph, which are not changed."""
        if spread.anchored is None:
            assert spread.harmonic is not None
            return self._normalised(spread.harmonic, spread.of_known, 1.0)
        if spread.harmonic is None:
            return spread.anchored.copy()
        F = self._normalised(spread.harmonic, spread.of_known, 1.0)
        F *= 1 - ANCHORED_SHARE
        anchored = self._normalised(spread.anchored, spread.of_known, 0.5)
        anchored *= ANCHORED_SHARE
        F += anchored
        return F

    def start(
        self,
        Z_known: Array,
        Y_known: Any,  # a `Graph`: scipy's arrays have no types
        Z_unknown: Array,
        unknown: Neighbors | None = None,
        *,
        search: str = "exact",
    ) -> Array:
        """Anchored labels alone, the first labels of Algorithm 1, (n_unknown, n_classes); the caller scales the rows.

        `unknown` are the nearest other unlabelled rows of each unlabelled row, if they were found already.
        """
        if len(Z_unknown) < 2:
            return propagation.vote(Z_known, Y_known, Z_unknown, n_neighbors=N_VOTES)
        near = propagation.find_neighborhoods(Z_known, Z_unknown, self.n_neighbors, search=search, unknown=unknown)
        return self._normalised(_anchored(near, Y_known), np.asarray(Y_known.mean(axis=0)).ravel(), 0.5)

    def freeze(
        self,
        Z: Array,
        labels: Codes,
        weights: Array | None,
        distributions: Array,
        *,
        search: str = "exact",
    ) -> Pool:
        """Predictor for new rows; `distributions`, (n, n_classes), are those of all rows `Z`."""
        del labels
        distributions = weigh_rows(distributions, weights)
        return make_pool(Z, distributions, n_neighbors=self.n_neighbors, unit_length=self.unit_length, search=search)

    def _normalised(self, F: Array, of_known: Array, power: float) -> Array:
        proportions = mass_proportions(self, of_known)
        if proportions is None:
            return propagation.normalise_rows(F)
        return propagation.normalise_class_mass(F, proportions, power=power)


def _harmonic(near: propagation.Neighborhoods, Y_known: Graph) -> Array:
    W_uu, W_uk = near.blocks()
    return propagation.harmonic_solution(W_uu, W_uk, Y_known, tol=TOLERANCE)


def _anchored(near: propagation.Neighborhoods, Y_known: Graph) -> Array:
    return propagation.anchored_labels(near.votes(Y_known, N_VOTES), near.graph, SMOOTHING, tol=TOLERANCE)


def classify_each(
    classifiers: Sequence[Any], Z: Array, labels: Codes, weights: Array | None, n_classes: int, *, search: str = "exact"
) -> list[Array]:
    """Answers of classifiers that differ in their class masses at most; arguments as for `Propagation.classify`.

    Propagations share their solutions on the graph, nearly all of the work.
    """
    first = classifiers[0]
    if len(classifiers) == 1 or type(first) is not Propagation:  # a kind of it may classify otherwise
        return [c.classify(Z, labels, weights, n_classes, search=search) for c in classifiers]
    spread = first.spread(Z, labels, weights, n_classes, search=search)
    return [c.mix(spread) for c in classifiers]


def scale_rows(classifier: Propagation, Z: Array) -> Array:
    """Embedded rows as the propagation compares them."""
    return compared_rows(propagation.unit_rows(Z)) if classifier.unit_length else Z


def mass_proportions(classifier: Propagation, of_known: Array) -> Array | None:
    """Proportions that class masses are normalised to, (n_classes,), given those of the labelled rows, or None."""
    given = np.asarray(classifier.class_mass, dtype=np.float64)
    if given.ndim:
        return given
    return of_known if classifier.class_mass else None


def weigh_rows(Y: Array, weights: Array | None) -> Array:
    """Distributions, (n, n_classes), as many times as the rows count."""
    return Y if weights is None else Y * weights[:, None]


def with_masses(classifier: Any, masses: str, proportions: Array | None = None) -> Any:
    """The classifier with the class masses "source", "free" or "given", the last with their proportions.

    "classifier" leaves it as it is, and so does any classifier that does not normalise class masses.
    """
    if masses == "classifier" or not isinstance(classifier, Propagation):
        return classifier
    changed = copy(classifier)  # `clone` reads signatures, which takes as long as a small propagation
    if masses in ("source", "free"):
        changed.class_mass = masses == "source"
    else:
        assert proportions is not None, "given and estimated masses have proportions"
        changed.class_mass = proportions
    return changed
