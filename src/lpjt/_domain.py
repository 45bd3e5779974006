"""Validated domains, as the door makes them and every later stage reads them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lpjt._typing import Array, Codes, Values
from lpjt.core.blocks import AnyRows


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """Rows of one domain."""

    name: str  # "source", "target", the caller's key, or e.g. "target_-1" if `sample_domain` is -1
    X: AnyRows  # (n, width), float32 or float64, read-only; a Dask array in a fit on Dask arrays
    y: Codes  # (n,) codes into the classes, -1 where unlabelled; a Dask array if X is one
    feature_names: Values | None  # (width,) of object, in the caller's order
    columns: Codes | None = None  # (width,) the caller's column of each column of X; None for the same order
    weights: Array | None = None  # (n,) sample weights of a source, of mean 1 over all sources; None for equal ones
    factor: float | None = None  # power of two by which rows of extreme size are multiplied first; see `_magnitude`

    def with_rows(self, X: AnyRows, y: Codes, positions: Codes | None) -> "Domain":
        """The domain with the rows `X` and codes `y` at these positions; None for all."""
        weights = self.weights if self.weights is None or positions is None else self.weights[positions]
        return replace(self, X=X, y=y, weights=weights)


@dataclass(frozen=True, slots=True, eq=False)
class Domains:
    """All validated domains, and how results are returned to the caller."""

    sources: tuple[Domain, ...]
    targets: tuple[Domain, ...]  # empty if the caller gave none
    classes: Values  # sorted labels of the sources, in the caller's dtype
    named_sources: bool = False  # the caller gave a dict
    named_targets: bool = False
    # Of a stack: positions of each domain's rows among all rows of its side, in the caller's order.
    source_rows: tuple[Codes, ...] | None = None
    target_rows: tuple[Codes, ...] | None = None

    @property
    def all(self) -> tuple[Domain, ...]:
        """All domains, sources first."""
        return (*self.sources, *self.targets)

    @property
    def weights(self) -> tuple[Array, ...] | None:
        """Sample weights of each domain, 1 for targets; None if every row counts once."""
        if all(d.weights is None for d in self.sources):
            return None
        return tuple(np.ones(d.X.shape[0]) if d.weights is None else d.weights for d in self.all)

    def join_sources(self, parts: Sequence[Any]) -> Any:
        """Arrays, one per source, in the form in which the caller gave the sources.

        A dict for a dict, one array otherwise; for a stack, with one row per source row, in their order.
        """
        return _join(parts, self.sources, self.source_rows, self.named_sources)

    def join_targets(self, parts: Sequence[Any]) -> Any:
        """As `join_sources`, for the targets; None if there is no target."""
        return _join(parts, self.targets, self.target_rows, self.named_targets)


def _join(parts: Sequence[Any], domains: Sequence[Domain], rows: Sequence[Codes] | None, named: bool) -> Any:
    if named:
        return {domain.name: part for domain, part in zip(domains, parts, strict=True)}
    if rows is None:
        return parts[0] if domains else None
    stacked = np.concatenate(parts)
    joined = np.empty_like(stacked)
    joined[np.concatenate(rows)] = stacked
    return joined
