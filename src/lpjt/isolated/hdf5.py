"""HDF5 in the child: numeric arrays of one file. What leads to another file is refused."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from lpjt.isolated.limits import Limits
from lpjt.isolated.parts import Answer, RefusedError, SparseParts, Value

_MAX_ITEMS = 10_000  # groups and arrays that are looked at; links can make a small file endless


def read_hdf5(path: Path, limits: Limits) -> Answer:
    """Numeric arrays of an HDF5 file by path, such as train/data; arrays of MATLAB are transposed to its order."""
    import h5py

    values: dict[str, Value] = {}
    with h5py.File(path, "r") as file:
        wanted = {name: item for name, item in _items(file, h5py, deep=True) if _is_numeric(item, h5py)}
        _refuse_sizes(wanted.values(), limits)
        for name, item in wanted.items():
            values[name] = item[()].T if "MATLAB_class" in item.attrs else item[()]
    return Answer(values, {})


def read_mat_7_3(path: Path, limits: Limits) -> Answer:
    """Numeric and sparse variables of a MATLAB 7.3 file. HDF5 is row-major, MATLAB column-major: hence ``.T``."""
    import h5py

    values: dict[str, Value] = {}
    with h5py.File(path, "r") as file:
        items = dict(_items(file, h5py, deep=False))
        dense = {name: item for name, item in items.items() if _is_numeric(item, h5py)}
        others = {name: item for name, item in items.items() if isinstance(item, h5py.Group)}
        sparse = {name: _sparse_items(item, h5py) for name, item in others.items() if "MATLAB_sparse" in item.attrs}
        _refuse_sizes([*dense.values(), *(part for parts in sparse.values() for part in parts.values())], limits)
        for name, item in items.items():
            if name in dense:
                values[name] = np.asarray(item[()]).T
            elif "data" in sparse.get(name, {}):
                parts = {key: np.asarray(part[()]) for key, part in sparse[name].items()}
                values[name] = _sparse_of(parts, int(item.attrs["MATLAB_sparse"]))
    return Answer(values, {})


def _items(group: Any, h5py: Any, *, deep: bool, prefix: str = "", seen: set[Any] | None = None) -> Any:
    """Names and items below a group. A link to another file is an error; a group that holds itself is met once."""
    seen = set() if seen is None else seen
    for name in group:
        if name.startswith("#"):
            continue
        if len(seen) > _MAX_ITEMS:
            raise RefusedError(
                f"it has more than {_MAX_ITEMS:,} groups and arrays. Save the features in one of its own."
            )
        item = _open_link(group, name, prefix, h5py)
        if item is None:
            continue
        address = h5py.h5o.get_info(item.id).addr
        if isinstance(item, h5py.Dataset):
            _refuse_storage(item, prefix + name)
        if address in seen:
            continue
        seen.add(address)
        yield prefix + name, item
        if deep and isinstance(item, h5py.Group):
            yield from _items(item, h5py, deep=True, prefix=f"{prefix}{name}/", seen=seen)


def _open_link(group: Any, name: str, prefix: str, h5py: Any) -> Any:
    """The item of a name; None for a link that leads nowhere, an error for one that leads out of the file."""
    link = group.get(name, getlink=True)
    where = link.filename if isinstance(link, h5py.ExternalLink) else None
    if isinstance(link, h5py.SoftLink):
        try:
            item = group[name]
        except (KeyError, OSError, RuntimeError):
            return None
        where = item.file.filename if item.file.filename != group.file.filename else None
    if where is not None:
        raise RefusedError(
            f"'{prefix}{name}' is a link to another file ({where!r}), and such links are not followed. Copy the array "
            "into this file."
        )
    return group[name]


def _refuse_storage(item: Any, name: str) -> None:
    """Refuse an array whose cells are in other files."""
    if item.external or item.is_virtual:
        raise RefusedError(
            f"the cells of '{name}' are in another file, and such storage is not followed. Copy the array into this "
            "file."
        )


def _is_numeric(item: Any, h5py: Any) -> bool:
    return isinstance(item, h5py.Dataset) and item.shape is not None and item.dtype.kind in "biuf"


def _refuse_sizes(items: Any, limits: Limits) -> None:
    announced = sum(math.prod(item.shape) * item.dtype.itemsize for item in items)
    limits.refuse_bytes(announced, "its arrays announce")


def _sparse_items(group: Any, h5py: Any) -> dict[str, Any]:
    found = dict(_items(group, h5py, deep=False))
    return {key: found[key] for key in ("data", "ir", "jc") if key in found and _is_numeric(found[key], h5py)}


def _sparse_of(parts: dict[str, np.ndarray], n_rows: int) -> SparseParts:
    """A sparse variable; MATLAB keeps no indices where there are no entries."""
    indptr = parts.get("jc", np.zeros(1, dtype=np.int64)).ravel()
    arrays = {"data": parts["data"].ravel(), "indices": parts.get("ir", np.zeros(0, dtype=np.int64)).ravel()}
    return SparseParts("csc", (n_rows, max(0, len(indptr) - 1)), {**arrays, "indptr": indptr})
