"""Graphs are the same matrices, dense or sparse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lpjt.core import edges
from lpjt.core.blocks import as_dense

ROWS, COLUMNS, WEIGHTS = np.array([0, 0, 2]), np.array([1, 3, 0]), np.array([0.5, 2.0, 3.0])
EXPECTED = np.array([[0, 0.5, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0]])


@pytest.fixture(params=[np.ndarray, sparse.csr_array])
def graph(request, monkeypatch):
    """The graph of EXPECTED, in both forms."""
    monkeypatch.setattr(edges, "SMALL_GRAPH", 16 if request.param is np.ndarray else 15)
    found = edges.make_graph(WEIGHTS, ROWS, COLUMNS, (4, 4))
    assert type(found) is request.param
    return found


def test_edges_are_where_they_were_given(graph):
    assert_array_equal(as_dense(graph), EXPECTED)
    assert_array_equal(edges.degrees(graph), [2.5, 0, 3, 0])


def test_an_edge_joins_both_of_its_rows_by_the_larger_weight(graph):
    found = edges.symmetrise(graph)
    assert type(found) is type(graph)
    assert_array_equal(as_dense(found), np.maximum(EXPECTED, EXPECTED.T))


def test_edges_are_scaled_by_the_factors_of_both_rows(graph):
    factors = np.array([1.0, 2.0, 3.0, 5.0])
    found = edges.scale_edges(graph, factors)
    assert type(found) is type(graph)
    assert_allclose(as_dense(found), EXPECTED * np.outer(factors, factors))


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_the_diagonal_grows_in_place_whatever_the_memory_order(order):
    A = np.ones((6, 6))[::2, ::2] if order == "strided" else np.ones((3, 3), order=order)
    edges.add_to_diagonal(A, np.array([1.0, 2.0, 3.0]))
    assert_array_equal(A, 1 + np.diag([1.0, 2.0, 3.0]))
