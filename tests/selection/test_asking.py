"""Which rows to ask for: the order against loops, and what becomes of classes, given labels and few rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lpjt.selection.asking import classes_in_question, first_rows, merge_orders, order_rows


def random_rows(seed=0, n=40, n_classes=3, n_given=5):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4)) + 3 * rng.integers(0, 2, size=(n, 1))
    F = rng.dirichlet(np.ones(n_classes), size=n)
    given = np.zeros(n, dtype=bool)
    given[rng.permutation(n)[:n_given]] = True
    return Z, F, given


def naive_order(Z, F, given, n, absent):
    """The same order by loops, everything found again at each step."""
    rows = range(len(Z))
    squared = [[sum((a - b) ** 2 for a, b in zip(Z[i], Z[j], strict=True)) for j in rows] for i in rows]
    width = np.median([sorted(line)[min(10, len(Z) - 1)] for line in squared])
    like = np.exp(-np.array(squared) / width)
    doubt = [0.0 if given[i] else 1 - max(F[i]) + 0.02 for i in rows]
    known, order, reasons = [i for i in rows if given[i]], [], []

    def covered(i, by):
        return max((like[i][j] for j in by), default=0.0)

    def worth(j, by):
        return sum(doubt[i] * max(0.0, like[i][j] - covered(i, by)) for i in rows)

    in_question = classes_in_question(F[~given], absent)
    left = [k for k in np.argsort(-F[~given].sum(axis=0), kind="stable") if in_question[k]]
    free = [i for i in rows if not given[i]]
    while len(order) < min(n, len(free)):
        open_rows = [j for j in free if j not in order]
        if len(order) % 2 and left:
            return order, reasons  # the rule for classes is tested by itself
        best = max(open_rows, key=lambda j: (worth(j, known + order), -j))
        order.append(best)
        reasons.append(-1)
        left = [k for k in left if F[best][k] < max(F[i][k] for i in free) / 2]
    return order, reasons


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_given", [0, 5])
def test_the_order_is_that_of_loops(seed, n_given):
    Z, F, given = random_rows(seed, n_given=n_given)
    expected, reasons = naive_order(Z, F, given, 12, None)
    order, found = order_rows(Z, F, given, 12)
    assert len(expected) >= 1
    assert_array_equal(order[: len(expected)], expected)
    assert_array_equal(found[: len(expected)], reasons)


def test_without_a_class_in_question_the_whole_order_is_that_of_loops():
    Z, _, given = random_rows(7)
    F = np.full((40, 2), 0.4)
    F[np.arange(40), np.arange(40) % 2] = 0.6
    F[::3] = [0.9, 0.1]
    assert not classes_in_question(F[~given]).any()
    expected, _ = naive_order(Z, F, given, 35, None)
    assert len(expected) == 35
    assert_array_equal(order_rows(Z, F, given, 35)[0], expected)


def test_a_row_in_doubt_among_many_comes_before_one_alone_and_a_second_of_the_same_place():
    """Two places of rows in doubt, one with ten rows and one with two, and sure rows elsewhere."""
    Z = np.vstack([np.zeros((10, 2)), np.full((2, 2), 5.0), np.full((10, 2), -5.0)])
    Z += 0.01 * np.random.default_rng(0).normal(size=Z.shape)
    F = np.vstack([np.tile([0.55, 0.45], (12, 1)), np.tile([0.999, 0.001], (10, 1))])
    order, _ = order_rows(Z, F, np.zeros(22, dtype=bool), 3)
    assert order[0] < 10
    assert {*order[:2].tolist()} & {10, 11}
    assert_array_equal(np.sort(np.unique(Z[order].round())), [-5, 0, 5])


def test_rows_near_a_given_label_are_asked_last():
    Z = np.vstack([np.zeros((5, 2)), np.full((5, 2), 4.0)]) + 0.01 * np.random.default_rng(0).normal(size=(10, 2))
    F = np.tile([0.6, 0.4], (10, 1))
    given = np.arange(10) == 0
    assert order_rows(Z, F, given, 1)[0][0] >= 5


def test_every_class_in_question_is_asked_about_if_there_is_room():
    rng = np.random.default_rng(3)
    Z, F = rng.normal(size=(50, 3)), np.tile([0.9, 0.02, 0.02, 0.02, 0.04], (50, 1))
    for k, row in ((1, 11), (2, 22), (3, 33)):
        F[row] = 0.02
        F[row, [0, k]] = [0.6, 0.34]
    wanted = classes_in_question(F)
    assert_array_equal(np.flatnonzero(wanted), [1, 2, 3])  # no row could be of the last class
    order, reasons = order_rows(Z, F, np.zeros(50, dtype=bool), 30)
    assert {11, 22, 33} <= set(first_rows(order, reasons, 4).tolist())
    assert all(F[row, k] == F[:, k].max() for row, k in zip(order, reasons, strict=True) if k >= 0)


def test_absent_classes_are_in_question_only_if_a_row_may_be_of_them():
    F = np.array([[0.6, 0.3, 0.1, 0.0], [0.2, 0.7, 0.1, 0.0], [0.6, 0.3, 0.08, 0.02]])
    absent = np.array([False, False, True, True])
    assert classes_in_question(F, absent).tolist() == [False, False, True, False]
    assert classes_in_question(F[:0], absent).tolist() == [False] * 4
    assert classes_in_question(np.ones((3, 1))).tolist() == [False]


@pytest.mark.parametrize(("n_rows", "n_given", "n", "left"), [(1, 0, 5, 1), (1, 1, 5, 0), (6, 6, 3, 0), (6, 2, 9, 4)])
def test_few_rows(n_rows, n_given, n, left):
    Z, F = np.zeros((n_rows, 2)), np.full((n_rows, 2), 0.5)
    order, reasons = order_rows(Z, F, np.arange(n_rows) < n_given, n)
    assert len(order) == len(reasons) == left == len(set(order.tolist()))
    assert (order >= n_given).all()
    assert len(first_rows(order, reasons, n)) == left


def test_one_class():
    order, _ = order_rows(np.random.default_rng(0).normal(size=(9, 2)), np.ones((9, 1)), np.zeros(9, dtype=bool), 4)
    assert len(set(order.tolist())) == 4


def test_the_first_rows_keep_their_order_and_those_of_classes():
    order, reasons = np.array([9, 8, 7, 6, 5]), np.array([-1, -1, 2, -1, 0])
    assert first_rows(order, reasons, 3).tolist() == [9, 7, 5]
    assert first_rows(order, reasons, 1).tolist() == [7]
    assert first_rows(order, reasons, 4).tolist() == [9, 8, 7, 5]


def test_several_orders_take_turns():
    found = merge_orders([np.array([[1], [2], [3]]), np.array([[10]])])
    assert found[:, 0].tolist() == [1, 10, 2, 3]
