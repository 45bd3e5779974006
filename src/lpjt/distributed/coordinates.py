"""From raw blocks to the coordinates in which the projections are sought: scaling and principal directions."""

import numpy as np
from scipy import linalg

from lpjt.core import coordinates
from lpjt.core.coordinates import Coordinates
from lpjt.distributed import tasks
from lpjt.distributed.problem import Part
from lpjt.fitting.trial import KEPT, coordinates_at_most


def make_maps(parts: list[Part], scalings, plan) -> tuple[Coordinates, ...]:
    """Maps to coordinates, one for each domain; domains of one width share a basis."""
    maps: dict[int, Coordinates] = {}
    for width in {part.width for part in parts}:
        members = [i for i, part in enumerate(parts) if part.width == width]
        basis = _shared_basis([parts[i] for i in members], [scalings[i] for i in members], plan)
        maps |= {i: Coordinates(scalings[i], basis=basis) for i in members}
    return tuple(maps[i] for i in range(len(parts)))


def _shared_basis(parts, scalings, plan):
    """Basis, (width, rank), of the leading directions of all parts, or None for all of them."""
    width = parts[0].width
    kept = KEPT if plan.n_coordinates == "auto" else 1.0
    at_most = coordinates_at_most(plan, max(part.raw.n_rows for part in parts))
    if sum(part.raw.n_rows for part in parts) < width:
        return _basis_of_few(parts, scalings, kept, at_most)
    if kept >= 1 and (at_most is None or at_most >= width):
        return None
    grams = tasks.compute([part.raw.sum_of(scaled_gram, scaling=s) for part, s in zip(parts, scalings, strict=True)])
    second = sum(gram / part.raw.n_rows for gram, part in zip(grams, parts, strict=True))
    return leading_directions(second, kept, at_most)


def _basis_of_few(parts, scalings, kept, at_most):
    """Fewer rows than columns, so that all of them are a small matrix: gathered, and treated as in memory."""
    rows = [np.concatenate(tasks.compute(part.raw.nodes)) for part in parts]
    return coordinates.principal_basis(rows, scalings, kept=kept, max_rank=at_most)


def scaled_gram(X, *, scaling):
    """A block's share of S'S of the scaled rows, in float64."""
    S = coordinates.scale_rows(X, scaling)
    return (S.T @ S).astype(np.float64)


def leading_directions(second, kept, at_most):
    """Basis from the second moments, (width, width), by the rules of `core.coordinates.principal_basis`."""
    width = len(second)
    values, vectors = linalg.eigh(second, check_finite=False, driver="evd")
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    rank = width
    if kept < 1:
        rank = min(rank, 1 + int(np.searchsorted(np.cumsum(values), kept * values.sum())))
    rank = min(rank, at_most or rank)
    return None if rank == width else np.ascontiguousarray(vectors[:, :rank])
