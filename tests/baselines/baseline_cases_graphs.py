"""Cases of the parameters of methods whose projection has graph Laplacians."""

import numpy as np
from baseline_cases import case, hard_pair
from baseline_cases_shared import (
    components_are_the_columns_of_the_embedding,
    iterations_are_counted,
    less_regularisation_brings_the_means_closer,
)
from sklearn.metrics import pairwise_distances

case("n_components", "CLGA")(components_are_the_columns_of_the_embedding)
case("max_iter", "CLGA")(iterations_are_counted)


@case("regularization", "CLGA")
def less_regularisation_brings_the_means_closer_beside_graphs(fit):
    """Graph terms of weight 0, which would hold the means apart in the same way whatever the regularisation."""
    weights = {
        "CLGA": {"compactness_weight": 0.0, "separation_weight": 0.0, "domain_weight": 0.0},
    }

    def without_graphs(pair, **given):
        return fit(pair, **given, **weights[fit.name])

    without_graphs.name = fit.name
    less_regularisation_brings_the_means_closer(without_graphs)


def _embedded(model, pair):
    """Rows of both domains, in units of their spread."""
    Z = np.vstack([model.transform(pair.X, "source"), model.transform(pair.X_target)])
    return Z / Z.std()


def _mean_edge(model, pair, wanted, k=5):
    """Mean squared length in the embedding of edges from source rows to their k nearest wanted rows of the input."""
    distances = np.where(wanted, pairwise_distances(pair.X), np.inf)
    nearest = np.argsort(distances, axis=1)[:, :k]
    Z = _embedded(model, pair)[: len(pair.X)]
    return np.take_along_axis(pairwise_distances(Z) ** 2, nearest, axis=1).mean()


@case("compactness_weight", "CLGA")
def neighbours_of_a_class_come_closer(fit):
    pair = hard_pair()
    same = (pair.y[:, None] == pair.y) & ~np.eye(len(pair.y), dtype=bool)
    setting = {"n_components": 2, "scaling": "none", "max_iter": 1, "domain_weight": 0.0}
    lengths = [_mean_edge(fit(pair, compactness_weight=w, **setting), pair, same) for w in (0.0, 100.0)]
    assert lengths[1] < 0.8 * lengths[0]


@case("separation_weight", "CLGA")
def neighbours_of_other_classes_are_separated(fit):
    pair = hard_pair()
    setting = {"n_components": 2, "scaling": "none", "max_iter": 1, "compactness_weight": 0.0, "domain_weight": 0.0}
    other = pair.y[:, None] != pair.y
    lengths = [_mean_edge(fit(pair, separation_weight=w, **setting), pair, other) for w in (0.0, 100.0)]
    assert lengths[1] > 1.03 * lengths[0]


@case("domain_weight", "CLGA")
def neighbours_in_a_domain_stay_neighbours(fit):
    pair, kept = hard_pair(), []
    for domain_weight in (0.0, 1e4):
        model = fit(pair, domain_weight=domain_weight, n_components=2, scaling="none", max_iter=2)
        Z = model.transform(pair.X_target)
        nearest = np.argsort(pairwise_distances(pair.X_target), axis=1)[:, 1:6]
        distances = pairwise_distances(Z) / Z.std()
        kept.append(np.take_along_axis(distances, nearest, axis=1).mean())
    assert kept[1] < 0.9 * kept[0]


@case("n_neighbors", "CLGA")
def the_graphs_have_as_many_neighbours(fit):
    """One, five and all rows as neighbours are three problems; which ones, the oracle of CLGA says."""
    pair = hard_pair()
    few, default, many = (fit(pair, n_neighbors=k, max_iter=1).transform(pair.X_target) for k in (1, 5, 104))
    assert not np.allclose(np.abs(few), np.abs(many))
    assert not np.allclose(np.abs(few), np.abs(default))
