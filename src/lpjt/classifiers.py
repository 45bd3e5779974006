"""From embedded rows to class distributions: label propagation, nearest neighbour, SVM, any scikit-learn classifier."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import NuSVC
from sklearn.utils.validation import has_fit_parameter

from lpjt._threads import map_threads
from lpjt.core import propagation

#: From so many new rows on a pool searches as the fit did.
MANY_NEW_ROWS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Rows with distributions, whose votes label rows never seen: the propagation's answer out of sample."""

    rows: np.ndarray  # (n, d)
    distributions: np.ndarray  # (n, n_classes)
    n_neighbors: int
    unit_rows: bool
    bandwidth: float  # squared, of the votes
    search: str = "exact"

    def distributions_of(self, Z):
        """Distributions, (n_new, n_classes), of new embedded rows."""
        Z = propagation.unit_rows(Z) if self.unit_rows else Z
        # Few new rows are not worth the clusters of an approximate search.
        search = self.search if len(Z) > MANY_NEW_ROWS else "exact"
        return propagation.vote(
            self.rows, self.distributions, Z, n_neighbors=self.n_neighbors, bandwidth=self.bandwidth, search=search
        )


def make_pool(Z, distributions, *, n_neighbors, unit_rows, search="exact"):
    """Pool of embedded rows, scaled as it will scale new ones."""
    Z = propagation.unit_rows(Z) if unit_rows else Z
    return Pool(Z, distributions, n_neighbors, unit_rows, propagation.squared_bandwidth(Z, n_neighbors), search)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A fitted scikit-learn classifier whose classes are codes."""

    model: Any
    n_classes: int

    def distributions_of(self, Z):
        """Distributions, (n_new, n_classes), of new embedded rows."""
        return _class_distributions(self.model, Z, self.n_classes)


#: Share of the anchored labels in the default propagation, and how many known rows vote in them, smoothed how much.
#: Few votes, because across a shift a row has few right neighbours, and the graph smooths what they say.
ANCHORED_SHARE, N_VOTES, SMOOTHING = 0.3, 3, 0.8

#: Relative residual of the propagation's systems: distributions are compared with each other, not read digit by digit.
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Propagation:
    """Label propagation on the neighbour graph of the embedded rows, labelled rows clamped.

    Parameters
    ----------
    n_neighbors : int
    unit_rows : bool
        Embeddings of unit length first.
    anchored : bool
        Only unlabelled rows choose neighbours, and a share of `core.propagation.anchored_labels` is mixed in; neither
        bends the target to the class proportions of the source. False is the paper's propagation.
    class_mass : bool
        Class-mass normalisation to the proportions of the labelled rows; of the anchored share, half the way.
    search : {"exact", "approximate"}
        Of neighbours.
    """

    n_neighbors: int = 15
    unit_rows: bool = True
    anchored: bool = True
    class_mass: bool = True
    search: str = "exact"

    def classify(self, Z, labels, weights, n_classes):
        """Distributions, (n_unknown, n_classes), of the rows whose label is -1; all domains are stacked here."""
        del weights  # Eq. (2) has none
        known = labels >= 0
        Y = np.eye(n_classes)[labels[known]]
        if not self.anchored:
            W = propagation.neighbor_graph(self._length(Z), self.n_neighbors, search=self.search)
            F = propagation.harmonic_labels(W, np.eye(n_classes)[labels * known], known, tol=TOLERANCE)
            return self._normalise(F, Y, 1.0)
        if (~known).sum() < 2:
            return propagation.vote(self._length(Z[known]), Y, self._length(Z[~known]), n_neighbors=N_VOTES)
        Z_known, Z_unknown = self._length(Z[known]), self._length(Z[~known])
        del Z  # there may be many rows
        near = propagation.find_neighborhoods(Z_known, Z_unknown, self.n_neighbors, search=self.search)
        del Z_known, Z_unknown
        rules = [self._harmonic, self._anchored]
        if propagation.is_shared(len(near.unknown.indices), n_classes):  # each of them fills the threads by itself
            harmonic, anchored = (rule(near, Y) for rule in rules)
        else:
            harmonic, anchored = map_threads(lambda rule: rule(near, Y), rules)
        harmonic *= 1 - ANCHORED_SHARE
        anchored *= ANCHORED_SHARE
        harmonic += anchored
        return harmonic

    def start(self, Z_known, Y_known, Z_unknown, unknown=None):
        """Anchored labels alone, the first labels of Algorithm 1; the rows are scaled by the caller.

        `unknown` are the nearest other unknown rows of each unknown row, where they are known.
        """
        if len(Z_unknown) < 2:
            return propagation.vote(Z_known, Y_known, Z_unknown, n_neighbors=N_VOTES)
        near = propagation.find_neighborhoods(Z_known, Z_unknown, self.n_neighbors, search=self.search, unknown=unknown)
        return self._anchored(near, Y_known)

    def _length(self, Z):
        # Rows of unit length need no more than float32 to be compared, and take half the time.
        return propagation.unit_rows(Z).astype(np.float32, copy=False) if self.unit_rows else Z

    def _harmonic(self, near, Y_known):
        W_uu, W_uk = near.blocks()
        return self._normalise(propagation.harmonic_solution(W_uu, W_uk, Y_known, tol=TOLERANCE), Y_known, 1.0)

    def _anchored(self, near, Y_known):
        F = propagation.anchored_labels(near.votes(Y_known, N_VOTES), near.graph, SMOOTHING, tol=TOLERANCE)
        return self._normalise(F, Y_known, 0.5)

    def _normalise(self, F, Y_known, power):
        if not self.class_mass:
            return propagation.normalise_rows(F)
        return propagation.normalise_class_mass(F, Y_known.mean(axis=0), power=power)

    def freeze(self, Z, labels, weights, distributions):
        """Predictor for new rows; `distributions` are those of all stacked rows."""
        del labels, weights
        return make_pool(Z, distributions, n_neighbors=self.n_neighbors, unit_rows=self.unit_rows, search=self.search)


@dataclass(frozen=True, slots=True)
class Inductive:
    """Any scikit-learn classifier, fitted to the labelled rows, by landmark weights where it takes weights."""

    estimator: Any

    def classify(self, Z, labels, weights, n_classes):
        """Distributions, (n_unknown, n_classes), of the rows whose label is -1."""
        return _class_distributions(self._fit(Z, labels, weights), Z[labels < 0], n_classes)

    def freeze(self, Z, labels, weights, distributions):
        """Predictor for new rows."""
        return Fitted(self._fit(Z, labels, weights), distributions.shape[1])

    def _fit(self, Z, labels, weights):
        known = labels >= 0
        model = clone(self.estimator)
        if has_fit_parameter(model, "sample_weight"):
            return model.fit(Z[known], labels[known], sample_weight=weights[known])
        return model.fit(Z[known], labels[known])


class FeasibleNuSVC(NuSVC):
    """Linear nu-SVM that lowers nu where unbalanced classes allow no solution, instead of failing."""

    nu: float

    def fit(self, X, y, sample_weight=None):
        """Fit with the largest feasible nu of nu, 0.7 nu, 0.49 nu, ..."""
        wanted = self.nu
        try:
            while True:
                try:
                    return super().fit(X, y, sample_weight)
                except ValueError as error:
                    # "not finite": nu is exactly what the smaller of two classes allows, and no margin is defined.
                    if not any(words in str(error) for words in ("infeasible", "not finite")) or self.nu < 1e-3:
                        raise
                    self.nu *= 0.7
        finally:
            self.nu = wanted


def make_classifier(classifier, *, n_neighbors, unit_rows=True, nu=0.5, search="exact"):
    """Classifier of the shared space from a word or from a scikit-learn classifier."""
    if classifier == "propagation":
        return Propagation(n_neighbors, unit_rows, search=search)
    if classifier == "harmonic":
        return Propagation(n_neighbors, unit_rows, anchored=False, search=search)
    if classifier == "nn":
        return Inductive(KNeighborsClassifier(n_neighbors=1))
    if classifier == "svm":
        return Inductive(FeasibleNuSVC(nu=nu, kernel="linear"))
    return Inductive(classifier)


def _class_distributions(model, Z, n_classes):
    """Probabilities, or a softmax of decision values, or certainty, in the columns of all classes."""
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
