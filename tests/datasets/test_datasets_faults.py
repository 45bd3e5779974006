"""Files that are broken, of another shape, or not there: one line that names them."""

import gzip
import struct

import numpy as np
import pytest
from scipy.io import savemat

from datasets_small import empty_directories, folder, rows_of, shrink, write_idx
from lpjt.datasets import DataError, layouts, load_domain

h5py = pytest.importorskip("h5py")
pytest.importorskip("pandas")


@pytest.fixture
def root(monkeypatch, tmp_path):
    return empty_directories(monkeypatch, tmp_path)


def error_of(name, domain):
    with pytest.raises(DataError) as caught:
        load_domain(name, domain)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_wrong_shape_names_the_file_and_both_values(root):
    X, y = rows_of(958, 799, 10)
    path = folder(root, "surf") / "amazon_SURF_L10.mat"
    savemat(path, {"fts": X, "labels": y})
    message = error_of("surf", "A")
    assert str(path) in message
    assert "found 958 rows of 799 columns; expected 958 rows of 800 for 'A' of surf" in message


def test_too_few_classes_are_named_with_both_values(root, monkeypatch):
    shrink(monkeypatch, "surf", 20, (8,))
    X, y = rows_of(20, 8, 9)
    savemat(folder(root, "surf") / "amazon_SURF_L10.mat", {"fts": X, "labels": y})
    assert "found 9 classes; expected 10 classes for 'A' of surf" in error_of("surf", "A")


def test_classes_with_a_gap_are_refused(root, monkeypatch):
    shrink(monkeypatch, "surf", 20, (8,))
    X, y = rows_of(20, 8, 10)
    savemat(folder(root, "surf") / "amazon_SURF_L10.mat", {"fts": X, "labels": np.where(y == 10, 12, y)})
    assert "labels from 1 to 12; expected 10 consecutive ones" in error_of("surf", "A")


@pytest.mark.parametrize(
    ("name", "domain", "file"), [("surf", "A", "amazon_SURF_L10.mat"), ("office-home", "Ar", "Art.mat")]
)
def test_a_truncated_mat_is_named(root, monkeypatch, name, domain, file):
    X, y = rows_of(958, 800, 10)
    path = folder(root, name) / file
    savemat(path, {"fts": X, "labels": y})
    path.write_bytes(path.read_bytes()[:100_000])
    message = error_of(name, domain)
    assert f"{path}: cannot be read as mat" in message
    assert "truncated" in message


def test_a_pickle_inside_npz_is_never_loaded(root):
    X, y = rows_of(958, 1280, 10)
    path = folder(root, "efficientnet") / "amazon_efficientnet_lite0.npz"
    np.savez(path, feas=X.astype(object)[:2], labels=y)
    message = error_of("efficientnet", "A")
    assert f"{path}: 'feas' is pickled" in message
    assert "never loaded" in message


def test_broken_idx_files_are_named(root, monkeypatch):
    shrink(monkeypatch, "mnist-full", 20, (16,))
    place = folder(root, "mnist-full")
    images, labels = np.zeros((10, 4, 4), np.uint8), np.arange(10, dtype=np.uint8)
    for part in ("train", "t10k"):
        write_idx(place / f"{part}-images-idx3-ubyte.gz", images)
        write_idx(place / f"{part}-labels-idx1-ubyte.gz", labels)
    path = place / "train-images-idx3-ubyte.gz"
    whole = path.read_bytes()
    path.write_bytes(whole[:-12])
    assert f"{path}: cannot be decompressed" in error_of("mnist-full", "MNIST")
    path.write_bytes(gzip.compress(gzip.decompress(whole)[:-6]))
    assert "the header announces 160 bytes of cells, but the file has 154" in error_of("mnist-full", "MNIST")
    path.write_bytes(b"<html>not found</html>")
    assert "not an idx file" in error_of("mnist-full", "MNIST")
    write_idx(path, images[:9])
    assert "10 labels, but 9 images" in error_of("mnist-full", "MNIST")


def test_hdf5_without_the_groups_or_truncated_is_named(root):
    path = folder(root, "usps-full") / "usps.h5"
    with h5py.File(path, "w") as file:
        file["train/data"] = np.zeros((3, 256))
    assert "no array test/data (found: train/data (3, 256))" in error_of("usps-full", "USPS")
    path.write_bytes(path.read_bytes()[:1000])
    assert f"{path}: cannot be read as HDF5" in error_of("usps-full", "USPS")


def test_rows_and_labels_of_different_numbers_are_named(root):
    path = folder(root, "usps-full") / "usps.h5"
    with h5py.File(path, "w") as file:
        for name, n_labels in (("train", 3), ("test", 2)):
            file[f"{name}/data"], file[f"{name}/target"] = np.zeros((3, 256)), np.zeros(n_labels)
    assert "2 labels in test/target, but 3 rows in test/data. Get the file again." in error_of("usps-full", "USPS")


