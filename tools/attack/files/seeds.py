"""Sound files of every format, small, and how each is read; sparse ones with indices that are not."""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas
from scipy import io as scipy_io
from scipy import sparse

from attack.files.mutate import compress_mat
from lpjt.datasets import layouts
from lpjt.datasets.loading import LabelledRows
from lpjt.files import FileDomain, read_domain, read_known_labels

Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file."""

    group: str
    suffix: str
    seed: Callable[[Rng], bytes]  # one of its sound files
    read: Callable[[Path], object]
    layers: tuple[str, ...] = ()  # containers that the content is in
    damage: Callable[[Rng], bytes] | None = None  # another way to make a bad file than to change bytes


@cache
def _rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(24, 5)).round(4), np.arange(24) % 3


@cache
def _frame() -> pandas.DataFrame:
    X, y = _rows()
    frame = pandas.DataFrame(X, columns=[f"f{i}" for i in range(5)])
    names = np.array(["ant", "bee", "caf\u00e9"])
    days = pandas.date_range("2026-01-01", periods=24)
    return frame.assign(word=names[(y + 1) % 3], day=days, count=y, label=names[y], id=[f"r{i}" for i in range(24)])


def _written(write: Callable[[io.BytesIO], Any]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


@cache
def _texts() -> tuple[bytes, ...]:
    frame = _frame()
    numbers = frame[["f0", "f1", "count", "label"]]
    return (
        frame.to_csv(index=False).encode(),
        numbers.to_csv(index=False, sep=";", decimal=",").encode(),
        numbers.to_csv(index=False, header=False).encode(),
        frame.to_csv(index=False).encode("utf-16"),
    )


@cache
def _npz(compress: bool) -> bytes:
    X, y = _rows()
    save = np.savez_compressed if compress else np.savez
    return _written(lambda f: save(f, X=X, y=y, ids=np.array([f"r{i}" for i in range(24)]), extra=X[:3]))


def _sparse() -> sparse.csr_matrix:
    X, _ = _rows()
    return sparse.csr_matrix(np.where(X > 0, X, 0))


def _bad_indices(rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Parts of a matrix, some of them changed."""
    X = _sparse()
    parts = [X.indices.astype(np.int64), X.indptr.astype(np.int64)]
    for _ in range(int(rng.integers(1, 4))):
        part = parts[int(rng.integers(2))]
        part[int(rng.integers(len(part)))] = int(rng.choice([-1, 5, 10**6, -(2**31), 2**31 - 1, 24, 0, 100, 2**40]))
    if rng.random() < 0.3:
        which = int(rng.integers(2))
        parts[which] = parts[which][: int(rng.integers(len(parts[which])))]
    dtype = np.int32 if rng.random() < 0.5 else np.int64
    indices, indptr = (part.astype(dtype) for part in parts)
    shape = (24, 5) if rng.random() < 0.7 else (int(rng.choice([24, 0, 2**40, 23])), int(rng.choice([5, 4, 2**60])))
    return X.data.copy(), indices, indptr, shape


def _bad_sparse_npz(rng: Rng) -> bytes:
    data, indices, indptr, shape = _bad_indices(rng)
    kind = str(rng.choice(["csr", "csc", "bsr", "coo", "dia"]))
    parts: dict[str, np.ndarray] = {"indices": indices, "indptr": indptr}
    if kind == "coo":
        parts = {"row": indices, "col": indptr[rng.integers(len(indptr), size=len(indices))]} if len(indptr) else {}
    elif kind == "dia":
        data, parts = np.tile(data[:5], (len(indptr), 1)), {"offsets": indptr}
    elif kind == "bsr":
        data = data[:, None, None]
    arrays: dict[str, Any] = {"format": np.array(kind.encode()), "shape": np.array(shape), "data": data, **parts}
    return _written(lambda f: np.savez(f, **arrays))


