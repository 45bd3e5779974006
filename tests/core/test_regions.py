"""Propagation in regions against one system of the whole graph, made with loops."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core import regions
from lpjt.core.neighbors import Neighbors, nearest_others, nearest_rows
from lpjt.core.propagation import Neighborhoods, anchored_labels, harmonic_solution

N_VOTES, SMOOTHING, K = 3, 0.8, 5


def problem(n=90, n_known=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_known) % 3
    Z_known = rng.normal(size=(n_known, 4)) + 2.5 * np.eye(3, 4)[y]
    Z = rng.normal(size=(n, 4)) + 2.5 * np.eye(3, 4)[np.arange(n) % 3]
    return nearest_others(Z, K), nearest_rows(Z, Z_known, K), y


def part(near, rows):
    return Neighbors(near.indices[rows], near.squared[rows])


def split(near, known, starts):
    return [regions.make_links(part(near, slice(a, b)), part(known, slice(a, b)), N_VOTES) for a, b in pairwise(starts)]


def systems_of(links, starts, y):
    bandwidths = regions.mean_lengths([regions.length_sums(each) for each in links])
    pairs = list(pairwise(starts))
    return [
        regions.make_system(
            links[g],
            a,
            [regions.edges_between(links[h], pairs[h][0], a, b) for h in range(len(links)) if h != g],
            y,
            3,
            bandwidths,
        )
        for g, (a, b) in enumerate(pairs)
    ]


def solve(systems, n_rounds):
    F = np.vstack([regions.first_values(system) for system in systems])
    for _ in range(n_rounds):
        F = np.vstack([regions.solve_region(system, F[system.halo], SMOOTHING, tol=1e-9) for system in systems])
    return F


def whole(near, known, y):
    """Both solutions by the functions of the graph in one piece."""
    Y = np.eye(3)[y]
    graph = Neighborhoods(known, near, len(y))
    return np.hstack(
        [
            anchored_labels(graph.votes(Y, N_VOTES), graph.graph, SMOOTHING, tol=1e-9),
            harmonic_solution(*graph.blocks(), Y, tol=1e-9),
        ]
    )


@pytest.mark.parametrize("starts", [[0, 90], [0, 40, 90], [0, 10, 10, 55, 90]], ids=str)
def test_regions_converge_to_the_solution_of_the_whole_graph(starts):
    near, known, y = problem()
    systems = systems_of(split(near, known, starts), starts, y)
    expected = whole(near, known, y)
    assert_allclose(solve(systems, 40), expected, atol=2e-5)
    errors = [np.abs(solve(systems, n) - expected).max() for n in (0, 2, 8)]
    assert errors[0] > 0.1
    assert errors[2] < 0.02
    if len(starts) == 2:
        assert errors[1] < 1e-5  # nothing to exchange
        assert not len(systems[0].halo)


def test_edges_are_the_same_from_both_ends():
    near, known, y = problem()
    starts = [0, 40, 90]
    one, other = systems_of(split(near, known, starts), starts, y)
    for kind in ("anchored", "harmonic"):
        there, back = (getattr(system, kind)[1] for system in (one, other))
        W, V = np.zeros((40, 50)), np.zeros((50, 40))
        W[:, one.halo - 40] = there.toarray()
        V[:, other.halo] = back.toarray()
        assert_allclose(W, V.T)
        assert W.any()


def test_numbers_of_edges_by_region():
    near, known, _ = problem()
    links = split(near, known, [0, 40, 90])
    for each in links:
        counts = regions.count_edges(each, np.array([0, 40]))
        assert_array_equal(counts, [(each.near.indices < 40).sum(), (each.near.indices >= 40).sum()])


def test_missing_neighbours_have_no_edges():
    near, known, y = problem()
    near.indices[:, 3:], near.squared[:, 3:] = -1, np.inf
    (links,) = split(near, known, [0, 90])
    assert not links.kept[:, 3:].any()
    (system,) = systems_of([links], [0, 90], y)
    full = systems_of(split(part(near, slice(None)).first(3), known, [0, 90]), [0, 90], y)[0]
    assert_allclose(system.anchored[0].toarray(), full.anchored[0].toarray())


def test_changed_rows_of_either_solution_count_once():
    F = np.array([[0.9, 0.1, 0.2, 0.8], [0.6, 0.4, 0.6, 0.4], [0.3, 0.7, 0.3, 0.7]])
    G = np.array([[0.1, 0.9, 0.8, 0.2], [0.7, 0.3, 0.4, 0.6], [0.4, 0.6, 0.1, 0.9]])
    assert regions.count_changed(F, G) == 2
    assert regions.count_changed(F, F) == 0
