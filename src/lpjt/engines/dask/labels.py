"""Labels beside Dask arrays of rows: as a Dask array or in memory, encoded block by block."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from lpjt._labels import UNLABELLED, Labels, encode_source, encode_target, read_labels, target_codes
from lpjt._typing import Codes, Values
from lpjt.engines.dask.cluster import compute, persist

#: A Dask array; dask, which has no types of its own, is not imported before one is given.
Lazy: TypeAlias = Any


@dataclass(frozen=True, slots=True, eq=False)
class LazyLabels:
    """One `y`: all of its labels if they are in memory, otherwise its blocks and their distinct labels."""

    where: str
    distinct: Labels  # all labels if they are in memory
    blocks: Lazy | None = None  # in the blocks of the rows; None if the labels are in memory


@dataclass(frozen=True, slots=True, eq=False)
class LabelSummary:
    """Summary of one block of labels."""

    values: Values  # distinct labels
    missing: Codes  # the first few rows without a label
    fault: str = ""


def open_labels(y: Any, X: Lazy, where: str, of: str, *, lazy: bool) -> LazyLabels:
    """Read the labels of the rows `X`, a Dask array."""
    import dask

    if not lazy:
        return LazyLabels(where, read_labels(y, X.shape[0], where, of=of))
    y = _aligned(y, X, where, of)
    starts = np.concatenate([[0], np.cumsum(y.chunks[0])]).tolist()
    summarise = dask.delayed(summarise_labels, pure=False)
    found = compute(
        *(
            summarise(block, where=f"{where}, block {p},", start=starts[p])
            for p, block in enumerate(y.to_delayed().ravel())
        )
    )
    for summary in found:
        if summary.fault:
            raise ValueError(summary.fault)
    values = np.unique(np.concatenate([summary.values for summary in found]))
    missing = np.concatenate([summary.missing for summary in found])
    placeholder = np.repeat(values[:1], len(missing)) if len(values) else np.zeros(len(missing))
    distinct = Labels(
        where,
        np.concatenate([values, placeholder]) if len(missing) else values,
        np.arange(len(values) + len(missing)) >= len(values),
        np.concatenate([np.zeros(len(values), dtype=np.int64), missing]),
    )
    return LazyLabels(where, distinct, y)


def _aligned(y: Lazy, X: Lazy, where: str, of: str) -> Lazy:
    """The labels in blocks of the same rows as `X`."""
    if not hasattr(y, "chunks") or y.ndim != 1:
        raise ValueError(
            f"{where} should be a Dask array of one dimension, got {type(y).__name__}"
            f"{f' of {y.ndim} dimensions' if hasattr(y, 'chunks') else ''}. Give one label per row."
        )
    if any(np.isnan(size) for size in y.chunks[0]):
        raise ValueError(f"{where} has chunks of unknown sizes. Compute them first: y = y.compute_chunk_sizes().")
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"{where} has {y.shape[0]} labels, but {of} has {X.shape[0]} rows. Give one label per row.")
    return y if y.chunks[0] == X.chunks[0] else y.rechunk((X.chunks[0],))


def summarise_labels(y: Values, *, where: str, start: int) -> LabelSummary:
    """Distinct labels of a block, and the rows without a label."""
    try:
        labels = read_labels(y, len(y), where)
    except ValueError as error:
        return LabelSummary(np.empty(0), np.empty(0, np.int64), str(error))
    return LabelSummary(np.unique(labels.known), start + np.flatnonzero(labels.missing)[:10])


def check_target(labels: LazyLabels, classes: Values) -> None:
    """Raise if labels of a target are unknown to the source."""
    if len(labels.distinct.values):
        encode_target(labels.distinct, classes)


def encode(labels: LazyLabels | None, X: Lazy, classes: Values, *, of_target: bool) -> Lazy:
    """Codes of the rows of `X`, (n,), as a Dask array with its blocks; -1 where there is no label."""
    import dask.array as da

    sizes = X.chunks[0]
    dtype = np.min_scalar_type(-len(classes))  # codes come to the caller: one byte per row up to 128 classes
    if labels is None:
        return da.full(X.shape[0], UNLABELLED, dtype=dtype, chunks=(sizes,))
    if labels.blocks is None:
        codes = (encode_target if of_target else encode_source)(labels.distinct, classes)
        return da.from_array(codes, chunks=(sizes,))
    meta = np.empty(0, dtype=dtype)
    blocks = labels.blocks.map_blocks(
        encode_block, where=labels.where, classes=classes, of_target=of_target, code_type=dtype, meta=meta
    )
    return persist(blocks)[0]


def encode_block(y: Values, where: str, classes: Values, of_target: bool, code_type: np.dtype[Any]) -> Codes:
    """Codes of a block of labels, in the given type."""
    labels = read_labels(y, len(y), where)
    # Without the warning of `encode_target`, which has been given for all blocks together.
    codes = target_codes(labels, classes) if of_target else encode_source(labels, classes)
    return codes.astype(code_type)