def _bad_sparse_mat(rng: Rng) -> bytes:
    """A file of MATLAB 5 with other indices in the place of the right ones, compressed or not."""
    content, X = _mat(False, "sparse"), sparse.csc_matrix(_sparse())
    for part in (X.indices, X.indptr):
        bad = part.astype("<i4")
        for _ in range(int(rng.integers(0, 4))):
            bad[int(rng.integers(len(bad)))] = int(rng.choice([-1, 24, 10**6, -(2**31), 2**31 - 1, 0, 100]))
        content = content.replace(part.astype("<i4").tobytes(), bad.tobytes())
    return compress_mat(content) if rng.random() < 0.5 else content


@cache
def _mat(compress: bool, kind: str) -> bytes:
    X, y = _rows()
    words = np.array([["ant"], ["bee"], ["cow"]], dtype=object)[y]
    content = {
        "dense": {"X": X, "y": y, "note": "some text", "more": X.astype(np.float32)},
        "sparse": {"fts": sparse.csc_matrix(_sparse()), "labels": y[:, None]},
        "cells": {"X": X, "labels": words, "info": {"a": 1, "b": np.array(["x"], dtype=object)}},
    }[kind]
    return _written(lambda f: scipy_io.savemat(f, content, do_compression=compress))


def _as_mat_7_3(write: Callable[[Any], None]) -> bytes:
    """An HDF5 file with the header of MATLAB in front."""

    def save(file: io.BytesIO) -> None:
        with h5py.File(file, "w", userblock_size=512) as content:
            write(content)

    data = bytearray(_written(save))
    data[:116] = b"MATLAB 7.3 MAT-file, Platform: test".ljust(116)
    data[124:128] = b"\x00\x02IM"
    return bytes(data)


@cache
def _mat_7_3(compress: bool) -> bytes:
    X, y = _rows()

    def write(content: Any) -> None:
        content.create_dataset("fea", data=X.T, compression="gzip" if compress else None)
        content["gnd"] = y[None, :]

    return _as_mat_7_3(write)


def _bad_sparse_mat_7_3(rng: Rng) -> bytes:
    data, indices, indptr, shape = _bad_indices(rng)

    def write(content: Any) -> None:
        group = content.create_group("fea")
        group.attrs["MATLAB_sparse"] = np.uint64(shape[1])
        group["data"], group["ir"], group["jc"] = data, indices, indptr
        content["gnd"] = _rows()[1][None, :]

    return _as_mat_7_3(write)


@cache
def _hdf5() -> bytes:
    X, y = _rows()

    def save(file: io.BytesIO) -> None:
        with h5py.File(file, "w") as content:
            for name in ("train", "test"):
                content.create_dataset(f"{name}/data", data=X, compression="gzip" if name == "test" else None)
                content[f"{name}/target"] = y

    return _written(save)


@cache
def _idx() -> bytes:
    cells = np.arange(60, dtype=np.uint8)
    return gzip.compress(b"\0\0\x08\x03" + np.array([5, 4, 3], ">u4").tobytes() + cells.tobytes())


@cache
def _svmlight() -> bytes:
    X, y = _rows()
    rows = (
        " ".join([str(label), *(f"{j + 1}:{v}" for j, v in enumerate(row) if v > 0)])
        for row, label in zip(X, y, strict=True)
    )
    return ("# made\n" + "\n".join(rows) + "\n").encode()


@cache
def _parquet(kind: str) -> bytes:
    frame = _frame()
    if kind == "lists":
        frame = pandas.DataFrame({"emb": list(_rows()[0]), "label": _rows()[1]})
    if kind == "indexed":
        frame = frame.set_index("id").astype({"word": "category", "count": "Int64"})
    compression = None if kind == "plain" else "snappy"
    return _written(lambda f: frame.to_parquet(f, compression=compression))


@cache
def _xlsx() -> bytes:
    def save(file: io.BytesIO) -> None:
        with pandas.ExcelWriter(file, engine="openpyxl") as book:
            _frame().to_excel(book, index=False, sheet_name="first")
            _frame().head(2).to_excel(book, index=False, sheet_name="second")

    def copy(file: io.BytesIO) -> None:
        """Without the moment of writing, so that a case is the same at any time."""
        with (
            zipfile.ZipFile(io.BytesIO(_written(save))) as old,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for name in old.namelist():
                new.writestr(name, re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"2026-01-01T00:00:00Z", old.read(name)))

    return _written(copy)


