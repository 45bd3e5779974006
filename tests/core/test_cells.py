"""Search in overlapping cells against an exact search, and the parts of it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lpjt.core import cells, neighbors


def rows(n=2000, width=6, *, n_classes=8, seed=0):
    """Gaussian classes with a falling spectrum, as embedded rows have."""
    rng = np.random.default_rng(seed)
    means = 1.5 * rng.normal(size=(n_classes, width))
    return (
        means[rng.integers(n_classes, size=n)] + rng.normal(size=(n, width)) / np.sqrt(np.arange(1, width + 1))
    ).astype("f4")


def true_neighbors(X, k):
    """By a matrix of all distances, which shares no code with the package."""
    X = X.astype(float)
    norms = (X**2).sum(axis=1)
    D = norms[:, None] + norms - 2 * X @ X.T
    np.fill_diagonal(D, np.inf)
    return np.argsort(D, axis=1, kind="stable")[:, :k]


def assign(X, n_cells):
    centers = cells.cell_centers(X[::2], n_cells)
    return centers, cells.nearest_cells(X, centers)


def test_one_cell_that_has_all_rows_is_searched_exactly():
    X = rows(500)
    found = cells.search_cells(X, np.zeros((500, 1), dtype=int), 7)
    assert_array_equal(found.indices, true_neighbors(X, 7))
    direct = ((X[:, None] - X[found.indices]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found.squared, direct, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("faiss", [True, False])
def test_two_cells_per_row_find_more_than_one_and_what_is_expected(faiss, monkeypatch):
    if not faiss:
        monkeypatch.setattr(neighbors.importlib.util, "find_spec", lambda name: None)
    X, k = rows(), 10
    true = true_neighbors(X, k)
    _, of_rows = assign(X, 24)
    found = [cells.recall(cells.search_cells(X, of_rows[:, :r], k).indices, true) for r in (1, 2, 4)]
    assert found[0] < 0.9 < 0.95 < found[1] < found[2]
    for r, recall in zip((1, 2, 4), found, strict=True):  # known before the search, from the cells alone
        assert cells.shared_recall(of_rows, of_rows[true], r) == pytest.approx(recall, abs=1e-3)


def test_order_of_the_rows_does_not_matter():
    X, k = rows(800), 5
    _, of_rows = assign(X, 6)
    order = np.random.default_rng(1).permutation(800)
    found = cells.search_cells(X, of_rows[:, :2], k)
    shuffled = cells.search_cells(X[order], of_rows[order, :2], k)
    assert_array_equal(order[shuffled.indices], found.indices[order])


def test_cells_that_are_not_asked_for_are_not_searched():
    X = rows(60)
    of_rows = np.where(np.arange(60)[:, None] < 30, [[0, -1]], [[1, -1]])
    of_rows[59] = -1
    found = cells.search_cells(X, of_rows, 4).indices
    assert (found[:30] < 30).all()
    assert ((found[30:59] >= 30) & (found[30:59] < 59)).all()
    assert_array_equal(found[59], -1)


def test_fewer_rows_than_neighbours():
    X = rows(4)
    found = cells.search_cells(X, np.zeros((4, 1), dtype=int), 6)
    assert_array_equal(np.sort(found.indices[:, :3], axis=1), [[j for j in range(4) if j != i] for i in range(4)])
    assert_array_equal(found.indices[:, 3:], -1)
    assert np.isinf(found.squared[:, 3:]).all()


def test_duplicates_are_neighbours_of_each_other_and_never_of_themselves():
    X = np.repeat(rows(40), 10, axis=0)
    _, of_rows = assign(X, 5)
    found = cells.search_cells(X, of_rows[:, :2], 9)
    assert_array_equal(found.indices // 10, np.repeat(np.arange(40), 10)[:, None] * np.ones(9, dtype=int))
    assert (found.indices != np.arange(400)[:, None]).all()
    assert all(len(set(row)) == 9 for row in found.indices.tolist())


def test_merged_lists_by_hand():
    indices = np.array([[4, 7, 9, 7, 2, -1], [1, 3, -1, 3, -1, -1]])
    squared = np.array([[0.1, 0.5, 0.9, 0.5, 0.2, np.inf], [2.0, 1.0, np.inf, 1.0, np.inf, np.inf]])
    found = cells.merge_lists(indices, squared, 3)
    assert_array_equal(found.indices, [[4, 2, 7], [3, 1, -1]])
    np.testing.assert_allclose(found.squared, [[0.1, 0.2, 0.5], [1.0, 2.0, np.inf]])


def test_merged_parts_are_the_whole():
    """Lists of any parts of the rows, some in two of them, merge to the list of all."""
    X, k = rows(400), 6
    rng = np.random.default_rng(0)
    parts = [rng.permutation(400)[:250], rng.permutation(400)[:250]]
    parts.append(np.setdiff1d(np.arange(400), np.concatenate(parts)))
    lists = [(part, neighbors.nearest_rows(X, X[part], k + 1)) for part in parts]
    indices = np.hstack([part[near.indices] for part, near in lists])
    found = cells.merge_lists(indices, np.hstack([near.squared for _, near in lists]), k + 1)
    assert_array_equal(found.indices[:, 0], np.arange(400))
    assert_array_equal(found.indices[:, 1:], true_neighbors(X, k))


def test_rows_go_to_more_cells_where_two_do_not_suffice(monkeypatch):
    X, k = rows(), 10
    true = true_neighbors(X, k)
    _, of_rows = assign(X, 24)
    monkeypatch.setattr(cells, "LEAST_RECALL", cells.shared_recall(of_rows, of_rows[true], 2))
    assert cells.choose_overlap(of_rows, of_rows[true]) == 2
    monkeypatch.setattr(cells, "LEAST_RECALL", cells.shared_recall(of_rows, of_rows[true], 3))
    assert cells.choose_overlap(of_rows, of_rows[true]) == 3
    monkeypatch.setattr(cells, "LEAST_RECALL", 1.1)
    assert cells.choose_overlap(of_rows, of_rows[true]) == cells.MOST_CELLS
    assert cells.choose_overlap(of_rows[:, :1], of_rows[true][:, :, :1]) == 1


def test_number_of_cells_grows_with_the_rows(monkeypatch):
    monkeypatch.setattr(cells, "CELL_ROWS", 100)
    assert [cells.count_cells(n) for n in (1, 100, 1000, 100_000)] == [1, 2, 20, 2000]


def test_centres_of_few_and_of_equal_rows():
    X = rows(5)
    assert len(cells.cell_centers(X, 9)) == 5
    assert len(cells.cell_centers(np.ones((5, 3), dtype="f4"), 9)) == 1
    assert cells.cell_centers(rows(300), 9).shape == (9, 6)
    assert_array_equal(cells.cell_centers(rows(300), 9), cells.cell_centers(rows(300), 9))


def test_nearest_cells():
    centers = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 9.0]], dtype="f4")
    assert_array_equal(
        cells.nearest_cells(np.array([[1.0, 0.0], [0.0, 8.0]], dtype="f4"), centers), [[0, 1, 2], [2, 0, 1]]
    )


def test_crowded_cells_are_dealt_out_evenly():
    of_rows = np.array([[0, 1]] * 10 + [[2, 1]] * 3)
    split, origins = cells.split_crowded(of_rows, 3, 5)
    assert_array_equal(origins, [0, 1, 2, 0, 1, 1])
    assert np.bincount(split.ravel()).max() <= 5
    assert_array_equal(origins[split], of_rows)
    assert_array_equal(split[:4, 0], [0, 3, 0, 3])
    same, origins = cells.split_crowded(of_rows, 3, 13)
    assert_array_equal(same, of_rows)
    assert_array_equal(origins, range(3))


def test_groups_of_cells_are_bounded_and_of_cells_near_each_other():
    centers = np.column_stack([np.arange(20.0), np.zeros(20)])
    sizes = np.full(20, 10)
    groups = cells.group_cells(centers, sizes, 55)
    assert np.bincount(groups, weights=sizes).max() <= 55
    assert len(np.unique(groups)) <= 6
    assert (np.diff(np.flatnonzero(np.diff(groups))) > 1).all()  # each is a range of the line
    assert_array_equal(np.unique(cells.group_cells(centers, sizes, 3)), range(20))  # a cell is never divided here
    assert_array_equal(cells.group_cells(centers, sizes, 200), 0)


def test_layout_numbers_rows_region_by_region():
    of_rows = np.array([[2, 0], [0, 1], [1, 2], [2, 1], [0, 2]])
    layout = cells.lay_out(of_rows, np.array([0, 0, 1]))
    assert_array_equal(layout.order, [1, 2, 4, 0, 3])
    assert_array_equal(layout.starts, [0, 3, 5])
    assert_array_equal(layout.numbers[layout.order], range(5))
    assert [part.tolist() for part in layout.members] == [[0, 1, 2, 3, 4], [0, 2, 3, 4]]
    assert [layout.own(g).tolist() for g in (0, 1)] == [[1, 2, 4], [0, 3]]


def test_a_row_is_a_member_of_each_of_its_regions_once():
    rng = np.random.default_rng(0)
    of_rows, groups = rng.integers(30, size=(400, 5)), rng.permutation(np.arange(30) % 4)
    layout = cells.lay_out(of_rows, groups)
    for g, members in enumerate(layout.members):
        assert_array_equal(members, np.flatnonzero((groups[of_rows] == g).any(axis=1)))
        assert_array_equal(layout.own(g), np.flatnonzero(groups[of_rows[:, 0]] == g))


def test_recall_by_hand():
    assert cells.recall(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[3, 9], [6, 5]])) == 0.75
