"""Fits on Dask arrays against fits in memory, on the threads of this process."""

import pickle
import sys

import numpy as np
import pytest

pytest.importorskip("dask.array")

import dask.array as da
from scipy import sparse

from lazy import agreement, both, lazy, overlapping, sine
from lpjt import LPJT
from lpjt.engines import LocalEngine, is_lazy
from lpjt.engines.dask import DaskEngine
from lpjt.engines.dask.cluster import need_dask
from problems import masked, one_setting, shifted_pair

CASES = {
    "default": {},
    "landmarks": {"landmark_ratio": 0.5},
    "harmonic": {"classifier": "harmonic"},
    "paper": {"make": LPJT.paper},
    "authors": {"make": LPJT.authors},
    "svm": {"classifier": "svm"},
    "kernel": {"kernel": "rbf"},
    "binary graphs": {"graph_weights": "binary", "n_neighbors": 3},
    "no scaling": {"scaling": "none", "safeguard": False},
    "all coordinates": {"n_coordinates": None},
    "sample": {"sample_size": 300},
    "sample, landmarks": {"sample_size": 300, "landmark_ratio": 0.5},
    "sample, svm": {"sample_size": 300, "classifier": "svm"},
    "sample, harmonic": {"sample_size": 300, "classifier": "harmonic"},
    "sample, no iteration kept": {"sample_size": 300, "locality_weight": 5.0, "variance_weight": 1e-3},
}


def assert_same(in_memory, on_blocks):
    """The same sample was learned from by the same code, so only the order of sums may differ."""
    assert sine(in_memory, on_blocks) < 1e-6
    assert agreement(in_memory, on_blocks) >= 0.999
    assert on_blocks.n_iter_ == in_memory.n_iter_
    assert on_blocks.scaling_ == in_memory.scaling_
    for name in ("label_distributions_", "weights_source_", "weights_target_"):
        np.testing.assert_allclose(getattr(on_blocks, name), getattr(in_memory, name), atol=1e-5)
        assert is_lazy(getattr(on_blocks, name))
    for mine, theirs in zip(on_blocks.history_, in_memory.history_, strict=True):
        for name in ("objective", "marginal_mmd", "conditional_mmd", "evidence", "n_changed", "n_classes"):
            assert mine[name] == pytest.approx(theirs[name], rel=1e-6)


@pytest.mark.parametrize("parameters", CASES.values(), ids=CASES)
def test_agrees_with_memory(parameters):
    X, y, X_target, _ = overlapping()
    assert_same(*both(X, y, X_target, **parameters))


@pytest.mark.parametrize("shard_rows", [1, 150, 699])
def test_agrees_in_several_shards(shard_rows, monkeypatch):
    monkeypatch.setattr("lpjt.fitting.graph.SHARD_ROWS", max(shard_rows, 50))
    X, y, X_target, y_target = overlapping()
    assert_same(*both(X, y, X_target, masked(y_target, 10), sample_size=300))


def test_different_widths():
    X, y, X_target, y_target = overlapping()
    given = masked(y_target, 3)
    in_memory, on_blocks = both(X[:, :7], y, X_target, given, sample_size=400)
    assert_same(in_memory, on_blocks)
    assert np.mean(in_memory.transduction_ == y_target) > 0.6


@pytest.mark.parametrize("chunks", [(10_000, 10_000), ((500, 1, 399), (3, 600, 97)), ((0, 400, 0, 500), 350)], ids=str)
def test_any_chunks(chunks):
    X, y, X_target, _ = overlapping()
    in_memory, on_blocks = both(X, y, X_target, chunks=chunks)
    assert sine(in_memory, on_blocks) < 1e-6
    assert agreement(in_memory, on_blocks) >= 0.999