@cache
def _known() -> bytes:
    rows = [f"r{i},{['ant', 'bee', ''][i % 3]}" for i in range(24)]
    return ("id,label\n" + "\n".join(rows) + "\n").encode()


def _target() -> FileDomain:
    X, _ = _rows()
    return FileDomain(Path("target.csv"), "csv", X, ids=np.array([f"r{i}" for i in range(24)]), id_name="id")


def _read_known(path: Path) -> object:
    labels = read_known_labels(path, _target(), ["ant", "bee", "cow"])
    return labels if len(labels) == 24 else None


def _read(path: Path) -> object:
    return read_domain(path)


def _read_table(path: Path) -> object:
    return read_domain(path, as_table=True)


def _read_usps(path: Path) -> object:
    return LabelledRows(*layouts.read_usps(path), (path,))


def _read_features(path: Path) -> object:
    return LabelledRows(*layouts.read_features(path), (path,))


def _read_idx(path: Path) -> object:
    return layouts.read_idx(path)


def _one_of(*makers: Callable[[], bytes]) -> Callable[[Rng], bytes]:
    return lambda rng: makers[int(rng.integers(len(makers)))]()


def _any_text(rng: Rng) -> bytes:
    return _texts()[int(rng.integers(4))]


def _json_text(rng: Rng) -> bytes:
    return json.dumps(_frame().astype(str).to_dict("records")).encode()  # a format that is not read, under another name


FORMATS = (
    Format("csv", ".csv", lambda rng: _frame()[["f0", "f1", "f2", "id", "label"]].to_csv(index=False).encode(), _read),
    Format("csv", ".csv", lambda rng: _any_text(rng) if rng.random() < 0.95 else _json_text(rng), _read_table),
    Format("csv, compressed", ".csv.gz", lambda rng: gzip.compress(_any_text(rng)), _read_table, ("gzip",)),
    Format("tsv", ".tsv", lambda rng: _frame().to_csv(index=False, sep="\t").encode(), _read_table),
    Format("xlsx", ".xlsx", lambda rng: _xlsx(), _read_table, ("zip",)),
    Format(
        "parquet", ".parquet", _one_of(*(lambda k=k: _parquet(k) for k in ("plain", "lists", "indexed"))), _read_table
    ),
    Format("npz", ".npz", _one_of(lambda: _npz(True), lambda: _npz(False)), _read, ("zip",)),
    Format("npz, sparse", ".npz", lambda rng: b"", _read, (), _bad_sparse_npz),
    Format("npy", ".npy", lambda rng: _written(lambda f: np.save(f, _rows()[0])), _read),
    Format("mat 5", ".mat", _one_of(*(lambda k=k: _mat(False, k) for k in ("dense", "sparse", "cells"))), _read),
    Format(
        "mat 5", ".mat", _one_of(*(lambda k=k: _mat(True, k) for k in ("dense", "sparse", "cells"))), _read, ("mat",)
    ),
    Format("mat 5, sparse", ".mat", lambda rng: b"", _read, (), _bad_sparse_mat),
    Format("mat 7.3", ".mat", _one_of(lambda: _mat_7_3(True), lambda: _mat_7_3(False)), _read),
    Format("mat 7.3, sparse", ".mat", lambda rng: b"", _read, (), _bad_sparse_mat_7_3),
    Format("HDF5", ".h5", lambda rng: _hdf5(), _read_usps),
    Format("mat, data sets", ".mat", _one_of(lambda: _mat(True, "dense"), lambda: _mat_7_3(True)), _read_features),
    Format("idx", ".gz", lambda rng: _idx(), _read_idx, ("gzip",)),
    Format("svmlight", ".svmlight", lambda rng: _svmlight(), _read),
    Format("svmlight", ".svmlight.gz", lambda rng: gzip.compress(_svmlight()), _read, ("gzip",)),
    Format("known labels", ".csv", lambda rng: _known(), _read_known),
)
