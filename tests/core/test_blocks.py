"""Blocks of rows: where they begin and end, what threads make of them, and rows that stay on disk."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt._threads import threads
from lpjt.core import blocks
from lpjt.core.blocks import (
    Chunked,
    disk_array,
    gram_blocks,
    multiply,
    pick_rows,
    row_blocks,
    stack_rows,
    sum_blocks,
)


def ends(shape, *entries):
    return [(block.start, block.stop) for block in row_blocks(np.broadcast_to(0.0, shape), *entries)]


def test_blocks_have_at_most_the_entries_asked_for():
    assert ends((10, 3), 12) == [(0, 4), (4, 8), (8, 10)]
    assert ends((10, 3), 11) == [(0, 3), (3, 6), (6, 9), (9, 10)]
    assert ends((8, 3), 12) == [(0, 4), (4, 8)]
    assert ends((3, 100), 12) == [(0, 1), (1, 2), (2, 3)]  # a row is never divided
    assert ends((5, 0), 12) == [(0, 5)]
    assert ends((0, 4), 12) == []


def test_many_entries_are_cut_into_fours():
    few, many = blocks.WORTH_SHARING - 1, blocks.WORTH_SHARING
    assert ends((few, 1)) == [(0, few)]
    assert ends((many, 1)) == [
        (0, many // 4),
        (many // 4, many // 2),
        (many // 2, 3 * many // 4),
        (3 * many // 4, many),
    ]
    # Five blocks would be enough for the entries: eight are made, so that four threads have two each.
    assert len(ends((5 * 2**14, 1), 2**14)) == 8
    assert len(ends((8 * 2**14, 1), 2**14)) == 8


def test_one_thread_has_no_more_blocks_of_a_gram_matrix_than_their_entries_ask_for():
    X = np.broadcast_to(0.0, (5 * 2**14, 1))
    assert [len(gram_blocks(X, entries)) for entries in (2**14, 2**20)] == [5, 1]
    with threads(1):
        assert len(gram_blocks(X)) == 1
    with threads(2):
        assert gram_blocks(X, 2**14) == row_blocks(X, 2**14)
        assert len(gram_blocks(X)) == blocks.SHARES


def test_the_default_block_has_a_million_entries():
    assert ends((2**22, 1))[0] == (0, 2**20)
    assert ends((8 * 2**20, 1))[0] == (0, 2**20)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 16])
@pytest.mark.parametrize("n_blocks", [0, 1, 5])
def test_sums_over_blocks(n_jobs, n_blocks):
    with threads(n_jobs):
        found = sum_blocks(lambda i: np.full((2, 3), i, dtype=np.float32), range(n_blocks), (2, 3))
    assert found.dtype == np.float64
    assert_array_equal(found, np.full((2, 3), sum(range(n_blocks))))


def test_the_result_of_a_block_is_not_changed_by_the_sum():
    parts = [np.ones(2), np.ones(2)]
    assert_array_equal(sum_blocks(lambda i: parts[i], [0, 1], (2,)), [2.0, 2.0])
    assert_array_equal(parts, np.ones((2, 2)))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_have_the_dtype_of_the_rows(dtype, n_jobs):
    rng = np.random.default_rng(0)
    X, M = rng.normal(size=(3000, 30)).astype(dtype), rng.normal(size=(30, 4))
    assert len(row_blocks(X)) == 4
    with threads(n_jobs):
        found = multiply(X, M)
    assert found.dtype == dtype
    assert_allclose(found, X @ M, rtol=1e-4 if dtype == np.float32 else 1e-12, atol=1e-4 if dtype == np.float32 else 0)


class Stored:
    """Rows that can be read in slices only, as in a file; it counts the rows read."""

    def __init__(self, rows):
        self.rows, self.shape, self.dtype, self.n_read = rows, rows.shape, rows.dtype, 0

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        self.n_read += len(self.rows[rows])
        return self.rows[rows]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.float32, np.float32), (np.float64, np.float64), (np.int16, np.float64), (bool, np.float64)],
)
def test_rows_on_disk_look_like_an_array(dtype, expected):
    rows = (np.arange(12).reshape(4, 3) % 2).astype(dtype)
    held = Chunked(Stored(rows))
    assert held.shape == (4, 3)
    assert len(held) == 4
    assert held.ndim == 2
    assert held.dtype == expected
    assert held.nbytes == rows.astype(expected).nbytes
    assert held[:].dtype == held[[0]].dtype == expected
    assert_array_equal(held[:], rows)


def test_rows_on_disk_are_read_once_in_any_order(monkeypatch):
    monkeypatch.setattr(row_blocks, "__defaults__", (30,))  # ten rows at a time
    X = np.random.default_rng(0).normal(size=(47, 3))
    stored = Stored(X)
    held = Chunked(stored)
    for asked in (slice(3, 8), slice(-5, None), slice(None, None, 7), slice(40, 2, -3)):
        assert_array_equal(held[asked], X[asked])
    mask = np.arange(47) % 4 == 1
    assert_array_equal(held[mask], X[mask])
    stored.n_read = 0
    places = np.array([31, 2, 2, 38, 9])
    assert_array_equal(held[places], X[places])
    assert stored.n_read == 20  # the blocks of rows 0 to 9 and 30 to 39, and no other
    stored.n_read = 0
    assert_array_equal(held[10:13], X[10:13])
    assert stored.n_read == 3
    assert held[np.empty(0, dtype=int)].shape == (0, 3)


def test_arrays_on_disk_leave_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    held = disk_array((3, 2), np.float32)
    held[:] = 7
    assert (held.shape, held.dtype) == ((3, 2), np.float32)
    assert held.sum() == 42
    assert not list(tmp_path.iterdir())


def test_rows_are_copied_only_if_they_must_be():
    X = np.arange(6.0).reshape(3, 2)
    assert pick_rows(X, np.ones(3, dtype=bool)) is X
    assert_array_equal(pick_rows(X, np.array([True, False, True])), X[[0, 2]])
    assert stack_rows([X]) is X
    assert stack_rows([X[:0], X, X[:0]]) is X
    none = [X[:0], X[:0]]
    assert stack_rows(none) is none[0]
    assert_array_equal(stack_rows([X, X[:0], X[:1]]), np.vstack([X, X[:1]]))


@pytest.mark.parametrize(
    ("n_jobs", "runs"), [(1, [[0, 1, 2, 3, 4]]), (2, [[0, 1], [2, 3, 4]]), (9, [[0], [1], [2], [3], [4]])]
)
def test_each_thread_adds_a_run_of_blocks(n_jobs, runs, monkeypatch):
    given = []
    map_threads = blocks.map_threads
    monkeypatch.setattr(blocks, "map_threads", lambda f, items: given.extend(map(list, items)) or map_threads(f, items))
    with threads(n_jobs):
        sum_blocks(lambda i: np.ones(1), range(5), (1,))
    assert given == runs


#: Page faults of a hundred times eight temporary arrays of half a megabyte, in a process of its own.
FAULTS = """
import resource
import numpy as np
{first}
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    [np.ones(60_000) for _ in range(8)]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have rules of their own")
def test_freed_memory_is_kept():
    calls = ("", "from lpjt.core.blocks import keep_freed_memory; keep_freed_memory()")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    with_and_without = [
        int(subprocess.check_output([sys.executable, "-c", FAULTS.format(first=first)], env=environment))
        for first in calls
    ]
    assert with_and_without[1] < 5000 < with_and_without[0]
