"""Files from strangers: invalid indices, bombs, links out of the file, and what is no file at all."""

import gzip
import io
import os
import re
import socket
import struct
import threading
import zipfile

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from lpjt.files import FileError, read_domain, read_known_labels
from lpjt.files.domain import FileDomain
from tables import X, error_of, frame, y

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.isolated


def mat_7_3(path, write):
    """An HDF5 file with the header of MATLAB in front."""
    with h5py.File(path, "w", userblock_size=512) as content:
        write(content)
    data = bytearray(path.read_bytes())
    data[:116] = b"MATLAB 7.3 MAT-file, Platform: test".ljust(116)
    data[124:128] = b"\x00\x02IM"
    path.write_bytes(data)
    return path


@pytest.fixture
def low_memory(monkeypatch):
    monkeypatch.setenv("LPJT_READ_MEMORY", "0.05")


BAD_PARTS = [
    ([10**6, 1, 2], [0, 1, 2, 3]),
    ([-1, 1, 2], [0, 1, 2, 3]),
    ([0, 1, 2], [0, 3, 1, 3]),
    ([0, 1, 2], [0, 1, 2, 10**6]),
    ([0, 1, 2], [1, 1, 2, 3]),
    ([0, 1], [0, 1, 2, 3]),
    ([0, 1, 2], [0, 10**6, -5, 0]),  # as if there were no entries: scipy's own check lets it pass
]


@pytest.mark.parametrize(("indices", "indptr"), BAD_PARTS)
@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
def test_invalid_indices_in_npz(tmp_path, indices, indptr, kind):
    shape, data = ((3, 20) if kind != "csc" else (20, 3)), np.ones(3)
    parts = {"indices": np.array(indices), "indptr": np.array(indptr)}
    data = data[:, None, None] if kind == "bsr" else data
    np.savez(tmp_path / "a.npz", format=np.array(kind.encode()), shape=np.array(shape), data=data, **parts)
    assert "its matrix is a sparse matrix whose parts" in error_of(tmp_path / "a.npz") or "invalid" in error_of(
        tmp_path / "a.npz"
    )


def test_invalid_indices_in_npz_of_other_formats(tmp_path):
    for parts in ({"row": [0, 1, 99], "col": [0, 1, 2]}, {"row": [0, 1, -1], "col": [0, 1, 2]}):
        arrays = {name: np.array(part) for name, part in parts.items()}
        np.savez(tmp_path / "a.npz", format=np.array(b"coo"), shape=np.array([3, 20]), data=np.ones(3), **arrays)
        assert "sparse matrix" in error_of(tmp_path / "a.npz")
    for offset in (2**40, -3, 20):
        offsets = np.array([0, offset])
        np.savez(
            tmp_path / "a.npz", format=np.array(b"dia"), shape=np.array([3, 20]), data=np.ones((2, 20)), offsets=offsets
        )
        assert "a diagonal is out of bounds" in error_of(tmp_path / "a.npz")
    for shape in ([3], [3, 2**40], [2**40, 20], [-3, 20]):
        np.savez(tmp_path / "a.npz", format=np.array(b"coo"), shape=np.array(shape), data=np.ones(1), row=[0], col=[0])
        assert f"a sparse matrix of shape {tuple(shape)} cannot be read" in error_of(tmp_path / "a.npz")


@pytest.mark.parametrize("compressed", [False, True])
def test_invalid_indices_in_mat_5(tmp_path, compressed):
    matrix = sparse.csc_matrix(np.where(X > 0, X, 0))
    scipy_io.savemat(tmp_path / "a.mat", {"fts": matrix, "labels": y})
    content = (tmp_path / "a.mat").read_bytes()
    for part, value in ((matrix.indices, 10**6), (matrix.indices, -1), (matrix.indptr, 10**6)):
        bad = part.astype("<i4").copy()
        bad[1] = value
        changed = content.replace(part.astype("<i4").tobytes(), bad.tobytes())
        assert changed != content
        (tmp_path / "a.mat").write_bytes(changed)
        assert "whose parts do not fit together" in error_of(tmp_path / "a.mat") or "crashed" in error_of(
            tmp_path / "a.mat"
        )


@pytest.mark.parametrize(("indices", "indptr"), BAD_PARTS)
def test_invalid_indices_in_mat_7_3(tmp_path, indices, indptr):
    def write(content):
        group = content.create_group("fea")
        group.attrs["MATLAB_sparse"] = np.uint64(20)
        group["data"], group["ir"], group["jc"] = np.ones(3), np.array(indices), np.array(indptr)

    message = error_of(mat_7_3(tmp_path / "a.mat", write))
    assert "its matrix is a sparse matrix whose parts" in message or "its sparse matrix is invalid" in message


