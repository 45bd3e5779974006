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


@case("margin_weight", "PUnDA")
def a_heavier_margin_leaves_fewer_source_rows_inside_of_it(fit):
    """Decisions of the source rows, by the classifier of the latent space."""
    pair, losses = hard_pair(seed=1), []
    signs = np.where(pair.y[:, None] == np.arange(4), 1.0, -1.0)
    for weight in (1e-4, 1e2):
        model = fit(pair, margin_weight=weight)
        decisions = model.transform(pair.X, "source") @ model.coef_.T + model.intercept_
        losses.append(np.mean(np.maximum(0.0, 1 - signs * decisions) ** 2))
    assert losses[1] < 0.8 * losses[0]


@case("alignment_weight", "PUnDA")
def alignment_brings_the_class_means_of_the_domains_together(fit):
    """Gaps of the latent means of classes with given labels, over the length of the means."""
    pair = easy_pair(shift=0.0, apart=1.5)
    turned = pair._replace(X_target=pair.X_target @ _rotation(8, 0.5), given=pair.y_target)
    gaps = []
    for weight in (0.0, 100.0):
        model = fit(turned, alignment_weight=weight, n_components=2, scaling="none")
        Z, Z_target = model.transform(pair.X, "source"), model.transform(turned.X_target)
        means, means_target = (
            np.array([z[y == c].mean(axis=0) for c in range(3)]) for z, y in ((Z, pair.y), (Z_target, pair.y_target))
        )
        gaps.append(np.linalg.norm(means - means_target) / np.linalg.norm(means))
    assert gaps[1] < 0.1 * gaps[0]


def _rotation(width, angle):
    """Turns neighbouring pairs of columns by an angle."""
    block = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.kron(np.eye(width // 2), block)