def test_blocks_of_columns_and_lazy_labels_of_any_kind():
    X, y, X_target, _ = overlapping()
    names = np.array(["ash", "birch", "cedar", "date"])[y]
    in_memory = one_setting(random_state=0).fit(X, names, X_target)
    blocks = da.from_array(X, chunks=(300, 5))
    on_blocks = one_setting(random_state=0).fit(blocks, da.from_array(names, chunks=450), lazy(X_target, 250))
    assert on_blocks.transduction_.chunks == ((250, 250, 200),)
    assert on_blocks.transduction_.dtype == names.dtype
    assert agreement(in_memory, on_blocks) >= 0.999
    np.testing.assert_array_equal(on_blocks.classes_, in_memory.classes_)


def test_some_labelled_target_rows():
    X, y, X_target, y_target = overlapping()
    given = masked(y_target, 10)
    in_memory, on_blocks = both(X, y, X_target, given)
    assert sine(in_memory, on_blocks) < 1e-6
    assert agreement(in_memory, on_blocks) >= 0.999
    on_lazy = LPJT(n_components=6, random_state=0).fit(lazy(X, 250), y, lazy(X_target, 200), da.from_array(given))
    assert agreement(on_blocks, on_lazy) == 1


def test_several_sources_and_targets_one_of_them_in_memory():
    X, y, X_target, _ = overlapping()
    sources, labels = {"s": X[:450], "r": X[450:]}, {"s": y[:450], "r": y[450:]}
    targets = {"t": X_target[:300], "u": X_target[300:]}
    in_memory = one_setting(n_components=6, random_state=0).fit(sources, labels, targets)
    blocks = {"s": lazy(X[:450], 100), "r": X[450:]}
    on_blocks = one_setting(n_components=6, random_state=0).fit(
        blocks, labels, {k: lazy(v, 150) for k, v in targets.items()}
    )
    assert sine(in_memory, on_blocks) < 1e-6
    for name, rows in targets.items():
        assert on_blocks.transduction_[name].shape == (len(rows),)
        assert np.mean(on_blocks.transduction_[name].compute() == in_memory.transduction_[name]) >= 0.999


def test_float32_stays_float32():
    X, y, X_target, _ = overlapping()
    in_memory, on_blocks = both(X.astype(np.float32), y, X_target.astype(np.float32))
    assert agreement(in_memory, on_blocks) >= 0.999
    assert on_blocks.transform(lazy(X_target.astype(np.float32), 200)).dtype == np.float32


def test_more_columns_than_rows():
    X, y, X_target, _ = shifted_pair(n_source=40, n_target=30, width=90, n_classes=2, apart=1.0)
    in_memory, on_blocks = both(X, y, X_target, chunks=(20, 20), safeguard=False)
    assert agreement(in_memory, on_blocks) == 1


def test_no_shift_is_found_there_too():
    X, y, _, _ = overlapping()
    in_memory, on_blocks = both(X[:450], y[:450], X[450:], candidates=None)
    assert not in_memory.adapted_
    assert not on_blocks.adapted_
    assert agreement(in_memory, on_blocks) == 1


def test_predictions_of_dask_arrays_are_lazy():
    X, y, X_target, _ = overlapping()
    in_memory, model = both(X, y, X_target)
    rows = lazy(X_target, 300)
    for method in ("predict", "predict_proba", "transform"):
        answer = getattr(model, method)(rows)
        assert isinstance(answer, da.Array)
        of_memory = getattr(model, method)(X_target)
        assert answer.dtype == of_memory.dtype
        assert answer.shape == of_memory.shape
        np.testing.assert_allclose(answer, of_memory, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X_target), in_memory.predict(X_target))
    np.testing.assert_array_equal(in_memory.predict(rows), in_memory.predict(X_target))  # of any fitted model
    np.testing.assert_allclose(model.transform(lazy(X, 300), "source"), in_memory.transform(X, "source"), atol=1e-6)
    with pytest.raises(ValueError, match="X has 11 features, but LPJT is expecting 12"):
        model.predict(rows[:, :11])


def test_the_predictor_holds_a_sample():
    X, y, X_target, y_target = shifted_pair(n_source=600, n_target=500)
    _, model = both(X, y, X_target, sample_size=50, make=one_setting)
    assert len(model._predictors["target"].predictor.rows) == 100
    assert np.mean(model.predict(X_target) == y_target) > 0.9


