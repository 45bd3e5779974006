"""Rows on disk: whole at every moment, from any number of writers, and never lost to what cannot be read."""

import multiprocessing
import random
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lpjt import __version__
from lpjt.study import store as store_module
from lpjt.study.store import RUNS, SPEED, Store, StoreError
from study_runs import append_for_ever, append_some, make_job, make_row

COLUMNS = RUNS.columns


@pytest.fixture
def filled(tmp_path):
    """A store of three rows, two merged and one a part."""
    store = Store(tmp_path / "results")
    for number in (1, 2):
        store.append(make_row(make_job(number), accuracy=number))
    store.compact()
    store.append(make_row(make_job(3), accuracy=3))
    return store


@pytest.fixture
def context():
    """Processes that are forked from one that has imported all."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lpjt.study.runner", "pyarrow.parquet"])
    return context


def contents(store):
    return {file.name: file.read_bytes() for file in store.path.iterdir()}


def names(store):
    return sorted(file.name for file in store.path.iterdir())


def test_rows_come_back_as_they_were_with_types_and_nulls(tmp_path):
    store = Store(tmp_path)
    rows = [
        make_row(make_job(1), peak_bytes=5 << 40, n_iter=7),
        make_job(2).row_without_result(status="failed", message="é"),
    ]
    for row in rows:
        store.append(row)
    for _ in range(2):
        found = store.rows()
        assert found == rows
        assert [list(row) for row in found] == [list(COLUMNS)] * 2
        assert found[1]["accuracy"] is None
        store.compact()
    assert store.keys() == {row["key"] for row in rows}


def test_empty_and_absent_stores_have_no_rows_and_are_not_made(tmp_path):
    store = Store(tmp_path / "none")
    store.compact()
    assert (store.rows(), store.keys(), store.path.exists()) == ([], set(), False)


def test_order_does_not_depend_on_the_order_of_writing_or_on_merging(tmp_path):
    rows = [make_row(make_job(number, method=method)) for number in range(5) for method in ("A", "B")]
    orders = []
    for seed in range(3):
        store = Store(tmp_path / str(seed))
        for row in random.Random(seed).sample(rows, len(rows)):
            store.append(row)
            if seed == 1:
                store.compact()
        orders.append(store.rows())
    assert orders[0] == orders[1] == orders[2] == rows


def test_compacting_leaves_one_file_and_the_same_rows(filled):
    before = filled.rows()
    filled.compact()
    assert names(filled) == ["rows.parquet"]
    assert filled.rows() == before
    merged = contents(filled)
    filled.compact()
    assert contents(filled) == merged


def test_last_row_of_a_key_wins(filled):
    filled.append(make_row(make_job(1), accuracy=99.0))
    for _ in range(2):
        assert [row["accuracy"] for row in filled.rows()] == [99.0, 2.0, 3.0]
        filled.compact()
    filled.append(make_row(make_job(1), accuracy=98.0))
    filled.append(make_row(make_job(1), accuracy=97.0))
    assert filled.rows()[0]["accuracy"] == 97.0


def test_rows_that_are_to_be_forgotten_are_left_out_of_the_merged_file(filled):
    gone = make_job(2).key
    filled.compact(forget={gone})
    assert [row["accuracy"] for row in filled.rows()] == [1.0, 3.0]
    assert names(filled) == ["rows.parquet"]
    filled.compact(forget={make_job(1).key})  # also where there is no part to merge
    assert [row["accuracy"] for row in filled.rows()] == [3.0]


def test_rows_of_one_kind_are_not_mixed_with_rows_of_the_other(filled):
    before = contents(filled)
    with pytest.raises(StoreError, match=r"of results format '1', but lpjt .* keeps format 'speed-1'"):
        Store(filled.path, SPEED).rows()
    assert contents(filled) == before


def test_kill_between_merging_and_removing_parts_leaves_no_row_twice(filled, monkeypatch):
    before, parts = filled.rows(), names(filled)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *args, **kwargs: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            filled.compact()
    assert names(filled) == parts
    assert len(Store.read_file(filled.path / "rows.parquet")) == 3
    assert filled.rows() == before
    filled.compact()
    assert filled.rows() == before


def test_file_has_its_name_only_when_it_is_whole_and_on_the_disk(tmp_path, monkeypatch):
    store, steps = Store(tmp_path), []
    fsync, replace = store_module.os.fsync, store_module.os.replace

    def watched_replace(temporary, final):
        assert not Path(final).exists()
        assert len(Store.read_file(temporary)) == 1
        assert Path(temporary).parent == tmp_path
        steps.append("named")
        replace(temporary, final)

    monkeypatch.setattr(store_module.os, "fsync", lambda fd: (steps.append("on disk"), fsync(fd)))
    monkeypatch.setattr(store_module.os, "replace", watched_replace)
    store.append(make_row(make_job()))
    assert steps == ["on disk", "named", "on disk"]


def test_full_disk_leaves_the_rows_and_no_half_file(filled, monkeypatch):
    before = contents(filled)

    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store_module.os, "fsync", full)
    for write in (lambda: filled.append(make_row(make_job(9))), filled.compact):
        with pytest.raises(OSError, match=r"could not be written: No space left on device. The rows so far are kept."):
            write()
        assert contents(filled) == before


def test_unfinished_files_of_dead_writers_are_ignored_and_removed(filled):
    (filled.path / ".unfinished-1-abc").write_bytes(b"PAR1 half a row")
    assert len(filled.rows()) == 3
    filled.compact()
    assert names(filled) == ["rows.parquet"]


def test_unfinished_file_of_a_living_writer_is_left(filled):
    living = filled.path / ".unfinished-1-abc"
    with living.open("wb") as file:
        store_module.fcntl.flock(file, store_module.fcntl.LOCK_EX)
        filled.compact()
        assert living.exists()


def test_row_is_written_again_when_its_unfinished_file_was_taken_away(filled, monkeypatch):
    replace, taken = store_module.os.replace, []

    def robbed(temporary, final):
        if not taken:
            taken.append(temporary)
            Path(temporary).unlink()
        replace(temporary, final)

    monkeypatch.setattr(store_module.os, "replace", robbed)
    filled.append(make_row(make_job(4)))
    assert len(taken) == 1
    assert len(filled.rows()) == 4


def test_writers_and_mergers_at_the_same_time_lose_nothing(tmp_path, context):
    store = Store(tmp_path / "results")
    writers = [context.Process(target=append_some, args=(store.path, 100 * number, 12)) for number in range(4)]
    for writer in writers:
        writer.start()
    seen = 0
    while any(writer.is_alive() for writer in writers):
        found = len(store.rows())
        assert found >= seen  # a reader never misses what was there before
        seen = found
        time.sleep(0.005)
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    store.compact()
    assert sorted(row["seed"] for row in store.rows()) == [100 * k + i for k in range(4) for i in range(12)]
    assert names(store) == ["rows.parquet"]


def test_writer_killed_at_any_moment_leaves_whole_rows_without_a_gap(tmp_path, context):
    store, rng, n_before = Store(tmp_path / "results"), random.Random(0), 0
    for _ in range(8):
        writer = context.Process(target=append_for_ever, args=(store.path,))
        writer.start()
        while len(store.rows()) <= n_before:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.05))
        writer.kill()
        writer.join()
        seeds = sorted(row["seed"] for row in store.rows())  # the store sorts by names, so 100 comes before 11
        assert seeds == list(range(len(seeds)))
        assert len(seeds) > n_before
        n_before = len(seeds)
    store.compact()
    assert names(store) == ["rows.parquet"]


def write_format(path, version, columns=COLUMNS):
    metadata = {} if version is None else {"lpjt_results_format": version}
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in columns.items()], metadata=metadata)
    pq.write_table(schema.empty_table(), path)


def spoil_with_other_version(path):
    write_format(path, "2")


def spoil_with_foreign_parquet(path):
    write_format(path, None)


def spoil_with_other_columns(path):
    write_format(path, "1", {**COLUMNS, "seed": "string"})


def spoil_with_text(path):
    path.write_text("key,accuracy\n1,2\n")


def spoil_with_nothing(path):
    path.write_bytes(b"")


def spoil_by_cutting(path):
    whole = path.read_bytes() if path.exists() else store_module._encode([make_row(make_job(8))], RUNS)
    path.write_bytes(whole[:-20])


SPOILT = [
    (
        spoil_with_other_version,
        rf"of results format '2', but lpjt {__version__} keeps format '1'. Read it with the version",
    ),
    (spoil_with_foreign_parquet, rf"of results format 'none', but lpjt {__version__} keeps format '1'"),
    (spoil_with_other_columns, r"its columns differ: .*seed.*Move it away"),
    (spoil_with_text, rf"not a whole parquet file \(17 bytes, .*lpjt {__version__} keeps format '1'\). Move it away"),
    (spoil_with_nothing, r"not a whole parquet file \(0 bytes"),
    (spoil_by_cutting, r"not a whole parquet file \(\d+ bytes"),
]


@pytest.mark.parametrize(("spoil", "words"), SPOILT, ids=[spoil.__name__ for spoil, _ in SPOILT])
@pytest.mark.parametrize("name", ["rows.parquet", "part-0-1-x.parquet", "copied.parquet"])
def test_file_that_cannot_be_read_is_named_and_nothing_is_changed(filled, name, spoil, words):
    spoil(filled.path / name)
    before = contents(filled)
    fresh = Store(filled.path)
    for use in (fresh.rows, fresh.keys, fresh.compact, lambda: fresh.append(make_row(make_job(9)))):
        with pytest.raises(StoreError, match=words) as caught:
            use()
        assert str(filled.path / name) in str(caught.value)
        assert "Nothing was changed." in str(caught.value)
        assert contents(filled) == before


def test_flipped_bit_inside_a_row_is_found(tmp_path):
    store = Store(tmp_path)
    store.append(make_row(make_job(), message="a message to be spoilt"))
    (part,) = tmp_path.iterdir()
    part.write_bytes(part.read_bytes().replace(b"to be spoilt", b"to be spoiLt", 1))
    with pytest.raises(StoreError, match="not a whole parquet file"):
        store.rows()


def test_other_files_in_the_directory_are_left_alone(filled):
    (filled.path / "table.md").write_text("| a |")
    (filled.path / "notes").mkdir()
    filled.compact()
    assert len(filled.rows()) == 3
    assert names(filled) == ["notes", "rows.parquet", "table.md"]


def test_rows_copied_from_another_store_are_read_and_their_file_is_kept(filled, tmp_path):
    other = Store(tmp_path / "other")
    other.append(make_row(make_job(7)))
    other.append(make_row(make_job(1), accuracy=11.0))
    other.compact()
    (filled.path / "laptop.parquet").write_bytes((other.path / "rows.parquet").read_bytes())
    filled.compact()
    assert [(row["seed"], row["accuracy"]) for row in filled.rows()] == [(1, 1.0), (2, 2.0), (3, 3.0), (7, 50.0)]
    assert names(filled) == ["laptop.parquet", "rows.parquet"]


def test_single_file_can_be_read_but_is_no_store(filled):
    filled.compact()
    file = filled.path / "rows.parquet"
    assert Store.read_file(file) == filled.rows()
    assert Store.read_file(str(file)) == filled.rows()
    with pytest.raises(StoreError, match=r"is a file, and results are kept in a directory.*Store.read_file"):
        Store(file)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"accuracy": "much"}, r"does not fit the results format 1"),
        ({"colour": 1}, r"has the unknown \['colour'\]"),
        ({"key": None}, r"\['key'\] must have values"),
    ],
)
def test_row_that_does_not_fit_is_refused_before_anything_is_written(tmp_path, change, words):
    store = Store(tmp_path / "results")
    with pytest.raises(ValueError, match=words):
        store.append(make_row(make_job()) | change)
    row = make_row(make_job())
    del row["checksum"]
    with pytest.raises(ValueError, match=r"it lacks \['checksum'\]"):
        store.append(row)
    assert not store.path.exists()


def test_parts_stay_where_files_cannot_be_locked(filled, monkeypatch):
    monkeypatch.setattr(store_module, "fcntl", None)
    before = contents(filled)
    filled.compact()
    assert contents(filled) == before
    filled.append(make_row(make_job(5)))
    assert [row["seed"] for row in filled.rows()] == [1, 2, 3, 5]


def test_missing_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"`pyarrow` is needed to keep results.*lpjt\[reproduce\]"):
        Store(tmp_path).append(make_row(make_job()))
