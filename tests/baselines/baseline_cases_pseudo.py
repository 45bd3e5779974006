"""Cases of the parameters of methods that learn from pseudo labels of the target."""

import numpy as np
from baseline_cases import case, easy_pair, hard_pair
from numpy.testing import assert_array_equal

from lpjt import baselines


@case("pca_components", "SPL")
def principal_components_bound_the_rank_of_the_embedding(fit):
    pair = easy_pair()
    rows = np.vstack([pair.X, pair.X_target])
    for pca_components in (2, 4):
        model = fit(pair, pca_components=pca_components, max_iter=2, scaling="none")
        assert model.transform(pair.X_target).shape[1] == pca_components
        # The embedding is a function of these components alone: rows that agree in them are embedded alike.
        directions = np.linalg.svd(rows - rows.mean(axis=0))[2]
        moved = pair.X_target + directions[pca_components]
        assert np.allclose(model.transform(moved), model.transform(pair.X_target))


@case("smoothing", "LSC")
def smoothing_pulls_the_scores_of_neighbours_together(fit):
    pair = hard_pair(seed=1)
    plain = baselines.JDA(n_components=4).fit_predict(*pair[:3])
    assert_array_equal(fit(pair, smoothing=0.0, n_components=4).transduction_, plain)
    weak, strong = (fit(pair, smoothing=smoothing, n_components=4, max_iter=1) for smoothing in (0.2, 0.95))
    # Shares of the classes: the more they are smoothed, the less they differ from row to row.
    spreads = [(m.scores_ / m.scores_.sum(axis=1, keepdims=True)).std(axis=0).mean() for m in (weak, strong)]
    assert spreads[1] < 0.5 * spreads[0]


@case("n_neighbors", "LSC")
def scores_come_from_the_neighbours(fit):
    """With few neighbours a row in a far corner of the graph has no part of the classes that are not near it."""
    pair = easy_pair()
    few, all_rows = (fit(pair, n_neighbors=k, max_iter=1) for k in (2, len(pair.X_target) - 1))
    assert (few.scores_ < 1e-12).any()
    assert (all_rows.scores_ > 1e-12).all()


@case("corruption", "RTML")
def corruption_takes_the_weight_from_what_other_columns_do_not_confirm(fit):
    """Two noisy copies of each column: clean rows are restored by I, corrupted ones by sums of the copies."""
    pair = easy_pair(shift=0.0)
    noise = 0.05 * np.random.default_rng(0).normal(size=(2, *pair.X.shape))
    twice = np.column_stack([pair.X + noise[0], pair.X + noise[1]])
    same = pair._replace(X=twice, X_target=twice, y_target=pair.y, given=None)
    clean, corrupted = (fit(same, corruption=p, rank_weight=0.0, scaling="none").metric_ for p in (0.0, 0.8))
    assert np.allclose(clean, np.eye(16))
    sums, differences = np.vstack([np.eye(8), np.eye(8)]), np.vstack([np.eye(8), -np.eye(8)])
    weights = [np.trace(D.T @ corrupted @ D) for D in (sums, differences)]
    assert weights[1] < 0.01 * weights[0]


@case("denoising_weight", "RTML")
def denoising_keeps_directions_along_which_the_domains_differ(fit):
    pair = easy_pair(shift=2.0)._replace(given=None)
    gap = pair.X.mean(axis=0) - pair.X_target.mean(axis=0)
    weak, strong = (fit(pair, denoising_weight=w, max_iter=1, scaling="none").metric_ for w in (0.1, 100.0))
    shares = [gap @ M @ gap / (gap @ gap) / np.trace(M) for M in (weak, strong)]
    assert shares[0] < 0.05 * shares[1]


@case("rank_weight", "RTML")
def a_weight_of_the_rank_empties_what_is_beyond_it(fit):
    beyond = []
    for weight in (0.0, 100.0):
        model = fit(hard_pair(seed=1), rank_weight=weight, n_components=3, max_iter=2)
        values = np.linalg.eigvalsh(model.metric_)
        beyond.append(values[:-3].max() / values[-1])
    assert beyond[1] < 0.01 < 0.1 < beyond[0]
