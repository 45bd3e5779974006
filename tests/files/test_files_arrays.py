"""Arrays: npz, npy, mat, svmlight; and the real files."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import io, sparse
from sklearn.datasets import dump_svmlight_file

from lpjt.files import FileError, read_domain
from tables import N, X, real_data, y


@pytest.mark.parametrize(("matrix", "labels"), [("X", "y"), ("feas", "labels"), ("stuff", "gnd")])
def test_npz(tmp_path, matrix, labels):
    names = np.array([f"image-{i}.png" for i in range(N)])
    np.savez(tmp_path / "a.npz", **{matrix: X, labels: y}, files=names, classes=np.array(["a", "b", "c"]))
    domain = read_domain(tmp_path / "a.npz")
    assert_array_equal(domain.X, X)
    assert_array_equal(domain.y, y)
    assert_array_equal(domain.ids, names)
    assert (domain.label_name, domain.id_name) == (labels, "files")


def test_columns_as_samples_are_transposed(tmp_path):
    io.savemat(tmp_path / "a.mat", {"X": X.T, "Y": y})
    domain = read_domain(tmp_path / "a.mat")
    assert_array_equal(domain.X, X)
    assert_array_equal(domain.y, y)
    assert "transposed" in domain.description


@pytest.mark.parametrize("names", [("X_src", "Y_src", "X_tar", "Y_tar"), ("S", "S_Label", "T", "T_Label")])
def test_file_of_both_domains(tmp_path, names):
    # As many target rows as source rows: only the names tell the labels apart.
    other = (y + 1) % 3
    arrays = dict(zip(names, (X, y[:, None], -X[:, :3], other[:, None]), strict=True))
    io.savemat(tmp_path / "a.mat", arrays)
    source = read_domain(tmp_path / "a.mat", role="source")
    target = read_domain(tmp_path / "a.mat", role="target", like=source)
    assert_array_equal(source.X, X)
    assert_array_equal(source.y, y)
    assert_array_equal(target.X, -X[:, :3])
    assert_array_equal(target.y, other)


def test_mat_with_strings_and_sparse_matrix(tmp_path):
    positive = np.where(X > 0, X, 0)
    words = np.array(["cat", "dog", "bird"])[y]
    cells = np.array([[word] for word in words], dtype=object)
    io.savemat(tmp_path / "a.mat", {"fts": sparse.csc_matrix(positive), "labels": cells})
    domain = read_domain(tmp_path / "a.mat")
    assert sparse.issparse(domain.X)
    assert domain.X.format == "csr"
    assert_array_equal(domain.X.toarray(), positive)
    assert_array_equal(domain.y, words)


def test_mat_version_7_3(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "plain.h5", "w", userblock_size=512) as file:
        file["fea"] = X.T  # as MATLAB stores it
        file["gnd"] = y[None, :]
    content = bytearray((tmp_path / "plain.h5").read_bytes())
    content[:116] = b"MATLAB 7.3 MAT-file, Platform: test".ljust(116)
    content[124:128] = b"\x00\x02IM"
    (tmp_path / "a.mat").write_bytes(content)
    domain = read_domain(tmp_path / "a.mat")
    assert_array_equal(domain.X, X)
    assert_array_equal(domain.y, y)


def test_npy_and_sparse_npz_hold_features_alone(tmp_path):
    np.save(tmp_path / "a.npy", X)
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_matrix(np.where(X > 0, X, 0)))
    assert_array_equal(read_domain(tmp_path / "a.npy").X, X)
    assert read_domain(tmp_path / "a.npy").y is None
    assert_array_equal(read_domain(tmp_path / "a.npz").X.toarray(), np.where(X > 0, X, 0))


@pytest.mark.parametrize("suffix", [".svmlight", ".libsvm", ".svm", ".svmlight.gz"])
def test_svmlight(tmp_path, suffix):
    path = tmp_path / "a.svmlight"
    dump_svmlight_file(X, y, str(path), zero_based=True)
    if suffix.endswith(".gz"):
        path.with_name("a.svmlight.gz").write_bytes(gzip.compress(path.read_bytes()))
    else:
        path.rename(tmp_path / f"a{suffix}")
    domain = read_domain(tmp_path / f"a{suffix}")
    np.testing.assert_allclose(domain.X.toarray(), X)
    assert_array_equal(domain.y, y)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("office_caltech10_surf/Caltech10_SURF_L10.mat", (1123, 800), 10),
        ("office_caltech10_decaf6/dslr_decaf.mat", (157, 4096), 10),
        ("office_caltech10_googlenet/webcam.mat", (295, 1024), 10),  # labels are 1 x n
        ("office_caltech10_efficientnet/dslr_efficientnet_lite0.npz", (157, 1280), 10),
        ("pie/PIE05.mat", (3332, 1024), 68),
        ("mnist_usps/MNIST_vs_USPS.mat", (2000, 256), 10),  # columns are samples
        ("coil20/COIL_1.mat", (720, 1024), 20),
        ("hda_cdls_demo/amazon_DeCAF_dslr_SURF.mat", (200, 4096), 10),
        ("amazon_review_400/books_400.mat", (2000, 400), 2),
        ("amazon_review_5000/books_train.svmlight", (2000, 5000), 2),
    ],
)
def test_real_files(name, shape, n_classes):
    domain = read_domain(real_data() / name)
    assert domain.X.shape == shape
    assert len(np.unique(domain.y)) == n_classes
    assert domain.labelled.all()


@pytest.mark.data
def test_real_file_of_both_domains():
    data = real_data()
    source = read_domain(data / "mnist_usps/MNIST_vs_USPS.mat", role="source")
    target = read_domain(data / "mnist_usps/MNIST_vs_USPS.mat", role="target", like=source)
    assert (source.X.shape, target.X.shape) == ((2000, 256), (1800, 256))
    assert (source.label_name, target.label_name) == ("Y_src", "Y_tar")


@pytest.mark.parametrize("arrays", [{"{}": np.ones(3)}, {"{}": np.ones((3, 2)), "y": np.arange(7)}, {"{}": X, "b": X}])
def test_names_in_messages_are_one_short_line(tmp_path, arrays):
    """A damaged file may have any bytes as the name of an array: newlines, escapes of the terminal, thousands."""
    name = "a\n)\x1b[31m(" + "z" * 5000
    path = tmp_path / "a.npz"
    np.savez(path, **{key.format(name): value for key, value in arrays.items()})
    try:
        message = read_domain(path).description
    except FileError as error:
        message = str(error)
    assert message.isprintable()
    assert len(message) < len(str(path)) + 300
