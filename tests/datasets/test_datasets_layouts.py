"""Every layout of the registry, read from files that the tests write."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from datasets_small import empty_directories, folder, rows_of, shrink, write_idx, write_mat73
from lpjt.datasets import DataError, load_domain, load_domains

h5py = pytest.importorskip("h5py")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def root(monkeypatch, tmp_path):
    return empty_directories(monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("name", "file", "matrix", "labels"),
    [
        ("decaf6", "amazon_decaf.mat", "feas", "labels"),
        ("decaf6", "amazon.mat", "feas", "label"),
        ("vgg", "amazon_VGG-FC6.mat", "FTS", "LABELS"),
        ("surf", "amazon_SURF_L10.mat", "fts", "labels"),
        ("googlenet", "amazon.mat", "fts", "labels"),
    ],
)
@pytest.mark.parametrize("version", ["5", "7.3"])
def test_office_features_of_both_mat_versions(root, monkeypatch, name, file, matrix, labels, version):
    shrink(monkeypatch, name, 30, (12,))
    X, y = rows_of(30, 12, 10)
    path = folder(root, name) / file
    if version == "5":
        savemat(path, {matrix: X, labels: y[:, None]})
    else:
        write_mat73(path, **{matrix: X, labels: y[:, None]})
    domain = load_domain(name, "A")
    assert_array_equal(domain.X, X)
    assert domain.X.dtype == np.float64
    assert_array_equal(domain.y, y)
    assert domain.files == (path,)


def test_labels_that_begin_at_0_are_put_on_the_common_order(root, monkeypatch):
    shrink(monkeypatch, "efficientnet", 30, (12,))
    X, y = rows_of(30, 12, 10, first=0)
    names = np.array([f"amazon/mug/{i}.jpg" for i in range(30)])
    np.savez(folder(root, "efficientnet") / "amazon_efficientnet_lite0.npz", feas=X, labels=y, files=names)
    domain = load_domain("efficientnet", "A")
    assert_array_equal(domain.y, y + 1)
    assert_array_equal(domain.images, names)


@pytest.mark.parametrize("file", ["PIE07.mat", "PIE2.mat"])
def test_pie_goes_by_camera_or_by_number(root, monkeypatch, file):
    shrink(monkeypatch, "pie", 136, (16,))
    X, y = rows_of(136, 16, 68)
    savemat(folder(root, "pie") / file, {"fea": (255 * X).astype(np.uint8), "gnd": y[:, None]})
    assert_array_equal(load_domain("pie", "07").y, y)


@pytest.mark.parametrize("where", ["own folder", "root"])
def test_caltech_goes_by_several_names(root, monkeypatch, where):
    shrink(monkeypatch, "surf", 20, (8,))
    X, y = rows_of(20, 8, 10)
    place = folder(root, "surf") if where == "own folder" else root
    savemat(place / "caltech_SURF_L10.mat", {"fts": X, "labels": y})
    assert load_domain("surf", "C").files[0].name == "caltech_SURF_L10.mat"


def test_a_name_of_two_sets_is_not_looked_for_in_the_root(root, monkeypatch):
    shrink(monkeypatch, "googlenet", 20, (8,))
    X, y = rows_of(20, 8, 10)
    savemat(root / "amazon.mat", {"fts": X, "labels": y})  # DeCAF6, or GoogLeNet?
    with pytest.raises(DataError, match=r"googlenet: the file amazon\.mat is missing"):
        load_domain("googlenet", "A")


@pytest.mark.parametrize("first", ["MNIST", "USPS"])
def test_one_file_of_the_digits_holds_both_domains(root, monkeypatch, first):
    shrink(monkeypatch, "digits", 20, (9,))
    X, y = rows_of(20, 9, 10)
    Z, z = rows_of(20, 9, 10, seed=1)
    second = {"MNIST": "USPS", "USPS": "MNIST"}[first]
    arrays = {"X_src": X.T, "Y_src": y[:, None], "X_tar": Z.T, "Y_tar": z[::-1][:, None]}
    savemat(folder(root, "digits") / f"{first}_vs_{second}.mat", arrays)
    domains = load_domains("digits")
    assert_array_equal(domains[first].X, X)
    assert_array_equal(domains[second].X, Z)
    assert_array_equal(domains[second].y, z[::-1])


def test_full_mnist_from_idx_files_packed_or_not(root, monkeypatch):
    shrink(monkeypatch, "mnist-full", 50, (16,))
    images = np.random.default_rng(0).integers(0, 255, (50, 4, 4), dtype=np.uint8)
    labels = (np.arange(50) % 10).astype(np.uint8)
    place = folder(root, "mnist-full")
    write_idx(place / "train-images-idx3-ubyte.gz", images[:40])
    write_idx(place / "train-labels-idx1-ubyte", labels[:40], packed=False)
    write_idx(place / "t10k-images.idx3-ubyte", images[40:], packed=False)
    write_idx(place / "t10k-labels-idx1-ubyte.gz", labels[40:])
    domain = load_domain("mnist-full", "MNIST")
    assert_array_equal(domain.X, images.reshape(50, 16))
    assert_array_equal(domain.y, labels)
    assert len(domain.files) == 4


def test_full_usps_from_groups_of_hdf5(root, monkeypatch):
    shrink(monkeypatch, "usps-full", 30, (16,))
    X, y = rows_of(30, 16, 10, first=0)
    with h5py.File(folder(root, "usps-full") / "usps.h5", "w") as file:
        file["train/data"], file["train/target"] = X[:20], y[:20]
        file["test/data"], file["test/target"] = X[20:], y[20:]
    domain = load_domain("usps-full", "USPS")
    assert_array_equal(domain.X, X)
    assert_array_equal(domain.y, y)


def write_features(path, X, y):
    """Deep features in the layout that the file's name stands for."""
    if path.name.endswith("noft.mat"):
        savemat(path, {"resnet50_features": X[:, :, None, None], "labels": y[None]})
    elif path.suffix == ".mat":
        write_mat73(path, fts=X, labels=y[:, None])
    elif path.suffix == ".h5":
        with h5py.File(path, "w") as file:
            file["features"], file["labels"] = X, y
    elif path.suffix == ".npz":
        np.savez(path, X=X, y=y)
    else:
        np.savetxt(path, np.column_stack([X, y]), delimiter=",", fmt="%.9g")


