"""What the rows of a case come in: dtypes, memory layouts, frames and sparse matrices, sound or broken."""

import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

Wrap = Callable[[np.random.Generator, Any], Any]


def _strided(rng: np.random.Generator, X: Any) -> Any:
    wide = np.zeros((2 * len(X), 3 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _reversed(rng: np.random.Generator, X: Any) -> Any:
    return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]


def _frozen(rng: np.random.Generator, X: Any) -> Any:
    X = X.copy()
    X.flags.writeable = False
    return X


def _mapped(rng: np.random.Generator, X: Any) -> Any:
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


def _unaligned(rng: np.random.Generator, X: Any) -> Any:
    if X.dtype == object:
        return X
    raw = np.empty(X.nbytes + 1, dtype=np.uint8)[1:]
    moved = raw.view(X.dtype).reshape(X.shape)
    moved[...] = X
    return moved


#: Memory layouts, which all keep the values.
LAYOUTS: dict[str, Wrap] = {
    "C": lambda rng, X: X.copy(),
    "F": lambda rng, X: np.asfortranarray(X),
    "strided": _strided,
    "reversed": _reversed,
    "read-only": _frozen,
    "memory map": _mapped,
    "unaligned": _unaligned,
    "matrix": lambda rng, X: np.matrix(X),
    "masked": lambda rng, X: np.ma.MaskedArray(X),
    "with a mask": lambda rng, X: np.ma.MaskedArray(X, mask=rng.random(X.shape) < 0.1),
    "list": lambda rng, X: X.tolist(),
    "tuple of rows": lambda rng, X: tuple(X),
}

#: Types of entries; None stays float64.
DTYPES: tuple[str, ...] = (
    "f8", "f4", "f2", "g", ">f8", ">f4", ">f2", "i1", "i2", "i4", "i8", ">i8", "u1", "u2", "u4", "u8", "?", "O", "c16",
    "U32", "S8", "M8[s]", "V8",
)  # fmt: skip


def cast(X: Any, dtype: str) -> Any:
    """Rows in another type, whatever is lost on the way."""
    with np.errstate(all="ignore"):
        if dtype.lstrip(">")[0] in "iu":
            info = np.iinfo(dtype)
            return np.clip(np.nan_to_num(X), float(info.min) * 0.99, float(info.max) * 0.99).astype(dtype)
        if dtype == "M8[s]":
            return np.clip(np.nan_to_num(X), -1e9, 1e9).astype(np.int64).astype(dtype)
        return X.astype(np.int64).astype(dtype) if dtype == "V8" else X.astype(dtype)


def _frame(X: Any, **options: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(X, **options)


def _mixed_frame(rng: np.random.Generator, X: Any) -> Any:
    frame = _frame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    kind = rng.integers(4)
    column = ["word", 1.0, None][int(rng.integers(3))]
    frame["c0"] = [[column] * len(X), list(range(len(X))), [True] * len(X), ["3.5"] * len(X)][kind]
    return frame


def _nullable(rng: np.random.Generator, X: Any) -> Any:
    frame = _frame(X).convert_dtypes()
    if rng.random() < 0.3:
        frame = frame.mask(rng.random(X.shape) < 0.1)
    return frame


def _categories(rng: np.random.Generator, X: Any) -> Any:
    return _frame(X).astype("category")


def _sparse_columns(rng: np.random.Generator, X: Any) -> Any:
    import pandas as pd

    return pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X))


def _polars(rng: np.random.Generator, X: Any) -> Any:
    import polars as pl

    return pl.DataFrame(X.astype(float), schema=[f"c{i}" for i in range(X.shape[1])])


def _arrow(rng: np.random.Generator, X: Any) -> Any:
    import pyarrow as pa

    return pa.table({f"c{i}": X[:, i].astype(float) for i in range(X.shape[1])})


#: Frames, of which some have columns that nobody can use.
FRAMES: dict[str, Wrap] = {
    "pandas": lambda rng, X: _frame(X),
    "named": lambda rng, X: _frame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
    "named in another order": lambda rng, X: _frame(X, columns=[f"c{i}" for i in range(X.shape[1])[::-1]]),
    "duplicate names": lambda rng, X: _frame(X, columns=["c"] * X.shape[1]),
    "names of two kinds": lambda rng, X: _frame(X, columns=["c", *range(1, X.shape[1])]),
    "names of tuples": lambda rng, X: _frame(X, columns=[("a", i) for i in range(X.shape[1])]),
    "odd names": lambda rng, X: _frame(X, columns=["\x00\u202e" * (i + 1) for i in range(X.shape[1])]),
    "duplicate index": lambda rng, X: _frame(X, index=[0] * len(X)),
    "mixed columns": _mixed_frame,
    "nullable": _nullable,
    "categories": _categories,
    "sparse columns": _sparse_columns,
    "polars": _polars,
    "arrow": _arrow,
}


def _set(X: Any, part: str, place: Any, value: int) -> Any:
    getattr(X, part)[place] = value
    return X