def bomb_npz(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as file:
        shape = (2**17, 100)
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
        for _ in range(100):
            file.write(bytes(2**20))


def bomb_csv(path):
    with gzip.open(path, "wb") as file:
        file.write(b"a,b\n")
        for _ in range(100):
            file.write(b"1," * 2**19)


def bomb_svmlight(path):
    with gzip.open(path, "wb") as file:
        for _ in range(100):
            file.write(b"1 2:3\n" * 2**17)


def bomb_mat(path):
    scipy_io.savemat(path, {"X": np.zeros((2**17, 100))}, do_compression=True)


def bomb_mat_7_3(path):
    mat_7_3(path, lambda c: c.create_dataset("X", (2**40, 100), "f8", chunks=(1024, 100), compression="gzip"))


def bomb_parquet(path):
    frame(np.zeros((2**20, 8))).to_parquet(path)


def bomb_xlsx(path):
    frame(X).to_excel(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/more.xml", "w") as file:
        for _ in range(100):
            file.write(bytes(2**20))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.npz", bomb_npz),
        ("a.csv.gz", bomb_csv),
        ("a.svmlight.gz", bomb_svmlight),
        ("a.mat", bomb_mat),
        ("b.mat", bomb_mat_7_3),
        ("a.parquet", bomb_parquet),
        ("a.xlsx", bomb_xlsx),
    ],
)
def test_bombs_are_refused_with_the_limit_and_how_to_raise_it(tmp_path, low_memory, name, make):
    make(tmp_path / name)
    message = error_of(tmp_path / name)
    assert "GiB that reading this file may take" in message
    assert "allow more: LPJT_READ_MEMORY=<GiB> in the environment" in message


def test_what_is_refused_can_be_allowed(tmp_path, monkeypatch):
    bomb_mat(tmp_path / "a.mat")
    monkeypatch.setenv("LPJT_READ_MEMORY", "1")
    assert read_domain(tmp_path / "a.mat").X.shape == (2**17, 100)


def test_a_small_npz_does_not_unpack_to_gigabytes(tmp_path):
    """Under the limits of ordinary use: 7 MB that claim 7 GB."""
    bomb_npz(tmp_path / "a.npz")
    data = bytearray((tmp_path / "a.npz").read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 2**32 - 2)
    (tmp_path / "a.npz").write_bytes(data)
    assert "its arrays announce 4.0 GiB, more than the 2.0 GiB" in error_of(tmp_path / "a.npz")


def test_headers_that_claim_more_than_there_is(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**50, 2)})
    (tmp_path / "a.npy").write_bytes(header.getvalue() + bytes(160))
    assert "its header announces 18,014,398,509,481,984 bytes of cells, and 160 follow" in error_of(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue() + bytes(160))
    assert "and 160 follow" in error_of(tmp_path / "a.npz")


def test_an_archive_under_the_name_of_an_array(tmp_path):
    np.savez(tmp_path / "a.npz", X=X)
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    assert "cannot be read as npy" in error_of(tmp_path / "a.npy")


def test_arrays_in_other_files_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = X.T
    (tmp_path / "secret.bin").write_bytes(X.tobytes())

    def link(content):
        content["X"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "X")

    def store(content):
        content.create_dataset("X", X.shape, "f8", external=[(str(tmp_path / "secret.bin"), 0, X.nbytes)])

    def virtual(content):
        layout = h5py.VirtualLayout(X.T.shape, "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "X", X.T.shape)
        content.create_virtual_dataset("X", layout)

    def through(content):
        content["group/link"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/")
        content["X"] = h5py.SoftLink("/group/link/X")

    assert "'X' is a link to another file" in error_of(mat_7_3(tmp_path / "a.mat", link))
    assert "'X' is a link to another file" in error_of(mat_7_3(tmp_path / "d.mat", through))
    assert "the cells of 'X' are in another file" in error_of(mat_7_3(tmp_path / "b.mat", store))
    assert "the cells of 'X' are in another file" in error_of(mat_7_3(tmp_path / "c.mat", virtual))


def test_links_within_a_file_are_followed_once(tmp_path):
    def write(content):
        content["fea"], content["gnd"] = X.T, y[None, :]
        content["again"], content["loop"] = h5py.SoftLink("/fea"), h5py.SoftLink("/loop")

    assert read_domain(mat_7_3(tmp_path / "a.mat", write)).X.shape == X.shape


def test_an_index_of_billions(tmp_path):
    (tmp_path / "a.svmlight").write_text("# made\n1 1:2\n0 1:1 2000000000:1\n")
    message = error_of(tmp_path / "a.svmlight")
    assert "line 3 has the feature index 2000000000; a matrix has at most 67,108,864 columns" in message
    assert "hash them to fewer" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 2:3 2:4\n", "the indices of line 1 do not increase"),
        ("1 1:1\n1 -2:3\n", "line 2 is not 'label index:value ...': '1 -2:3'"),
        ("1 1:1\n1 2:x\n", "could not convert"),
        ("1 2:3:4\n", "line 1 is not"),
        ("# only a comment\n", "has no rows"),
        ("1\n0\n", "no data"),
    ],
)
def test_broken_svmlight(tmp_path, text, words):
    (tmp_path / "a.svmlight").write_text(text)
    assert words in error_of(tmp_path / "a.svmlight")