@pytest.mark.parametrize(
    ("train", "test", "target", "words"),
    [
        (np.ones((3, 4)), np.full((3, 4), np.nan), [0, 1, 2], "12 cells are blank or not finite"),
        (np.ones((3, 4)), np.ones((3, 4)), [0.0, 1.5, 2.0], "the labels are not whole numbers, such as 1.5"),
        (np.ones((3, 4)), np.ones((3, 4)), [0.0, np.nan, 2.0], "the labels are not whole numbers, such as nan"),
        (np.ones((3, 4)), np.ones((3, 4)), [0.0, np.inf, 2.0], "the labels are not whole numbers, such as inf"),
        (np.ones((3, 4)), np.ones((3, 4)), [0.0, 1e300, 2.0], "the labels are not whole numbers, such as 1e+300"),
        (np.ones((3, 4)), np.ones((3, 5)), [0, 1, 2], "rows of 4 and of 5 columns"),
        (np.ones((3, 0)), np.ones((3, 0)), [0, 1, 2], "no data (6 rows, 0 feature columns)"),
        (np.ones((3, 4)), np.ones((0, 4)), [], "no rows in test/data"),
        (np.ones((3, 4)), np.ones(()), [], "no rows in test/data"),
    ],
)
def test_a_layout_gives_usable_rows_and_the_labels_of_the_file_or_an_error(tmp_path, train, test, target, words):
    path = tmp_path / "usps.h5"
    with h5py.File(path, "w") as file:
        file["train/data"], file["train/target"] = train, np.arange(3)
        file["test/data"], file["test/target"] = test, np.asarray(target)
    with pytest.raises(DataError) as caught:
        layouts.read_usps(path)
    assert str(caught.value).startswith(f"{path}: {words}")


def test_labels_of_features_are_not_rounded(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"fts": np.ones((3, 2)), "labels": np.array([0.0, 1.5, 2.0])})
    with pytest.raises(DataError, match=r"the labels are not whole numbers, such as 1\.5"):
        layouts.read_features(path)


@pytest.mark.parametrize("sizes", [(), (2**31, 2**31, 4), (1,) * 70])
def test_sizes_of_an_idx_file_that_no_array_has(tmp_path, sizes):
    """The product of the second is 2**64, which is zero in 64 bits."""
    path = tmp_path / "a.idx"
    path.write_bytes(bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + bytes(len(sizes) != 3))
    with pytest.raises(DataError, match=r"not an idx file|the header announces 18446744073709551616 bytes"):
        layouts.read_idx(path)


def test_features_without_labels_or_with_fractions_are_named(root, monkeypatch):
    shrink(monkeypatch, "office-home", 130, (12,))
    X, _ = rows_of(130, 12, 65)
    path = folder(root, "office-home") / "Art.mat"
    savemat(path, {"fts": X})
    assert "no array of labels (found: fts (130, 12))" in error_of("office-home", "Ar")
    savemat(path, {"fts": X, "labels": np.arange(7)})
    assert "7 labels, but features of 130 x 12" in error_of("office-home", "Ar")
    path.unlink()
    np.savetxt(path.with_name("Art_Art.csv"), X, delimiter=",")
    assert "the last column holds fractions" in error_of("office-home", "Ar")


def test_cells_that_are_not_finite_are_refused(root, monkeypatch):
    shrink(monkeypatch, "office-home", 130, (12,))
    X, y = rows_of(130, 12, 65)
    X[3, 4] = np.nan
    savemat(folder(root, "office-home") / "Art.mat", {"fts": X, "labels": y})
    assert "not finite" in error_of("office-home", "Ar")


def test_a_missing_file_says_what_to_fetch_and_where_it_goes(root, tmp_path):
    message = error_of("surf", "A")
    assert "surf: the file amazon_SURF_L10.mat is missing" in message
    assert "`lpjt data fetch surf`" in message
    assert str(root / "office_caltech10_surf") in message
    assert str(tmp_path / "cache" / "office_caltech10_surf") in message


def test_a_missing_file_without_a_mirror_says_where_to_get_it(root):
    message = error_of("office-home", "Ar")
    assert "hemanthdv.org/OfficeHome-Dataset" in message
    assert "lpjt data fetch" not in message


def test_without_lpjt_data_the_variable_is_named(root, monkeypatch):
    monkeypatch.delenv("LPJT_DATA")
    assert "in the folder office_caltech10_surf of a directory that LPJT_DATA names" in error_of("surf", "A")
    monkeypatch.setenv("LPJT_DATA", str(root / "nowhere"))
    assert "which is not a directory" in error_of("surf", "A")


def test_unknown_sets_and_domains_name_the_nearest():
    assert error_of("sruf", "A") == "'sruf' is not a data set (nearest: 'surf')."
    assert "surf has no domain 'X' (known: C, A, W, D)" in error_of("surf", "X")
    assert "holds photographs, not rows" in error_of("office-images", "A")
