"""Rows on disk, limits of memory, threads, coordinates: what a fit may use, and that the answer stays the same."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from lpjt import _threads
from lpjt.core import blocks, coordinates, moments
from lpjt.core.blocks import row_blocks, sum_blocks
from lpjt.core.coordinates import principal_basis, to_coordinates
from lpjt.core.scaling import Scaling, fit_scaling, scale_rows, scale_to_compare
from lpjt.fitting.memory import read_limit
from problems import one_setting, shifted_pair

X, y, X_target, y_target = shifted_pair(n_source=300, n_target=240, width=12)


def labels(X=X, X_target=X_target, **parameters):
    return one_setting(random_state=0, **parameters).fit(X, y, X_target).transduction_


# Rows in blocks


@pytest.mark.parametrize("kind", ["standard", "unit", "paper", "sum-zscore", "none"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_scaled_in_singles(kind, n_jobs):
    rows = np.abs(np.random.default_rng(0).normal(size=(3000, 40)))[
        ::2
    ]  # enough for several blocks, and not contiguous
    given = rows.copy()
    scaling = fit_scaling(rows, kind)
    with _threads.threads(n_jobs):
        found = scale_to_compare(rows, scaling)
    assert found.dtype == np.float32
    assert_array_equal(found, scale_rows(rows, scaling).astype(np.float32))
    assert_array_equal(rows, given)


@pytest.mark.parametrize("kind", ["standard", "unit", "paper", "sum-zscore", "none"])
def test_blocks_change_nothing(monkeypatch, kind):
    rows = np.abs(X)
    whole = fit_scaling(rows, kind)
    expected = scale_rows(rows, whole)
    monkeypatch.setattr(blocks.row_blocks, "__defaults__", (50,))  # four rows at a time
    found = fit_scaling(rows, kind)
    assert_allclose(scale_rows(rows, found), expected, rtol=1e-12, atol=1e-14)
    assert_allclose(to_coordinates(rows, coordinates.Coordinates(found), entries=50), expected, rtol=1e-12, atol=1e-14)
    assert_allclose(coordinates.second_moment(rows, found, entries=50), expected.T @ expected / len(X), rtol=1e-10)


def test_moments_of_blocks(monkeypatch):
    weights = np.random.default_rng(0).uniform(size=len(y))
    whole = moments.class_moments(X, y, weights, n_classes=3)
    scatter = moments.total_scatter(X)
    monkeypatch.setattr(blocks.row_blocks, "__defaults__", (50,))
    assert_allclose(moments.class_moments(X, y, weights, n_classes=3).means, whole.means, rtol=1e-12)
    assert_allclose(moments.total_scatter(X), scatter, rtol=1e-10, atol=1e-10)


def test_statistics_far_from_zero():
    rows = 1e6 + np.random.default_rng(0).normal(size=(500, 3))
    assert_allclose(fit_scaling(rows, "standard").deviation, rows.std(axis=0), rtol=1e-7)


# Coordinates


def test_principal_basis_holds_its_share():
    spread = 10.0 ** -np.arange(8)
    parts = [np.random.default_rng(i).normal(size=(400, 8)) * spread for i in range(2)]
    Q = principal_basis(parts, [Scaling()] * 2, kept=0.999)
    assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12)
    held = sum(((part @ Q) ** 2).mean() * Q.shape[1] for part in parts)
    total = sum((part**2).mean() * 8 for part in parts)
    assert 0.999 <= held / total < 1
    fewer = principal_basis(parts, [Scaling()] * 2, max_rank=Q.shape[1] - 1)
    held = sum(((part @ fewer) ** 2).mean() * fewer.shape[1] for part in parts)
    assert held / total < 0.999


def test_nothing_is_lost_unless_asked():
    parts = [np.random.default_rng(0).normal(size=(400, 8))]
    assert principal_basis(parts, [Scaling()]) is None
    assert principal_basis(parts, [Scaling()], kept=0.999) is None  # every direction is needed
    assert principal_basis([parts[0][:5]], [Scaling()]).shape == (8, 5)


def test_n_coordinates():
    model = one_setting(n_coordinates=5, n_components=4, random_state=0).fit(X, y, X_target)
    assert {P.shape[0] for P in model.projections_.values()} == {5}
    assert np.mean(model.transduction_ == y_target) > 0.9
    every = one_setting(n_coordinates=None, n_components=4, random_state=0).fit(X, y, X_target)
    assert {P.shape[0] for P in every.projections_.values()} == {12}
    with pytest.raises(ValueError, match="n_coordinates"):
        one_setting(n_coordinates=0).fit(X, y, X_target)


# Rows on disk


def test_memory_mapped_rows(tmp_path):
    np.save(tmp_path / "source.npy", X)
    mapped = np.load(tmp_path / "source.npy", mmap_mode="r")
    assert_array_equal(labels(X=mapped), labels())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_hdf5_rows(tmp_path, monkeypatch, dtype):
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(blocks.row_blocks, "__defaults__", (200,))
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        source = file.create_dataset("source", data=X.astype(dtype), chunks=(32, 12))
        target = file.create_dataset("target", data=X_target.astype(np.float32), chunks=(32, 12))
        model = one_setting(random_state=0).fit(source, y, target)
        assert_array_equal(model.transduction_, labels(X=X.astype(dtype), X_target=X_target.astype(np.float32)))
        assert_array_equal(model.predict(target), model.predict(X_target.astype(np.float32)))


def test_new_rows_on_disk_have_the_columns_of_the_target_of_fit(tmp_path):
    h5py, pd = pytest.importorskip("h5py"), pytest.importorskip("pandas")
    names = [f"column {i}" for i in range(X.shape[1])]
    source, target = pd.DataFrame(X, columns=names), pd.DataFrame(X_target, columns=names)[names[::-1]]
    model = one_setting(random_state=0, max_iter=2, tol=1.0).fit(source, y, target)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        file["target"] = target.to_numpy()
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            on_disk = model.predict_proba(file["target"])
    assert_array_equal(on_disk, model.predict_proba(target))


def test_rows_on_disk_are_read_in_any_order(monkeypatch):
    class Stored:
        """Only slices, as in a file."""

        shape, dtype, chunks = X.shape, X.dtype, (32, 12)

        def __getitem__(self, rows):
            assert isinstance(rows, slice)
            assert (rows.stop - rows.start) * X.shape[1] <= 200
            return X[rows]

    monkeypatch.setattr(blocks.row_blocks, "__defaults__", (200,))
    chunked = blocks.Chunked(Stored())
    places = np.random.default_rng(0).permutation(len(X))[:70]
    assert_array_equal(chunked[places], X[places])
    assert_array_equal(chunked[::7], X[::7])
    assert_array_equal(chunked[y == 1], X[y == 1])


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (np.zeros((4, 3, 2)), ValueError, "one row per sample"),
        (np.full((20, 3), np.nan), ValueError, "NaN at row 0, column 0"),
        (np.full((20, 3), b"a"), TypeError, "not numbers"),
        (np.zeros((1, 3)), ValueError, "minimum of 2"),
    ],
)
def test_bad_rows_on_disk(tmp_path, data, error, message):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "rows.h5", "w") as file, pytest.raises(error, match=message):
        one_setting().fit(X, y, file.create_dataset("rows", data=data, chunks=True))


# Memory


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("4GB", 4 * 10**9),
        ("1.5 MiB", 3 * 2**19),
        ("512kb", 512_000),
        ("100", 100),
        (7, 7),
        ("2GiB", 2**31),
        ("3 TiB", 3 * 2**40),
        ("2T", 2 * 10**12),
        ("5KiB", 5120),
    ],
)
def test_limits_in_words(limit, expected):
    assert read_limit(limit) == expected


@pytest.mark.parametrize("limit", ["much", "4GB free", "-1MB", "0GB", ""])
def test_limits_that_are_none(limit):
    with pytest.raises(ValueError, match="memory_limit"):
        one_setting(memory_limit=limit).fit(X, y, X_target)


def test_a_limit_too_small_says_the_least_that_works():
    with pytest.raises(ValueError, match="needs at least") as info:
        one_setting(memory_limit="100kB").fit(X, y, X_target)
    least = str(info.value).split("at least ")[1].split()[0]
    assert_array_equal(labels(memory_limit=least), labels())


MEASURE = """
import sys, threading, time, warnings
import numpy as np
from lpjt import LPJT

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
n, width, limit = 12_000, 256, sys.argv[1]
size = None if sys.argv[2] == "None" else int(sys.argv[2])
y = rng.integers(0, 5, 2 * n)
X = (rng.normal(size=(5, width))[y] + rng.normal(size=(2 * n, width))).astype(np.float32)
X[n:] = 1.5 * X[n:] + 1


