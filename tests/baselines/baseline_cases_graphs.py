"""Cases of the parameters of methods whose projection has graph Laplacians."""

import numpy as np
from baseline_cases import case, easy_pair, hard_pair
from baseline_cases_shared import (
    components_are_the_columns_of_the_embedding,
    iterations_are_counted,
    less_regularisation_brings_the_means_closer,
)
from sklearn.metrics import pairwise_distances

case("n_components", "CLGA", "AGECS")(components_are_the_columns_of_the_embedding)
case("max_iter", "CLGA", "AGECS")(iterations_are_counted)


@case("regularization", "CLGA", "AGECS")
def less_regularisation_brings_the_means_closer_beside_graphs(fit):
    """Graph terms of weight 0, which would hold the means apart in the same way whatever the regularisation."""
    weights = {
        "CLGA": {"compactness_weight": 0.0, "separation_weight": 0.0, "domain_weight": 0.0},
        "AGECS": {"graph_weight": 0.0},
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


@case("graph_weight", "AGECS")
def similar_rows_come_closer(fit):
    pair, apart = hard_pair(), []
    for graph_weight in (0.0, 1e3):
        model = fit(pair, graph_weight=graph_weight, n_components=2, max_iter=1, n_neighbors=5)
        distances = pairwise_distances(_embedded(model, pair)) ** 2
        apart.append((model.similarities_.toarray() * distances).sum())
    assert apart[1] < 0.9 * apart[0]


@case("balance", "AGECS")
def balance_is_the_share_of_the_class_means(fit):
    pair, gaps = hard_pair(), []
    setting = {"n_components": 3, "regularization": 1e-6, "graph_weight": 0.0, "max_iter": 1, "scaling": "none"}
    for balance in (0.0, 1.0):
        model = fit(pair, balance=balance, **setting)
        rows = [model.transform(pair.X, "source"), model.transform(pair.X_target)]
        gaps.append(np.linalg.norm(rows[0].mean(axis=0) - rows[1].mean(axis=0)) / np.vstack(rows).std())
    assert gaps[0] < 0.1 * gaps[1]  # at 0 only the means of all rows have to meet


@case("n_neighbors", "AGECS")
def a_row_has_as_many_neighbours(fit):
    """Entries of a row; in the first graph the last of them is 0."""
    for n_neighbors in (4, 9):
        model = fit(easy_pair(), n_neighbors=n_neighbors, max_iter=1)
        assert set(np.diff(model.similarities_.indptr)) == {n_neighbors}
        n_positive = (model.similarities_.toarray() > 1e-12).sum(axis=1)
        assert n_neighbors - 1 <= n_positive.max() <= n_neighbors


@case("semantic_weight", "AGECS")
def the_semantic_weight_favours_neighbours_of_the_same_label(fit):
    pair, shares = hard_pair(), []
    for semantic_weight in (0.0, 0.5):
        model = fit(pair, semantic_weight=semantic_weight, max_iter=1, n_neighbors=10)
        S = model.similarities_.toarray()[: len(pair.y), : len(pair.y)]
        shares.append((S * (pair.y[:, None] == pair.y)).sum() / len(pair.y))
    assert shares[1] > shares[0] + 0.05


@case("graph_step", "AGECS")
def the_graph_follows_the_embedding_by_the_step(fit):
    pair = hard_pair()
    first = fit(pair, max_iter=1, n_neighbors=5).similarities_.toarray()
    kept, mixed, new = (fit(pair, graph_step=step, max_iter=2, n_neighbors=5).similarities_ for step in (0.0, 0.5, 1.0))
    assert np.allclose(kept.toarray(), first)
    assert not np.allclose(new.toarray(), first)
    assert np.allclose(mixed.toarray(), (first + new.toarray()) / 2)


@case("gamma", "AGECS")
def gamma_is_the_width_of_the_regression(fit):
    """With a narrow kernel rows away from every source row have values near 0, with a wide one they have not."""
    pair, sizes = hard_pair(), []
    for gamma in (0.01, 1e4):
        model = fit(pair, gamma=gamma, max_iter=1)
        Z = model.transform(pair.X_target)
        values = model._regression.values_of(Z / np.linalg.norm(Z, axis=1)[:, None])
        sizes.append(np.abs(values).max())
    assert sizes[0] > 0.1
    assert sizes[1] < 1e-3


@case("shrinkage", "AGECS")
def more_shrinkage_makes_the_regression_smaller(fit):
    weak, strong = (fit(hard_pair(), shrinkage=s, max_iter=1)._regression.coefficients for s in (1e-3, 100.0))
    assert np.abs(strong).max() < 0.05 * np.abs(weak).max()


@case("kernel_rows", "AGECS")
def kernel_rows_bound_the_terms_of_the_regression(fit):
    for kernel_rows in (10, 25):
        assert fit(easy_pair(), kernel_rows=kernel_rows)._regression.rows.shape[0] == kernel_rows
