"""Dask arrays through the door: what `lpjt.domains` checks of arrays in memory, checked block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lpjt._labels import source_classes, warn_of_rare_classes
from lpjt._magnitude import shared_factors
from lpjt._matrices import first_non_finite, is_dict, is_on_disk, open_matrix
from lpjt.core.statistics import largest_entry
from lpjt.domains import Domain, Domains, check_names_differ, read_parts
from lpjt.engines import is_lazy
from lpjt.engines.dask.cluster import check_cluster, compute, need_dask
from lpjt.engines.dask.labels import Lazy, LazyLabels, check_target, encode, open_labels


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    name: str
    where: str
    X: Lazy  # in blocks of whole rows
    labels: LazyLabels | None


def open_lazy_domains(
    X: Any,
    y: Any,
    X_target: Any = None,
    y_target: Any = None,
    *,
    sample_domain: Any = None,
    sample_weight: Any = None,
) -> Domains:
    """Validate what the caller gave to `fit`, if any of it is a Dask array.

    As `domains.open_domains`. Each block of a matrix is read once, by its worker; only the distinct labels come to the
    caller. The domains' `X` and `y` are Dask arrays with blocks of the same rows.
    """
    need_dask()
    check_cluster()
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None. Give the source's labels.")
    if sample_domain is not None:
        raise ValueError(
            "`sample_domain` cannot be given with Dask arrays. Give separate domains: fit(X, y, X_target), or "
            "dicts of name to array for several of them."
        )
    if sample_weight is not None:
        raise ValueError("`sample_weight` cannot be given with Dask arrays. Leave it out, or load the rows first.")
    if X_target is None:
        raise ValueError(
            "A fit on Dask arrays needs X_target. Without a target, load the rows into memory: fit(X.compute(), y)."
        )
    sources = read_parts(X, y, "source", _read_part)
    targets = read_parts(X_target, y_target, "target", _read_part)
    check_names_differ(sources, targets)
    largest = _check_blocks([*sources, *targets])
    return _close(sources, targets, largest, {"named_sources": is_dict(X), "named_targets": is_dict(X_target)})


def _close(sources: list[_Part], targets: list[_Part], largest: list[float], layout: dict[str, Any]) -> Domains:
    classes = source_classes([part.labels.distinct for part in sources if part.labels is not None])
    for part in targets:
        if part.labels is not None:
            check_target(part.labels, classes)
    both = [*sources, *targets]
    factors = shared_factors([p.where for p in both], [p.X.shape[1] for p in both], largest)
    found = [
        Domain(p.name, p.X, encode(p.labels, p.X, classes, of_target=i >= len(sources)), None, factor=factors[i])
        for i, p in enumerate(both)
    ]
    domains = Domains(
        tuple(found[: len(sources)]),
        tuple(found[len(sources) :]),
        classes,
        **layout,
    )
    warn_of_rare_classes(classes, np.concatenate(compute(*(d.y for d in domains.sources))))
    return domains


def _read_part(X: Any, y: Any, name: str, x_where: str, y_where: str) -> _Part:
    rows = open_lazy_rows(X, x_where) if is_lazy(X) else _lazy_copy(X, x_where)
    if rows.shape[0] < 2:
        raise ValueError(f"{x_where}: found {rows.shape[0]} sample while a minimum of 2 is required. Add rows.")
    labels = None if y is None else open_labels(y, rows, y_where, x_where, lazy=is_lazy(y))
    return _Part(name, x_where, rows, labels)


def open_lazy_rows(X: Lazy, where: str) -> Lazy:
    """A Dask array of rows, each block with all columns and at least one row, in float32 or float64."""
    if not hasattr(X, "chunks") or not hasattr(X, "rechunk"):
        raise TypeError(
            f"{where} is a Dask {type(X).__name__}, but a Dask array is needed. Convert a frame with "
            "df.to_dask_array(lengths=True)."
        )
    if X.ndim != 2:
        raise ValueError(f"{where}: got {X.ndim} dimensions, but two are needed: one row per sample.")
    check_known_sizes(X, where, "X")
    if X.dtype.kind not in "biuf":
        raise TypeError(f"{where} holds {X.dtype}, which are not numbers. Encode or drop what is not a number.")
    if X.shape[1] < 1:
        raise ValueError(f"{where} has no columns. Give at least one.")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    sizes = tuple(int(size) for size in X.chunks[0] if size)
    if len(X.chunks[1]) > 1 or len(sizes) < len(X.chunks[0]):
        X = X.rechunk((sizes, (X.shape[1],)))
    return X


def check_known_sizes(X: Lazy, where: str, name: str) -> None:
    """Refuse chunks of unknown sizes, whose rows cannot be numbered."""
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        raise ValueError(
            f"{where} has chunks of unknown sizes, so its rows cannot be numbered. Compute them first: "
            f"{name} = {name}.compute_chunk_sizes(), or df.to_dask_array(lengths=True) for a frame."
        )


def _lazy_copy(X: Any, where: str) -> Lazy:
    """An array in memory or on disk as a Dask array."""
    import dask.array as da

    if is_on_disk(X):
        open_matrix(X, where, min_rows=2)
        return open_lazy_rows(da.from_array(X, chunks=("auto", -1)), where)
    rows, _ = open_matrix(X, where, min_rows=2)
    if sparse.issparse(rows):
        raise TypeError(f"{where} is sparse, but other domains are Dask arrays. Give it as {where}.toarray().")
    return da.from_array(np.asarray(rows), chunks=("auto", -1))


def _check_blocks(parts: Sequence[_Part]) -> list[float]:
    """Read each block once, and check its type, shape and values; return the largest absolute value of each part."""
    import dask

    check, checks = dask.delayed(_survey, pure=False), []
    for part in parts:
        starts = np.cumsum([0, *part.X.chunks[0]]).tolist()
        blocks = part.X.to_delayed().ravel()
        checks += [
            check(block, where=part.where, block=p, start=starts[p], expected=(size, part.X.shape[1]))
            for p, (block, size) in enumerate(zip(blocks, part.X.chunks[0], strict=True))
        ]
    answers = iter(compute(*checks))
    of_parts = [[next(answers) for _ in part.X.chunks[0]] for part in parts]
    faults = [fault for blocks in of_parts for fault, _ in blocks if fault]
    if faults:
        raise ValueError(faults[0])
    return [max(largest for _, largest in blocks) for blocks in of_parts]


def _survey(X: Any, **expected: Any) -> tuple[str, float]:
    """What is wrong with a block, as `fault_of_block` says it, and its largest absolute value."""
    fault = fault_of_block(X, **expected)
    return fault, 0.0 if fault else largest_entry(X)


def fault_of_block(X: Any, *, where: str, block: int, start: int, expected: tuple[int, int]) -> str:
    """Error message for a block, or an empty string if nothing is wrong."""
    if not isinstance(X, np.ndarray):
        return (
            f"{where}: block {block} is a {type(X).__name__}, but numpy arrays are needed. Convert the blocks "
            "first, e.g. X.map_blocks(lambda block: block.toarray()) if they are sparse."
        )
    if X.shape != expected:
        return (
            f"{where}: block {block} has shape {X.shape}, but its chunks say {expected}. Make the array again with "
            "dask.array.from_delayed or from_array, and the true shapes of its blocks."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return ""
    position, count = first_non_finite(X)
    if position is None:
        return ""
    row, column = position
    value = X[position]
    more = f" (and {count - 1} more in its block)" if count > 1 else ""
    return (
        f"{where} holds {'NaN' if np.isnan(value) else value} at row {start + row}, column {column}{more}. Remove or "
        "impute them first, e.g. X.map_blocks(numpy.nan_to_num)."
    )
