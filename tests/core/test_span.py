"""Rows in fewer columns: distances to and among them stay."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.core import propagation, span
from lpjt.core.span import in_span


def rows_of_rank(n, rank, width, *, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, width))
    return (Z / np.linalg.norm(Z, axis=1, keepdims=True)).astype(dtype)


def distances(queries, candidates):
    return np.array([[((q - c) ** 2).sum() for c in candidates] for q in queries.astype(float)])


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(span, "WIDE", 20)


@pytest.mark.parametrize("rank_of_others", [3, 20])
def test_distances_to_and_among_the_rows_stay(small, rank_of_others):
    rows, others = rows_of_rank(90, 6, 20), rows_of_rank(30, rank_of_others, 20, seed=1)
    found_others, found = in_span(others, rows)
    assert found.shape == (90, 7)
    assert found_others.shape == (30, 7)
    assert found.dtype == found_others.dtype == np.float32
    assert_allclose(distances(found, found_others), distances(rows, others), atol=2e-6)
    assert_allclose(distances(found, found), distances(rows, rows), atol=2e-6)


@pytest.mark.parametrize("case", ["narrow", "few", "float64", "full rank", "others in float64"])
def test_other_rows_are_left_as_they_are(small, monkeypatch, case):
    if case == "narrow":
        monkeypatch.setattr(span, "WIDE", 21)
    rows = rows_of_rank(79 if case == "few" else 80, 20 if case == "full rank" else 6, 20)
    rows = rows.astype(np.float64) if case == "float64" else rows
    others = rows_of_rank(30, 6, 20, dtype=np.float64 if case == "others in float64" else np.float32)
    found = in_span(others, rows)
    assert found[0] is others
    assert found[1] is rows


def test_the_span_must_be_worth_it(small, monkeypatch):
    others, rows = rows_of_rank(30, 6, 20), rows_of_rank(90, 14, 20)
    assert in_span(others, rows)[1].shape[1] == 15  # 0.75 of 20
    more = rows_of_rank(90, 15, 20)
    assert in_span(others, more)[1] is more


def test_a_row_outside_of_the_span_of_the_looked_at_ones_is_noticed(small):
    rows, others = rows_of_rank(90, 6, 20), rows_of_rank(30, 6, 20)
    rows[1] = rows_of_rank(1, 1, 20, seed=2)[0]  # every fourth row is looked at
    assert in_span(others, rows)[1] is rows


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_an_exact_search_finds_the_same_neighbours_in_the_span(small, monkeypatch, search):
    rows, others = rows_of_rank(300, 6, 20), rows_of_rank(250, 20, 20, seed=1)
    widths, search_all = [], propagation.nearest_rows

    def spy(queries, candidates, k, *, search):
        widths.append((queries.shape[1], candidates.shape[1]))
        return search_all(queries, candidates, k, search="exact")

    monkeypatch.setattr(propagation, "nearest_rows", spy)
    monkeypatch.setattr(propagation, "nearest_others", lambda X, k, *, search: spy(X, X, k, search=search))
    found = propagation.find_neighborhoods(others, rows, 5, search=search)
    assert set(widths) == ({(7, 7)} if search == "exact" else {(20, 20)})
    expected = np.argsort(distances(rows, others), axis=1)[:, :5]
    agree = (found.known.indices == expected).mean()
    assert agree > 0.999
    assert_array_equal(found.n_known, 250)
