"""Small data sets of the real layouts, for the tests of `lpjt.datasets`."""

import dataclasses
import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from lpjt.datasets import SETS

needs_data = pytest.mark.data


def shrink(monkeypatch, name, rows, widths, n_classes=None):
    """Let the registry expect few rows and columns of a set, everything else unchanged."""
    data = SETS[name]
    domains = {key: dataclasses.replace(domain, rows=rows) for key, domain in data.domains.items()}
    changed = dataclasses.replace(data, domains=domains, widths=widths, n_classes=n_classes or data.n_classes)
    monkeypatch.setitem(SETS, name, changed)
    return changed


def with_file(monkeypatch, name, domain, **changes):
    """Change what the registry says of the only file of a domain, and leave the set that domain alone."""
    data = SETS[name]
    file = dataclasses.replace(data.domains[domain].files[0], **changes)
    kept = dataclasses.replace(data.domains[domain], files=(file,), twin=None)
    changed = dataclasses.replace(data, domains={domain: kept})
    monkeypatch.setitem(SETS, name, changed)
    return file


def rows_of(n, width, n_classes, *, first=1, seed=0):
    """Random rows, float32, and labels of all classes in a row."""
    rng = np.random.default_rng(seed)
    return rng.random((n, width), dtype=np.float32), first + np.arange(n) % n_classes


def empty_directories(monkeypatch, tmp_path) -> Path:
    """An empty LPJT_DATA and an empty cache; the former is returned."""
    root = tmp_path / "data"
    root.mkdir()
    monkeypatch.setenv("LPJT_DATA", str(root))
    monkeypatch.setenv("LPJT_CACHE", str(tmp_path / "cache"))
    return root


def folder(root, name):
    path = root / SETS[name].folder
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_mat73(path, **arrays):
    """A file as MATLAB writes with -v7.3: HDF5 behind a header of 512 bytes, arrays turned."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in arrays.items():
            stored = file.create_dataset(name, data=np.asarray(value).T)
            stored.attrs["MATLAB_class"] = np.bytes_("double")
    header = (
        b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(124) + struct.pack("<H", 0x0200) + b"IM"
    )
    with open(path, "r+b") as file:
        file.write(header)


def write_idx(path, array, *, packed=True):
    content = b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()
    path.write_bytes(gzip.compress(content) if packed else content)