def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))


def watch():
    while not done:
        peaks.append(anonymous())
        time.sleep(0.002)


def fit(**parameters):
    common = {"random_state": 0, "neighbor_search": "approximate", "max_iter": 2, "n_jobs": 1, "sample_size": size}
    model = LPJT(n_components=20, candidates=None, refine=False, **common, **parameters)
    return model.fit(X[:n], y[:n], X[n:])


LPJT(candidates=None, refine=False, neighbor_search="approximate").fit(X[:100], y[:100], X[n:n + 100])
peaks, done = [], False
start = anonymous()
thread = threading.Thread(target=watch)
thread.start()
try:
    model = fit(memory_limit=limit)
finally:
    done = True
    thread.join()
print(max(peaks) - start, np.mean(model.transduction_ == y[n:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="resident memory is read from /proc")
@pytest.mark.parametrize(("limit", "size"), [(78_000_000, None), (110_000_000, None), (60_000_000, 5000)])
def test_a_limit_is_kept_within_a_fifth(tmp_path, limit, size):
    env = {**os.environ, "TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1", "MALLOC_TRIM_THRESHOLD_": "0"}
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(limit), str(size)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not run.returncode, run.stderr
    used, accuracy = map(float, run.stdout.split())
    assert used <= 1.2 * limit
    assert accuracy > 0.95
    assert not list(tmp_path.iterdir())


def test_coordinates_in_a_file_change_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = []
    disk_array = blocks.disk_array
    monkeypatch.setattr("lpjt.fitting.candidate.disk_array", lambda *a: made.append(disk_array(*a)) or made[-1])
    wide = np.random.default_rng(0).normal(size=(12, 64))  # coordinates outweigh the rest
    parts = [np.repeat(part @ wide, 12, axis=0) for part in (X, X_target)]
    parts = [part + 0.1 * np.random.default_rng(1).normal(size=part.shape) for part in parts]
    plain, filed = (
        one_setting(random_state=0, n_components=20, n_coordinates=None, memory_limit=limit, n_jobs=1).fit(
            parts[0], np.repeat(y, 12), parts[1]
        )
        for limit in (None, "27MB")
    )
    assert made
    assert_array_equal(plain.transduction_, filed.transduction_)
    assert not list(tmp_path.iterdir())


# Threads


def blas_threads():
    """Threads of each BLAS but those built on OpenMP, such as faiss's, which have OpenMP's."""
    blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {pool["num_threads"] for pool in blas if pool.get("threading_layer") != "openmp"}


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_n_jobs_sets_the_threads(n_jobs):
    seen = []

    def look(record):
        openmp = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}
        seen.append([openmp, blas_threads(), _threads.n_threads()])

    before = [pool["num_threads"] for pool in threadpool_info()]
    one_setting(n_jobs=n_jobs, callback=look, max_iter=1).fit(X, y, X_target)
    wanted = os.cpu_count() if n_jobs == -1 else n_jobs
    assert seen == [[{wanted}, {1}, wanted]]
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_fits_that_overlap_leave_blas_as_it_was():
    with threadpool_limits(2, user_api="blas"):  # whatever OMP_NUM_THREADS is
        first, second = _threads.threads(2), _threads.threads(None)
        first.__enter__()
        second.__enter__()
        assert _threads.n_threads() == 2  # not the one thread that the first left to BLAS
        second.__exit__(None, None, None)
        assert blas_threads() == {1}
        first.__exit__(None, None, None)
        assert blas_threads() == {2}


def test_maps_keep_the_order_and_do_not_multiply():
    within = []

    def square(i):
        within.append(_threads.n_threads())
        return i * i

    assert _threads.map_threads(square, range(5)) == [0, 1, 4, 9, 16]
    with _threads.threads(3):
        assert _threads.map_threads(square, range(50)) == [i * i for i in range(50)]
    assert set(within) == {1}


def test_an_error_in_a_thread_is_raised():
    with _threads.threads(2), pytest.raises(ZeroDivisionError):
        _threads.map_threads(lambda i: 1 // i, range(4))


def test_threads_are_started_once_and_end_with_the_context():
    seen = set()

    def look(_):
        seen.add(threading.get_ident())
        time.sleep(0.01)

    before = threading.active_count()
    with _threads.threads(2):
        for _ in range(5):
            _threads.map_threads(look, range(4))
        assert threading.active_count() == before + 2
    assert len(seen) == 2
    assert threading.active_count() == before


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(("n", "width"), [(1, 3), (7, 40_000), (5000, 30), (1003, 257)])
def test_blocks_hold_each_row_once(n, width, n_jobs):
    rows = np.arange(float(n))
    blocks = row_blocks(np.broadcast_to(0.0, (n, width)), 2**16)
    assert_array_equal(np.concatenate([rows[block] for block in blocks]), rows)
    assert all((block.stop - block.start) * width <= max(2**16, width) for block in blocks)
    with _threads.threads(n_jobs):
        assert_array_equal(sum_blocks(lambda block: rows[block].sum(), blocks, 1), [rows.sum()])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_do_not_depend_on_the_threads(dtype):
    fits = [one_setting(n_jobs=n, random_state=0).fit(X.astype(dtype), y, X_target.astype(dtype)) for n in (1, 2, 3)]
    for fitted in fits[1:]:
        assert_array_equal(fitted.transduction_, fits[0].transduction_)
        assert_allclose(fitted.history_[-1]["objective"], fits[0].history_[-1]["objective"], rtol=1e-3)