def test_svmlight_with_queries_comments_and_blank_lines(tmp_path):
    (tmp_path / "a.svmlight").write_text("# head\n1 qid:7 1:0.5 3:2 # note\n\n0\n1 2:1e-3")
    domain = read_domain(tmp_path / "a.svmlight")
    np.testing.assert_array_equal(domain.X.toarray(), [[0, 0.5, 0, 2], [0, 0, 0, 0], [0, 0, 1e-3, 0]])
    np.testing.assert_array_equal(domain.y, [1, 0, 1])


def test_long_svmlight_files_are_read_in_blocks(tmp_path):
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    wide = np.random.default_rng(0).normal(size=(3000, 40)).round(3)
    dump_svmlight_file(wide, np.arange(3000) % 4, str(tmp_path / "a.svmlight"), zero_based=True)
    assert (tmp_path / "a.svmlight").stat().st_size > 2**20
    domain, (expected, labels) = read_domain(tmp_path / "a.svmlight"), load_svmlight_file(str(tmp_path / "a.svmlight"))
    assert (expected != domain.X).nnz == 0
    np.testing.assert_array_equal(domain.y, labels)


def test_zero_bytes_in_text_are_refused_with_their_line(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b,label\n1,2,0\n1,\x00,1\n3,4,1\n")
    assert "line 3 has a zero byte" in error_of(tmp_path / "a.csv")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"a,b\x00,label\n1,2,0\n"))
    assert "line 1 has a zero byte" in error_of(tmp_path / "b.csv.gz")
    (tmp_path / "c.csv").write_bytes("a,b,label\n1,2,0\n1,\0,1\n".encode("utf-16"))
    assert "line 3 has a zero byte" in error_of(tmp_path / "c.csv")
    target = FileDomain(tmp_path / "t.csv", "csv", X)
    (tmp_path / "known.csv").write_bytes(b"row,label\n0,\x001\n")
    with pytest.raises(FileError, match="line 2 has a zero byte"):
        read_known_labels(tmp_path / "known.csv", target, [0, 1])


def test_ordinary_utf_16_is_still_read(tmp_path):
    frame(X, label=y).to_csv(tmp_path / "a.csv", index=False, encoding="utf-16")
    np.testing.assert_array_equal(read_domain(tmp_path / "a.csv").y, y)
    frame(X, label=y).to_csv(tmp_path / "b.csv", index=False, encoding="utf-16-le")
    np.testing.assert_array_equal(read_domain(tmp_path / "b.csv", encoding="utf-16-le").y, y)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("suffix", [".csv", ".npz", ".npy", ".mat", ".parquet", ".xlsx", ".svmlight", ".csv.gz"])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"fifo{suffix}"
    os.mkfifo(path)
    assert "this is a FIFO, not an ordinary file. Copy the content to a file." in error_of(path)
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"socket{suffix}")
    assert "this is a socket" in error_of(tmp_path / f"socket{suffix}")
    for device in ("zero", "random"):
        link = tmp_path / f"{device}{suffix}"
        link.symlink_to(f"/dev/{device}")
        assert "this is a device" in error_of(link)
    loop = tmp_path / f"loop{suffix}"
    loop.symlink_to(loop)
    assert "cannot be opened (Too many levels of symbolic links)" in error_of(loop)
    assert "no such file" in error_of(tmp_path / "none" / f"x{suffix}")
    assert "cannot be opened (File name too long)" in error_of(tmp_path / ("n" * 300 + suffix))
    assert re.search(r"cannot be opened \(.*embedded null", error_of(tmp_path / f"a\0b{suffix}"))  # Python's words


def test_long_names_are_ordinary(tmp_path):
    np.savez(tmp_path / ("n" * 246 + ".npz"), X=X, y=y)
    assert read_domain(tmp_path / ("n" * 246 + ".npz")).X.shape == X.shape


def test_a_file_without_permission(tmp_path, monkeypatch):
    """Root may read everything, so the system's answer is played."""
    np.savez(tmp_path / "a.npz", X=X, y=y)

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("lpjt.isolated.ordinary.os.open", refuse)
    assert "cannot be opened (Permission denied). Change its permissions" in error_of(tmp_path / "a.npz")


def test_lack_of_memory_is_told(tmp_path, monkeypatch):
    frame(X, label=y).to_csv(tmp_path / "a.csv", index=False)

    def exhaust(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr("pandas.read_csv", exhaust)
    assert "there is not enough memory to read it" in error_of(tmp_path / "a.csv")


def test_reading_from_several_threads(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=y)
    found = []
    threads = [threading.Thread(target=lambda: found.append(read_domain(tmp_path / "a.npz").X)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all((one == X).all() for one in found)


def test_row_groups_of_parquet_may_have_dictionaries_of_their_own(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    groups = [
        pa.table({"x": [1.0, 2.0], "label": pa.array(values).dictionary_encode()})
        for values in (["a", "b"], ["c", "a"])
    ]
    with pq.ParquetWriter(tmp_path / "a.parquet", groups[0].schema) as writer:
        for group in groups:
            writer.write_table(group)
    assert read_domain(tmp_path / "a.parquet").y.tolist() == ["a", "b", "c", "a"]