@pytest.mark.parametrize(
    "file",
    [
        "Art-vgg-fc7.mat",
        "OfficeHome-Art-vgg-fc7.mat",
        "OfficeHome-Art-resnet50-noft.mat",
        "Art_Art.csv",
        "Art.npz",
        "Art.h5",
    ],
)
@pytest.mark.parametrize("first", [0, 1])
def test_office_home_in_every_layout(root, monkeypatch, file, first):
    shrink(monkeypatch, "office-home", 130, (12,))
    X, y = rows_of(130, 12, 65, first=first)
    write_features(folder(root, "office-home") / file, X, y)
    domain = load_domain("office-home", "Ar")
    assert_allclose(domain.X, X, rtol=1e-7)
    assert_array_equal(domain.y, y - first)  # from 0 on, whatever the file


def test_office_home_in_the_folder_of_its_makers(root, monkeypatch):
    shrink(monkeypatch, "office-home", 130, (12,))
    X, y = rows_of(130, 12, 65, first=0)
    (root / "Office-Home_resnet50").mkdir()
    write_features(root / "Office-Home_resnet50" / "RealWorld_RealWorld.csv", X, y)
    assert load_domain("office-home", "Rw").X.shape == (130, 12)


@pytest.mark.parametrize("file", ["train_train.csv", "visda_train.mat", "visda_train.h5", "train.npz"])
def test_visda_stays_in_single_precision(root, monkeypatch, file):
    shrink(monkeypatch, "visda", 48, (20,))
    X, y = rows_of(48, 20, 12, first=0)
    write_features(folder(root, "visda") / file, X, y)
    domain = load_domain("visda", "train")
    assert domain.X.dtype == np.float32
    assert_allclose(domain.X, X, rtol=1e-7)
    assert_array_equal(domain.y, y)


def test_csv_features_with_numbered_or_named_columns(root, monkeypatch):
    shrink(monkeypatch, "office-home", 130, (12,))
    X, y = rows_of(130, 12, 65, first=0)
    path = folder(root, "office-home") / "Art_Art.csv"
    frame = pandas.DataFrame(np.column_stack([X, y]))
    frame.to_csv(path, index=False)  # a header line of 0, 1, 2, ...
    assert_array_equal(load_domain("office-home", "Ar").y, y)
    named = pandas.DataFrame(X).add_prefix("f")
    named.insert(0, "label", y)
    named.to_csv(path, index=False)
    assert_array_equal(load_domain("office-home", "Ar").y, y)


def test_sparse_reviews_stay_sparse_and_keep_their_labels(root, monkeypatch):
    shrink(monkeypatch, "amazon-5000", 20, (30,))
    X = sparse.random(20, 30, 0.3, format="csr", random_state=0)
    X[0, 29] = 1.0
    y = np.where(np.arange(20) % 2, 1, -1)
    dump_svmlight_file(X, y, str(folder(root, "amazon-5000") / "books_train.svmlight"), zero_based=True)
    domain = load_domain("amazon-5000", "B")
    assert isinstance(domain.X, sparse.csr_array)
    assert_allclose(domain.X.toarray(), X.toarray())
    assert_array_equal(domain.y, y)


def test_the_demonstration_of_cdls_has_its_labelled_rows_first(root, monkeypatch):
    shrink(monkeypatch, "cdls-demo", 50, (12, 6))
    S, s = rows_of(50, 12, 10)
    T, t = rows_of(50, 6, 10, seed=1)
    arrays = {"S": S, "S_Label": s, "T": T[:30], "T_Label": t[:30], "Ttest": T[30:], "Ttest_Label": t[30:]}
    savemat(folder(root, "cdls-demo") / "amazon_DeCAF_dslr_SURF.mat", arrays)
    assert_array_equal(load_domain("cdls-demo", "amazon DeCAF").X, S)
    assert_array_equal(load_domain("cdls-demo", "dslr SURF").X, T)
    assert_array_equal(load_domain("cdls-demo", "dslr SURF").y, t)