def test_results_survive_a_pickle_where_no_cluster_holds_them():
    X, y, X_target, _ = overlapping()
    _, model = both(X, y, X_target)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    np.testing.assert_array_equal(again.predict(X_target), model.predict(X_target))


def test_input_is_left_alone():
    X, y, X_target, _ = overlapping(200, 150)
    before = X.copy(), X_target.copy()
    both(X, y, X_target)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(X_target, before[1])


def fit(X, y=None, X_target=None, **parameters):
    n = X.shape[0]
    y = np.arange(n) % 2 if y is None else y
    X_target = X if X_target is None else X_target
    return one_setting(**parameters).fit(X, y, X_target)


ROWS = np.random.default_rng(0).normal(size=(30, 4))
HOLES = np.where(np.arange(120).reshape(30, 4) == 81, np.nan, ROWS)


def unknown_sizes():
    return lazy(ROWS, 10)[da.from_array(ROWS[:, 0], chunks=10) > -9]


def other_widths():
    """Blocks of four columns and of three, which say that they are of four."""
    return lazy(ROWS, 15).map_blocks(lambda block, block_info=None: _narrow(block, block_info), dtype=float)


def _narrow(block, info):
    return block if not info or info[0]["chunk-location"][0] == 0 else block[:, :3]


def of_strings():
    return da.from_array(ROWS.astype(str), chunks=(10, -1))


FAULTS = [
    (unknown_sizes, {}, ValueError, r"unknown sizes.*X = X.compute_chunk_sizes\(\)"),
    (other_widths, {}, ValueError, r"X: block 1 has shape \(15, 3\), but its chunks say \(15, 4\)"),
    (of_strings, {}, TypeError, "X holds <U32, which are not numbers"),
    (lambda: lazy(HOLES, 10), {}, ValueError, "X holds NaN at row 20, column 1.*nan_to_num"),
    (lambda: lazy(ROWS, 10)[0], {}, ValueError, "got 1 dimensions, but two are needed"),
    (lambda: lazy(ROWS, 10)[:1], {}, ValueError, "found 1 sample while a minimum of 2"),
    (lambda: lazy(ROWS, 10).map_blocks(sparse.csr_array), {}, ValueError, "block 0 is a csr_array.*toarray"),
    (lambda: lazy(ROWS, 10), {"sample_size": 3}, ValueError, "sample_size=3 is too small for 2 classes.*at least 4"),
]


@pytest.mark.parametrize(("make", "parameters", "error", "words"), FAULTS)
def test_faults_are_told_with_a_remedy(make, parameters, error, words):
    X = make()
    y = np.arange(30) % 2 if X.ndim == 2 and X.shape[0] != 1 else np.zeros(X.shape[0])
    with pytest.raises(error, match=words):
        one_setting(**parameters).fit(X, y, lazy(ROWS, 10))


def test_faults_of_labels():
    X = lazy(ROWS, 10)
    y = np.arange(30) % 2
    with pytest.raises(ValueError, match="y has 29 labels, but X has 30 rows"):
        fit(X, da.from_array(y[1:], chunks=10))
    with pytest.raises(ValueError, match=r"y, block 2, holds 0\.5 at row 9"):
        fit(X, da.from_array(np.where(np.arange(30) == 29, 0.5, y), chunks=10))
    with pytest.raises(ValueError, match=r"y has no label .* at row 25"):
        fit(X, da.from_array(np.where(np.arange(30) == 25, np.nan, y), chunks=10))
    with pytest.raises(ValueError, match="y_target holds labels unknown to the source: 7"):
        one_setting().fit(X, y, X, da.from_array(np.where(np.arange(30) == 25, 7, y), chunks=10))
    with pytest.raises(ValueError, match="one dimension"):
        fit(X, da.from_array(np.column_stack([y, y]), chunks=10))
    with pytest.warns(UserWarning, match="Only one source row has the label 5"):
        fit(X, da.from_array(np.where(np.arange(30) == 25, 5, y), chunks=10))