def _csr(X: Any) -> Any:
    return sparse.csr_array(np.where(np.arange(X.size).reshape(X.shape) % 3 == 2, 0, X))


def _as_format(name: str, X: Any) -> Any:
    return _csr(X).asformat(name)


def _unsorted(X: Any) -> Any:
    X = _csr(X)
    for a, b in zip(X.indptr, X.indptr[1:], strict=False):
        X.indices[a:b], X.data[a:b] = X.indices[a:b][::-1].copy(), X.data[a:b][::-1].copy()
    X.has_sorted_indices = False
    return X


def _lying(X: Any) -> Any:
    """Unsorted and duplicate indices behind flags that say otherwise."""
    X = _unsorted(X)
    X.indices[: X.indptr[1]] = 0
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def _with(X: Any, **parts: Any) -> Any:
    X = _csr(X)
    for name, change in parts.items():
        setattr(X, name, change(getattr(X, name)))
    return X


def _broken_coo(X: Any, place: int, value: int) -> Any:
    X = _csr(X).tocoo()
    (X.row, X.col)[place][-1] = value
    return X


def _broken_lil(X: Any) -> Any:
    X = _csr(X).tolil()
    X.rows[0] = [10**6] * max(1, len(X.rows[0]))
    return X


def _uneven_lil(X: Any) -> Any:
    X = _csr(X).tolil()
    X.data[0] = [*X.data[0], 1.0]
    return X


def _broken_dia(X: Any) -> Any:
    X = _csr(X).todia()
    X.offsets = np.append(X.offsets, X.offsets[:1])
    return X


def _broken_dok(X: Any) -> Any:
    X = _csr(X).todok()
    X._dict[(10**6, 0)] = 1.0
    return X


def _broken_bsr(X: Any) -> Any:
    return _set(_csr(X).tobsr(blocksize=(1, 1)), "indices", 0, 10**6)


def _mixed_index_types(X: Any) -> Any:
    return _with(X, indices=lambda i: i.astype(np.int64), indptr=lambda i: i.astype(np.int32))


#: Sparse matrices: every format, and every defect.
SPARSE: dict[str, Callable[[Any], Any]] = {
    **{name: partial(_as_format, name) for name in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")},
    "csr_matrix": lambda X: sparse.csr_matrix(_csr(X)),
    "explicit zeros": lambda X: _with(X, data=lambda d: d * (np.arange(len(d)) % 2)),
    "unsorted": _unsorted,
    "duplicates": lambda X: _set(_csr(X), "indices", slice(None), 0),
    "lying flags": _lying,
    "mixed index types": _mixed_index_types,
    "NaN": lambda X: _with(X, data=lambda d: np.where(np.arange(len(d)) == 0, np.nan, d)),
    "column outside": lambda X: _set(_csr(X), "indices", 0, 10**6),
    "column just outside": lambda X: _set(_csr(X), "indices", 0, X.shape[1]),
    "column negative": lambda X: _set(_csr(X), "indices", 0, -1),
    "column least": lambda X: _set(_csr(X), "indices", 0, -(2**31)),
    "pointer beyond": lambda X: _set(_csr(X), "indptr", 1, 10**6),
    "pointer negative": lambda X: _set(_csr(X), "indptr", 1, -5),
    "pointer falls": lambda X: _with(X, indptr=lambda p: np.concatenate([p[:1], p[1:-1][::-1] + 1, p[-1:]])),
    "first pointer": lambda X: _set(_csr(X), "indptr", 0, 1),
    "last pointer": lambda X: _set(_csr(X), "indptr", -1, 10**6),
    "pointers too few": lambda X: _with(X, indptr=lambda p: p[:-1]),
    "pointers too many": lambda X: _with(X, indptr=lambda p: np.append(p, p[-1])),
    "indices too few": lambda X: _with(X, indices=lambda i: i[:-1]),
    "data too short": lambda X: _with(X, data=lambda d: d[:-1]),
    "float indices": lambda X: _with(X, indices=lambda i: i.astype(np.float64)),
    "two-dimensional data": lambda X: _with(X, data=lambda d: d.reshape(-1, 1)),
    "object data": lambda X: _with(X, data=lambda d: d.astype(object)),
    "csc outside": lambda X: _set(_csr(X).tocsc(), "indices", 0, 10**6),
    "bsr outside": _broken_bsr,
    "coo row outside": lambda X: _broken_coo(X, 0, 10**6),
    "coo column negative": lambda X: _broken_coo(X, 1, -3),
    "coo of other lengths": lambda X: _shorten_coo(X),
    "lil outside": _broken_lil,
    "lil of other lengths": _uneven_lil,
    "dok outside": _broken_dok,
    "dia with an offset too many": _broken_dia,
    "one dimension": lambda X: sparse.coo_array(np.ravel(_csr(X).toarray())),
}  # fmt: skip


def _shorten_coo(X: Any) -> Any:
    X = _csr(X).tocoo()
    X.data = X.data[:-1]
    return X
