"""What a memory limit allows: bytes reckoned by hand for each stage, and the plan that follows from them."""

import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from lpjt import Kernel
from lpjt.core import blocks
from lpjt.core.coordinates import principal_basis
from lpjt.core.scaling import fit_scaling
from lpjt.domains import Domain, Domains
from lpjt.fitting.candidate import bound_coordinates
from lpjt.fitting.memory import _principal, within_memory
from lpjt.parameters import make_plan
from problems import one_setting

N_CLASSES = 3


def domain(name, n, width, dtype=np.float64):
    """Rows that take no memory."""
    return Domain(name, np.broadcast_to(np.zeros(1, dtype), (n, width)), np.zeros(n, dtype=np.int64), None)


def domains(*sizes, width=50, n_sources=1, dtype=np.float64):
    all_of_them = [domain(f"d{i}", n, width, dtype) for i, n in enumerate(sizes)]
    return Domains(tuple(all_of_them[:n_sources]), tuple(all_of_them[n_sources:]), np.arange(N_CLASSES))


def plan_for(rows, **parameters):
    given = one_setting(**{"n_components": 10, "n_coordinates": 30, **parameters}).get_params(deep=False)
    largest = max(d.X.shape[0] for d in rows.all)
    return make_plan(given, classes=np.arange(N_CLASSES), widths=[d.X.shape[1] for d in rows.all], n_rows=largest)


def needed(rows, labelled=None, **parameters):
    """Bytes that the error asks for beside the smallest block, to the megabyte above."""
    plan = plan_for(rows, **parameters)
    with pytest.raises(ValueError, match="too small") as caught:
        within_memory(plan, rows, 1, whole=labelled or rows)
    size, unit = re.search(r"\(([\d.]+)(MB|GB) for matrices", str(caught.value)).groups()
    return float(size) * {"MB": 1e6, "GB": 1e9}[unit]