def test_faults_of_the_call():
    X = lazy(ROWS, 10)
    with pytest.raises(ValueError, match="needs X_target"):
        one_setting().fit(X, np.arange(30) % 2)
    with pytest.raises(ValueError, match="`sample_domain` cannot be given with Dask arrays"):
        one_setting().fit(X, np.arange(30) % 2, sample_domain=np.arange(30) - 15)


def test_a_frame_is_told_how_to_become_an_array():
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = frames.from_pandas(pandas.DataFrame(ROWS), npartitions=2)
    with pytest.raises(TypeError, match=r"to_dask_array\(lengths=True\)"):
        fit(lazy(ROWS, 10), X_target=frame)


def test_without_dask_the_remedy_is_an_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(ImportError, match=r"pip install 'lpjt\[dask\]'"):
        need_dask()


def test_dask_is_imported_for_dask_arrays_alone():
    import subprocess

    code = "import sys, lpjt; sys.exit(any(name.partition('.')[0] in ('dask', 'distributed') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_in_memory_fits_do_not_load_the_dask_engine():
    import subprocess

    code = (
        "import sys, numpy, lpjt; X = numpy.random.default_rng(0).normal(size=(40, 3));"
        "lpjt.LPJT(random_state=0).fit(X, numpy.arange(40) % 2, X + 1).predict(X);"
        "sys.exit('lpjt.engines.dask' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("n_classes", "expected"), [(2, np.int8), (128, np.int8), (129, np.int16)])
def test_codes_of_lazy_labels_take_few_bytes(n_classes, expected):
    y = np.arange(n_classes * 2) % n_classes
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    engine = DaskEngine()
    given = da.from_array(np.where(y % 2 == 0, y, -1), chunks=30)
    domains = engine.open(
        lazy(X, 50), da.from_array(y, chunks=30), {"some": lazy(X, 50), "none": lazy(X, 50)}, {"some": given}
    )
    codes = [engine.labels(domain.y) for domain in domains.all]
    assert [code.dtype for code in codes] == [expected] * 3
    np.testing.assert_array_equal(codes[0], y)
    np.testing.assert_array_equal(codes[1], np.where(y % 2 == 0, y, -1))
    np.testing.assert_array_equal(codes[2], -1)


def test_each_shard_is_labelled_once_for_all_targets():
    """Also shards that have no row of one of the targets."""
    rows = [np.arange(20.0)[:, None], 100 + np.arange(5.0)[:, None]]
    labels = [np.full(20, -1), np.array([-1, 2, -1, 1, -1])]
    shards = [[np.flatnonzero(y < 0)[s::4] for y in labels] for s in range(4)]
    assert not len(shards[3][1])
    calls = []

    def label(parts):
        stacked = np.vstack(parts)
        calls.append(len(stacked))
        return np.eye(3)[0] * stacked

    found = DaskEngine().map_shards(label, [da.from_array(Z, chunks=(3, 1)) for Z in rows], shards, labels, 3)
    assert sorted(calls) == [5, 6, 6, 6]
    expected = LocalEngine().map_shards(label, rows, shards, labels, 3)
    for lazily, F in zip(found, expected, strict=True):
        np.testing.assert_array_equal(lazily.compute(), F)
    np.testing.assert_array_equal(expected[1], [[100, 0, 0], [0, 0, 1], [102, 0, 0], [0, 1, 0], [104, 0, 0]])


def test_a_domain_on_disk_beside_dask_arrays(tmp_path):
    h5py = pytest.importorskip("h5py")
    X, y, X_target, _ = overlapping()
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        file["target"] = X_target.astype(np.float32)
        on_disk = one_setting(n_components=6, random_state=0).fit(lazy(X, 250), y, file["target"])
        found = on_disk.transduction_.compute()
    in_memory = one_setting(n_components=6, random_state=0).fit(X, y, X_target.astype(np.float32))
    np.testing.assert_array_equal(found, in_memory.transduction_)