def megabytes(n_bytes):
    return -(-n_bytes // 10**6) * 10**6


def iterations(n_source, n_target, rank, n_neighbors=5, n_components=10):
    """Lists of 64 nearest rows in 16 bytes each; matrices; graphs and embeddings; distributions, solver, graph."""
    matrices = 7 * 8 * (2 * rank) ** 2
    each = 96 * n_neighbors + 6 * 8 * n_components
    unlabelled = 72 * N_CLASSES + 1200
    return 64 * 16 * (n_source + n_target) + matrices + each * (n_source + n_target) + unlabelled * n_target


@pytest.mark.parametrize(("n_source", "n_target"), [(40_000, 30_000), (20_000, 90_000)])
@pytest.mark.parametrize("changes", [{}, {"n_neighbors": 20}, {"n_components": 25}], ids=str)
def test_iterations_on_many_rows(n_source, n_target, changes):
    rows = domains(n_source, n_target)
    found = needed(rows, sample_size=None, neighbor_search="exact", **changes)
    expected = iterations(n_source, n_target, 30, **changes)
    if changes == {"n_neighbors": 20}:  # 80 rows are listed, four times the neighbours
        expected += 16 * 16 * (n_source + n_target)
    assert found == megabytes(expected)


def test_wide_rows_need_their_second_moments():
    rows = domains(300, 200, width=4000)
    expected = 64 * 16 * 500 + 8 * (3 + 1) * 4000**2
    assert needed(rows, neighbor_search="exact") == megabytes(expected)


def test_several_sources_are_stacked_for_the_search():
    """The search's copy of the rows and two lists, instead of the matrices of the iterations."""
    rows = domains(40_000, 40_000, 100, n_sources=2)
    n = 80_100
    listed = 64 * 16 * n
    stacked = 8 * 400 * n
    found = needed(rows, sample_size=None, neighbor_search="exact", n_coordinates=400)
    assert found == megabytes(2 * listed + 8 * 50 * n)  # there are 50 columns, however many coordinates are asked for
    wide = domains(40_000, 40_000, 100, width=500, n_sources=2)
    assert needed(wide, sample_size=None, neighbor_search="exact", n_coordinates=400) == pytest.approx(
        2 * listed + stacked, abs=1e7
    )


def test_one_source_is_not_stacked():
    rows = domains(40_000, 40_100, width=500)
    found = needed(rows, sample_size=None, neighbor_search="exact", n_coordinates=400)
    assert found == megabytes(iterations(40_000, 40_100, 400))


def test_an_approximate_search_has_shorter_lists_and_a_copy_of_the_rows():
    pytest.importorskip("faiss")
    rows = domains(400_000, 300_000, width=50)
    n = 700_000
    exact = needed(rows, sample_size=None, neighbor_search="exact")
    found = needed(rows, sample_size=None, neighbor_search="approximate")
    assert exact - found == pytest.approx((64 * 16 - 32 * 8) * n, abs=1e7)  # told to two digits


def _shard(rows):
    """Bytes to label as many unlabelled rows from as many labelled ones."""
    return 4 * 4 * 10 * 2 * rows + (72 * N_CLASSES + 1200) * rows


def test_a_sample_needs_its_copy_and_the_labels_of_all_rows():
    few, all_rows = domains(1000, 1000), domains(3_000_000, 2_500_000)
    known, unknown = 3_000_000, 2_500_000
    held = 4 * 10 * (known + unknown) + 8 * N_CLASSES * unknown
    shard = _shard(62_500)  # the smallest
    assert needed(few, all_rows, sample_size=1000) == pytest.approx(held + shard, rel=0.003)  # told to two digits
    small = domains(1100, 1100)
    copies = 2 * 1000 * 50 * 8
    assert needed(few, small, sample_size=1000) == megabytes(iterations(1000, 1000, 30) + copies)


@pytest.mark.parametrize(("room", "expected"), [(1.1, None), (0.6, 250_000), (0.3, 125_000), (0.15, 62_500)])
def test_all_rows_are_labelled_in_shards_that_the_limit_allows(room, expected):
    few, all_rows = domains(1000, 1000), domains(1_200_000, 1_200_000)
    held = 4 * 10 * 2_400_000 + 8 * N_CLASSES * 1_200_000
    limit = int(held + room * _shard(500_000)) + 20_000_000  # the last for blocks of rows
    plan = plan_for(few, sample_size=1000)
    assert within_memory(plan, few, limit, whole=all_rows).shard_rows == expected
    assert within_memory(plan, few, limit, whole=all_rows, labels_here=False).shard_rows is None


def test_the_limit_that_the_error_names_is_enough():
    rows = domains(40_000, 30_000)
    plan = plan_for(rows, sample_size=None, neighbor_search="exact")
    with pytest.raises(ValueError, match="at least") as caught:
        within_memory(plan, rows, "2MB", whole=rows)
    told = re.search(r"at least ([\d.]+MB)", str(caught.value))[1]
    assert within_memory(plan, rows, told, whole=rows).on_disk
    less = f"{float(told[:-2]) - 2}MB"
    with pytest.raises(ValueError, match="too small"):
        within_memory(plan, rows, less, whole=rows)


def test_coordinates_go_to_disk_where_they_do_not_fit():
    rows = domains(40_000, 30_000)
    plan = plan_for(rows, sample_size=None, neighbor_search="exact")
    least = iterations(40_000, 30_000, 30)
    smallest = 2**17 * 8 * 4  # one thread, four copies of a block of float64
    coordinates = 70_000 * 30 * 8
    fits = within_memory(plan, rows, least + smallest + coordinates, whole=rows)
    assert not fits.on_disk
    assert fits.block_entries == 2**17
    on_disk = within_memory(plan, rows, least + smallest + coordinates - 1, whole=rows)
    assert on_disk.on_disk
    assert on_disk.block_entries == (smallest + coordinates - 1) // 32
    roomy = within_memory(plan, rows, "4GB", whole=rows)
    assert not roomy.on_disk
    assert roomy.block_entries == 2**24
    assert within_memory(plan, rows, None, whole=rows) is plan


def test_float32_rows_have_larger_blocks():
    plan = plan_for(domains(1000, 1000), sample_size=None)
    entries = [
        within_memory(plan, rows, "60MB", whole=rows).block_entries
        for rows in (domains(1000, 1000, dtype=np.float32), domains(1000, 1000))
    ]
    assert entries[0] == pytest.approx(2 * entries[1], rel=0.02)


def test_coordinates_are_bounded_before_they_are_computed():
    rows = domains(300, 200, width=1000)
    assert bound_coordinates(rows.all, plan_for(rows)) == [30, 30]
    assert bound_coordinates(rows.all, plan_for(rows, n_coordinates=None)) == [500, 500]  # no more than rows
    assert bound_coordinates(rows.all, plan_for(rows, n_coordinates="auto")) == [500, 500]
    large = domains(21_000, 300, width=1000)
    assert bound_coordinates(large.all, plan_for(large, n_coordinates="auto")) == [512, 512]
    assert bound_coordinates(large.all, plan_for(large, n_coordinates="auto", n_components=200)) == [800, 800]
    kernel = plan_for(rows, kernel=Kernel("rbf", max_rows=90), n_coordinates=None)
    assert bound_coordinates(rows.all, kernel) == [90, 90]
    cut = plan_for(large, kernel=Kernel("rbf"), n_coordinates="auto")
    assert bound_coordinates(large.all, cut) == [512, 512]


def sparse_like(rows, nnz=0):
    """The domains with sparse rows, `nnz` entries stored in each."""
    parts = []
    for d in rows.all:
        places = np.zeros(nnz, dtype=int), np.arange(nnz) % d.X.shape[1]
        parts.append(replace(d, X=sparse.coo_array((np.ones(nnz), places), shape=d.X.shape).tocsr()))
    n = len(rows.sources)
    return replace(rows, sources=tuple(parts[:n]), targets=tuple(parts[n:]))


def test_sparse_rows_have_the_coordinates_of_dense_ones_unless_they_stay_sparse(monkeypatch):
    rows = domains(3000, 2000, width=1000)
    thin = sparse_like(rows)
    for given in ({}, {"n_coordinates": "auto"}, {"n_coordinates": None}, {"kernel": Kernel("rbf", max_rows=90)}):
        plan = plan_for(rows, **given)
        assert bound_coordinates(thin.all, plan) == bound_coordinates(rows.all, plan)
    monkeypatch.setattr(blocks, "DENSE_ENTRIES", 5 * 10**6 - 1)
    assert bound_coordinates(thin.all, plan_for(rows)) == [30, 30]
    assert bound_coordinates(thin.all, plan_for(rows, n_coordinates=None)) == [256, 256]
    assert bound_coordinates(thin.all, plan_for(rows, n_coordinates="auto")) == [256, 256]
    assert bound_coordinates(thin.all, plan_for(rows, n_coordinates="auto", n_components=100)) == [400, 400]


def test_directions_of_rows_that_stay_sparse():
    """Four numbers for each stored entry, and four products on both sides instead of matrices of the width."""
    rows = domains(3000, 2000, width=20_000)
    thin = sparse_like(rows, nnz=10_000)
    assert needed(rows) >= 8 * 4 * 20_000**2
    expected = 64 * 16 * 5000 + 4 * 8 * 2 * 10_000 + 4 * 8 * 25_000 * (30 + 10)
    assert needed(thin) == megabytes(expected)


@pytest.mark.parametrize(("n", "width"), [(500, 9000), (9000, 500)])
def test_the_search_for_directions_of_sparse_rows_keeps_within_what_is_reckoned(n, width, monkeypatch):
    monkeypatch.setattr(blocks, "DENSE_ENTRIES", 0)
    rng = np.random.default_rng(0)
    parts = [sparse.random_array((n, width), density=0.01, random_state=rng, format="csr") for _ in range(2)]
    scalings = [fit_scaling(X, "standard") for X in parts]
    tracemalloc.start()
    principal_basis(parts, scalings, max_rank=100, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    plan = plan_for(domains(n, n, width=width), n_coordinates=100)
    assert 0.4 * _principal(parts, plan) < peak < _principal(parts, plan)  # 0.49 with scipy 1.18, which holds less
